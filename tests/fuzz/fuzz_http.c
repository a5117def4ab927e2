/*
 * fuzz_http.c: what stands in front of the dispatcher: the request target and the
 * headers, through the pure functions of src/http. The first line is the target,
 * each further line a header "Name: value"; HTTP/1.0 when the last byte is '0'.
 * REQ: T1 T4 T11 D8 D10 D11 D16; cases HTTP-05 HTTP-06 SEC-01 SEC-02 SSE-04.
 */
#include <string.h>
#include <strings.h>

#include "fuzz.h"
#include "http/accept.h"
#include "http/gate.h"
#include "http/path.h"
#include "util/utf8.h"

#define LINES_MAX 32

/* ---- the path ---- */

static int hex(char c)
{
	static const char digits[] = "00112233445566778899aAbBcCdDeEfF";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) / 2 : -1;
}

/* The decoding said again in other words: the path must be this, byte for byte. */
static void check_decoded(const char *target, const char *path)
{
	const char *p = path;

	for (const char *t = target; *t && *t != '?'; t++, p++) {
		int c = (unsigned char)*t;
		if (*t == '%') {
			FUZZ_CHECK(hex(t[1]) >= 0 && hex(t[2]) >= 0);
			c = hex(t[1]) * 16 + hex(t[2]);
			t += 2;
		}
		FUZZ_CHECK((unsigned char)*p == c && c >= 0x20 && c != 0x7f);
	}
	FUZZ_CHECK(*p == '\0');
	FUZZ_CHECK(path[0] == '/' && utf8_valid(path, strlen(path)));
}

static void check_split(const char *path, const char *base)
{
	char *copy = strdup(path);
	size_t n = strlen(base);
	const char *method = "unset";

	FUZZ_CHECK(copy);
	bool under = path_split(copy, base, n, &method);
	bool is_base = strncmp(path, base, n) == 0 && (path[n] == '\0' || path[n] == '/');
	FUZZ_CHECK(under == is_base);
	if (under && method) {
		size_t len = strlen(method);
		FUZZ_CHECK(method >= copy && method <= copy + strlen(path));
		FUZZ_CHECK(strncmp(method, path + n + 1, len) == 0);
		FUZZ_CHECK(strcmp(path + n + 1 + len, "") == 0 ||
			strcmp(path + n + 1 + len, "/") == 0);
	}
	FUZZ_CHECK(!under || method || path[n] == '\0' || path[n + 1] == '\0');
	free(copy);
}

static void try_target(const char *target)
{
	char *path = strdup(target);

	FUZZ_CHECK(path);
	const char *why = path_decode(path);
	if (!why) {
		check_decoded(target, path);
		check_split(path, "/rcp");
		check_split(path, "/a/b");
		check_split(path, "");
	} else {
		FUZZ_CHECK(why[0]);
	}
	free(path);
}

/* ---- the headers ---- */

struct counts {
	unsigned hosts, lengths, encodings;
};

static void count_name(struct counts *c, const char *name)
{
	c->hosts += strcasecmp(name, "host") == 0;
	c->lengths += strcasecmp(name, "content-length") == 0;
	c->encodings += strcasecmp(name, "transfer-encoding") == 0;
}

/* A framing that was let through must be the only possible one. */
static void check_framing(const struct headers *h, const struct counts *c, bool http10)
{
	FUZZ_CHECK(!h->bad_name && !h->repeated);
	FUZZ_CHECK(c->hosts <= 1 && (c->hosts == 1 || http10));
	FUZZ_CHECK(c->lengths + c->encodings <= 1);
	FUZZ_CHECK(!c->encodings || !http10);
	FUZZ_CHECK(h->chunked == (c->encodings == 1));
	if (c->lengths) {
		size_t digits = strspn(h->content_length, "0123456789");
		FUZZ_CHECK(digits > 0 && digits == strlen(h->content_length));
		FUZZ_CHECK(h->length == strtoull(h->content_length, NULL, 10));
	}
	FUZZ_CHECK(headers_have_body(h) == (h->chunked || h->length > 0));
}

static void check_values(const struct headers *h)
{
	static const char *const hosts[] = { "rcp.example", NULL };
	static const char *const origins[] = { "https://a.example", NULL };

	if (h->host && host_allowed(h->host, hosts))
		FUZZ_CHECK(strcasestr(h->host, "localhost") == h->host ||
			strncmp(h->host, "127.", 4) == 0 || h->host[0] == '[' ||
			strcasestr(h->host, "rcp.example") == h->host);
	if (h->host && host_allowed(h->host, NULL))
		FUZZ_CHECK(host_allowed(h->host, hosts));
	if (h->origin) {
		FUZZ_CHECK(!origin_allowed(h->origin, NULL));
		FUZZ_CHECK(origin_allowed(h->origin, origins) == !strcmp(h->origin, origins[0]));
	}
	if (content_is_json(h->content_type))
		FUZZ_CHECK(strncasecmp(h->content_type, "application/json", 16) == 0);
	FUZZ_CHECK(h->accept.sse >= -1 && h->accept.sse <= 1000);
	FUZZ_CHECK(h->accept.json >= -1 && h->accept.json <= 1000);
}

/* One header line, cut in place; accept gathers what was said about event streams. */
static void take_header(struct headers *h, struct counts *c, char *line, bool *named_sse)
{
	char *colon = strchr(line, ':');

	if (colon) {
		*colon++ = '\0';
		colon += strspn(colon, " \t");
	}
	if (strcasecmp(line, "accept") == 0 && colon && strcasestr(colon, "text/event-stream"))
		*named_sse = true;
	count_name(c, line);
	headers_add(h, line, colon);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct headers h;
	struct counts c = { 0, 0, 0 };
	bool named_sse = false;
	char *text = malloc(size + 1), *next = text;

	FUZZ_CHECK(text);
	memcpy(text, data, size);
	text[size] = '\0';
	headers_init(&h);
	for (unsigned i = 0; next && i < LINES_MAX; i++) {
		char *line = strsep(&next, "\n");
		if (i == 0)
			try_target(line);
		else if (*line)
			take_header(&h, &c, line, &named_sse);
	}
	bool http10 = size > 0 && data[size - 1] == '0';
	if (!framing_check(&h, http10))
		check_framing(&h, &c, http10);
	check_values(&h);
	FUZZ_CHECK(!accept_wants_sse(&h.accept) || named_sse);
	(void)headers_expect_continue(&h);
	(void)encoding_is_plain(h.content_encoding);
	free(text);
	return 0;
}
