/* Fault points: parsed once, fire as often as told, a stall ends early. */
#include "../unit.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

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
static void test_from_the_nth_hit(void **state)
{
	(void)state;
	setenv("RCPD_FAULTS", "a=fail:3:2,b=fail:0:1,c=fail:2", 1);
	assert_true(fault_setup());
	for (int hit = 1; hit <= 8; hit++) {
		assert_int_equal(fault_hit("a", NULL, NULL), hit == 3 || hit == 4);
		assert_int_equal(fault_hit("b", NULL, NULL), hit == 1);
		assert_int_equal(fault_hit("c", NULL, NULL), hit >= 2);
	}
	assert_true(fault_add("d=fail,a=fail::1"));
	assert_true(fault_hit("d", NULL, NULL));
	assert_true(fault_hit("a", NULL, NULL));
	assert_false(fault_hit("a", NULL, NULL));
	assert_true(fault_hit("c", NULL, NULL));
	unsetenv("RCPD_FAULTS");
	assert_true(fault_setup());
	assert_false(fault_hit("c", NULL, NULL));
	assert_false(fault_hit("d", NULL, NULL));
}

/* The number of the hit that killed a child; 0: none of ten. */
static int killed_at(const char *faults)
{
	int ends[2], status, hit = 0, last = 0;
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		setenv("RCPD_FAULTS", faults, 1);
		if (!fault_setup())
			_exit(1);
		for (hit = 1; hit <= 10; hit++)
			if (write(ends[1], &hit, sizeof(hit)) != sizeof(hit) ||
				fault_hit("a", NULL, NULL))
				_exit(1);
		_exit(0);
	}
	close(ends[1]);
	while (read(ends[0], &hit, sizeof(hit)) == sizeof(hit))
		last = hit;
	close(ends[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	if (WIFEXITED(status)) {
		assert_int_equal(WEXITSTATUS(status), 0);
		return 0;
	}
	assert_int_equal(WTERMSIG(status), SIGKILL);
	return last;
}

static void test_kill(void **state)
{
	(void)state;
	assert_int_equal(killed_at("a=kill"), 1);
	assert_int_equal(killed_at("a=kill:1"), 1);
	assert_int_equal(killed_at("a=kill:7"), 7);
	assert_int_equal(killed_at("a=kill:11"), 0);
	assert_int_equal(killed_at("b=kill"), 0);
}

static void test_bad_lists_are_refused(void **state)
{
	static const char *const bad[] = { "a", "=fail", "a=explode", "a=stall", "a=stall:x",
		"a=fail:1:x", "a=stall:-5", "a=kill:x", "a=kill:-1" };

	char many[2000] = "";

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		setenv("RCPD_FAULTS", bad[i], 1);
		if (fault_setup())
			fail_msg("'%s' was taken", bad[i]);
	}
	memset(many, 'a', sizeof(many) - 1);
	assert_false(fault_add(many));
	unsetenv("RCPD_FAULTS");
	assert_true(fault_setup());
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_points),
#ifdef RCPD_FAULT_POINTS
		cmocka_unit_test(test_from_the_nth_hit),
		cmocka_unit_test(test_kill),
		cmocka_unit_test(test_bad_lists_are_refused),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
