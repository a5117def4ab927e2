/* rpc/inflight.c: a chained hash table under one mutex; entries are not owned. */
#include "rpc/inflight.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "util/hash.h"
#include "util/mem.h"
#include "util/strbuf.h"

#define BUCKETS 1024U

struct inflight {
	pthread_mutex_t lock;
	struct inflight_entry *buckets[BUCKETS];
};

enum status inflight_new(struct inflight **ret)
{
	struct inflight *t = mem_zero(sizeof(*t));

	if (!t)
		return ST_NOMEM;
	pthread_mutex_init(&t->lock, NULL);
	*ret = t;
	return ST_OK;
}

void inflight_free(struct inflight *t)
{
	if (!t)
		return;
	pthread_mutex_destroy(&t->lock);
	mem_free(t);
}

enum status inflight_key(struct arena *a, const char *identity, const char *session,
	const json_t *id, struct bytes *ret)
{
	char number[40];
	const char *value = number;
	size_t len, at, total;
	char *key;

	if (json_is_string(id)) {
		value = json_string_value(id);
		len = json_string_length(id);
	} else if (json_is_integer(id)) {
		len = (size_t)snprintf(number, sizeof(number), "%lld",
			(long long)json_integer_value(id));
	} else {
		double d = json_real_value(id);
		bool whole = d == floor(d) && fabs(d) < 9e15;

		len = (size_t)snprintf(number, sizeof(number), whole ? "%.0f" : "%.17g", d);
	}
	/* identity NUL session NUL type value: the parts cannot run into each other. */
	total = strlen(identity) + 1 + strlen(session) + 1 + 1 + len;
	key = arena_alloc(a, total);
	if (!key)
		return ST_NOMEM;
	at = strlen(identity) + 1;
	memcpy(key, identity, at);
	memcpy(key + at, session, strlen(session) + 1);
	at += strlen(session) + 1;
	key[at++] = json_is_string(id) ? 's' : 'n';
	if (len)
		memcpy(key + at, value, len);
	*ret = (struct bytes){ key, total };
	return ST_OK;
}

static struct inflight_entry **bucket_of(struct inflight *t, struct bytes key)
{
	return &t->buckets[hash_bytes(key.data, key.len) % BUCKETS];
}

void inflight_add(struct inflight *t, struct inflight_entry *e)
{
	struct inflight_entry **b = bucket_of(t, e->key);

	pthread_mutex_lock(&t->lock);
	e->next = *b;
	e->prev_next = b;
	if (e->next)
		e->next->prev_next = &e->next;
	*b = e;
	pthread_mutex_unlock(&t->lock);
}

void inflight_remove(struct inflight *t, struct inflight_entry *e)
{
	pthread_mutex_lock(&t->lock);
	if (e->prev_next) {
		*e->prev_next = e->next;
		if (e->next)
			e->next->prev_next = e->prev_next;
		e->prev_next = NULL;
	}
	pthread_mutex_unlock(&t->lock);
}

size_t inflight_cancel(struct inflight *t, struct bytes key)
{
	size_t n = 0;

	pthread_mutex_lock(&t->lock);
	for (struct inflight_entry *e = *bucket_of(t, key); e; e = e->next)
		if (bytes_eq(e->key, key)) {
			atomic_store(&e->cancelled, true);
			n++;
		}
	pthread_mutex_unlock(&t->lock);
	return n;
}
