/* test_words.c: words, their folded forms, wholes and parts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "terms_of.h"

#define NONE TEXT_LANG_NONE

static void test_plain(void **state)
{
	(void)state;
	expect_terms("Plain words, no more!", NONE, "plain words no more");
	expect_terms("", NONE, "");
	expect_terms(" \n\t.,;!?", NONE, "");
	expect_terms("a-b well-known (x)", NONE, "a b well known x");
	expect_terms("end.", NONE, "end");
	expect_terms("one two", NONE, "one two");
	expect_terms("note: this", NONE, "note this");
}

/* REQ: DESIGN "NFKC and case folding, accents folded". */
static void test_folding(void **state)
{
	static const struct {
		const char *text, *term;
	} rows[] = {
		{ "Straße", "strasse" },
		{ "STRASSE", "strasse" },
		{ "ﬁnance", "finance" },
		{ "İstanbul", "istanbul" },
		{ "ısı", "isi" },
		{ "Ｆｕｌｌ１２", "full12" },
		{ "Łódź", "lodz" },
		{ "smørrebrød", "smorrebrod" },
		{ "Æsir", "aesir" },
		{ "cœur", "coeur" },
		{ "naïve", "naive" },
		{ "e\xCC\x81tude", "etude" },
		{ "ÉTUDE", "etude" },
		{ "Ångström", "angstrom" },
		{ "đồng", "dong" },
		{ "Ελλάδα", "ελλαδα" },
		{ "ΟΔΟΣ", "οδοσ" },
		{ "οδός", "οδοσ" },
		{ "ёлка", "елка" },
		{ "йод", "йод" },
		{ "Україна", "україна" },
		{ "مُحَمَّد", "محمد" },
		{ "أحمد", "احمد" },
		{ "שָׁלוֹם", "שלום" },
		{ "m²", "m2" },
		{ "H₂O", "h2o" },
		{ "①", "1" },
		{ "½", "12" },
		{ "㎏", "kg" },
		{ "№", "no" },
		{ "Ⅷ", "viii" },
		{ "co\xC2\xADop", "coop" }, /* soft hyphen */
		{ "zero\xE2\x80\x8Dwidth", "zerowidth" },
		{ "\xEF\xBB\xBFmark", "mark" },
		{ "𝐁old", "bold" },
		{ "ŉ", "n" },
		{ "क़लम", "कलम" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		expect_terms(rows[i].text, NONE, rows[i].term);
}

/* UAX #29: U+200B separates, joiners and format characters do not. */
static void test_zero_width(void **state)
{
	(void)state;
	expect_terms("a\xE2\x80\x8Bz", NONE, "a z");
	expect_terms("a\xE2\x81\xA0z", NONE, "az");
	expect_terms("\xE2\x80\x8D", NONE, "");
	expect_terms("\xCC\x81", NONE, "");
}

/* REQ: M11, JSON-02: NUL and broken bytes separate and end nothing. */
static void test_odd_bytes(void **state)
{
	(void)state;
	expect_terms_of((struct bytes){ "ab\0cd", 5 }, NONE, "ab cd");
	expect_terms(
		"ab\xFF"
		"cd",
		NONE, "ab cd");
	expect_terms("caf\xC3", NONE, "caf");
	expect_terms("\xC0\x80x\xED\xA0\x80y\xF4\x90\x80\x80z", NONE, "x y z");
	expect_terms("\xE6\x9D", NONE, "");
}

/* REQ: RET-01: identifiers and versions whole and by their parts. */
static void test_identifiers(void **state)
{
	(void)state;
	expect_terms("BENCH-100821", NONE, "bench-100821/bench~/100821~");
	expect_terms("grammar::fa", NONE, "grammar::fa/grammar~/fa~");
	expect_terms("v38.101", NONE, "v38.101/38.101~/38~/v38~/101~");
	expect_terms("38.101", NONE, "38.101/38~/101~");
	expect_terms("v1.2.3", NONE, "v1.2.3/1.2.3~/1~/v1~/2~/3~");
	expect_terms("snake_case", NONE, "snake_case/snake~/case~");
	expect_terms("__init__", NONE, "init");
	expect_terms("CamelCase", NONE, "camelcase/camel~/case~");
	expect_terms("HTTPServer", NONE, "httpserver/http~/server~");
	expect_terms("getX PDFs iPhone", NONE, "getx/get~ pdfs iphone/phone~");
	expect_terms("foo.bar()", NONE, "foo.bar/foo~/bar~");
	expect_terms("foo.bar_baz", NONE, "foo.bar_baz/foo~/bar_baz~/bar~/baz~");
	expect_terms("std::vector", NONE, "std::vector/std~/vector~");
	expect_terms("COVID-19 state-of-the-art", NONE, "covid-19/covid~/19~ state of the art");
	expect_terms("C++ C# F# g++ C", NONE, "c++/c~ c#/c~ f#/f~ g++/g~ c");
	expect_terms_of((struct bytes){ "C++\0D", 5 }, NONE, "c++/c~ d");
	expect_terms("U.S.A. e.g. this", NONE, "usa eg this");
}

static void test_numbers(void **state)
{
	(void)state;
	expect_terms("1,000,000 items", NONE, "1000000 items");
	expect_terms("3,14 and 1,2,3", NONE, "3,14/3~/14~ and 1,2,3/1~/2~/3~");
	expect_terms("10,000", NONE, "10000");
	expect_terms("in 2024.Then", NONE, "in 2024 then");
}

static void test_addresses(void **state)
{
	(void)state;
	expect_terms("mail user.name@example.org now", NONE,
		"mail user.name@example.org/user.name~/user~/name~/example.org~/example~/org~ now");
	expect_terms("see https://example.org/a-b/c?d=1.", NONE,
		"see https://example.org/a-b/c?d=1/https~/example.org~/example~/org~/a~/b~/c~/d~/1~");
	expect_terms("www.example.org", NONE, "www.example.org/www~/example~/org~");
	expect_terms("http://", NONE, "http");
	expect_terms("a@b @c d@", NONE, "a@b/a~/b~ c d");
}

/* REQ: RET-01: don't. */
static void test_apostrophes(void **state)
{
	(void)state;
	expect_terms("don't", TEXT_LANG_EN, "dont");
	expect_terms("don\xE2\x80\x99t", TEXT_LANG_EN, "dont");
	expect_terms("the dog's bone", TEXT_LANG_EN, "the! dog bone");
	expect_terms("we'll see it's", TEXT_LANG_EN, "we! see it!");
	expect_terms("O'Reilly", TEXT_LANG_EN, "oreilli/reilli~");
	expect_terms("'quoted'", TEXT_LANG_EN, "quot");
	expect_terms("foo.bar's", TEXT_LANG_EN, "foo.bar/foo~/bar~");
	expect_terms("Ankara'da", TEXT_LANG_TR, "ankar");
}

/* REQ: issue 3, "French needs elision split". */
static void test_elision(void **state)
{
	(void)state;
	expect_terms("l'avion", TEXT_LANG_FR, "l! avion");
	expect_terms("L\xE2\x80\x99\xC3\xA9tat", TEXT_LANG_FR, "l! etat");
	expect_terms("aujourd'hui", TEXT_LANG_FR, "aujourdhui!/aujourd~/hui~");
	expect_terms("qu'il n'y a", TEXT_LANG_FR, "qu! il! n! y! a!");
	expect_terms("dell'acqua", TEXT_LANG_IT, "dell! acqua");
	expect_terms("l'avion", NONE, "lavion/avion~");
}

static void test_stems(void **state)
{
	(void)state;
	expect_terms("running runs run", TEXT_LANG_EN, "run run run");
	expect_terms("CamelCases", TEXT_LANG_EN, "camelcas/camel~/case~");
	expect_terms("Häuser Häusern", TEXT_LANG_DE, "haus haus");
	expect_terms("canciones canción", TEXT_LANG_ES, "cancion cancion");
	expect_terms("книгами книга", TEXT_LANG_RU, "книг книг");
	expect_terms("books книга", TEXT_LANG_RU, "book книг"); /* Latin words: English */
	expect_terms("servers", TEXT_LANG_JA, "server");
	expect_terms("mp3s", TEXT_LANG_EN, "mp3s"); /* digits: left alone */
	expect_terms("running", NONE, "running");
	expect_terms("nước", TEXT_LANG_VI, "nước"); /* tones tell words apart */
}

static void test_stop_words(void **state)
{
	(void)state;
	expect_terms("The cat AND the dog", TEXT_LANG_EN, "the! cat and! the! dog");
	expect_terms("the", NONE, "the");
	expect_terms("was ist über", TEXT_LANG_DE, "was! ist! uber!");
	expect_terms("où est", TEXT_LANG_FR, "ou! est!");
	expect_terms("что это", TEXT_LANG_RU, "что! эт!");
	expect_terms("is_empty", TEXT_LANG_EN, "is_empty/is~!/empti~");
	expect_terms("vitamin D in US", TEXT_LANG_EN, "vitamin d in! us");
}

/* Very long tokens are bounded and cost no memory. */
static void test_long(void **state)
{
	struct strbuf text = STRBUF_INIT, want = STRBUF_INIT;

	(void)state;
	for (unsigned i = 0; i < 100000; i++)
		strbuf_addc(&text, "abc"[i % 3]);
	strbuf_add(&want, text.data, TEXT_TERM_MAX);
	expect_terms_of((struct bytes){ text.data, text.len }, TEXT_LANG_EN, want.data);
	strbuf_reset(&text);
	strbuf_reset(&want);
	for (unsigned i = 0; i < 40; i++)
		strbuf_adds(&text, "ж"); /* 80 bytes: cut between characters */
	strbuf_add(&want, text.data, TEXT_TERM_MAX);
	expect_terms_of((struct bytes){ text.data, text.len }, NONE, want.data);
	strbuf_reset(&text);
	strbuf_adds(&text, "e");
	for (unsigned i = 0; i < 5000; i++)
		strbuf_adds(&text, "\xCC\x81");
	expect_terms_of((struct bytes){ text.data, text.len }, NONE, "e");
	strbuf_release(&text);
	strbuf_release(&want);
}

static int count_parts(void *arg, const struct text_term *t)
{
	unsigned *n = arg;

	n[t->flags & TEXT_TERM_PART ? 1 : 0]++;
	return 0;
}

/* A chain without end falls apart into chains of bounded size. */
static void test_long_chain(void **state)
{
	struct strbuf text = STRBUF_INIT;
	unsigned n[2] = { 0, 0 };

	(void)state;
	for (unsigned i = 0; i < 20000; i++)
		strbuf_addf(&text, "%sw%u", i ? "." : "", i);
	assert_int_equal(text_analyze(analyzer_shared(), (struct bytes){ text.data, text.len },
				 NONE, count_parts, n),
		ST_OK);
	assert_int_equal(n[1], 20000);
	assert_in_range(n[0], 20000 / 32, 20000 / 8);
	strbuf_release(&text);
}

static int stop_early(void *arg, const struct text_term *t)
{
	(void)t;
	return --*(int *)arg == 0;
}

static void test_stopped(void **state)
{
	int left = 2;

	(void)state;
	assert_int_equal(text_analyze(analyzer_shared(), bytes_of("a b c d"), NONE, stop_early,
				 &left),
		ST_CANCELLED);
	assert_int_equal(left, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_folding),
		cmocka_unit_test(test_zero_width),
		cmocka_unit_test(test_odd_bytes),
		cmocka_unit_test(test_identifiers),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_addresses),
		cmocka_unit_test(test_apostrophes),
		cmocka_unit_test(test_elision),
		cmocka_unit_test(test_stems),
		cmocka_unit_test(test_stop_words),
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_long_chain),
		cmocka_unit_test(test_stopped),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	analyzer_done();
	return failed;
}
