/* test_scripts.c: scripts without spaces between words, and emoji. REQ: RET-07. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "terms_of.h"

#define NONE TEXT_LANG_NONE

static void test_chinese(void **state)
{
	(void)state;
	expect_terms("东京都", TEXT_LANG_ZH, "东京/东~ 京都/京~/都~");
	expect_terms("东", TEXT_LANG_ZH, "东");
	expect_terms("东京，大阪。", TEXT_LANG_ZH, "东京/东~/京~ 大阪/大~/阪~");
	expect_terms("308分", TEXT_LANG_ZH, "308 分");
	expect_terms("用GPU训练", TEXT_LANG_ZH, "用 gpu 训练/训~/练~");
	expect_terms("𠮷野", NONE, "𠮷野/𠮷~/野~"); /* beyond the first plane */
}

static void test_japanese(void **state)
{
	(void)state;
	expect_terms("東京タワー", TEXT_LANG_JA, "東京/東~ 京タ/京~ タワ ワー");
	expect_terms("ﾀﾜｰ", TEXT_LANG_JA, "タワ ワー"); /* half width */
	expect_terms("ﾊﾟﾝ", TEXT_LANG_JA, "パン");
	expect_terms("か\xE3\x82\x99っ", TEXT_LANG_JA, "がっ"); /* voicing mark apart */
	expect_terms("人々", TEXT_LANG_JA, "人々/人~/々~");
	expect_terms("㈱", NONE, "株");
}

static void test_korean(void **state)
{
	(void)state;
	expect_terms("서울특별시 시장", TEXT_LANG_KO, "서울 울특 특별 별시 시장");
	expect_terms("한", TEXT_LANG_KO, "한");
	/* Jamo: the same two syllables. */
	expect_terms("\xE1\x84\x92\xE1\x85\xA1\xE1\x86\xAB\xE1\x84\x80\xE1\x85\xB3\xE1\x86\xAF",
		TEXT_LANG_KO, "한글");
}

static void test_dictionary(void **state)
{
	(void)state;
	expect_terms("ภาษาไทย 2024 ok", TEXT_LANG_TH, "ภาษา/ภา^/ภาษ^/าษ^/าษา^/ษา^ ไทย 2024 ok");
	expect_terms("ມາລາວ", NONE, "ມາ ລາວ");
}

struct search {
	const char *want;
	bool found;
};

static int search_term(void *arg, const struct text_term *t)
{
	struct search *s = arg;

	s->found = s->found || bytes_eq((struct bytes){ t->data, t->len }, bytes_of(s->want));
	return 0;
}

/* The dictionaries hold compounds: a word inside one is found all the same. */
static void test_inner_words(void **state)
{
	static const struct {
		const char *text, *word;
	} rows[] = {
		{ "ประเทศไทย", "ไทย" },
		{ "สวยงาม", "สวย" },
		{ "สวยงาม", "งาม" },
		{ "ភាសាខ្មែរ", "ខ្មែរ" },
		{ "ພາສາລາວ", "ລາວ" },
		{ "မြန်မာနိုင်ငံ", "မြန်မာ" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct search s = { rows[i].word, false };

		assert_int_equal(text_analyze(analyzer_shared(), bytes_of(rows[i].text), NONE,
					 search_term, &s),
			ST_OK);
		if (!s.found)
			fail_msg("%s is not found in %s", rows[i].word, rows[i].text);
	}
}

/* A run without end is segmented in windows, and no byte of it is lost. */
static int covered(void *arg, const struct text_term *t)
{
	uint32_t *end = arg;

	if (t->flags & TEXT_TERM_INNER)
		return 0;
	assert_int_equal(t->byte_start, *end);
	*end = t->byte_end;
	return 0;
}

static void test_long_run(void **state)
{
	struct strbuf text = STRBUF_INIT;
	uint32_t end = 0;

	(void)state;
	for (unsigned i = 0; i < 2000; i++)
		strbuf_adds(&text, i % 3 ? "ประเทศไทย" : "ภาษา");
	assert_int_equal(text_analyze(analyzer_shared(), (struct bytes){ text.data, text.len },
				 TEXT_LANG_TH, covered, &end),
		ST_OK);
	assert_int_equal(end, text.len);
	strbuf_reset(&text);
	end = 0;
	for (unsigned i = 0; i < 5000; i++)
		strbuf_adds(&text, "ก");
	assert_int_equal(text_analyze(analyzer_shared(), (struct bytes){ text.data, text.len },
				 TEXT_LANG_TH, covered, &end),
		ST_OK);
	assert_int_equal(end, text.len);
	strbuf_release(&text);
}

static void test_emoji(void **state)
{
	(void)state;
	expect_terms("🎉", NONE, "🎉");
	expect_terms("party🎉🎊!", NONE, "party 🎉 🎊");
	expect_terms("❤️ ❤", NONE, "❤ ❤");
	expect_terms("👍🏽", NONE, "👍🏽/👍~");
	expect_terms("👩‍💻", NONE, "👩‍💻/👩~/💻~");
	expect_terms("🇩🇪🇫🇷", NONE, "🇩🇪 🇫🇷");
	expect_terms("1️⃣", NONE, "1");
	expect_terms("© 2024 ™", NONE, "2024");
	expect_terms("🎉\xE2\x80\x8D x", NONE, "🎉 x"); /* a joiner that joins nothing */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_chinese),
		cmocka_unit_test(test_japanese),
		cmocka_unit_test(test_korean),
		cmocka_unit_test(test_dictionary),
		cmocka_unit_test(test_inner_words),
		cmocka_unit_test(test_long_run),
		cmocka_unit_test(test_emoji),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	analyzer_done();
	return failed;
}
