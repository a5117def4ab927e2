/*
 * test_offsets.c: what holds for the terms of any text. Random texts are made of
 * pieces that have gone wrong somewhere: letters that fold to more or fewer bytes,
 * marks, joiners, signs that join words, scripts without spaces, broken bytes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "terms_of.h"
#include "util/utf8.h"

static const char *const pieces[] = { "a", "b", "Z", "word", "Word", "HTTPServer", "s", "t", "v",
	"0", "7", "38", "100", " ", " ", " ", "\n", ".", ".", ",", "-", "_", "::", "@", "'", "/",
	"\xE2\x80\x99", "#", "++", "?", "=", "https://", "www.", "ß", "ﬁ", "İ", "ı", "É",
	"e\xCC\x81", "\xCC\x81", "Ａ", "１", "²", "½", "㎏", "ŉ", "ж", "Й", "ё", "Σ", "ς", "ά", "אָ",
	"أ", "لا", "\xD9\x80", "クル", "ﾊﾟ", "か\xE3\x82\x99", "東", "京", "𠮷", "々", "한", "글",
	"\xE1\x84\x92\xE1\x85\xA1\xE1\x86\xAB", "क्षि", "தமிழ்", "🎉", "👍🏽", "👩‍💻", "🇩🇪",
	"\xF0\x9F\x87\xA9", "\xE2\x80\x8D", "\xE2\x80\x8B", "\xC2\xAD", "\xEF\xB8\x8F",
	"\xEF\xBB\xBF", "\xFF", "\xC3", "\xE2\x80", "\xED\xA0\x80", "\xF0\x9F", "・", "：", "·",
	"­", "\x01", "\x7F", "\xEF\xB7\xBA", "µ", "Ⅷ", "①", "€", "℃", "ǅ", "ΐ" };
static const char *const unspaced[] = { "ไทย", "ประเทศ", "ํ", "ភាសា", "ລາວ", "ၐ" };

static uint64_t seed;

static uint32_t next_random(uint32_t below)
{
	seed = seed * 6364136223846793005U + 1442695040888963407U;
	return (uint32_t)(seed >> 33) % below;
}

static void make_text(struct strbuf *text, bool dictionary)
{
	uint32_t n = next_random(24);

	strbuf_reset(text);
	for (uint32_t i = 0; i < n; i++) {
		char utf8[4];
		uint32_t cp = next_random(0x30000);

		if (dictionary && next_random(3) == 0)
			strbuf_adds(text,
				unspaced[next_random(sizeof(unspaced) / sizeof(unspaced[0]))]);
		else if (next_random(20) == 0 && (cp < 0xD800 || cp > 0xDFFF))
			strbuf_add(text, utf8, utf8_encode(cp, utf8));
		else if (next_random(40) == 0)
			strbuf_addc(text, '\0');
		else
			strbuf_adds(text, pieces[next_random(sizeof(pieces) / sizeof(pieces[0]))]);
	}
}

static bool is_unspaced_script(struct bytes text)
{
	for (size_t at = 0, len; at < text.len; at += len) {
		uint32_t cp = utf8_decode(text.data + at, text.len - at, &len);

		if ((cp >= 0xE00 && cp < 0xF00) || (cp >= 0x1000 && cp < 0x10A0) ||
			(cp >= 0x1780 && cp < 0x1800) || (cp >= 0x19E0 && cp < 0x1A00) ||
			(cp >= 0xA9E0 && cp < 0xAA80))
			return true;
	}
	return false;
}

struct first {
	char data[TEXT_TERM_MAX];
	size_t len;
	unsigned seen;
};

static int take_first(void *arg, const struct text_term *t)
{
	struct first *f = arg;

	if (f->seen++)
		return 0;
	memcpy(f->data, t->data, t->len);
	f->len = t->len;
	return 0;
}

struct check {
	struct text_analyzer *other;
	struct bytes text;
};

/* The slice that a term came from, analysed alone, gives the same term first. */
static int check_slice(void *arg, const struct text_term *t)
{
	const struct check *c = arg;
	struct bytes slice = { c->text.data + t->byte_start, t->byte_end - t->byte_start };
	struct first f = { .len = 0 };

	if (is_unspaced_script(slice))
		return 0;
	assert_int_equal(text_analyze(c->other, slice, TEXT_LANG_NONE, take_first, &f), ST_OK);
	if (f.len != t->len || memcmp(f.data, t->data, t->len) != 0)
		fail_msg("'%.*s' from '%.*s' gives '%.*s' when analysed alone", (int)t->len,
			t->data, (int)slice.len, slice.data, (int)f.len, f.data);
	return 0;
}

static void test_slices(void **state)
{
	struct strbuf text = STRBUF_INIT;
	struct check c;

	(void)state;
	assert_int_equal(text_analyzer_new(&c.other), ST_OK);
	for (seed = 1; seed < 30000; seed++) {
		uint64_t keep = seed;

		make_text(&text, false);
		c.text = (struct bytes){ text.data, text.len };
		assert_int_equal(text_analyze(analyzer_shared(), c.text, TEXT_LANG_NONE,
					 check_slice, &c),
			ST_OK);
		seed = keep;
	}
	text_analyzer_free(c.other);
	strbuf_release(&text);
}

/* Order, bounds and validity (terms_line), with every language and every script; and
 * what was analysed before makes no difference. */
static void test_any_language(void **state)
{
	struct strbuf text = STRBUF_INIT, one = STRBUF_INIT, two = STRBUF_INIT;
	struct text_analyzer *fresh;

	(void)state;
	for (uint64_t i = 1; i < 8000; i++) {
		enum text_lang lang = (enum text_lang)(i % TEXT_LANG_COUNT);

		seed = i * 7919;
		make_text(&text, true);
		strbuf_reset(&one);
		assert_int_equal(terms_line(analyzer_shared(),
					 (struct bytes){ text.data, text.len }, lang, &one),
			ST_OK);
		if (i % 40)
			continue;
		assert_int_equal(text_analyzer_new(&fresh), ST_OK);
		strbuf_reset(&two);
		assert_int_equal(terms_line(fresh, (struct bytes){ text.data, text.len }, lang,
					 &two),
			ST_OK);
		assert_true(bytes_eq((struct bytes){ one.data, one.len },
			(struct bytes){ two.data, two.len }));
		text_analyzer_free(fresh);
	}
	strbuf_release(&text);
	strbuf_release(&one);
	strbuf_release(&two);
}

/* The fast way for plain words and the general one agree: a mark that folding drops
 * sends the same word the other way. */
static void test_two_ways(void **state)
{
	static const char *const words[] = { "plain", "Plain", "PLAIN", "mp3", "2024", "Größe",
		"ÉTÉ", "книга", "Ёж", "ΟΔΟΣ", "שלום", "كتاب", "running", "houses", "Straßen" };
	static const enum text_lang langs[] = { TEXT_LANG_NONE, TEXT_LANG_EN, TEXT_LANG_DE,
		TEXT_LANG_FR, TEXT_LANG_RU, TEXT_LANG_TR, TEXT_LANG_AR };

	(void)state;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		for (size_t k = 0; k < sizeof(langs) / sizeof(langs[0]); k++) {
			struct strbuf plain = STRBUF_INIT, marked = STRBUF_INIT, text = STRBUF_INIT;

			strbuf_addf(&text, "%s\xC2\xAD", words[i]); /* soft hyphen */
			assert_int_equal(terms_line(analyzer_shared(), bytes_of(words[i]), langs[k],
						 &plain),
				ST_OK);
			assert_int_equal(terms_line(analyzer_shared(), bytes_of(text.data),
						 langs[k], &marked),
				ST_OK);
			assert_string_equal(plain.data, marked.data);
			strbuf_release(&plain);
			strbuf_release(&marked);
			strbuf_release(&text);
		}
}

struct expected {
	const char *slices;
	struct bytes text;
};

static int next_slice(void *arg, const struct text_term *t)
{
	struct expected *e = arg;
	size_t len = strcspn(e->slices, "|");

	assert_int_equal(t->byte_end - t->byte_start, len);
	assert_memory_equal(e->text.data + t->byte_start, e->slices, len);
	e->slices += len + (e->slices[len] == '|');
	return 0;
}

static void expect_slices(const char *text, enum text_lang lang, const char *slices)
{
	struct expected e = { slices, bytes_of(text) };

	assert_int_equal(text_analyze(analyzer_shared(), e.text, lang, next_slice, &e), ST_OK);
	assert_string_equal(e.slices, "");
}

static void test_slices_by_hand(void **state)
{
	(void)state;
	expect_slices("Die Straße, İstanbul", TEXT_LANG_DE, "Die|Straße|İstanbul");
	expect_slices("ﬁt Ｆｕｌｌ e\xCC\x81t", TEXT_LANG_NONE, "ﬁt|Ｆｕｌｌ|e\xCC\x81t");
	expect_slices("l'État d'un", TEXT_LANG_FR, "l|État|d|un");
	expect_slices("the dog's v1.2", TEXT_LANG_EN, "the|dog|v1.2|1.2|1|v1|2");
	expect_slices("ﾊﾟﾝだ", TEXT_LANG_JA, "ﾊﾟﾝ|ﾝだ");
	expect_slices("日本", TEXT_LANG_JA, "日本|日|本");
	expect_slices("\xFFok\xFF", TEXT_LANG_NONE, "ok");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_slices),
		cmocka_unit_test(test_any_language),
		cmocka_unit_test(test_two_ways),
		cmocka_unit_test(test_slices_by_hand),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	analyzer_done();
	return failed;
}
