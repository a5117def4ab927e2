/*
 * test_crowd.c: eight writers and eight readers at once, for two seconds (for a minute
 * when RCPD_TEST_LONG is set). What a reader finds must be true of one state of the
 * corpus, and hold what was answered before it looked. (REQ: R9, X7, X8, IDX-04)
 *
 * Each writer has documents of its own and knows what became of each. A document's text
 * names its id and its edition, so that a reader can tell whether they belong together.
 * Every edition of an id has the word of the id, so two of them in one result would be
 * the old and the new one. cmocka's assertions stay on the main thread.
 */
#include "corpus.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "util/clock.h"
#include "util/gauge.h"

#define WRITERS 8
#define READERS 8
#define IDS 12 /* of a writer */

static const struct engine_value red = { .field = { "color", 5 }, .s = { "red", 3 } };
static const struct engine_value blue = { .field = { "color", 5 }, .s = { "blue", 4 } };

/* What is known of one id: even: nobody is changing it. */
struct slot {
	atomic_uint turn;    /* goes up before and after a change */
	atomic_uint edition; /* as answered last; 0: deleted */
};

struct crowd {
	struct corpus *c;
	struct slot slots[WRITERS][IDS];
	size_t color; /* the field's number */
	uint64_t until;
	atomic_uint failures, found, checked;
	char first[200]; /* of the failures, for the report; under the lock */
	pthread_mutex_t lock;
};

struct member {
	struct crowd *crowd;
	unsigned number;
	pthread_t thread;
	uint32_t seed;
};

static void failed(struct crowd *crowd, const char *what, unsigned a, unsigned b)
{
	pthread_mutex_lock(&crowd->lock);
	if (crowd->failures++ == 0)
		snprintf(crowd->first, sizeof crowd->first, "%s (%u, %u)", what, a, b);
	pthread_mutex_unlock(&crowd->lock);
}

static uint32_t draw(struct member *m, uint32_t n)
{
	m->seed = m->seed * 1664525 + 1013904223;
	return (uint32_t)((uint64_t)(m->seed >> 8) * n >> 24);
}

/* ---- writers ---- */

static bool write_edition(struct member *m, unsigned no, unsigned edition)
{
	struct engine_document doc;
	struct engine_commit commit;
	struct arena arena;
	char id[32], text[96];
	bool good;

	snprintf(id, sizeof id, "w%ui%u", m->number, no);
	snprintf(text, sizeof text, "common w%ui%u edition %u %s", m->number, no, edition,
		edition % 2 ? "odd" : "even");
	doc = document(id, text);
	doc.values = edition % 2 ? &red : &blue;
	doc.value_count = 1;
	arena_init(&arena, 0);
	good = !engine_add(m->crowd->c->engine, &doc, 1, NULL, NULL, &arena, &commit, NULL);
	arena_release(&arena);
	return good;
}

static bool delete_one(struct member *m, unsigned no, bool expected)
{
	struct engine_commit commit;
	char id[32];
	struct bytes b;

	snprintf(id, sizeof id, "w%ui%u", m->number, no);
	b = bytes_of(id);
	return !engine_delete(m->crowd->c->engine, &b, 1, NULL, &commit, NULL) &&
		commit.documents == expected;
}

static void *write_on(void *arg)
{
	struct member *m = arg;
	struct crowd *crowd = m->crowd;
	unsigned edition = 0;

	while (clock_mono_ms() < crowd->until) {
		unsigned no = draw(m, IDS);
		struct slot *slot = &crowd->slots[m->number][no];
		bool deletes = draw(m, 4) == 0, good;

		slot->turn++;
		if (deletes)
			good = delete_one(m, no, slot->edition != 0);
		else
			good = write_edition(m, no, ++edition);
		slot->edition = deletes ? 0 : edition;
		slot->turn++;
		if (!good)
			failed(crowd, deletes ? "delete" : "add", m->number, no);
	}
	return NULL;
}

/* ---- readers ---- */

struct look {
	struct engine_view *view;
	struct arena arena;
	struct engine_candidate *found;
	size_t n;
};

static bool recall(struct member *m, struct look *l, const char *query, bool odd_only)
{
	struct engine_scalar value = { .s = BYTES("red") };
	struct engine_filter f = { .kind = ENGINE_LEAF,
		.field = m->crowd->color,
		.op = ENGINE_EQ,
		.values = &value,
		.value_count = 1 };
	struct engine_pass *pass = NULL;
	struct engine_query q;

	return !engine_analyze(l->view, bytes_of(query), &l->arena, &q, NULL) &&
		(!odd_only || !engine_filter_compile(l->view, &f, &l->arena, &pass, NULL)) &&
		!engine_recall(l->view, &q, 1000, pass, &l->arena, &l->found, &l->n, NULL);
}

/* A hit's text belongs to its id, and its value to its edition. */
static bool check_hit(struct look *l, const struct engine_candidate *hit, bool odd_only,
	unsigned *ret_edition)
{
	struct engine_record r;
	char text[96], id[32];
	unsigned edition;

	if (engine_fetch(l->view, hit, ENGINE_TEXT, &l->arena, &r, NULL) ||
		!bytes_eq(r.doc_id, hit->doc_id) || r.text.len >= sizeof text)
		return false;
	memcpy(text, r.text.data, r.text.len);
	text[r.text.len] = '\0';
	if (sscanf(text, "common %31s edition %u", id, &edition) != 2)
		return false;
	*ret_edition = edition;
	return bytes_eq(bytes_of(id), hit->doc_id) && (!odd_only || edition % 2);
}

/* One of each id, and as many as the state says there are. */
static void look_at_all(struct member *m, struct look *l)
{
	bool odd_only = draw(m, 2);
	struct engine_stats stats;
	unsigned edition;

	if (!recall(m, l, "common", odd_only)) {
		failed(m->crowd, "search for all", odd_only, 0);
		return;
	}
	if (engine_view_stats(l->view, &stats, NULL) || (!odd_only && stats.documents != l->n))
		failed(m->crowd, "count", (unsigned)l->n, (unsigned)stats.documents);
	for (size_t i = 0; i < l->n; i++) {
		for (size_t k = 0; k < i; k++)
			if (bytes_eq(l->found[i].doc_id, l->found[k].doc_id))
				failed(m->crowd, "old and new together", (unsigned)i, (unsigned)k);
		if (i % 8 == 0 && !check_hit(l, &l->found[i], odd_only, &edition))
			failed(m->crowd, "text of a hit", (unsigned)i, odd_only);
	}
	m->crowd->found += (unsigned)l->n;
}

/* A document that nobody changed between before the view opened and now is found in it
 * as it was answered. */
static void look_for_one(struct member *m, struct look *l, const struct slot *slot, unsigned writer,
	unsigned no, unsigned turn, unsigned edition)
{
	unsigned got = 0;
	char word[32];

	snprintf(word, sizeof word, "w%ui%u", writer, no);
	if (!recall(m, l, word, false)) {
		failed(m->crowd, "search for one", writer, no);
		return;
	}
	if (l->n > 1)
		failed(m->crowd, "two editions", writer, no);
	if (l->n == 1 && !check_hit(l, &l->found[0], false, &got))
		failed(m->crowd, "text of one", writer, no);
	if (turn % 2 || slot->turn != turn)
		return; /* somebody was at it */
	m->crowd->checked++;
	if (got != edition)
		failed(m->crowd, "not what was answered", got, edition);
}

static void *read_on(void *arg)
{
	struct member *m = arg;
	struct crowd *crowd = m->crowd;

	while (clock_mono_ms() < crowd->until) {
		unsigned writer = draw(m, WRITERS), no = draw(m, IDS);
		struct slot *slot = &crowd->slots[writer][no];
		unsigned turn = slot->turn, edition = slot->edition;
		struct look l = { .n = 0 };

		if (engine_view_open(crowd->c->engine, NULL, &l.view, NULL)) {
			failed(crowd, "view", 0, 0);
			continue;
		}
		arena_init(&l.arena, 0);
		look_for_one(m, &l, slot, writer, no, turn, edition);
		look_at_all(m, &l);
		if (draw(m, 8) == 0)
			engine_view_keep(l.view);
		engine_view_close(l.view);
		arena_release(&l.arena);
	}
	return NULL;
}

/* ---- the test ---- */

static void check_end(struct crowd *crowd)
{
	struct corpus *c = crowd->c;

	for (unsigned w = 0; w < WRITERS; w++) {
		for (unsigned i = 0; i < IDS; i++) {
			unsigned edition = crowd->slots[w][i].edition, got = 0;
			struct bytes text;
			char id[32];

			snprintf(id, sizeof id, "w%ui%u", w, i);
			text = corpus_text(c, id);
			assert_int_equal(text.data != NULL, edition != 0);
			if (text.data)
				assert_int_equal(sscanf(text.data, "common %*s edition %u", &got),
					1);
			assert_int_equal(got, edition);
			assert_string_equal(corpus_search(c, id, 10), edition ? id : "");
		}
	}
}

static void test_crowd(void **state)
{
	static struct crowd crowd;
	struct member members[WRITERS + READERS];
	struct corpus *c = *state;
	struct engine_document seed = document("seed", "tells the field");

	c->opt.head_chunks = 200; /* so that the index seals and merges all the time */
	c->opt.snapshot_ttl_s = 1;
	corpus_reopen(c);
	corpus_unsynced(c);
	seed.values = &red;
	seed.value_count = 1;
	corpus_add_all(c, &seed, 1);
	corpus_delete(c, "seed");
	memset(&crowd, 0, sizeof crowd);
	crowd.c = c;
	pthread_mutex_init(&crowd.lock, NULL);
	assert_true(engine_field_find(c->engine, BYTES("color"), &crowd.color));
	crowd.until = clock_mono_ms() + (getenv("RCPD_TEST_LONG") ? 60000 : 2000);
	for (unsigned i = 0; i < WRITERS + READERS; i++) {
		members[i] = (struct member){ .crowd = &crowd, .number = i % WRITERS, .seed = i };
		assert_int_equal(pthread_create(&members[i].thread, NULL,
					 i < WRITERS ? write_on : read_on, &members[i]),
			0);
	}
	for (unsigned i = 0; i < WRITERS + READERS; i++)
		pthread_join(members[i].thread, NULL);
	pthread_mutex_destroy(&crowd.lock);
	print_message("%u hits, %u answers compared, version %llu\n", crowd.found, crowd.checked,
		(unsigned long long)corpus_stats(c).version);
	if (crowd.failures)
		fail_msg("%u failures, the first: %s", crowd.failures, crowd.first);
	assert_true(crowd.found > 100 && crowd.checked > 10);
	assert_int_equal(gauge_get(GAUGE_VIEWS), 0);
	check_end(&crowd);
	corpus_reopen(c);
	check_end(&crowd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_crowd, corpus_setup, corpus_teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
