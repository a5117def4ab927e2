/*
 * hop.c: one HTTP request over libcurl's multi interface, which, unlike the easy one,
 * lets us look up from the transfer every 10 ms to see whether it is still wanted.
 */
#include <errno.h>
#include <strings.h>
#include <unistd.h>

#include "net/private.h"
#include "util/clock.h"

#ifndef RCPD_VERSION
#define RCPD_VERSION "0"
#endif

#define LOOK_UP_MS 10

bool net_is_redirect(long status)
{
	return status == 301 || status == 302 || status == 303 || status == 307 || status == 308;
}

/* ---- callbacks; returning less than was given ends the transfer ---- */

static size_t on_body(char *p, size_t one, size_t n, void *arg)
{
	struct net_hop *h = arg;
	long status = 0;

	(void)one;
	(void)curl_easy_getinfo(h->slot->easy, CURLINFO_RESPONSE_CODE, &status);
	if (n > h->req->max_body - h->body_read) {
		h->too_large = true;
		return 0;
	}
	h->body_read += n;
	if (h->follow && net_is_redirect(status))
		return n;
	if (h->req->piece && status >= 200 && status < 300) {
		h->ended = !h->req->piece(h->req->piece_arg, (struct bytes){ p, n });
		return h->ended ? 0 : n;
	}
	strbuf_add(&h->ret->body, p, n);
	h->nomem = !strbuf_ok(&h->ret->body);
	return h->nomem ? 0 : n;
}

static size_t on_header(char *p, size_t one, size_t n, void *arg)
{
	struct net_hop *h = arg;

	(void)p, (void)one;
	h->header_lines++;
	h->header_bytes += n;
	h->too_large = h->header_lines > NET_MAX_HEADERS || h->header_bytes > NET_MAX_HEADER_SIZE;
	return h->too_large ? 0 : n;
}

/* The one place where a connection begins: what the name resolved to is known here, and
 * nothing can change it any more. */
static curl_socket_t on_socket(void *arg, curlsocktype purpose, struct curl_sockaddr *a)
{
	struct net_hop *h = arg;

	if (purpose != CURLSOCKTYPE_IPCXN || a->socktype != SOCK_STREAM)
		return CURL_SOCKET_BAD;
	if (!h->n->policy.private_hosts && !net_address_public(&a->addr)) {
		h->forbidden = true;
		return CURL_SOCKET_BAD;
	}
	return socket(a->family, a->socktype | SOCK_CLOEXEC, a->protocol);
}

/* ---- what is sent ---- */

/* Another origin learns what the body is, and nothing that could be a secret. */
static bool header_passes(const struct net_hop *h, const char *name)
{
	return h->trusted || strcasecmp(name, "Accept") == 0 ||
		(h->body.data && strcasecmp(name, "Content-Type") == 0);
}

static bool list_add(struct curl_slist **list, const char *line)
{
	struct curl_slist *more = line ? curl_slist_append(*list, line) : NULL;

	if (more)
		*list = more;
	return more != NULL;
}

static bool headers_make(const struct net_hop *h, struct curl_slist **list)
{
	/* Without these two libcurl waits for a "100 Continue" before larger bodies, and
	 * calls a body a form. */
	bool ok = list_add(list, "Expect:") &&
		(!h->body.data || list_add(list, "Content-Type: application/octet-stream"));

	for (size_t i = 0; ok && i < h->req->header_count; i++) {
		const struct net_header *one = &h->req->headers[i];
		struct strbuf line = STRBUF_INIT;
		if (!header_passes(h, one->name))
			continue;
		if (strcasecmp(one->name, "Content-Type") == 0 && (*list)->next) {
			/* It replaces ours, which is the second. */
			curl_slist_free_all((*list)->next);
			(*list)->next = NULL;
		}
		strbuf_addf(&line, one->value[0] ? "%s: %s" : "%s;%s", one->name, one->value);
		ok = strbuf_ok(&line) && list_add(list, line.data);
		if (line.data)
			explicit_bzero(line.data, line.cap);
		strbuf_release(&line);
	}
	return ok;
}

#define SET(option, value)                                                                         \
	do {                                                                                       \
		if (curl_easy_setopt(easy, option, value) != CURLE_OK)                             \
			return false;                                                              \
	} while (0)

static bool set_method(const struct net_hop *h, CURL *easy)
{
	if (h->body.data) {
		SET(CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)h->body.len);
		SET(CURLOPT_POSTFIELDS, h->body.data);
	} else if (h->method && strcmp(h->method, "HEAD") == 0) {
		SET(CURLOPT_NOBODY, 1L);
		return true;
	} else {
		SET(CURLOPT_HTTPGET, 1L);
	}
	if (h->method)
		SET(CURLOPT_CUSTOMREQUEST, h->method);
	return true;
}

static bool set_limits(const struct net_hop *h, CURL *easy)
{
	const struct net_policy *p = &h->n->policy;

	SET(CURLOPT_NOSIGNAL, 1L);
	/* Do not wait for a resolver that hangs when the call is over. */
	SET(CURLOPT_QUICK_EXIT, 1L);
	SET(CURLOPT_PROTOCOLS_STR, p->plain_http ? "http,https" : "https");
	SET(CURLOPT_FOLLOWLOCATION, 0L);
	SET(CURLOPT_PROXY, "");
	SET(CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
	SET(CURLOPT_HTTP09_ALLOWED, 0L);
	SET(CURLOPT_CONNECTTIMEOUT_MS, (long)p->connect_ms);
	SET(CURLOPT_SSL_VERIFYPEER, 1L);
	SET(CURLOPT_SSL_VERIFYHOST, 2L);
	SET(CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
	/* Ends at the header already, where that tells the length. */
	SET(CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)(h->req->max_body & INT64_MAX));
	if (p->ca_file) {
		SET(CURLOPT_CAINFO, p->ca_file);
		SET(CURLOPT_CAPATH, NULL);
	}
	return true;
}

static bool set_all(struct net_hop *h, CURL *easy, struct curl_slist *headers)
{
	SET(CURLOPT_ERRORBUFFER, h->text);
	SET(CURLOPT_URL, h->url);
	SET(CURLOPT_USERAGENT, "rcpd/" RCPD_VERSION);
	SET(CURLOPT_HTTPHEADER, headers);
	SET(CURLOPT_WRITEFUNCTION, on_body);
	SET(CURLOPT_WRITEDATA, h);
	SET(CURLOPT_HEADERFUNCTION, on_header);
	SET(CURLOPT_HEADERDATA, h);
	SET(CURLOPT_OPENSOCKETFUNCTION, on_socket);
	SET(CURLOPT_OPENSOCKETDATA, h);
	return set_limits(h, easy) && set_method(h, easy);
}

/* ---- the transfer ---- */

/* True once it is over; *ret is how it ended. */
static bool finished(CURLM *multi, CURLcode *ret)
{
	int left;
	CURLMsg *m;

	while ((m = curl_multi_info_read(multi, &left)) != NULL)
		if (m->msg == CURLMSG_DONE) {
			*ret = m->data.result;
			return true;
		}
	return false;
}

static CURLcode transfer(struct net_hop *h)
{
	const struct net_request *req = h->req;
	CURLM *multi = h->slot->multi;
	CURLMcode code = CURLM_OK;
	CURLcode result = CURLE_OK;
	int running;

	for (;;) {
		uint64_t now = clock_mono_ms();
		h->stopped = req->stop && req->stop(req->stop_arg);
		h->late = now >= req->deadline_ms;
		if (h->stopped || h->late)
			return CURLE_ABORTED_BY_CALLBACK;
		code = curl_multi_perform(multi, &running);
		if (code != CURLM_OK || finished(multi, &result))
			break;
		uint64_t left = req->deadline_ms - now;
		code = curl_multi_poll(multi, NULL, 0, left < LOOK_UP_MS ? (int)left : LOOK_UP_MS,
			NULL);
		if (code != CURLM_OK)
			break;
	}
	if (code == CURLM_OUT_OF_MEMORY)
		return CURLE_OUT_OF_MEMORY;
	return code != CURLM_OK ? CURLE_FAILED_INIT : result;
}

static enum status judge(const struct net_hop *h, CURLcode code, struct error *e)
{
	if (code == CURLE_OK || h->ended)
		return ST_OK;
	if (h->stopped)
		return error_set(e, ST_CANCELLED, "the call was called off");
	if (h->late)
		return error_set(e, ST_TIMEOUT, "no answer in time");
	if (h->nomem || code == CURLE_OUT_OF_MEMORY)
		return error_set(e, ST_NOMEM, "out of memory");
	if (h->too_large || code == CURLE_FILESIZE_EXCEEDED)
		return error_set(e, ST_TOO_LARGE, "the answer is too large");
	if (h->forbidden && code == CURLE_COULDNT_CONNECT)
		return error_set(e, ST_INVALID,
			"the host has a private address, which is not allowed");
	error_set(e, ST_UNAVAILABLE, "no answer");
	error_detail(e, "%s", h->text[0] ? h->text : curl_easy_strerror(code));
	return ST_UNAVAILABLE;
}

enum status net_hop_run(struct net_hop *h, struct error *e)
{
	struct net_slot *s = h->slot;
	struct curl_slist *headers = NULL;
	CURLcode code = CURLE_OUT_OF_MEMORY;

	curl_easy_reset(s->easy);
	if (headers_make(h, &headers) && set_all(h, s->easy, headers) &&
		curl_multi_add_handle(s->multi, s->easy) == CURLM_OK) {
		code = transfer(h);
		(void)curl_multi_remove_handle(s->multi, s->easy);
	}
	for (struct curl_slist *one = headers; one; one = one->next)
		explicit_bzero(one->data, strlen(one->data));
	curl_slist_free_all(headers);
	return judge(h, code, e);
}
