/* Params by table (REQ: M8, M9, M10, M11, M13, C1, D25, D29, D31, JSON-05). */
#include "fixture.h"

#include <string.h>

#include "rpc/params.h"

#define SAFE 9007199254740991.0

struct inner {
	bool present;
	struct rpc_int top;
	struct bytes name;
};
struct all {
	struct rpc_int i;
	struct rpc_real r;
	unsigned char b;
	struct bytes s;
	struct rpc_text text;
	struct inner object, maybe;
	const json_t *json, *jobject, *jarray, *scalar;
	struct rpc_strings strings;
};

static const struct rpc_param inner_table[] = {
	{ .name = "top",
		.type = RPC_P_INT,
		.min = 1,
		.max = 10,
		.offset = offsetof(struct inner, top) },
	{ .name = "name",
		.type = RPC_P_STRING,
		.flags = RPC_P_REQUIRED | RPC_P_NONEMPTY,
		.max = 3,
		.offset = offsetof(struct inner, name) },
};
static const struct rpc_param table[] = {
	{ .name = "i",
		.type = RPC_P_INT,
		.min = -SAFE,
		.max = SAFE,
		.offset = offsetof(struct all, i) },
	{ .name = "r", .type = RPC_P_REAL, .min = 0, .max = 1, .offset = offsetof(struct all, r) },
	{ .name = "b", .type = RPC_P_BOOL, .offset = offsetof(struct all, b) },
	{ .name = "s", .type = RPC_P_STRING, .offset = offsetof(struct all, s) },
	{ .name = "text", .type = RPC_P_TEXT, .offset = offsetof(struct all, text) },
	{ .name = "object",
		.type = RPC_P_OBJECT,
		.sub = inner_table,
		.sub_count = 2,
		.offset = offsetof(struct all, object) },
	{ .name = "maybe",
		.type = RPC_P_FALSE_OR_OBJECT,
		.sub = inner_table,
		.sub_count = 2,
		.offset = offsetof(struct all, maybe) },
	{ .name = "json", .type = RPC_P_JSON, .offset = offsetof(struct all, json) },
	{ .name = "jobject", .type = RPC_P_JSON_OBJECT, .offset = offsetof(struct all, jobject) },
	{ .name = "jarray", .type = RPC_P_JSON_ARRAY, .offset = offsetof(struct all, jarray) },
	{ .name = "scalar", .type = RPC_P_SCALAR, .offset = offsetof(struct all, scalar) },
	{ .name = "strings",
		.type = RPC_P_STRINGS,
		.flags = RPC_P_NONEMPTY,
		.min = 1,
		.max = 3,
		.offset = offsetof(struct all, strings) },
};

static struct all got;
static struct rpc_error err;
static struct arena arena;
static json_t *doc;

static enum rpc_code parse(const char *text)
{
	json_decref(doc);
	arena_release(&arena);
	doc = json_loads(text, JSON_ALLOW_NUL | JSON_DECODE_ANY, NULL);
	if (!doc)
		fail_msg("bad test: %s", text);
	memset(&got, 0, sizeof(got));
	memset(&err, 0, sizeof(err));
	return rpc_params_parse(table, sizeof(table) / sizeof(table[0]), doc, &arena, &got, &err);
}

static void ok(const char *text)
{
	if (parse(text) != RPC_OK)
		fail_msg("%s: %s", text, err.message);
}

static void bad(const char *text, const char *field)
{
	if (parse(text) != RPC_INVALID_PARAMS || strcmp(err.field, field) != 0)
		fail_msg("%s: code %d field '%s'", text, (int)err.code, err.field);
}

static void option(const char *text, const char *want)
{
	if (parse(text) != RPC_OPTION || strcmp(err.option, want) != 0)
		fail_msg("%s: code %d option '%s'", text, (int)err.code, err.option);
}

static void test_numbers(void **state)
{
	(void)state;
	ok("{\"i\":5.0}");
	assert_true(got.i.set && got.i.v == 5);
	ok("{\"i\":1e1}");
	assert_int_equal(got.i.v, 10);
	ok("{\"i\":-9007199254740991}");
	ok("{\"i\":null}");
	assert_false(got.i.set);
	bad("{\"i\":5.5}", "i");
	bad("{\"i\":\"5\"}", "i");
	bad("{\"i\":true}", "i");
	bad("{\"i\":9007199254740992}", "i");
	bad("{\"i\":1e300}", "i");
	ok("{\"r\":1}");
	assert_true(got.r.v == 1.0);
	bad("{\"r\":1.01}", "r");
	bad("{\"r\":\"1\"}", "r");
}

static void test_strings_and_enums(void **state)
{
	(void)state;
	ok("{\"s\":\"\",\"b\":true,\"unknown\":{\"x\":1}}");
	assert_non_null(got.s.data);
	assert_int_equal(got.b, RPC_TRUE);
	ok("{\"s\":\"a\\u0000b\"}");
	assert_int_equal(got.s.len, 3);
	bad("{\"b\":1}", "b");
	ok("{\"strings\":[\"a\",\"bcd\"]}");
	assert_int_equal(got.strings.n, 2);
	bad("{\"strings\":[]}", "strings");
	bad("{\"strings\":[\"a\",\"\"]}", "strings[1]");
	bad("{\"strings\":[\"abcd\"]}", "strings[0]");
	bad("{\"strings\":[1]}", "strings[0]");
	bad("{\"strings\":\"a\"}", "strings");
}

static void test_objects(void **state)
{
	(void)state;
	ok("{\"object\":{\"top\":3,\"name\":\"ab\"},\"maybe\":false}");
	assert_true(got.object.present && got.object.top.v == 3);
	assert_false(got.maybe.present);
	bad("{\"object\":{\"top\":3}}", "object.name");
	bad("{\"object\":{\"top\":11,\"name\":\"a\"}}", "object.top");
	bad("{\"object\":{\"name\":\"\"}}", "object.name");
	bad("{\"object\":{\"name\":\"abcd\"}}", "object.name");
	bad("{\"object\":false}", "object");
	bad("{\"maybe\":true}", "maybe");
	ok("{\"maybe\":{\"name\":\"a\"}}");
	assert_true(got.maybe.present);
	ok("{\"json\":[1],\"jobject\":{},\"jarray\":[],\"scalar\":\"x\"}");
	bad("{\"jobject\":[]}", "jobject");
	bad("{\"jarray\":{}}", "jarray");
	bad("{\"scalar\":true}", "scalar");
}

static void test_content(void **state)
{
	(void)state;
	ok("{\"text\":\"plain\"}");
	ok("{\"text\":{\"type\":\"text\",\"text\":\"block\"}}");
	assert_memory_equal(got.text.text.data, "block", 5);
	ok("{\"text\":[{\"type\":\"text\",\"text\":\"a\"},\"b\"]}");
	assert_int_equal(got.text.text.len, 3);
	assert_memory_equal(got.text.text.data, "a\nb", 3);
	bad("{\"text\":[]}", "text");
	bad("{\"text\":5}", "text");
	bad("{\"text\":[{\"type\":\"text\"}]}", "text[0].text");
	bad("{\"text\":{}}", "text.type");
	bad("{\"text\":{\"type\":\"smell\"}}", "text.type");
	bad("{\"text\":{\"type\":\"image\"}}", "text.mimeType");
	bad("{\"text\":{\"type\":\"image\",\"mimeType\":\"image/png\"}}", "text");
	bad("{\"text\":{\"type\":\"image\",\"mimeType\":\"image/png\",\"data\":\"x\",\"uri\":\"y\"}}",
		"text");
	bad("{\"text\":{\"type\":\"image\",\"mimeType\":\"image/png\",\"uri\":5}}", "text.uri");
	option("{\"text\":{\"type\":\"image\",\"mimeType\":\"image/png\",\"data\":\"x\"}}",
		"image");
	option("{\"text\":{\"type\":\"blob\",\"mimeType\":\"a/b\",\"uri\":\"file:///x\"}}", "blob");
}

static void test_params_itself(void **state)
{
	(void)state;
	assert_int_equal(parse("[]"), RPC_INVALID_PARAMS);
	assert_int_equal(parse("5"), RPC_INVALID_PARAMS);
	assert_int_equal(rpc_params_parse(table, 1, NULL, &arena, &got, &err), RPC_OK);
}

static int cleanup(void **state)
{
	(void)state;
	json_decref(doc);
	arena_release(&arena);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_strings_and_enums),
		cmocka_unit_test(test_objects),
		cmocka_unit_test(test_content),
		cmocka_unit_test(test_params_itself),
	};

	return cmocka_run_group_tests(tests, NULL, cleanup);
}
