/* test_query.c: queries become words, and nothing but words. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "text/query.h"
#include "text/separators.h"
#include "text/stopwords.h"
#include "util/mem.h"
#include "util/strbuf.h"

/* Checks the terms of a query against one string, terms joined by '|'. */
static void expect_bytes(const char *text, size_t len, const char *want, bool only_stop_words)
{
	struct arena arena;
	struct text_query q;
	struct strbuf got = STRBUF_INIT;

	arena_init(&arena, 0);
	assert_int_equal(text_query_parse((struct bytes){ text, len }, &arena, &q), ST_OK);
	strbuf_adds(&got, "");
	for (size_t i = 0; i < q.n; i++) {
		if (i > 0)
			strbuf_addc(&got, '|');
		strbuf_add(&got, q.terms[i].data, q.terms[i].len);
	}
	assert_string_equal(got.data ? got.data : "", want);
	assert_int_equal(q.only_stop_words, only_stop_words);
	assert_false(q.truncated);
	strbuf_release(&got);
	arena_release(&arena);
}

static void expect(const char *text, const char *want)
{
	expect_bytes(text, strlen(text), want, false);
}

static void test_words(void **state)
{
	(void)state;
	expect("plain words", "plain|words");
	expect("  BENCH-100821, grammar::fa! ", "BENCH|100821|grammar|fa");
	expect("v38.101 38.101", "v38|101|38|101");
	expect("ping ping", "ping|ping");
	expect("Straße Łódź 東京タワー", "Straße|Łódź|東京タワー");
	expect("e\xCC\x81tude", "e\xCC\x81tude"); /* a combining accent stays in its word */
}

/* REQ: D33, RET-03: nothing to look for is no term. */
static void test_empty(void **state)
{
	static const char *const blanks[] = { "", "   ", "\n\t\r", "!!!", "***", "\\ % _ ^",
		"\xE2\x80\x8B", "\xE3\x80\x80", "\xC2\xA0", "\xEF\xBB\xBF", "\xF0\x9F\x98\x80",
		"\xE2\x9D\xA4\xEF\xB8\x8F", "\xE2\x80\x9C\xE2\x80\x9D" };

	(void)state;
	for (size_t i = 0; i < sizeof blanks / sizeof blanks[0]; i++)
		expect(blanks[i], "");
}

static void test_separators(void **state)
{
	(void)state;
	expect("one\xC2\xA0two\xE2\x80\x8Bthree\xE3\x80\x80"
	       "four\xE2\x80\x94"
	       "five",
		"one|two|three|four|five");
	expect("ab\xE3\x80\x82"
	       "cd\xEF\xBC\x8C"
	       "ef",
		"ab|cd|ef");
	assert_true(text_is_separator(0x80));
	assert_false(text_is_separator(0xAA));
	assert_true(text_is_separator(0xE0001));
	assert_false(text_is_separator(0x10FFFD));
	assert_false(text_is_separator(0x4E00));
}

/* REQ: M11, JSON-02: a NUL separates and ends nothing. */
static void test_nul(void **state)
{
	(void)state;
	expect_bytes("ab\0cd", 5, "ab|cd", false);
	expect_bytes("\0", 1, "", false);
}

/* REQ: RET-01, RET-02: operators are words or nothing. */
static void test_no_syntax(void **state)
{
	(void)state;
	expect("\"unbalanced a\"b", "unbalanced|b");
	expect("text:x -x x^2 x*", "text|x|x|x|2|x");
	expect("cats AND dogs", "cats|dogs");
	expect("NEAR(a b", "NEAR|b");
	expect("NOT working", "working");
}

static void test_stop_words(void **state)
{
	(void)state;
	expect_bytes("the of and", 10, "", true);
	expect_bytes("To Be oR nOt tO bE", 18, "", true);
	expect_bytes("OR OR", 5, "", true);
	expect("what is the boiling point", "boiling|point");
	expect("vitamin d in C", "vitamin|d|C");
	assert_false(text_is_stopword(bytes_of("")));
	assert_false(text_is_stopword(bytes_of("thematically")));
	assert_false(text_is_stopword(bytes_of("thethethethethethethethe")));
	assert_true(text_is_stopword(bytes_of("a")));
	assert_true(text_is_stopword(bytes_of("YOURSELVES")));
}

/* Finds every row of the list, so that an unsorted one shows. */
static void test_stop_words_all(void **state)
{
	static const char *const some[] = { "about", "although", "am", "been", "both", "cannot",
		"during", "either", "few", "from", "hence", "hers", "however", "i", "its", "just",
		"may", "might", "neither", "now", "onto", "ought", "per", "quite", "rather", "she",
		"since", "than", "thus", "under", "via", "whereas", "who", "within", "yet", "you" };

	(void)state;
	for (size_t i = 0; i < sizeof some / sizeof some[0]; i++)
		if (!text_is_stopword(bytes_of(some[i])))
			fail_msg("'%s' is not found", some[i]);
}

static void test_contractions(void **state)
{
	(void)state;
	expect("don't", "don");
	expect("don\xE2\x80\x99t", "don");
	expect("DON'T PANIC", "DON|PANIC");
	expect_bytes("it's", 4, "", true);
	expect("t cell", "t|cell");
	expect("'s hertogenbosch", "s|hertogenbosch"); /* nothing before the apostrophe */
	expect("rock ' t", "rock|t");
	expect("o'reilly", "o|reilly");
}

/* REQ: RET-01: a word of up to 1,024 bytes is looked up whole, a longer one is cut. */
static void test_long_word(void **state)
{
	char text[3000];
	struct arena arena;
	struct text_query q;

	(void)state;
	arena_init(&arena, 0);
	memset(text, 'x', sizeof text);
	for (size_t len = 1023; len < sizeof text; len += len < 1026 ? 1 : 500) {
		assert_int_equal(text_query_parse((struct bytes){ text, len }, &arena, &q), ST_OK);
		assert_int_equal(q.n, 1);
		assert_int_equal(q.terms[0].len, len < 1024 ? len : 1024);
	}
	/* A three-byte letter across the limit is left out whole. */
	for (size_t i = 0; i < 500; i++)
		memcpy(text + 2 + 3 * i, "\xE6\x9D\xB1", 3);
	assert_int_equal(text_query_parse((struct bytes){ text, 1502 }, &arena, &q), ST_OK);
	assert_int_equal(q.n, 1);
	assert_int_equal(q.terms[0].len, 1022);
	arena_release(&arena);
}

static void test_too_many(void **state)
{
	struct strbuf text = STRBUF_INIT;
	struct arena arena;
	struct text_query q;

	(void)state;
	arena_init(&arena, 0);
	for (unsigned i = 0; i < TEXT_QUERY_MAX_TERMS; i++)
		strbuf_addf(&text, "w%u ", i);
	assert_int_equal(text_query_parse((struct bytes){ text.data, text.len }, &arena, &q),
		ST_OK);
	assert_int_equal(q.n, TEXT_QUERY_MAX_TERMS);
	assert_false(q.truncated);
	strbuf_adds(&text, "the last");
	assert_int_equal(text_query_parse((struct bytes){ text.data, text.len }, &arena, &q),
		ST_OK);
	assert_int_equal(q.n, TEXT_QUERY_MAX_TERMS);
	assert_true(q.truncated);
	strbuf_release(&text);
	arena_release(&arena);
}

/* Every two-byte start of every code point's neighbourhood: no crash, terms valid. */
static void test_odd_bytes(void **state)
{
	struct arena arena;
	struct text_query q;

	(void)state;
	arena_init(&arena, 0);
	for (unsigned a = 0; a < 256; a++)
		for (unsigned b = 0; b < 256; b += 5) {
			char text[4] = { 'x', (char)a, (char)b, 'y' };
			assert_int_equal(text_query_parse((struct bytes){ text, 4 }, &arena, &q),
				ST_OK);
		}
	arena_release(&arena);
}

static void test_out_of_memory(void **state)
{
	const char *text = "enough words for several pieces of memory";
	struct arena arena;
	struct text_query q = { .n = 77 };
	enum status st = ST_NOMEM;
	long n;

	(void)state;
	for (n = 0; st == ST_NOMEM && n < 100; n++) {
		arena_init(&arena, 0);
		mem_fail_after(n);
		st = text_query_parse(bytes_of(text), &arena, &q);
		mem_fail_after(-1);
		if (st)
			assert_int_equal(q.n, 77);
		arena_release(&arena);
	}
	assert_int_equal(st, ST_OK);
	assert_true(n > 1);
	assert_int_equal(q.n, 5);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_separators),
		cmocka_unit_test(test_nul),
		cmocka_unit_test(test_no_syntax),
		cmocka_unit_test(test_stop_words),
		cmocka_unit_test(test_stop_words_all),
		cmocka_unit_test(test_contractions),
		cmocka_unit_test(test_long_word),
		cmocka_unit_test(test_too_many),
		cmocka_unit_test(test_odd_bytes),
		cmocka_unit_test(test_out_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
