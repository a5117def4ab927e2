/* test_recall.c: what is found, in which order, whatever the query. */
#include "corpus.h"

#include <math.h>
#include <stdio.h>

#include "util/strbuf.h"

#define SAMPLE "Order BENCH-100821 for don't panic, grammar::fa v38.101"

static void expect(struct corpus *c, const char *query, const char *ids)
{
	const char *got = corpus_search(c, query, 10);

	if (strcmp(got, ids) != 0)
		fail_msg("query '%s' found '%s', not '%s'", query, got, ids);
}

/* In so short texts nobody can tell the language: it is given. */
static void add_english(struct corpus *c, const char *id, const char *text)
{
	struct engine_document doc = document(id, text);

	doc.lang = bytes_of("en");
	corpus_add_all(c, &doc, 1);
}

/* REQ: RET-01: text is never query syntax. */
static void test_hostile(void **state)
{
	struct corpus *c = *state;
	static const char *const found[] = { "BENCH-100821", "don't", "don\xE2\x80\x99t",
		"grammar::fa", "38.101", "\"BENCH", "grammar*", "{title}:panic", "panic OR",
		"title:panic", "^panic", "+panic", "(panic", "panic)", "panic\"\"", "'panic",
		"panic; DROP TABLE documents; --", "a\"panic" };
	static const char *const nothing[] = { "\"unbalanced", "a\"b", "(", "text:x", "-x", "x^2",
		"%", "_", "\\", "\"\"", "\"", "rowid:1", "words:x", "* *", "{}", "[]",
		"\xEF\xBF\xBD" };

	add_english(c, "sample", SAMPLE);
	add_english(c, "other", "something else entirely");
	for (size_t i = 0; i < sizeof found / sizeof found[0]; i++)
		expect(c, found[i], "sample");
	for (size_t i = 0; i < sizeof nothing / sizeof nothing[0]; i++)
		expect(c, nothing[i], "");
	assert_int_equal(corpus_stats(c).documents, 2);
}

/* REQ: RET-02: operator words are words. */
static void test_operators(void **state)
{
	struct corpus *c = *state;
	static const char *const harmless[] = { "AND", "NEAR(a b", "*", "**", "OR OR",
		"to be or not to be", "NOT", "NEAR", "NEAR/3" };

	add_english(c, "pets", "cats and dogs");
	add_english(c, "work", "working hard");
	add_english(c, "birds", "parrots");
	for (size_t i = 0; i < sizeof harmless / sizeof harmless[0]; i++)
		expect(c, harmless[i], "");
	expect(c, "cats AND dogs", "pets");
	expect(c, "NOT working", "work");
	expect(c, "cats NOT dogs", "pets");
}

/* REQ: RET-03, D33: nothing asked, nothing found. */
static void test_no_terms(void **state)
{
	struct corpus *c = *state;
	static const char *const queries[] = { "", "   ", "\n", "!!!", "the of and", "\xE2\x80\x8B",
		"\xCD\x85" };

	add_english(c, "a", "the of and \xF0\x9F\x98\x80");
	for (size_t i = 0; i < sizeof queries / sizeof queries[0]; i++)
		expect(c, queries[i], "");
	expect(c, "\xF0\x9F\x98\x80", "a"); /* a symbol that people write like a word */
	assert_string_equal(corpus_search(c, "\xF0\x9F\x98\x80", 0), "");
}

/* Terms that did not come from engine_analyze are terms and nothing else, whatever is in
 * them (REQ: F5). */
static void test_raw_terms(void **state)
{
	struct corpus *c = *state;
	struct {
		struct bytes term;
		const char *found;
	} cases[] = { { BYTES("panic"), "panic" }, { BYTES("a\"b"), NULL }, { BYTES("\""), NULL },
		{ BYTES("\"\""), NULL }, { BYTES("pan\0ic"), NULL }, { BYTES(""), NULL },
		{ BYTES("\" OR \"x"), NULL }, { BYTES("x* NOT panic"), NULL },
		{ BYTES("\xFF\xFE"), NULL }, { BYTES("x"), "x" } };

	corpus_add(c, "ab", "a b");
	corpus_add(c, "panic", "panic");
	corpus_add(c, "x", "x");
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct engine_query q = { .terms = &cases[i].term, .n = 1 };
		struct engine_view *v = corpus_view(c);
		struct engine_candidate *found;
		size_t n = 99;

		if (engine_recall(v, &q, 10, NULL, &c->arena, &found, &n, &c->error))
			fail_msg("term %zu: %s (%s)", i, c->error.message, c->error.detail);
		assert_int_equal(n, cases[i].found ? 1 : 0);
		if (n)
			assert_true(bytes_eq(found[0].doc_id, bytes_of(cases[i].found)));
		engine_view_close(v);
	}
}

/* REQ: RET-06: equal scores fall by id, at the cut as well. */
static void test_ties(void **state)
{
	struct corpus *c = *state;
	struct engine_document docs[200];
	static char ids[200][16];
	struct engine_candidate *all, *some;

	for (size_t i = 0; i < 200; i++) {
		size_t shuffled = i * 77 % 200;
		snprintf(ids[i], sizeof ids[i], "%c%03zu", shuffled % 2 ? 'A' : 'z', shuffled);
		docs[i] = document(ids[i], "the same text in each document");
	}
	corpus_add_all(c, docs, 200);
	for (unsigned round = 0; round < 2; round++) {
		assert_int_equal(corpus_recall(c, "document text", 1000, &all), 200);
		for (size_t i = 1; i < 200; i++) {
			assert_true(all[i].score == all[0].score);
			assert_true(bytes_cmp(all[i - 1].doc_id, all[i].doc_id) < 0);
		}
		for (size_t k = 1; k < 200; k += 7) {
			assert_int_equal(corpus_recall(c, "document text", k, &some), k);
			for (size_t i = 0; i < k; i++)
				assert_true(bytes_eq(some[i].doc_id, all[i].doc_id));
		}
		corpus_reopen(c); /* the same after a restart */
	}
}

/* REQ: R1: scores are finite, fall, and do not depend on k. */
static void test_order(void **state)
{
	struct corpus *c = *state;
	static char ids[300][8];
	static char texts[300][200];
	struct engine_document docs[300];
	struct engine_candidate *all, *some;
	size_t n;

	for (size_t i = 0; i < 300; i++) {
		snprintf(ids[i], sizeof ids[i], "d%zu", i);
		snprintf(texts[i], sizeof texts[i], "%s %s %s word%zu", i % 3 ? "apple" : "pear",
			i % 7 ? "plum" : "apple apple", i % 2 ? "long filler words here" : "",
			i % 10);
		docs[i] = document(ids[i], texts[i]);
	}
	corpus_add_all(c, docs, 300);
	n = corpus_recall(c, "apple pear word3", 1000, &all);
	assert_int_equal(n, 300);
	for (size_t i = 0; i < n; i++) {
		assert_true(isfinite(all[i].score) && all[i].score >= 0);
		assert_true(i == 0 || all[i].score < all[i - 1].score ||
			(all[i].score == all[i - 1].score &&
				bytes_cmp(all[i - 1].doc_id, all[i].doc_id) < 0));
	}
	for (size_t k = 1; k <= n; k += 23) {
		assert_int_equal(corpus_recall(c, "apple pear word3", k, &some), k);
		for (size_t i = 0; i < k; i++) {
			assert_true(bytes_eq(some[i].doc_id, all[i].doc_id));
			assert_true(some[i].score == all[i].score);
		}
	}
}

static void add_fillers(struct corpus *c)
{
	add_english(c, "f1", "nothing of interest");
	add_english(c, "f2", "more filler");
	add_english(c, "f3", "padding");
}

/* REQ: D45: the title is searched and weighs more. */
static void test_title(void **state)
{
	struct corpus *c = *state;
	struct engine_document docs[] = { document("a", "volcano and other words"),
		document("b", "mountain and other words") };

	add_fillers(c);
	docs[0].title = bytes_of("mountain");
	docs[1].title = bytes_of("volcano");
	corpus_add_all(c, docs, 2);
	expect(c, "volcano", "b a");
	expect(c, "mountain", "a b");
}

/* REQ: K1: each chunk costs the title once more, so only its first 2 KiB are searched. */
static void test_long_title(void **state)
{
	struct corpus *c = *state;
	struct engine_document doc = document("a", "some words");
	struct strbuf title = STRBUF_INIT;

	strbuf_adds(&title, "volcano ");
	while (title.len < 2040)
		strbuf_adds(&title, "hill ");
	strbuf_adds(&title, "\xF0\x9F\x8C\x8B\xF0\x9F\x8C\x8B mountain");
	doc.title = (struct bytes){ title.data, title.len };
	doc.lang = bytes_of("en");
	corpus_add_all(c, &doc, 1);
	expect(c, "volcano", "a");
	expect(c, "mountain", "");
	assert_int_equal(corpus_delete(c, "a").documents, 1);
	expect(c, "volcano", "");
	strbuf_release(&title);
}

/* Stop words count in documents, not in queries; endings are folded. */
static void test_words(void **state)
{
	struct corpus *c = *state;

	add_fillers(c);
	add_english(c, "who", "The Who played the song");
	add_english(c, "run", "Running to Zürich");
	expect(c, "the who", "");
	expect(c, "runs", "run");
	expect(c, "ZURICH", "run");
	expect(c, "song the", "who");
}

/* REQ: RET-01: a long word finds itself, in any case. */
static void test_long_words(void **state)
{
	struct corpus *c = *state;
	static const size_t lengths[] = { 63, 64, 65, 127, 128, 129, 200, 1000, 1023, 1024, 1025,
		5000, 70000 };
	static const char *const letters[] = { "w", "\xC3\xA9", "\xE6\x9D\xB1" };

	for (size_t i = 0; i < sizeof letters / sizeof letters[0]; i++)
		for (size_t k = 0; k < sizeof lengths / sizeof lengths[0]; k++) {
			size_t n = lengths[k] / strlen(letters[i]);
			struct strbuf word = STRBUF_INIT, text = STRBUF_INIT;

			for (size_t j = 0; j < n; j++)
				strbuf_adds(&word, letters[i]);
			strbuf_addf(&text, "some %s tail", word.data);
			corpus_add(c, "long", text.data);
			expect(c, word.data, "long");
			if (i == 0) {
				word.data[0] = 'W';
				expect(c, word.data, "long");
				word.data[1] = 'v';
				expect(c, word.data, "");
			}
			strbuf_release(&word);
			strbuf_release(&text);
		}
	expect(c, "tail", "long");
}

/* A word said twice counts twice. */
static void test_repeats(void **state)
{
	struct corpus *c = *state;

	add_fillers(c);
	corpus_add(c, "a", "alpha");
	corpus_add(c, "b", "bravo");
	expect(c, "alpha bravo bravo", "b a");
	expect(c, "alpha alpha bravo", "a b");
}

static void test_many_terms(void **state)
{
	struct corpus *c = *state;
	struct strbuf query = STRBUF_INIT, text = STRBUF_INIT;
	struct engine_candidate *found;

	for (unsigned i = 0; i < 600; i++) {
		strbuf_addf(&query, "term%u ", i);
		if (i % 50 == 11)
			strbuf_addf(&text, "term%u ", i);
	}
	corpus_add(c, "some", text.data);
	corpus_add(c, "last", "term511");
	corpus_add(c, "beyond", "term512");
	assert_int_equal(corpus_recall(c, query.data, 10, &found), 2);
	assert_true(bytes_eq(found[0].doc_id, bytes_of("some")));
	assert_true(bytes_eq(found[1].doc_id, bytes_of("last")));
	strbuf_release(&query);
	strbuf_release(&text);
}

#define MANY 40000

/* One document of many chunks, the same few words in each. */
static void add_many_chunks(struct corpus *c)
{
	static struct engine_chunk chunks[MANY];
	struct engine_document doc = document("many", NULL);
	struct strbuf text = STRBUF_INIT;

	for (size_t i = 0; i < MANY; i++) {
		chunks[i].byte_start = text.len;
		strbuf_adds(&text, "common words ");
		chunks[i].byte_end = text.len;
	}
	doc.text = (struct bytes){ text.data, text.len };
	doc.chunks = chunks;
	doc.chunk_count = MANY;
	corpus_add_all(c, &doc, 1);
	strbuf_release(&text);
}

/* REQ: L6, T7: a search asks and stops; the view can be used again. */
static void test_cancel(void **state)
{
	struct corpus *c = *state;
	struct countdown count = { 1L << 30 };
	struct engine_stop stop = { countdown_stop, &count };
	struct engine_candidate *found = NULL;
	struct engine_query q;
	struct engine_view *v;
	size_t n = 0;
	long asked;

	add_many_chunks(c);
	assert_int_equal(engine_view_open(c->engine, &stop, &v, &c->error), ST_OK);
	q = corpus_analyze(c, v, "common words");
	asked = count.left;
	assert_int_equal(engine_recall(v, &q, 1000, NULL, &c->arena, &found, &n, &c->error), ST_OK);
	asked -= count.left;
	assert_true(asked > 4);
	for (long i = 0; i < asked; i++) {
		count.left = i;
		assert_int_equal(engine_recall(v, &q, 1000, NULL, &c->arena, &found, &n, &c->error),
			ST_CANCELLED);
		assert_int_equal(n, 1000);
	}
	count.left = 1L << 30;
	assert_int_equal(engine_recall(v, &q, 1000, NULL, &c->arena, &found, &n, &c->error), ST_OK);
	assert_int_equal(n, 1000);
	engine_view_close(v);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, corpus_setup, corpus_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_hostile),
		TEST(test_operators),
		TEST(test_no_terms),
		TEST(test_raw_terms),
		TEST(test_ties),
		TEST(test_order),
		TEST(test_title),
		TEST(test_long_title),
		TEST(test_words),
		TEST(test_long_words),
		TEST(test_repeats),
		TEST(test_many_terms),
		TEST(test_cancel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
