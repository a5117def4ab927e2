/*
 * test_vector_history.c: random histories of adds, removes, commits, maintenance and
 * reopening, against brute force over the living set: whatever the segments are, exact
 * answers are the same to the bit, old views go on seeing what they saw, and lists find
 * enough of the best.
 *
 * REQ: issue "vector index"; filtered recall at every selectivity
 */
#include "vector_model.h"

#include <math.h>
#include <stdlib.h>

#define OLD 3

static void step(struct vmodel *m)
{
	struct error e = { 0 };
	uint32_t n = vrng_below(&m->rng, 60), what = vrng_below(&m->rng, 12);

	for (uint32_t i = 0; i < n; i++)
		vmodel_add(m);
	n = vrng_below(&m->rng, what == 0 ? 200 : 15);
	for (uint32_t i = 0; i < n; i++)
		vmodel_remove_some(m);
	if (vrng_below(&m->rng, 20) == 0)
		vectors_freeze(m->vs);
	if (what < 10)
		vmodel_publish(m);
	for (uint32_t i = 0; i < what % 4; i++)
		vectors_maintain(m->vs, NULL, &e);
	assert_int_equal(e.code, ST_OK);
}

static void run_history(uint64_t seed, size_t dimension, size_t head, size_t exact_most)
{
	struct vmodel m;
	struct vmodel_state old[OLD] = { 0 };

	vmodel_init(&m, seed, dimension, head, exact_most);
	m.gap = 1 + seed % 5 * (seed % 5);
	m.clusters = seed % 2 ? 20 : 0;
	for (unsigned i = 0; i < 50; i++) {
		struct vmodel_state *s = &old[i % OLD];

		step(&m);
		vmodel_check(&m, 1, NULL);
		if (s->view) {
			vmodel_state_check(&m, s, 1, NULL);
			vmodel_state_release(s);
			s->view = NULL;
		}
		if (i % 13 == 12) {
			for (size_t j = 0; j < OLD; j++) {
				if (old[j].view)
					vmodel_state_release(&old[j]);
				old[j].view = NULL;
			}
			vmodel_publish(&m);
			vmodel_reopen(&m);
			vmodel_check(&m, 1, NULL);
		} else {
			vmodel_state_take(&m, s);
		}
	}
	for (size_t j = 0; j < OLD; j++)
		if (old[j].view)
			vmodel_state_release(&old[j]);
	vmodel_publish(&m);
	vmodel_write_all(&m);
	vmodel_check(&m, 2, NULL);
	assert_int_equal(vmodel_reopen(&m), m.commit);
	vmodel_check(&m, 2, NULL);
	vmodel_release(&m);
}

static void test_flat_histories(void **state)
{
	(void)state;
	for (uint64_t seed = 1; seed <= 4; seed++)
		run_history(seed, 1 + seed * seed % 70, 20 + seed * 17, 1000000);
}

static void test_histories_with_lists(void **state)
{
	(void)state;
	for (uint64_t seed = 101; seed <= 104; seed++)
		run_history(seed, 2 + seed * 7 % 80, 30 + seed % 3 * 50, 200);
}

/* What is dense in few dimensions is told apart by the wide rows alone. */
static void test_low_dimensions_are_exact(void **state)
{
	(void)state;
	for (size_t d = 1; d <= 4; d++) {
		struct vmodel m;

		vmodel_init(&m, 40 + d, d, 500, 1000000);
		for (int i = 0; i < 3000; i++)
			vmodel_add(&m);
		vmodel_publish(&m);
		vmodel_check(&m, 5, NULL);
		vmodel_maintain(&m);
		vmodel_check(&m, 5, NULL);
		vmodel_release(&m);
	}
}

static void test_a_view_keeps_what_was_removed(void **state)
{
	struct vmodel m;
	struct vmodel_state before;
	float values[8];

	(void)state;
	vmodel_init(&m, 50, 8, 10, 50);
	for (int i = 0; i < 100; i++)
		vmodel_add(&m);
	vmodel_publish(&m);
	vmodel_maintain(&m);
	vmodel_state_take(&m, &before);
	for (int i = 0; i < 100; i++)
		if (!m.v[i].removed) {
			m.v[i].removed = m.commit + 1;
			assert_int_equal(vectors_remove(m.vs, m.v[i].key, NULL), ST_OK);
		}
	assert_true(vectors_get(before.view, m.v[7].key, values));
	vmodel_publish(&m);
	vmodel_check(&m, 3, NULL); /* nothing is left */
	vmodel_state_check(&m, &before, 3, NULL);
	vmodel_write_all(&m);
	vmodel_state_check(&m, &before, 3, NULL);
	vmodel_state_release(&before);
	assert_int_equal(vmodel_reopen(&m), m.commit);
	assert_int_equal(vectors_last_key(m.vs), m.v[99].key);
	vmodel_add(&m);
	vmodel_publish(&m);
	vmodel_check(&m, 3, NULL);
	vmodel_release(&m);
}

/* Lists change answers with a commit of their own alone, and are the same again after a
 * restart. */
static void test_lists_wait_for_a_commit(void **state)
{
	struct vmodel m;
	struct vectors_stats stats;
	struct vectors_view *v;
	struct error e = { 0 };

	(void)state;
	vmodel_init(&m, 60, 16, 100, 300);
	m.clusters = 10;
	for (int i = 0; i < 450; i++)
		vmodel_add(&m);
	vmodel_publish(&m);
	while (vectors_maintain(m.vs, NULL, &e))
		;
	assert_true(vectors_pending(m.vs));
	vmodel_check(&m, 3, NULL); /* flat: checked to the bit */
	for (int i = 0; i < 30; i++) {
		vmodel_remove_some(&m); /* meanwhile */
		vmodel_add(&m);
	}
	vectors_publish(m.vs, m.commit); /* no greater commit: goes on waiting */
	assert_true(vectors_pending(m.vs));
	vmodel_publish(&m);
	assert_false(vectors_pending(m.vs));
	v = vectors_view_get(m.vs);
	vectors_view_stats(v, &stats);
	vectors_view_unref(v);
	assert_true(stats.lists > 10);
	assert_true(stats.listed > 300 && stats.listed <= 450);
	assert_int_equal(stats.vectors, 450);
	vmodel_check(&m, 5, NULL);
	vmodel_reopen(&m);
	v = vectors_view_get(m.vs);
	vectors_view_stats(v, &stats);
	vectors_view_unref(v);
	assert_true(stats.lists > 10);
	vmodel_check(&m, 5, NULL);
	vmodel_release(&m);
}

static uint64_t search_sum(struct vmodel *m, const float *queries, size_t n)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++) {
		struct vectors_query q = { .values = queries + i * m->dimension,
			.k = 10,
			.effort = 0.1 };
		struct vectors_view *v = vectors_view_get(m->vs);
		struct vectors_hit *hits;
		struct arena arena;
		size_t found;

		arena_init(&arena, 0);
		assert_int_equal(vectors_search(v, &q, &arena, &hits, &found, NULL), ST_OK);
		for (size_t j = 0; j < found; j++)
			sum = sum * 31 + (uint64_t)hits[j].key;
		arena_release(&arena);
		vectors_view_unref(v);
	}
	return sum;
}

/* Behind lists, too, what is in heads and flat files makes no difference to what is found,
 * only what is in the lists does. */
static void test_the_tail_changes_no_answers(void **state)
{
	struct vmodel m;
	float queries[40 * 24];
	uint64_t in_head, in_file;

	(void)state;
	vmodel_init(&m, 63, 24, 100, 1000);
	for (int i = 0; i < 2000; i++)
		vmodel_add(&m);
	vmodel_publish(&m);
	vmodel_maintain(&m);
	for (size_t i = 0; i < 40; i++)
		vmodel_draw(&m, queries + i * 24);
	for (int round = 0; round < 5; round++) {
		for (int i = 0; i < 80; i++)
			vmodel_add(&m);
		for (int i = 0; i < 10; i++)
			vmodel_remove_some(&m);
		vmodel_publish(&m);
		in_head = search_sum(&m, queries, 40);
		vectors_freeze(m.vs);
		assert_int_equal(search_sum(&m, queries, 40), in_head);
		vmodel_maintain(&m);
		in_file = search_sum(&m, queries, 40);
		assert_int_equal(in_file, in_head);
	}
	assert_int_equal(vmodel_reopen(&m), m.commit);
	assert_int_equal(search_sum(&m, queries, 40), in_file);
	vmodel_release(&m);
}

/* What passes may be far away from the query, in lists that come last. */
static void test_filters_far_away(void **state)
{
	struct vmodel m;
	uint64_t bits[200] = { 0 };
	struct vectors_filter f = { .bits = bits, .count = 200 * 64 };

	(void)state;
	vmodel_init(&m, 64, 16, 1000, 1000);
	m.clusters = 30;
	for (int i = 0; i < 6000; i++)
		vmodel_add(&m);
	vmodel_publish(&m);
	vmodel_maintain(&m);
	f.base = m.v[0].key;
	for (int i = 0; i < 6000; i++) {
		float dot = 0, *query = m.v[0].values;

		for (size_t j = 0; j < 16; j++)
			dot += m.v[i].values[j] * query[j];
		if (dot < 0) {
			size_t bit = (size_t)(m.v[i].key - f.base);

			bits[bit / 64] |= UINT64_C(1) << bit % 64;
			f.passing++;
		}
	}
	assert_in_range(f.passing, 1000, 5000);
	for (size_t k = 1; k <= f.passing; k *= 3) {
		struct vectors_query q = { .values = m.v[0].values, .k = k, .filter = &f };
		struct vectors_view *v = vectors_view_get(m.vs);
		struct vectors_hit *hits;
		struct arena arena;
		size_t n;

		arena_init(&arena, 0);
		assert_int_equal(vectors_search(v, &q, &arena, &hits, &n, NULL), ST_OK);
		assert_in_range(n, k, k + 64);
		assert_true(hits[0].score < 0.001);
		arena_release(&arena);
		vectors_view_unref(v);
	}
	vmodel_release(&m);
}

/* A head that is in a file by now takes memory for as long as a view holds it. */
static void test_held_heads_are_counted(void **state)
{
	struct vmodel m;
	struct vmodel_state old;
	struct error e = { 0 };

	(void)state;
	vmodel_init(&m, 62, 100, 300, 10000);
	for (int i = 0; i < 300; i++)
		vmodel_add(&m);
	vmodel_publish(&m);
	vmodel_state_take(&m, &old);
	assert_int_equal(vectors_held_bytes(m.vs), 0);
	vmodel_maintain(&m);
	assert_in_range(vectors_held_bytes(m.vs), 300 * (128 + 256), 600 * (128 + 256));
	vmodel_state_check(&m, &old, 1, NULL);
	vmodel_state_release(&old);
	assert_int_equal(vectors_held_bytes(m.vs), 0);
	assert_false(vectors_maintain(m.vs, NULL, &e));
	vmodel_release(&m);
}

/* Forgotten lists are made again, the same: the same answers from two indexes. */
static void test_lists_are_deterministic(void **state)
{
	struct vmodel a, b;
	struct error e = { 0 };
	float query[24];

	(void)state;
	vmodel_init(&a, 61, 24, 1000, 400);
	vmodel_init(&b, 61, 24, 70, 400); /* other segments */
	for (int i = 0; i < 1000; i++) {
		vmodel_add(&a);
		vmodel_add(&b);
		if (i % 70 == 69)
			vmodel_publish(&b);
		if (i == 600) /* or there are lists twice */
			while (vectors_maintain(b.vs, NULL, &e) && !vectors_pending(b.vs))
				;
	}
	vmodel_publish(&a);
	vmodel_publish(&b);
	vmodel_reopen(&b);
	vmodel_write_all(&a);
	vmodel_write_all(&b);
	for (int i = 0; i < 50; i++) {
		struct vectors_query q = { .values = query, .k = 10, .effort = 0.1 };
		struct vectors_view *va = vectors_view_get(a.vs), *vb = vectors_view_get(b.vs);
		struct vectors_hit *ha, *hb;
		struct arena arena;
		size_t na, nb;

		vmodel_draw(&a, query);
		arena_init(&arena, 0);
		assert_int_equal(vectors_search(va, &q, &arena, &ha, &na, NULL), ST_OK);
		assert_int_equal(vectors_search(vb, &q, &arena, &hb, &nb, NULL), ST_OK);
		assert_int_equal(na, nb);
		for (size_t j = 0; j < na; j++)
			assert_int_equal(ha[j].key, hb[j].key);
		arena_release(&arena);
		vectors_view_unref(va);
		vectors_view_unref(vb);
	}
	vmodel_release(&a);
	vmodel_release(&b);
}

/* Over random filters of all selectivities. */
static void test_recall(void **state)
{
	struct vmodel m;
	uint64_t found, of;

	(void)state;
	vmodel_init(&m, 70, 48, 2000, 2000);
	m.clusters = 60;
	for (int i = 0; i < 12000; i++)
		vmodel_add(&m);
	vmodel_publish(&m);
	vmodel_maintain(&m);
	for (int i = 0; i < 300; i++) {
		vmodel_remove_some(&m);
		vmodel_add(&m);
	}
	vmodel_publish(&m);
	found = vmodel_check(&m, 100, &of);
	assert_true(of > 1000);
	assert_true((double)found >= 0.98 * (double)of);
	vmodel_release(&m);
}

static bool stop_now(void *arg)
{
	++*(int *)arg;
	return true;
}

static void test_bad_calls_and_stops(void **state)
{
	struct vmodel m;
	struct vectors_view *v;
	struct vectors_hit *hits;
	struct arena arena;
	struct error e = { 0 };
	float values[300] = { 0 };
	int calls = 0;
	size_t n;
	struct vectors_query q = { .values = values, .k = 5 };
	const bool stop = true;

	(void)state;
	vmodel_init(&m, 71, 300, 16000, 16000);
	arena_init(&arena, 0);
	assert_int_equal(vectors_add(m.vs, 1, values, &e), ST_INVALID);
	v = vectors_view_get(m.vs);
	assert_int_equal(vectors_search(v, &q, &arena, &hits, &n, &e), ST_INVALID);
	assert_int_equal(vectors_score(v, values, NULL, 0, NULL, &e), ST_INVALID);
	values[5] = NAN;
	assert_int_equal(vectors_add(m.vs, 1, values, &e), ST_INVALID);
	values[5] = 1;
	assert_int_equal(vectors_search(v, &q, &arena, &hits, &n, &e), ST_OK);
	assert_int_equal(n, 0);
	vectors_view_unref(v);
	for (int i = 0; i < 17000; i++)
		vmodel_add(&m);
	assert_int_equal(vectors_add(m.vs, m.v[17000 - 1].key, values, &e), ST_INVALID);
	assert_int_equal(vectors_remove(m.vs, 1 << 30, &e), ST_OK);
	vmodel_publish(&m);
	v = vectors_view_get(m.vs);
	q.stop = stop_now;
	q.stop_arg = &calls;
	assert_int_equal(vectors_search(v, &q, &arena, &hits, &n, &e), ST_CANCELLED);
	assert_int_equal(calls, 1);
	q.k = 0;
	q.stop = NULL;
	assert_int_equal(vectors_search(v, &q, &arena, &hits, &n, &e), ST_OK);
	assert_int_equal(n, 0);
	vectors_view_unref(v);
	memset(&e, 0, sizeof(e));
	assert_false(vectors_maintain(m.vs, &stop, &e));
	assert_int_equal(e.code, ST_CANCELLED);
	memset(&e, 0, sizeof(e));
	assert_true(vectors_maintain(m.vs, NULL, &e)); /* the head; lists are next */
	assert_false(vectors_maintain(m.vs, &stop, &e));
	assert_int_equal(e.code, ST_CANCELLED);
	assert_false(vectors_pending(m.vs));
	arena_release(&arena);
	vmodel_release(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_flat_histories),
		cmocka_unit_test(test_histories_with_lists),
		cmocka_unit_test(test_low_dimensions_are_exact),
		cmocka_unit_test(test_a_view_keeps_what_was_removed),
		cmocka_unit_test(test_lists_wait_for_a_commit),
		cmocka_unit_test(test_the_tail_changes_no_answers),
		cmocka_unit_test(test_filters_far_away),
		cmocka_unit_test(test_held_heads_are_counted),
		cmocka_unit_test(test_lists_are_deterministic),
		cmocka_unit_test(test_recall),
		cmocka_unit_test(test_bad_calls_and_stops),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
