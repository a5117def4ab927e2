/*
 * test_filter_memory.c: every allocation fails once: nothing is lost and nothing is
 * changed. And how much memory a key costs.
 */
#include "filter_model.h"

#include <stdio.h>
#include <stdlib.h>

#include "util/mem.h"

static struct filter_view *publish(struct filter *f)
{
	struct filter_view *v = filter_publish(f);

	assert_non_null(v);
	return v;
}

static void check(struct fm *m)
{
	struct filter_view *v = publish(m->f);

	for (int i = 0; i < 4; i++) {
		struct arena a;

		arena_init(&a, 0);
		assert_true(fm_agree(m, v, fm_tree(m, &m->rng, m->field_count, 3, &a), m->count,
			false));
		arena_release(&a);
	}
	filter_view_unref(v);
}

static void test_new(void **state)
{
	struct filter_options opt = { 10, 1000 };
	enum status st = ST_NOMEM;
	struct filter *f = NULL;

	(void)state;
	for (long n = 0; st != ST_OK; n++) {
		(void)mem_fail_after(n);
		st = filter_new(&opt, &f, NULL);
		(void)mem_fail_after(-1);
		assert_true(n < 10);
		assert_true(st == ST_OK || (st == ST_NOMEM && f == NULL));
	}
	filter_free(f);
	opt.max_fields = 65536;
	assert_int_equal(filter_new(&opt, &f, NULL), ST_INVALID);
}

static void test_define(void **state)
{
	struct filter_options opt = { 1, 0 };
	enum engine_type type;
	struct filter *f;
	size_t no = 7;

	(void)state;
	assert_int_equal(filter_new(&opt, &f, NULL), ST_OK);
	(void)mem_fail_after(0);
	assert_int_equal(filter_define(f, bytes_of("a"), ENGINE_INT, &no, NULL), ST_NOMEM);
	(void)mem_fail_after(-1);
	assert_false(filter_field(f, bytes_of("a"), &no, &type));
	assert_int_equal(no, 7);
	assert_int_equal(filter_define(f, bytes_of("a"), ENGINE_INT, &no, NULL), ST_OK);
	assert_int_equal(no, 0);
	assert_int_equal(filter_define(f, bytes_of("b"), ENGINE_INT, &no, NULL), ST_FULL);
	filter_free(f);
}

/* Each addition fails at each of its allocations first, also where a block is sealed;
 * meanwhile one with a smaller key may come, as if nothing had been. */
static void test_add(void **state)
{
	size_t failures = 0;
	struct fm m;

	(void)state;
	for (uint64_t seed = 1; seed <= 6; seed++) {
		fm_init(&m, seed, 1000, 5, 0);
		while (m.count < 400) {
			uint32_t step = fm_below(&m.rng, 20) ? 2 + fm_below(&m.rng, 3) : 70000;
			struct fm_rng before = m.rng;
			enum status st = ST_NOMEM;

			for (long n = 0; st != ST_OK; n++) {
				m.rng = before; /* the same chunk again */
				(void)mem_fail_after(n);
				st = fm_add(&m, step);
				(void)mem_fail_after(-1);
				failures += st != ST_OK;
				if (n == 4 && st != ST_OK)
					assert_int_equal(fm_add(&m, 1), ST_OK);
				assert_true(n < 1000);
			}
			if (m.count % 40 == 0)
				check(&m);
		}
		check(&m);
		fm_release(&m);
	}
	assert_true(failures > 300);
}

/* A publish that finds no memory may be tried again; one that cannot compact leaves
 * the block as it was. */
static void test_publish(void **state)
{
	size_t failures = 0, published = 0;
	struct fm m;

	(void)state;
	for (long n = 0; n < 60; n++) {
		struct filter_view *v;

		fm_init(&m, 3, 600, 5, 0);
		while (m.count < 600)
			assert_int_equal(fm_add(&m, 300), ST_OK);
		for (size_t i = 0; i < 500; i++)
			if (i % 5)
				fm_forget(&m, i);
		(void)mem_fail_after(n);
		v = filter_publish(m.f);
		(void)mem_fail_after(-1);
		*(v ? &published : &failures) += 1;
		filter_view_unref(v);
		check(&m);
		fm_release(&m);
	}
	assert_true(failures >= 10);
	assert_true(published >= 5);
}

static void test_eval(void **state)
{
	struct fm_rng rng;
	struct filter_view *v;
	size_t failures = 0;
	struct fm m;

	(void)state;
	fm_init(&m, 8, 900, 6, 1 << 20);
	while (m.count < 900)
		assert_int_equal(fm_add(&m, 200), ST_OK);
	v = publish(m.f);
	rng = m.rng;
	for (int i = 0; i < 40; i++) {
		enum status st = ST_NOMEM;
		struct engine_filter *tree;
		struct arena a, out;

		arena_init(&a, 0);
		tree = fm_tree(&m, &rng, m.field_count, 4, &a);
		for (long n = 0; st != ST_OK; n++) {
			struct lexical_filter bits = { NULL, -5, 0 };
			uint64_t count = 12345;
			struct error e;

			arena_init(&out, 0);
			(void)mem_fail_after(n);
			st = filter_eval(v, tree, NULL, &out, &bits, &count, &e);
			(void)mem_fail_after(-1);
			arena_release(&out);
			failures += st != ST_OK;
			assert_true(st == ST_OK || (st == ST_NOMEM && e.code == ST_NOMEM));
			assert_true(st == ST_OK || (count == 12345 && bits.base == -5));
		}
		assert_true(fm_agree(&m, v, tree, m.count, false));
		arena_release(&a);
	}
	assert_true(failures > 100);
	filter_view_unref(v);
	fm_release(&m);
}

/* Walks through the failures of one evaluation, then wants that many. */
static void walk(const struct filter_view *v, const struct engine_filter *tree, uint64_t expected)
{
	struct lexical_filter bits;
	enum status st = ST_NOMEM;
	uint64_t count = 0;
	struct arena a;

	for (long n = 0; st != ST_OK; n++) {
		arena_init(&a, 0);
		(void)mem_fail_after(n);
		st = filter_eval(v, tree, NULL, &a, &bits, &count, NULL);
		(void)mem_fail_after(-1);
		arena_release(&a);
		assert_true(st == ST_OK || st == ST_NOMEM);
		assert_true(n < 100);
	}
	assert_int_equal(count, expected);
}

/* The same for what needs much memory at once: sets of many values, and more strings
 * than the last block has keys. */
static void test_eval_large(void **state)
{
	static struct engine_scalar values[5000], close[400];
	struct filter_options opt = { 2, 0 };
	struct engine_scalar needle = { .s = bytes_of("77") };
	struct engine_filter leaves[] = { fm_leaf(0, ENGINE_CONTAINS, &needle, 1),
		fm_leaf(1, ENGINE_IN, values, 5000), fm_leaf(1, ENGINE_IN, close, 400) };
	struct engine_filter tree = { .kind = ENGINE_OR, .children = leaves, .count = 3 };
	uint64_t expected = 0, late = 0;
	struct filter_view *v;
	struct filter *f;
	size_t no;

	(void)state;
	assert_int_equal(filter_new(&opt, &f, NULL), ST_OK);
	assert_int_equal(filter_define(f, bytes_of("a"), ENGINE_PROSE, &no, NULL), ST_OK);
	assert_int_equal(filter_define(f, bytes_of("b"), ENGINE_INT, &no, NULL), ST_OK);
	for (size_t i = 0; i < 5000; i++)
		values[i].i = (int64_t)i * 1000000;
	for (size_t i = 0; i < 400; i++)
		close[i].i = (int64_t)i * 100; /* a bitmap; nobody has them */
	for (int64_t key = 1; key <= 40000; key++) {
		struct filter_value vs[2] = { { .field = 0 }, { .field = 1 } };
		char text[16];

		(void)snprintf(text, sizeof(text), "%d", (int)key);
		vs[0].v.s = bytes_of(text);
		vs[1].v = (struct engine_value){ .kind = ENGINE_V_INT, .i = key * 500000 };
		assert_int_equal(filter_add(f, key + 30000, vs, 2, NULL, NULL), ST_OK);
		if (strstr(text, "77") || (key % 2 == 0 && key < 10000)) {
			expected++;
			late += key + 30000 >= 65536;
		}
	}
	v = publish(f);
	walk(v, &tree, expected);
	filter_view_unref(v);
	for (int64_t key = 1; key + 30000 < 65536; key++)
		filter_forget(f, key + 30000);
	v = publish(f);
	walk(v, &tree, late);
	filter_view_unref(v);
	filter_free(f);
}

/* Keys that are so far apart that no bitmap holds them. */
static void test_wide_keys(void **state)
{
	struct filter_options opt = { 0, 0 };
	struct engine_scalar no = { .i = 0 };
	struct engine_filter tree = fm_leaf(0, ENGINE_EXISTS, &no, 1);
	struct lexical_filter bits;
	struct filter_view *v;
	struct filter *f;
	uint64_t count;
	struct arena a;

	(void)state;
	assert_int_equal(filter_new(&opt, &f, NULL), ST_OK);
	assert_int_equal(filter_add(f, INT64_MIN, NULL, 0, NULL, NULL), ST_OK);
	assert_int_equal(filter_add(f, INT64_MAX, NULL, 0, NULL, NULL), ST_OK);
	v = publish(f);
	arena_init(&a, 1 << 20);
	assert_int_equal(filter_eval(v, &tree, NULL, &a, &bits, &count, NULL), ST_NOMEM);
	filter_view_unref(v);
	filter_forget(f, INT64_MIN);
	v = publish(f);
	assert_int_equal(filter_eval(v, &tree, NULL, &a, &bits, &count, NULL), ST_OK);
	assert_int_equal(count, 1);
	assert_int_equal(bits.base, INT64_MAX - 65535);
	arena_release(&a);
	filter_view_unref(v);
	filter_free(f);
}

/* Five fields of everyday shape: a language, one of 1,000 sources, a year, an instant
 * and a score. */
static void test_memory_a_key(void **state)
{
	static const enum engine_type types[] = { ENGINE_KEYWORD, ENGINE_KEYWORD, ENGINE_INT,
		ENGINE_DATE, ENGINE_FLOAT };
	struct filter_options opt = { 100, 0 };
	struct fm_rng r = { 1 };
	struct filter_stats stats;
	struct filter_view *v;
	struct filter *f;
	size_t no;

	(void)state;
	assert_int_equal(filter_new(&opt, &f, NULL), ST_OK);
	for (size_t i = 0; i < 5; i++) {
		char name[2] = { (char)('a' + i), '\0' };

		assert_int_equal(filter_define(f, bytes_of(name), types[i], &no, NULL), ST_OK);
	}
	for (int64_t key = 1; key <= 300000; key++) {
		struct filter_value vs[5] = { { .field = 0 }, { .field = 1 }, { .field = 2 },
			{ .field = 3 }, { .field = 4 } };
		char lang[16], source[16];

		(void)snprintf(lang, sizeof(lang), "l%u", fm_below(&r, 20));
		(void)snprintf(source, sizeof(source), "source%u", fm_below(&r, 1000));
		vs[0].v.s = bytes_of(lang);
		vs[1].v.s = bytes_of(source);
		vs[2].v = (struct engine_value){ .kind = ENGINE_V_INT, .i = fm_below(&r, 30) };
		vs[3].v = (struct engine_value){ .kind = ENGINE_V_INT,
			.i = 1700000000000 + fm_below(&r, 1000000000) };
		vs[4].v = (struct engine_value){ .kind = ENGINE_V_REAL,
			.r = (double)fm_below(&r, 1000000) / 1e6 };
		assert_int_equal(filter_add(f, key, vs, 5, NULL, NULL), ST_OK);
	}
	v = publish(f);
	filter_view_stats(v, &stats);
	assert_int_equal(stats.keys, 300000);
	assert_int_equal(stats.blocks, 5);
	assert_true(stats.bytes / stats.keys < 40);
	filter_view_unref(v);
	/* What is forgotten is given back, but for the open block and the strings. */
	for (int64_t key = 1; key <= 300000; key++)
		filter_forget(f, key);
	v = publish(f);
	filter_view_stats(v, &stats);
	assert_int_equal(stats.keys, 0);
	assert_int_equal(stats.blocks, 1);
	assert_true(stats.bytes < 6000000);
	filter_view_unref(v);
	filter_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_new),
		cmocka_unit_test(test_define),
		cmocka_unit_test(test_add),
		cmocka_unit_test(test_publish),
		cmocka_unit_test(test_eval),
		cmocka_unit_test(test_eval_large),
		cmocka_unit_test(test_wide_keys),
		cmocka_unit_test(test_memory_a_key),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
