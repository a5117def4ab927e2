/* test_store_memory.c: each allocation fails in turn, ours and SQLite's: the call says so
 * or succeeds, nothing is left half-done, and the next call works. */
#include "store_rows.h"

#include <stdio.h>

#include "sqlite_memory.h"
#include "util/mem.h"

static void fail_ours(long n)
{
	mem_fail_after(n);
}

static void fail_sqlite(long n)
{
	sqlite_memory_fail(n);
}

typedef enum status operation(struct rows *r);

/* Runs op with the first n allocations granted, for n = 0, 1, … until it succeeds
 * with none refused; check is called after each failure. */
static long walk(struct rows *r, operation *op, void (*set_failure)(long),
	void (*check)(struct rows *r))
{
	for (long n = 0; n < 100000; n++) {
		enum status st;

		arena_release(&r->arena); /* one with room left would ask for nothing */
		set_failure(n);
		st = op(r);
		set_failure(-1);
		if (st == ST_OK && !sqlite_memory_failed())
			return n;
		if (st && st != ST_NOMEM)
			fail_msg("allocation %ld: %s: %s (%s)", n, status_name(st),
				r->error.message, r->error.detail);
		if (st)
			check(r);
		sqlite_memory_fail(-1);
	}
	fail_msg("no end");
	return -1;
}

/* A group of two calls. */
static enum status call_first(struct store_write *w, struct error *e)
{
	struct engine_once once = { .key = BYTES("k"), .result = BYTES("r") };
	struct engine_commit answer = { .version = 3 };
	struct store_document doc = rows_document("n", "november");
	struct store_keys keys;
	enum status st = store_write_savepoint(w, e);

	if (!st)
		st = store_write_put(w, &doc, &keys, e);
	if (!st)
		st = store_write_keep_once(w, &once, &answer, e);
	return st ? st : store_write_release(w, e);
}

static enum status call_second(struct store_write *w, struct error *e)
{
	struct store_document doc = rows_document("a", "alpha new");
	struct store_keys keys;
	enum status st = store_write_savepoint(w, e);

	if (!st)
		st = store_write_field(w, BYTES("f"), ENGINE_INT, e);
	if (!st)
		st = store_write_bury(w, doc.id, &keys, e);
	if (!st)
		st = store_write_put(w, &doc, &keys, e);
	return st ? st : store_write_release(w, e);
}

static enum status write_group(struct rows *r)
{
	struct store_totals totals = { .version = 4711 };
	struct store_write *w;
	enum status st = store_write_begin(r->store, NULL, &w, &r->error);

	if (st)
		return st;
	st = call_first(w, &r->error);
	if (!st)
		st = call_second(w, &r->error);
	if (st) {
		(void)store_write_undo(w, NULL); /* fails too, if the transaction is lost */
		store_write_abort(w);
		return st;
	}
	st = store_write_commit(w, &totals, &r->error);
	assert_int_equal(totals.version, st ? 4711 : 3);
	return st;
}

static void check_not_written(struct rows *r)
{
	struct store_totals t = rows_totals(r);

	assert_int_equal(t.version, 2);
	assert_int_equal(t.documents, 2);
	assert_true(bytes_eq(rows_text(r, "a", 9), BYTES("alpha old")));
	assert_null(rows_text(r, "n", 9).data);
}

static void fill(struct rows *r)
{
	rows_put(r, "a", "alpha old");
	rows_put(r, "b", "bravo");
}

static void test_write_ours(void **state)
{
	fill(*state);
	assert_int_equal(walk(*state, write_group, fail_ours, check_not_written), 0);
}

static void test_write_sqlite(void **state)
{
	struct rows *r = *state;

	fill(r);
	rows_reopen(r); /* so that statements are prepared under failure too */
	assert_true(walk(r, write_group, fail_sqlite, check_not_written) > 20);
	assert_true(bytes_eq(rows_text(r, "a", 3), BYTES("alpha new")));
	assert_int_equal(rows_totals(r).documents, 3);
}

static enum status sum_row(void *arg, const struct store_row *row, struct error *e)
{
	(void)e;
	*(size_t *)arg += row->text.len;
	return ST_OK;
}

static enum status read_all(struct rows *r)
{
	struct store_reader *reader;
	struct store_totals t;
	struct engine_record rec;
	size_t sum = 0;
	enum status st = store_reader_open(r->store, NULL, &reader, &r->error);

	if (st)
		return st;
	st = store_read_totals(reader, &t, &r->error);
	if (!st)
		st = store_fetch(reader, 1, 15, &r->arena, &rec, &r->error);
	if (!st)
		st = store_get(reader, BYTES("b"), 2, &r->arena, &rec, &r->error);
	if (!st)
		st = store_each_born(reader, 0, sum_row, &sum, &r->error);
	if (!st)
		assert_int_equal(sum, 14);
	store_reader_close(reader);
	return st;
}

static void check_readable(struct rows *r)
{
	assert_int_equal(rows_totals(r).documents, 2);
}

static void test_read_ours(void **state)
{
	fill(*state);
	assert_true(walk(*state, read_all, fail_ours, check_readable) >= 1);
}

static void test_read_sqlite(void **state)
{
	struct rows *r = *state;

	fill(r);
	rows_reopen(r);
	assert_true(walk(r, read_all, fail_sqlite, check_readable) > 5);
}

static void note_swept(void *arg, int64_t first_chunk, uint64_t chunks)
{
	(void)arg, (void)first_chunk, (void)chunks;
}

static enum status sweep(struct rows *r)
{
	struct store_totals totals;
	struct store_write *w;
	bool more;
	enum status st = store_write_begin(r->store, NULL, &w, &r->error);

	if (st)
		return st;
	st = store_write_sweep(w, 3, 10, note_swept, NULL, &more, &r->error);
	if (!st)
		return store_write_commit(w, &totals, &r->error);
	store_write_abort(w);
	return st;
}

static void check_not_swept(struct rows *r)
{
	assert_true(bytes_eq(rows_text(r, "a", 2), BYTES("alpha old")));
}

static void test_sweep_sqlite(void **state)
{
	struct rows *r = *state;

	fill(r);
	rows_bury(r, "a");
	rows_reopen(r);
	assert_true(walk(r, sweep, fail_sqlite, check_not_swept) > 5);
	assert_null(rows_text(r, "a", 2).data);
}

/* Opening what is there, and making what is not. */
static void open_under_failure(void (*set_failure)(long), bool fresh, long step)
{
	struct rows r;
	enum status st = ST_NOMEM;
	long n;

	rows_make_dir(&r);
	if (!fresh) {
		rows_open(&r);
		rows_put(&r, "a", "alpha");
		rows_close(&r);
	}
	for (n = 0; st && n < 100000; n += step) {
		set_failure(n);
		st = store_open(r.dir, 2, &r.store, &r.error);
		set_failure(-1);
		if (st && st != ST_NOMEM)
			fail_msg("allocation %ld: %s: %s (%s)", n, status_name(st), r.error.message,
				r.error.detail);
	}
	assert_true(n > 3);
	assert_int_equal(rows_totals(&r).documents, fresh ? 0 : 1);
	rows_close(&r);
	rows_check(&r);
	rows_remove_dir(&r);
}

static void test_open_ours(void **state)
{
	(void)state;
	open_under_failure(fail_ours, false, 1);
	open_under_failure(fail_ours, true, 1);
}

static void test_open_sqlite(void **state)
{
	(void)state;
	open_under_failure(fail_sqlite, false, 7);
	open_under_failure(fail_sqlite, true, 61);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, rows_setup, rows_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_write_ours),
		TEST(test_write_sqlite),
		TEST(test_read_ours),
		TEST(test_read_sqlite),
		TEST(test_sweep_sqlite),
		cmocka_unit_test(test_open_ours),
		cmocka_unit_test(test_open_sqlite),
	};

	sqlite_memory_install();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
