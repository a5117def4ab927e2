/* UTF-8 (REQ: M11): every scalar value round-trips, everything else is refused. */
#include "../unit.h"

#include <string.h>

#include "util/utf8.h"

static void test_every_scalar_round_trips(void **state)
{
	(void)state;
	for (uint32_t cp = 0; cp <= 0x10FFFF; cp++) {
		char buf[4];
		size_t n, used;

		if (cp >= 0xD800 && cp <= 0xDFFF)
			continue;
		n = utf8_encode(cp, buf);
		if (!utf8_valid(buf, n) || utf8_decode(buf, n, &used) != cp || used != n ||
			utf8_count(buf, n) != 1)
			fail_msg("U+%04X does not round-trip", (unsigned)cp);
	}
}

static void test_invalid_sequences(void **state)
{
	static const struct {
		const char *bytes;
		size_t len, valid;
	} cases[] = {
		{ "\xC0\x80", 2, 0 },         /* overlong NUL */
		{ "\xE0\x80\xAF", 3, 0 },     /* overlong slash */
		{ "\xED\xA0\x80", 3, 0 },     /* surrogate */
		{ "\xF4\x90\x80\x80", 4, 0 }, /* above U+10FFFF */
		{ "\xF8\x88\x80\x80\x80", 5, 0 },
		{ "a\xFF", 2, 1 },
		{ "a\xE2\x82", 3, 1 }, /* cut */
		{ "\x80", 1, 0 },
		{ "ok\xC3\xA9", 4, 4 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_int_equal(utf8_valid_prefix(cases[i].bytes, cases[i].len), cases[i].valid);
}

static void test_decode_makes_progress_on_anything(void **state)
{
	unsigned char bytes[3];

	(void)state;
	for (unsigned v = 0; v < 1U << 24; v += 97) {
		size_t used = 0;

		bytes[0] = (unsigned char)v;
		bytes[1] = (unsigned char)(v >> 8);
		bytes[2] = (unsigned char)(v >> 16);
		utf8_decode((const char *)bytes, 3, &used);
		assert_in_range(used, 1, 3);
	}
}

static void test_floor_never_cuts(void **state)
{
	const char *text = "a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80z";
	size_t len = strlen(text);

	(void)state;
	for (size_t n = 0; n <= len; n++) {
		size_t m = utf8_floor(text, len, n);

		assert_true(m <= n && n - m < 4);
		assert_int_equal(utf8_valid_prefix(text, m), m);
	}
	assert_int_equal(utf8_floor(text, len, len + 5), len);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_scalar_round_trips),
		cmocka_unit_test(test_invalid_sequences),
		cmocka_unit_test(test_decode_makes_progress_on_anything),
		cmocka_unit_test(test_floor_never_cuts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
