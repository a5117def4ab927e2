/* Dates (REQ: D28, FIL-02): equal instants are equal, impossible days are refused. */
#include "../unit.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "util/date.h"

static int64_t ms_of(const char *s)
{
	int64_t ms = INT64_MIN;

	return date_parse(bytes_of(s), &ms) ? ms : INT64_MIN;
}

static void test_instants(void **state)
{
	(void)state;
	assert_int_equal(ms_of("1970-01-01T00:00:00Z"), 0);
	assert_int_equal(ms_of("2024-01-01T00:30:00+02:00"), ms_of("2023-12-31T22:30:00Z"));
	assert_int_equal(ms_of("2024-01-01"), 1704067200000);
	assert_int_equal(ms_of("2024-01-01t00:00:00.5z"), 1704067200500);
	assert_int_equal(ms_of("2024-01-01T00:00:00.123456789Z"), 1704067200123);
	assert_int_equal(ms_of("1969-12-31T23:59:59.999Z"), -1);
	assert_int_equal(ms_of("0000-03-01"), -62162035200000 + 0);
	assert_int_equal(ms_of("2016-12-31T23:59:60Z"), 1483228799999);
	assert_true(ms_of("2024-02-29") != INT64_MIN);
}

static void test_refused(void **state)
{
	static const char *const bad[] = { "", "yesterday", "2023-02-30", "2023-02-29",
		"1900-02-29", "2024-13-01", "2024-00-01", "2024-01-00", "2024-1-1", "2024-01-01T",
		"2024-01-01T00:00:00", "2024-01-01T24:00:00Z", "2024-01-01T00:60:00Z",
		"2024-01-01T00:00:61Z", "2024-01-01T00:00:00.Z", "2024-01-01T00:00:00+2:00",
		"2024-01-01T00:00:00+24:00", "2024-01-01 00:00:00Z", "2024-01-01T00:00:00ZZ",
		"+024-01-01", "2024/01/01" };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (ms_of(bad[i]) != INT64_MIN)
			fail_msg("'%s' was taken for a date", bad[i]);
}

/* The calendar against the C library's, every 9th day of four centuries. */
static void test_calendar_agrees_with_timegm(void **state)
{
	(void)state;
	for (int64_t day = -100000; day < 200000; day += 9) {
		time_t t = (time_t)(day * 86400);
		struct tm tm;
		char text[24];

		gmtime_r(&t, &tm);
		strftime(text, sizeof(text), "%Y-%m-%d", &tm);
		if (strlen(text) == 10)
			assert_int_equal(ms_of(text), day * 86400000);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_instants),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_calendar_agrees_with_timegm),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
