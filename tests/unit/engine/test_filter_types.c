/*
 * test_filter_types.c: field types: names, which values and operators suit them
 * (REQ: F2, F3, D28, D29, D37).
 */
#include "filter_model.h"

#include <float.h>
#include <math.h>

static void test_names(void **state)
{
	static const char *const names[] = { "keyword", "text", "int", "float", "bool", "date" };
	enum engine_type type = ENGINE_BOOL;

	(void)state;
	for (unsigned i = 0; i < ENGINE_TYPE_COUNT; i++) {
		assert_string_equal(engine_type_name((enum engine_type)i), names[i]);
		assert_true(engine_type_parse(bytes_of(names[i]), &type));
		assert_int_equal(type, i);
	}
	type = ENGINE_BOOL;
	assert_false(engine_type_parse(bytes_of("Keyword"), &type));
	assert_false(engine_type_parse(bytes_of("geo"), &type));
	assert_false(engine_type_parse(bytes_of(""), &type));
	assert_false(engine_type_parse(BYTES_NONE, &type));
	assert_int_equal(type, ENGINE_BOOL);
}

/* REQ: FIL-04, F3 */
static void test_operators(void **state)
{
	(void)state;
	for (unsigned t = 0; t < ENGINE_TYPE_COUNT; t++) {
		enum engine_type type = (enum engine_type)t;
		bool ordered = type == ENGINE_INT || type == ENGINE_FLOAT || type == ENGINE_DATE;
		bool string = type == ENGINE_KEYWORD || type == ENGINE_PROSE;

		assert_true(engine_op_suits(ENGINE_EQ, type));
		assert_true(engine_op_suits(ENGINE_NE, type));
		assert_true(engine_op_suits(ENGINE_IN, type));
		assert_true(engine_op_suits(ENGINE_NIN, type));
		assert_true(engine_op_suits(ENGINE_EXISTS, type));
		assert_int_equal(engine_op_suits(ENGINE_GT, type), ordered);
		assert_int_equal(engine_op_suits(ENGINE_GTE, type), ordered);
		assert_int_equal(engine_op_suits(ENGINE_LT, type), ordered);
		assert_int_equal(engine_op_suits(ENGINE_LTE, type), ordered);
		assert_int_equal(engine_op_suits(ENGINE_CONTAINS, type), string);
	}
}

static bool real_suits(enum engine_type type, double r)
{
	struct engine_value v = { .kind = ENGINE_V_REAL, .r = r };

	return filter_suits(type, &v);
}

static bool string_suits(enum engine_type type, const char *s)
{
	struct engine_value v = { .kind = ENGINE_V_STRING, .s = bytes_of(s) };

	return filter_suits(type, &v);
}

static void test_kinds(void **state)
{
	/* String, int, real (5.0), bool. */
	static const bool suits[ENGINE_TYPE_COUNT][4] = {
		[ENGINE_KEYWORD] = { true, false, false, false },
		[ENGINE_PROSE] = { true, false, false, false },
		[ENGINE_INT] = { false, true, true, false },
		[ENGINE_FLOAT] = { false, true, true, false },
		[ENGINE_BOOL] = { false, false, false, true },
		[ENGINE_DATE] = { true, true, false, false },
	};

	(void)state;
	for (unsigned t = 0; t < ENGINE_TYPE_COUNT; t++) {
		for (unsigned k = 0; k < 4; k++) {
			struct engine_value v = { .kind = (enum engine_kind)k,
				.i = 1,
				.r = 5.0,
				.s = bytes_of("2024-02-29") };

			assert_int_equal(filter_suits((enum engine_type)t, &v), suits[t][k]);
		}
	}
}

/* REQ: D29 */
static void test_numbers(void **state)
{
	(void)state;
	assert_true(real_suits(ENGINE_INT, 5.0));
	assert_true(real_suits(ENGINE_INT, -0.0));
	assert_true(real_suits(ENGINE_INT, 9007199254740991.0));
	assert_true(real_suits(ENGINE_INT, -9007199254740991.0));
	assert_false(real_suits(ENGINE_INT, 9007199254740992.0));
	assert_false(real_suits(ENGINE_INT, 1e300));
	assert_false(real_suits(ENGINE_INT, 5.5));
	assert_false(real_suits(ENGINE_INT, 5e-324));
	assert_false(real_suits(ENGINE_INT, (double)NAN));
	assert_false(real_suits(ENGINE_FLOAT, (double)NAN));
	assert_false(real_suits(ENGINE_FLOAT, (double)INFINITY));
	assert_true(real_suits(ENGINE_FLOAT, DBL_MAX));
}

/* REQ: FIL-02, D28 */
static void test_strings(void **state)
{
	static char longest[ENGINE_MAX_KEYWORD + 2];

	(void)state;
	assert_true(string_suits(ENGINE_DATE, "2024-01-01T00:30:00+02:00"));
	assert_false(string_suits(ENGINE_DATE, "2023-02-30"));
	assert_false(string_suits(ENGINE_DATE, "yesterday"));
	assert_false(string_suits(ENGINE_DATE, ""));
	memset(longest, 'x', ENGINE_MAX_KEYWORD);
	assert_true(string_suits(ENGINE_KEYWORD, longest));
	assert_true(string_suits(ENGINE_PROSE, longest));
	longest[ENGINE_MAX_KEYWORD] = 'x';
	assert_false(string_suits(ENGINE_KEYWORD, longest));
	assert_false(string_suits(ENGINE_PROSE, longest));
	assert_true(string_suits(ENGINE_KEYWORD, ""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_operators),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_strings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
