/*
 * body.c: request bodies. They arrive in pieces of any size (HTTP-01) and are
 * bounded three ways: each by max_body, all together by max_body_total, and what
 * is read only to be dropped by max_drain. Small ones, up to inline_body, need
 * nothing of the total, which they alone could reach only by the number of
 * connections: a ping is answered while large uploads hold all of it. An answer cannot be given in the middle
 * of an upload, so a refusal comes either before the first byte or after the last
 * one; before, when the client waits for 100 Continue or announces more than we
 * would read; after, so that a client that writes first and reads later finds it
 * (HTTP-03). What never ends is cut.
 */
#include "http/private.h"
#include "util/gauge.h"

#define FIRST_GROWTH 4096U

/* Counts n more bytes of body memory; false when the budget is spent. */
static bool body_charge(struct exchange *ex, size_t n)
{
	struct http *h = ex->io->http;
	size_t had = atomic_fetch_add(&h->body_bytes, n);

	if (n > h->cfg.max_body_total || had > h->cfg.max_body_total - n) {
		atomic_fetch_sub(&h->body_bytes, n);
		return false;
	}
	ex->charged += n;
	gauge_add(GAUGE_BODY_BYTES, (int64_t)n);
	return true;
}

void body_uncharge(struct exchange *ex)
{
	if (!ex->charged)
		return;
	atomic_fetch_sub(&ex->io->http->body_bytes, ex->charged);
	gauge_add(GAUGE_BODY_BYTES, -(int64_t)ex->charged);
	ex->charged = 0;
}

/* From here on the body is read and dropped. */
static void body_drop(struct exchange *ex)
{
	strbuf_release(&ex->body);
	body_uncharge(ex);
	ex->dropping = true;
}

static void refuse_large(struct exchange *ex)
{
	refuse(ex, MHD_HTTP_CONTENT_TOO_LARGE, RPC_TOO_LARGE, "the request body is too large");
	ex->close = true;
}

static void refuse_overload(struct exchange *ex)
{
	refuse(ex, MHD_HTTP_SERVICE_UNAVAILABLE, RPC_UNAVAILABLE,
		"too many request bodies are being read");
	ex->close = true;
}

/* More than we would read only to drop it. */
static bool beyond_draining(const struct exchange *ex)
{
	const struct http_config *cfg = &ex->io->http->cfg;
	size_t most;

	if (__builtin_add_overflow(cfg->max_body, cfg->max_drain, &most))
		most = SIZE_MAX;
	return ex->headers.length > most;
}

enum MHD_Result body_begin(struct exchange *ex)
{
	const struct http_config *cfg = &ex->io->http->cfg;

	if (!headers_have_body(&ex->headers) && !ex->close)
		return MHD_YES;
	if (!ex->refusal.status && ex->headers.length > cfg->max_body)
		refuse_large(ex);
	if (!ex->refusal.status)
		return MHD_YES;
	ex->dropping = true;
	/* ex->close here: the framing cannot be trusted, so nothing is read. */
	if ((ex->close && ex->refusal.status == MHD_HTTP_BAD_REQUEST) ||
		headers_expect_continue(&ex->headers) || beyond_draining(ex)) {
		ex->early = true;
		ex->close = true;
		return reply_refusal(ex);
	}
	return MHD_YES;
}

static enum MHD_Result body_discard(struct exchange *ex, size_t len)
{
	const struct http_config *cfg = &ex->io->http->cfg;

	ex->dropped += len;
	/* A declared length was weighed at the headers. */
	if (ex->headers.chunked && ex->dropped > cfg->max_drain)
		return MHD_NO;
	return MHD_YES;
}

/* Room for len more, growing by doubling from what was declared or a page. What is
 * counted is what came, once it is no small body any more. */
static bool body_room(struct exchange *ex, size_t len)
{
	size_t total = ex->body.len + len, want = len;

	if (ex->body.cap == 0 && want < FIRST_GROWTH && ex->headers.length > want)
		want = ex->headers.length < FIRST_GROWTH ? (size_t)ex->headers.length
							 : FIRST_GROWTH;
	if (total > ex->io->http->cfg.inline_body && !body_charge(ex, total - ex->charged))
		return false;
	return strbuf_grow(&ex->body, want);
}

enum MHD_Result body_append(struct exchange *ex, const char *data, size_t len)
{
	ex->received += len;
	if (ex->dropping)
		return body_discard(ex, len);
	if (!ex->route || !ex->route->post) {
		ex->dropping = true; /* a GET with a body: not looked at */
		return body_discard(ex, len);
	}
	if (len > ex->io->http->cfg.max_body - ex->body.len) {
		refuse_large(ex);
		body_drop(ex);
		return body_discard(ex, len);
	}
	if (!body_room(ex, len)) {
		refuse_overload(ex);
		body_drop(ex);
		return body_discard(ex, len);
	}
	strbuf_add(&ex->body, data, len);
	return MHD_YES;
}
