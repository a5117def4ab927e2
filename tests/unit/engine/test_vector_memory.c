/*
 * test_vector_memory.c: each allocation fails in turn: a call says so or succeeds, nothing
 * is left half-done, and the next one works.
 */
#include "vector_model.h"

#include <stdlib.h>

#include "util/mem.h"

/* Runs one step of a history with failures from the n-th allocation on, until it passes;
 * a failed call must leave what a repeated one can build on. */
#define UNTIL_OK(call)                                                                             \
	for (long n_ = 0;; n_++) {                                                                 \
		enum status st_;                                                                   \
		mem_fail_after(n_);                                                                \
		st_ = (call);                                                                      \
		mem_fail_after(-1);                                                                \
		if (st_ == ST_OK)                                                                  \
			break;                                                                     \
		assert_int_equal(st_, ST_NOMEM);                                                   \
		assert_true(n_ < 10000);                                                           \
	}

static enum status maintain(struct vectors *vs)
{
	struct error e = { 0 };

	while (vectors_maintain(vs, NULL, &e))
		;
	return e.code;
}

static enum status search(struct vectors *vs, const float *query, bool filtered)
{
	struct vectors_view *v = vectors_view_get(vs);
	uint64_t bits[10] = { 0x5555555555555555, 0, 1, 2, 3, 4 };
	struct vectors_filter f = { .bits = bits, .base = -90, .count = 640, .passing = 37 };
	struct vectors_query q = { .values = query, .k = 9, .filter = filtered ? &f : NULL };
	int64_t keys[2] = { 1, 2 };
	double scores[2];
	struct vectors_hit *hits;
	struct arena arena;
	size_t n;
	enum status st;

	arena_init(&arena, 0);
	st = vectors_search(v, &q, &arena, &hits, &n, NULL);
	arena_release(&arena);
	if (!st)
		st = vectors_score(v, query, keys, 2, scores, NULL);
	vectors_view_unref(v);
	return st;
}

static void add_one(struct vmodel *m)
{
	struct vmodel_vector *v;

	vmodel_add(m);
	v = &m->v[m->count - 1];
	v->key++;
	UNTIL_OK(vectors_add(m->vs, v->key, v->values, NULL));
	/* The one that vmodel_add put in front of it goes again. */
	UNTIL_OK(vectors_remove(m->vs, v->key - 1, NULL));
}

static void publish(struct vmodel *m)
{
	for (long n = 0; n < 6; n++) {
		mem_fail_after(n);
		vectors_publish(m->vs, m->commit + 1);
		mem_fail_after(-1);
	}
	vmodel_publish(m);
}

static void test_failing_allocations(void **state)
{
	struct vmodel m;
	float query[20];

	(void)state;
	vmodel_init(&m, 80, 20, 60, 150);
	for (int round = 0; round < 6; round++) {
		for (int i = 0; i < 70; i++) {
			if (i % 20 == 0)
				add_one(&m);
			else
				vmodel_add(&m);
		}
		for (int i = 0; i < 10; i++)
			vmodel_remove_some(&m);
		publish(&m);
		vmodel_check(&m, 1, NULL);
		UNTIL_OK(maintain(m.vs));
		publish(&m);
		vmodel_check(&m, 1, NULL);
		vmodel_draw(&m, query);
		UNTIL_OK(search(m.vs, query, round % 2));
	}
	vmodel_maintain(&m);
	vmodel_check(&m, 3, NULL);
	vmodel_reopen(&m);
	vmodel_check(&m, 3, NULL);
	vmodel_release(&m);
}

static enum status reopen(struct vmodel *m)
{
	struct vectors_options opt = { .dir = m->dir,
		.identity = bytes_of("model"),
		.dimension = m->dimension,
		.head_vectors = m->head_vectors,
		.exact_most = m->exact_most };
	struct vectors *vs = NULL;
	uint64_t commit;
	enum status st = vectors_open(&opt, &vs, &commit, NULL);

	if (!st)
		assert_int_equal(commit, m->commit);
	vectors_close(vs);
	return st;
}

static void test_failing_opens(void **state)
{
	struct vmodel m;
	uint64_t commit;

	(void)state;
	vmodel_init(&m, 81, 20, 60, 150);
	for (int i = 0; i < 500; i++) {
		vmodel_add(&m);
		if (i % 3 == 0)
			vmodel_remove_some(&m);
	}
	vmodel_publish(&m);
	vmodel_write_all(&m);
	for (int i = 0; i < 20; i++)
		vmodel_remove_some(&m);
	vmodel_publish(&m);
	vmodel_write_all(&m); /* a list that says what is dead */
	vectors_close(m.vs);
	UNTIL_OK(reopen(&m));
	vmodel_open(&m, &commit);
	assert_int_equal(commit, m.commit);
	vmodel_check(&m, 3, NULL);
	vmodel_release(&m);
}

/* Making, filling, writing and searching in one go, so that every allocation of each fails
 * once as the first and with all later ones. */
static void test_failing_lists(void **state)
{
	(void)state;
	for (long n = 0; n < 200; n += 1 + n / 40) {
		struct vmodel m;
		struct error e = { 0 };
		bool more = true;

		vmodel_init(&m, 82, 12, 1000, 200);
		for (int i = 0; i < 300; i++)
			vmodel_add(&m);
		vmodel_publish(&m);
		vectors_freeze(m.vs);
		mem_fail_after(n);
		for (int i = 0; i < 4 && more; i++)
			more = vectors_maintain(m.vs, NULL, &e);
		mem_fail_after(-1);
		assert_true(e.code == ST_OK || e.code == ST_NOMEM);
		vmodel_check(&m, 1, NULL);
		vmodel_maintain(&m);
		vmodel_check(&m, 1, NULL);
		vmodel_release(&m);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_failing_allocations),
		cmocka_unit_test(test_failing_opens),
		cmocka_unit_test(test_failing_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
