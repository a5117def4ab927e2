/*
 * test_states.c: states of the corpus: what a view shows while writers go on, which
 * states are kept and for how long, and when the dead are swept. (REQ: R9, R10, IDX-04)
 */
#include "corpus.h"

#include <sqlite3.h>
#include <stdio.h>

#include "engine/private.h"
#include "util/clock.h"

static int setup_short(void **state)
{
	struct corpus *c;

	corpus_setup(state);
	c = *state;
	c->opt.snapshot_ttl_s = 1;
	c->opt.max_snapshots = 4;
	corpus_reopen(c);
	return 0;
}

static const struct engine_value red = { .field = { "color", 5 }, .s = { "red", 3 } };
static const struct engine_value blue = { .field = { "color", 5 }, .s = { "blue", 4 } };

static uint64_t add_colored(struct corpus *c, const char *id, const char *text,
	const struct engine_value *color)
{
	struct engine_document doc = document(id, text);

	doc.values = color;
	doc.value_count = 1;
	return corpus_add_all(c, &doc, 1).version;
}

/* ids of a view's hits and their texts: "a=alpha one; …" */
static const char *show(struct corpus *c, struct engine_view *v, const char *query,
	const struct engine_pass *pass)
{
	struct engine_query q = corpus_analyze(c, v, query);
	struct engine_candidate *found;
	struct strbuf out = STRBUF_INIT;
	const char *copy;
	size_t n;

	assert_int_equal(engine_recall(v, &q, 100, pass, &c->arena, &found, &n, &c->error), ST_OK);
	for (size_t i = 0; i < n; i++) {
		struct engine_record r;

		assert_int_equal(engine_fetch(v, &found[i], ENGINE_TEXT, &c->arena, &r, &c->error),
			ST_OK);
		assert_true(bytes_eq(r.doc_id, found[i].doc_id));
		strbuf_addf(&out, "%.*s=%.*s;", (int)r.doc_id.len, r.doc_id.data, (int)r.text.len,
			r.text.data);
	}
	copy = arena_dup(&c->arena, out.data ? out.data : "", out.len);
	strbuf_release(&out);
	assert_non_null(copy);
	return copy;
}

static struct engine_pass *only_red(struct corpus *c, struct engine_view *v)
{
	struct engine_scalar value = { .s = BYTES("red") };
	struct engine_filter f = { .kind = ENGINE_LEAF,
		.op = ENGINE_EQ,
		.values = &value,
		.value_count = 1 };
	struct engine_pass *pass;

	assert_true(engine_field_find(c->engine, BYTES("color"), &f.field));
	assert_int_equal(engine_filter_compile(v, &f, &c->arena, &pass, &c->error), ST_OK);
	return pass;
}

static void expect_get(struct corpus *c, struct engine_view *v, const char *id, const char *text)
{
	struct engine_record r;
	enum status st = engine_get(v, bytes_of(id), &c->arena, &r, &c->error);

	assert_int_equal(st, text ? ST_OK : ST_NOT_FOUND);
	if (text)
		assert_true(bytes_eq(r.text, bytes_of(text)));
}

static void check_first(struct corpus *c, struct engine_view *v)
{
	struct engine_candidate *listed;
	struct engine_stats stats;
	size_t n;

	assert_int_equal(engine_view_version(v), 3);
	assert_string_equal(show(c, v, "alpha", NULL), "a=alpha one;b=alpha two;");
	assert_string_equal(show(c, v, "alpha", only_red(c, v)), "a=alpha one;");
	assert_string_equal(show(c, v, "new", NULL), "");
	assert_int_equal(engine_list(v, only_red(c, v), 10, NULL, 0, &c->arena, &listed, &n,
				 &c->error),
		ST_OK);
	assert_int_equal(n, 2); /* a and c */
	expect_get(c, v, "a", "alpha one");
	expect_get(c, v, "b", "alpha two");
	expect_get(c, v, "new", NULL);
	assert_int_equal(engine_view_stats(v, &stats, &c->error), ST_OK);
	assert_int_equal(stats.documents, 3);
	assert_int_equal(stats.text_bytes, 9 + 9 + 5);
}

/* REQ: R9: writers change nothing of what a view shows, however many there are. */
static void test_exact_beside_writers(void **state)
{
	struct corpus *c = *state;
	struct engine_view *old, *now;

	corpus_unsynced(c);
	add_colored(c, "a", "alpha one", &red);
	add_colored(c, "b", "alpha two", &blue);
	add_colored(c, "c", "third", &red);
	old = corpus_view(c);
	check_first(c, old);
	add_colored(c, "a", "alpha new", &blue);
	corpus_delete(c, "b");
	for (unsigned i = 0; i < 200; i++) {
		char id[16];

		snprintf(id, sizeof id, "n%u", i % 40);
		add_colored(c, i % 3 ? id : "c", "alpha new red", &red);
		if (i % 50 == 0)
			check_first(c, old);
	}
	check_first(c, old);
	now = corpus_view(c);
	expect_get(c, now, "a", "alpha new");
	expect_get(c, now, "b", NULL);
	assert_int_equal(engine_view_version(now), 205);
	engine_view_close(now);
	check_first(c, old);
	engine_view_close(old);
}

/* When the commit was made that a view shows. */
static void test_time(void **state)
{
	struct corpus *c = *state;
	struct engine_view *v = corpus_view(c);
	int64_t before = (int64_t)clock_wall_ms(), at;

	assert_int_equal(engine_view_time_ms(v), 0);
	engine_view_close(v);
	corpus_add(c, "a", "text");
	v = corpus_view(c);
	at = engine_view_time_ms(v);
	assert_true(at >= before && at <= (int64_t)clock_wall_ms());
	engine_view_close(v);
	corpus_reopen(c);
	corpus_delete(c, "nothing");
	v = corpus_view(c);
	assert_int_equal(engine_view_time_ms(v), at);
	engine_view_close(v);
}

static enum status open_at(struct corpus *c, uint64_t version)
{
	struct engine_view *v;
	enum status st = engine_view_open_at(c->engine, version, NULL, &v, &c->error);

	if (!st) {
		assert_int_equal(engine_view_version(v), version);
		engine_view_close(v);
	}
	return st;
}

static void keep(struct corpus *c)
{
	struct engine_view *v = corpus_view(c);

	engine_view_keep(v);
	engine_view_close(v);
}

/* REQ: R10: a number that was given out finds its state, while that is kept. */
static void test_open_at(void **state)
{
	struct corpus *c = *state;
	struct engine_view *v;

	c->opt.snapshot_ttl_s = 60;
	c->opt.max_snapshots = 8;
	corpus_reopen(c);
	assert_int_equal(open_at(c, 0), ST_OK);
	assert_int_equal(open_at(c, 1), ST_GONE);
	corpus_add(c, "a", "alpha one");
	keep(c);
	for (unsigned i = 0; i < 5; i++)
		corpus_add(c, "a", "alpha two");
	assert_int_equal(open_at(c, 1), ST_OK); /* read */
	assert_int_equal(open_at(c, 6), ST_OK); /* current */
	assert_int_equal(open_at(c, 5), ST_OK); /* a writer was told it, lately */
	assert_int_equal(open_at(c, 2), ST_GONE);
	assert_int_equal(open_at(c, 7), ST_GONE);
	assert_int_equal(open_at(c, UINT64_MAX), ST_GONE);
	assert_string_not_equal(c->error.message, "");
	assert_int_equal(engine_view_open_at(c->engine, 1, NULL, &v, &c->error), ST_OK);
	expect_get(c, v, "a", "alpha one");
	assert_string_equal(show(c, v, "alpha two", NULL), "a=alpha one;");
	engine_view_close(v);
	corpus_reopen(c);
	assert_int_equal(open_at(c, 1), ST_GONE);
	assert_int_equal(open_at(c, 6), ST_OK);
}

/* REQ: R10: kept states go when their time is over, a view that is open does not. */
static void test_ttl(void **state)
{
	struct corpus *c = *state;
	struct engine_view *old;
	uint64_t kept;

	corpus_add(c, "a", "alpha one");
	old = corpus_view(c);
	kept = clock_mono_ms();
	engine_view_keep(old);
	corpus_add(c, "a", "alpha two");
	if (clock_mono_ms() < kept + 900)
		assert_true(open_at(c, 1) == ST_OK || clock_mono_ms() >= kept + 1000);
	while (clock_mono_ms() < kept + 700)
		clock_sleep_ms(10);
	engine_view_keep(old); /* which is its last use from now on */
	while (clock_mono_ms() < kept + 1100)
		clock_sleep_ms(10);
	assert_true(open_at(c, 1) == ST_OK || clock_mono_ms() >= kept + 1700);
	clock_sleep_ms(1050);
	assert_int_equal(open_at(c, 1), ST_GONE);
	assert_int_equal(open_at(c, 2), ST_OK);
	expect_get(c, old, "a", "alpha one");
	engine_view_close(old);
}

/* Of more than max_snapshots those unused for longest go; memory is bounded. */
static void test_bound(void **state)
{
	struct corpus *c = *state;
	struct engine_view *first;
	unsigned alive = 0;

	c->opt.snapshot_ttl_s = 60;
	corpus_reopen(c);
	corpus_add(c, "a", "text");
	first = corpus_view(c);
	engine_view_keep(first);
	for (unsigned i = 2; i <= 6; i++) {
		corpus_add(c, "a", "text");
		keep(c);
		engine_view_keep(first); /* used all along */
	}
	corpus_add(c, "a", "text");
	assert_int_equal(open_at(c, 1), ST_OK);
	assert_int_equal(open_at(c, 2), ST_GONE);
	assert_int_equal(open_at(c, 3), ST_GONE);
	assert_int_equal(open_at(c, 4), ST_OK);
	assert_int_equal(open_at(c, 5), ST_OK);
	assert_int_equal(open_at(c, 6), ST_OK);
	engine_view_close(first);
	for (unsigned i = 0; i < 50; i++)
		corpus_add(c, "a", "text");
	pthread_mutex_lock(&c->engine->states.lock);
	for (const struct engine_state *s = c->engine->states.oldest; s; s = s->newer)
		alive++;
	pthread_mutex_unlock(&c->engine->states.lock);
	assert_int_equal(alive, 4 + 1); /* kept by readers, and the one a writer was told last */
}

/* Nothing is kept where that is not wanted, and nothing breaks. */
static void test_none_kept(void **state)
{
	struct corpus *c = *state;

	c->opt.max_snapshots = 0;
	corpus_reopen(c);
	corpus_add(c, "a", "text");
	keep(c);
	assert_int_equal(open_at(c, 1), ST_OK);
	corpus_add(c, "a", "text");
	assert_int_equal(open_at(c, 1), ST_GONE);
}

/* ---- sweeping ---- */

/* A number from the file, by a connection of our own. */
static long long ask(const struct corpus *c, const char *sql)
{
	sqlite3_stmt *stmt;
	long long value = -1;
	char path[600];
	sqlite3 *h;

	corpus_path(c, "rcpd.db", path, sizeof path);
	assert_int_equal(sqlite3_open_v2(path, &h, SQLITE_OPEN_READONLY, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_prepare_v2(h, sql, -1, &stmt, NULL), SQLITE_OK);
	if (sqlite3_step(stmt) == SQLITE_ROW)
		value = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	sqlite3_close(h);
	return value;
}

#define DEAD "SELECT count(*) FROM documents WHERE died IS NOT NULL"

static bool becomes(const struct corpus *c, const char *sql, long long value, uint64_t ms)
{
	uint64_t until = clock_mono_ms() + ms;

	while (ask(c, sql) != value) {
		if (clock_mono_ms() >= until)
			return false;
		clock_sleep_ms(20);
	}
	return true;
}

/* Waits until all commits are in the index's files. */
static void await_persisted(struct corpus *c)
{
	uint64_t until = clock_mono_ms() + 10000, version = corpus_stats(c).version;

	while (lexical_persisted_commit(c->engine->index) < version) {
		assert_true(clock_mono_ms() < until);
		clock_sleep_ms(10);
	}
}

/* The head goes to disk now and not within a minute. */
static void persist(struct corpus *c)
{
	lexical_freeze(c->engine->index);
	keeper_poke(c->engine);
	await_persisted(c);
}

static uint64_t column_keys(struct corpus *c)
{
	struct engine_view *v = corpus_view(c);
	struct filter_stats stats;

	filter_view_stats(v->state->columns, &stats);
	engine_view_close(v);
	return stats.keys;
}

/* REQ: IDX-04: what died leaves the file, the columns and the index once nobody can
 * see it, and not before. */
static void test_sweeping(void **state)
{
	struct corpus *c = *state;
	struct engine_view *old;

	add_colored(c, "a", "alpha one", &red);
	add_colored(c, "b", "alpha two", &blue);
	add_colored(c, "c", "third", &red);
	old = corpus_view(c);
	add_colored(c, "a", "alpha new", &red);
	corpus_delete(c, "b");
	persist(c);
	clock_sleep_ms(1800); /* kept states go, and sweeps could have been */
	assert_int_equal(ask(c, DEAD), 2);
	check_first(c, old);
	engine_view_close(old);
	assert_true(becomes(c, DEAD, 0, 10000));
	assert_int_equal(ask(c, "SELECT count(*) FROM texts"), 2);
	assert_int_equal(ask(c, "SELECT count(*) FROM chunks"), 2);
	assert_int_equal(ask(c,
				 "SELECT count(*) FROM texts WHERE CAST(text AS TEXT) LIKE"
				 " '%one' OR CAST(text AS TEXT) LIKE '%two'"),
		0);
	add_colored(c, "d", "delta", &blue); /* a new view of the columns */
	assert_int_equal(column_keys(c), 3);
	for (unsigned i = 0; i < 2; i++) {
		assert_string_equal(corpus_search(c, "alpha one two", 10), "a");
		assert_string_equal(corpus_search(c, "third", 10), "c");
		assert_string_equal(corpus_search(c, "delta", 10), "d");
		assert_int_equal(column_keys(c), 3);
		corpus_reopen(c);
	}
}

/* What is not in the index's files yet has to stay: a replay needs it. */
static void test_not_before_persisted(void **state)
{
	struct corpus *c = *state;

	corpus_add(c, "a", "alpha one");
	await_persisted(c); /* by the keeper, which does so once a minute */
	corpus_add(c, "a", "alpha two");
	clock_sleep_ms(1500);
	assert_int_equal(ask(c, DEAD), 1);
	corpus_reopen(c); /* writes the head */
	keeper_poke(c->engine);
	assert_true(becomes(c, DEAD, 0, 10000));
	assert_string_equal(corpus_search(c, "alpha one", 10), "a");
}

/* ---- what the keeper did is for readers too ---- */

static uint64_t head_chunks(struct corpus *c)
{
	struct engine_view *v = corpus_view(c);
	struct lexical_stats stats;

	lexical_view_stats(v->state->index, &stats);
	engine_view_close(v);
	return stats.head_chunks;
}

/* Waits until new views read files alone. */
static void await_refreshed(struct corpus *c)
{
	uint64_t until = clock_mono_ms() + 10000;

	persist(c);
	while (head_chunks(c) > 0) {
		assert_true(clock_mono_ms() < until);
		clock_sleep_ms(10);
	}
}

/*
 * REQ: R9, R10: without another commit new views have what was sealed and merged, the
 * heads that it came from go, and no kept state goes with them.
 */
static void test_refreshed(void **state)
{
	struct corpus *c = *state;
	struct engine_view *stale;
	const char *before;

	c->opt.snapshot_ttl_s = 60;
	c->opt.max_snapshots = 400;
	c->opt.head_chunks = 4;
	corpus_reopen(c);
	corpus_unsynced(c);
	corpus_add(c, "a", "alpha one");
	keep(c);
	for (unsigned i = 0; i < 80; i++) {
		char id[16];

		snprintf(id, sizeof id, "n%02u", i);
		corpus_add(c, id, "alpha two");
	}
	stale = corpus_view(c);
	before = show(c, stale, "alpha two", NULL);
	await_refreshed(c);
	assert_int_equal(open_at(c, 1), ST_OK);
	assert_int_equal(open_at(c, 81), ST_OK);
	assert_string_equal(show(c, stale, "alpha two", NULL), before);
	engine_view_keep(stale);
	engine_view_close(stale);
	corpus_add(c, "b", "alpha three");
	assert_int_equal(engine_view_open_at(c->engine, 81, NULL, &stale, &c->error), ST_OK);
	assert_string_equal(show(c, stale, "alpha two", NULL), before);
	engine_view_close(stale);
}

/* REQ: R10: too many old heads in memory cost the states unused for longest, and no more
 * than is needed. Each kept state holds the head of its time. */
static void test_held_heads(void **state)
{
	struct corpus *c = *state;
	uint64_t until = clock_mono_ms() + 10000;
	unsigned kept = 0;

	c->opt.snapshot_ttl_s = 60;
	c->opt.max_snapshots = 400;
	c->opt.head_chunks = 1;
	c->opt.held_bytes = 8 * 1024; /* each head takes about a kilobyte */
	corpus_reopen(c);
	corpus_unsynced(c);
	for (unsigned i = 0; i < 20; i++) {
		corpus_add(c, "a", "alpha");
		keep(c);
		await_persisted(c);
	}
	while (open_at(c, 1) == ST_OK && clock_mono_ms() < until)
		clock_sleep_ms(10); /* the keeper looks once a second */
	for (uint64_t version = 1; version <= 20; version++)
		kept += open_at(c, version) == ST_OK;
	assert_true(kept >= 2 && kept <= 16);
	assert_int_equal(open_at(c, 19), ST_OK);
	assert_int_equal(open_at(c, 1), ST_GONE);
}

/* Many dead, more than one step removes; a crash in between would not matter. */
static void test_many_dead(void **state)
{
	struct corpus *c = *state;
	static char ids[700][8];
	static struct engine_document docs[700];
	static struct bytes names[700];
	struct engine_commit commit;

	for (size_t i = 0; i < 700; i++) {
		snprintf(ids[i], sizeof ids[i], "d%zu", i);
		docs[i] = document(ids[i], "text of many");
		names[i] = docs[i].id;
	}
	corpus_add_all(c, docs, 700);
	corpus_add(c, "stays", "text");
	assert_int_equal(engine_delete(c->engine, names, 700, NULL, &commit, &c->error), ST_OK);
	assert_int_equal(commit.documents, 700);
	corpus_reopen(c);
	assert_true(becomes(c, DEAD, 0, 20000));
	assert_int_equal(ask(c, "SELECT count(*) FROM chunks"), 1);
	assert_string_equal(corpus_search(c, "text many", 1000), "stays");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup_short, corpus_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_exact_beside_writers),
		TEST(test_time),
		TEST(test_open_at),
		TEST(test_ttl),
		TEST(test_bound),
		TEST(test_none_kept),
		TEST(test_sweeping),
		TEST(test_not_before_persisted),
		TEST(test_refreshed),
		TEST(test_held_heads),
		TEST(test_many_dead),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
