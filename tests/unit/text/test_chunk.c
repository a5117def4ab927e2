/*
 * test_chunk.c: what must hold of the chunks of any text, in every format: on random
 * text made of what the formats are made of, on hostile text, when memory is short.
 */
#include "../unit.h"

#include <time.h>

#include "chunk_check.h"
#include "util/mem.h"
#include "util/utf8.h"

#define FORMATS 4

/* What text is made of here: signs that mean something in one format or another. */
static const char *const scraps[] = { "<", ">", "<p>", "</p>", "<b>", "</b>", "<h1>", "</h1>",
	"<h3 class='x'>", "</h3>", "<table>", "</table>", "<tr>", "<td>", "<pre>", "</pre>", "<br>",
	"<script>", "</script>", "<style>", "</style>", "<noscript>", "</noscript>", "<template>",
	"<!--", "-->", "<!doctype html>", "<a href=\"", "<a title='", "\">", "'>", "=\"", "\"", "'",
	"<x", "</", "<?", "&", "&amp;", "&#x41;", "&#8211;", "&bogus;", "&nbsp;", ";", "#", "# ",
	"## Two words\n", "\n### Three\n\n", "#hash", "\n", "\n", "\n\n", "\r\n", "\r", "```",
	"\n```c\n", "\n```\n", "~~~", "\n---\n", "---\n", "\n===\n", "| a | b |\n", "|---|---|\n",
	"- ", "\n- item", "1. ", "\n12) ", "> ", "\n> quote", "    ", "\t", " ", " ", " ", "word",
	"word ", "Short. ", "It is so! ", "A longer sentence, with a comma, ends here. ",
	"e.g. this ", "\xE6\xBC\xA2\xE5\xAD\x97", "\xE3\x80\x82", "\xE3\x81\x8B\xE3\x81\xAA",
	"\xC3\xA9", "\xCC\x81", "\xE2\x80\x8D", "\xF0\x9F\x98\x80", "\xC2\xA0", "\xE3\x80\x80",
	"\xE0\xB8\x81\xE0\xB8\xB2", "\xD0\x96\xD0\xB8", "1234567", "3.14", "_", "camelCase",
	"HTTPServer", "def f(x):\n", "    if (x) {\n", "\tint y = 0;\n", "static int g(void)\n{\n",
	"}\n", "class A {\n", "//",
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
	"................................................................", "\x01", "\x7F" };

static uint64_t seed;

static size_t below(size_t n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (size_t)(seed % n);
}

static void random_text(struct strbuf *sb, size_t pieces)
{
	/* Of some scraps only: not every text has everything in it. */
	size_t from = below(sizeof(scraps) / sizeof(scraps[0])),
	       some = 1 + below(sizeof(scraps) / sizeof(scraps[0]));

	strbuf_reset(sb);
	for (size_t i = 0; i < pieces; i++)
		strbuf_adds(sb,
			scraps[(from + below(some)) % (sizeof(scraps) / sizeof(scraps[0]))]);
}

/* Bytes of any value, without those that are not UTF-8. */
static void random_bytes(struct strbuf *sb, size_t n)
{
	strbuf_reset(sb);
	while (sb->len < n) {
		char utf8[4];
		uint32_t cp = (uint32_t)below(below(2) ? 0x80 : below(2) ? 0x3000 : 0x110000);

		if (cp < 0xD800 || cp > 0xDFFF)
			strbuf_add(sb, utf8, utf8_encode(cp, utf8));
	}
}

static void check(const struct strbuf *sb, enum text_format format, size_t target, size_t overlap)
{
	struct text_chunk_options opt = { target, overlap, SIZE_MAX };
	const char *wrong = chunk_check((struct bytes){ sb->data, sb->len }, format, &opt);

	if (wrong)
		fail_msg("format %d, target %zu, overlap %zu: %s:\n%.*s", (int)format, target,
			overlap, wrong, (int)sb->len, sb->data);
}

/* REQ: R12 */
static void test_random_text(void **state)
{
	struct strbuf sb = STRBUF_INIT;

	(void)state;
	seed = 20;
	for (unsigned round = 0; round < 700; round++) {
		size_t target = 16 + below(below(2) ? 20 : 300);

		if (round % 4)
			random_text(&sb, below(300));
		else
			random_bytes(&sb, below(2000));
		for (int f = 0; f < FORMATS; f++)
			check(&sb, (enum text_format)f, target, below(target / 2));
	}
	strbuf_release(&sb);
}

/* A word, a tag, a comment, a heading without end; and one thing only, many times. */
static void test_hostile_text(void **state)
{
	static const char *const many[] = { "<", "#", "`", "\n", "&", "- ", "<a ", "<a x=\"",
		"<!--", "<table>", "<h1>", "</", "a", "\xCC\x81", "\xE6\xBC\xA2", " ", ".", "> ",
		"|", "# a\n", "<script>", "<noscript>", "<pre>", "a\n\n", "&amp", "a. ",
		"<a x=\">\"", "1", "Word one. ",
		"<p>w w <b y=\"p>q q\" z>r s. One two three four five six seven eight nine ten" };
	/* A quote that is never closed: from there on none counts. */
	static const char *const starts[] = { "x ", "<a x='>" };
	struct strbuf sb = STRBUF_INIT;

	(void)state;
	for (size_t i = 0; i < 2 * sizeof(many) / sizeof(many[0]); i++) {
		strbuf_reset(&sb);
		strbuf_adds(&sb, starts[i % 2]);
		while (sb.len < 10000)
			strbuf_adds(&sb, many[i / 2]);
		strbuf_adds(&sb, " end");
		for (int f = 0; f < FORMATS; f++) {
			check(&sb, (enum text_format)f, 64, 16);
			check(&sb, (enum text_format)f, 16, 7);
		}
	}
	strbuf_release(&sb);
}

/* Each allocation fails once. */
static void test_out_of_memory(void **state)
{
	static const char text[] =
		"<h1>Title &amp; more</h1><p>First one. Second one. Third one, "
		"much longer than all the others before it.<p>Next. And so on "
		"until it ends.<h2>Sub</h2><p>More and more of it. And more.";
	struct text_chunk_options opt = { 16, 4, 1000 };
	unsigned failures = 0;

	(void)state;
	for (int f = 0; f < FORMATS; f++)
		for (long n = 0;; n++) {
			struct text_chunk *chunks = NULL;
			struct arena arena;
			enum status st;
			size_t count = 77;

			arena_init(&arena, 0);
			mem_fail_after(n);
			st = text_chunk(bytes_of(text), (enum text_format)f, &opt, &arena, &chunks,
				&count);
			mem_fail_after(-1);
			arena_release(&arena);
			if (st == ST_OK)
				break;
			assert_int_equal(st, ST_NOMEM);
			assert_null(chunks);
			assert_int_equal(count, 77);
			failures++;
		}
	assert_true(failures >= 2 * FORMATS);
}

static void test_nothing(void **state)
{
	static const char *const blank[] = { "", " ", "\n\t \r\n", "\xC2\xA0\xE3\x80\x80" };
	struct text_chunk_options opt = { 16, 4, 0 };
	struct arena arena;

	(void)state;
	arena_init(&arena, 0);
	for (int f = 0; f < FORMATS; f++)
		for (size_t i = 0; i < 4; i++) {
			struct text_chunk *chunks;
			size_t n = 1;

			assert_int_equal(text_chunk(bytes_of(blank[i]), (enum text_format)f, &opt,
						 &arena, &chunks, &n),
				ST_OK);
			assert_int_equal(n, 0);
			assert_int_equal(text_chunk(BYTES_NONE, (enum text_format)f, &opt, &arena,
						 &chunks, &n),
				ST_OK);
			assert_int_equal(n, 0);
			assert_int_equal(text_chunk(bytes_of("a"), (enum text_format)f, &opt,
						 &arena, &chunks, &n),
				ST_TOO_LARGE);
		}
	arena_release(&arena);
}

static double seconds(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec * 1e-9;
}

static double time_of(const struct strbuf *sb, size_t len, enum text_format format)
{
	struct text_chunk_options opt = { 400, 60, SIZE_MAX };
	struct text_chunk *chunks;
	struct arena arena;
	double before = seconds();
	size_t n;

	arena_init(&arena, 0);
	assert_int_equal(text_chunk((struct bytes){ sb->data, len }, format, &opt, &arena, &chunks,
				 &n),
		ST_OK);
	arena_release(&arena);
	return seconds() - before;
}

/* Eight times the text takes about eight times as long, not 64 times. */
static void test_linear(void **state)
{
	static const char *const many[] = { "<", "#", "`", "\n", "&", "- ", "<a ", "<a x=\"",
		"<!--", "<table>", "<a x=\">\"", "a ", "a", "# a\n", "<noscript>", "<h1>a" };
	struct strbuf sb = STRBUF_INIT;

	(void)state;
	for (size_t i = 0; i < sizeof(many) / sizeof(many[0]); i++) {
		strbuf_reset(&sb);
		while (sb.len < 240000)
			strbuf_adds(&sb, many[i]);
		for (int f = 0; f < FORMATS; f++) {
			double small = time_of(&sb, 30000, (enum text_format)f),
			       large = time_of(&sb, 240000, (enum text_format)f);

			if (large > 24 * small + 0.05)
				fail_msg("%s, format %d: %.4f s and %.4f s", many[i], f, small,
					large);
		}
	}
	strbuf_release(&sb);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_text),
		cmocka_unit_test(test_hostile_text),
		cmocka_unit_test(test_out_of_memory),
		cmocka_unit_test(test_nothing),
		cmocka_unit_test(test_linear),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
