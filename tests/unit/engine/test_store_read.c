/* test_store_read.c: fetching, walking, fields, values, sweeping: what is read. */
#include "store_rows.h"

#include <stdio.h>

static struct store_reader *open_reader(struct rows *r)
{
	struct store_reader *reader;

	OK(r, store_reader_open(r->store, NULL, &reader, &r->error));
	return reader;
}

/* A document of two overlapping chunks with everything that there is. */
static struct store_keys put_full(struct rows *r)
{
	static const struct store_chunk chunks[] = {
		{ 0, 6, 0, 4, { "One > Two", 9 } },
		{ 3, 10, 2, 8, { NULL, 0 } },
	};
	struct store_document doc = { .id = BYTES("full"),
		.text = BYTES("a\xC3\xA9\xE2\x82\xAC"
			      "bcde"),
		.meta = BYTES("{}"),
		.title = BYTES("Title"),
		.uri = BYTES("u:1"),
		.source = BYTES("src"),
		.lang = BYTES("fr-CA"),
		.format = TEXT_MARKDOWN,
		.analysis = TEXT_LANG_FR,
		.contextual = true,
		.values = BYTES("\0v"),
		.chunks = chunks,
		.chunk_count = 2 };

	return rows_put_document(r, &doc);
}

static void test_fetch(void **state)
{
	struct rows *r = *state;
	struct store_keys keys;
	struct store_reader *reader;
	struct engine_record rec;

	rows_put(r, "before", "x");
	keys = put_full(r);
	reader = open_reader(r);
	OK(r, store_fetch(reader, keys.first_chunk + 1, 0, &r->arena, &rec, &r->error));
	assert_true(bytes_eq(rec.doc_id, BYTES("full")));
	assert_null(rec.text.data);
	assert_null(rec.meta.data);
	assert_null(rec.title.data);
	assert_null(rec.context.data);
	assert_int_equal(rec.byte_start, 3);
	assert_int_equal(rec.byte_end, 10);
	assert_int_equal(rec.cp_start, 2);
	assert_int_equal(rec.cp_end, 8);
	OK(r,
		store_fetch(reader, keys.first_chunk, ENGINE_TEXT | ENGINE_META | ENGINE_CITATION,
			&r->arena, &rec, &r->error));
	assert_true(bytes_eq(rec.text, BYTES("a\xC3\xA9\xE2\x82\xAC")));
	assert_true(bytes_eq(rec.meta, BYTES("{}")));
	assert_true(bytes_eq(rec.title, BYTES("Title")));
	assert_true(bytes_eq(rec.uri, BYTES("u:1")));
	assert_true(bytes_eq(rec.source, BYTES("src")));
	assert_true(bytes_eq(rec.lang, BYTES("fr-CA")));
	assert_true(bytes_eq(rec.context, BYTES("One > Two")));
	OK(r,
		store_fetch(reader, keys.first_chunk + 1, ENGINE_WHOLE | ENGINE_TEXT, &r->arena,
			&rec, &r->error));
	assert_int_equal(rec.text.len, 10);
	assert_int_equal(rec.byte_start, 0);
	assert_int_equal(rec.byte_end, 10);
	assert_int_equal(rec.cp_start, 0);
	assert_int_equal(rec.cp_end, 7);
	assert_int_equal(store_fetch(reader, 99, 0, &r->arena, &rec, &r->error), ST_NOT_FOUND);
	assert_int_equal(store_fetch(reader, -1, 0, &r->arena, &rec, &r->error), ST_NOT_FOUND);
	store_reader_close(reader);
}

/* A reader that has begun finds what was committed since, if it is asked for it. */
static void test_reader_of_before(void **state)
{
	struct rows *r = *state;
	struct store_reader *reader;
	struct engine_record rec;
	struct store_totals t;
	struct store_keys keys;

	rows_put(r, "a", "first");
	reader = open_reader(r);
	OK(r, store_get(reader, BYTES("a"), 1, &r->arena, &rec, &r->error));
	rows_bury(r, "a");
	keys = rows_put(r, "a", "second");
	OK(r, store_get(reader, BYTES("a"), 1, &r->arena, &rec, &r->error));
	assert_true(bytes_eq(rec.text, BYTES("first")));
	assert_int_equal(store_get(reader, BYTES("a"), 2, &r->arena, &rec, &r->error),
		ST_NOT_FOUND);
	OK(r, store_get(reader, BYTES("a"), 3, &r->arena, &rec, &r->error));
	assert_true(bytes_eq(rec.text, BYTES("second")));
	OK(r, store_get(reader, BYTES("a"), 1, &r->arena, &rec, &r->error));
	assert_true(bytes_eq(rec.text, BYTES("first")));
	store_reader_close(reader);
	reader = open_reader(r);
	OK(r, store_fetch(reader, keys.first_chunk, 0, &r->arena, &rec, &r->error));
	keys = rows_put(r, "b", "third");
	OK(r, store_fetch(reader, keys.first_chunk, ENGINE_TEXT, &r->arena, &rec, &r->error));
	assert_true(bytes_eq(rec.text, BYTES("third")));
	rows_put(r, "c", "fourth");
	OK(r, store_read_totals(reader, &t, &r->error));
	assert_int_equal(t.version, 5);
	store_reader_close(reader);
}

struct seen {
	struct rows *rows;
	size_t count;
	struct store_row last;
	char text[64], context[64];
};

static enum status see(void *arg, const struct store_row *row, struct error *e)
{
	struct seen *s = arg;

	(void)e;
	s->count++;
	s->last = *row;
	snprintf(s->text, sizeof s->text, "%.*s", (int)row->text.len, row->text.data);
	snprintf(s->context, sizeof s->context, "%.*s",
		row->context.data ? (int)row->context.len : 1,
		row->context.data ? row->context.data : "-");
	return ST_OK;
}

/* The chunks of one document, with a reader and within the write that put it. */
static void test_each_chunk(void **state)
{
	struct rows *r = *state;
	struct store_reader *reader;
	struct store_keys keys;
	struct seen s = { r, 0 };

	rows_begin(r);
	keys = put_full(r);
	OK(r, store_each_chunk(NULL, r->write, keys.document, see, &s, &r->error));
	assert_int_equal(s.count, 2);
	rows_bury(r, "full");
	OK(r, store_each_chunk(NULL, r->write, keys.document, see, &s, &r->error));
	assert_int_equal(s.count, 4);
	rows_commit(r);
	reader = open_reader(r);
	OK(r, store_each_chunk(reader, NULL, keys.document, see, &s, &r->error));
	assert_int_equal(s.count, 6);
	assert_string_equal(s.text,
		"\xE2\x82\xAC"
		"bcde");
	assert_string_equal(s.context, "-");
	assert_int_equal(s.last.key, keys.first_chunk + 1);
	assert_int_equal(s.last.no, 1);
	assert_int_equal(s.last.format, TEXT_MARKDOWN);
	assert_int_equal(s.last.analysis, TEXT_LANG_FR);
	assert_true(s.last.contextual);
	assert_int_equal(store_each_chunk(reader, NULL, 7, see, &s, &r->error), ST_NOT_FOUND);
	assert_int_equal(store_each_chunk(reader, NULL, 0, see, &s, &r->error), ST_NOT_FOUND);
	assert_int_equal(s.count, 6);
	store_reader_close(reader);
}

static enum status stop_at_second(void *arg, const struct store_row *row, struct error *e)
{
	size_t *count = arg;

	(void)row;
	return ++*count == 2 ? error_set(e, ST_GONE, "enough") : ST_OK;
}

static void test_walk_ended_by_callback(void **state)
{
	struct rows *r = *state;
	struct store_reader *reader;
	size_t count = 0;
	struct seen s = { r, 0 };

	put_full(r);
	rows_put(r, "b", "bravo");
	reader = open_reader(r);
	assert_int_equal(store_each_born(reader, 0, stop_at_second, &count, &r->error), ST_GONE);
	assert_int_equal(count, 2);
	OK(r, store_each_born(reader, 0, see, &s, &r->error)); /* from its beginning */
	assert_int_equal(s.count, 3);
	assert_string_equal(s.text, "bravo");
	store_reader_close(reader);
}

static bool always(void *arg)
{
	(void)arg;
	return true;
}

/* REQ: L6: a walk over many rows is left when its caller says so. */
static void test_walk_stopped(void **state)
{
	struct rows *r = *state;
	struct store_reader *reader;
	struct countdown count = { 3 };
	struct engine_stop stop = { countdown_stop, &count };
	struct seen s = { r, 0 };
	char id[16];

	rows_begin(r);
	for (unsigned i = 0; i < 2000; i++) {
		snprintf(id, sizeof id, "d%u", i);
		rows_put(r, id, "text");
	}
	rows_commit(r);
	OK(r, store_reader_open(r->store, &stop, &reader, &r->error));
	assert_int_equal(store_each_born(reader, 0, see, &s, &r->error), ST_CANCELLED);
	assert_true(s.count < 2000);
	store_reader_close(reader);
	stop.fn = always;
	assert_int_equal(store_reader_open(r->store, &stop, &reader, &r->error), ST_CANCELLED);
	reader = open_reader(r); /* that stop is forgotten */
	s.count = 0;
	OK(r, store_each_born(reader, 0, see, &s, &r->error));
	assert_int_equal(s.count, 2000);
	store_reader_close(reader);
}

struct fields {
	size_t count;
	char names[8][16];
	enum engine_type types[8];
};

static enum status see_field(void *arg, struct bytes name, enum engine_type type, struct error *e)
{
	struct fields *f = arg;

	(void)e;
	snprintf(f->names[f->count], sizeof f->names[0], "%.*s", (int)name.len, name.data);
	f->types[f->count++] = type;
	return ST_OK;
}

static struct fields read_fields(struct rows *r)
{
	struct store_reader *reader = open_reader(r);
	struct fields f = { .count = 0 };

	OK(r, store_each_field(reader, see_field, &f, &r->error));
	store_reader_close(reader);
	return f;
}

/* REQ: D42: fields keep their numbers. */
static void test_fields(void **state)
{
	struct rows *r = *state;
	struct store_reader *reader;
	struct fields f;

	assert_int_equal(read_fields(r).count, 0);
	rows_begin(r);
	OK(r, store_write_field(r->write, BYTES("zulu"), ENGINE_KEYWORD, &r->error));
	OK(r, store_write_field(r->write, BYTES("alpha"), ENGINE_DATE, &r->error));
	rows_commit(r);
	rows_reopen(r);
	rows_begin(r);
	OK(r, store_write_field(r->write, BYTES("mike"), ENGINE_BOOL, &r->error));
	OK(r, store_write_retype(r->write, 1, ENGINE_INT, &r->error));
	rows_commit(r);
	f = read_fields(r);
	assert_int_equal(f.count, 3);
	assert_string_equal(f.names[0], "zulu");
	assert_string_equal(f.names[1], "alpha");
	assert_string_equal(f.names[2], "mike");
	assert_int_equal(f.types[0], ENGINE_KEYWORD);
	assert_int_equal(f.types[1], ENGINE_INT);
	assert_int_equal(f.types[2], ENGINE_BOOL);
	rows_begin(r);
	assert_int_equal(store_write_field(r->write, BYTES("mike"), ENGINE_BOOL, &r->error),
		ST_INTERNAL); /* the engine must not */
	store_write_abort(r->write);
	r->write = NULL;
	assert_int_equal(rows_ask(r, "UPDATE fields SET type = 6 WHERE number = 2"), -1);
	reader = open_reader(r);
	assert_int_equal(store_each_field(reader, see_field, &f, &r->error), ST_CORRUPT);
	store_reader_close(reader);
}

static void note_swept(void *arg, int64_t first_chunk, uint64_t chunks)
{
	int64_t *sum = arg;

	for (uint64_t i = 0; i < chunks; i++)
		*sum = *sum * 10 + first_chunk + (int64_t)i;
}

static bool sweep(struct rows *r, uint64_t before, size_t max, int64_t *sum)
{
	bool more;

	rows_begin(r);
	OK(r, store_write_sweep(r->write, before, max, note_swept, sum, &more, &r->error));
	rows_commit(r);
	return more;
}

static void test_sweep(void **state)
{
	struct rows *r = *state;
	struct store_reader *reader;
	struct engine_record rec;
	int64_t sum = 0;

	put_full(r);           /* chunks 1, 2, version 1 */
	rows_put(r, "a", "1"); /* 3, 2 */
	rows_put(r, "b", "2"); /* 4, 3 */
	rows_bury(r, "a");     /* 4 */
	rows_bury(r, "full");  /* 5 */
	rows_bury(r, "b");     /* 6 */
	assert_false(sweep(r, 3, 10, &sum));
	assert_int_equal(sum, 0);
	assert_true(sweep(r, 5, 1, &sum));
	assert_int_equal(sum, 3);
	assert_true(sweep(r, 5, 0, &sum)); /* nothing, but there is more */
	assert_int_equal(sum, 3);
	assert_false(sweep(r, 5, 1, &sum));
	assert_int_equal(sum, 312);
	reader = open_reader(r);
	assert_int_equal(store_fetch(reader, 1, 0, &r->arena, &rec, &r->error), ST_NOT_FOUND);
	OK(r, store_fetch(reader, 4, 0, &r->arena, &rec, &r->error)); /* dead, not swept */
	store_reader_close(reader);
	assert_int_equal(rows_totals(r).version, 6);
	assert_int_equal(rows_put(r, "c", "3").first_chunk, 5);
	assert_int_equal(rows_ask(r, "SELECT count(*) FROM texts"), 2);
}

/* Large texts are swept in smaller steps: writers wait for each. */
static void test_sweep_large(void **state)
{
	static char text[600001];
	struct rows *r = *state;
	int64_t sum = 0;

	memset(text, 'x', sizeof text - 1);
	for (unsigned i = 0; i < 5; i++) { /* chunks 1 to 5, of which 5 lives */
		if (i > 0)
			rows_bury(r, "a");
		rows_put(r, "a", text);
	}
	assert_true(sweep(r, 100, 10, &sum));
	assert_int_equal(sum, 12);
	assert_false(sweep(r, 100, 10, &sum));
	assert_int_equal(sum, 1234);
}

/* Rows that do not fit together are damage, not a crash. */
static void test_damaged_rows(void **state)
{
	static const char *const damages[] = {
		"UPDATE chunks SET byte_end = 4711 WHERE key = 2",
		"UPDATE chunks SET byte_start = 8 WHERE key = 1",
		"UPDATE chunks SET doc = 3 WHERE key = 1",
		"UPDATE documents SET chunks = 3 WHERE key = 1",
		"DELETE FROM chunks WHERE key = 2",
	};
	struct rows *r = *state;

	for (size_t i = 0; i < sizeof damages / sizeof damages[0]; i++) {
		struct store_reader *reader;
		struct seen s = { r, 0 };

		rows_close(r);
		rows_remove_dir(r);
		rows_make_dir(r);
		rows_open(r);
		put_full(r);
		rows_ask(r, damages[i]);
		reader = open_reader(r);
		assert_int_equal(store_each_born(reader, 0, see, &s, &r->error), ST_CORRUPT);
		store_reader_close(reader);
	}
	rows_close(r);
	rows_remove_dir(r);
	rows_make_dir(r);
	rows_open(r);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, rows_setup, rows_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_fetch),
		TEST(test_reader_of_before),
		TEST(test_each_chunk),
		TEST(test_walk_ended_by_callback),
		TEST(test_walk_stopped),
		TEST(test_fields),
		TEST(test_sweep),
		TEST(test_sweep_large),
		TEST(test_damaged_rows),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
