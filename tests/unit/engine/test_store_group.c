/* test_store_group.c: several calls in one transaction, some of them undone. */
#include "store_rows.h"

#include <stdio.h>

static void savepoint(struct rows *r)
{
	OK(r, store_write_savepoint(r->write, &r->error));
}

static void keep(struct rows *r)
{
	OK(r, store_write_release(r->write, &r->error));
}

static void undo(struct rows *r)
{
	OK(r, store_write_undo(r->write, &r->error));
}

static void expect_text(struct rows *r, const char *id, uint64_t version, const char *text)
{
	assert_true(bytes_eq(rows_text(r, id, version), bytes_of(text)));
	assert_int_equal(rows_text(r, id, version).data != NULL, text != NULL);
}

static void test_one_call(void **state)
{
	struct rows *r = *state;
	struct store_totals t;
	struct store_keys keys;

	assert_int_equal(rows_totals(r).version, 0);
	assert_int_equal(rows_totals(r).time_ms, 0);
	rows_begin(r);
	assert_int_equal(store_write_version(r->write), 1);
	keys = rows_put(r, "a", "alpha");
	t = rows_commit(r);
	assert_int_equal(keys.document, 1);
	assert_int_equal(keys.first_chunk, 1);
	assert_int_equal(keys.chunks, 1);
	assert_int_equal(t.version, 1);
	assert_int_equal(t.documents, 1);
	assert_int_equal(t.chunks, 1);
	assert_int_equal(t.text_bytes, 5);
	assert_int_equal(t.languages[TEXT_LANG_EN], 1);
	assert_true(t.time_ms > 1600000000000);
	assert_memory_equal(&(struct store_totals){ 0 }.languages[TEXT_LANG_FI],
		&t.languages[TEXT_LANG_FI], sizeof t.languages[0]);
	rows_reopen(r);
	{
		struct store_totals again = rows_totals(r);

		assert_memory_equal(&again, &t, sizeof t);
	}
	expect_text(r, "a", 1, "alpha");
	expect_text(r, "a", 0, NULL);
	expect_text(r, "b", 1, NULL);
}

/* REQ: IDX-02: the second of three calls is undone; the others stay, under one number. */
static void test_second_undone(void **state)
{
	struct rows *r = *state;
	struct store_keys first, third;
	struct store_totals t;

	rows_put(r, "old", "of before");
	rows_begin(r);
	savepoint(r);
	first = rows_put(r, "a", "alpha");
	keep(r);
	savepoint(r);
	assert_int_equal(rows_bury(r, "a").document, first.document);
	assert_int_equal(rows_bury(r, "old").chunks, 1);
	rows_put(r, "b", "bravo");
	OK(r, store_write_field(r->write, BYTES("f"), ENGINE_INT, &r->error));
	undo(r);
	savepoint(r);
	third = rows_put(r, "c", "charlie");
	keep(r);
	t = rows_commit(r);
	assert_int_equal(third.document, first.document + 1); /* no trace of the second */
	assert_int_equal(third.first_chunk, first.first_chunk + 1);
	assert_int_equal(t.version, 2);
	assert_int_equal(t.documents, 3);
	assert_int_equal(t.text_bytes, 9 + 5 + 7);
	assert_int_equal(t.languages[TEXT_LANG_EN], 3);
	expect_text(r, "a", 2, "alpha");
	expect_text(r, "b", 2, NULL);
	expect_text(r, "c", 2, "charlie");
	expect_text(r, "c", 1, NULL);
	expect_text(r, "old", 2, "of before");
	assert_int_equal(rows_ask(r, "SELECT count(*) FROM fields"), 0);
}

static void test_all_undone(void **state)
{
	struct rows *r = *state;
	struct store_totals before, after;

	rows_put(r, "a", "alpha");
	before = rows_totals(r);
	rows_begin(r);
	for (unsigned i = 0; i < 3; i++) {
		savepoint(r);
		rows_bury(r, "a");
		rows_put(r, "b", "bravo");
		undo(r);
	}
	after = rows_commit(r);
	assert_memory_equal(&before, &after, sizeof after); /* no version, no time */
	assert_int_equal(rows_put(r, "b", "x").document, 2);
	assert_int_equal(rows_totals(r).version, 2);
}

static void test_abort(void **state)
{
	struct rows *r = *state;

	rows_put(r, "a", "alpha");
	rows_begin(r);
	savepoint(r);
	rows_bury(r, "a");
	rows_put(r, "a", "other");
	keep(r);
	store_write_abort(r->write);
	r->write = NULL;
	expect_text(r, "a", 1, "alpha");
	expect_text(r, "a", 2, "alpha");
	assert_int_equal(rows_totals(r).version, 1);
}

/* Nothing found to bury, or nothing but fields: no new version. */
static void test_no_change(void **state)
{
	struct rows *r = *state;
	struct store_totals before;

	rows_put(r, "a", "alpha");
	before = rows_totals(r);
	rows_begin(r);
	assert_int_equal(rows_bury(r, "nobody").document, 0);
	OK(r, store_write_field(r->write, BYTES("year"), ENGINE_INT, &r->error));
	assert_int_equal(rows_commit(r).version, 1);
	rows_begin(r);
	assert_int_equal(rows_commit(r).version, 1);
	assert_memory_equal(&before, &(struct store_totals[]){ rows_totals(r) }[0], sizeof before);
	assert_int_equal(rows_ask(r, "SELECT count(*) FROM fields"), 1);
}

/* A document that an earlier call of the group put dies at its own birth. */
static void test_replaced_within_group(void **state)
{
	struct rows *r = *state;
	struct store_keys first, again;
	struct store_totals t;

	rows_begin(r);
	savepoint(r);
	first = rows_put(r, "a", "first");
	keep(r);
	savepoint(r);
	again = rows_bury(r, "a");
	assert_memory_equal(&again, &first, sizeof first);
	rows_put(r, "a", "second");
	keep(r);
	savepoint(r);
	rows_put(r, "b", "never");
	rows_bury(r, "b");
	keep(r);
	t = rows_commit(r);
	assert_int_equal(t.version, 1);
	assert_int_equal(t.documents, 1);
	assert_int_equal(t.text_bytes, 6);
	expect_text(r, "a", 1, "second");
	expect_text(r, "b", 1, NULL);
	assert_int_equal(rows_ask(r, "SELECT count(*) FROM documents WHERE died = born"), 2);
	rows_bury(r, "a");
	expect_text(r, "a", 1, "second");
	expect_text(r, "a", 2, NULL);
}

static void test_bury_chunk(void **state)
{
	struct rows *r = *state;
	struct store_chunk chunks[] = { { 0, 2, 0, 2, BYTES_NONE }, { 2, 5, 2, 5, BYTES_NONE } };
	struct store_document doc = rows_document("a", "alpha");
	struct store_keys keys, got;

	rows_put(r, "z", "first");
	doc.chunks = chunks;
	doc.chunk_count = 2;
	keys = rows_put_document(r, &doc);
	assert_int_equal(keys.first_chunk, 2);
	rows_begin(r);
	OK(r, store_write_bury_chunk(r->write, 3, &got, &r->error));
	assert_memory_equal(&got, &keys, sizeof keys);
	for (int64_t key = 2; key < 5; key++) { /* dead, dead, never there */
		OK(r, store_write_bury_chunk(r->write, key, &got, &r->error));
		assert_int_equal(got.document, 0);
	}
	assert_int_equal(rows_commit(r).chunks, 1);
	expect_text(r, "a", 2, "alpha");
	expect_text(r, "a", 3, NULL);
}

/* Ids and texts of any content; bytes that are absent stay so. */
static void test_any_content(void **state)
{
	struct rows *r = *state;
	struct store_chunk chunk = { 0, 3, 0, 3, BYTES_NONE };
	struct store_document doc = { .id = BYTES("a\0b"),
		.text = BYTES("x\0y"),
		.meta = BYTES("{\"k\":\"\\u0000\"}"),
		.title = BYTES(""),
		.chunks = &chunk,
		.chunk_count = 1 };
	struct store_reader *reader;
	struct engine_record rec;

	rows_put(r, "a", "of another");
	rows_put_document(r, &doc);
	OK(r, store_reader_open(r->store, NULL, &reader, &r->error));
	OK(r, store_get(reader, doc.id, 2, &r->arena, &rec, &r->error));
	store_reader_close(reader);
	assert_true(bytes_eq(rec.doc_id, doc.id));
	assert_true(bytes_eq(rec.text, doc.text));
	assert_true(bytes_eq(rec.meta, doc.meta));
	assert_true(rec.title.data && rec.title.len == 0);
	assert_null(rec.uri.data);
	assert_null(rec.lang.data);
	expect_text(r, "a", 2, "of another");
}

/* REQ: L6, T7: a call that is told to stop is undone, the others of its group are not. */
static void test_stop_of_one_call(void **state)
{
	struct rows *r = *state;
	struct store_document doc = rows_document("b", "bravo");
	struct store_chunk *many = calloc(3000, sizeof *many);
	enum status st = ST_CANCELLED;
	struct countdown count;
	struct engine_stop stop = { countdown_stop, &count };
	struct store_keys keys;
	long n;

	for (size_t i = 0; i < 3000; i++)
		many[i] = (struct store_chunk){ 0, 5, 0, 5, BYTES_NONE };
	doc.chunks = many;
	doc.chunk_count = 3000;
	rows_begin(r);
	savepoint(r);
	rows_put(r, "a", "alpha");
	keep(r);
	for (n = 0; st == ST_CANCELLED; n++) {
		count.left = n;
		savepoint(r);
		store_write_stop(r->write, &stop);
		st = store_write_put(r->write, &doc, &keys, &r->error);
		store_write_stop(r->write, NULL);
		if (st)
			undo(r);
		else
			keep(r);
	}
	OK(r, st);
	assert_true(n > 10); /* it was asked all along */
	assert_int_equal(keys.document, 2);
	assert_int_equal(rows_commit(r).chunks, 3001);
	free(many);
}

static void test_stop_at_commit(void **state)
{
	struct rows *r = *state;
	struct countdown count = { 0 };
	struct engine_stop stop = { countdown_stop, &count };
	struct store_totals t = { .version = 4711 };

	rows_begin(r);
	rows_put(r, "a", "alpha");
	store_write_stop(r->write, &stop);
	assert_int_equal(store_write_commit(r->write, &t, &r->error), ST_CANCELLED);
	assert_int_equal(t.version, 4711);
	r->write = NULL;
	assert_int_equal(rows_totals(r).version, 0);
	assert_int_equal(store_write_begin(r->store, &stop, &r->write, &r->error), ST_CANCELLED);
}

static void limit_pages(struct rows *r, const char *pragma)
{
	assert_int_equal(sqlite3_exec(r->store->writer.db.handle, pragma, NULL, NULL, NULL),
		SQLITE_OK);
}

/* REQ: IDX-05: a full disk ends the whole transaction; undo says so, and nothing that
 * is tried afterwards is written on its own. */
static void test_lost_to_a_full_disk(void **state)
{
	struct rows *r = *state;
	size_t len = 1000000;
	char *text = calloc(1, len + 1);
	struct store_document big, small = rows_document("c", "charlie");
	struct store_keys keys;
	struct store_totals t;
	enum status st;

	memset(text, 'x', len);
	rows_put(r, "a", "alpha");
	limit_pages(r, "PRAGMA max_page_count = 60");
	rows_begin(r);
	savepoint(r);
	rows_put(r, "b", "bravo");
	keep(r);
	savepoint(r);
	big = rows_document("big", text);
	assert_int_equal(store_write_put(r->write, &big, &keys, &r->error), ST_FULL);
	assert_string_equal(r->error.message, "cannot write to the corpus: the disk is full");
	assert_string_not_equal(r->error.detail, "");
	st = store_write_undo(r->write, &r->error);
	assert_int_equal(st, ST_FULL);
	assert_string_equal(r->error.message, "cannot write to the corpus: the disk is full");
	assert_int_equal(store_write_savepoint(r->write, &r->error), ST_FULL);
	assert_int_equal(store_write_put(r->write, &small, &keys, &r->error), ST_FULL);
	assert_int_equal(store_write_bury(r->write, BYTES("a"), &keys, &r->error), ST_FULL);
	assert_int_equal(store_write_release(r->write, &r->error), ST_FULL);
	assert_int_equal(store_write_commit(r->write, &t, &r->error), ST_FULL);
	r->write = NULL;
	expect_text(r, "a", 9, "alpha");
	expect_text(r, "b", 9, NULL);
	assert_int_equal(rows_totals(r).version, 1);
	limit_pages(r, "PRAGMA max_page_count = 1000000");
	big = rows_document("big", text);
	assert_int_equal(rows_put_document(r, &big).document, 2);
	free(text);
}

/* The next writer waits for the one before it, and gives up when told to. */
static void test_one_at_a_time(void **state)
{
	struct rows *r = *state;
	struct countdown count = { 5 };
	struct engine_stop stop = { countdown_stop, &count };
	struct store_write *second;

	rows_begin(r);
	assert_int_equal(store_write_begin(r->store, &stop, &second, &r->error), ST_CANCELLED);
	rows_put(r, "a", "alpha");
	assert_int_equal(rows_commit(r).documents, 1);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, rows_setup, rows_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_one_call),
		TEST(test_second_undone),
		TEST(test_all_undone),
		TEST(test_abort),
		TEST(test_no_change),
		TEST(test_replaced_within_group),
		TEST(test_bury_chunk),
		TEST(test_any_content),
		TEST(test_stop_of_one_call),
		TEST(test_stop_at_commit),
		TEST(test_lost_to_a_full_disk),
		TEST(test_one_at_a_time),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
