/* test_memory.c: each allocation fails in turn, ours and SQLite's: the call says so
 * or succeeds, nothing is left half-done, and the next call works. */
#include "corpus.h"

#include <sqlite3.h>
#include <stdio.h>

#include "util/gauge.h"
#include "util/mem.h"

/* SQLite's own allocator with a switch in front, as mem_fail_after. */
static sqlite3_mem_methods plain;
static _Thread_local long sqlite_left = -1; /* below 0: never fail */
static _Thread_local bool sqlite_failed;

static bool sqlite_may(void)
{
	if (sqlite_left < 0)
		return true;
	if (sqlite_left > 0) {
		sqlite_left--;
		return true;
	}
	sqlite_failed = true;
	return false;
}

static void *failing_malloc(int n)
{
	return sqlite_may() ? plain.xMalloc(n) : NULL;
}

static void *failing_realloc(void *p, int n)
{
	return sqlite_may() ? plain.xRealloc(p, n) : NULL;
}

static void install_allocator(void)
{
	sqlite3_mem_methods mine;

	assert_int_equal(sqlite3_config(SQLITE_CONFIG_GETMALLOC, &plain), SQLITE_OK);
	mine = plain;
	mine.xMalloc = failing_malloc;
	mine.xRealloc = failing_realloc;
	assert_int_equal(sqlite3_config(SQLITE_CONFIG_MALLOC, &mine), SQLITE_OK);
}

static void fail_ours(long n)
{
	mem_fail_after(n);
}

static void fail_sqlite(long n)
{
	sqlite_left = n;
	sqlite_failed = false;
}

/* One operation; returns its status. Results in c->arena. */
typedef enum status operation(struct corpus *c);

/* Runs op with the first n allocations granted, for n = 0, 1, … until it succeeds
 * with none refused; check is called after each failure. */
static long walk(struct corpus *c, operation *op, void (*set_failure)(long),
	void (*check)(struct corpus *c))
{
	for (long n = 0; n < 100000; n++) {
		enum status st;

		corpus_clear(c); /* an arena with room left would ask for nothing */
		set_failure(n);
		st = op(c);
		set_failure(-1);
		if (st == ST_OK && !sqlite_failed)
			return n;
		if (st && st != ST_NOMEM)
			fail_msg("allocation %ld: %s: %s (%s)", n, status_name(st),
				c->error.message, c->error.detail);
		if (st)
			check(c);
		assert_int_equal(gauge_get(GAUGE_VIEWS), 0);
		sqlite_failed = false;
	}
	fail_msg("no end");
	return -1;
}

static enum status do_add(struct corpus *c)
{
	struct engine_once once = { .owner = BYTES("o"), .key = BYTES("k"), .result = BYTES("r") };
	struct engine_document docs[] = { document("a", "alpha new"), document("n", "november") };
	struct engine_commit commit = { .version = 5 };
	enum status st;

	docs[1].title = BYTES("Title");
	st = engine_add(c->engine, docs, 2, &once, NULL, &c->arena, &commit, &c->error);
	if (st)
		assert_int_equal(commit.version, 5);
	return st;
}

static void check_not_added(struct corpus *c)
{
	assert_string_equal(corpus_search(c, "alpha new november", 10), "a");
	assert_true(bytes_eq(corpus_text(c, "a"), BYTES("alpha old")));
	assert_int_equal(corpus_stats(c).documents, 2);
	assert_int_equal(corpus_stats(c).version, 2);
}

static enum status do_delete(struct corpus *c)
{
	struct bytes ids[] = { BYTES("a"), BYTES("b") };
	struct engine_commit commit;

	return engine_delete(c->engine, ids, 2, NULL, &commit, &c->error);
}

static void check_not_deleted(struct corpus *c)
{
	assert_int_equal(corpus_stats(c).documents, 2);
	assert_string_equal(corpus_search(c, "alpha", 10), "a");
}

static enum status do_search(struct corpus *c)
{
	struct engine_candidate *found;
	struct engine_view *v;
	struct engine_record r;
	struct text_query q;
	size_t n;
	enum status st = text_query_parse(BYTES("alpha \"bravo\""), &c->arena, &q);

	if (!st)
		st = engine_view_open(c->engine, NULL, &v, &c->error);
	if (st)
		return st;
	st = engine_recall(v, &q, 10, &c->arena, &found, &n, &c->error);
	for (size_t i = 0; !st && i < n; i++)
		st = engine_fetch(v, &found[i], ENGINE_TEXT | ENGINE_META | ENGINE_CITATION,
			&c->arena, &r, &c->error);
	if (!st)
		st = engine_get(v, BYTES("b"), &c->arena, &r, &c->error);
	engine_view_close(v);
	return st;
}

static void check_found(struct corpus *c)
{
	assert_string_equal(corpus_search(c, "alpha", 10), "a");
}

static void fill(struct corpus *c)
{
	corpus_add(c, "a", "alpha old");
	corpus_add(c, "b", "bravo");
}

static void test_add_ours(void **state)
{
	fill(*state);
	assert_true(walk(*state, do_add, fail_ours, check_not_added) >= 1);
}

static void test_search_ours(void **state)
{
	fill(*state);
	assert_true(walk(*state, do_search, fail_ours, check_found) >= 4);
}

static void test_add_sqlite(void **state)
{
	struct corpus *c = *state;

	fill(c);
	corpus_reopen(c); /* so that statements are prepared under failure too */
	assert_true(walk(c, do_add, fail_sqlite, check_not_added) > 5);
	assert_string_equal(corpus_search(c, "november", 10), "n");
	corpus_add(c, "a", "alpha again");
}

static void test_delete_sqlite(void **state)
{
	struct corpus *c = *state;

	fill(c);
	corpus_reopen(c);
	assert_true(walk(c, do_delete, fail_sqlite, check_not_deleted) > 5);
	assert_int_equal(corpus_stats(c).documents, 0);
}

static void test_search_sqlite(void **state)
{
	struct corpus *c = *state;

	fill(c);
	corpus_reopen(c);
	assert_true(walk(c, do_search, fail_sqlite, check_found) > 5);
}

/* Opening what is there, and making what is not. */
static void open_under_failure(void (*set_failure)(long), bool fresh, long step)
{
	struct corpus c;
	enum status st = ST_NOMEM;
	long n;

	corpus_make_dir(&c);
	if (!fresh) {
		corpus_open(&c);
		corpus_add(&c, "a", "alpha");
		corpus_close(&c);
	}
	for (n = 0; st && n < 100000; n += step) {
		struct engine_options opt = { .dir = c.dir, .readers = 2 };

		set_failure(n);
		st = engine_open(&opt, &c.engine, &c.error);
		set_failure(-1);
		if (st && st != ST_NOMEM)
			fail_msg("allocation %ld: %s: %s (%s)", n, status_name(st), c.error.message,
				c.error.detail);
	}
	assert_true(n > 3);
	assert_string_equal(corpus_search(&c, "alpha", 10), fresh ? "" : "a");
	corpus_close(&c);
	corpus_check(&c);
	corpus_remove_dir(&c);
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
	open_under_failure(fail_sqlite, false, 3);
	open_under_failure(fail_sqlite, true, 11);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, corpus_setup, corpus_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_add_ours),
		TEST(test_search_ours),
		TEST(test_add_sqlite),
		TEST(test_delete_sqlite),
		TEST(test_search_sqlite),
		cmocka_unit_test(test_open_ours),
		cmocka_unit_test(test_open_sqlite),
	};

	install_allocator();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
