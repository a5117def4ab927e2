/*
 * Filter trees from JSON (REQ: F1, F2, F3, D24, D25, D26, D28, D29): what is taken and
 * what becomes of it, and what is refused, by code, path and option.
 */
#include "../unit.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "fake_fields.h"
#include "methods/filter.h"
#include "util/mem.h"
#include "util/strbuf.h"

static struct arena arena;
static struct rpc_error err;

/* The tree of a JSON text with ' for "; NULL: refused, with err. */
static struct engine_filter *read_json(const json_t *v)
{
	const struct methods_filter_source src = { NULL, FAKE_EPOCH, &arena, &err };
	struct engine_filter *tree = NULL;
	enum rpc_code rc;

	memset(&err, 0, sizeof(err));
	rc = methods_filter_read(&src, v, &tree);
	assert_int_equal(rc, err.code);
	assert_true((rc == RPC_OK) == (tree != NULL));
	return tree;
}

static json_t *parse(const char *text)
{
	char copy[1000];
	json_t *v;
	size_t n = (size_t)snprintf(copy, sizeof(copy), "%s", text);

	assert_true(n < sizeof(copy));
	for (char *p = copy; *p; p++)
		if (*p == '\'')
			*p = '"';
	v = json_loads(copy, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
	if (!v)
		fail_msg("no JSON: %s", copy);
	return v;
}

static json_t *kept[400]; /* strings are borrowed from them */
static size_t kept_count;

static struct engine_filter *read_text(const char *text)
{
	assert_true(kept_count < sizeof(kept) / sizeof(kept[0]));
	kept[kept_count] = parse(text);
	return read_json(kept[kept_count++]);
}

static int setup(void **state)
{
	(void)state;
	arena_init(&arena, 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_release(&arena);
	while (kept_count)
		json_decref(kept[--kept_count]);
	return 0;
}

/* The leaf of one field, operator and JSON value ("": none). */
static struct engine_filter *leaf(const char *field, const char *op, const char *value)
{
	char text[400];

	snprintf(text, sizeof(text), "{'field':'%s','op':'%s'%s%s}", field, op,
		*value ? ",'value':" : "", value);
	return read_text(text);
}

static void assert_text(const char *text, enum rpc_code code, const char *field, const char *option)
{
	if (read_text(text))
		fail_msg("taken: %s", text);
	if (err.code != code || strcmp(err.field, field) != 0 || strcmp(err.option, option) != 0)
		fail_msg("%s: %d, field '%s', option '%s'", text, err.code, err.field, err.option);
	assert_true(strlen(err.message) > 10);
}

static void refused(const char *text, const char *field)
{
	assert_text(text, RPC_INVALID_PARAMS, field, "");
}

static void leaf_refused(const char *field, const char *op, const char *value, const char *path)
{
	if (leaf(field, op, value))
		fail_msg("taken: %s %s %s", field, op, value);
	if (err.code != RPC_INVALID_PARAMS || strcmp(err.field, path) != 0)
		fail_msg("%s %s %s: %d, field '%s'", field, op, value, err.code, err.field);
}

#define LEAF "{'field':'kw','op':'eq','value':'v'}"

static void test_a_tree_is_taken_as_it_stands(void **state)
{
	const struct engine_filter *t = read_text("{'and':[" LEAF ",{'or':[{'not':" LEAF
						  "},{'field':'n','op':'gte',"
						  "'value':5}]}],'x-other':1}");

	(void)state;
	assert_non_null(t);
	assert_int_equal(t->kind, ENGINE_AND);
	assert_int_equal(t->count, 2);
	assert_int_equal(t->children[0].kind, ENGINE_LEAF);
	assert_int_equal(t->children[0].field, FAKE_KW);
	assert_int_equal(t->children[0].op, ENGINE_EQ);
	assert_int_equal(t->children[0].value_count, 1);
	assert_true(bytes_eq(t->children[0].values[0].s, bytes_of("v")));
	t = &t->children[1];
	assert_int_equal(t->kind, ENGINE_OR);
	assert_int_equal(t->children[0].kind, ENGINE_NOT);
	assert_int_equal(t->children[0].count, 1);
	assert_int_equal(t->children[0].children[0].kind, ENGINE_LEAF);
	assert_int_equal(t->children[1].op, ENGINE_GTE);
	assert_int_equal(t->children[1].values[0].i, 5);
}

/* M8, M10: unknown members are ignored, null ones are absent. */
static void test_what_may_stand_beside_a_leaf(void **state)
{
	(void)state;
	assert_non_null(
		read_text("{'field':'kw','op':'eq','value':'v','boost':2,'and':null,"
			  "'or':null,'not':null}"));
	assert_non_null(read_text("{'and':[" LEAF "],'field':null,'op':null,'value':null}"));
	assert_non_null(leaf("a.b c", "eq", "'v'"));
}

/* REQ: FIL-05: a filter that says nothing must not open. */
static void test_shapes(void **state)
{
	(void)state;
	refused("{}", "filter");
	refused("[]", "filter");
	refused("'x'", "filter");
	refused("5", "filter");
	refused("true", "filter");
	refused("null", "filter");
	refused("{'AND':[" LEAF "]}", "filter");
	refused("{'and':[]}", "filter.and");
	refused("{'or':[]}", "filter.or");
	refused("{'and':'x'}", "filter.and");
	refused("{'and':" LEAF "}", "filter.and");
	refused("{'or':{}}", "filter.or");
	refused("{'and':null}", "filter.and");
	refused("{'not':null}", "filter.not");
	refused("{'not':[]}", "filter.not");
	refused("{'not':[" LEAF "]}", "filter.not");
	refused("{'not':'x'}", "filter.not");
	refused("{'not':{}}", "filter.not");
	refused("{'and':[null]}", "filter.and[0]");
	refused("{'or':[" LEAF ",[]]}", "filter.or[1]");
	refused("{'or':[" LEAF ",'x']}", "filter.or[1]");
	refused("{'and':[" LEAF "],'or':[" LEAF "]}", "filter");
	refused("{'and':[" LEAF "],'not':" LEAF "}", "filter");
	refused("{'and':[" LEAF "],'field':'kw','op':'eq','value':1}", "filter");
	refused("{'and':[" LEAF "],'value':1}", "filter");
	refused("{'not':{'and':[" LEAF ",{'or':[{}]}]}}", "filter.not.and[1].or[0]");
	refused("{'and':[" LEAF ",{'field':'n','op':'eq','value':'x'}]}", "filter.and[1].value");
}

static void test_fields(void **state)
{
	(void)state;
	refused("{'field':'nope','op':'eq','value':1}", "filter.field");
	refused("{'field':'Kw','op':'eq','value':'v'}", "filter.field");
	refused("{'field':'','op':'eq','value':'v'}", "filter.field");
	refused("{'field':'kw\\u0000','op':'eq','value':'v'}", "filter.field");
	refused("{'field':5,'op':'eq','value':'v'}", "filter.field");
	refused("{'op':'eq','value':'v'}", "filter.field");
	refused("{'field':null,'op':'eq','value':'v'}", "filter.field");
	refused("{'not':{'field':'__proto__','op':'exists'}}", "filter.not.field");
}

/* REQ: D42: a field that came after the session's initialize. */
static void test_a_later_field_is_unknown(void **state)
{
	(void)state;
	refused("{'field':'late','op':'eq','value':1}", "filter.field");
}

static void test_operators(void **state)
{
	static const char *const all[] = { "eq", "ne", "gt", "gte", "lt", "lte", "in", "nin",
		"contains", "exists" };
	char text[200];

	(void)state;
	for (int i = 0; i < METHODS_OPS; i++) {
		assert_string_equal(methods_op_name((enum engine_op)i), all[i]);
		snprintf(text, sizeof(text), "{'field':'%s','op':'%s','value':%s}",
			i == ENGINE_CONTAINS ? "kw" : "n", all[i],
			i == ENGINE_CONTAINS                        ? "'x'"
				: i == ENGINE_IN || i == ENGINE_NIN ? "[1,2]"
				: i == ENGINE_EXISTS                ? "true"
								    : "1");
		assert_non_null(read_text(text));
		assert_int_equal(read_text(text)->op, i);
	}
	assert_text("{'field':'kw','op':'regex','value':'x'}", RPC_OPTION, "filter.op", "regex");
	assert_text("{'field':'kw','op':'EQ','value':'x'}", RPC_OPTION, "filter.op", "EQ");
	assert_text("{'field':'kw','op':'eq\\u0000','value':'x'}", RPC_OPTION, "filter.op", "eq");
	assert_text("{'field':'kw','op':'','value':'x'}", RPC_OPTION, "filter.op", "");
	/* Not offered comes before not known. */
	assert_text("{'and':[{'field':'nope','op':'like'}]}", RPC_OPTION, "filter.and[0].op",
		"like");
	refused("{'field':'kw','op':5,'value':'x'}", "filter.op");
	refused("{'field':'kw','value':'x'}", "filter.op");
	refused("{'field':'kw','op':null,'value':'x'}", "filter.op");
	leaf_refused("kw", "gt", "'a'", "filter.op");
	leaf_refused("prose", "lte", "'a'", "filter.op");
	leaf_refused("flag", "gt", "true", "filter.op");
	leaf_refused("n", "contains", "1", "filter.op");
	leaf_refused("day", "contains", "'2024'", "filter.op");
}

static void test_strings(void **state)
{
	static const char *const bad[] = { "5", "true", "null", "[]", "['v']", "{}", "" };
	const struct engine_filter *t = leaf("kw", "ne", "'a\\u0000b'");

	(void)state;
	assert_non_null(t);
	assert_true(bytes_eq(t->values[0].s, (struct bytes){ "a\0b", 3 }));
	t = leaf("prose", "contains", "''");
	assert_non_null(t);
	assert_int_equal(t->values[0].s.len, 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		leaf_refused("kw", "eq", bad[i], "filter.value");
		leaf_refused("prose", "contains", bad[i], "filter.value");
	}
}

/* REQ: D29 */
static void test_numbers(void **state)
{
	static const char *const whole[] = { "5", "5.0", "0.5e1" };
	static const char *const bad[] = { "5.5", "9007199254740992", "-9007199254740992", "1e300",
		"'5'", "true", "null", "[5]", "{}", "" };

	(void)state;
	for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++) {
		const struct engine_filter *t = leaf("n", "lt", whole[i]);

		assert_non_null(t);
		assert_int_equal(t->values[0].i, 5);
		t = leaf("x", "lt", whole[i]);
		assert_non_null(t);
		assert_true(t->values[0].r >= 5 && t->values[0].r <= 5);
	}
	assert_int_equal(leaf("n", "eq", "-9007199254740991")->values[0].i, -9007199254740991LL);
	assert_non_null(leaf("x", "gte", "-1e300"));
	assert_non_null(leaf("x", "eq", "9007199254740993"));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		leaf_refused("n", "eq", bad[i], "filter.value");
		if (i >= 4)
			leaf_refused("x", "eq", bad[i], "filter.value");
	}
}

static void test_booleans(void **state)
{
	static const char *const bad[] = { "1", "'true'", "null", "[]", "" };

	(void)state;
	assert_int_equal(leaf("flag", "eq", "true")->values[0].i, 1);
	assert_int_equal(leaf("flag", "ne", "false")->values[0].i, 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		leaf_refused("flag", "eq", bad[i], "filter.value");
}

/* REQ: FIL-02, D28 */
static void test_dates(void **state)
{
	static const char *const same[] = { "'2023-12-31T22:30:00Z'", "'2024-01-01T00:30:00+02:00'",
		"'2023-12-31t22:30:00.000z'", "1704061800000", "1704061800000.0" };
	static const char *const bad[] = { "'2023-02-30'", "'yesterday'", "'2024-01-01T00:30:00'",
		"'1704061800000'", "''", "1.5", "1e300", "true", "null", "[]", "" };

	(void)state;
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		const struct engine_filter *t = leaf("day", "gte", same[i]);

		assert_non_null(t);
		assert_true(t->values[0].i == 1704061800000);
	}
	assert_true(leaf("day", "eq", "'2024-02-29'")->values[0].i == 1709164800000);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		leaf_refused("day", "eq", bad[i], "filter.value");
}

/* REQ: FIL-06, D26 */
static void test_exists(void **state)
{
	static const char *const bad[] = { "'false'", "0", "null", "[]", "{}" };

	(void)state;
	assert_int_equal(leaf("n", "exists", "")->values[0].i, 1);
	assert_int_equal(leaf("kw", "exists", "true")->values[0].i, 1);
	assert_int_equal(leaf("day", "exists", "false")->values[0].i, 0);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		leaf_refused("flag", "exists", bad[i], "filter.value");
}

/* REQ: FIL-06, D26 */
static void test_lists(void **state)
{
	const struct engine_filter *t = leaf("n", "in", "[3,1.0,3]");

	(void)state;
	assert_non_null(t);
	assert_int_equal(t->value_count, 3);
	assert_int_equal(t->values[1].i, 1);
	leaf_refused("kw", "in", "'a'", "filter.value");
	leaf_refused("kw", "nin", "[]", "filter.value");
	leaf_refused("kw", "in", "null", "filter.value");
	leaf_refused("kw", "in", "{}", "filter.value");
	leaf_refused("kw", "in", "", "filter.value");
	leaf_refused("kw", "in", "[1,'a']", "filter.value[0]");
	leaf_refused("kw", "nin", "['a',1]", "filter.value[1]");
	leaf_refused("n", "in", "[[1]]", "filter.value[0]");
	leaf_refused("n", "in", "[1,null]", "filter.value[1]");
	leaf_refused("day", "in", "['2024-01-01','x']", "filter.value[1]");
}

/* ---- bounds ---- */

/* A leaf below depth - 1 nots. */
static struct engine_filter *nested(int depth, const char *inner)
{
	struct strbuf text = STRBUF_INIT;
	struct engine_filter *t;

	for (int i = 1; i < depth; i++)
		strbuf_adds(&text, i % 2 ? "{'not':" : "{'and':[");
	strbuf_adds(&text, inner);
	for (int i = depth - 1; i >= 1; i--)
		strbuf_adds(&text, i % 2 ? "}" : "]}");
	t = read_text(text.data);
	strbuf_release(&text);
	return t;
}

static void test_depth(void **state)
{
	(void)state;
	assert_non_null(nested(ENGINE_FILTER_DEPTH, LEAF));
	assert_null(nested(ENGINE_FILTER_DEPTH + 1, LEAF));
	assert_int_equal(err.code, RPC_INVALID_PARAMS);
	assert_int_equal(strncmp(err.field, "filter.not.and[0].not.and[0]", 28), 0);
	/* The whole path of the deepest culprit fits. */
	assert_null(nested(ENGINE_FILTER_DEPTH, "{'field':'kw','op':'in','value':['a',5]}"));
	assert_string_equal(err.field + strlen(err.field) - 13, ".not.value[1]");
	assert_int_equal(strlen(err.field), 6 + 15 * 11 + 4 + 9);
}

static json_t *many(size_t leaves, size_t values)
{
	json_t *root = parse("{'and':[]}"), *list = json_object_get(root, "and");

	for (size_t i = 0; i < leaves; i++) {
		json_t *one = parse("{'field':'n','op':'in','value':[]}");

		for (size_t k = 0; k < values; k++)
			json_array_append_new(json_object_get(one, "value"),
				json_integer((json_int_t)k));
		json_array_append_new(list, one);
	}
	return root;
}

static void try_many(size_t leaves, size_t values, enum rpc_code want, const char *field)
{
	json_t *v = many(leaves, values);
	const struct engine_filter *t = read_json(v);

	assert_int_equal(err.code, want);
	assert_true((t != NULL) == (want == RPC_OK));
	assert_string_equal(err.field, field);
	json_decref(v);
}

static void test_counts(void **state)
{
	json_t *outer, *inner;

	(void)state;
	try_many(METHODS_FILTER_LEAVES, 1, RPC_OK, "");
	try_many(METHODS_FILTER_LEAVES + 1, 1, RPC_TOO_LARGE, "filter.and");
	try_many(1, METHODS_FILTER_VALUES, RPC_OK, "");
	try_many(1, METHODS_FILTER_VALUES + 1, RPC_TOO_LARGE, "filter.and[0].value");
	try_many(10, METHODS_FILTER_VALUES / 10, RPC_OK, "");
	try_many(11, METHODS_FILTER_VALUES / 10, RPC_TOO_LARGE, "filter.and[10].value");
	/* In several lists: counted in all. */
	outer = parse("{'or':[]}");
	inner = json_object_get(outer, "or");
	json_array_append_new(inner, many(METHODS_FILTER_LEAVES - 1, 1));
	json_array_append_new(inner, many(1, 1));
	assert_non_null(read_json(outer));
	json_array_append_new(inner, many(1, 1));
	assert_null(read_json(outer));
	assert_int_equal(err.code, RPC_TOO_LARGE);
	json_decref(outer);
}

static void test_memory(void **state)
{
	static const char *const texts[] = { LEAF, "{'not':" LEAF "}",
		"{'and':[{'field':'n','op':'in','value':[1,2]}]}" };

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		json_t *v = parse(texts[i]);
		bool failed = true;

		for (long n = 0; failed; n++) {
			arena_release(&arena);
			arena_init(&arena, 0);
			mem_fail_after(n);
			if (!read_json(v))
				assert_int_equal(err.code, RPC_UNAVAILABLE);
			failed = mem_fail_after(-1) > n;
			assert_true(n < 100);
		}
		assert_int_equal(err.code, RPC_OK);
		json_decref(v);
	}
}

/* The same with an arena that is full after so many bytes: each allocation of the
 * reader is reached, not only those that need a new chunk. */
static void test_full_arena(void **state)
{
	json_t *v = parse("{'or':[{'not':" LEAF "},{'field':'n','op':'in','value':[1,2]}]}");
	size_t refusals = 0;

	(void)state;
	for (size_t used = 0; used < 8192; used += 16) {
		arena_release(&arena);
		arena_init(&arena, 4096);
		if (used && !arena_alloc(&arena, used))
			continue;
		mem_fail_after(0);
		if (!read_json(v)) {
			assert_int_equal(err.code, RPC_UNAVAILABLE);
			refusals++;
		}
		mem_fail_after(-1);
	}
	assert_true(refusals > 5);
	json_decref(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_a_tree_is_taken_as_it_stands, setup, teardown),
		cmocka_unit_test_setup_teardown(test_what_may_stand_beside_a_leaf, setup, teardown),
		cmocka_unit_test_setup_teardown(test_shapes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_fields, setup, teardown),
		cmocka_unit_test_setup_teardown(test_a_later_field_is_unknown, setup, teardown),
		cmocka_unit_test_setup_teardown(test_operators, setup, teardown),
		cmocka_unit_test_setup_teardown(test_strings, setup, teardown),
		cmocka_unit_test_setup_teardown(test_numbers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_booleans, setup, teardown),
		cmocka_unit_test_setup_teardown(test_dates, setup, teardown),
		cmocka_unit_test_setup_teardown(test_exists, setup, teardown),
		cmocka_unit_test_setup_teardown(test_lists, setup, teardown),
		cmocka_unit_test_setup_teardown(test_depth, setup, teardown),
		cmocka_unit_test_setup_teardown(test_counts, setup, teardown),
		cmocka_unit_test_setup_teardown(test_memory, setup, teardown),
		cmocka_unit_test_setup_teardown(test_full_arena, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
