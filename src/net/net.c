/* net.c: a net and its pool of connections. See net.h for the contract. */
#include "net/net.h"

#include <string.h>
#include <unistd.h>

#include "net/private.h"
#include "util/mem.h"

/* libcurl is told once for the process and never torn down: other libraries may use it
 * too, and its tear-down is safe in no thread but the last. */
static pthread_once_t once = PTHREAD_ONCE_INIT;
static CURLcode once_result;

static void init_once(void)
{
	once_result = curl_global_init_mem(CURL_GLOBAL_DEFAULT, mem_alloc, mem_free, mem_resize,
		mem_strdup, mem_array);
}

enum status net_new(const struct net_policy *policy, struct net **ret, struct error *e)
{
	struct net *n;

	(void)pthread_once(&once, init_once);
	if (once_result != CURLE_OK)
		return error_set(e, ST_INTERNAL, "the HTTP library could not be set up");
	if (policy->ca_file && access(policy->ca_file, R_OK) != 0) {
		error_set(e, ST_NOT_FOUND, "the file of certificates cannot be read");
		error_detail(e, "%s", policy->ca_file);
		return ST_NOT_FOUND;
	}
	n = mem_zero(sizeof(*n));
	if (!n)
		return error_set(e, ST_NOMEM, "out of memory");
	n->policy = *policy;
	n->policy.ca_file = NULL;
	if (policy->ca_file) {
		n->ca_file = mem_strdup(policy->ca_file);
		n->policy.ca_file = n->ca_file;
		if (!n->ca_file) {
			mem_free(n);
			return error_set(e, ST_NOMEM, "out of memory");
		}
	}
	if (!n->policy.connections)
		n->policy.connections = 16;
	if (!n->policy.connect_ms)
		n->policy.connect_ms = 5000;
	(void)pthread_mutex_init(&n->lock, NULL);
	*ret = n;
	return ST_OK;
}

static void slot_free(struct net_slot *s)
{
	if (!s)
		return;
	curl_easy_cleanup(s->easy);
	(void)curl_multi_cleanup(s->multi);
	mem_free(s);
}

void net_free(struct net *n)
{
	if (!n)
		return;
	while (n->idle) {
		struct net_slot *s = n->idle;
		n->idle = s->next;
		slot_free(s);
	}
	(void)pthread_mutex_destroy(&n->lock);
	mem_free(n->ca_file);
	mem_free(n);
}

static struct net_slot *slot_new(void)
{
	struct net_slot *s = mem_zero(sizeof(*s));

	if (!s)
		return NULL;
	s->easy = curl_easy_init();
	s->multi = s->easy ? curl_multi_init() : NULL;
	if (!s->multi || curl_multi_setopt(s->multi, CURLMOPT_MAXCONNECTS, 1L) != CURLM_OK) {
		slot_free(s);
		return NULL;
	}
	return s;
}

/* The one that spoke to the origin last; if there is none and the pool is full, the one
 * that was idle longest. */
static struct net_slot *idle_take(struct net *n, const struct net_origin *origin)
{
	struct net_slot **at, *s;

	for (at = &n->idle; *at; at = &(*at)->next)
		if (net_origin_equal(&(*at)->origin, origin))
			break;
	if (!*at && n->idle_count >= n->policy.connections)
		for (at = &n->idle; *at && (*at)->next; at = &(*at)->next)
			;
	s = *at;
	if (s) {
		*at = s->next;
		n->idle_count--;
	}
	return s;
}

struct net_slot *net_slot_take(struct net *n, const struct net_origin *origin)
{
	struct net_slot *s;

	(void)pthread_mutex_lock(&n->lock);
	s = idle_take(n, origin);
	(void)pthread_mutex_unlock(&n->lock);
	if (!s)
		s = slot_new();
	if (s)
		s->origin = *origin;
	return s;
}

void net_slot_give(struct net *n, struct net_slot *s, bool keep)
{
	(void)pthread_mutex_lock(&n->lock);
	if (keep && n->idle_count < n->policy.connections) {
		s->next = n->idle;
		n->idle = s;
		n->idle_count++;
		s = NULL;
	}
	(void)pthread_mutex_unlock(&n->lock);
	slot_free(s);
}

void net_response_release(struct net_response *r)
{
	strbuf_release(&r->body);
}
