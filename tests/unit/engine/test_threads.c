/* test_threads.c: views beside writers, waiting, and many of both at once. */
#include "corpus.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "engine/private.h"
#include "engine/store/private.h"
#include "util/clock.h"
#include "util/gauge.h"

static size_t count_hits(struct corpus *c, struct engine_view *v, const char *word)
{
	struct engine_query q = corpus_analyze(c, v, word);
	struct engine_candidate *found;
	size_t n = 0;

	assert_int_equal(engine_recall(v, &q, 10000, NULL, &c->arena, &found, &n, &c->error),
		ST_OK);
	return n;
}

/* REQ: R9: what a view shows does not change under writes. */
static void test_isolation(void **state)
{
	struct corpus *c = *state;
	struct engine_view *old, *now;
	struct engine_record r;

	corpus_add(c, "a", "alpha first");
	corpus_add(c, "b", "alpha second");
	assert_int_equal(engine_view_open(c->engine, NULL, &old, &c->error), ST_OK);
	corpus_add(c, "a", "replaced");
	corpus_delete(c, "b");
	for (unsigned i = 0; i < 50; i++)
		corpus_add(c, "c", "alpha third");
	assert_int_equal(engine_view_version(old), 2);
	assert_int_equal(count_hits(c, old, "alpha"), 2);
	assert_int_equal(count_hits(c, old, "replaced third"), 0);
	assert_int_equal(engine_get(old, BYTES("a"), &c->arena, &r, &c->error), ST_OK);
	assert_true(bytes_eq(r.text, BYTES("alpha first")));
	assert_int_equal(engine_view_open(c->engine, NULL, &now, &c->error), ST_OK);
	assert_int_equal(engine_view_version(now), 54);
	assert_int_equal(count_hits(c, now, "alpha"), 1);
	assert_int_equal(count_hits(c, now, "replaced"), 1);
	assert_int_equal(gauge_get(GAUGE_VIEWS), 2);
	engine_view_close(now);
	engine_view_close(old);
	engine_view_close(NULL);
	assert_int_equal(gauge_get(GAUGE_VIEWS), 0);
}

static bool stop_at(void *arg)
{
	return clock_mono_ms() >= *(uint64_t *)arg;
}

/* The engine's own writing side is held, as by a group that takes long. */
static void set_leading(struct engine *en, bool leading)
{
	pthread_mutex_lock(&en->queue.lock);
	en->queue.leading = leading;
	pthread_cond_broadcast(&en->queue.changed);
	pthread_mutex_unlock(&en->queue.lock);
}

/* REQ: L6, L7: who waits for the writers before it leaves when told to. */
static void test_waiting_writers_stop(void **state)
{
	struct corpus *c = *state;
	struct engine_document doc = document("x", "text");
	uint64_t until = clock_mono_ms() + 80;
	struct engine_stop stop = { stop_at, &until };
	struct engine_commit commit;
	struct bytes id = BYTES("x");

	set_leading(c->engine, true);
	assert_int_equal(engine_add(c->engine, &doc, 1, NULL, &stop, &c->arena, &commit, &c->error),
		ST_CANCELLED);
	assert_true(clock_mono_ms() >= until);
	assert_true(clock_mono_ms() < until + 5000);
	assert_int_equal(engine_delete(c->engine, &id, 1, &stop, &commit, &c->error), ST_CANCELLED);
	set_leading(c->engine, false);
	assert_int_equal(corpus_stats(c).version, 0);
	corpus_add(c, "x", "text");
	assert_int_equal(corpus_stats(c).version, 1);
}

/* REQ: L6, L7: who waits for a connection to fetch with, too. */
static void test_waiting_readers_stop(void **state)
{
	struct corpus *c = *state;
	uint64_t until = clock_mono_ms() + 80;
	struct engine_stop stop = { stop_at, &until };
	struct engine_view *views[64], *last;
	struct engine_record r;
	size_t n = c->engine->store->reader_count;

	corpus_add(c, "a", "text");
	assert_true(n < 64);
	for (size_t i = 0; i < n; i++) {
		views[i] = corpus_view(c);
		assert_int_equal(engine_get(views[i], BYTES("a"), &c->arena, &r, &c->error), ST_OK);
	}
	until = clock_mono_ms() + 80;
	assert_int_equal(engine_view_open(c->engine, &stop, &last, &c->error), ST_OK);
	assert_int_equal(engine_get(last, BYTES("a"), &c->arena, &r, &c->error), ST_CANCELLED);
	assert_true(clock_mono_ms() >= until);
	for (size_t i = 0; i < n; i++)
		engine_view_close(views[i]);
	until = clock_mono_ms() + 60000;
	assert_int_equal(engine_get(last, BYTES("a"), &c->arena, &r, &c->error), ST_OK);
	engine_view_close(last);
	assert_int_equal(gauge_get(GAUGE_VIEWS), 0);
}

/* cmocka's assertions must stay on the main thread: the others count failures. */
struct crowd {
	struct engine *engine;
	atomic_uint failures;
	atomic_uint writers_left;
	atomic_ullong greatest; /* version that a writer was told */
};

struct member {
	struct crowd *crowd;
	unsigned number;
	pthread_t thread;
};

#define ROUNDS 40

static void note_version(struct crowd *crowd, uint64_t version)
{
	unsigned long long known = crowd->greatest;

	while (version > known && !atomic_compare_exchange_weak(&crowd->greatest, &known, version))
		;
}

static void *write_some(void *arg)
{
	struct member *m = arg;
	struct crowd *crowd = m->crowd;

	for (unsigned i = 0; i < ROUNDS; i++) {
		struct engine_document docs[2] = { document("shared", "common words shared") };
		struct engine_commit commit;
		struct arena arena;
		char id[32];
		enum status st;

		snprintf(id, sizeof id, "w%u-%u", m->number, i % 10);
		docs[1] = document(id, "common words of one writer");
		arena_init(&arena, 0);
		if (i % 4 == 3)
			st = engine_delete(crowd->engine, &docs[1].id, 1, NULL, &commit, NULL);
		else
			st = engine_add(crowd->engine, docs, 2, NULL, NULL, &arena, &commit, NULL);
		arena_release(&arena);
		if (st)
			crowd->failures++;
		else
			note_version(crowd, commit.version);
	}
	crowd->writers_left--;
	return NULL;
}

/* In each view the totals, the index and the texts agree. */
static bool view_agrees(struct engine_view *v, uint64_t *last)
{
	struct engine_candidate *found;
	struct engine_stats stats;
	struct engine_query q;
	struct arena arena;
	size_t n = 0;
	bool good;

	arena_init(&arena, 0);
	good = !engine_analyze(v, BYTES("common"), &arena, &q, NULL) &&
		!engine_view_stats(v, &stats, NULL) &&
		!engine_recall(v, &q, 1000, NULL, &arena, &found, &n, NULL) &&
		stats.documents == n && stats.chunks == n &&
		stats.version == engine_view_version(v) && stats.version >= *last;
	for (size_t i = 0; good && i < n; i++) {
		struct engine_record r;
		good = !engine_fetch(v, &found[i], ENGINE_TEXT, &arena, &r, NULL) &&
			bytes_eq(r.doc_id, found[i].doc_id) && r.text.len == r.byte_end;
	}
	if (good)
		*last = stats.version;
	arena_release(&arena);
	return good;
}

static void *read_some(void *arg)
{
	struct member *m = arg;
	struct crowd *crowd = m->crowd;
	uint64_t last = 0;

	while (crowd->writers_left > 0) {
		struct engine_view *v;

		if (engine_view_open(crowd->engine, NULL, &v, NULL)) {
			crowd->failures++;
			continue;
		}
		if (!view_agrees(v, &last))
			crowd->failures++;
		engine_view_close(v);
	}
	return NULL;
}

static void test_crowd(void **state)
{
	struct corpus *c = *state;
	struct crowd crowd = { .engine = c->engine, .writers_left = 4 };
	struct member members[8];

	for (unsigned i = 0; i < 8; i++) {
		members[i] = (struct member){ .crowd = &crowd, .number = i };
		assert_int_equal(pthread_create(&members[i].thread, NULL,
					 i < 4 ? write_some : read_some, &members[i]),
			0);
	}
	for (unsigned i = 0; i < 8; i++)
		pthread_join(members[i].thread, NULL);
	assert_int_equal(crowd.failures, 0);
	assert_int_equal(corpus_stats(c).version, crowd.greatest);
	assert_int_equal(gauge_get(GAUGE_VIEWS), 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, corpus_setup, corpus_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_isolation),
		TEST(test_waiting_writers_stop),
		TEST(test_waiting_readers_stop),
		TEST(test_crowd),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
