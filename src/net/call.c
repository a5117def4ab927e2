/* call.c: a call: checks the request, runs it, and follows redirects as far as allowed. */
#include <limits.h>
#include <string.h>
#include <strings.h>

#include "net/private.h"
#include "util/mem.h"

static bool token_valid(const char *p)
{
	static const char marks[] = "!#$%&'*+-.^_`|~";
	const char *start = p;

	for (; *p; p++) {
		bool letter = (*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') ||
			(*p >= '0' && *p <= '9');
		if (!letter && !strchr(marks, *p))
			return false;
	}
	return p != start;
}

static bool value_valid(const char *p)
{
	for (; *p; p++)
		if ((unsigned char)*p < ' ' && *p != '\t')
			return false;
	return true;
}

static enum status request_check(const struct net_request *req, struct error *e)
{
	if (req->method && !token_valid(req->method))
		return error_set(e, ST_INVALID, "this is not a method of HTTP");
	for (size_t i = 0; i < req->header_count; i++) {
		const struct net_header *h = &req->headers[i];
		if (!token_valid(h->name) || !value_valid(h->value))
			return error_set(e, ST_INVALID, "a header is malformed");
	}
	return ST_OK;
}

/* What libcurl knows of a finished transfer. Its strings live as long as the transfer. */
static void answer_read(CURL *easy, struct net_response *ret)
{
	const char *type = NULL;
	curl_off_t wait = 0;
	long status = 0;

	(void)curl_easy_getinfo(easy, CURLINFO_RESPONSE_CODE, &status);
	(void)curl_easy_getinfo(easy, CURLINFO_CONTENT_TYPE, &type);
	(void)curl_easy_getinfo(easy, CURLINFO_RETRY_AFTER, &wait);
	ret->status = (int)status;
	(void)snprintf(ret->content_type, sizeof(ret->content_type), "%s", type ? type : "");
	ret->retry_after_s = wait <= 0 ? 0 : wait > UINT_MAX ? UINT_MAX : (unsigned)wait;
}

/* What a redirect asks for next (RFC 9110, 15.4): 303, and by custom 301 and 302 after a
 * POST, become a GET. */
static void next_method(struct net_hop *h, int status)
{
	bool head = h->method && strcmp(h->method, "HEAD") == 0;
	bool post = h->method ? strcmp(h->method, "POST") == 0 : h->body.data != NULL;

	if ((status == 303 && !head) || ((status == 301 || status == 302) && post)) {
		h->method = NULL;
		h->body = BYTES_NONE;
	}
}

/* Where the redirect leads; *ret is the caller's (mem_free), or NULL if nowhere. */
static enum status next_url(struct net_hop *h, struct net_origin *origin, char **ret,
	struct error *e)
{
	struct net_origin next;
	const char *url = NULL;
	enum status st;

	*ret = NULL;
	(void)curl_easy_getinfo(h->slot->easy, CURLINFO_REDIRECT_URL, &url);
	if (!url)
		return ST_OK;
	st = net_origin_of(h->n, url, &next, e);
	if (st)
		return st;
	if (strcmp(origin->scheme, "https") == 0 && strcmp(next.scheme, "https") != 0)
		return error_set(e, ST_INVALID, "a redirect leads from https to http");
	*ret = mem_strdup(url);
	if (!*ret)
		return error_set(e, ST_NOMEM, "out of memory");
	h->trusted = h->trusted && net_origin_equal(origin, &next);
	*origin = next;
	return ST_OK;
}

/* One hop with a slot of its own. *next: the URL to go on with, or NULL. */
static enum status hop(struct net_hop *h, struct net_origin *origin, char **next, struct error *e)
{
	enum status st;

	*next = NULL;
	h->body_read = h->header_lines = h->header_bytes = 0;
	h->forbidden = false;
	h->text[0] = '\0';
	strbuf_reset(&h->ret->body);
	h->slot = net_slot_take(h->n, origin);
	if (!h->slot)
		return error_set(e, ST_NOMEM, "out of memory");
	st = net_hop_run(h, e);
	if (!st) {
		answer_read(h->slot->easy, h->ret);
		if (h->follow && net_is_redirect(h->ret->status))
			st = next_url(h, origin, next, e);
	}
	net_slot_give(h->n, h->slot, !st);
	return st;
}

enum status net_call(struct net *n, const struct net_request *req, struct net_response *ret,
	struct error *e)
{
	struct net_hop h = { .n = n,
		.req = req,
		.ret = ret,
		.url = req->url,
		.method = req->method,
		.body = req->body,
		.trusted = true };
	struct net_origin origin;
	char *url = NULL, *next = NULL;
	enum status st;

	*ret = (struct net_response){ .status = 0 };
	st = request_check(req, e);
	if (!st)
		st = net_origin_of(n, req->url, &origin, e);
	for (unsigned i = 0; !st; i++) {
		h.follow = i < n->policy.redirects;
		st = hop(&h, &origin, &next, e);
		if (st || !next)
			break;
		next_method(&h, ret->status);
		mem_free(url);
		url = next;
		h.url = url;
	}
	mem_free(url);
	if (st)
		net_response_release(ret);
	return st;
}
