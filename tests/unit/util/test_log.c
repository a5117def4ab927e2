/* Log lines: one JSON object a line whatever the values hold; levels; text form. */
#include "../unit.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/log.h"

static char captured[16384];

/* Runs emit with stderr going to a pipe; what it wrote is in captured. */
static void capture(void (*emit)(void))
{
	int fds[2], saved = dup(STDERR_FILENO);
	size_t at = 0;
	ssize_t n;

	assert_int_equal(pipe(fds), 0);
	dup2(fds[1], STDERR_FILENO);
	close(fds[1]);
	emit();
	dup2(saved, STDERR_FILENO);
	close(saved);
	while (at < sizeof(captured) - 1 &&
		(n = read(fds[0], captured + at, sizeof(captured) - 1 - at)) > 0)
		at += (size_t)n;
	captured[at] = '\0';
	close(fds[0]);
}

static void emit_hostile(void)
{
	log_setup(LOG_FORMAT_JSON, LOG_INFO);
	log_event(LOG_INFO, "line one\nline \"two\"", LOG_S("k\"ey", "v\r\n\x1b[31m\xff\\"),
		LOG_U("n", 7), LOG_I("i", -3), LOG_F("f", 0.5), LOG_B("b", true),
		LOG_S("none", NULL));
}

static void test_json_is_escaped(void **state)
{
	(void)state;
	capture(emit_hostile);
	assert_non_null(strstr(captured, "\"message\":\"line one\\u000aline \\\"two\\\"\""));
	assert_non_null(strstr(captured, "\"k\\\"ey\":\"v\\u000d\\u000a\\u001b[31m\\ufffd\\\\\""));
	assert_non_null(strstr(captured, "\"n\":7,\"i\":-3,\"f\":0.5,\"b\":true,\"none\":null}\n"));
	assert_ptr_equal(strchr(captured, '\n'), captured + strlen(captured) - 1);
}

static void emit_long(void)
{
	static char big[9000];

	memset(big, 'x', sizeof(big) - 1);
	log_setup(LOG_FORMAT_JSON, LOG_INFO);
	log_event(LOG_INFO, "short", LOG_S("a", "kept"), LOG_S("big", big));
}

static void test_what_does_not_fit_is_left_out(void **state)
{
	(void)state;
	capture(emit_long);
	assert_non_null(strstr(captured, "\"a\":\"kept\"}\n"));
	assert_null(strstr(captured, "xxx"));
}

static void emit_levels(void)
{
	log_setup(LOG_FORMAT_TEXT, LOG_WARNING);
	log_event(LOG_INFO, "not this", LOG_U("n", 1));
	log_event(LOG_ERROR, "this", LOG_S("why", "two words"));
	log_set_level(LOG_OFF);
	log_event(LOG_ERROR, "nor this", LOG_U("n", 1));
}

static void test_levels_and_text(void **state)
{
	(void)state;
	capture(emit_levels);
	assert_null(strstr(captured, "not this"));
	assert_null(strstr(captured, "nor this"));
	assert_non_null(strstr(captured, " error   this why=\"two words\"\n"));
	assert_null(strchr(captured, '\033'));
	assert_int_equal(log_level_parse("notice"), LOG_NOTICE);
	assert_int_equal(log_level_parse("loud"), -1);
}

static void emit_journal(void)
{
	log_setup(LOG_FORMAT_JOURNAL, LOG_INFO);
	log_event(LOG_WARNING, "careful", LOG_U("n", 1));
}

static void test_journal_prefix(void **state)
{
	(void)state;
	capture(emit_journal);
	assert_string_equal(captured, "<4>careful n=1\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json_is_escaped),
		cmocka_unit_test(test_what_does_not_fit_is_left_out),
		cmocka_unit_test(test_levels_and_text),
		cmocka_unit_test(test_journal_prefix),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
