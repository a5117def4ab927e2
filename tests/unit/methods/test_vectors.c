/* Floats as numbers and as base64 (REQ: X1): what is written reads back as the same. */
#include "../unit.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "methods/vectors.h"

static char *floats_text(const float *v, size_t n, struct strbuf *out, bool *ok)
{
	struct json_writer w;

	strbuf_reset(out);
	json_writer_init(&w, out);
	methods_write_floats(&w, v, n);
	*ok = json_writer_ok(&w);
	return out->data;
}

static void assert_same(float f, struct strbuf *out)
{
	bool ok;
	char *text = floats_text(&f, 1, out, &ok), *end;
	float back = strtof(text + 1, &end);
	json_t *v = json_loads(text, 0, NULL);

	assert_true(ok && *end == ']');
	if (memcmp(&back, &f, sizeof(f)) != 0 && (back < 0 || back > 0 || f < 0 || f > 0))
		fail_msg("%.9g became %s", (double)f, text);
	if (!json_is_real(json_array_get(v, 0)) || strlen(text) > 20)
		fail_msg("%s is no short number with a fraction", text);
	json_decref(v);
}

static void test_numbers_read_back(void **state)
{
	static const float edges[] = { 0, -0.0F, 1, -1, 0.1F, 0.01F, 0.001F, 1e-4F, 1e-5F, 1e-6F,
		0.5F, 0.99999994F, 1.0000001F, 0.09999999F, 0.009999999F, 9.9999e-6F, 2, 1e10F,
		123456.789F, FLT_MAX, -FLT_MAX, FLT_MIN, FLT_TRUE_MIN, FLT_EPSILON, 16777216 };
	struct strbuf out = STRBUF_INIT;
	uint32_t bits = 1;

	(void)state;
	for (size_t i = 0; i < sizeof(edges) / sizeof(edges[0]); i++) {
		assert_same(edges[i], &out);
		assert_same(nextafterf(edges[i], 0), &out);
		assert_same(nextafterf(edges[i], edges[i] < 0 ? -FLT_MAX : FLT_MAX), &out);
	}
	for (int i = 0; i < 200000; i++) { /* any bits; then such as unit vectors have */
		float f;

		bits = bits * 1664525 + 1013904223;
		memcpy(&f, &bits, sizeof(f));
		if (i % 2)
			f = (float)(int32_t)bits / 4294967296.0F;
		if (isfinite(f))
			assert_same(f, &out);
	}
	strbuf_release(&out);
}

static void test_what_is_no_number_spoils_the_answer(void **state)
{
	const float bad[] = { NAN, INFINITY, -INFINITY };
	struct strbuf out = STRBUF_INIT;
	bool ok = true;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct json_writer w;

		floats_text(&bad[i], 1, &out, &ok);
		assert_false(ok);
		strbuf_reset(&out);
		json_writer_init(&w, &out);
		methods_write_base64(&w, &bad[i], 1);
		assert_false(json_writer_ok(&w));
	}
	floats_text(NULL, 0, &out, &ok);
	assert_true(ok);
	assert_string_equal(out.data, "[]");
	strbuf_release(&out);
}

/* By hand: 1.0 is 00 00 80 3f, 2.0 is 00 00 00 40, -0.5 is 00 00 00 bf. */
static void test_base64_with_padding(void **state)
{
	static const float v[] = { 1, 2, -0.5F, 1 };
	static const char *const want[] = { "[\"\"]", "[\"AACAPw==\"]", "[\"AACAPwAAAEA=\"]",
		"[\"AACAPwAAAEAAAAC/\"]", "[\"AACAPwAAAEAAAAC/AACAPw==\"]" };
	struct strbuf out = STRBUF_INIT;

	(void)state;
	for (size_t n = 0; n <= 4; n++) {
		struct json_writer w;

		strbuf_reset(&out);
		json_writer_init(&w, &out);
		jw_array(&w);
		methods_write_base64(&w, v, n);
		jw_end(&w);
		assert_true(json_writer_ok(&w));
		assert_string_equal(out.data, want[n]);
	}
	strbuf_release(&out);
}

static void test_two_in_a_row(void **state)
{
	static const float v[] = { 1, -0.25F };
	struct strbuf out = STRBUF_INIT;
	struct json_writer w;

	(void)state;
	json_writer_init(&w, &out);
	jw_object(&w);
	jw_key(&w, "a");
	jw_array(&w);
	methods_write_base64(&w, v, 1);
	methods_write_base64(&w, v, 1);
	methods_write_floats(&w, v, 2);
	jw_end(&w);
	jw_end(&w);
	assert_true(json_writer_ok(&w));
	assert_string_equal(out.data, "{\"a\":[\"AACAPw==\",\"AACAPw==\",[1.0,-0.25]]}");
	strbuf_release(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers_read_back),
		cmocka_unit_test(test_what_is_no_number_spoils_the_answer),
		cmocka_unit_test(test_base64_with_padding),
		cmocka_unit_test(test_two_in_a_row),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
