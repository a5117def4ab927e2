/*
 * test_path.c: request targets. REQ: T1, D10, D11, HTTP-06, HTTP-07.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

#include "http/path.h"

struct decode_case {
	const char *target;
	const char *path; /* NULL: refused */
};

static const struct decode_case decodes[] = {
	{ "/", "/" },
	{ "/rcp/ping", "/rcp/ping" },
	{ "/rcp/index%2Fadd", "/rcp/index/add" },
	{ "/rcp/index%2fadd?x=%00&y", "/rcp/index/add" },
	{ "/rcp/ping?", "/rcp/ping" },
	{ "/%72cp/ping", "/rcp/ping" },
	{ "/rcp/%2570ing", "/rcp/%70ing" }, /* once, not twice */
	{ "/rcp/%25", "/rcp/%" },
	{ "/rcp/a%20b", "/rcp/a b" },
	{ "/rcp/%E0%A4%B9", "/rcp/\xE0\xA4\xB9" },
	{ "/rcp/../healthz", "/rcp/../healthz" },
	{ "", NULL },
	{ "*", NULL },
	{ "rcp/ping", NULL },
	{ "http://127.0.0.1/rcp/ping", NULL },
	{ "127.0.0.1:80", NULL },
	{ "?x", NULL },
	{ "/rcp/ping%00evil", NULL },
	{ "/rcp/ping%0d%0aX:1", NULL },
	{ "/rcp/ping%7F", NULL },
	{ "/rcp/%C2%85", NULL }, /* a control character beyond ASCII */
	{ "/rcp/%E0%A4%A", NULL },
	{ "/rcp/%E0%A4", NULL },
	{ "/rcp/%C0%AF", NULL },
	{ "/rcp/%ED%A0%80", NULL },
	{ "/rcp/%", NULL },
	{ "/rcp/%4", NULL },
	{ "/rcp/%zz", NULL },
	{ "/rcp/%?a", NULL },
	{ "/rcp/\xC3\xA9", NULL },
	{ "/rcp/a b", NULL },
	{ "/rcp/a\tb", NULL },
	{ "/rcp/#x", NULL },
	{ "/rcp/ping?a b", NULL },
	{ "/rcp/ping?a\x01", NULL },
};

static void targets_are_decoded_once_or_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(decodes) / sizeof(decodes[0]); i++) {
		char buf[64];
		const char *why;

		snprintf(buf, sizeof(buf), "%s", decodes[i].target);
		why = path_decode(buf);
		if ((why == NULL) != (decodes[i].path != NULL))
			fail_msg("'%s': %s", decodes[i].target, why ? why : "was taken");
		if (!why)
			assert_string_equal(buf, decodes[i].path);
	}
}

struct split_case {
	const char *path, *base;
	bool under;
	const char *method; /* NULL: none named */
};

static const struct split_case splits[] = {
	{ "/rcp", "/rcp", true, NULL },
	{ "/rcp/", "/rcp", true, NULL },
	{ "/rcp/ping", "/rcp", true, "ping" },
	{ "/rcp/ping/", "/rcp", true, "ping" },
	{ "/rcp/ping//", "/rcp", true, "ping/" },
	{ "/rcp//ping", "/rcp", true, "/ping" },
	{ "/rcp//", "/rcp", true, "" },
	{ "/rcp/index/add", "/rcp", true, "index/add" },
	{ "/rcpx", "/rcp", false, NULL },
	{ "/rc", "/rcp", false, NULL },
	{ "/", "/rcp", false, NULL },
	{ "/RCP/ping", "/rcp", false, NULL },
	{ "/healthz", "/rcp", false, NULL },
	{ "/a/b/ping", "/a/b", true, "ping" },
	{ "/ping", "", true, "ping" },
	{ "/", "", true, NULL },
};

static void the_method_is_what_follows_the_base(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(splits) / sizeof(splits[0]); i++) {
		const struct split_case *c = &splits[i];
		const char *method = "untouched";
		char buf[64];

		snprintf(buf, sizeof(buf), "%s", c->path);
		assert_int_equal(path_split(buf, c->base, strlen(c->base), &method), c->under);
		if (!c->under)
			assert_string_equal(method, "untouched");
		else if (!c->method)
			assert_null(method);
		else
			assert_string_equal(method, c->method);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(targets_are_decoded_once_or_refused),
		cmocka_unit_test(the_method_is_what_follows_the_base),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
