/*
 * The values of a document's meta (REQ: F2): scalars, arrays, members of objects; what
 * is beyond the bounds is left out, and cheap.
 */
#include "../unit.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "methods/filter.h"
#include "util/mem.h"
#include "util/strbuf.h"

/* "field=kind:value" of each value, elements with [] behind the field. */
static void show(const struct engine_value *v, size_t n, struct strbuf *out)
{
	for (size_t i = 0; i < n; i++) {
		strbuf_adds(out, i ? " " : "");
		strbuf_add(out, v[i].field.data, v[i].field.len);
		strbuf_adds(out, v[i].element ? "[]=" : "=");
		switch (v[i].kind) {
		case ENGINE_V_STRING:
			strbuf_addc(out, '"');
			strbuf_add(out, v[i].s.data, v[i].s.len);
			strbuf_addc(out, '"');
			break;
		case ENGINE_V_INT:
			strbuf_addf(out, "%lld", (long long)v[i].i);
			break;
		case ENGINE_V_REAL:
			strbuf_addf(out, "r%g", v[i].r);
			break;
		case ENGINE_V_BOOL:
			strbuf_adds(out, v[i].i ? "true" : "false");
			break;
		}
	}
	strbuf_addc(out, '\n');
}

/* Both ways to read give the same. */
static void assert_values(const char *json, const char *want)
{
	struct strbuf text = STRBUF_INIT;
	struct engine_value *v;
	struct arena arena;
	json_t *meta = json_loads(json, JSON_ALLOW_NUL, NULL);
	size_t n;

	assert_non_null(meta);
	arena_init(&arena, 0);
	assert_int_equal(methods_values_read(meta, &arena, &v, &n), ST_OK);
	show(v, n, &text);
	assert_int_equal(methods_values_parse(bytes_of(json), &arena, &v, &n), ST_OK);
	json_decref(meta);
	show(v, n, &text);
	if (strlen(want) * 2 + 2 != text.len || memcmp(text.data, want, strlen(want)) != 0 ||
		memcmp(text.data + strlen(want) + 1, want, strlen(want)) != 0)
		fail_msg("%s gives %s", json, text.data);
	strbuf_release(&text);
	arena_release(&arena);
}

static void test_kinds(void **state)
{
	(void)state;
	assert_values(
		"{\"s\":\"x\",\"e\":\"\",\"i\":-9223372036854775808,\"r\":5.5,\"w\":5.0,"
		"\"t\":true,\"f\":false,\"n\":null}",
		"s=\"x\" e=\"\" i=-9223372036854775808 r=r5.5 w=r5 t=true f=false");
	assert_values("{}", "");
	assert_values("{\"n\":null}", "");
}

static void test_arrays(void **state)
{
	(void)state;
	assert_values("{\"a\":[1,\"b\",null,[2],{\"c\":3},true],\"e\":[],\"z\":[0.5]}",
		"a[]=1 a[]=\"b\" a[]=true z[]=r0.5");
}

static void test_objects(void **state)
{
	(void)state;
	assert_values("{\"a\":{\"b\":1,\"c\":{\"d\":[\"x\",\"y\"],\"e\":2},\"f\":3},\"g\":4}",
		"a.b=1 a.c.d[]=\"x\" a.c.d[]=\"y\" a.c.e=2 a.f=3 g=4");
	assert_values("{\"\":{\"a\":1,\"\":2},\"a\":3,\"b\":{}}", ".a=1 .=2 a=3");
	assert_values(
		"{\"1\":{\"2\":{\"3\":{\"4\":{\"5\":{\"6\":{\"7\":{\"8\":1,\"x\":{\"9\":2}}"
		"}}}}}},\"o\":1}",
		"1.2.3.4.5.6.7.8=1 o=1");
}

static void test_no_object(void **state)
{
	static const char *const texts[] = { "", "null", "5", "[1]", "{", "{\"a\":1" };
	struct engine_value *v;
	struct arena arena;
	size_t n;

	(void)state;
	arena_init(&arena, 0);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		assert_int_equal(methods_values_parse(bytes_of(texts[i]), &arena, &v, &n), ST_OK);
		assert_int_equal(n, 0);
	}
	assert_int_equal(methods_values_parse(BYTES_NONE, &arena, &v, &n), ST_OK);
	assert_int_equal(n, 0);
	arena_release(&arena);
}

/* A string with NULs, in one piece. */
static void test_nul(void **state)
{
	struct engine_value *v;
	struct arena arena;
	size_t n;

	(void)state;
	arena_init(&arena, 0);
	assert_int_equal(methods_values_parse(bytes_of("{\"s\":\"a\\u0000b\"}"), &arena, &v, &n),
		ST_OK);
	assert_int_equal(n, 1);
	assert_true(bytes_eq(v[0].s, (struct bytes){ "a\0b", 3 }));
	arena_release(&arena);
}

static void test_at_most_1024(void **state)
{
	json_t *meta = json_object(), *list = json_array(), *inner = json_object();
	struct engine_value *v;
	struct arena arena;
	size_t n;

	(void)state;
	for (int i = 0; i < 1000; i++)
		json_array_append_new(list, json_integer(i));
	json_object_set_new(meta, "list", list);
	for (int i = 0; i < 1000; i++) {
		char key[20];

		snprintf(key, sizeof(key), "k%d", i);
		json_object_set_new(inner, key, json_integer(i));
	}
	json_object_set_new(meta, "o", inner);
	arena_init(&arena, 0);
	assert_int_equal(methods_values_read(meta, &arena, &v, &n), ST_OK);
	assert_int_equal(n, 1024);
	assert_true(bytes_eq(v[1023].field, bytes_of("o.k23")));
	arena_release(&arena);
	json_decref(meta);
}

/* Paths of any length cost little and stay longer than a field's name may be. */
static void test_long_names(void **state)
{
	size_t len = 100000;
	char *name = mem_zero(len + 1);
	json_t *meta = json_object(), *inner = json_object();
	struct engine_value *v;
	struct arena arena;
	size_t n;

	(void)state;
	assert_non_null(name);
	memset(name, 'x', len);
	for (int i = 0; i < 1024; i++) {
		char key[20];

		snprintf(key, sizeof(key), "k%d", i);
		json_object_set_new(inner, key, json_integer(i));
	}
	json_object_set_new(meta, name, inner);
	arena_init(&arena, 0);
	assert_int_equal(methods_values_read(meta, &arena, &v, &n), ST_OK);
	assert_int_equal(n, 1024);
	assert_int_equal(v[0].field.len, ENGINE_MAX_FIELD_NAME + 1);
	assert_true(arena.total < 1u << 20);
	arena_release(&arena);
	json_decref(meta);
	/* One that just fits is whole. */
	name[ENGINE_MAX_FIELD_NAME - 2] = '\0';
	meta = json_pack("{s:{s:i}}", name, "y", 1);
	arena_init(&arena, 0);
	assert_int_equal(methods_values_read(meta, &arena, &v, &n), ST_OK);
	assert_int_equal(v[0].field.len, ENGINE_MAX_FIELD_NAME);
	assert_int_equal(v[0].field.data[ENGINE_MAX_FIELD_NAME - 1], 'y');
	arena_release(&arena);
	json_decref(meta);
	mem_free(name);
}

static void test_memory(void **state)
{
	static const char json[] = "{\"a\":{\"b\":[\"x\",\"y\"]},\"c\":\"z\"}";
	bool failed = true;

	(void)state;
	for (long i = 0; failed; i++) {
		struct engine_value *v;
		struct arena arena;
		enum status st;
		size_t n;

		arena_init(&arena, 0);
		mem_fail_after(i);
		st = methods_values_parse(bytes_of(json), &arena, &v, &n);
		failed = mem_fail_after(-1) > i;
		assert_int_equal(st, failed ? ST_NOMEM : ST_OK);
		assert_true(failed || n == 3);
		arena_release(&arena);
		assert_true(i < 200);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_arrays),
		cmocka_unit_test(test_objects),
		cmocka_unit_test(test_no_object),
		cmocka_unit_test(test_nul),
		cmocka_unit_test(test_at_most_1024),
		cmocka_unit_test(test_long_names),
		cmocka_unit_test(test_memory),
	};

	json_set_alloc_funcs(mem_alloc, mem_free);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
