/*
 * test_filter_eval.c: leaves written out: missing fields, dates, substrings, the edges
 * of the numbers (REQ: F1, F3, F4, D27, D28).
 */
#include "filter_fixture.h"

#include <float.h>

/* REQ: FIL-01: en, fr, absent; null comes as absent. */
static void test_missing_fields(void **state)
{
	struct engine_scalar en = { .s = bytes_of("en") };
	struct engine_filter eq = fm_leaf(0, ENGINE_EQ, &en, 1), exists, not_eq ;
	struct engine_scalar yes = { .i = 1 };
	struct fx x;

	(void)state;
	fx_start(&x, ENGINE_KEYWORD);
	fx_add(&x, &FX_STRING("en"), 1);
	fx_add(&x, &FX_STRING("fr"), 1);
	fx_add(&x, NULL, 0);
	fx_publish(&x);
	not_eq = (struct engine_filter){ .kind = ENGINE_NOT, .children = &eq, .count = 1 };
	assert_int_equal(fx_passing(x.v, &eq), 1);
	assert_int_equal(fx_passing(x.v, & not_eq), 2 | 4);
	assert_int_equal(fx_ask_string(&x, ENGINE_NE, "en"), 2 | 4);
	assert_int_equal(fx_ask_string(&x, ENGINE_NIN, "en"), 2 | 4);
	assert_int_equal(fx_ask_string(&x, ENGINE_IN, "fr"), 2);
	assert_int_equal(fx_ask_int(&x, ENGINE_EXISTS, 1), 1 | 2);
	assert_int_equal(fx_ask_int(&x, ENGINE_EXISTS, 0), 4);
	exists = fm_leaf(0, ENGINE_EXISTS, &yes, 1);
	not_eq.children = &exists;
	assert_int_equal(fx_passing(x.v, & not_eq), 4);
	/* Values that nobody has. */
	assert_int_equal(fx_ask_string(&x, ENGINE_EQ, "de"), 0);
	assert_int_equal(fx_ask_string(&x, ENGINE_NE, "de"), 1 | 2 | 4);
	assert_int_equal(fx_ask_string(&x, ENGINE_IN, "de"), 0);
	fx_stop(&x);
}

static void test_ordered_operators_on_missing_fields(void **state)
{
	struct fx x;

	(void)state;
	fx_start(&x, ENGINE_INT);
	fx_add(&x, &FX_INT(0), 1);
	fx_add(&x, NULL, 0);
	fx_publish(&x);
	assert_int_equal(fx_ask_int(&x, ENGINE_GT, INT64_MIN), 1);
	assert_int_equal(fx_ask_int(&x, ENGINE_GTE, INT64_MIN), 1);
	assert_int_equal(fx_ask_int(&x, ENGINE_LT, INT64_MAX), 1);
	assert_int_equal(fx_ask_int(&x, ENGINE_LTE, INT64_MAX), 1);
	fx_stop(&x);
}

/* REQ: FIL-02 */
static void test_dates(void **state)
{
	const int64_t eleven = 1704063600000; /* 2023-12-31T23:00:00Z */
	struct fx x;

	(void)state;
	fx_start(&x, ENGINE_DATE);
	fx_add(&x, &FX_STRING("2024-01-01T00:30:00+02:00"), 1);
	fx_add(&x, &FX_STRING("2023-12-31T22:45:00Z"), 1);
	fx_add(&x, &FX_INT(1704062700000), 1);
	fx_add(&x, &FX_STRING("2024-01-01"), 1);
	fx_add(&x, &FX_STRING("2023-12-31T22:45:00.000001Z"), 1);
	fx_add(&x, &FX_STRING("2023-02-30"), 1);
	fx_publish(&x);
	assert_int_equal(fx_ask_int(&x, ENGINE_LT, eleven), 1 | 2 | 4 | 16);
	assert_int_equal(fx_ask_int(&x, ENGINE_GTE, eleven), 8);
	assert_int_equal(fx_ask_int(&x, ENGINE_EQ, 1704062700000), 2 | 4 | 16);
	assert_int_equal(fx_ask_int(&x, ENGINE_EXISTS, 0), 32);
	fx_stop(&x);
}

/* REQ: F3 */
static void test_contains(void **state)
{
	struct engine_value list[] = { FX_ELEMENT("alpha"), FX_ELEMENT("beta") };
	struct fx x;

	(void)state;
	for (int prose = 0; prose < 2; prose++) {
		fx_start(&x, prose ? ENGINE_PROSE : ENGINE_KEYWORD);
		fx_add(&x, &FX_STRING("alphabet"), 1);
		fx_add(&x, list, 2);
		fx_add(&x, &FX_STRING(""), 1);
		fx_publish(&x);
		assert_int_equal(fx_ask_string(&x, ENGINE_CONTAINS, "alpha"), 1 | 2);
		assert_int_equal(fx_ask_string(&x, ENGINE_CONTAINS, "alp"), prose ? 1 | 2 : 1);
		assert_int_equal(fx_ask_string(&x, ENGINE_CONTAINS, "beta"), 2);
		assert_int_equal(fx_ask_string(&x, ENGINE_CONTAINS, ""), prose ? 1 | 2 | 4 : 1 | 4);
		assert_int_equal(fx_ask_string(&x, ENGINE_CONTAINS, "Alpha"), 0);
		/* The whole string is told apart from one that holds it. */
		assert_int_equal(fx_ask_string(&x, ENGINE_EQ, "alpha"), 2);
		assert_int_equal(fx_ask_string(&x, ENGINE_NE, "beta"), 1 | 4);
		fx_stop(&x);
	}
}

/* REQ: FIL-03, F5: values are bytes, whatever they look like. */
static void test_hostile_strings(void **state)
{
	static const char *const odd[] = { "x' OR '1'='1", "%", "a\"]||1", "\xff\xfe", "" };
	struct fx x;

	(void)state;
	fx_start(&x, ENGINE_KEYWORD);
	for (size_t i = 0; i < 5; i++)
		fx_add(&x, &FX_STRING(odd[i]), 1);
	fx_publish(&x);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(fx_ask_string(&x, ENGINE_EQ, odd[i]), 1 << i);
	fx_stop(&x);
}

static void test_edges_of_integers(void **state)
{
	struct fx x;

	(void)state;
	fx_start(&x, ENGINE_INT);
	fx_add(&x, &FX_INT(INT64_MIN), 1);
	fx_add(&x, &FX_INT(-1), 1);
	fx_add(&x, &FX_INT(0), 1);
	fx_add(&x, &FX_INT(INT64_MAX), 1);
	for (int full = 0; full < 2; full++) {
		fx_publish(&x);
		assert_int_equal(fx_ask_int(&x, ENGINE_GT, INT64_MAX), 0);
		assert_int_equal(fx_ask_int(&x, ENGINE_GTE, INT64_MAX), 8);
		assert_int_equal(fx_ask_int(&x, ENGINE_LT, INT64_MIN), 0);
		assert_int_equal(fx_ask_int(&x, ENGINE_LTE, INT64_MIN), 1);
		assert_int_equal(fx_ask_int(&x, ENGINE_LT, 0), 1 | 2);
		assert_int_equal(fx_ask_int(&x, ENGINE_NE, -1) & 15, 1 | 4 | 8);
		/* Once more from the full block. */
		x.key += 70000;
		fx_add(&x, NULL, 0);
		filter_forget(x.f, x.key);
	}
	fx_stop(&x);
}

static void test_edges_of_reals(void **state)
{
	struct engine_value many[] = { FX_REAL(-0.0), FX_REAL(5e-324) };
	struct fx x;

	(void)state;
	fx_start(&x, ENGINE_FLOAT);
	fx_add(&x, &FX_REAL(-DBL_MAX), 1);
	fx_add(&x, &FX_REAL(0.0), 1);
	fx_add(&x, &FX_REAL(-0.0), 1);
	fx_add(&x, many, 2);
	fx_add(&x, &FX_INT(7), 1);
	fx_publish(&x);
	assert_int_equal(fx_ask(&x, ENGINE_EQ, (struct engine_scalar){ .r = -0.0 }), 2 | 4 | 8);
	assert_int_equal(fx_ask(&x, ENGINE_LT, (struct engine_scalar){ .r = 0.0 }), 1);
	assert_int_equal(fx_ask(&x, ENGINE_GT, (struct engine_scalar){ .r = -0.0 }), 8 | 16);
	assert_int_equal(fx_ask(&x, ENGINE_EQ, (struct engine_scalar){ .r = 7.0 }), 16);
	assert_int_equal(fx_ask(&x, ENGINE_LTE, (struct engine_scalar){ .r = -DBL_MAX }), 1);
	fx_stop(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_missing_fields),
		cmocka_unit_test(test_ordered_operators_on_missing_fields),
		cmocka_unit_test(test_dates),
		cmocka_unit_test(test_contains),
		cmocka_unit_test(test_hostile_strings),
		cmocka_unit_test(test_edges_of_integers),
		cmocka_unit_test(test_edges_of_reals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
