/* The bounded reader (REQ: M15, D19, D41, JSON-02, JSON-03, JSON-07). */
#include "fixture.h"

#include <stdio.h>
#include <string.h>

#include "rpc/json.h"

static const struct json_bounds bounds = { 8, 20, 100 };

static enum rpc_code read_text(const char *text, size_t len, struct bytes *ids, size_t cap)
{
	struct json_ids keep = { ids, cap };
	struct json_doc doc = { NULL, false };
	struct rpc_error err;
	enum rpc_code rc = json_read(text, len, &bounds, &keep, &doc, &err);

	json_decref(doc.root);
	return rc;
}

static void id_is(const char *text, const char *want)
{
	struct bytes id = BYTES_NONE;

	assert_int_equal(read_text(text, strlen(text), &id, 1), RPC_OK);
	assert_int_equal(id.len, strlen(want));
	assert_memory_equal(id.data, want, id.len);
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
	struct bytes ids[4] = { { 0 } };

	(void)state;
	assert_int_equal(read_text(text, strlen(text), ids, 4), RPC_OK);
	assert_memory_equal(ids[0].data, "1", 1);
	assert_null(ids[1].data);
	assert_null(ids[2].data);
	assert_int_equal(ids[3].len, 5);
	/* Members beyond the array's size are not kept. */
	assert_int_equal(read_text(text, strlen(text), ids, 1), RPC_OK);
}

static void test_limits(void **state)
{
	char text[4096] = "";
	struct bytes id = BYTES_NONE;

	(void)state;
	memset(text, '[', 9);
	assert_int_equal(read_text(text, 9, &id, 1), RPC_PARSE);
	assert_int_equal(read_text("[[[[[[[[]]]]]]]]", 16, &id, 1), RPC_OK);
	memset(text, '[', 4000);
	assert_int_equal(read_text(text, 4000, &id, 1), RPC_PARSE);
	text[0] = '"';
	memset(text + 1, 'x', 101);
	text[102] = '"';
	assert_int_equal(read_text(text, 103, &id, 1), RPC_TOO_LARGE);
	text[101] = '"';
	assert_int_equal(read_text(text, 102, &id, 1), RPC_OK);
}

static void test_key_limit(void **state)
{
	char text[512] = "{";
	size_t at = 1;
	struct bytes id = BYTES_NONE;

	(void)state;
	for (int i = 0; i < 21; i++) {
		int n = snprintf(text + at, sizeof(text) - at, "%s\"k%d\":1", i ? "," : "", i);

		at += (size_t)n;
	}
	text[at++] = '}';
	assert_int_equal(read_text(text, at, &id, 1), RPC_TOO_LARGE);
}

static void refused(const char *text, size_t len)
{
	struct bytes id = BYTES_NONE;

	if (read_text(text, len, &id, 1) != RPC_PARSE)
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
	refused("{\"id\":18446744073709551616}", 27); /* never rounded */
	refused("{\"id\":99999999999999999999999999}", 33);
}

static void test_nul_in_values_is_legal(void **state)
{
	struct bytes id = BYTES_NONE;

	(void)state;
	assert_int_equal(read_text("{\"a\":\"x\\u0000y\"}", 16, &id, 1), RPC_OK);
}

static void test_numbers_beyond_64_bits(void **state)
{
	static const char text[] = "{\"id\":5,\"k\":99999999999999999999}";
	struct bytes id = BYTES_NONE;
	struct json_ids keep = { &id, 1 };
	struct json_doc doc;
	struct rpc_error err;

	(void)state;
	assert_int_equal(json_read(text, sizeof(text) - 1, &bounds, &keep, &doc, &err), RPC_OK);
	assert_true(doc.lossy);
	assert_int_equal(id.len, 1);
	json_decref(doc.root);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ids_are_kept_as_written),
		cmocka_unit_test(test_ids_of_a_batch),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_key_limit),
		cmocka_unit_test(test_what_is_no_json),
		cmocka_unit_test(test_nul_in_values_is_legal),
		cmocka_unit_test(test_numbers_beyond_64_bits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
