/*
 * test_tokenizer.c: tokenizer.json read, refused and used. That ids are those of the
 * reference is shown by tests/conformance/test_tokenizer.py on real vocabularies; here are
 * the paths that those do not reach.
 */
#include "../unit.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "models/tokenizer.h"
#include "util/mem.h"
#include "util/strbuf.h"

#define WORDPIECE                                                                                  \
	"\"model\":{\"type\":\"WordPiece\",\"unk_token\":\"[UNK]\","                               \
	"\"continuing_subword_prefix\":\"##\",\"max_input_chars_per_word\":9,\"vocab\":"           \
	"{\"[UNK]\":0,\"un\":1,\"##aff\":2,\"##able\":3,\"the\":4,\"!\":5,\"##a\":6,\"[MASK]\":7}}"
#define UNIGRAM                                                                                    \
	"\"model\":{\"type\":\"Unigram\",\"unk_id\":0,\"byte_fallback\":false,\"vocab\":"          \
	"[[\"<unk>\",0],[\"a\",-1.5],[\"b\",-1.5],[\"ab\",-2],[\"\\u2581\",-3],[\"xx\",-9]]}"
#define BERT                                                                                       \
	"\"normalizer\":{\"type\":\"BertNormalizer\",\"clean_text\":true,"                         \
	"\"handle_chinese_chars\":true,\"strip_accents\":null,\"lowercase\":true},"                \
	"\"pre_tokenizer\":{\"type\":\"BertPreTokenizer\"},"
#define ADDED(flags) "\"added_tokens\":[{\"id\":7,\"content\":\"[MASK]\"" flags "}],"

static struct tokenizer *reads(const char *json)
{
	struct tokenizer *t = NULL;
	struct error e = { 0 };

	if (tokenizer_read(bytes_of(json), &t, &e) != ST_OK)
		fail_msg("%s: %s", json, e.message);
	return t;
}

static void expect(const struct tokenizer *t, const char *text, const char *want)
{
	struct strbuf line = STRBUF_INIT;
	struct arena arena;
	struct error e;
	uint32_t *ids;
	size_t n;

	arena_init(&arena, 0);
	assert_int_equal(tokenizer_encode(t, bytes_of(text), &arena, &ids, &n, &e), ST_OK);
	strbuf_adds(&line, "");
	for (size_t i = 0; i < n; i++)
		strbuf_addf(&line, "%s%u", i ? " " : "", ids[i]);
	assert_string_equal(line.data ? line.data : "", want);
	strbuf_release(&line);
	arena_release(&arena);
}

static void expect_json(const char *json, const char *text, const char *want)
{
	struct tokenizer *t = reads(json);

	expect(t, text, want);
	tokenizer_free(t);
}

static void test_wordpiece(void **state)
{
	struct tokenizer *t = reads("{\"version\":\"1.0\"," BERT WORDPIECE "}");
	uint32_t unknown = 9;

	(void)state;
	expect(t, "", "");
	expect(t, " \t\n", "");
	expect(t, "Unaffable THE!", "1 2 3 4 5");
	expect(t, "\xC3\xBCnaffable", "1 2 3"); /* the accent goes */
	expect(t, "unx the", "0 4");
	expect(t, "unaaaaaaaa", "0"); /* longer than nine characters */
	expect(t, "un\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4\xC3\xA4", "1 6 6 6 6 6 6 6");
	expect(t, "the\xE4\xB8\x80the", "4 0 4"); /* a Chinese character stands alone */
	expect(t, "the\xC2\x85the", "0");         /* a control character goes */
	expect(t, "[MASK]", "0 0 0");             /* no added token here */
	assert_int_equal(tokenizer_vocabulary(t), 8);
	assert_true(bytes_eq(tokenizer_token(t, 2), bytes_of("##aff")));
	assert_null(tokenizer_token(t, 8).data);
	assert_true(tokenizer_unknown(t, &unknown));
	assert_int_equal(unknown, 0);
	tokenizer_free(t);
	tokenizer_free(NULL);
}

/* Without an unknown token, unknown words are left out. */
static void test_no_unknown(void **state)
{
	uint32_t id;
	struct tokenizer *t = reads(
		"{" BERT
		"\"model\":{\"type\":\"WordPiece\",\"unk_token\":\"[UNK]\",\"max_input_chars_per_word\""
		":8,\"continuing_subword_prefix\":\"##\",\"vocab\":{\"a\":3}}}");

	(void)state;
	expect(t, "a b a", "3 3");
	assert_false(tokenizer_unknown(t, &id));
	assert_int_equal(tokenizer_vocabulary(t), 4);
	assert_null(tokenizer_token(t, 1).data);
	tokenizer_free(t);
}

static void test_added(void **state)
{
	(void)state;
	expect_json("{" ADDED("") BERT WORDPIECE "}", "the[MASK]the", "4 7 4");
	expect_json("{" ADDED("") BERT WORDPIECE "}", "the [mask]", "4 0 0 0");
	expect_json("{" ADDED(",\"normalized\":true") BERT WORDPIECE "}", "the [mAsk]", "4 7");
	expect_json("{" ADDED(",\"single_word\":true") BERT WORDPIECE "}", "[MASK]!", "7 5");
	expect_json("{" ADDED(",\"single_word\":true") BERT WORDPIECE "}", "a[MASK]", "0 0 0 0");
	/* Of one without a pre-tokeniser the blanks stay, unless the token takes them. */
	expect_json("{" ADDED("") WORDPIECE "}", "the[MASK] !", "4 7 0");
	expect_json("{" ADDED(",\"rstrip\":true") WORDPIECE "}", "the[MASK] !", "4 7 5");
	expect_json("{" ADDED(",\"lstrip\":true") WORDPIECE "}", "the [MASK]!", "4 7 5");
	/* The number in the file does not count; a new token gets the next one. */
	expect_json(
		"{\"added_tokens\":[{\"id\":99,\"content\":\"zz\"},{\"content\":\"zz\"},"
		"{\"content\":\"\"}]," BERT WORDPIECE "}",
		"zz the", "8 4");
}

static void test_unigram(void **state)
{
	(void)state;
	expect_json("{" UNIGRAM "}", "abab", "3 3");
	expect_json("{" UNIGRAM "}", "ba", "2 1");
	expect_json("{" UNIGRAM "}", "a..b", "1 0 2"); /* a run is one unknown */
	expect_json("{" UNIGRAM "}", ".xx", "0 5");
	expect_json("{" UNIGRAM "}", "<unk>.", "0");
	expect_json(
		"{\"pre_tokenizer\":{\"type\":\"Metaspace\",\"replacement\":\"\\u2581\","
		"\"prepend_scheme\":\"always\"}," UNIGRAM "}",
		"a b", "4 1 4 2");
	expect_json(
		"{\"pre_tokenizer\":{\"type\":\"Metaspace\",\"replacement\":\"\\u2581\","
		"\"prepend_scheme\":\"never\",\"add_prefix_space\":false,\"split\":null}," UNIGRAM
		"}",
		"a b", "1 4 2");
}

#define MODEL "\"model\":{\"type\":"
#define PIECE "\"WordPiece\",\"unk_token\":\"u\",\"continuing_subword_prefix\":\"#\","

static const struct {
	const char *json, *message;
} refused[] = {
	{ "", "no JSON" },
	{ "[]", "no object" },
	{ "{\"version\":\"2.0\"}", "version" },
	{ "{\"version\":1}", "version" },
	{ "{}", "model '' is not supported" },
	{ "{" MODEL "\"BPE\"}}", "model 'BPE' is not supported" },
	{ "{" MODEL "\"WordPiece\"}}", "no vocabulary" },
	{ "{" MODEL "\"WordPiece\",\"vocab\":{}}}", "no unk_token" },
	{ "{" MODEL PIECE "\"vocab\":{}}}", "max_input_chars_per_word" },
	{ "{" MODEL PIECE "\"max_input_chars_per_word\":-1,\"vocab\":{}}}", "out of range" },
	{ "{" MODEL PIECE "\"max_input_chars_per_word\":9,\"vocab\":{\"a\":\"b\"}}}",
		"whole number" },
	{ "{" MODEL PIECE "\"max_input_chars_per_word\":9,\"vocab\":{\"a\":-1}}}", "whole number" },
	{ "{" MODEL PIECE "\"max_input_chars_per_word\":9,\"vocab\":{\"a\":4194304}}}",
		"too large" },
	{ "{" MODEL "\"Unigram\"}}", "no vocabulary" },
	{ "{" MODEL "\"Unigram\",\"vocab\":[]}}", "unk_id" },
	{ "{" MODEL "\"Unigram\",\"vocab\":[[\"a\",0]],\"unk_id\":1}}", "unk_id" },
	{ "{" MODEL "\"Unigram\",\"vocab\":[[\"a\",0]],\"unk_id\":null}}", "unk_id" },
	{ "{" MODEL "\"Unigram\",\"vocab\":[[\"a\"]],\"unk_id\":0}}", "pair" },
	{ "{" MODEL "\"Unigram\",\"vocab\":[[0,0]],\"unk_id\":0}}", "pair" },
	{ "{" MODEL "\"Unigram\",\"vocab\":[[\"a\",0]],\"unk_id\":0,\"byte_fallback\":1}}",
		"neither true nor false" },
	{ "{\"normalizer\":{\"type\":\"ByteLevel\"}}", "normalizer 'ByteLevel'" },
	{ "{\"normalizer\":7}", "normalizer ''" },
	{ "{\"normalizer\":{\"type\":\"Sequence\"}}", "no list" },
	{ "{\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[null]}}", "normalizer ''" },
	{ "{\"normalizer\":{\"type\":\"BertNormalizer\",\"lowercase\":1}}", "'lowercase'" },
	{ "{\"normalizer\":{\"type\":\"BertNormalizer\",\"strip_accents\":1}}", "'strip_accents'" },
	{ "{\"normalizer\":{\"type\":\"Strip\",\"strip_left\":1}}", "'strip_left'" },
	{ "{\"normalizer\":{\"type\":\"Prepend\"}}", "normalizer 'Prepend'" },
	{ "{\"normalizer\":{\"type\":\"Replace\"}}", "this pattern" },
	{ "{\"normalizer\":{\"type\":\"Replace\",\"pattern\":{\"String\":\"\"},\"content\":\"\"}}",
		"this pattern" },
	{ "{\"normalizer\":{\"type\":\"Replace\",\"pattern\":{\"Regex\":\"a+\"},\"content\":\"\"}}",
		"this pattern" },
	{ "{\"normalizer\":{\"type\":\"Replace\",\"pattern\":{\"String\":\"a\"}}}", "no content" },
	{ "{\"normalizer\":{\"type\":\"Precompiled\"}}", "cut off" },
	{ "{\"normalizer\":{\"type\":\"Precompiled\",\"precompiled_charsmap\":\"A*==\"}}",
		"base64" },
	{ "{\"normalizer\":{\"type\":\"Precompiled\",\"precompiled_charsmap\":\"CAAAAAAA\"}}",
		"cut off" },
	{ "{\"normalizer\":{\"type\":\"Precompiled\",\"precompiled_charsmap\":\"BAAAAAAAAAD/\"}}",
		"no UTF-8" },
	{ "{\"pre_tokenizer\":{\"type\":\"Digits\"}}", "pre_tokenizer 'Digits'" },
	{ "{\"pre_tokenizer\":{\"type\":\"Sequence\",\"pretokenizers\":{}}}", "no list" },
	{ "{\"pre_tokenizer\":{\"type\":\"Punctuation\",\"behavior\":\"x\"}}", "behavior" },
	{ "{\"pre_tokenizer\":{\"type\":\"Metaspace\",\"replacement\":\"ab\"}}", "one character" },
	{ "{\"pre_tokenizer\":{\"type\":\"Metaspace\",\"replacement\":\"a\","
	  "\"prepend_scheme\":\"x\"}}",
		"prepend_scheme" },
	{ "{\"pre_tokenizer\":{\"type\":\"Metaspace\",\"replacement\":\"a\","
	  "\"add_prefix_space\":false}}",
		"prepend_scheme" },
	{ "{\"added_tokens\":{}," WORDPIECE "}", "no list" },
	{ "{\"added_tokens\":[{}]," WORDPIECE "}", "no content" },
	{ "{" ADDED(",\"lstrip\":0") WORDPIECE "}", "'lstrip'" },
	{ "{\"added_tokens\":[{\"content\":\"A\",\"normalized\":true},"
	  "{\"content\":\"a\",\"normalized\":true}]," BERT WORDPIECE "}",
		"the same normalised" },
	{ "{\"added_tokens\":[{\"content\":\"\\u0301\",\"normalized\":true}]," BERT WORDPIECE "}",
		"nothing is left" },
};

static void test_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
		struct tokenizer *t = NULL;
		struct error e = { 0 };

		assert_int_not_equal(tokenizer_read(bytes_of(refused[i].json), &t, &e), ST_OK);
		assert_null(t);
		if (!strstr(e.message, refused[i].message))
			fail_msg("%s: '%s' has no '%s'", refused[i].json, e.message,
				refused[i].message);
	}
}

/* A list of n normalisers, or so many in each other. */
static enum status read_many(size_t n, bool nested)
{
	struct strbuf json = STRBUF_INIT;
	struct tokenizer *t = NULL;
	struct error e;
	enum status st;

	strbuf_adds(&json, "{\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[");
	for (size_t i = 0; i < n; i++)
		strbuf_adds(&json,
			nested      ? "{\"type\":\"Sequence\",\"normalizers\":["
				: i ? ",{\"type\":\"NFC\"}"
				    : "{\"type\":\"NFC\"}");
	for (size_t i = 0; nested && i < n; i++)
		strbuf_adds(&json, "]}");
	strbuf_adds(&json, "]}," WORDPIECE "}");
	st = tokenizer_read((struct bytes){ json.data, json.len }, &t, &e);
	tokenizer_free(t);
	strbuf_release(&json);
	return st;
}

static void test_limits(void **state)
{
	struct strbuf json = STRBUF_INIT;
	struct tokenizer *t = NULL;
	struct error e;

	(void)state;
	assert_int_equal(read_many(32, false), ST_OK);
	assert_int_equal(read_many(33, false), ST_TOO_LARGE);
	assert_int_equal(read_many(7, true), ST_OK);
	assert_int_equal(read_many(8, true), ST_INVALID);
	strbuf_adds(&json, "{" MODEL "\"Unigram\",\"unk_id\":0,\"vocab\":[[\"");
	for (size_t i = 0; i < 1025; i++)
		strbuf_addc(&json, 'a');
	strbuf_adds(&json, "\",0]]}}");
	assert_int_equal(tokenizer_read((struct bytes){ json.data, json.len }, &t, &e),
		ST_TOO_LARGE);
	strbuf_release(&json);
	assert_int_equal(tokenizer_read((struct bytes){ "{}", (size_t)65 << 20 }, &t, &e),
		ST_TOO_LARGE);
}

#define STEPS                                                                                        \
	"\"normalizer\":{\"type\":\"Sequence\",\"normalizers\":[{\"type\":\"NFKC\"},{\"type\":"      \
	"\"NFD\"},{\"type\":\"Replace\",\"pattern\":{\"String\":\"q\"},\"content\":\"a\"},{\"type\"" \
	":\"Prepend\",\"prepend\":\" \"},{\"type\":\"Lowercase\"},{\"type\":\"Strip\","              \
	"\"strip_left\":true,\"strip_right\":true}]},\"pre_tokenizer\":{\"type\":\"Sequence\","      \
	"\"pretokenizers\":[{\"type\":\"Whitespace\"},{\"type\":\"Metaspace\",\"replacement\":"      \
	"\"\\u2581\",\"prepend_scheme\":\"first\"}]},"

/* Fails each allocation in turn, Jansson's too, of reading and of encoding. */
static void test_out_of_memory(void **state)
{
	static const char *const files[] = {
		"{" ADDED(",\"normalized\":true") BERT WORDPIECE "}",
		"{" ADDED(",\"lstrip\":true") STEPS UNIGRAM "}",
	};
	static const char text[] = "qua [MASK] A\xCC\x81\xCC\xA7\xCC\xB5 the\xE2\x91\xA0 abab";

	(void)state;
	json_set_alloc_funcs(mem_alloc, mem_free);
	for (size_t f = 0; f < 2; f++) {
		struct tokenizer *t = NULL;
		struct error e = { 0 };
		enum status st = ST_NOMEM;
		struct arena arena;
		uint32_t *ids;
		size_t n;
		long i;

		/* Jansson takes some of its own failures for wrong tokens. */
		for (i = 0; st != ST_OK && i < 2000; i++) {
			mem_fail_after(i);
			st = tokenizer_read(bytes_of(files[f]), &t, &e);
			mem_fail_after(-1);
			assert_true(st == ST_OK || st == ST_NOMEM || st == ST_INVALID);
			assert_true((st == ST_OK) == (t != NULL));
		}
		assert_int_equal(st, ST_OK);
		assert_true(i > 50);
		st = ST_NOMEM;
		for (i = 0; st == ST_NOMEM && i < 100; i++) {
			arena_init(&arena, 0);
			mem_fail_after(i);
			st = tokenizer_encode(t, bytes_of(text), &arena, &ids, &n, &e);
			mem_fail_after(-1);
			arena_release(&arena);
		}
		assert_int_equal(st, ST_OK);
		assert_true(i > 3);
		tokenizer_free(t);
	}
	json_set_alloc_funcs(malloc, free);
}

/* Marks without end neither overflow nor take quadratic time. */
static void test_hostile_marks(void **state)
{
	struct tokenizer *t = reads("{" BERT WORDPIECE "}"), *u = reads("{" STEPS UNIGRAM "}");
	struct strbuf text = STRBUF_INIT;
	struct arena arena;
	struct error e;
	uint32_t *ids;
	size_t n;

	(void)state;
	strbuf_adds(&text, "the");
	for (size_t i = 0; i < 100000; i++)
		strbuf_adds(&text, i % 2 ? "\xE3\x80\xAE" : "\xCC\xA7"); /* U+302E, U+0327 */
	arena_init(&arena, 0);
	assert_int_equal(tokenizer_encode(t, (struct bytes){ text.data, text.len }, &arena, &ids,
				 &n, &e),
		ST_OK);
	assert_int_equal(n, 1);
	assert_int_equal(tokenizer_encode(u, (struct bytes){ text.data, text.len }, &arena, &ids,
				 &n, &e),
		ST_OK);
	assert_true(n >= 1);
	arena_release(&arena);
	strbuf_release(&text);
	tokenizer_free(t);
	tokenizer_free(u);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_wordpiece),
		cmocka_unit_test(test_no_unknown),
		cmocka_unit_test(test_added),
		cmocka_unit_test(test_unigram),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_out_of_memory),
		cmocka_unit_test(test_hostile_marks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
