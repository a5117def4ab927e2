/*
 * test_framing.c: lines out of bytes, whatever way the bytes are cut (S1).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>

#include "stdio/framing.h"
#include "util/mem.h"

/* Appends what an event shows to a trace: "<line>", "!" too long, "?" no memory. */
static void trace_event(struct strbuf *trace, enum line_event ev, struct strbuf *line)
{
	if (ev == LINE_MESSAGE) {
		strbuf_addc(trace, '<');
		strbuf_add(trace, line->data, line->len);
		strbuf_addc(trace, '>');
	} else if (ev != LINE_NONE) {
		strbuf_addc(trace, ev == LINE_TOO_LONG ? '!' : '?');
	}
	strbuf_release(line);
}

static void feed(struct line_splitter *ls, const char *p, size_t n, struct strbuf *trace)
{
	enum line_event ev;

	do {
		struct strbuf line = STRBUF_INIT;

		ev = line_splitter_feed(ls, &p, &n, &line);
		trace_event(trace, ev, &line);
		assert_true(ls->line.len <= ls->max + 1);
	} while (ev != LINE_NONE);
	assert_int_equal(n, 0);
}

/* Feeds text in pieces of `piece` bytes, ends it, and compares the trace. */
static void assert_trace(const char *text, size_t n, size_t max, size_t piece, const char *want)
{
	struct strbuf trace = STRBUF_INIT, line = STRBUF_INIT;
	struct line_splitter ls;

	line_splitter_init(&ls, max);
	for (size_t at = 0; at < n; at += piece)
		feed(&ls, text + at, piece < n - at ? piece : n - at, &trace);
	trace_event(&trace, line_splitter_finish(&ls, &line), &line);
	assert_string_equal(trace.data ? trace.data : "", want);
	strbuf_release(&trace);
	line_splitter_release(&ls);
}

static void assert_all_cuts(const char *text, size_t n, size_t max, const char *want)
{
	for (size_t piece = 1; piece <= n + 1; piece++)
		assert_trace(text, n, max, piece, want);
}

/* REQ: S1 */
static void test_lines(void **state)
{
	static const char text[] = "one\n\ntwo\r\n  \t\r\n\r\nthree";

	(void)state;
	assert_all_cuts(text, sizeof(text) - 1, 100, "<one><two><three>");
	assert_all_cuts("", 0, 100, "");
	assert_all_cuts("\n\n\n", 3, 100, "");
	assert_all_cuts("a\rb\n", 4, 100, "<a\rb>");
	assert_all_cuts("x\r\r\n", 4, 100, "<x\r>");
	assert_all_cuts(" {} \n", 5, 100, "< {} >");
}

/* NUL and any other byte but the newline pass through. */
static void test_any_bytes(void **state)
{
	static const char text[] = { 'a', '\0', (char)0xff, '\n', '\0', '\n' };
	struct strbuf trace = STRBUF_INIT;
	struct line_splitter ls;

	(void)state;
	line_splitter_init(&ls, 10);
	feed(&ls, text, sizeof(text), &trace);
	assert_int_equal(trace.len, 8);
	assert_memory_equal(trace.data, "<a\0\xff><\0>", 8);
	strbuf_release(&trace);
	line_splitter_release(&ls);
}

/* A line of exactly the limit fits, with either end; one byte more does not, is
 * told once, and the next line is whole again. */
static void test_limit(void **state)
{
	(void)state;
	assert_all_cuts("12345\nab\n", 9, 5, "<12345><ab>");
	assert_all_cuts("12345\r\nab\n", 10, 5, "<12345><ab>");
	assert_all_cuts("123456\nab\n", 10, 5, "!<ab>");
	assert_all_cuts("123456\r\nab\n", 11, 5, "!<ab>");
	assert_all_cuts("1234567890123\nab\n", 17, 5, "!<ab>");
	assert_all_cuts("ab\n1234567890123", 16, 5, "<ab>!");
	assert_all_cuts("12345", 5, 5, "<12345>");
	assert_all_cuts("123456", 6, 5, "!");
	assert_all_cuts("12345678\n12345678\nx\n", 20, 5, "!!<x>");
	assert_all_cuts("        \nx\n", 11, 5, "!<x>"); /* blanks count as well */
}

/* REQ: M15: a line of 64 MiB is dropped without being kept. */
static void test_giant_line_in_constant_memory(void **state)
{
	static char piece[65536];
	struct strbuf trace = STRBUF_INIT;
	struct line_splitter ls;

	(void)state;
	memset(piece, 'x', sizeof(piece));
	line_splitter_init(&ls, 100000);
	for (int i = 0; i < 1024; i++) {
		feed(&ls, piece, sizeof(piece), &trace);
		assert_true(ls.line.cap <= 400000);
	}
	feed(&ls, "\nok\n", 4, &trace);
	assert_string_equal(trace.data, "!<ok>");
	strbuf_release(&trace);
	line_splitter_release(&ls);
}

static void test_out_of_memory(void **state)
{
	struct strbuf line = STRBUF_INIT;
	struct line_splitter ls;
	const char *p = "some line\nnext\n";
	size_t n = strlen(p);

	(void)state;
	line_splitter_init(&ls, 100);
	mem_fail_after(0);
	assert_int_equal(line_splitter_feed(&ls, &p, &n, &line), LINE_NOMEM);
	mem_fail_after(-1);
	assert_int_equal(line_splitter_feed(&ls, &p, &n, &line), LINE_MESSAGE);
	assert_string_equal(line.data, "next");
	strbuf_release(&line);
	line_splitter_release(&ls);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_any_bytes),
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_giant_line_in_constant_memory),
		cmocka_unit_test(test_out_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
