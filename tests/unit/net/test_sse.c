/* test_sse.c: event streams, whole and cut at every byte. */
#include <string.h>

#include "../unit.h"
#include "net/net.h"
#include "util/mem.h"

struct events {
	struct strbuf text; /* each in <> */
	unsigned left;      /* wanted still */
};

static bool on_event(void *arg, struct bytes data)
{
	struct events *ev = arg;

	strbuf_addc(&ev->text, '<');
	strbuf_add(&ev->text, data.data, data.len);
	strbuf_addc(&ev->text, '>');
	return --ev->left > 0;
}

/* Feeds the stream in pieces of `step` bytes. */
static enum status feed(struct bytes stream, size_t step, size_t max, struct events *ev)
{
	struct net_sse s;
	struct error e;
	enum status st = ST_OK;

	net_sse_init(&s);
	for (size_t at = 0; at < stream.len && !st; at += step) {
		size_t n = stream.len - at < step ? stream.len - at : step;
		st = net_sse_feed(&s, (struct bytes){ stream.data + at, n }, max, on_event, ev, &e);
	}
	net_sse_release(&s);
	return st;
}

static void test_streams(void **state)
{
	static const struct {
		const char *stream, *events;
	} rows[] = {
		{ "", "" },
		{ "data: a\n\n", "<a>" },
		{ "data:a\r\rdata:b\n\ndata: c\r\n\r\n", "<a><b><c>" },
		{ "data: a\ndata:  b\ndata\n\n", "<a\n b\n>" },
		{ "\xef\xbb\xbf"
		  "data: a\n\n",
			"<a>" },
		{ "\xef\xbb\xbf\xef\xbb\xbf"
		  "data: a\n\n",
			"" },
		{ "data: x\n\n\xef\xbb\xbf"
		  "data: a\n\n",
			"<x>" },
		{ ": comment\nevent: e\nid: 1\nretry: 5\nother\ndata: a\n\n", "<a>" },
		{ "event: e\n\n\n\ndata: a\n\n", "<a>" },
		{ "data\n\n", "<>" },
		{ "data:\n\n", "<>" },
		{ "data\ndata\n\n", "<\n>" },
		{ "datax: a\nDATA: b\n data: c\n\n", "" },
		{ "data: a\n", "" },
		{ "data: a\n\ndata: never ended", "<a>" },
		{ "data: {\"a\":1}\r\n\r\ndata: [DONE]\r\n\r\n", "<{\"a\":1}><[DONE]>" },
		{ "data: a\r\r\n\r\n", "<a>" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		for (size_t step = 1; step < 12; step++) {
			struct events ev = { STRBUF_INIT, 100 };
			assert_int_equal(feed(bytes_of(rows[i].stream), step, 1000, &ev), ST_OK);
			assert_string_equal(ev.text.data ? ev.text.data : "", rows[i].events);
			strbuf_release(&ev.text);
		}
	}
}

static void test_nul_bytes(void **state)
{
	static const char stream[] = "data: a\0b\n\n";
	struct events ev = { STRBUF_INIT, 100 };

	(void)state;
	assert_int_equal(feed((struct bytes){ stream, sizeof(stream) - 1 }, 3, 100, &ev), ST_OK);
	assert_int_equal(ev.text.len, 5);
	assert_memory_equal(ev.text.data, "<a\0b>", 5);
	strbuf_release(&ev.text);
}

static void test_limits(void **state)
{
	static const struct {
		const char *stream;
		size_t max;
		enum status st;
	} rows[] = { { "data: 12345\n\n", 5, ST_OK }, { "data: 123456\n\n", 5, ST_TOO_LARGE },
		{ "data: 12\ndata: 45\n\n", 5, ST_OK },
		{ "data: 12\ndata: 456\n\n", 5, ST_TOO_LARGE },
		{ "data\ndata\ndata\ndata\ndata\ndata\n\n", 5, ST_OK },
		{ "data\ndata\ndata\ndata\ndata\ndata\ndata\n\n", 5, ST_TOO_LARGE },
		{ ": a comment of 40 bytes, above the limit\n", 5, ST_TOO_LARGE },
		{ "data: 12345\n\ndata: 12345\n\n", 5, ST_OK } };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		for (size_t step = 1; step < 60; step += 7) {
			struct events ev = { STRBUF_INIT, 100 };
			assert_int_equal(feed(bytes_of(rows[i].stream), step, rows[i].max, &ev),
				rows[i].st);
			strbuf_release(&ev.text);
		}
}

static void test_ending_it(void **state)
{
	struct events ev = { STRBUF_INIT, 2 };

	(void)state;
	assert_int_equal(feed(bytes_of("data: a\n\ndata: b\n\ndata: c\n\n"), 100, 100, &ev),
		ST_CANCELLED);
	assert_string_equal(ev.text.data, "<a><b>");
	strbuf_release(&ev.text);
}

static bool count_event(void *arg, struct bytes data)
{
	(void)data;
	++*(unsigned *)arg;
	return true;
}

static void test_out_of_memory(void **state)
{
	static const char stream[] =
		"data: a line that is longer than the first sixty-four bytes of "
		"a buffer, so that it has to grow\ndata: b\n\n";
	enum status st = ST_NOMEM;
	long i;

	(void)state;
	for (i = 0; i < 100 && st != ST_OK; i++) {
		struct net_sse s;
		struct error e;
		unsigned events = 0;
		net_sse_init(&s);
		(void)mem_fail_after(i);
		st = net_sse_feed(&s, bytes_of(stream), 1000, count_event, &events, &e);
		(void)mem_fail_after(-1);
		assert_true(st == ST_NOMEM || (st == ST_OK && events == 1));
		net_sse_release(&s);
	}
	assert_in_range(i, 3, 99);
	assert_int_equal(st, ST_OK);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_streams),
		cmocka_unit_test(test_nul_bytes),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_ending_it),
		cmocka_unit_test(test_out_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
