/*
 * test_filter_views.c: what views know and what they do not, the cache of results,
 * cancelling, nesting (REQ: F1, D37).
 */
#include "filter_fixture.h"

#include <stdio.h>

/* A field is missing in the views that are older than it. */
static void test_unknown_field(void **state)
{
	struct engine_value v = FX_INT(3);
	struct filter_value value = { 1, v };
	struct engine_scalar three = { .i = 3 };
	struct engine_filter eq = fm_leaf(1, ENGINE_EQ, &three, 1);
	struct engine_filter ne = fm_leaf(1, ENGINE_NE, &three, 1);
	struct filter_view *old;
	enum engine_type type;
	struct fx x;
	size_t no;

	(void)state;
	fx_start(&x, ENGINE_BOOL);
	fx_add(&x, NULL, 0);
	fx_publish(&x);
	old = filter_view_ref(x.v);
	assert_int_equal(fx_passing(old, &eq), 0);
	assert_int_equal(fx_passing(old, &ne), 1);
	assert_int_equal(filter_define(x.f, bytes_of("late"), ENGINE_INT, &no, NULL), ST_OK);
	assert_int_equal(filter_add(x.f, ++x.key, &value, 1, NULL, NULL), ST_OK);
	assert_int_equal(fx_passing(old, &eq), 0);
	fx_publish(&x);
	assert_int_equal(fx_passing(x.v, &eq), 2);
	assert_int_equal(fx_passing(x.v, &ne), 1);
	assert_int_equal(fx_passing(old, &ne), 1);
	assert_int_equal(filter_view_fields(old), 1);
	assert_int_equal(filter_view_fields(x.v), 2);
	assert_true(bytes_eq(filter_view_name(x.v, 1), bytes_of("late")));
	assert_int_equal(filter_view_type(x.v, 1), ENGINE_INT);
	assert_true(filter_field(x.f, bytes_of("late"), &no, &type));
	assert_int_equal(no, 1);
	assert_false(filter_field(x.f, bytes_of("lat"), &no, &type));
	filter_view_unref(old);
	fx_stop(&x);
}

static void test_empty(void **state)
{
	struct filter_stats stats;
	struct fx x;
	int64_t ms;

	(void)state;
	fx_start(&x, ENGINE_INT);
	fx_publish(&x);
	assert_int_equal(fx_ask_int(&x, ENGINE_EXISTS, 0), 0);
	assert_false(filter_instant(x.v, 0, 1, &ms));
	filter_view_stats(x.v, &stats);
	assert_int_equal(stats.keys, 0);
	assert_int_equal(stats.blocks, 0);
	filter_forget(x.f, 5);
	filter_view_unref(NULL);
	fx_stop(&x);
	filter_free(NULL);
}

/* Columns of a filter without any fields, over several blocks. */
static void test_no_fields(void **state)
{
	struct filter_options opt = { 0, 0 };
	struct engine_scalar no = { .i = 0 };
	struct engine_filter f = fm_leaf(0, ENGINE_EXISTS, &no, 1);
	struct filter_stats stats;
	struct fx x = { .key = 0 };

	(void)state;
	assert_int_equal(filter_new(&opt, &x.f, NULL), ST_OK);
	for (int64_t key = 1; key < 64; key += 3)
		assert_int_equal(filter_add(x.f, key, NULL, 0, NULL, NULL), ST_OK);
	fx_publish(&x);
	assert_int_equal(fx_passing(x.v, &f), UINT64_C(0x1249249249249249));
	assert_int_equal(filter_add(x.f, 200000, NULL, 0, NULL, NULL), ST_OK);
	assert_int_equal(filter_add(x.f, 200000, NULL, 0, NULL, NULL), ST_INTERNAL);
	fx_publish(&x);
	filter_view_stats(x.v, &stats);
	assert_int_equal(stats.keys, 22);
	assert_int_equal(stats.blocks, 2);
	fx_stop(&x);
}

/* A value of a number that no field has is left out like one of the wrong type. */
static void test_contradictions(void **state)
{
	struct filter_value vs[] = { { 0, FX_INT(1) }, { 0, FX_STRING("1") }, { 7, FX_INT(1) } };
	struct fx x;
	uint64_t n = 5;

	(void)state;
	fx_start(&x, ENGINE_INT);
	assert_int_equal(filter_add(x.f, ++x.key, vs, 3, &n, NULL), ST_OK);
	assert_int_equal(n, 7);
	fx_publish(&x);
	assert_int_equal(fx_ask_int(&x, ENGINE_EQ, 1), 1);
	fx_stop(&x);
}

static void test_depth(void **state)
{
	struct engine_scalar one = { .i = 1 };
	struct engine_filter nodes[ENGINE_FILTER_DEPTH + 1];
	struct lexical_filter bits;
	struct error e = { 0 };
	struct fx x;
	struct arena a;
	uint64_t n;

	(void)state;
	fx_start(&x, ENGINE_INT);
	fx_add(&x, &FX_INT(1), 1);
	fx_add(&x, &FX_INT(2), 1);
	fx_publish(&x);
	nodes[ENGINE_FILTER_DEPTH] = fm_leaf(0, ENGINE_NE, &one, 1);
	for (int i = ENGINE_FILTER_DEPTH - 1; i >= 0; i--)
		nodes[i] = (struct engine_filter){ .kind = ENGINE_AND,
			.children = &nodes[i + 1],
			.count = 1 };
	assert_int_equal(fx_passing(x.v, &nodes[1]), 2);
	arena_init(&a, 0);
	assert_int_equal(filter_eval(x.v, &nodes[0], NULL, &a, &bits, &n, &e), ST_INTERNAL);
	arena_release(&a);
	fx_stop(&x);
}

static bool say_yes(void *arg)
{
	++*(int *)arg;
	return true;
}

/* Substring search over many strings asks whether to stop; nothing half done is kept. */
static void test_cancel(void **state)
{
	int asked = 0;
	struct engine_stop stopper = { say_yes, &asked };
	struct engine_scalar s = { .s = bytes_of("99") };
	struct engine_filter f = fm_leaf(0, ENGINE_CONTAINS, &s, 1);
	struct lexical_filter bits;
	struct error e = { 0 };
	struct fx x;
	struct arena a;
	uint64_t n = 3;

	(void)state;
	fx_start(&x, ENGINE_PROSE);
	for (int i = 0; i < 5000; i++) {
		char text[16];

		(void)snprintf(text, sizeof(text), "%d", i);
		fx_add(&x, &FX_STRING(text), 1);
	}
	fx_publish(&x);
	arena_init(&a, 0);
	assert_int_equal(filter_eval(x.v, &f, &stopper, &a, &bits, &n, &e), ST_CANCELLED);
	assert_int_equal(e.code, ST_CANCELLED);
	assert_int_equal(asked, 1);
	assert_int_equal(n, 3);
	assert_int_equal(filter_eval(x.v, &f, NULL, &a, &bits, &n, &e), ST_OK);
	assert_int_equal(n, 95); /* 99, x99, 99x, xx99, 99xx */
	arena_release(&a);
	fx_stop(&x);
}

/* Many values and many leaves ask, too. */
static void test_cancel_large(void **state)
{
	static struct engine_scalar values[3000];
	int asked = 0;
	struct engine_stop stopper = { say_yes, &asked };
	struct engine_filter in = fm_leaf(0, ENGINE_IN, values, 3000), leaves[100];
	struct engine_filter all = { .kind = ENGINE_AND, .children = leaves, .count = 100 };
	struct lexical_filter bits;
	struct fx x;
	struct arena a;
	uint64_t n;

	(void)state;
	fx_start(&x, ENGINE_INT);
	fx_add(&x, &FX_INT(0), 1);
	fx_publish(&x);
	for (size_t i = 0; i < 100; i++)
		leaves[i] = fm_leaf(0, ENGINE_EQ, values, 1);
	arena_init(&a, 0);
	assert_int_equal(filter_eval(x.v, &in, &stopper, &a, &bits, &n, NULL), ST_CANCELLED);
	assert_int_equal(asked, 1);
	assert_int_equal(filter_eval(x.v, &all, &stopper, &a, &bits, &n, NULL), ST_CANCELLED);
	assert_int_equal(asked, 2);
	arena_release(&a);
	fx_stop(&x);
}

/* The second time nothing is evaluated; results of full blocks outlive commits, and
 * the whole never takes more than it may. */
static void test_cache(void **state)
{
	struct filter_stats before, after;
	struct fx x;

	(void)state;
	fx_start(&x, ENGINE_INT);
	for (int i = 0; i < 64; i++)
		fx_add(&x, &FX_INT(i % 3), 1);
	fx_publish(&x);
	(void)fx_ask_int(&x, ENGINE_EQ, 1);
	filter_view_stats(x.v, &before);
	(void)fx_ask_int(&x, ENGINE_EQ, 1);
	filter_view_stats(x.v, &after);
	assert_int_equal(after.cache_hits, before.cache_hits + 1);
	assert_int_equal(after.cache_misses, before.cache_misses);
	(void)fx_ask_int(&x, ENGINE_LTE, 1);
	filter_view_stats(x.v, &before);
	assert_int_equal(before.cache_misses, after.cache_misses + 1);
	for (int i = 0; i < 1000; i++) {
		(void)fx_ask_int(&x, ENGINE_GT, i);
		(void)fx_ask_int(&x, ENGINE_IN, i % 5);
		filter_view_stats(x.v, &after);
		assert_true(after.cache_bytes <= 1 << 20);
	}
	assert_true(after.cache_bytes > 1 << 16);
	fx_stop(&x);
}

static uint64_t hits(const struct filter_view *v)
{
	struct filter_stats stats;

	filter_view_stats(v, &stats);
	return stats.cache_hits;
}

/* What is known of a full block holds when it is compacted, and an older view does not
 * push out what is known for a newer one. */
static void test_cache_lives_on(void **state)
{
	struct filter_view *old;
	uint64_t before;
	struct fx x;

	(void)state;
	fx_start(&x, ENGINE_INT);
	for (int i = 0; i < 64; i++)
		fx_add(&x, &FX_INT(i % 3), 1);
	fx_publish(&x);
	old = filter_view_ref(x.v);
	x.key = 70000;
	fx_add(&x, &FX_INT(7), 1);
	fx_publish(&x);
	assert_int_equal(fx_ask_int(&x, ENGINE_LT, 1), UINT64_C(0x9249249249249249));
	for (int64_t key = 1; key <= 60; key++)
		filter_forget(x.f, key);
	fx_publish(&x);
	before = hits(x.v);
	assert_int_equal(fx_ask_int(&x, ENGINE_LT, 1), UINT64_C(9) << 60);
	assert_int_equal(hits(x.v), before + 1);
	filter_view_unref(old);
	old = filter_view_ref(x.v);
	fx_add(&x, &FX_INT(7), 1);
	fx_publish(&x);
	(void)fx_ask_int(&x, ENGINE_LT, 1);
	before = hits(x.v);
	for (int i = 0; i < 3; i++) {
		struct engine_scalar one = { .i = 1 };
		struct engine_filter f = fm_leaf(0, ENGINE_LT, &one, 1);

		(void)fx_passing(old, &f);
		(void)fx_passing(x.v, &f);
	}
	assert_int_equal(hits(x.v), before + 3);
	filter_view_unref(old);
	fx_stop(&x);
}

/* REQ: FIL-02 */
static void test_instants(void **state)
{
	struct engine_value many[] = { FX_INT(5), FX_INT(-7), FX_INT(900), FX_INT(3) };
	struct fx x;
	int64_t ms = 1;

	(void)state;
	fx_start(&x, ENGINE_DATE);
	fx_add(&x, many, 4);
	fx_add(&x, NULL, 0);
	fx_add(&x, &FX_STRING("1970-01-01T00:00:01Z"), 1);
	for (int full = 0; full < 2; full++) {
		fx_publish(&x);
		assert_true(filter_instant(x.v, 0, 1, &ms));
		assert_int_equal(ms, 900);
		assert_false(filter_instant(x.v, 0, 2, &ms));
		assert_true(filter_instant(x.v, 0, 3, &ms));
		assert_int_equal(ms, 1000);
		assert_false(filter_instant(x.v, 0, 4, &ms));
		assert_false(filter_instant(x.v, 0, -4000000, &ms));
		assert_false(filter_instant(x.v, 1, 1, &ms));
		x.key += 100000;
		fx_add(&x, &FX_INT(x.key), 1);
		fx_publish(&x);
		assert_true(filter_instant(x.v, 0, x.key, &ms));
		assert_int_equal(ms, x.key - 1); /* the value was made before the key */
	}
	fx_stop(&x);
	fx_start(&x, ENGINE_FLOAT);
	fx_add(&x, &FX_INT(5), 1);
	fx_publish(&x);
	assert_false(filter_instant(x.v, 0, 1, &ms));
	fx_stop(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_unknown_field),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_no_fields),
		cmocka_unit_test(test_contradictions),
		cmocka_unit_test(test_depth),
		cmocka_unit_test(test_cancel),
		cmocka_unit_test(test_cancel_large),
		cmocka_unit_test(test_cache),
		cmocka_unit_test(test_cache_lives_on),
		cmocka_unit_test(test_instants),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
