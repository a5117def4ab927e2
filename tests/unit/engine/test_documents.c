/* test_documents.c: documents in and out: add, replace, delete, read. */
#include "corpus.h"

#include <stdio.h>

/* REQ: X7, D36 */
static void test_add_and_get(void **state)
{
	struct corpus *c = *state;
	struct engine_commit commit = corpus_add(c, "a", "the first text");
	struct engine_stats stats;

	assert_int_equal(commit.version, 1);
	assert_int_equal(commit.documents, 1);
	assert_int_equal(commit.chunks, 1);
	assert_false(commit.repeated);
	assert_true(bytes_eq(corpus_text(c, "a"), bytes_of("the first text")));
	assert_null(corpus_text(c, "b").data);
	stats = corpus_stats(c);
	assert_int_equal(stats.documents, 1);
	assert_int_equal(stats.chunks, 1);
	assert_int_equal(stats.text_bytes, 14);
	assert_int_equal(stats.version, 1);
	assert_int_equal(strlen(engine_corpus_id(c->engine)), 16);
	assert_int_equal(strspn(engine_corpus_id(c->engine), "0123456789abcdef"), 16);
}

/* REQ: IDX-04: nothing of the old text stays behind. */
static void test_replace(void **state)
{
	struct corpus *c = *state;
	struct engine_document doc = document("x", "alpha alpha alpha");

	doc.title = bytes_of("Alpha title");
	doc.meta = bytes_of("{\"old\":1}");
	corpus_add_all(c, &doc, 1);
	corpus_add(c, "y", "unrelated");
	assert_string_equal(corpus_search(c, "alpha", 10), "x");
	corpus_add(c, "x", "beta");
	assert_string_equal(corpus_search(c, "alpha title", 10), "");
	assert_string_equal(corpus_search(c, "beta", 10), "x");
	assert_int_equal(corpus_stats(c).documents, 2);
	assert_int_equal(corpus_stats(c).chunks, 2);
	assert_int_equal(corpus_stats(c).text_bytes, 4 + 9);
	assert_int_equal(corpus_delete(c, "x").documents, 1);
	assert_string_equal(corpus_search(c, "beta", 10), "");
	assert_int_equal(corpus_stats(c).documents, 1);
	assert_int_equal(corpus_stats(c).text_bytes, 9);
}

/* REQ: X8, D34 */
static void test_delete(void **state)
{
	struct corpus *c = *state;
	struct bytes ids[] = { BYTES("a"), BYTES("missing"), BYTES("a"), BYTES("b"), BYTES("") };
	struct engine_commit commit;

	corpus_add(c, "a", "one");
	corpus_add(c, "b", "two");
	assert_int_equal(engine_delete(c->engine, ids, 5, NULL, &commit, &c->error), ST_OK);
	assert_int_equal(commit.documents, 2);
	assert_int_equal(commit.version, 3);
	assert_int_equal(engine_delete(c->engine, ids, 5, NULL, &commit, &c->error), ST_OK);
	assert_int_equal(commit.documents, 0);
	assert_int_equal(commit.version, 3);
	assert_int_equal(engine_delete(c->engine, NULL, 0, NULL, &commit, &c->error), ST_OK);
	assert_int_equal(commit.version, 3);
	assert_int_equal(corpus_stats(c).documents, 0);
	assert_int_equal(corpus_stats(c).chunks, 0);
	assert_int_equal(corpus_stats(c).text_bytes, 0);
}

/* REQ: D37: the last of equal ids wins, also over what was stored. */
static void test_equal_ids(void **state)
{
	struct corpus *c = *state;
	struct engine_document docs[] = { document("d", "first"), document("e", "other"),
		document("d", "second"), document("d", "third") };
	struct engine_commit commit;

	corpus_add(c, "d", "before");
	commit = corpus_add_all(c, docs, 4);
	assert_int_equal(commit.documents, 2);
	assert_int_equal(commit.chunks, 2);
	assert_true(bytes_eq(corpus_text(c, "d"), bytes_of("third")));
	assert_string_equal(corpus_search(c, "first before second", 10), "");
	assert_int_equal(corpus_stats(c).documents, 2);
}

/* REQ: D37: all of a call or none of it. */
static void test_all_or_none(void **state)
{
	struct corpus *c = *state;
	struct engine_document docs[] = { document("a", "good"), document("b", "bad \xFF byte"),
		document("c", "good") };
	struct engine_commit commit = { .version = 99 };

	assert_int_equal(engine_add(c->engine, docs, 3, NULL, NULL, &c->arena, &commit, &c->error),
		ST_INVALID);
	assert_string_equal(c->error.field, "documents[1].text");
	assert_int_equal(commit.version, 99);
	docs[1] = document("", "no id");
	assert_int_equal(engine_add(c->engine, docs, 3, NULL, NULL, &c->arena, &commit, &c->error),
		ST_INVALID);
	assert_string_equal(c->error.field, "documents[1].id");
	assert_int_equal(corpus_stats(c).documents, 0);
	assert_int_equal(corpus_stats(c).version, 0);
}

/* REQ: D37, L6: a write that is told to stop leaves nothing. */
static void test_cancelled_add(void **state)
{
	struct corpus *c = *state;
	struct engine_document docs[20];
	struct engine_commit commit;
	struct countdown count = { 0 };
	struct engine_stop stop = { countdown_stop, &count };
	enum status st = ST_CANCELLED;
	char ids[20][8];
	long n;

	for (size_t i = 0; i < 20; i++) {
		snprintf(ids[i], sizeof ids[i], "d%zu", i);
		docs[i] = document(ids[i], "some text to be added");
	}
	for (n = 0; n < 1000; n++) {
		count.left = n;
		st = engine_add(c->engine, docs, 20, NULL, &stop, &c->arena, &commit, &c->error);
		if (!st)
			break;
		assert_int_equal(st, ST_CANCELLED);
		assert_int_equal(corpus_stats(c).documents, 0);
	}
	assert_int_equal(st, ST_OK);
	assert_true(n > 20);
	assert_int_equal(corpus_stats(c).documents, 20);
	assert_int_equal(corpus_stats(c).version, 1);
}

static void test_id_limits(void **state)
{
	struct corpus *c = *state;
	char id[ENGINE_MAX_ID + 2];
	struct engine_document doc = document("", "long id");
	struct engine_commit commit;

	memset(id, 'i', sizeof id);
	doc.id = (struct bytes){ id, ENGINE_MAX_ID };
	corpus_add_all(c, &doc, 1);
	doc.id.len++;
	assert_int_equal(engine_add(c->engine, &doc, 1, NULL, NULL, &c->arena, &commit, &c->error),
		ST_INVALID);
	assert_int_equal(corpus_stats(c).documents, 1);
}

/* REQ: M11, JSON-02: NULs are ordinary characters in ids and text. */
static void test_nul(void **state)
{
	struct corpus *c = *state;
	struct engine_document docs[] = {
		{ .id = BYTES("a\0b"), .text = BYTES("x\0tailword") },
		{ .id = BYTES("a"), .text = BYTES("plain"), .title = BYTES("t\0hidden") },
		{ .id = BYTES("a\0c"), .text = BYTES("\0") },
	};
	struct engine_view *v;
	struct engine_record r;
	struct engine_candidate *found;

	assert_int_equal(corpus_add_all(c, docs, 3).documents, 3);
	assert_int_equal(corpus_recall(c, "tailword", 10, &found), 1);
	assert_true(bytes_eq(found[0].doc_id, docs[0].id));
	assert_string_equal(corpus_search(c, "hidden", 10), "a");
	assert_int_equal(engine_view_open(c->engine, NULL, &v, &c->error), ST_OK);
	assert_int_equal(engine_fetch(v, &found[0], ENGINE_TEXT, &c->arena, &r, &c->error), ST_OK);
	assert_true(bytes_eq(r.text, docs[0].text));
	assert_int_equal(r.cp_end, 10);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(engine_get(v, docs[i].id, &c->arena, &r, &c->error), ST_OK);
		assert_true(bytes_eq(r.doc_id, docs[i].id));
		assert_true(bytes_eq(r.text, docs[i].text));
		assert_true(bytes_eq(r.title, docs[i].title));
	}
	engine_view_close(v);
	/* Replacing must take the words behind the NUL out of the index too. */
	docs[0].text = bytes_of("new");
	corpus_add_all(c, docs, 1);
	assert_int_equal(corpus_recall(c, "tailword", 10, &found), 0);
}

/* REQ: R12: offsets in bytes and code points cut out the chunk's text. */
static void test_offsets(void **state)
{
	struct corpus *c = *state;
	const char *text = "Zażółć gęślą jaźń \xF0\x9F\x98\x80 東京";
	struct engine_candidate *found;
	struct engine_record r;
	struct engine_view *v;

	corpus_add(c, "pl", text);
	assert_int_equal(corpus_recall(c, "gesla JAZN", 1, &found), 1); /* accents folded */
	assert_int_equal(found[0].chunk, 0);
	assert_int_equal(engine_view_open(c->engine, NULL, &v, &c->error), ST_OK);
	assert_int_equal(engine_fetch(v, &found[0], ENGINE_TEXT, &c->arena, &r, &c->error), ST_OK);
	assert_true(bytes_eq(r.text, bytes_of(text)));
	assert_int_equal(r.byte_start, 0);
	assert_int_equal(r.byte_end, strlen(text));
	assert_int_equal(r.cp_start, 0);
	assert_int_equal(r.cp_end, 22);
	assert_int_equal(engine_get(v, bytes_of("pl"), &c->arena, &r, &c->error), ST_OK);
	assert_int_equal(r.byte_end, strlen(text));
	assert_int_equal(r.cp_end, 22);
	engine_view_close(v);
}

/* REQ: R8, D45: only what is wanted is read; absent differs from empty. */
static void test_wants(void **state)
{
	struct corpus *c = *state;
	struct engine_document doc = document("w", "wanted text");
	struct engine_candidate *found;
	struct engine_record r;
	struct engine_view *v;

	doc.meta = bytes_of("{\"n\":1}");
	doc.title = bytes_of("Title");
	doc.uri = bytes_of("https://example.org/x");
	doc.source = bytes_of("");
	corpus_add_all(c, &doc, 1);
	assert_int_equal(corpus_recall(c, "title", 1, &found), 1);
	assert_int_equal(engine_view_open(c->engine, NULL, &v, &c->error), ST_OK);
	assert_int_equal(engine_fetch(v, &found[0], 0, &c->arena, &r, &c->error), ST_OK);
	assert_true(bytes_eq(r.doc_id, doc.id));
	assert_null(r.text.data);
	assert_null(r.meta.data);
	assert_null(r.title.data);
	assert_int_equal(engine_fetch(v, &found[0], ENGINE_META | ENGINE_CITATION, &c->arena, &r,
				 &c->error),
		ST_OK);
	assert_null(r.text.data);
	assert_true(bytes_eq(r.meta, doc.meta));
	assert_true(bytes_eq(r.title, doc.title));
	assert_true(bytes_eq(r.uri, doc.uri));
	assert_non_null(r.source.data);
	assert_int_equal(r.source.len, 0);
	assert_null(r.lang.data);
	found[0].key = 12345;
	assert_int_equal(engine_fetch(v, &found[0], ENGINE_TEXT, &c->arena, &r, &c->error),
		ST_NOT_FOUND);
	engine_view_close(v);
}

/* REQ: R12, RET-06: each chunk is found and cited by itself. */
static void test_chunks(void **state)
{
	struct corpus *c = *state;
	const char *text = "Zażółć alpha. Gęślą bravo. Jaźń";
	struct engine_chunk chunks[] = {
		{ .byte_start = 0, .byte_end = 18, .context = BYTES("One") },
		{ .byte_start = 11, .byte_end = 33, .context = BYTES("One > Two") },
		{ .byte_start = 34, .byte_end = 40 }
	};
	struct engine_document doc = document("pl", text);
	struct engine_candidate *found;
	struct engine_record r;
	struct engine_view *v;

	doc.chunks = chunks;
	doc.chunk_count = 3;
	assert_int_equal(corpus_add_all(c, &doc, 1).chunks, 3);
	assert_int_equal(corpus_stats(c).chunks, 3);
	assert_int_equal(corpus_stats(c).documents, 1);
	assert_string_equal(corpus_search(c, "alpha", 10), "pl pl");
	assert_string_equal(corpus_search(c, "two", 10), ""); /* not contextual */
	assert_int_equal(corpus_recall(c, "bravo", 10, &found), 1);
	assert_int_equal(found[0].chunk, 1);
	v = corpus_view(c);
	assert_int_equal(engine_fetch(v, &found[0], ENGINE_TEXT, &c->arena, &r, &c->error), ST_OK);
	assert_true(bytes_eq(r.text, (struct bytes){ text + 11, 22 }));
	assert_int_equal(r.byte_start, 11);
	assert_int_equal(r.byte_end, 33);
	assert_int_equal(r.cp_start, 7);
	assert_int_equal(r.cp_end, 26);
	assert_true(bytes_eq(r.context, BYTES("One > Two")));
	assert_int_equal(engine_fetch(v, &found[0], ENGINE_TEXT | ENGINE_WHOLE, &c->arena, &r,
				 &c->error),
		ST_OK);
	assert_true(bytes_eq(r.text, doc.text));
	assert_int_equal(r.byte_start, 0);
	assert_int_equal(r.byte_end, strlen(text));
	assert_null(r.context.data);
	engine_view_close(v);
	doc.contextual = true;
	corpus_add_all(c, &doc, 1);
	assert_int_equal(corpus_recall(c, "two", 10, &found), 1);
	assert_int_equal(found[0].chunk, 1);
	assert_string_equal(corpus_search(c, "one", 10), "pl pl");
}

static void test_bad_chunks(void **state)
{
	struct corpus *c = *state;
	static const struct engine_chunk bad[][2] = {
		{ { .byte_start = 0, .byte_end = 11 }, { .byte_start = 0, .byte_end = 1 } },
		{ { .byte_start = 5, .byte_end = 5 }, { .byte_start = 6, .byte_end = 7 } },
		{ { .byte_start = 5, .byte_end = 4 }, { .byte_start = 6, .byte_end = 7 } },
		{ { .byte_start = 5, .byte_end = 6 }, { .byte_start = 4, .byte_end = 7 } },
		{ { .byte_start = 0, .byte_end = 1 },
			{ .byte_start = UINT64_MAX - 1, .byte_end = UINT64_MAX } },
	};
	struct engine_document doc = document("a", "0123456789");
	struct engine_commit commit;

	doc.chunk_count = 2;
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		doc.chunks = bad[i];
		assert_int_equal(engine_add(c->engine, &doc, 1, NULL, NULL, &c->arena, &commit,
					 &c->error),
			ST_INVALID);
		assert_string_equal(c->error.field, "documents[0].text");
	}
	doc.chunk_count = ENGINE_MAX_CHUNKS + 1; /* not looked at one by one */
	assert_int_equal(engine_add(c->engine, &doc, 1, NULL, NULL, &c->arena, &commit, &c->error),
		ST_INVALID);
	assert_int_equal(corpus_stats(c).version, 0);
}

/* What HTML says of itself is not found, what a person reads of it is. */
static void test_formats(void **state)
{
	struct corpus *c = *state;
	struct engine_document doc = document("h",
		"<p class=\"attribute\">Caf&eacute; <b>terrace</b></p><script>hidden()</script>");
	struct engine_record r;
	struct engine_view *v;

	doc.format = TEXT_HTML;
	corpus_add_all(c, &doc, 1);
	assert_string_equal(corpus_search(c, "cafe", 10), "h");
	assert_string_equal(corpus_search(c, "terrace", 10), "h");
	assert_string_equal(corpus_search(c, "attribute hidden script class", 10), "");
	v = corpus_view(c);
	assert_int_equal(engine_get(v, doc.id, &c->arena, &r, &c->error), ST_OK);
	assert_true(bytes_eq(r.text, doc.text)); /* as it was given */
	engine_view_close(v);
	doc.format = TEXT_PLAIN;
	corpus_add_all(c, &doc, 1);
	assert_string_equal(corpus_search(c, "attribute", 10), "h");
}

static void test_empty_and_large(void **state)
{
	struct corpus *c = *state;
	struct engine_document doc = document("empty", "");
	size_t len = 3U << 20;
	char *text = malloc(len);

	corpus_add_all(c, &doc, 1);
	assert_int_equal(corpus_text(c, "empty").len, 0);
	assert_non_null(corpus_text(c, "empty").data);
	memset(text, 'x', len);
	for (size_t i = 9; i < len; i += 10)
		text[i] = ' ';
	memcpy(text + len - 9, " lastword", 9);
	doc = (struct engine_document){ .id = BYTES("large"), .text = { text, len } };
	corpus_add_all(c, &doc, 1);
	assert_string_equal(corpus_search(c, "lastword", 10), "large");
	assert_true(bytes_eq(corpus_text(c, "large"), doc.text));
	corpus_delete(c, "large");
	assert_string_equal(corpus_search(c, "lastword", 10), "");
	free(text);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, corpus_setup, corpus_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_add_and_get),
		TEST(test_replace),
		TEST(test_delete),
		TEST(test_equal_ids),
		TEST(test_all_or_none),
		TEST(test_cancelled_add),
		TEST(test_id_limits),
		TEST(test_nul),
		TEST(test_offsets),
		TEST(test_wants),
		TEST(test_chunks),
		TEST(test_bad_chunks),
		TEST(test_formats),
		TEST(test_empty_and_large),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
