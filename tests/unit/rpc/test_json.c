/* The bounded reader (REQ: M15, D19, D41, JSON-02, JSON-03, JSON-07). */
#include "fixture.h"

#include <stdio.h>
#include <string.h>

#include "rpc/json.h"

static const struct json_bounds bounds = { 8, 40, 100, 4 };

/* The scan, then the parse; spans (zeroed by the caller) get what was found. */
static enum rpc_code read_spans(const char *text, size_t len, struct json_spans *spans, size_t cap)
{
	struct json_scan scan = { .spans = spans, .cap = cap };
	struct rpc_error err;
	json_t *root = NULL;
	enum rpc_code rc = json_scan(text, len, &bounds, &scan, &err);

	if (!rc)
		rc = json_parse(text, len, &root, &err);
	json_decref(root);
	return rc;
}

static enum rpc_code read_text(const char *text, size_t len)
{
	struct json_spans spans[4] = { { .id = BYTES_NONE } };

	return read_spans(text, len, spans, 4);
}

static void span_is(struct bytes span, const char *want)
{
	if (!bytes_eq(span, bytes_of(want)) || !span.data != !want)
		fail_msg("'%.*s' instead of '%s'", (int)span.len, span.data ? span.data : "", want);
}

static void id_is(const char *text, const char *want)
{
	struct json_spans spans = { .id = BYTES_NONE };

	assert_int_equal(read_spans(text, strlen(text), &spans, 1), RPC_OK);
	span_is(spans.id, want);
}

static void test_ids_are_kept_as_written(void **state)
{
	(void)state;
	id_is("{\"id\":7}", "7");
	id_is(" { \"id\" : 7.0 , \"a\":1}", "7.0");
	id_is("{\"params\":{\"id\":1},\"id\":1e3}", "1e3");
	id_is("{\"id\":9007199254740993}", "9007199254740993");
	id_is("{\"id\":-9223372036854775808}", "-9223372036854775808");
	id_is("{\"id\":\"a\\\"b\\u0000\"}", "\"a\\\"b\\u0000\"");
	id_is("{\"\\u0069d\":\"x\"}", "\"x\"");
	id_is("{\"i\\u0064\":-1}", "-1");
	id_is("{\"x\":\"id\",\"id\":2}", "2");
	id_is("{\"a\":[{\"id\":9}],\"id\":3}", "3");
}

static void test_ids_of_a_batch(void **state)
{
	const char *text =
		"[{\"id\":1},5,{\"a\":[1,{\"id\":8}]},{\"b\":{\"id\":9},\"id\":\"x,]\"}]";
	struct json_spans spans[4] = { { .id = BYTES_NONE } };

	(void)state;
	assert_int_equal(read_spans(text, strlen(text), spans, 4), RPC_OK);
	span_is(spans[0].id, "1");
	span_is(spans[1].id, NULL);
	span_is(spans[2].id, NULL);
	span_is(spans[3].id, "\"x,]\"");
	/* Members beyond the array's size are not kept. */
	assert_int_equal(read_spans(text, strlen(text), spans, 1), RPC_OK);
}

/* REQ: L5, T6, L7: only where a message has them, and as they were written. */
static void test_other_spans(void **state)
{
	const char *text =
		"{\"params\":{\"a\":{\"nonce\":1,\"progressToken\":2},\"nonce\":1e3,"
		"\"_meta\":{\"x\":{\"deadlineMs\":1},\"progressToken\":\"t\\u0041\","
		"\"deadlineMs\":5.0},\"b\":[{\"nonce\":4}]},\"nonce\":3,"
		"\"_meta\":{\"progressToken\":6}}";
	struct json_spans spans = { .id = BYTES_NONE };

	(void)state;
	assert_int_equal(read_spans(text, strlen(text), &spans, 1), RPC_OK);
	span_is(spans.id, NULL);
	span_is(spans.nonce, "1e3");
	span_is(spans.token, "\"t\\u0041\"");
	span_is(spans.deadline, "5.0");
	text = "{\"params\":{\"nonce\":[1],\"_meta\":[{\"progressToken\":1}]}}";
	spans = (struct json_spans){ .id = BYTES_NONE };
	assert_int_equal(read_spans(text, strlen(text), &spans, 1), RPC_OK);
	span_is(spans.nonce, NULL);
	span_is(spans.token, NULL);
}

static void test_limits(void **state)
{
	char text[4096] = "";

	(void)state;
	memset(text, '[', 9);
	assert_int_equal(read_text(text, 9), RPC_PARSE);
	assert_int_equal(read_text("[[[[[[[[]]]]]]]]", 16), RPC_OK);
	memset(text, '[', 4000);
	assert_int_equal(read_text(text, 4000), RPC_PARSE);
	text[0] = '"';
	memset(text + 1, 'x', 101);
	text[102] = '"';
	assert_int_equal(read_text(text, 103), RPC_TOO_LARGE);
	text[101] = '"';
	assert_int_equal(read_text(text, 102), RPC_OK);
}

/* A batch is refused by its commas, before anything is built (D12). */
static void test_batch_cap(void **state)
{
	struct json_spans spans[4] = { { .id = BYTES_NONE } };
	struct json_scan scan = { .spans = spans, .cap = 4 };
	struct rpc_error err;

	(void)state;
	assert_int_equal(json_scan("[1,2,3,4]", 9, &bounds, &scan, &err), RPC_OK);
	assert_false(scan.batch_excess);
	assert_int_equal(json_scan("[1,2,3,4,5", 10, &bounds, &scan, &err), RPC_TOO_LARGE);
	assert_true(scan.batch && scan.batch_excess);
}

static void test_value_limit(void **state)
{
	char text[512] = "{";
	size_t at = 1;

	(void)state;
	for (int i = 0; i < 41; i++) {
		int n = snprintf(text + at, sizeof(text) - at, "%s\"k%d\":1", i ? "," : "", i);

		at += (size_t)n;
	}
	text[at++] = '}';
	assert_int_equal(read_text(text, at), RPC_TOO_LARGE);
}

static void refused(const char *text, size_t len)
{
	if (read_text(text, len) != RPC_PARSE)
		fail_msg("taken: %s", text);
}

static void test_what_is_no_json(void **state)
{
	(void)state;
	refused("", 0);
	refused("  ", 2);
	refused("{\"a\":1,\"a\":2}", 13);
	refused("\xEF\xBB\xBF{}", 5);
	refused("{\"a\":\"\xFF\"}", 9);
	refused("{\"a\":\"\xED\xA0\x80\"}", 11);
	refused("{\"a\\u0000\":1}", 13);
	refused("{\"a\":NaN}", 9);
	refused("{\"a\":Infinity}", 14);
	refused("{\"a\":1e999}", 11);
	refused("{\"a\":1}x", 8);
	refused("{'a':1}", 7);
	refused("{\"a\":\"x", 7);
	refused("{\"a\":\"\\ud800\"}", 14);
	refused("\"\\", 2);
}

static void test_nul_in_values_is_legal(void **state)
{
	(void)state;
	assert_int_equal(read_text("{\"a\":\"x\\u0000y\"}", 16), RPC_OK);
}

/* REQ: D19, D29, M8: a number beyond 64 bits is out of range where an integer is
 * declared, and nothing but a number where it is not; its neighbours stay exact. */
static void test_numbers_beyond_64_bits(void **state)
{
	static const char text[] =
		"{\"id\":18446744073709551616,\"k\":99999999999999999999,\"n\":7,"
		"\"r\":1.5e3,\"s\":\"99999999999999999999\",\"m\":-9223372036854775808,"
		"\"x\":-99999999999999999999}";
	struct json_spans spans = { .id = BYTES_NONE };
	struct json_scan scan = { .spans = &spans, .cap = 1 };
	struct rpc_error err;
	json_t *v = NULL;

	(void)state;
	assert_int_equal(json_scan(text, sizeof(text) - 1, &bounds, &scan, &err), RPC_OK);
	assert_int_equal(json_parse(text, sizeof(text) - 1, &v, &err), RPC_OK);
	span_is(spans.id, "18446744073709551616");
	assert_true(json_real_value(json_object_get(v, "k")) == 1e20);
	assert_true(json_is_integer(json_object_get(v, "n")));
	assert_int_equal(json_integer_value(json_object_get(v, "n")), 7);
	assert_true(json_real_value(json_object_get(v, "r")) == 1500);
	assert_string_equal(json_string_value(json_object_get(v, "s")), "99999999999999999999");
	assert_true(json_integer_value(json_object_get(v, "m")) == INT64_MIN);
	assert_true(json_real_value(json_object_get(v, "x")) == -1e20);
	json_decref(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ids_are_kept_as_written),
		cmocka_unit_test(test_ids_of_a_batch),
		cmocka_unit_test(test_other_spans),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_batch_cap),
		cmocka_unit_test(test_value_limit),
		cmocka_unit_test(test_what_is_no_json),
		cmocka_unit_test(test_nul_in_values_is_legal),
		cmocka_unit_test(test_numbers_beyond_64_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
