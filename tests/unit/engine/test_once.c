/* test_once.c: idempotency keys (REQ: X7, D37). */
#include "corpus.h"

#include <sqlite3.h>
#include <stdio.h>

static struct engine_once once_of(const char *owner, const char *key, unsigned char body)
{
	struct engine_once once = { .owner = bytes_of(owner),
		.key = bytes_of(key),
		.result = BYTES("{\"ids\":[\"a\"]}") };

	memset(once.hash, body, sizeof once.hash);
	return once;
}

static enum status add_once(struct corpus *c, const struct engine_once *once, const char *text,
	struct engine_commit *ret)
{
	struct engine_document doc = document("a", text);

	return engine_add(c->engine, &doc, 1, once, NULL, &c->arena, ret, &c->error);
}

static void test_repeat(void **state)
{
	struct corpus *c = *state;
	struct engine_once once = once_of("me", "k1", 1);
	struct engine_commit first, again;

	assert_int_equal(add_once(c, &once, "one", &first), ST_OK);
	assert_false(first.repeated);
	assert_int_equal(first.version, 1);
	corpus_add(c, "b", "between");
	for (unsigned round = 0; round < 2; round++) {
		once.result = BYTES("another result");
		assert_int_equal(add_once(c, &once, "ignored", &again), ST_OK);
		assert_true(again.repeated);
		assert_int_equal(again.version, first.version);
		assert_int_equal(again.documents, first.documents);
		assert_int_equal(again.chunks, first.chunks);
		assert_true(bytes_eq(again.result, BYTES("{\"ids\":[\"a\"]}")));
		assert_true(bytes_eq(corpus_text(c, "a"), BYTES("one")));
		assert_int_equal(corpus_stats(c).version, 2);
		corpus_reopen(c);
	}
}

static void test_conflict(void **state)
{
	struct corpus *c = *state;
	struct engine_once once = once_of("me", "k1", 1), other = once_of("me", "k1", 2);
	struct engine_commit commit;

	assert_int_equal(add_once(c, &once, "one", &commit), ST_OK);
	commit.version = 77;
	assert_int_equal(add_once(c, &other, "two", &commit), ST_CONFLICT);
	assert_int_equal(commit.version, 77);
	assert_true(bytes_eq(corpus_text(c, "a"), BYTES("one")));
	assert_int_equal(add_once(c, &once, "one", &commit), ST_OK);
	assert_true(commit.repeated);
}

/* Keys of different callers do not meet; keys may hold anything. */
static void test_owners(void **state)
{
	struct corpus *c = *state;
	struct engine_once a = once_of("a", "k", 1), b = once_of("b", "k", 2);
	struct engine_once nul = once_of("a", "", 3), nobody = once_of("", "k", 4);
	struct engine_commit commit;

	nul.key = BYTES("k\0more");
	nobody.owner = BYTES_NONE;
	assert_int_equal(add_once(c, &a, "1", &commit), ST_OK);
	assert_int_equal(add_once(c, &b, "2", &commit), ST_OK);
	assert_int_equal(add_once(c, &nul, "3", &commit), ST_OK);
	assert_int_equal(add_once(c, &nobody, "4", &commit), ST_OK);
	assert_int_equal(commit.version, 4);
	assert_int_equal(add_once(c, &nobody, "5", &commit), ST_OK);
	assert_true(commit.repeated);
	assert_true(bytes_eq(corpus_text(c, "a"), BYTES("4")));
}

/* A call that failed keeps no key: it may be tried again. */
static void test_failure_keeps_none(void **state)
{
	struct corpus *c = *state;
	struct engine_once once = once_of("me", "k1", 1);
	struct countdown count = { 0 };
	struct engine_stop stop = { countdown_stop, &count };
	struct engine_document doc = document("a", "one");
	struct engine_commit commit;
	enum status st = ST_CANCELLED;

	for (long n = 0; st == ST_CANCELLED && n < 100; n++) {
		count.left = n;
		st = engine_add(c->engine, &doc, 1, &once, &stop, &c->arena, &commit, &c->error);
	}
	assert_int_equal(st, ST_OK);
	assert_false(commit.repeated);
	assert_int_equal(commit.version, 1);
}

static void test_no_key(void **state)
{
	struct corpus *c = *state;
	struct engine_once once = once_of("me", "k", 1);
	struct engine_commit commit;

	once.key = BYTES_NONE;
	assert_int_equal(add_once(c, &once, "one", &commit), ST_OK);
	assert_int_equal(add_once(c, &once, "two", &commit), ST_OK);
	assert_false(commit.repeated);
	assert_true(bytes_eq(corpus_text(c, "a"), BYTES("two")));
}

/* An add of nothing makes no commit, and its key is kept. */
static void test_empty_add(void **state)
{
	struct corpus *c = *state;
	struct engine_once once = once_of("me", "k", 1);
	struct engine_commit commit;

	corpus_add(c, "x", "one");
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(engine_add(c->engine, NULL, 0, &once, NULL, &c->arena, &commit,
					 &c->error),
			ST_OK);
		assert_int_equal(commit.version, 1);
		assert_int_equal(commit.repeated, i > 0);
	}
}

/* Runs SQL on the closed corpus; returns the first number it gives, or -1. */
static long long run_sql(struct corpus *c, const char *sql)
{
	sqlite3_stmt *stmt;
	long long value = -1;
	char path[600];
	sqlite3 *h;

	corpus_close(c);
	corpus_path(c, "rcpd.db", path, sizeof path);
	assert_int_equal(sqlite3_open(path, &h), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(h, sql, -1, &stmt, NULL), SQLITE_OK);
	if (sqlite3_step(stmt) == SQLITE_ROW)
		value = sqlite3_column_int64(stmt, 0);
	assert_int_equal(sqlite3_finalize(stmt), SQLITE_OK);
	sqlite3_close(h);
	corpus_open(c);
	return value;
}

static void test_expiry(void **state)
{
	struct corpus *c = *state;
	struct engine_once once = once_of("me", "k", 1), other = once_of("me", "k", 2);
	struct engine_commit commit;

	assert_int_equal(add_once(c, &once, "one", &commit), ST_OK);
	run_sql(c, "UPDATE idempotency SET created = created - 23 * 3600000");
	assert_int_equal(add_once(c, &other, "two", &commit), ST_CONFLICT);
	run_sql(c, "UPDATE idempotency SET created = created - 3600001");
	assert_int_equal(add_once(c, &other, "two", &commit), ST_OK);
	assert_false(commit.repeated);
	assert_int_equal(add_once(c, &other, "two", &commit), ST_OK);
	assert_true(commit.repeated);
}

static void use_key(struct corpus *c, const char *key)
{
	struct engine_once once = once_of("me", key, 1);
	struct engine_commit commit;

	assert_int_equal(add_once(c, &once, "one", &commit), ST_OK);
	assert_false(commit.repeated);
}

/* Expired keys go away little by little as others come, living ones stay. */
static void test_pruning(void **state)
{
	struct corpus *c = *state;
	char key[16];
	long long left;

	for (unsigned i = 0; i < 100; i++) {
		snprintf(key, sizeof key, "k%u", i);
		use_key(c, key);
	}
	run_sql(c, "UPDATE idempotency SET created = 1 WHERE key > 10");
	use_key(c, "new");
	left = run_sql(c, "SELECT count(*) FROM idempotency");
	assert_true(left > 11 && left < 100);
	use_key(c, "newer");
	assert_int_equal(run_sql(c, "SELECT count(*) FROM idempotency"), 12);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, corpus_setup, corpus_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_repeat),
		TEST(test_conflict),
		TEST(test_owners),
		TEST(test_failure_keeps_none),
		TEST(test_no_key),
		TEST(test_empty_add),
		TEST(test_expiry),
		TEST(test_pruning),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
