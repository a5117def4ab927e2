/*
 * test_fields.c: which fields there are, and of what type: declared ones, those told from
 * their first values, and what becomes of values that do not suit. (REQ: F2, D37, D42)
 */
#include "corpus.h"

#include <sqlite3.h>
#include <stdio.h>

#include "engine/private.h"
#include "util/date.h"

static struct engine_value text_value(const char *field, const char *s)
{
	return (struct engine_value){ .field = bytes_of(field),
		.kind = ENGINE_V_STRING,
		.s = bytes_of(s) };
}

static struct engine_value int_value(const char *field, int64_t i)
{
	return (struct engine_value){ .field = bytes_of(field), .kind = ENGINE_V_INT, .i = i };
}

static struct engine_value real_value(const char *field, double r)
{
	return (struct engine_value){ .field = bytes_of(field), .kind = ENGINE_V_REAL, .r = r };
}

static struct engine_value bool_value(const char *field, bool b)
{
	return (struct engine_value){ .field = bytes_of(field), .kind = ENGINE_V_BOOL, .i = b };
}

static enum status try_add(struct corpus *c, const char *id, const struct engine_value *values,
	size_t n)
{
	struct engine_document doc = document(id, "text of a document");
	struct engine_commit commit;

	doc.values = values;
	doc.value_count = n;
	return engine_add(c->engine, &doc, 1, NULL, NULL, &c->arena, &commit, &c->error);
}

static void add(struct corpus *c, const char *id, const struct engine_value *values, size_t n)
{
	if (try_add(c, id, values, n))
		fail_msg("%s: %s", id, c->error.message);
}

static void add_one(struct corpus *c, const char *id, struct engine_value value)
{
	add(c, id, &value, 1);
}

static size_t field_of(struct corpus *c, const char *name)
{
	size_t number = SIZE_MAX;

	if (!engine_field_find(c->engine, bytes_of(name), &number))
		return SIZE_MAX;
	return number;
}

static void expect_type(struct corpus *c, const char *name, enum engine_type type)
{
	struct engine_field f;
	size_t number = field_of(c, name);

	if (number == SIZE_MAX)
		fail_msg("no field '%s'", name);
	engine_field_at(c->engine, number, &f);
	assert_true(bytes_eq(f.name, bytes_of(name)));
	if (f.type != type)
		fail_msg("'%s' is %s, not %s", name, engine_type_name(f.type),
			engine_type_name(type));
}

/* How many documents have the field. */
static size_t count_having(struct corpus *c, const char *name)
{
	struct engine_scalar yes = { .i = 1 };
	struct engine_filter f = { .kind = ENGINE_LEAF,
		.field = field_of(c, name),
		.op = ENGINE_EXISTS,
		.values = &yes,
		.value_count = 1 };
	struct engine_view *v = corpus_view(c);
	struct engine_candidate *found;
	struct engine_pass *pass;
	size_t n;

	assert_int_equal(engine_filter_compile(v, &f, &c->arena, &pass, &c->error), ST_OK);
	assert_int_equal(engine_list(v, pass, 1000, NULL, 0, &c->arena, &found, &n, &c->error),
		ST_OK);
	engine_view_close(v);
	return n;
}

/* The first values tell the type, which then stays. */
static void test_inference(void **state)
{
	struct corpus *c = *state;
	struct strbuf prose = STRBUF_INIT;
	struct engine_value values[8];

	for (unsigned i = 0; i < 257; i++)
		strbuf_addc(&prose, 'p');
	values[0] = text_value("word", "red");
	values[1] = text_value("prose", prose.data);
	values[2] = text_value("date", "2024-05-06T07:08:09Z");
	values[3] = text_value("day", "2024-05-06");
	values[4] = int_value("int", 7);
	values[5] = real_value("real", 7.0);
	values[6] = bool_value("bool", false);
	values[7] = text_value("short", "");
	add(c, "a", values, 8);
	strbuf_release(&prose);
	for (unsigned i = 0; i < 2; i++) {
		expect_type(c, "word", ENGINE_KEYWORD);
		expect_type(c, "prose", ENGINE_PROSE);
		expect_type(c, "date", ENGINE_DATE);
		expect_type(c, "day", ENGINE_DATE);
		expect_type(c, "int", ENGINE_INT);
		expect_type(c, "real", ENGINE_FLOAT);
		expect_type(c, "bool", ENGINE_BOOL);
		expect_type(c, "short", ENGINE_KEYWORD);
		assert_int_equal(engine_field_count(c->engine), 8);
		assert_int_equal(field_of(c, "word"), 0);
		assert_int_equal(field_of(c, "short"), 7);
		assert_int_equal(count_having(c, "bool"), 1);
		corpus_reopen(c);
	}
	add_one(c, "b", real_value("int", 1.5));
	add_one(c, "c", text_value("int", "eight"));
	add_one(c, "d", int_value("real", 8));
	expect_type(c, "int", ENGINE_INT);
	assert_int_equal(count_having(c, "int"), 1);
	assert_int_equal(count_having(c, "real"), 2);
	assert_int_equal(corpus_stats(c).contradictions, 2);
	corpus_reopen(c);
	assert_int_equal(count_having(c, "int"), 1);
	assert_int_equal(corpus_stats(c).contradictions, 2);
}

/* All values of the call that brings a field up are looked at. */
static void test_mixtures(void **state)
{
	struct corpus *c = *state;
	const struct engine_value values[] = { int_value("number", 1), real_value("number", 1.5),
		text_value("when", "2024-05-06"), text_value("when", "soon"), int_value("first", 1),
		text_value("first", "word"), bool_value("truth", true), int_value("truth", 1),
		text_value("late", "word"), bool_value("late", true) };

	add(c, "a", values, sizeof values / sizeof values[0]);
	expect_type(c, "number", ENGINE_FLOAT);
	expect_type(c, "when", ENGINE_KEYWORD);
	expect_type(c, "first", ENGINE_INT); /* of a mixture the first ones decide */
	expect_type(c, "truth", ENGINE_BOOL);
	expect_type(c, "late", ENGINE_KEYWORD);
	assert_int_equal(corpus_stats(c).contradictions, 3);
	/* The same over documents of one call. */
	{
		struct engine_value one = int_value("sum", 1), two = real_value("sum", 2.5);
		struct engine_document docs[] = { document("x", "x"), document("y", "y") };

		docs[0].values = &one;
		docs[1].values = &two;
		docs[0].value_count = docs[1].value_count = 1;
		corpus_add_all(c, docs, 2);
		expect_type(c, "sum", ENGINE_FLOAT);
	}
}

/* Beyond max_fields and under names that are too long values are stored unseen. */
static void test_limits(void **state)
{
	struct corpus *c = *state;
	char name[ENGINE_MAX_FIELD_NAME + 2];
	struct engine_value v = int_value("f", 1);

	c->opt.max_fields = 5;
	corpus_reopen(c);
	memset(name, 'n', sizeof name);
	v.field = (struct bytes){ name, ENGINE_MAX_FIELD_NAME };
	add_one(c, "longest", v);
	v.field.len++;
	add_one(c, "longer", v);
	v.field.len = 0;
	add_one(c, "empty", v);
	assert_int_equal(engine_field_count(c->engine), 1);
	assert_int_equal(corpus_stats(c).unfielded, 2);
	for (unsigned i = 0; i < 10; i++) {
		char field[16], id[16];

		snprintf(field, sizeof field, "f%u", i);
		snprintf(id, sizeof id, "d%u", i);
		add_one(c, id, int_value(field, 1));
	}
	assert_int_equal(engine_field_count(c->engine), 5);
	assert_int_equal(field_of(c, "f3"), 4);
	assert_int_equal(field_of(c, "f4"), SIZE_MAX);
	assert_int_equal(corpus_stats(c).unfielded, 2 + 6);
	/* Known fields stay when the limit is lowered. */
	c->opt.max_fields = 2;
	corpus_reopen(c);
	assert_int_equal(engine_field_count(c->engine), 5);
	add_one(c, "more", int_value("f3", 2));
	assert_int_equal(count_having(c, "f3"), 2);
}

/* A string that is too long for filters is missing there, and counted. */
static void test_long_strings(void **state)
{
	struct corpus *c = *state;
	static char longest[ENGINE_MAX_KEYWORD + 2];
	struct engine_value v = text_value("s", "short");

	add_one(c, "a", v);
	memset(longest, 'l', sizeof longest);
	v.s = (struct bytes){ longest, ENGINE_MAX_KEYWORD };
	add_one(c, "b", v);
	v.s.len++;
	add_one(c, "c", v);
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(count_having(c, "s"), 2);
		assert_int_equal(corpus_stats(c).contradictions, 1);
		corpus_reopen(c);
	}
}

/* REQ: D37: a declared type binds: the call that contradicts it changes nothing. */
static void test_declared(void **state)
{
	struct corpus *c = *state;
	static struct engine_declared declared[] = { { { "size", 4 }, ENGINE_INT },
		{ { "at", 2 }, ENGINE_DATE } };
	struct engine_value good[] = { int_value("size", 3), text_value("at", "2020-02-02") };
	struct engine_document docs[] = { document("a", "alpha"), document("b", "bravo") };
	struct engine_value bad = text_value("size", "large");
	struct engine_commit commit = { .version = 4711 };
	struct engine_field f;

	c->opt.declared = declared;
	c->opt.declared_count = 2;
	corpus_reopen(c);
	assert_int_equal(engine_field_count(c->engine), 2);
	engine_field_at(c->engine, 0, &f);
	assert_true(f.declared && f.type == ENGINE_INT);
	docs[0].values = good;
	docs[0].value_count = 2;
	docs[1].values = &bad;
	docs[1].value_count = 1;
	assert_int_equal(engine_add(c->engine, docs, 2, NULL, NULL, &c->arena, &commit, &c->error),
		ST_INVALID);
	assert_string_equal(c->error.field, "documents[1].meta.size");
	assert_int_equal(commit.version, 4711);
	assert_int_equal(corpus_stats(c).version, 0);
	assert_int_equal(corpus_stats(c).contradictions, 0);
	corpus_add_all(c, docs, 1);
	assert_int_equal(count_having(c, "at"), 1);
}

/* A declaration may come later, or change: what is stored is looked at anew. */
static void test_declaration_changes(void **state)
{
	struct corpus *c = *state;
	static struct engine_declared declared = { { "n", 1 }, ENGINE_KEYWORD };
	struct engine_value values[] = { int_value("n", 20200202), text_value("other", "x") };
	struct engine_field f;

	add(c, "a", values, 2);
	add_one(c, "b", text_value("n", "2020-02-02"));
	expect_type(c, "n", ENGINE_INT);
	assert_int_equal(count_having(c, "n"), 1);
	c->opt.declared = &declared;
	c->opt.declared_count = 1;
	corpus_reopen(c);
	expect_type(c, "n", ENGINE_KEYWORD);
	assert_int_equal(field_of(c, "n"), 0); /* the same number */
	assert_int_equal(field_of(c, "other"), 1);
	assert_int_equal(count_having(c, "n"), 1); /* b now */
	declared.type = ENGINE_DATE;
	corpus_reopen(c);
	expect_type(c, "n", ENGINE_DATE);
	assert_int_equal(count_having(c, "n"), 2); /* both are instants */
	c->opt.declared_count = 0;
	corpus_reopen(c); /* the type stays, it binds no more */
	expect_type(c, "n", ENGINE_DATE);
	engine_field_at(c->engine, 0, &f);
	assert_false(f.declared);
	add_one(c, "c", text_value("n", "never"));
	assert_int_equal(corpus_stats(c).contradictions, 1);
}

/* Fields of calls that failed leave no number behind. */
static void test_numbers(void **state)
{
	struct corpus *c = *state;
	struct countdown count;
	struct engine_stop stop = { countdown_stop, &count };
	struct engine_value v = int_value("lost", 1);
	struct engine_document doc = document("a", "text");
	struct engine_commit commit;
	enum status st = ST_CANCELLED;

	add_one(c, "0", int_value("zero", 0));
	doc.values = &v;
	doc.value_count = 1;
	for (long n = 0; st == ST_CANCELLED; n++) {
		assert_true(n < 1000);
		assert_int_equal(field_of(c, "lost"), SIZE_MAX);
		count.left = n;
		st = engine_add(c->engine, &doc, 1, NULL, &stop, &c->arena, &commit, &c->error);
		if (n == 1)
			add_one(c, "1", int_value("one", 1));
	}
	assert_int_equal(st, ST_OK);
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(engine_field_count(c->engine), 3);
		assert_int_equal(field_of(c, "zero"), 0);
		assert_int_equal(field_of(c, "one"), 1);
		assert_int_equal(field_of(c, "lost"), 2);
		corpus_delete(c, "a"); /* fields outlive their documents */
		if (i == 1)
			corpus_close(c), corpus_drop_index(c), corpus_open(c);
		else
			corpus_reopen(c);
	}
}

/* The latest instant of a document, for decay by age (R6). */
static void test_instants(void **state)
{
	struct corpus *c = *state;
	struct engine_value values[] = { text_value("at", "2020-01-02"),
		text_value("at", "2021-01-02T00:00:00Z"), text_value("at", "1960-01-01"),
		int_value("n", 5), text_value("word", "x") };
	struct engine_candidate *found;
	struct engine_view *v;
	int64_t ms = 4711, latest;

	for (size_t i = 0; i < 3; i++)
		values[i].element = true;
	add(c, "a", values, 5);
	add_one(c, "b", int_value("n", -7));
	assert_true(date_parse(BYTES("2021-01-02"), &latest));
	assert_int_equal(corpus_recall(c, "document", 10, &found), 2);
	assert_true(bytes_eq(found[0].doc_id, BYTES("a")));
	v = corpus_view(c);
	assert_true(engine_instant(v, field_of(c, "at"), found[0].key, &ms));
	assert_int_equal(ms, latest);
	assert_false(engine_instant(v, field_of(c, "at"), found[1].key, &ms));
	assert_true(engine_instant(v, field_of(c, "n"), found[1].key, &ms));
	assert_int_equal(ms, -7);
	assert_false(engine_instant(v, field_of(c, "word"), found[0].key, &ms));
	engine_view_close(v);
}

/* Names are compared as bytes, and may hold anything. */
static void test_names(void **state)
{
	struct corpus *c = *state;
	struct engine_value values[] = { int_value("", 1), int_value("", 1), int_value("", 1) };

	values[0].field = BYTES("a\0b");
	values[1].field = BYTES("a");
	values[2].field = BYTES("A");
	add(c, "x", values, 3);
	corpus_reopen(c);
	assert_int_equal(engine_field_count(c->engine), 3);
	for (size_t i = 0; i < 3; i++) {
		size_t number;

		assert_true(engine_field_find(c->engine, values[i].field, &number));
		assert_int_equal(number, i);
	}
}

/* ---- corpora that are older than filters ---- */

/* Puts back what the migration of such a corpus does: documents without values. */
static void forget_values(struct corpus *c)
{
	char path[600];
	sqlite3 *h;

	corpus_path(c, "rcpd.db", path, sizeof path);
	assert_int_equal(sqlite3_open(path, &h), SQLITE_OK);
	assert_int_equal(sqlite3_exec(h,
				 "UPDATE document_values SET data = NULL;"
				 "DELETE FROM fields;"
				 "INSERT INTO without_values SELECT key FROM documents"
				 " WHERE died IS NULL AND meta IS NOT NULL",
				 NULL, NULL, NULL),
		SQLITE_OK);
	sqlite3_close(h);
}

static unsigned asked;

/* "{"size":7}" to that value; nothing else is understood. */
static enum status size_of_meta(struct bytes meta, struct arena *arena, struct engine_value **ret,
	size_t *ret_n)
{
	struct engine_value *v = arena_zero(arena, sizeof *v);

	asked++;
	if (!v)
		return ST_NOMEM;
	*v = int_value("size", meta.len > 8 ? meta.data[8] - '0' : 0);
	*ret = v;
	*ret_n = 1;
	return ST_OK;
}

static void test_old_corpus(void **state)
{
	struct corpus *c = *state;
	static struct engine_declared declared = { { "size", 4 }, ENGINE_DATE };
	char id[16], meta[32];
	unsigned batch = 500, n = batch + 20;

	corpus_unsynced(c);
	for (unsigned i = 0; i < n; i++) {
		struct engine_document doc;

		snprintf(id, sizeof id, "d%u", i);
		snprintf(meta, sizeof meta, "{\"size\":%u}", i % 10);
		doc = document(id, "old text");
		doc.meta = bytes_of(meta);
		corpus_add_all(c, &doc, 1);
	}
	corpus_delete(c, "d3");
	corpus_add(c, "plain", "without meta");
	corpus_close(c);
	forget_values(c);
	c->opt.values = size_of_meta;
	corpus_open(c);
	assert_int_equal(asked, n - 1);
	expect_type(c, "size", ENGINE_INT);
	assert_int_equal(count_having(c, "size"), n - 1);
	corpus_reopen(c); /* once is enough */
	assert_int_equal(asked, n - 1);
	assert_int_equal(count_having(c, "size"), n - 1);
	/* Nobody who could tell: they stay without, and are not asked for again. */
	corpus_close(c);
	forget_values(c);
	c->opt.values = NULL;
	corpus_open(c);
	assert_int_equal(engine_field_count(c->engine), 0);
	/* A declaration that the old values contradict is no reason to fail. */
	corpus_close(c);
	forget_values(c);
	declared.type = ENGINE_BOOL;
	c->opt.values = size_of_meta;
	c->opt.declared = &declared;
	c->opt.declared_count = 1;
	corpus_open(c);
	expect_type(c, "size", ENGINE_BOOL);
	assert_int_equal(count_having(c, "size"), 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, corpus_setup, corpus_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_inference),
		TEST(test_mixtures),
		TEST(test_limits),
		TEST(test_long_strings),
		TEST(test_declared),
		TEST(test_declaration_changes),
		TEST(test_numbers),
		TEST(test_instants),
		TEST(test_names),
		TEST(test_old_corpus),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
