/*
 * test_memory.c: each allocation fails in turn, ours and SQLite's: the call says so
 * or succeeds, nothing is left half-done, and the next call works. A write whose rows
 * are on disk has succeeded, whatever comes after: what could not be shown then is
 * shown with the next one.
 */
#include "corpus.h"

#include <sqlite3.h>
#include <stdio.h>

#include "engine/private.h"
#include "util/gauge.h"
#include "sqlite_memory.h"
#include "util/mem.h"

/* Fails from the n-th allocation on; below 0: stops that. Returns whether any was
 * refused since the last call. */
typedef bool set_failure(long n);

static bool fail_ours(long n)
{
	static long passed = -1;
	bool refused = mem_fail_after(n) > passed && passed >= 0;

	passed = n;
	return refused;
}

static bool fail_sqlite(long n)
{
	return sqlite_memory_fail(n);
}

/* ---- one operation on a corpus of two documents ---- */

static struct engine_value value_of(const char *field, const char *s)
{
	return (struct engine_value){ .field = bytes_of(field),
		.kind = ENGINE_V_STRING,
		.s = bytes_of(s) };
}

static void fill(struct corpus *c)
{
	struct engine_value color = value_of("color", "red");
	struct engine_document docs[] = { document("a", "alpha old"), document("b", "bravo") };

	docs[0].values = &color;
	docs[0].value_count = 1;
	corpus_add_all(c, docs, 2);
}

struct operation {
	enum status (*run)(struct corpus *c, long n);
	void (*done)(struct corpus *c); /* it has happened, by now all can see it */
	bool writes;
};

static enum status run_add(struct corpus *c, long n)
{
	struct engine_once once = { .owner = BYTES("o"), .result = BYTES("r") };
	struct engine_document docs[] = { document("a", "alpha new"), document("n", "november") };
	struct engine_commit commit = { .version = 4711 };
	struct engine_value values[2];
	char key[32];
	enum status st;

	snprintf(key, sizeof key, "k%ld", n);
	once.key = bytes_of(key);
	values[0] = value_of("color", "green");
	values[1] = value_of(key, "one of a new field"); /* a new field each time */
	docs[1].title = BYTES("Title");
	docs[1].values = values;
	docs[1].value_count = 2;
	st = engine_add(c->engine, docs, 2, &once, NULL, &c->arena, &commit, &c->error);
	if (st)
		assert_int_equal(commit.version, 4711);
	return st;
}

static void check_added(struct corpus *c)
{
	assert_string_equal(corpus_search(c, "old new", 10), "a");
	assert_string_equal(corpus_search(c, "title", 10), "n");
	assert_true(bytes_eq(corpus_text(c, "a"), BYTES("alpha new")));
}

static enum status run_delete(struct corpus *c, long n)
{
	struct bytes ids[] = { BYTES("a"), BYTES("b") };
	struct engine_commit commit;

	(void)n;
	return engine_delete(c->engine, ids, 2, NULL, &commit, &c->error);
}

static void check_deleted(struct corpus *c)
{
	assert_string_equal(corpus_search(c, "alpha bravo", 10), "");
	assert_null(corpus_text(c, "a").data);
	assert_null(corpus_text(c, "b").data);
}

static struct engine_filter is_red(struct corpus *c, struct engine_scalar *value)
{
	struct engine_filter f = { .kind = ENGINE_LEAF,
		.op = ENGINE_EQ,
		.values = value,
		.value_count = 1 };

	value->s = BYTES("red");
	assert_true(engine_field_find(c->engine, BYTES("color"), &f.field));
	return f;
}

static enum status run_delete_where(struct corpus *c, long n)
{
	struct engine_scalar value = { 0 };
	struct engine_filter f = is_red(c, &value);
	struct engine_commit commit;
	enum status st = engine_delete_where(c->engine, &f, NULL, &commit, &c->error);

	(void)n;
	if (!st)
		assert_int_equal(commit.documents, 1);
	return st;
}

static void check_red_gone(struct corpus *c)
{
	assert_string_equal(corpus_search(c, "alpha bravo", 10), "b");
	assert_null(corpus_text(c, "a").data);
}

static enum status read_all(struct corpus *c, struct engine_view *v)
{
	struct engine_scalar value = { 0 };
	struct engine_filter f = is_red(c, &value);
	struct engine_candidate *found;
	struct engine_record r;
	struct engine_query q;
	struct engine_pass *pass;
	size_t n = 0;
	enum status st = engine_analyze(v, BYTES("alpha bravo"), &c->arena, &q, &c->error);

	if (!st)
		st = engine_filter_compile(v, &f, &c->arena, &pass, &c->error);
	if (!st)
		st = engine_recall(v, &q, 10, pass, &c->arena, &found, &n, &c->error);
	if (!st)
		assert_int_equal(n, 1);
	for (size_t i = 0; !st && i < n; i++)
		st = engine_fetch(v, &found[i], ENGINE_TEXT | ENGINE_META | ENGINE_CITATION,
			&c->arena, &r, &c->error);
	if (!st)
		st = engine_list(v, pass, 5, NULL, 0, &c->arena, &found, &n, &c->error);
	if (!st)
		assert_int_equal(n, 1);
	return st ? st : engine_get(v, BYTES("b"), &c->arena, &r, &c->error);
}

static enum status run_read(struct corpus *c, long n)
{
	struct engine_view *v;
	enum status st = engine_view_open(c->engine, NULL, &v, &c->error);

	(void)n;
	if (st)
		return st;
	st = read_all(c, v);
	engine_view_close(v);
	return st;
}

static void check_as_before(struct corpus *c)
{
	assert_string_equal(corpus_search(c, "old", 10), "a");
	assert_string_equal(corpus_search(c, "new november bravo", 10), "b");
	assert_true(bytes_eq(corpus_text(c, "a"), BYTES("alpha old")));
	assert_true(bytes_eq(corpus_text(c, "b"), BYTES("bravo")));
	assert_null(corpus_text(c, "n").data);
	assert_int_equal(corpus_stats(c).documents, 2);
}

/* ---- the walk ---- */

struct walked {
	unsigned refused; /* operations that failed */
	unsigned behind;  /* that were on disk and not shown yet */
};

static void check_trial(struct corpus *c, const struct operation *op, enum status st, long n,
	struct walked *w)
{
	if (st && st != ST_NOMEM)
		fail_msg("allocation %ld: %s: %s (%s)", n, status_name(st), c->error.message,
			c->error.detail);
	assert_int_equal(gauge_get(GAUGE_VIEWS), 0);
	w->refused += st != ST_OK;
	if (st || !op->writes) {
		check_as_before(c);
		return;
	}
	w->behind += c->engine->behind;
	corpus_add(c, "z", "zulu"); /* whatever was missed is made up for */
	assert_false(c->engine->behind);
	assert_string_equal(corpus_search(c, "zulu", 10), "z");
	op->done(c);
	corpus_delete(c, "n");
	corpus_delete(c, "z");
	fill(c);
}

/* Runs op with the first n allocations granted, for n = 0, 1, … until none was
 * refused. */
static struct walked walk(struct corpus *c, const struct operation *op, set_failure *set)
{
	struct walked w = { 0 };
	bool refused = true;

	corpus_unsynced(c);
	keeper_stop(c->engine); /* or it makes up for what was missed before we look */
	fill(c);
	for (long n = 0; refused && n < 100000; n++) {
		enum status st;

		corpus_clear(c); /* an arena with room left would ask for nothing */
		set(-1);
		set(n);
		st = op->run(c, n);
		refused = set(-1);
		assert_true(st == ST_OK || refused);
		check_trial(c, op, st, n, &w);
	}
	assert_false(refused);
	return w;
}

static const struct operation add = { run_add, check_added, true };
static const struct operation delete = { run_delete, check_deleted, true };
static const struct operation delete_where = { run_delete_where, check_red_gone, true };
static const struct operation reading = { run_read, NULL, false };

static int setup(void **state)
{
	corpus_setup(state);
	((struct corpus *)*state)->opt.max_fields = 10000;
	corpus_reopen(*state);
	return 0;
}

static void test_add_ours(void **state)
{
	struct walked w = walk(*state, &add, fail_ours);

	assert_true(w.refused >= 5);
	assert_true(w.behind >= 2);
}

static void test_delete_ours(void **state)
{
	assert_true(walk(*state, &delete, fail_ours).refused >= 1);
}

static void test_delete_where_ours(void **state)
{
	assert_true(walk(*state, &delete_where, fail_ours).refused >= 2);
}

static void test_read_ours(void **state)
{
	assert_true(walk(*state, &reading, fail_ours).refused >= 5);
}

static void test_sqlite(void **state)
{
	static const struct operation *const all[] = { &add, &delete, &delete_where, &reading };
	struct corpus *c = *state;

	for (size_t i = 0; i < 4; i++) {
		corpus_reopen(c); /* so that statements are prepared under failure too */
		assert_true(walk(c, all[i], fail_sqlite).refused > 5);
	}
}

/* Opening what is there, and making what is not; the index is there or made anew. */
static void open_under_failure(set_failure *set, bool fresh, bool drop, long step)
{
	static const struct engine_declared declared = { { "size", 4 }, ENGINE_INT };
	struct corpus c;
	enum status st = ST_NOMEM;
	long n;

	corpus_make_dir(&c);
	c.opt.dir = c.dir;
	if (!fresh) {
		corpus_open(&c);
		fill(&c);
		corpus_close(&c);
	}
	c.opt.declared = &declared;
	c.opt.declared_count = 1;
	for (n = 0; st && n < 100000; n += step) {
		if (drop)
			corpus_drop_index(&c);
		set(n);
		st = engine_open(&c.opt, &c.engine, &c.error);
		set(-1);
		if (st && st != ST_NOMEM)
			fail_msg("allocation %ld: %s: %s (%s)", n, status_name(st), c.error.message,
				c.error.detail);
	}
	assert_true(n > 3);
	assert_string_equal(corpus_search(&c, "alpha", 10), fresh ? "" : "a");
	assert_int_equal(engine_field_count(c.engine), fresh ? 1 : 2);
	corpus_close(&c);
	corpus_check(&c);
	corpus_remove_dir(&c);
}

static void test_open_ours(void **state)
{
	(void)state;
	open_under_failure(fail_ours, true, false, 1);
	open_under_failure(fail_ours, false, false, 1);
	open_under_failure(fail_ours, false, true, 1);
}

static void test_open_sqlite(void **state)
{
	(void)state;
	open_under_failure(fail_sqlite, true, false, 97);
	open_under_failure(fail_sqlite, false, false, 23);
	open_under_failure(fail_sqlite, false, true, 23);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, corpus_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_add_ours),
		TEST(test_delete_ours),
		TEST(test_delete_where_ours),
		TEST(test_read_ours),
		TEST(test_sqlite),
		cmocka_unit_test(test_open_ours),
		cmocka_unit_test(test_open_sqlite),
	};

	sqlite_memory_install();
	return cmocka_run_group_tests(tests, NULL, NULL);
}
