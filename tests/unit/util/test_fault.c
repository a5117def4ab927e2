/* Fault points: parsed once, fire as often as told, a stall ends early. */
#include "../unit.h"

#include <stdlib.h>

#include "util/clock.h"
#include "util/fault.h"
#include "util/log.h"

static bool always(void *arg)
{
	(void)arg;
	return true;
}

static void test_points(void **state)
{
	uint64_t began;

	(void)state;
#ifndef RCPD_FAULT_POINTS
	assert_true(fault_setup());
	assert_false(fault_hit("a", NULL, NULL));
#else
	log_setup(LOG_FORMAT_TEXT, LOG_OFF);
	setenv("RCPD_FAULTS", "a=fail::2,b=stall:60,c=fail", 1);
	assert_true(fault_setup());
	assert_true(fault_hit("a", NULL, NULL));
	assert_true(fault_hit("a", NULL, NULL));
	assert_false(fault_hit("a", NULL, NULL));
	assert_true(fault_hit("c", NULL, NULL));
	assert_false(fault_hit("unknown", NULL, NULL));
	began = clock_mono_ms();
	assert_false(fault_hit("b", NULL, NULL));
	assert_true(clock_mono_ms() - began >= 60);
	began = clock_mono_ms();
	fault_hit("b", always, NULL);
	assert_true(clock_mono_ms() - began < 60);
#endif
	(void)began;
}

#ifdef RCPD_FAULT_POINTS
static void test_bad_lists_are_refused(void **state)
{
	static const char *const bad[] = { "a", "=fail", "a=explode", "a=stall", "a=stall:x",
		"a=fail:1:x", "a=stall:-5" };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		setenv("RCPD_FAULTS", bad[i], 1);
		if (fault_setup())
			fail_msg("'%s' was taken", bad[i]);
	}
	unsetenv("RCPD_FAULTS");
	assert_true(fault_setup());
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_points),
#ifdef RCPD_FAULT_POINTS
		cmocka_unit_test(test_bad_lists_are_refused),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
