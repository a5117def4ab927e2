/*
 * test_accept.c: which clients get an event stream. REQ: T4, D16, SSE-04.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "http/accept.h"

struct accept_case {
	const char *lines[3];
	bool sse;
};

static const struct accept_case cases[] = {
	{ { NULL }, false },
	{ { "" }, false },
	{ { "*/*" }, false },
	{ { "text/*" }, false },
	{ { "application/json" }, false },
	{ { "text/event-stream" }, true },
	{ { "TEXT/EVENT-STREAM" }, true },
	{ { "text/event-stream, application/json" }, true },
	{ { "application/json, text/event-stream" }, true },
	{ { "application/json,text/event-stream" }, true },
	{ { "  text/event-stream  ;  q=0.5 ,application/json;q=0.5" }, true },
	{ { "text/event-stream;q=0" }, false },
	{ { "text/event-stream;q=0.0" }, false },
	{ { "text/event-stream;q=0.000, */*" }, false },
	{ { "text/event-stream;q=0.001" }, true },
	{ { "text/event-stream;q=0.4, application/json;q=0.5" }, false },
	{ { "application/json;q=0.9, text/event-stream" }, true },
	{ { "application/json, text/event-stream;q=0.9" }, false },
	{ { "application/json;q=0, text/event-stream;q=0.1" }, true },
	{ { "text/event-stream;Q=0" }, false },
	{ { "text/event-stream;charset=utf-8;q=0" }, false },
	{ { "text/event-stream;charset=\"a,b;q=0\"" }, true },
	{ { "text/event-stream;charset=\"\\\",\";q=0" }, false },
	/* A weight that is none: the range counts as not there. */
	{ { "text/event-stream;q=2" }, false },
	{ { "text/event-stream;q=1.5" }, false },
	{ { "text/event-stream;q=high" }, false },
	{ { "text/event-stream;q=0.1234" }, false },
	{ { "text/event-stream;q=" }, false },
	{ { "text/event-streams" }, false },
	{ { "xtext/event-stream" }, false },
	{ { ",,,text/event-stream,,," }, true },
	{ { "application/json", "text/event-stream" }, true },
	{ { "text/event-stream;q=0.2", "application/json" }, false },
	{ { "text/html", "image/png", "text/event-stream;q=1.000" }, true },
	{ { "text/event-stream;" }, true },
	{ { ";q=0" }, false },
	{ { "\"" }, false },
};

static void accept_lists_decide_the_form(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct accept a = ACCEPT_INIT;

		for (size_t j = 0; j < 3 && cases[i].lines[j]; j++)
			accept_add(&a, cases[i].lines[j]);
		if (accept_wants_sse(&a) != cases[i].sse)
			fail_msg("case %zu: %s", i,
				cases[i].lines[0] ? cases[i].lines[0] : "(none)");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(accept_lists_decide_the_form),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
