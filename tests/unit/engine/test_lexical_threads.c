/*
 * test_lexical_threads.c: a writer, a maintainer and readers at once, for some
 * seconds: each view is exact (its counts are those of its commit, pruned and
 * exhaustive results agree), and stays so. Meant for TSan, too.
 */
#include "lexical_model.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "util/clock.h"
#include "util/fault.h"
#include "util/log.h"

#define READERS 4
#define SECONDS 4
#define MAX_COMMITS 200000

struct stress {
	struct model m;
	_Atomic bool stop;
	_Atomic uint64_t searches;
	/* Living chunks and their total length at each commit. */
	_Atomic uint64_t *chunks, *length;
};

static void *maintain_on(void *arg)
{
	struct stress *s = arg;
	struct error e = { 0 };

	while (!atomic_load(&s->stop)) {
		if (!lexical_maintain(s->m.lx, NULL, &e))
			clock_sleep_ms(1);
		if (e.code)
			abort();
	}
	return NULL;
}

static void must(bool good)
{
	if (!good)
		abort(); /* cmocka's asserts belong to the main thread */
}

static void search_both(const struct lexical_view *v, struct rng *r)
{
	struct bytes terms[5];
	char bufs[5][16];
	struct lexical_query q = { .terms = terms, .term_count = 5, .k = 1 + rng_below(r, 40) };
	struct lexical_hit *a, *b;
	struct arena arena;
	size_t an, bn;

	for (size_t i = 0; i < 5; i++)
		terms[i] = model_word(rng_below(r, 1 + rng_below(r, 300)), bufs[i]);
	arena_init(&arena, 0);
	must(lexical_search(v, &q, &arena, &a, &an, NULL) == ST_OK);
	q.exhaustive = true;
	must(lexical_search(v, &q, &arena, &b, &bn, NULL) == ST_OK);
	must(an == bn);
	for (size_t i = 0; i < an; i++)
		must(a[i].key == b[i].key && !(a[i].score < b[i].score) &&
			!(a[i].score > b[i].score));
	arena_release(&arena);
}

static void *read_on(void *arg)
{
	struct stress *s = arg;
	struct rng r = { (uint64_t)(uintptr_t)&r };

	while (!atomic_load(&s->stop)) {
		struct lexical_view *v = lexical_view_get(s->m.lx);
		uint64_t commit = lexical_view_commit(v), df, df_then;
		struct lexical_stats st;
		struct bytes word = bytes_of("w1");

		lexical_view_stats(v, &st);
		must(st.chunks == atomic_load(&s->chunks[commit]));
		must(st.total_length == atomic_load(&s->length[commit]));
		df = lexical_document_frequency(v, word);
		for (int i = 0; i < 3; i++)
			search_both(v, &r);
		df_then = lexical_document_frequency(v, word);
		must(df == df_then);
		lexical_view_unref(v);
		atomic_fetch_add(&s->searches, 6);
	}
	return NULL;
}

static void write_commit(struct stress *s)
{
	struct model *m = &s->m;
	uint64_t chunks = 0, length = 0;
	uint32_t n = 1 + rng_below(&m->rng, 20);

	for (uint32_t i = 0; i < n; i++) {
		if (rng_below(&m->rng, 3) || m->count < 100)
			model_add(m);
		else
			model_remove_some(m);
	}
	for (size_t i = 0; i < m->count; i++) {
		chunks += !m->chunks[i].dead;
		length += m->chunks[i].dead ? 0 : m->chunks[i].length;
	}
	atomic_store(&s->chunks[m->commit + 1], chunks);
	atomic_store(&s->length[m->commit + 1], length);
	model_publish(m);
	if (rng_below(&m->rng, 50) == 0)
		lexical_freeze(m->lx);
}

static void test_stress(void **state)
{
	struct stress s = { 0 };
	pthread_t readers[READERS], maintainer;
	uint64_t end;

	(void)state;
	model_init(&s.m, 77, 300, 3);
	s.chunks = calloc(MAX_COMMITS, sizeof(*s.chunks));
	s.length = calloc(MAX_COMMITS, sizeof(*s.length));
	assert_true(s.chunks && s.length);
	assert_int_equal(pthread_create(&maintainer, NULL, maintain_on, &s), 0);
	for (int i = 0; i < READERS; i++)
		assert_int_equal(pthread_create(&readers[i], NULL, read_on, &s), 0);
	end = clock_mono_ms() + SECONDS * UINT64_C(1000);
	while (clock_mono_ms() < end && s.m.commit < MAX_COMMITS - 2)
		write_commit(&s);
	atomic_store(&s.stop, true);
	for (int i = 0; i < READERS; i++)
		pthread_join(readers[i], NULL);
	pthread_join(maintainer, NULL);
	assert_true(atomic_load(&s.searches) > 0);
	model_check(&s.m, 5);
	lexical_freeze(s.m.lx);
	model_maintain(&s.m);
	assert_int_equal(model_reopen(&s.m), s.m.commit);
	model_check(&s.m, 5);
	model_release(&s.m);
	free(s.chunks);
	free(s.length);
}

#ifdef RCPD_FAULT_POINTS
static void *maintain_all(void *arg)
{
	model_maintain(arg);
	return NULL;
}

/* Deletes that come while a merge is under way, published and not, are in what takes
 * the place of the old segments; old views keep what they saw. */
static void test_deletes_during_a_merge(void **state)
{
	struct model m;
	struct model_state before, between;
	pthread_t thread;

	(void)state;
	model_init(&m, 78, 100, 2);
	for (int i = 0; i < 400; i++) {
		model_add(&m);
		if (i % 100 == 99)
			model_publish(&m); /* full heads; none is sealed yet */
	}
	model_state_take(&m, &before);
	assert_int_equal(setenv("RCPD_FAULTS", "lexical.merge=stall:400:1", 1), 0);
	assert_true(fault_setup());
	assert_int_equal(pthread_create(&thread, NULL, maintain_all, &m), 0);
	clock_sleep_ms(150); /* it seals and stalls in the first merge */
	for (int i = 0; i < 60; i++)
		model_remove_some(&m);
	model_publish(&m);
	model_state_take(&m, &between);
	for (int i = 0; i < 30; i++)
		model_remove_some(&m); /* of a commit that is still open at the swap */
	pthread_join(thread, NULL);
	model_state_check(&m, &between, 10);
	model_publish(&m);
	model_check(&m, 20);
	model_state_check(&m, &before, 10);
	model_state_check(&m, &between, 10);
	model_state_release(&before);
	model_state_release(&between);
	model_reopen(&m);
	model_check(&m, 10);
	model_release(&m);
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stress),
#ifdef RCPD_FAULT_POINTS
		cmocka_unit_test(test_deletes_during_a_merge),
#endif
	};

	log_set_level(LOG_OFF); /* that fault points are on is no news here */
	return cmocka_run_group_tests(tests, NULL, NULL);
}
