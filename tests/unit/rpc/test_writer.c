/* The JSON writer (REQ: M9, M11, JSON-01, JSON-04): what leaves is always JSON. */
#include "fixture.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void test_shapes(void **state)
{
	struct strbuf sb = STRBUF_INIT;
	struct json_writer w;

	(void)state;
	json_writer_init(&w, &sb);
	jw_object(&w);
	jw_kv_int(&w, "a", -5);
	jw_kv_bool(&w, "b", true);
	jw_key(&w, "c");
	jw_array(&w);
	jw_null(&w);
	jw_string(&w, "x");
	jw_object(&w);
	jw_end(&w);
	jw_end(&w);
	jw_kv_bytes_opt(&w, "absent", BYTES_NONE);
	jw_kv_string(&w, "none", NULL);
	jw_kv_int(&w, "min", INT64_MIN);
	jw_end(&w);
	assert_true(json_writer_ok(&w));
	assert_string_equal(sb.data,
		"{\"a\":-5,\"b\":true,\"c\":[null,\"x\",{}],\"none\":null,"
		"\"min\":-9223372036854775808}");
	strbuf_release(&sb);
}

static void test_strings_are_escaped_and_valid(void **state)
{
	struct strbuf sb = STRBUF_INIT;

	(void)state;
	json_quote(&sb, "a\"\\\b\f\n\r\t\0\x1f\x7f\xC3\xA9\xFF\xE2\x82", 16);
	assert_string_equal(sb.data,
		"\"a\\\"\\\\\\b\\f\\n\\r\\t\\u0000\\u001f\x7f\xC3\xA9\xEF\xBF\xBD\xEF\xBF\xBD"
		"\xEF\xBF\xBD\"");
	strbuf_release(&sb);
}

static void one_real(double v, const char *want)
{
	struct strbuf sb = STRBUF_INIT;
	struct json_writer w;

	json_writer_init(&w, &sb);
	jw_real(&w, v);
	assert_string_equal(sb.data, want);
	strbuf_release(&sb);
}

static void test_reals_are_short_and_exact(void **state)
{
	unsigned short seed[3] = { 1, 2, 3 };

	(void)state;
	one_real(0.1, "0.1");
	one_real(2, "2.0");
	one_real(-0.0, "-0.0");
	one_real(1e300, "1e+300");
	one_real(1.0 / 3, "0.3333333333333333");
	for (int i = 0; i < 20000; i++) {
		double v = (erand48(seed) - 0.5) * pow(10, (int)(nrand48(seed) % 600) - 300);
		struct strbuf sb = STRBUF_INIT;
		struct json_writer w;

		json_writer_init(&w, &sb);
		jw_real(&w, v);
		assert_true(strtod(sb.data, NULL) == v);
		strbuf_release(&sb);
	}
}

static void test_misuse_fails(void **state)
{
	static const double bad[] = { NAN, INFINITY, -INFINITY };
	struct strbuf sb = STRBUF_INIT;
	struct json_writer w;

	(void)state;
	for (int i = 0; i < 3; i++) {
		json_writer_init(&w, &sb);
		jw_real(&w, bad[i]);
		assert_false(json_writer_ok(&w));
	}
	json_writer_init(&w, &sb);
	jw_object(&w);
	assert_false(json_writer_ok(&w)); /* still open */
	jw_end(&w);
	jw_end(&w);
	assert_false(json_writer_ok(&w)); /* closed twice */
	json_writer_init(&w, &sb);
	jw_array(&w);
	jw_key(&w, "k");
	assert_false(json_writer_ok(&w)); /* a key in an array */
	json_writer_init(&w, &sb);
	for (int i = 0; i <= JSON_WRITER_MAX_DEPTH; i++)
		jw_array(&w);
	assert_false(json_writer_ok(&w));
	strbuf_release(&sb);
}

static void test_json_values_round_trip(void **state)
{
	static const char text[] =
		"{\"a\":[1,2.5,\"\\u0000x\",true,false,null,{}],\"b\":{\"c\":-9007199254740993}}";
	json_t *v = json_loadb(text, sizeof(text) - 1, JSON_ALLOW_NUL, NULL);
	struct strbuf sb = STRBUF_INIT;
	struct json_writer w;

	(void)state;
	json_writer_init(&w, &sb);
	jw_json(&w, v);
	assert_true(json_writer_ok(&w));
	assert_string_equal(sb.data, text);
	json_decref(v);
	strbuf_release(&sb);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_strings_are_escaped_and_valid),
		cmocka_unit_test(test_reals_are_short_and_exact),
		cmocka_unit_test(test_misuse_fails),
		cmocka_unit_test(test_json_values_round_trip),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
