/*
 * test_filter_history.c: random histories of adding, forgetting and publishing, in
 * which every view says of every random tree what a naive evaluation says, bit for
 * bit (REQ: F1, F3, F4, D27).
 */
#include "filter_model.h"

#include <stdlib.h>

/* Keys go on by one, with small gaps, or jump over blocks. */
static uint32_t draw_step(struct fm *m, unsigned mode)
{
	if (mode == 0 || fm_below(&m->rng, 3))
		return 1;
	if (mode == 1)
		return 1 + fm_below(&m->rng, 40);
	return fm_below(&m->rng, 200) ? 1 + fm_below(&m->rng, 400) : 150000;
}

static void check(struct fm *m, const struct filter_view *v, size_t n, int trees)
{
	for (int i = 0; i < trees; i++) {
		struct engine_filter *tree;
		struct arena a;

		arena_init(&a, 0);
		tree = fm_tree(m, &m->rng, filter_view_fields(v), 1 + fm_below(&m->rng, 5), &a);
		assert_true(fm_agree(m, v, tree, n, false));
		assert_true(fm_agree(m, v, tree, n, false)); /* cached */
		arena_release(&a);
	}
}

/* Forgets a share of a range of chunks: whole blocks die, others become thin. */
static void forget_some(struct fm *m)
{
	size_t from = fm_below(&m->rng, (uint32_t)m->count);
	size_t n = fm_below(&m->rng, (uint32_t)(m->count - from)) + 1;
	uint32_t percent = fm_below(&m->rng, 3) ? 60 : 100;

	for (size_t i = from; i < from + n; i++)
		if (fm_below(&m->rng, 100) < percent)
			fm_forget(m, i);
	filter_forget(m->f, m->key + 1000000); /* nobody */
}

static void run_history(uint64_t seed, size_t chunks, unsigned mode, size_t cache_bytes)
{
	struct filter_view *v;
	struct fm m;

	fm_init(&m, seed, chunks, 1 + (size_t)(seed % 9), cache_bytes);
	while (m.count < chunks) {
		size_t n = 1 + fm_below(&m.rng, (uint32_t)chunks / 4);

		for (size_t i = 0; i < n && m.count < chunks; i++)
			assert_int_equal(fm_add(&m, draw_step(&m, mode)), ST_OK);
		if (fm_below(&m.rng, 3) == 0 && m.field_count < FM_FIELDS)
			fm_define(&m);
		v = filter_publish(m.f);
		assert_non_null(v);
		check(&m, v, m.count, 6);
		filter_view_unref(v);
		if (fm_below(&m.rng, 2))
			forget_some(&m);
	}
	for (int i = 0; i < 6; i++) {
		v = filter_publish(m.f); /* compacts some more each time */
		assert_non_null(v);
		check(&m, v, m.count, 5);
		filter_view_unref(v);
		forget_some(&m);
	}
	fm_release(&m);
}

static void test_histories_dense(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 7; seed++)
		run_history(seed, 3000, 0, 1 << 24);
}

static void test_histories_with_gaps(void **state)
{
	(void)state;
	for (uint64_t seed = 11; seed <= 17; seed++)
		run_history(seed, 3000, 1, 1 << 24);
}

static void test_histories_sparse(void **state)
{
	(void)state;
	for (uint64_t seed = 21; seed <= 38; seed++)
		run_history(seed, 4000, 2, 1 << 24);
}

static void test_histories_tiny_cache(void **state)
{
	(void)state;
	for (uint64_t seed = 46; seed <= 52; seed++)
		run_history(seed, 3000, 2, seed % 2 ? 0 : 100000);
}

/* Blocks that are full to the last key. */
static void test_full_blocks(void **state)
{
	struct filter_view *v;
	struct fm m;

	(void)state;
	fm_init(&m, 99, 140000, 4, 1 << 24);
	m.key = 4242;
	while (m.count < 140000)
		assert_int_equal(fm_add(&m, 1), ST_OK);
	v = filter_publish(m.f);
	assert_non_null(v);
	check(&m, v, m.count, 6);
	filter_view_unref(v);
	for (size_t i = 0; i < m.count; i += 1 + i % 3)
		fm_forget(&m, i);
	v = filter_publish(m.f);
	assert_non_null(v);
	check(&m, v, m.count, 6);
	filter_view_unref(v);
	fm_release(&m);
}

/* A view stays as it was, whatever comes after it, and so does what is cached. */
static void test_old_views(void **state)
{
	struct filter_view *views[12];
	size_t counts[12];
	struct fm m;

	(void)state;
	for (uint64_t seed = 70; seed < 76; seed++) {
		fm_init(&m, seed, 6000, 3, 1 << 24);
		for (size_t i = 0; i < 12; i++) {
			for (size_t k = 0; k < 500; k++)
				assert_int_equal(fm_add(&m, draw_step(&m, 2)), ST_OK);
			views[i] = filter_publish(m.f);
			assert_non_null(views[i]);
			counts[i] = m.count;
			fm_define(&m);
		}
		for (size_t t = 0; t < 10; t++) {
			struct engine_filter *tree;
			struct arena a;

			arena_init(&a, 0);
			tree = fm_tree(&m, &m.rng, m.field_count - 1, 4, &a);
			for (size_t i = 0; i < 30; i++) {
				size_t at = fm_below(&m.rng, 12);

				assert_true(fm_agree(&m, views[at], tree, counts[at], false));
			}
			arena_release(&a);
		}
		for (size_t i = 0; i < 12; i++)
			filter_view_unref(views[i]);
		fm_release(&m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_histories_dense),
		cmocka_unit_test(test_histories_with_gaps),
		cmocka_unit_test(test_histories_sparse),
		cmocka_unit_test(test_histories_tiny_cache),
		cmocka_unit_test(test_full_blocks),
		cmocka_unit_test(test_old_views),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
