/*
 * gate.c: see gate.h. libmicrohttpd 0.9.75 lets through what a server behind a
 * proxy must not: a second framing, doubled lengths, missing or doubled Hosts, a
 * space before a header's colon. All of that ends here, as a 400 and a closed
 * connection, so that no byte of the rest is ever taken for a request.
 */
#include "http/gate.h"

#include <arpa/inet.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

void headers_init(struct headers *h)
{
	memset(h, 0, sizeof(*h));
	h->accept = (struct accept)ACCEPT_INIT;
}

/* RFC 9110 5.6.2: the characters of a header name. */
static bool is_token(const char *s)
{
	static const char marks[] = "!#$%&'*+-.^_`|~";
	const char *p;

	for (p = s; *p; p++) {
		char c = *p;

		if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-')
			continue;
		if ((c >= '0' && c <= '9') || strchr(marks, c))
			continue;
		return false;
	}
	return p != s;
}

/* Headers of which one is kept; a second one is a fault of the request. */
static const char **header_slot(struct headers *h, const char *name, size_t len)
{
	static const struct {
		const char *name;
		size_t offset;
	} slots[] = {
		{ "origin", offsetof(struct headers, origin) },
		{ "authorization", offsetof(struct headers, authorization) },
		{ "content-type", offsetof(struct headers, content_type) },
		{ "content-encoding", offsetof(struct headers, content_encoding) },
		{ "expect", offsetof(struct headers, expect) },
		{ "rcp-session", offsetof(struct headers, session) },
		{ "traceparent", offsetof(struct headers, traceparent) },
		{ "access-control-request-method", offsetof(struct headers, request_method) },
	};
	size_t i;

	for (i = 0; i < sizeof(slots) / sizeof(slots[0]); i++)
		if (strlen(slots[i].name) == len && strcasecmp(slots[i].name, name) == 0)
			return (const char **)(void *)((char *)h + slots[i].offset);
	return NULL;
}

void headers_add(struct headers *h, const char *name, const char *value)
{
	const char **slot;

	if (!value)
		value = "";
	if (!is_token(name)) {
		h->bad_name = true;
	} else if (strcasecmp(name, "host") == 0) {
		h->hosts++;
		h->host = value;
	} else if (strcasecmp(name, "content-length") == 0) {
		h->lengths++;
		h->content_length = value;
	} else if (strcasecmp(name, "transfer-encoding") == 0) {
		h->encodings++;
		h->transfer_encoding = value;
	} else if (strcasecmp(name, "accept") == 0) {
		accept_add(&h->accept, value);
	} else {
		slot = header_slot(h, name, strlen(name));
		if (slot && *slot)
			h->repeated = true;
		if (slot)
			*slot = value;
	}
}

/* Digits only: no sign, no list ("5, 5"), no space. Saturates. */
static bool length_parse(const char *s, uint64_t *ret)
{
	uint64_t n = 0;
	const char *p;

	for (p = s; *p; p++) {
		if (*p < '0' || *p > '9')
			return false;
		if (__builtin_mul_overflow(n, 10U, &n) ||
			__builtin_add_overflow(n, (uint64_t)(*p - '0'), &n))
			n = UINT64_MAX;
		if (n == UINT64_MAX)
			break;
	}
	if (p == s || strspn(p, "0123456789") != strlen(p))
		return false;
	*ret = n;
	return true;
}

const char *framing_check(struct headers *h, bool http10)
{
	if (h->bad_name)
		return "a header name holds a character that is not allowed there";
	if (h->encodings && h->lengths)
		return "Transfer-Encoding together with Content-Length";
	if (h->lengths > 1)
		return "more than one Content-Length";
	if (h->lengths && !length_parse(h->content_length, &h->length))
		return "Content-Length is not a number";
	if (h->encodings && http10)
		return "Transfer-Encoding in an HTTP/1.0 request";
	if (h->encodings > 1 || (h->encodings && strcasecmp(h->transfer_encoding, "chunked") != 0))
		return "a Transfer-Encoding other than chunked";
	if (h->hosts > 1)
		return "more than one Host";
	if (h->hosts == 0 && !http10)
		return "no Host";
	if (h->repeated)
		return "a header that may stand only once is repeated";
	h->chunked = h->encodings == 1;
	return NULL;
}

bool headers_have_body(const struct headers *h)
{
	return h->chunked || h->length > 0;
}

bool headers_expect_continue(const struct headers *h)
{
	return h->expect && strcasecmp(h->expect, "100-continue") == 0;
}

/* Copies the host of a Host value, without port, brackets or final dot. */
static bool host_name(const char *host, char *buf, size_t size, bool *ret_bracketed)
{
	const char *end, *port;
	size_t len;

	*ret_bracketed = *host == '[';
	if (*ret_bracketed) {
		host++;
		end = strchr(host, ']');
		if (!end)
			return false;
		port = end + 1;
	} else {
		end = host + strcspn(host, ":");
		port = end;
	}
	if (*port == ':')
		port += 1 + strspn(port + 1, "0123456789");
	if (*port != '\0')
		return false;
	len = (size_t)(end - host);
	if (len > 1 && !*ret_bracketed && host[len - 1] == '.')
		len--;
	if (len == 0 || len >= size)
		return false;
	memcpy(buf, host, len);
	buf[len] = '\0';
	return true;
}

bool host_allowed(const char *host, const char *const *hosts)
{
	char name[256];
	bool bracketed;
	struct in_addr v4;
	struct in6_addr v6;

	if (!host_name(host, name, sizeof(name), &bracketed))
		return false;
	if (bracketed && inet_pton(AF_INET6, name, &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6))
		return true;
	if (!bracketed && strcasecmp(name, "localhost") == 0)
		return true;
	if (!bracketed && inet_pton(AF_INET, name, &v4) == 1 && ntohl(v4.s_addr) >> 24 == 127)
		return true;
	for (; hosts && *hosts; hosts++)
		if (strcasecmp(*hosts, name) == 0)
			return true;
	return false;
}

bool origin_allowed(const char *origin, const char *const *origins)
{
	for (; origins && *origins; origins++)
		if (strcmp(*origins, origin) == 0)
			return true;
	return false;
}

bool content_is_json(const char *content_type)
{
	static const char json[] = "application/json";
	const char *p;

	if (!content_type || strncasecmp(content_type, json, sizeof(json) - 1) != 0)
		return false;
	p = content_type + sizeof(json) - 1;
	p += strspn(p, " \t");
	return *p == '\0' || *p == ';';
}

bool encoding_is_plain(const char *content_encoding)
{
	return !content_encoding || *content_encoding == '\0' ||
		strcasecmp(content_encoding, "identity") == 0;
}
