/*
 * test_vector_threads.c: a writer, a maintainer and readers at once, for some seconds:
 * each view has what its commit has, and goes on having it. Meant for TSan, too.
 */
#include "vector_model.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "util/clock.h"
#include "util/fault.h"
#include "util/log.h"

#define READERS 3
#define SECONDS 3
#define DIMENSION 16
#define MAX_COMMITS 100000

struct stress {
	struct vmodel m;
	_Atomic bool stop;
	_Atomic uint64_t searches, entered;
	_Atomic uint64_t *living; /* at each commit */
};

static void must(bool good)
{
	if (!good)
		abort(); /* cmocka's asserts belong to the main thread */
}

static void *maintain_on(void *arg)
{
	struct stress *s = arg;
	struct error e = { 0 };

	while (!atomic_load(&s->stop)) {
		if (!vectors_maintain(s->m.vs, NULL, &e))
			clock_sleep_ms(1);
		must(e.code == ST_OK);
	}
	return NULL;
}

/* All keys are found, all by one search; scores are those of vectors_score. */
static void search_all(const struct vectors_view *v, const float *query, uint64_t living)
{
	struct vectors_query q = { .values = query, .k = living + 1, .exact = living % 2 };
	struct vectors_hit *hits;
	struct arena arena;
	double score;
	size_t n;

	arena_init(&arena, 0);
	must(vectors_search(v, &q, &arena, &hits, &n, NULL) == ST_OK);
	must(n == living);
	for (size_t i = 1; i < n; i++)
		must(hits[i - 1].score > hits[i].score ||
			(!(hits[i - 1].score < hits[i].score) && hits[i - 1].key < hits[i].key));
	for (size_t i = 0; i < n; i += 1 + n / 5) {
		must(vectors_score(v, query, &hits[i].key, 1, &score, NULL) == ST_OK);
		must(!(score < hits[i].score) && !(score > hits[i].score));
	}
	arena_release(&arena);
}

static void *read_on(void *arg)
{
	struct stress *s = arg;
	struct vrng r = { (uint64_t)(uintptr_t)&r };
	float query[DIMENSION];

	while (!atomic_load(&s->stop)) {
		struct vectors_view *v = vectors_view_get(s->m.vs);
		uint64_t living = atomic_load(&s->living[vectors_view_commit(v)]);
		struct vectors_stats stats;

		vectors_view_stats(v, &stats);
		must(stats.vectors == living);
		for (int i = 0; i < 3; i++) {
			for (size_t j = 0; j < DIMENSION; j++)
				query[j] = (float)vrng_below(&r, 1000) - 500.5F;
			search_all(v, query, living);
		}
		vectors_view_unref(v);
		atomic_fetch_add(&s->searches, 3);
	}
	return NULL;
}

static void write_commit(struct stress *s)
{
	struct vmodel *m = &s->m;
	uint64_t living = 0;
	uint32_t n = 1 + vrng_below(&m->rng, 20);
	bool pending = vectors_pending(m->vs);

	for (uint32_t i = 0; i < n; i++) {
		if (vrng_below(&m->rng, 9) < 5 || m->count < 100)
			vmodel_add(m);
		else
			vmodel_remove_some(m);
	}
	for (size_t i = 0; i < m->count; i++)
		living += !m->v[i].removed;
	atomic_store(&s->living[m->commit + 1], living);
	vmodel_publish(m);
	s->entered += pending && !vectors_pending(m->vs);
	if (vrng_below(&m->rng, 50) == 0)
		vectors_freeze(m->vs);
}

static void test_stress(void **state)
{
	struct stress s = { 0 };
	pthread_t readers[READERS], maintainer;
	uint64_t end;

	(void)state;
	vmodel_init(&s.m, 90, DIMENSION, 300, 400);
	s.living = calloc(MAX_COMMITS, sizeof(*s.living));
	assert_non_null(s.living);
	assert_int_equal(pthread_create(&maintainer, NULL, maintain_on, &s), 0);
	for (int i = 0; i < READERS; i++)
		assert_int_equal(pthread_create(&readers[i], NULL, read_on, &s), 0);
	end = clock_mono_ms() + SECONDS * UINT64_C(1000);
	while (clock_mono_ms() < end && s.m.commit < MAX_COMMITS - 2) {
		write_commit(&s);
		clock_sleep_ms(s.m.count < 3000 ? 1 : 20); /* the disk keeps up */
	}
	atomic_store(&s.stop, true);
	for (int i = 0; i < READERS; i++)
		pthread_join(readers[i], NULL);
	pthread_join(maintainer, NULL);
	assert_true(atomic_load(&s.searches) > 0);
	assert_true(atomic_load(&s.entered) > 0);
	vmodel_check(&s.m, 2, NULL);
	vmodel_maintain(&s.m);
	vmodel_reopen(&s.m);
	vmodel_check(&s.m, 2, NULL);
	vmodel_release(&s.m);
	free(s.living);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_stress) };

	log_set_level(LOG_OFF); /* that fault points are on is no news here */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
