/*
 * test_groups.c: calls that share a transaction: one commit number for all, each of them
 * whole or not at all, and none hurt by its neighbours. (REQ: X7, X8, D37, L6)
 *
 * Most tests put a group together by hand and run it, so that who is in it is certain.
 */
#include "corpus.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

#include "engine/private.h"
#include "util/clock.h"
#include "util/fault.h"
#include "util/mem.h"

/* ---- groups by hand ---- */

#define MOST_OPS 8

struct by_hand {
	struct corpus *c;
	struct op ops[MOST_OPS];
	struct engine_once onces[MOST_OPS];
	size_t n;
};

static struct op *new_op(struct by_hand *g, enum op_kind kind)
{
	struct op *op = &g->ops[g->n++];

	*op = (struct op){ .kind = kind, .arena = &g->c->arena };
	if (g->n > 1)
		op[-1].next = op;
	return op;
}

static struct op *put_many(struct by_hand *g, const struct engine_document *docs, size_t n)
{
	struct op *op = new_op(g, OP_ADD);

	assert_int_equal(prepare(g->c->engine, docs, n, NULL, &g->c->arena, &op->add, &g->c->error),
		ST_OK);
	return op;
}

static struct op *put(struct by_hand *g, const char *id, const char *text)
{
	struct engine_document doc = document(id, text);

	return put_many(g, &doc, 1);
}

static struct op *with_key(struct by_hand *g, struct op *op, const char *key, unsigned char hash)
{
	struct engine_once *once = &g->onces[op - g->ops];

	*once = (struct engine_once){ .owner = BYTES("o"),
		.key = bytes_of(key),
		.result = BYTES("r") };
	memset(once->hash, hash, sizeof once->hash);
	op->once = once;
	return op;
}

static struct op *take_out(struct by_hand *g, const struct bytes *id)
{
	struct op *op = new_op(g, OP_DELETE);

	op->ids = id;
	op->id_count = 1;
	return op;
}

/* As queue.c does; the engine's own thread is kept out meanwhile. */
static void set_leading(struct engine *en, bool leading)
{
	pthread_mutex_lock(&en->queue.lock);
	while (leading && en->queue.leading)
		pthread_cond_wait(&en->queue.changed, &en->queue.lock);
	en->queue.leading = leading;
	pthread_cond_broadcast(&en->queue.changed);
	pthread_mutex_unlock(&en->queue.lock);
}

static void run(struct by_hand *g)
{
	set_leading(g->c->engine, true);
	group_run(g->c->engine, g->ops);
	set_leading(g->c->engine, false);
	for (size_t i = 0; i < g->n; i++)
		mem_free(g->ops[i].buried);
}

static void expect_text(struct corpus *c, const char *id, const char *text)
{
	struct bytes got = corpus_text(c, id);

	if (!text)
		assert_null(got.data);
	else if (!bytes_eq(got, bytes_of(text)))
		fail_msg("'%s' is '%.*s', not '%s'", id, (int)got.len, got.data, text);
}

static void expect_start(struct corpus *c, const char *id, const char *start)
{
	struct bytes got = corpus_text(c, id);

	assert_int_equal(got.data != NULL, start != NULL);
	assert_true(
		!start || (got.len >= strlen(start) && !memcmp(got.data, start, strlen(start))));
}

/* One number for all, in the order of the line: the last of equal ids wins. */
static void test_one_commit(void **state)
{
	struct by_hand g = { .c = *state };
	struct bytes a = BYTES("a"), none = BYTES("nobody");
	struct op *first, *deleted, *nobody;

	first = put(&g, "a", "alpha one");
	put(&g, "b", "bravo");
	put(&g, "a", "alpha two");
	deleted = take_out(&g, &a);
	nobody = take_out(&g, &none);
	put(&g, "a", "alpha three");
	run(&g);
	for (size_t i = 0; i < g.n; i++) {
		assert_int_equal(g.ops[i].st, ST_OK);
		assert_int_equal(g.ops[i].commit.version, 1);
	}
	assert_int_equal(first->commit.documents, 1);
	assert_int_equal(first->commit.chunks, 1);
	assert_int_equal(deleted->commit.documents, 1);
	assert_int_equal(nobody->commit.documents, 0);
	expect_text(g.c, "a", "alpha three");
	assert_string_equal(corpus_search(g.c, "alpha", 10), "a");
	assert_string_equal(corpus_search(g.c, "one two", 10), "");
	assert_int_equal(corpus_stats(g.c).documents, 2);
	assert_int_equal(corpus_stats(g.c).version, 1);
	corpus_reopen(g.c);
	assert_string_equal(corpus_search(g.c, "one two three", 10), "a");
}

/* A key that is used with another body fails alone; one used twice in the group is
 * answered twice and written once. */
static void test_keys(void **state)
{
	struct by_hand g = { .c = *state }, again = { .c = *state };
	struct op *conflict, *repeat, *nothing;

	with_key(&g, put(&g, "a", "alpha"), "k1", 1);
	conflict = with_key(&g, put(&g, "b", "bravo"), "k1", 2);
	repeat = with_key(&g, put(&g, "c", "charlie"), "k1", 1);
	nothing = with_key(&g, put_many(&g, NULL, 0), "k2", 1);
	put(&g, "d", "delta");
	run(&g);
	assert_int_equal(g.ops[0].st, ST_OK);
	assert_int_equal(conflict->st, ST_CONFLICT);
	assert_int_equal(conflict->error.code, ST_CONFLICT);
	assert_int_equal(repeat->st, ST_OK);
	assert_true(repeat->repeated);
	assert_int_equal(repeat->commit.version, 1);
	assert_int_equal(g.ops[4].commit.version, 1);
	expect_text(g.c, "a", "alpha");
	expect_text(g.c, "b", NULL);
	expect_text(g.c, "c", NULL);
	expect_text(g.c, "d", "delta");
	/* The first answer again, number included. */
	with_key(&again, put_many(&again, NULL, 0), "k2", 1);
	run(&again);
	assert_true(again.ops[0].repeated);
	assert_int_equal(again.ops[0].commit.version, nothing->commit.version);
}

/* Each call of this group brings up a field of its own. */
static struct op *put_middle(struct by_hand *g, const struct engine_stop *stop, const char *text)
{
	static const struct engine_value brought[] = { { .field = { "middle", 6 },
							       .kind = ENGINE_V_INT },
		{ .field = { "last", 4 }, .kind = ENGINE_V_INT } };
	struct engine_document docs[] = { document("m1", "middle"), document("m2", "middle"),
		document("m3", "middle"), document("z", text) };
	struct op *middle;

	docs[0].values = &brought[0];
	docs[3].values = &brought[1];
	docs[0].value_count = docs[3].value_count = 1;
	put(g, "a", text);
	middle = put_many(g, docs, 3);
	middle->stop = stop;
	put_many(g, &docs[3], 1);
	return middle;
}

static void check_fields(struct corpus *c, bool middle)
{
	size_t number;

	for (unsigned i = 0; i < 2; i++) {
		assert_true(engine_field_find(c->engine, BYTES("last"), &number));
		assert_int_equal(number, 0);
		assert_int_equal(engine_field_find(c->engine, BYTES("middle"), &number), middle);
		assert_int_equal(engine_field_count(c->engine), middle ? 2 : 1);
		corpus_reopen(c);
	}
}

/* A call told to stop in the middle of the group leaves nothing, its neighbours all. */
static void test_cancelled_inside(void **state)
{
	struct corpus *c = *state;
	struct countdown count;
	struct engine_stop stop = { countdown_stop, &count };
	enum status st = ST_CANCELLED;
	unsigned rounds = 0;

	for (; st == ST_CANCELLED; rounds++) {
		struct by_hand g = { .c = c };
		struct op *middle;
		char text[32];

		assert_true(rounds < 1000);
		snprintf(text, sizeof text, "round%u", rounds);
		middle = put_middle(&g, &stop, text);
		count.left = rounds;
		run(&g);
		st = middle->st;
		assert_true(st == ST_OK || st == ST_CANCELLED);
		assert_int_equal(g.ops[0].st, ST_OK);
		assert_int_equal(g.ops[2].st, ST_OK);
		assert_int_equal(g.ops[0].commit.version, rounds + 1);
		assert_int_equal(g.ops[2].commit.version, rounds + 1);
		expect_text(c, "a", text);
		expect_text(c, "z", text);
		assert_string_equal(corpus_search(c, "middle", 10), st ? "" : "m1 m2 m3");
		check_fields(c, st == ST_OK);
		corpus_clear(c);
	}
	assert_true(rounds > 4);
}

/* REQ: L6: when all of a group want to stop before the commit, none is written. */
static void test_all_cancelled(void **state)
{
	struct corpus *c = *state;
	struct countdown count;
	struct engine_stop stop = { countdown_stop, &count };
	unsigned written = 0;

	for (long n = 0; n < 60; n++) {
		struct by_hand g = { .c = c };
		uint64_t before = corpus_stats(c).version;

		put(&g, "a", "alpha")->stop = &stop;
		put(&g, "b", "bravo")->stop = &stop;
		count.left = n;
		run(&g);
		for (size_t i = 0; i < 2; i++)
			assert_true(g.ops[i].st == ST_OK || g.ops[i].st == ST_CANCELLED);
		if (g.ops[0].st && g.ops[1].st)
			assert_int_equal(corpus_stats(c).version, before);
		else
			assert_int_equal(corpus_stats(c).version, before + 1);
		written += !g.ops[0].st && !g.ops[1].st;
	}
	assert_true(written > 0 && written < 60);
}

/* Words that nobody had before, so that the index needs memory for them. */
static const char *long_text(struct corpus *c, const char *words, long n)
{
	struct strbuf text = STRBUF_INIT;
	const char *copy;

	strbuf_adds(&text, words);
	for (unsigned i = 0; i < 400; i++)
		strbuf_addf(&text, " w%ldx%u", n, i);
	copy = arena_dup(&c->arena, text.data, text.len);
	strbuf_release(&text);
	assert_non_null(copy);
	return copy;
}

/* Each allocation of a group fails in turn. What the rows say is what shows after the
 * next call, also where a document came and went within the group. */
static void test_memory(void **state)
{
	struct corpus *c = *state;
	bool refused = true;
	unsigned behind = 0;

	corpus_unsynced(c);
	keeper_stop(c->engine); /* or it makes up for what was missed before we look */
	for (long n = 0; refused; n++) {
		struct by_hand g = { .c = c };
		struct bytes y = BYTES("y");
		bool there[4];

		assert_true(n < 10000);
		corpus_add(c, "y", "yankee");
		corpus_add(c, "x", "xray");
		put(&g, "x", long_text(c, "xenon lost", 3 * n));
		put(&g, "y", long_text(c, "yonder lost", 3 * n + 1));
		put(&g, "x", long_text(c, "xylophone", 3 * n + 2));
		take_out(&g, &y);
		mem_fail_after(-1);
		mem_fail_after(n);
		run(&g);
		refused = mem_fail_after(-1) > n;
		for (size_t i = 0; i < 4; i++) {
			there[i] = g.ops[i].st == ST_OK;
			assert_true(there[i] || (refused && g.ops[i].st == ST_NOMEM));
		}
		behind += c->engine->behind;
		corpus_add(c, "z", "zulu");
		assert_string_equal(corpus_search(c, "zulu", 10), "z");
		expect_start(c, "x", there[2] ? "xylophone" : there[0] ? "xenon lost" : "xray");
		expect_start(c, "y", there[3] ? NULL : there[1] ? "yonder lost" : "yankee");
		assert_string_equal(corpus_search(c, "xylophone", 10), there[2] ? "x" : "");
		assert_string_equal(corpus_search(c, "xenon", 10),
			there[0] && !there[2] ? "x" : "");
		assert_string_equal(corpus_search(c, "yonder", 10),
			there[1] && !there[3] ? "y" : "");
		assert_string_equal(corpus_search(c, "yankee", 10),
			!there[1] && !there[3] ? "y" : "");
		corpus_clear(c);
	}
	assert_true(behind > 2);
}

/* ---- threads ---- */

/* cmocka's assertions must stay on the main thread. */
struct caller {
	struct corpus *c;
	pthread_t thread;
	struct engine_document doc;
	const struct engine_filter *filter; /* delete by it instead */
	struct engine_stop stop;
	struct engine_commit commit;
	enum status st;
};

static void *call(void *arg)
{
	struct caller *k = arg;
	const struct engine_stop *stop = k->stop.fn ? &k->stop : NULL;
	struct arena arena;

	arena_init(&arena, 0);
	k->st = k->filter
		? engine_delete_where(k->c->engine, k->filter, stop, &k->commit, NULL)
		: engine_add(k->c->engine, &k->doc, 1, NULL, stop, &arena, &k->commit, NULL);
	arena_release(&arena);
	return NULL;
}

static size_t count_waiting(struct engine *en)
{
	size_t n = 0;

	pthread_mutex_lock(&en->queue.lock);
	for (const struct op *op = en->queue.first; op; op = op->next)
		n += op->kind != OP_SWEEP;
	pthread_mutex_unlock(&en->queue.lock);
	return n;
}

/* Starts a call and waits until it stands in the line as the n-th. */
static void line_up(struct caller *k, size_t n)
{
	uint64_t until = clock_mono_ms() + 10000;

	assert_int_equal(pthread_create(&k->thread, NULL, call, k), 0);
	while (count_waiting(k->c->engine) < n) {
		assert_true(clock_mono_ms() < until);
		clock_sleep_ms(1);
	}
}

static bool flag_stop(void *arg)
{
	return *(atomic_bool *)arg;
}

/* Those who wait share the next commit; who is told to stop leaves the line. */
static void test_waiting(void **state)
{
	struct corpus *c = *state;
	atomic_bool stop = false;
	struct caller callers[8];
	char ids[8][8];

	set_leading(c->engine, true);
	for (unsigned i = 0; i < 8; i++) {
		snprintf(ids[i], sizeof ids[i], "d%u", i);
		callers[i] = (struct caller){ .c = c, .doc = document(ids[i], "waiting") };
		if (i % 3 == 1)
			callers[i].stop = (struct engine_stop){ flag_stop, &stop };
		line_up(&callers[i], i + 1);
	}
	stop = true;
	for (unsigned i = 1; i < 8; i += 3) {
		pthread_join(callers[i].thread, NULL);
		assert_int_equal(callers[i].st, ST_CANCELLED);
	}
	assert_int_equal(corpus_stats(c).version, 0);
	set_leading(c->engine, false);
	for (unsigned i = 0; i < 8; i++) {
		if (i % 3 == 1)
			continue;
		pthread_join(callers[i].thread, NULL);
		assert_int_equal(callers[i].st, ST_OK);
		assert_int_equal(callers[i].commit.version, 1);
	}
	assert_string_equal(corpus_search(c, "waiting", 10), "d0 d2 d3 d5 d6");
	assert_int_equal(corpus_stats(c).version, 1);
}

static struct engine_filter red_filter(struct corpus *c, struct engine_scalar *value)
{
	struct engine_filter f = { .kind = ENGINE_LEAF,
		.op = ENGINE_EQ,
		.values = value,
		.value_count = 1 };

	value->s = BYTES("red");
	assert_true(engine_field_find(c->engine, BYTES("color"), &f.field));
	return f;
}

static const struct engine_value red = { .field = { "color", 5 }, .s = { "red", 3 } };
static const struct engine_value blue = { .field = { "color", 5 }, .s = { "blue", 4 } };

static struct engine_document colored(const char *id, const struct engine_value *color)
{
	struct engine_document doc = document(id, "colored");

	doc.values = color;
	doc.value_count = 1;
	return doc;
}

/* A delete by filter sees what stood in the line before it, and nothing behind it. */
static void test_filter_in_line(void **state)
{
	struct corpus *c = *state;
	struct engine_document seed = colored("seed", &blue);
	struct engine_scalar value = { 0 };
	struct engine_filter f;
	struct caller callers[3];

	corpus_add_all(c, &seed, 1);
	f = red_filter(c, &value);
	set_leading(c->engine, true);
	callers[0] = (struct caller){ .c = c, .doc = colored("before", &red) };
	callers[1] = (struct caller){ .c = c, .filter = &f };
	callers[2] = (struct caller){ .c = c, .doc = colored("behind", &red) };
	for (unsigned i = 0; i < 3; i++)
		line_up(&callers[i], i + 1);
	set_leading(c->engine, false);
	for (unsigned i = 0; i < 3; i++) {
		pthread_join(callers[i].thread, NULL);
		assert_int_equal(callers[i].st, ST_OK);
	}
	assert_int_equal(callers[1].commit.documents, 1);
	assert_string_equal(corpus_search(c, "colored", 10), "behind seed");
}

#define PAINTERS 6
#define PAINTED 40

struct painter {
	struct corpus *c;
	pthread_t thread;
	unsigned number;
	atomic_uint *failures, *left;
};

static void *paint(void *arg)
{
	struct painter *p = arg;

	for (unsigned i = 0; i < PAINTED; i++) {
		struct engine_commit commit;
		struct engine_document doc;
		struct arena arena;
		char id[32];

		snprintf(id, sizeof id, "p%u-%u", p->number, i);
		doc = colored(id, i % 2 ? &red : &blue);
		arena_init(&arena, 0);
		*p->failures += engine_add(p->c->engine, &doc, 1, NULL, NULL, &arena, &commit,
					NULL) != ST_OK;
		arena_release(&arena);
	}
	--*p->left;
	return NULL;
}

/* Each red document is deleted exactly once, no blue one ever, beside writers. */
static void test_filter_beside_writers(void **state)
{
	struct corpus *c = *state;
	struct engine_document seed = colored("seed", &blue);
	struct engine_scalar value = { 0 };
	struct painter painters[PAINTERS];
	atomic_uint failures = 0, left = PAINTERS;
	struct engine_commit commit;
	struct engine_filter f;
	uint64_t deleted = 0;
	bool last;

	corpus_add_all(c, &seed, 1);
	f = red_filter(c, &value);
	for (unsigned i = 0; i < PAINTERS; i++) {
		painters[i] = (struct painter){ .c = c,
			.number = i,
			.failures = &failures,
			.left = &left };
		assert_int_equal(pthread_create(&painters[i].thread, NULL, paint, &painters[i]), 0);
	}
	do {
		last = left == 0; /* then what follows sees everything */
		assert_int_equal(engine_delete_where(c->engine, &f, NULL, &commit, &c->error),
			ST_OK);
		deleted += commit.documents;
	} while (!last);
	for (unsigned i = 0; i < PAINTERS; i++)
		pthread_join(painters[i].thread, NULL);
	assert_int_equal(failures, 0);
	assert_int_equal(deleted, PAINTERS * PAINTED / 2);
	assert_int_equal(corpus_stats(c).documents, 1 + PAINTERS * PAINTED / 2);
}

#ifdef RCPD_FAULT_POINTS
#define CALLS 5

static void *add_some(void *arg)
{
	struct painter *p = arg;
	uint64_t last = 0;

	for (unsigned i = 0; i < CALLS; i++) {
		struct caller k = { .c = p->c };
		struct engine_record r;
		struct engine_view *v;
		struct arena arena;
		char id[32];

		snprintf(id, sizeof id, "t%u-%u", p->number, i);
		k.doc = document(id, "stalled");
		call(&k);
		*p->failures += k.st != ST_OK || k.commit.version <= last;
		last = k.commit.version;
		/* What was answered is there for whoever looks now. */
		arena_init(&arena, 0);
		if (!engine_view_open(p->c->engine, NULL, &v, NULL)) {
			*p->failures += engine_view_version(v) < last ||
				engine_get(v, k.doc.id, &arena, &r, NULL) != ST_OK;
			engine_view_close(v);
		}
		arena_release(&arena);
	}
	return NULL;
}

/* While the disk is slow those who come share a commit. */
static void test_slow_commits(void **state)
{
	struct corpus *c = *state;
	struct painter painters[8];
	atomic_uint failures = 0;
	uint64_t commits;

	setenv("RCPD_FAULTS", "store.commit=stall:40", 1);
	assert_true(fault_setup());
	for (unsigned i = 0; i < 8; i++) {
		painters[i] = (struct painter){ .c = c, .number = i, .failures = &failures };
		assert_int_equal(pthread_create(&painters[i].thread, NULL, add_some, &painters[i]),
			0);
	}
	for (unsigned i = 0; i < 8; i++)
		pthread_join(painters[i].thread, NULL);
	setenv("RCPD_FAULTS", "", 1);
	assert_true(fault_setup());
	commits = corpus_stats(c).version;
	assert_int_equal(failures, 0);
	assert_int_equal(corpus_stats(c).documents, 8 * CALLS);
	assert_true(commits >= CALLS);
	assert_true(commits < 8 * CALLS / 2);
}
#endif

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, corpus_setup, corpus_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_one_commit),
		TEST(test_keys),
		TEST(test_cancelled_inside),
		TEST(test_all_cancelled),
		TEST(test_memory),
		TEST(test_waiting),
		TEST(test_filter_in_line),
		TEST(test_filter_beside_writers),
#ifdef RCPD_FAULT_POINTS
		TEST(test_slow_commits),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
