/* indexVersion as text (REQ: R9, D35): one spelling a version, nothing else taken. */
#include "../unit.h"

#include <string.h>

#include "pipeline/version.h"

static void test_round_trip(void **state)
{
	static const uint64_t commits[] = { 0, 1, 42, UINT64_MAX };

	(void)state;
	for (size_t i = 0; i < 4; i++) {
		char text[VERSION_MAX], corpus[VERSION_ID_LEN + 1];
		uint64_t commit = 7;

		version_format("0123456789abcdef", commits[i], text);
		assert_true(version_parse(bytes_of(text), corpus, &commit));
		assert_string_equal(corpus, "0123456789abcdef");
		assert_true(commit == commits[i]);
	}
}

static void test_malformed(void **state)
{
	static const char *const bad[] = { "", "x", "0123456789abcdef", "0123456789abcdef-",
		"0123456789abcdeF-1", "0123456789abcdef-1x", "0123456789abcdef--1",
		"0123456789abcdef-01", "0123456789abcdef-18446744073709551616", "0123456789abcde-1",
		"0123456789abcdef_1" };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		char corpus[VERSION_ID_LEN + 1];
		uint64_t commit;

		if (version_parse(bytes_of(bad[i]), corpus, &commit))
			fail_msg("'%s' was taken", bad[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_round_trip),
		cmocka_unit_test(test_malformed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
