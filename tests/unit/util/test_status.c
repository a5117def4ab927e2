/* Errors: names, formatting, cutting on a whole character. */
#include "../unit.h"

#include <string.h>

#include "util/status.h"
#include "util/utf8.h"

static void test_names_are_distinct(void **state)
{
	(void)state;
	for (int a = ST_OK; a >= ST_INTERNAL; a--)
		for (int b = a - 1; b >= ST_INTERNAL; b--)
			assert_string_not_equal(status_name(a), status_name(b));
}

static void test_set_and_detail(void **state)
{
	struct error e;

	(void)state;
	assert_int_equal(error_set(&e, ST_IO, "cannot open '%s'", "x"), ST_IO);
	assert_string_equal(e.message, "cannot open 'x'");
	assert_string_equal(e.field, "");
	error_detail(&e, "errno %d", 5);
	assert_string_equal(e.detail, "errno 5");
	assert_int_equal(error_field(&e, ST_INVALID, "k", "k is %d", 0), ST_INVALID);
	assert_string_equal(e.field, "k");
	assert_string_equal(e.detail, "");
	assert_int_equal(error_set(NULL, ST_NOMEM, "x"), ST_NOMEM);
}

static void test_long_message_is_cut_between_characters(void **state)
{
	char text[600];
	struct error e;

	(void)state;
	for (size_t i = 0; i + 3 < sizeof(text); i += 3)
		memcpy(text + i, "\xE2\x82\xAC", 3);
	text[597] = '\0';
	error_set(&e, ST_IO, "%s", text);
	assert_true(strlen(e.message) >= sizeof(e.message) - 4);
	assert_true(utf8_valid(e.message, strlen(e.message)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_are_distinct),
		cmocka_unit_test(test_set_and_detail),
		cmocka_unit_test(test_long_message_is_cut_between_characters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
