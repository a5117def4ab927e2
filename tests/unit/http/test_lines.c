/*
 * test_lines.c: header lines as libmicrohttpd leaves them in its buffer, well read
 * and misread. A '|' in the texts stands for the NUL it writes. REQ: HTTP-05, T11
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "http/lines.h"

#define FIRST "HTTP/1.1"

/* A buffer, and where libmicrohttpd would say that the headers are. -1: none. */
struct seen {
	const char *buffer;
	struct {
		int name, value;
	} headers[3];
	int shorter; /* the end it reports lies that far before the buffer's */
};

static bool is_sound(const struct seen *s)
{
	char buf[128];
	size_t len = strlen(s->buffer);
	struct lines l;

	assert_true(len < sizeof(buf));
	for (size_t i = 0; i <= len; i++)
		buf[i] = s->buffer[i] == '|' ? '\0' : s->buffer[i];
	lines_init(&l, buf + sizeof(FIRST) - 1);
	for (size_t i = 0; i < 3 && s->headers[i].name > 0; i++) {
		const char *value = buf + s->headers[i].value;

		assert_ptr_equal(lines_add(&l, buf + s->headers[i].name, value),
			value + strlen(value));
	}
	return lines_finish(&l, buf + len - s->shorter);
}

static void what_was_read_as_sent_passes(void **state)
{
	static const struct seen good[] = {
		{ FIRST "||||", { { -1, -1 } }, 0 },
		{ FIRST "||A| b||||", { { 10, 13 }, { -1, -1 } }, 0 },
		{ FIRST "||A|b||||", { { 10, 12 }, { -1, -1 } }, 0 },
		{ FIRST "||A|||||", { { 10, 12 }, { -1, -1 } }, 0 },
		{ FIRST "||A| \t||||", { { 10, 14 }, { -1, -1 } }, 0 },
		{ FIRST "||A| b ||C| d||E| ||||", { { 10, 13 }, { 17, 20 }, { 23, 26 } }, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		if (!is_sound(&good[i]))
			fail_msg("%zu: '%s'", i, good[i].buffer);
}

static void what_was_misread_is_found(void **state)
{
	static const struct seen bad[] = {
		/* A fold: the name stands elsewhere, or the text between is not told. */
		{ FIRST "||A| b|| x||||Ax|", { { 18, 13 }, { -1, -1 } }, 3 },
		{ FIRST "||A| b|| x||||", { { 10, 13 }, { -1, -1 } }, 0 },
		{ FIRST "||A| b|| x||C| d||||", { { 10, 13 }, { 19, 22 }, { -1, -1 } }, 0 },
		/* The name grown over its own blanks. */
		{ FIRST "||Ax| b||  x||||", { { 10, 14 }, { -1, -1 } }, 0 },
		/* A NUL in the value. */
		{ FIRST "||A| b|9||||", { { 10, 13 }, { -1, -1 } }, 0 },
		{ FIRST "||A| b|||||", { { 10, 13 }, { -1, -1 } }, 0 },
		/* A line without a name ended the section. */
		{ FIRST "||A| b||| x||", { { 10, 13 }, { -1, -1 } }, 0 },
		{ FIRST "||A| b|||||", { { 10, 13 }, { -1, -1 } }, 0 },
		{ FIRST "||| x||", { { -1, -1 } }, 0 },
		/* Lines that end with LF alone. */
		{ FIRST "||A| b|||", { { 10, 13 }, { -1, -1 } }, 0 },
		{ FIRST "|A| b||||", { { 9, 12 }, { -1, -1 } }, 0 },
		{ FIRST "||A| b|C| d||||", { { 10, 13 }, { 15, 18 }, { -1, -1 } }, 0 },
		{ FIRST "|||", { { -1, -1 } }, 0 },
		/* A CR alone in a value. */
		{ FIRST "||A| b\rC: d||||", { { 10, 13 }, { -1, -1 } }, 0 },
		/* A line of blanks, a header that was left out, another end. */
		{ FIRST "|| ||A| b||||", { { 13, 16 }, { -1, -1 } }, 0 },
		{ FIRST "||A| b||C| d||||", { { 10, 13 }, { -1, -1 } }, 0 },
		{ FIRST "||A| b||||", { { 10, 13 }, { -1, -1 } }, 1 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (is_sound(&bad[i]))
			fail_msg("%zu: '%s'", i, bad[i].buffer);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_was_read_as_sent_passes),
		cmocka_unit_test(what_was_misread_is_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
