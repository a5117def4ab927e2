/*
 * test_dense.c: vectors with the corpus: they come and go with their chunks, survive
 * ends, crashes and lost files, and change as a whole.
 */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

#include "dense_corpus.h"
#include "engine/private.h"
#include "engine/store/private.h"
#include "util/fault.h"
#include "util/mem.h"

static struct toy toy;
static struct engine_encoder encoder;

static int setup(void **state)
{
	struct corpus *c = calloc(1, sizeof(*c));

	toy = (struct toy){ 0 };
	encoder = toy_encoder(&toy);
	corpus_make_dir(c);
	c->opt.encoder = &encoder;
	c->opt.snapshot_ttl_s = 60;
	c->opt.max_snapshots = 100;
	corpus_open(c);
	corpus_unsynced(c);
	*state = c;
	return 0;
}

static int teardown(void **state)
{
	struct corpus *c = *state;

	corpus_clear(c);
	if (c->engine)
		corpus_close(c);
	assert_int_equal(toy.opened, toy.closed);
	corpus_remove_dir(c);
	free(c);
	return 0;
}

/* REQ: IDX-04 */
static void test_come_and_go(void **state)
{
	struct corpus *c = *state;

	corpus_add(c, "a", "red apple tree");
	corpus_add(c, "b", "blue whale song");
	corpus_add(c, "c", "red apple pie");
	corpus_add(c, "blank", "...");
	assert_string_equal(dense_search_now(c, "blue whale song", 1), "b");
	assert_string_equal(dense_search_now(c, "red apple tree", 1), "a");
	dense_check(c, "0");
	corpus_add(c, "a", "green pear juice");
	assert_string_equal(dense_search_now(c, "green pear juice", 1), "a");
	assert_string_equal(dense_search_now(c, "red apple tree", 1), "c");
	corpus_delete(c, "c");
	corpus_delete(c, "b");
	assert_string_equal(dense_search_now(c, "red apple pie", 5), "a");
	dense_check(c, "0");
	corpus_reopen(c);
	assert_string_equal(dense_search_now(c, "red apple pie", 5), "a");
	dense_check(c, "0");
}

static void test_ties_by_id(void **state)
{
	struct corpus *c = *state;

	corpus_add(c, "m", "same words");
	corpus_add(c, "z", "same words");
	corpus_add(c, "a", "same words");
	corpus_add(c, "k", "same words");
	assert_string_equal(dense_search_now(c, "same words", 4), "a k m z");
	assert_string_equal(dense_search_now(c, "same words", 2), "a k");
}

/* REQ: R9 R10: a view goes on with the vectors and the space that it had. */
static void test_views_stay(void **state)
{
	struct corpus *c = *state;
	struct engine_view *v;

	corpus_add(c, "a", "red apple tree");
	v = corpus_view(c);
	corpus_delete(c, "a");
	corpus_add(c, "b", "red apple tree");
	assert_string_equal(dense_search(c, v, "red apple tree", 5), "a");
	assert_string_equal(dense_search_now(c, "red apple tree", 5), "b");
	engine_view_close(v);
}

static void add_many(struct corpus *c, unsigned from, unsigned n)
{
	struct engine_document docs[100];
	char ids[100][16], texts[100][64];

	for (unsigned i = 0; i < n; i++) {
		unsigned at = i % 100;

		snprintf(ids[at], sizeof(ids[at]), "d%05u", from + i);
		snprintf(texts[at], sizeof(texts[at]), "word%u and word%u of %u", (from + i) % 37,
			(from + i) % 11, from + i);
		docs[at] = document(ids[at], texts[at]);
		if (at == 99 || i + 1 == n)
			corpus_add_all(c, docs, at + 1);
	}
}

static void test_after_restart(void **state)
{
	struct corpus *c = *state;
	const char *before;
	char want[4096];
	unsigned embedded;

	add_many(c, 0, 1000);
	before = dense_search_now(c, "word3 and word5", 20);
	snprintf(want, sizeof(want), "%s", before);
	corpus_reopen(c);
	embedded = toy.embedded;
	assert_string_equal(dense_search_now(c, "word3 and word5", 20), want);
	assert_true(embedded < 1010); /* the files were there: nothing was made again */
	dense_check(c, "0");
	/* Lost files are made again. */
	corpus_close(c);
	corpus_drop_vectors(c);
	corpus_open(c);
	assert_string_equal(dense_search_now(c, "word3 and word5", 20), want);
	assert_true(toy.embedded >= 2000);
	dense_check(c, "0");
}

static int64_t count(struct corpus *c, const char *sql)
{
	sqlite3_stmt *stmt;
	int64_t n;

	assert_int_equal(sqlite3_prepare_v2(c->engine->store->writer.db.handle, sql, -1, &stmt,
				 NULL),
		SQLITE_OK);
	assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
	n = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return n;
}

static int64_t count_vectors(struct corpus *c)
{
	return count(c, "SELECT count(*) FROM vectors");
}

static int64_t count_spaces(struct corpus *c)
{
	return count(c, "SELECT count(*) FROM spaces");
}

/* ---- another fit ---- */

static void switch_to(struct corpus *c, const char *blob, uint64_t fit)
{
	struct engine_space_spec spec = toy_spec(blob, fit);
	struct engine_build *b;

	assert_int_equal(engine_build_begin(c->engine, &spec, &b, &c->error), ST_OK);
	assert_int_equal(engine_build_run(b, NULL, NULL, &c->error), ST_OK);
	assert_int_equal(engine_build_commit(b, NULL, &c->error), ST_OK);
}

/* REQ: D42 R9 */
static void test_switch(void **state)
{
	struct corpus *c = *state;
	struct engine_view *old;
	struct engine_space space;
	uint64_t version;

	add_many(c, 0, 700);
	old = corpus_view(c);
	version = engine_view_version(old);
	switch_to(c, "1", 1);
	dense_check(c, "1");
	assert_true(engine_view_space(old, &space));
	assert_int_equal(space.fit, 0);
	assert_string_equal(dense_search(c, old, "word19 and word5 of 500", 1), "d00500");
	engine_view_close(old);
	old = corpus_view(c);
	assert_int_equal(engine_view_version(old), version + 1);
	assert_true(engine_view_space(old, &space));
	assert_int_equal(space.fit, 1);
	engine_view_close(old);
	add_many(c, 650, 100);
	corpus_delete(c, "d00001");
	dense_check(c, "1");
	corpus_reopen(c);
	dense_check(c, "1");
	old = corpus_view(c);
	assert_true(engine_view_space(old, &space));
	assert_int_equal(space.fit, 1);
	engine_view_close(old);
}

/* One at a time; an abandoned one leaves nothing. */
static void test_abandon(void **state)
{
	struct corpus *c = *state;
	struct engine_space_spec spec = toy_spec("1", 1);
	struct engine_build *b, *second;

	add_many(c, 0, 300);
	assert_int_equal(engine_build_begin(c->engine, &spec, &b, &c->error), ST_OK);
	assert_int_equal(engine_build_begin(c->engine, &spec, &second, &c->error), ST_LOCKED);
	assert_int_equal(engine_build_run(b, NULL, NULL, &c->error), ST_OK);
	engine_build_abandon(b);
	dense_check(c, "0");
	assert_int_equal(engine_build_begin(c->engine, &spec, &b, &c->error), ST_OK);
	engine_build_halt(b);
	assert_int_equal(engine_build_run(b, NULL, NULL, &c->error), ST_CANCELLED);
	engine_build_abandon(b);
	switch_to(c, "2", 2);
	dense_check(c, "2");
}

struct writing {
	struct corpus *c;
	_Atomic bool stop;
	unsigned n;
};

static void *write_on(void *arg)
{
	struct writing *w = arg;
	struct arena arena;

	for (arena_init(&arena, 0); !w->stop; w->n++) {
		char id[32], text[64];
		struct engine_document d;
		struct engine_commit commit;
		struct bytes gone;

		snprintf(id, sizeof(id), "w%u", w->n % 200);
		snprintf(text, sizeof(text), "writer%u has word%u", w->n, w->n % 13);
		d = document(id, text);
		assert_int_equal(engine_add(w->c->engine, &d, 1, NULL, NULL, &arena, &commit, NULL),
			ST_OK);
		snprintf(id, sizeof(id), "d%05u", w->n % 500);
		gone = bytes_of(id);
		assert_int_equal(engine_delete(w->c->engine, &gone, 1, NULL, &commit, NULL), ST_OK);
		arena_release(&arena);
	}
	return NULL;
}

/* Writers go on while the space changes, again and again, and nothing is missed. */
static void test_switch_under_load(void **state)
{
	struct corpus *c = *state;
	struct writing w = { .c = c };
	pthread_t thread;
	char blob[8];

	add_many(c, 0, 500);
	assert_int_equal(pthread_create(&thread, NULL, write_on, &w), 0);
	for (unsigned i = 1; i <= 6; i++) {
		snprintf(blob, sizeof(blob), "%u", i);
		switch_to(c, blob, i);
	}
	w.stop = true;
	pthread_join(thread, NULL);
	assert_true(w.n > 0);
	dense_check(c, "6");
	corpus_reopen(c);
	dense_check(c, "6");
}

static void test_commit_fails(void **state)
{
	struct corpus *c = *state;
	struct engine_space_spec spec = toy_spec("1", 1);
	struct engine_build *b;

	add_many(c, 0, 50);
	assert_int_equal(engine_build_begin(c->engine, &spec, &b, &c->error), ST_OK);
	assert_int_equal(engine_build_run(b, NULL, NULL, &c->error), ST_OK);
	assert_true(fault_add("engine.switch=fail:1:1"));
	assert_int_equal(engine_build_commit(b, NULL, &c->error), ST_IO);
	dense_check(c, "0");
	switch_to(c, "2", 2);
	dense_check(c, "2");
	corpus_reopen(c);
	dense_check(c, "2");
}

/* A build that could not begin, for want of room for its row, leaves nothing behind. */
static void test_begin_fails(void **state)
{
	struct corpus *c = *state;
	struct engine_space_spec spec = toy_spec("1", 1);
	struct engine_build *b = NULL;

	add_many(c, 0, 50);
	assert_true(fault_add("store.space=fail:1:1"));
	assert_int_equal(engine_build_begin(c->engine, &spec, &b, &c->error), ST_IO);
	assert_null(b);
	assert_int_equal(atomic_load(&c->engine->build_since), UINT64_MAX);
	/* One that the encoder does not know has a row already, which goes again. */
	toy.refuse = true;
	assert_int_equal(engine_build_begin(c->engine, &spec, &b, &c->error), ST_INVALID);
	toy.refuse = false;
	assert_int_equal(count_spaces(c), 1);
	dense_check(c, "0");
	switch_to(c, "2", 2);
	dense_check(c, "2");
	assert_int_equal(count_spaces(c), 1);
}

/* An encoder of another kind: the corpus starts with its space. */
static void test_foreign(void **state)
{
	struct corpus *c = *state;
	struct engine_view *v;
	struct engine_space space;

	add_many(c, 0, 50);
	corpus_close(c);
	encoder.first.identity = bytes_of("x-other");
	encoder.first.derived = false;
	toy.refuse = true;
	corpus_open(c);
	v = corpus_view(c);
	assert_true(engine_view_space(v, &space));
	assert_true(bytes_eq(space.identity, bytes_of("x-other")));
	engine_view_close(v);
	assert_string_equal(dense_search_now(c, "word1", 5), "");
	corpus_close(c);
	/* Stored spaces stay, whoever makes vectors. */
	encoder = toy_encoder(&toy);
	toy.refuse = false;
	corpus_open(c);
	v = corpus_view(c);
	assert_true(engine_view_space(v, &space));
	assert_false(space.derived);
	engine_view_close(v);
	switch_to(c, "3", 1);
	dense_check(c, "3");
	/* Without an encoder there are no vectors, and everything else works. */
	corpus_close(c);
	c->opt.encoder = NULL;
	corpus_open(c);
	v = corpus_view(c);
	assert_false(engine_view_space(v, &space));
	engine_view_close(v);
	corpus_add(c, "new", "1234567");
	assert_string_equal(corpus_search(c, "1234567", 1), "new");
	corpus_close(c);
	c->opt.encoder = &encoder;
	corpus_open(c);
	dense_check(c, "3");
}

/* ---- vectors that come with the documents ---- */

static void add_stored(struct corpus *c, const char *id, const char *text, uint64_t space)
{
	struct engine_document d = document(id, text);
	float v[TOY_DIMENSION];

	toy_vector(bytes_of(text), BYTES_NONE, v);
	d.vectors = v;
	d.space = space;
	corpus_add_all(c, &d, 1);
}

static uint64_t space_number(struct corpus *c)
{
	struct engine_view *v = corpus_view(c);
	struct engine_space space;

	assert_true(engine_view_space(v, &space));
	engine_view_close(v);
	return space.number;
}

struct putting {
	int64_t keys[64];
	float values[64][TOY_DIMENSION];
	size_t n;
};

static enum status take(void *arg, int64_t key, struct bytes text, struct error *e)
{
	struct putting *p = arg;

	(void)e;
	p->keys[p->n] = key;
	toy_vector(text, BYTES_NONE, p->values[p->n++]);
	return ST_OK;
}

static size_t put_missing(struct corpus *c, struct engine_build *b, size_t max)
{
	struct putting p = { .n = 0 };

	assert_int_equal(engine_build_missing(b, 0, max, take, &p, &c->error), ST_OK);
	if (p.n)
		assert_int_equal(engine_build_put(b, p.keys, p.values[0], p.n, NULL, &c->error),
			ST_OK);
	return p.n;
}

static struct engine_space_spec stored_spec(void)
{
	return (struct engine_space_spec){ .identity = bytes_of("remote"),
		.dimension = TOY_DIMENSION };
}

/* REQ: RET-04 */
static void test_stored(void **state)
{
	struct corpus *c = *state;
	struct engine_space_spec spec = stored_spec();
	struct engine_build *b;
	uint64_t number;

	add_many(c, 0, 40);
	corpus_add(c, "blank", "...");
	assert_int_equal(engine_build_begin(c->engine, &spec, &b, &c->error), ST_OK);
	assert_int_equal(engine_build_run(b, NULL, NULL, &c->error), ST_CONFLICT);
	assert_int_equal(put_missing(c, b, 30), 30);
	assert_int_equal(engine_build_run(b, NULL, NULL, &c->error), ST_CONFLICT);
	/* What was put stays for the next time. */
	engine_build_abandon(b);
	corpus_reopen(c);
	assert_int_equal(engine_build_begin(c->engine, &spec, &b, &c->error), ST_OK);
	assert_int_equal(put_missing(c, b, 30), 11);
	assert_int_equal(put_missing(c, b, 30), 0);
	assert_int_equal(engine_build_run(b, NULL, NULL, &c->error), ST_OK);
	corpus_add(c, "late", "word1 is late");
	assert_int_equal(engine_build_commit(b, NULL, &c->error), ST_CONFLICT);
	assert_int_equal(put_missing(c, b, 30), 1);
	corpus_delete(c, "d00003");
	assert_int_equal(engine_build_commit(b, NULL, &c->error), ST_OK);
	dense_check(c, "");
	number = space_number(c);
	add_stored(c, "new", "words that are new", number);
	add_stored(c, "d00004", "words that are newer", number);
	add_stored(c, "empty", "...", number); /* all zero: never enters */
	dense_check(c, "");
	assert_string_equal(dense_search_now(c, "words that are newer", 1), "d00004");
	corpus_reopen(c);
	dense_check(c, "");
	corpus_add(c, "without", "no vector");
	assert_string_equal(dense_search_now(c, "no vector", 1) + 0,
		dense_search_now(c, "no vector", 1));
	corpus_delete(c, "without");
	/* Of another space, or not finite. */
	add_stored(c, "foreign", "word of another space", number + 7);
	corpus_delete(c, "foreign");
	{
		struct engine_document d = document("nan", "text");
		struct engine_commit commit;
		float v[TOY_DIMENSION] = { 1, NAN };

		d.vectors = v;
		d.space = number;
		assert_int_equal(engine_add(c->engine, &d, 1, NULL, NULL, &c->arena, &commit,
					 &c->error),
			ST_INVALID);
	}
	dense_check(c, "");
}

/* Vectors of a space that was left go, in the background. */
static void test_orphans(void **state)
{
	struct corpus *c = *state;
	struct engine_space_spec spec = stored_spec();
	struct engine_build *b;

	add_many(c, 0, 40);
	assert_int_equal(engine_build_begin(c->engine, &spec, &b, &c->error), ST_OK);
	assert_int_equal(put_missing(c, b, 64), 40);
	assert_int_equal(engine_build_run(b, NULL, NULL, &c->error), ST_OK);
	assert_int_equal(engine_build_commit(b, NULL, &c->error), ST_OK);
	assert_int_equal(count_vectors(c), 40);
	switch_to(c, "5", 1);
	for (int i = 0; i < 500 && count_vectors(c) > 0; i++)
		usleep(10000);
	assert_int_equal(count_vectors(c), 0);
	dense_check(c, "5");
}

/* ---- scores ---- */

static void test_scores(void **state)
{
	struct corpus *c = *state;
	struct engine_view *v;
	struct engine_query q;
	struct engine_candidate *sparse = NULL, *near = NULL;
	double bm25[50], cosines[50];
	float query[TOY_DIMENSION];
	size_t n = 0, m = 0;

	add_many(c, 0, 300);
	v = corpus_view(c);
	q = corpus_analyze(c, v, "word3 word5 77");
	assert_int_equal(engine_recall(v, &q, 50, NULL, &c->arena, &sparse, &n, &c->error), ST_OK);
	assert_true(n > 10);
	assert_int_equal(engine_bm25(v, &q, sparse, n, &c->arena, bm25, &c->error), ST_OK);
	for (size_t i = 0; i < n; i++)
		assert_true(bm25[i] == sparse[i].score);
	toy_vector(BYTES("word3 word5 77"), BYTES("0"), query);
	assert_int_equal(engine_near(v, query, 50, NULL, false, &c->arena, &near, &m, &c->error),
		ST_OK);
	assert_int_equal(m, 50);
	assert_int_equal(engine_cosines(v, query, near, m, cosines, &c->error), ST_OK);
	for (size_t i = 0; i < m; i++)
		assert_true(cosines[i] == near[i].score);
	assert_int_equal(engine_bm25(v, &q, near, m, &c->arena, bm25, &c->error), ST_OK);
	for (size_t i = 0; i < m; i++) {
		double want = 0;

		for (size_t j = 0; j < n; j++)
			if (sparse[j].key == near[i].key)
				want = sparse[j].score;
		if (n < 50)
			assert_true(bm25[i] == want);
		else
			assert_true(bm25[i] >= want);
	}
	assert_int_equal(engine_near(v, (float[TOY_DIMENSION]){ 0 }, 5, NULL, false, &c->arena,
				 &near, &m, &c->error),
		ST_INVALID);
	engine_view_close(v);
}

/* REQ: X2: the dot product of query and document weights is the BM25 score. */
static void test_weights(void **state)
{
	struct corpus *c = *state;
	struct engine_view *v;
	struct engine_query q;
	struct engine_weight *document_w, *query_w;
	struct engine_candidate *hits = NULL;
	size_t dn, qn, n = 0;
	double sum = 0;

	add_many(c, 0, 100);
	v = corpus_view(c);
	q = corpus_analyze(c, v, "word3 and of word7 3");
	assert_int_equal(engine_recall(v, &q, 1, NULL, &c->arena, &hits, &n, &c->error), ST_OK);
	assert_int_equal(n, 1);
	assert_int_equal(engine_weights(v, BYTES("word3 and word3 of 3"), true, &c->arena,
				 &document_w, &dn, &c->error),
		ST_OK);
	assert_int_equal(engine_weights(v, BYTES("word3 and of word7 3"), false, &c->arena,
				 &query_w, &qn, &c->error),
		ST_OK);
	assert_true(dn > 0 && qn > 0);
	for (size_t i = 0; i < qn; i++)
		for (size_t j = 0; j < dn; j++)
			if (bytes_eq(query_w[i].term, document_w[j].term))
				sum += query_w[i].weight * document_w[j].weight;
	assert_true(fabs(sum - hits[0].score) < 1e-9);
	engine_view_close(v);
}

/* ---- want of memory ---- */

static void test_memory(void **state)
{
	struct corpus *c = *state;
	enum status st = ST_NOMEM;
	unsigned failed = 0;

	add_many(c, 0, 20);
	for (long n = 0; st && n < 4000; n++) {
		struct engine_space_spec spec = toy_spec("9", 1);
		struct engine_build *b = NULL;

		mem_fail_after(n);
		st = engine_build_begin(c->engine, &spec, &b, &c->error);
		if (!st)
			st = engine_build_run(b, NULL, NULL, &c->error);
		mem_fail_after(-1);
		if (st) {
			failed++;
			engine_build_abandon(b);
		} else {
			st = engine_build_commit(b, NULL, &c->error);
		}
	}
	assert_int_equal(st, ST_OK);
	assert_true(failed > 5);
	dense_check(c, "9");
}

/* A call whose vectors cannot be made fails and leaves nothing. */
static void test_embed_fails(void **state)
{
	struct corpus *c = *state;
	struct engine_document d = document("x", "some text");
	struct engine_commit commit;

	toy.fail = true;
	assert_int_equal(engine_add(c->engine, &d, 1, NULL, NULL, &c->arena, &commit, &c->error),
		ST_NOMEM);
	toy.fail = false;
	assert_int_equal(corpus_stats(c).documents, 0);
	corpus_add(c, "x", "some text");
	dense_check(c, "0");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_come_and_go, setup, teardown),
		cmocka_unit_test_setup_teardown(test_ties_by_id, setup, teardown),
		cmocka_unit_test_setup_teardown(test_views_stay, setup, teardown),
		cmocka_unit_test_setup_teardown(test_after_restart, setup, teardown),
		cmocka_unit_test_setup_teardown(test_switch, setup, teardown),
		cmocka_unit_test_setup_teardown(test_abandon, setup, teardown),
		cmocka_unit_test_setup_teardown(test_switch_under_load, setup, teardown),
		cmocka_unit_test_setup_teardown(test_commit_fails, setup, teardown),
		cmocka_unit_test_setup_teardown(test_begin_fails, setup, teardown),
		cmocka_unit_test_setup_teardown(test_foreign, setup, teardown),
		cmocka_unit_test_setup_teardown(test_stored, setup, teardown),
		cmocka_unit_test_setup_teardown(test_orphans, setup, teardown),
		cmocka_unit_test_setup_teardown(test_scores, setup, teardown),
		cmocka_unit_test_setup_teardown(test_weights, setup, teardown),
		cmocka_unit_test_setup_teardown(test_memory, setup, teardown),
		cmocka_unit_test_setup_teardown(test_embed_fails, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
