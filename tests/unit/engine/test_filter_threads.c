/*
 * test_filter_threads.c: one writer adds, forgets and publishes; four readers evaluate
 * random trees on the views of that moment and compare with the naive evaluation of
 * what the view must have seen. Meant for TSan, too.
 */
#include "filter_model.h"

#include <pthread.h>
#include <stdlib.h>

#include "util/clock.h"

#define READERS 4
#define SECONDS 3
#define CHUNKS 60000

struct stress {
	struct fm m;
	pthread_mutex_t mutex; /* view, count */
	struct filter_view *view;
	size_t count;
	_Atomic bool stop;
	_Atomic uint64_t trees, instants;
};

static void must(bool good)
{
	if (!good)
		abort(); /* cmocka's asserts belong to the main thread */
}

static void publish(struct stress *s)
{
	struct filter_view *v = filter_publish(s->m.f), *old;

	must(v != NULL);
	(void)pthread_mutex_lock(&s->mutex);
	old = s->view;
	s->view = v;
	s->count = s->m.count;
	(void)pthread_mutex_unlock(&s->mutex);
	filter_view_unref(old);
}

static void look_at_instants(struct stress *s, const struct filter_view *v, size_t n,
	struct fm_rng *r)
{
	const struct fm_chunk *c = &s->m.chunks[fm_below(r, (uint32_t)n)];
	int64_t latest = INT64_MIN, ms = 0;
	bool any = false, found;

	for (size_t field = 0; field < filter_view_fields(v); field++, any = false) {
		enum engine_type type = filter_view_type(v, field);

		if (type != ENGINE_INT && type != ENGINE_DATE)
			continue;
		for (size_t i = 0; i < c->n; i++) {
			if (c->values[i].field != field)
				continue;
			latest = !any || c->values[i].i > latest ? c->values[i].i : latest;
			any = true;
		}
		found = filter_instant(v, field, c->key, &ms);
		must(atomic_load(&c->dead) || (found == any && (!any || ms == latest)));
		atomic_fetch_add(&s->instants, 1);
	}
}

static void *read_on(void *arg)
{
	struct stress *s = arg;
	struct fm_rng r = { (uint64_t)(uintptr_t)&r };

	while (!atomic_load(&s->stop)) {
		struct filter_view *v;
		struct filter_stats stats;
		struct arena a;
		size_t n;

		(void)pthread_mutex_lock(&s->mutex);
		v = filter_view_ref(s->view);
		n = s->count;
		(void)pthread_mutex_unlock(&s->mutex);
		arena_init(&a, 0);
		for (int i = 0; i < 3; i++) {
			struct engine_filter *tree =
				fm_tree(&s->m, &r, filter_view_fields(v), 1 + fm_below(&r, 4), &a);

			must(fm_agree(&s->m, v, tree, n, true));
			must(fm_agree(&s->m, v, tree, n, true));
			look_at_instants(s, v, n, &r);
			atomic_fetch_add(&s->trees, 1);
		}
		filter_view_stats(v, &stats);
		must(stats.keys <= n && stats.blocks > 0);
		arena_release(&a);
		filter_view_unref(v);
	}
	return NULL;
}

/* The oldest chunks go, first six of seven and then the rest, so that blocks are
 * compacted and freed. `from`: where it stopped the last time. */
static size_t forget_oldest(struct fm *m, size_t from)
{
	size_t to = m->count > 3000 ? m->count - 3000 : 0;

	for (size_t i = from; i < to; i++) {
		if (i % 7)
			fm_forget(m, i);
		else if (i >= 7000)
			fm_forget(m, i - 7000);
	}
	return to;
}

static void test_readers_beside_a_writer(void **state)
{
	static struct stress s;
	uint64_t end = clock_mono_ms() + UINT64_C(1000) * SECONDS;
	pthread_t readers[READERS];
	size_t forgotten = 0;

	(void)state;
	fm_init(&s.m, 5, CHUNKS, 6, 1 << 20);
	assert_int_equal(pthread_mutex_init(&s.mutex, NULL), 0);
	assert_int_equal(fm_add(&s.m, 1), ST_OK);
	publish(&s);
	for (int i = 0; i < READERS; i++)
		assert_int_equal(pthread_create(&readers[i], NULL, read_on, &s), 0);
	while (clock_mono_ms() < end) {
		for (uint32_t n = 1 + fm_below(&s.m.rng, 60); n > 0 && s.m.count < CHUNKS; n--)
			must(fm_add(&s.m,
				     fm_below(&s.m.rng, 300) ? 1 + fm_below(&s.m.rng, 20)
							     : 40000) == ST_OK);
		if (fm_below(&s.m.rng, 200) == 0 && s.m.field_count < FM_FIELDS - 1)
			fm_define(&s.m);
		forgotten = forget_oldest(&s.m, forgotten);
		publish(&s);
		clock_sleep_ms(1);
	}
	atomic_store(&s.stop, true);
	for (int i = 0; i < READERS; i++)
		assert_int_equal(pthread_join(readers[i], NULL), 0);
	assert_true(atomic_load(&s.trees) > 20);
	assert_true(atomic_load(&s.instants) > 0);
	assert_true(forgotten > 0);
	filter_view_unref(s.view);
	fm_release(&s.m);
	(void)pthread_mutex_destroy(&s.mutex);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_readers_beside_a_writer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
