/*
 * fuzz_sse.c: any bytes as an event stream, in any pieces. The first byte says how they
 * are cut. However they are, the events must be those that a plain reading of the whole
 * text finds, up to the first that is above the limit.
 */
#include <string.h>

#include "fuzz.h"
#include "net/net.h"

#define LIMIT 100U
#define INPUT_MAX 65536U

static bool on_event(void *arg, struct bytes data)
{
	struct strbuf *all = arg;

	FUZZ_CHECK(data.len <= LIMIT);
	strbuf_addf(all, "%zu:", data.len);
	strbuf_add(all, data.data, data.len);
	return true;
}

static enum status feed(struct bytes text, size_t step, struct strbuf *all)
{
	struct net_sse s;
	struct error e;
	enum status st = ST_OK;

	net_sse_init(&s);
	for (size_t at = 0; at < text.len && !st; at += step) {
		size_t n = text.len - at < step ? text.len - at : step;
		st = net_sse_feed(&s, (struct bytes){ text.data + at, n }, LIMIT, on_event, all,
			&e);
	}
	net_sse_release(&s);
	return st;
}

/* What the standard says of one line: appends its data; true where an event ends. */
static bool plain_line(struct bytes line, struct strbuf *data)
{
	if (line.len == 0)
		return true;
	const char *colon = memchr(line.data, ':', line.len);
	size_t name = colon ? (size_t)(colon - line.data) : line.len;
	if (name != 4 || memcmp(line.data, "data", 4) != 0)
		return false;
	size_t value = colon ? name + 1 : name;
	if (value < line.len && line.data[value] == ' ')
		value++;
	strbuf_add(data, line.data + value, line.len - value);
	strbuf_addc(data, '\n');
	return false;
}

/* The whole text at once, without limits. */
static void plain(struct bytes text, struct strbuf *all)
{
	struct strbuf data = STRBUF_INIT;
	size_t at = text.len >= 3 && memcmp(text.data, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;

	while (at < text.len) {
		size_t end = at;
		while (end < text.len && text.data[end] != '\r' && text.data[end] != '\n')
			end++;
		if (end == text.len)
			break;
		if (plain_line((struct bytes){ text.data + at, end - at }, &data)) {
			if (data.len > 0)
				strbuf_addf(all, "%zu:", data.len - 1);
			if (data.len > 1)
				strbuf_add(all, data.data, data.len - 1);
			strbuf_reset(&data);
		}
		bool crlf = text.data[end] == '\r' && end + 1 < text.len &&
			text.data[end + 1] == '\n';
		at = end + 1 + crlf;
	}
	strbuf_release(&data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct strbuf cut = STRBUF_INIT, whole = STRBUF_INIT, want = STRBUF_INIT;

	if (size < 2 || size > INPUT_MAX)
		return 0;
	struct bytes text = { (const char *)data + 1, size - 1 };
	enum status st = feed(text, 1 + data[0] % 32U, &cut);
	FUZZ_CHECK(st == ST_OK || st == ST_TOO_LARGE);
	FUZZ_CHECK(feed(text, text.len, &whole) == st);
	plain(text, &want);
	FUZZ_CHECK(cut.len == whole.len && whole.len <= want.len);
	FUZZ_CHECK(cut.len == 0 || memcmp(cut.data, whole.data, cut.len) == 0);
	FUZZ_CHECK(whole.len == 0 || memcmp(whole.data, want.data, whole.len) == 0);
	FUZZ_CHECK(st == ST_TOO_LARGE || whole.len == want.len);
	strbuf_release(&cut);
	strbuf_release(&whole);
	strbuf_release(&want);
	return 0;
}
