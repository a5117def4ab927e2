/* test_store_once.c: idempotency keys (REQ: X7, D37). */
#include "store_rows.h"

#include <stdio.h>

static struct engine_once once_of(const char *owner, const char *key, unsigned char body)
{
	struct engine_once once = { .owner = bytes_of(owner),
		.key = bytes_of(key),
		.result = BYTES("{\"ids\":[\"a\"]}") };

	memset(once.hash, body, sizeof once.hash);
	return once;
}

/* Looks the key up in a write of its own; if it is new, keeps an answer with the version. */
static enum status call(struct rows *r, const struct engine_once *once, bool *ret_found,
	struct engine_commit *answer)
{
	enum status st;

	rows_begin(r);
	st = store_write_find_once(r->write, once, &r->arena, ret_found, answer, &r->error);
	if (!st && !*ret_found) {
		*answer = (struct engine_commit){ .version = store_write_version(r->write),
			.documents = 3,
			.chunks = 4 };
		rows_put(r, "a", "x");
		st = store_write_keep_once(r->write, once, answer, &r->error);
		rows_commit(r);
		return st;
	}
	store_write_abort(r->write);
	r->write = NULL;
	return st;
}

static bool found_in(struct rows *r, const struct engine_once *once)
{
	struct engine_commit answer;
	bool found = false;

	OK(r, call(r, once, &found, &answer));
	if (!found)
		rows_bury(r, "a");
	return found;
}

static void test_repeat(void **state)
{
	struct rows *r = *state;
	struct engine_once once = once_of("me", "k1", 1);
	struct engine_commit answer;
	bool found = true;

	OK(r, call(r, &once, &found, &answer));
	assert_false(found);
	for (unsigned i = 0; i < 2; i++) {
		OK(r, call(r, &once, &found, &answer));
		assert_true(found && answer.repeated);
		assert_int_equal(answer.version, 1);
		assert_int_equal(answer.documents, 3);
		assert_int_equal(answer.chunks, 4);
		assert_true(bytes_eq(answer.result, BYTES("{\"ids\":[\"a\"]}")));
		rows_reopen(r);
	}
	assert_int_equal(rows_totals(r).version, 1);
}

static void test_conflict(void **state)
{
	struct rows *r = *state;
	struct engine_once once = once_of("me", "k1", 1), other = once_of("me", "k1", 2);
	struct engine_commit answer = { .version = 77 };
	bool found = false;

	assert_false(found_in(r, &once));
	assert_int_equal(call(r, &other, &found, &answer), ST_CONFLICT);
	assert_int_equal(answer.version, 77);
	assert_true(found_in(r, &once));
}

/* Keys of different callers do not meet; keys may hold anything. */
static void test_owners(void **state)
{
	struct rows *r = *state;
	struct engine_once a = once_of("a", "k", 1), b = once_of("b", "k", 2);
	struct engine_once nul = once_of("a", "", 3), nobody = once_of("", "k", 4);

	nul.key = BYTES("k\0more");
	nobody.owner = BYTES_NONE;
	assert_false(found_in(r, &a));
	assert_false(found_in(r, &b));
	assert_false(found_in(r, &nul));
	assert_false(found_in(r, &nobody));
	assert_true(found_in(r, &nobody));
	nobody.owner = BYTES("");
	assert_true(found_in(r, &nobody));
}

/* What is undone keeps no key: it may be tried again. */
static void test_undone(void **state)
{
	struct rows *r = *state;
	struct engine_once once = once_of("me", "k", 1);
	struct engine_commit answer = { .version = 1 };

	rows_begin(r);
	OK(r, store_write_savepoint(r->write, &r->error));
	OK(r, store_write_keep_once(r->write, &once, &answer, &r->error));
	OK(r, store_write_undo(r->write, &r->error));
	rows_commit(r);
	assert_false(found_in(r, &once));
}

/* Two calls of one group with the same key: the second finds the first. */
static void test_within_group(void **state)
{
	struct rows *r = *state;
	struct engine_once once = once_of("me", "k", 1);
	struct engine_commit answer = { .version = 1, .documents = 9 };
	bool found = false;

	rows_begin(r);
	OK(r, store_write_keep_once(r->write, &once, &answer, &r->error));
	OK(r, store_write_find_once(r->write, &once, &r->arena, &found, &answer, &r->error));
	assert_true(found);
	assert_int_equal(answer.documents, 9);
	assert_int_equal(rows_commit(r).version, 0); /* nothing was put */
	assert_true(found_in(r, &once));
}

static void test_expiry(void **state)
{
	struct rows *r = *state;
	struct engine_once once = once_of("me", "k", 1), other = once_of("me", "k", 2);
	struct engine_commit answer;
	bool found = false;

	assert_false(found_in(r, &once));
	rows_ask(r, "UPDATE idempotency SET created = created - 23 * 3600000");
	assert_int_equal(call(r, &other, &found, &answer), ST_CONFLICT);
	rows_ask(r, "UPDATE idempotency SET created = created - 3600001");
	assert_false(found_in(r, &other));
	assert_true(found_in(r, &other));
}

/* Expired keys go away little by little, living ones stay. */
static void test_pruning(void **state)
{
	struct rows *r = *state;
	struct engine_commit answer = { .version = 0 };
	char key[16];
	long long left;

	rows_begin(r);
	for (unsigned i = 0; i < 100; i++) {
		struct engine_once once;

		snprintf(key, sizeof key, "k%u", i);
		once = once_of("me", key, 1);
		OK(r, store_write_keep_once(r->write, &once, &answer, &r->error));
	}
	rows_commit(r);
	rows_ask(r, "UPDATE idempotency SET created = 1 WHERE key > 10");
	for (unsigned i = 0; i < 2; i++) {
		struct engine_once once = once_of("me", i ? "second" : "first", 1);

		rows_begin(r);
		OK(r, store_write_keep_once(r->write, &once, &answer, &r->error));
		rows_commit(r);
		left = rows_ask(r, "SELECT count(*) FROM idempotency");
		assert_int_equal(left, i ? 12 : 100 - STORE_ONCE_PRUNE + 1);
	}
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, rows_setup, rows_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_repeat),
		TEST(test_conflict),
		TEST(test_owners),
		TEST(test_undone),
		TEST(test_within_group),
		TEST(test_expiry),
		TEST(test_pruning),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
