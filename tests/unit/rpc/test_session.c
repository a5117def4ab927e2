/* The session table (REQ: T8, L1, L3): bounded, expiring, oldest first out. */
#include "fixture.h"

#include <stdio.h>

#include "rpc/session.h"
#include "util/clock.h"
#include "util/mem.h"

static const struct session_info info = { 3, "" };

static void test_start_find_end(void **state)
{
	struct sessions *s;
	struct session_info got;

	(void)state;
	assert_int_equal(sessions_new(10, 60, &s), ST_OK);
	assert_false(sessions_find(s, "a", &got));
	assert_int_equal(sessions_start(s, "a", "a", &info), ST_OK);
	assert_int_equal(sessions_start(s, "a", "a", &info), ST_CONFLICT);
	assert_true(sessions_find(s, "a", &got));
	assert_int_equal(got.log_level, 3);
	sessions_end(s, "a");
	sessions_end(s, "a");
	assert_false(sessions_find(s, "a", &got));
	assert_int_equal(sessions_start(s, "a", "a", &info), ST_OK);
	sessions_free(s);
}

static void test_bound_drops_the_least_used(void **state)
{
	struct sessions *s;
	struct session_info got;
	char key[16];

	(void)state;
	assert_int_equal(sessions_new(100, 60, &s), ST_OK);
	for (int i = 0; i < 100; i++) {
		snprintf(key, sizeof(key), "k%d", i);
		assert_int_equal(sessions_start(s, key, key, &info), ST_OK);
	}
	assert_true(sessions_find(s, "k0", &got)); /* used again: k1 is the oldest now */
	assert_int_equal(sessions_start(s, "new", "new", &info), ST_OK);
	assert_int_equal(sessions_count(s), 100);
	assert_true(sessions_find(s, "k0", &got));
	assert_false(sessions_find(s, "k1", &got));
	sessions_free(s);
}

/* REQ: K1: one that opens sessions without end drops its own, not another's. */
static void test_an_owner_has_a_share(void **state)
{
	struct sessions *s;
	struct session_info got;
	char key[16];

	(void)state;
	assert_int_equal(sessions_new(40, 60, &s), ST_OK);
	assert_int_equal(sessions_start(s, "victim", "victim", &info), ST_OK);
	for (int i = 0; i < 100; i++) {
		snprintf(key, sizeof(key), "k%d", i);
		assert_int_equal(sessions_start(s, key, "flood", &info), ST_OK);
	}
	assert_true(sessions_find(s, "victim", &got));
	assert_int_equal(sessions_count(s), 11);
	assert_true(sessions_find(s, "k99", &got));
	assert_false(sessions_find(s, "k89", &got));
	sessions_free(s);
}

static void test_expiry(void **state)
{
	struct sessions *s;
	struct session_info got;

	(void)state;
	assert_int_equal(sessions_new(10, 1, &s), ST_OK);
	assert_int_equal(sessions_start(s, "a", "a", &info), ST_OK);
	clock_sleep_ms(700);
	assert_true(sessions_find(s, "a", &got)); /* use renews */
	clock_sleep_ms(700);
	assert_true(sessions_find(s, "a", &got));
	clock_sleep_ms(1100);
	assert_false(sessions_find(s, "a", &got));
	assert_int_equal(sessions_count(s), 0);
	sessions_free(s);
}

static void test_out_of_memory(void **state)
{
	struct sessions *s;

	(void)state;
	mem_fail_after(0);
	assert_int_equal(sessions_new(10, 1, &s), ST_NOMEM);
	mem_fail_after(-1);
	assert_int_equal(sessions_new(10, 1, &s), ST_OK);
	mem_fail_after(0);
	assert_int_equal(sessions_start(s, "a", "a", &info), ST_NOMEM);
	mem_fail_after(-1);
	assert_int_equal(sessions_count(s), 0);
	sessions_free(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_start_find_end),
		cmocka_unit_test(test_bound_drops_the_least_used),
		cmocka_unit_test(test_an_owner_has_a_share),
		cmocka_unit_test(test_expiry),
		cmocka_unit_test(test_out_of_memory),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
