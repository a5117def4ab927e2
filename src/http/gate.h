/*
 * http/gate.h: what a request must be before anything looks at its meaning:
 * framed in one way only (HTTP-05), for a host that is ours (SEC-02), from an
 * origin that may call (SEC-01). Pure functions over the headers; the lint of
 * names, values and counts happens while libmicrohttpd lists them, in one pass.
 */
#ifndef RCPD_HTTP_GATE_H
#define RCPD_HTTP_GATE_H

#include <stdbool.h>
#include <stdint.h>

#include "http/accept.h"

/* Headers of one request. Texts are borrowed from libmicrohttpd until the request
 * completes. A text is NULL when the header is absent; counts tell repetition. */
struct headers {
	const char *host;
	const char *origin;
	const char *authorization;
	const char *content_type;
	const char *content_encoding;
	const char *content_length;
	const char *transfer_encoding;
	const char *expect;
	const char *session;
	const char *traceparent;
	const char *request_method; /* Access-Control-Request-Method */
	unsigned hosts, lengths, encodings;
	bool bad_name; /* a name that is no token, e.g. "Content-Length " */
	bool repeated; /* a header that may stand once stands twice */
	struct accept accept;
	uint64_t length; /* declared body bytes, set by framing_check */
	bool chunked;    /* set by framing_check */
};

void headers_init(struct headers *h);
/* Adds one header; value may be NULL. */
void headers_add(struct headers *h, const char *name, const char *value);

/* NULL, or why the request is refused with 400. http10: it is HTTP/1.0. Fills
 * length (UINT64_MAX when the number is larger) and chunked. */
const char *framing_check(struct headers *h, bool http10);
/* There is, or may be, a body to read. After framing_check. */
bool headers_have_body(const struct headers *h);
bool headers_expect_continue(const struct headers *h);

/* Whether a Host value names this server: localhost, 127.0.0.0/8, ::1, or one of
 * hosts (NULL-terminated; NULL: none). Port, case and one final dot are ignored. */
bool host_allowed(const char *host, const char *const *hosts);
/* Whether an Origin value is one of origins, exactly. */
bool origin_allowed(const char *origin, const char *const *origins);
/* application/json with or without parameters. NULL is not. */
bool content_is_json(const char *content_type);
/* No coding, or identity. */
bool encoding_is_plain(const char *content_encoding);

#endif
