/*
 * test_store_migrate.c: a corpus of version 1, which kept a document in one row and its
 * words in FTS5's table, comes over whole.
 */
#include "store_rows.h"

#include <stdio.h>
#include <unistd.h>

#define DOCUMENTS 1000

/* What rcpd 0.1 made: as it was released, for ever. */
static const char version_1[] =
	"PRAGMA journal_mode = WAL;"
	"BEGIN;"
	"CREATE TABLE corpus("
	" one INTEGER PRIMARY KEY CHECK(one = 1), id TEXT NOT NULL,"
	" version INTEGER NOT NULL, documents INTEGER NOT NULL,"
	" chunks INTEGER NOT NULL, text_bytes INTEGER NOT NULL) STRICT;"
	"INSERT INTO corpus VALUES(1, '0123456789abcdef', 0, 0, 0, 0);"
	"CREATE TABLE documents("
	" key INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE,"
	" title TEXT, uri TEXT, source TEXT, lang TEXT, meta TEXT, text BLOB NOT NULL) STRICT;"
	"CREATE TABLE chunks("
	" key INTEGER PRIMARY KEY,"
	" doc INTEGER NOT NULL REFERENCES documents(key), no INTEGER NOT NULL,"
	" byte_start INTEGER NOT NULL, byte_end INTEGER NOT NULL,"
	" cp_start INTEGER NOT NULL, cp_end INTEGER NOT NULL, UNIQUE(doc, no)) STRICT;"
	"CREATE VIEW chunk_texts AS SELECT c.key AS key, c.doc AS doc, d.title AS title,"
	" CAST(substr(d.text, c.byte_start + 1, c.byte_end - c.byte_start) AS TEXT) AS text"
	" FROM chunks AS c JOIN documents AS d ON d.key = c.doc;"
	"CREATE VIRTUAL TABLE words USING fts5(title, text,"
	" content = 'chunk_texts', content_rowid = 'key',"
	" tokenize = 'porter unicode61 remove_diacritics 2');"
	"CREATE TABLE idempotency("
	" key INTEGER PRIMARY KEY, owner BLOB NOT NULL, name BLOB NOT NULL,"
	" hash BLOB NOT NULL, result BLOB NOT NULL, version INTEGER NOT NULL,"
	" documents INTEGER NOT NULL, chunks INTEGER NOT NULL, created INTEGER NOT NULL,"
	" UNIQUE(owner, name)) STRICT;"
	"CREATE INDEX idempotency_created ON idempotency(created);"
	"PRAGMA application_id = 1919119460;"
	"PRAGMA user_version = 1;"
	"COMMIT;";

/* Documents with a hole in their keys, every third of two chunks, NULs in every tenth id
 * and text; the keys of the chunks run against those of the documents, as after many
 * replacements. */
static const char fill[] =
	"BEGIN;"
	"INSERT INTO documents WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n"
	" WHERE i < 1000) SELECT i + (i > 500) * 7,"
	" CAST('id' || iif(i % 10 = 0, char(0), '-') || i AS BLOB), iif(i % 2, 'Title ' || i, NULL),"
	" iif(i % 3, 'uri:' || i, NULL), iif(i % 4, 'source', NULL),"
	" CASE i % 4 WHEN 0 THEN 'de-AT' WHEN 1 THEN 'xx' END, iif(i % 5, '{\"n\":' || i || '}', NULL),"
	" CAST('the words of the text that is number' || iif(i % 10 = 0, char(0), ' ') || i AS BLOB)"
	" FROM n;"
	"INSERT INTO chunks SELECT 5000 - 2 * key, key, 0, 0, iif(key % 3, length(text), 9),"
	" 0, iif(key % 3, length(text), 9) FROM documents;"
	"INSERT INTO chunks SELECT 5001 - 2 * key, key, 1, 4, length(text), 4, length(text)"
	" FROM documents WHERE key % 3 = 0;"
	"INSERT INTO words(rowid, title, text) SELECT key, title, text FROM chunk_texts;"
	"INSERT INTO idempotency VALUES(1, x'', CAST('k' || char(0) || '1' AS BLOB), zeroblob(32),"
	" CAST('result' AS BLOB), 41, 3, 4, CAST(strftime('%s', 'now') AS INTEGER) * 1000);"
	"UPDATE corpus SET version = 42, documents = (SELECT count(*) FROM documents),"
	" chunks = (SELECT count(*) FROM chunks),"
	" text_bytes = (SELECT sum(length(text)) FROM documents);"
	"COMMIT;";

static void make_version_1(const struct rows *r, bool filled)
{
	char path[600];
	sqlite3 *h;

	rows_path(r, "rcpd.db", path, sizeof path);
	assert_int_equal(sqlite3_open(path, &h), SQLITE_OK);
	if (sqlite3_exec(h, version_1, NULL, NULL, NULL) ||
		(filled && sqlite3_exec(h, fill, NULL, NULL, NULL)))
		fail_msg("%s", sqlite3_errmsg(h));
	sqlite3_close(h);
}

static int setup(void **state)
{
	struct rows *r = calloc(1, sizeof *r);

	rows_make_dir(r);
	*state = r;
	return 0;
}

/* One migrated document against what fill made of the number. */
static void check_document(struct rows *r, struct store_reader *reader, unsigned i)
{
	char id[32], text[80], meta[32], title[32];
	int id_len = snprintf(id, sizeof id, "id-%u", i);
	int len = snprintf(text, sizeof text, "the words of the text that is number %u", i);
	struct engine_record rec;

	if (i % 10 == 0)
		id[2] = text[36] = 0;
	snprintf(meta, sizeof meta, "{\"n\":%u}", i);
	snprintf(title, sizeof title, "Title %u", i);
	OK(r,
		store_get(reader, (struct bytes){ id, (size_t)id_len }, 42, &r->arena, &rec,
			&r->error));
	assert_true(bytes_eq(rec.text, (struct bytes){ text, (size_t)len }));
	assert_true(bytes_eq(rec.meta, bytes_of(i % 5 ? meta : NULL)));
	assert_int_equal(rec.meta.data != NULL, i % 5 != 0);
	assert_true(bytes_eq(rec.title, bytes_of(i % 2 ? title : NULL)));
	assert_int_equal(rec.uri.data != NULL, i % 3 != 0);
	assert_int_equal(rec.source.data != NULL, i % 4 != 0);
	assert_true(bytes_eq(rec.lang, bytes_of(i % 4 == 0 ? "de-AT" : i % 4 == 1 ? "xx" : NULL)));
	assert_int_equal(store_get(reader, (struct bytes){ id, (size_t)id_len }, 41, &r->arena,
				 &rec, &r->error),
		ST_NOT_FOUND);
}

struct seen {
	int64_t key;
	size_t chunks, seconds;
};

static enum status see(void *arg, const struct store_row *row, struct error *e)
{
	struct seen *s = arg;

	(void)e;
	assert_int_equal(row->key, ++s->key);
	s->chunks++;
	s->seconds += row->no == 1;
	assert_int_equal(row->format, TEXT_PLAIN);
	assert_false(row->contextual);
	assert_null(row->context.data);
	assert_true(row->no == 0 || bytes_eq((struct bytes){ row->text.data, 5 }, BYTES("words")));
	return ST_OK;
}

static void check_once(struct rows *r)
{
	struct engine_once once = { .key = BYTES("k\0"
						 "1") };
	struct engine_commit answer;
	bool found = false;

	rows_begin(r);
	OK(r, store_write_find_once(r->write, &once, &r->arena, &found, &answer, &r->error));
	assert_true(found && answer.repeated);
	assert_int_equal(answer.version, 41);
	assert_int_equal(answer.documents, 3);
	assert_int_equal(answer.chunks, 4);
	assert_true(bytes_eq(answer.result, BYTES("result")));
	store_write_abort(r->write);
	r->write = NULL;
}

/* REQ: X7: what an older version has answered is there in this one. */
static void test_whole(void **state)
{
	struct rows *r = *state;
	struct store_reader *reader;
	struct store_totals t;
	struct seen s = { 0 };

	make_version_1(r, true);
	rows_open(r);
	assert_string_equal(store_corpus_id(r->store), "0123456789abcdef");
	t = rows_totals(r);
	assert_int_equal(t.version, 42);
	assert_int_equal(t.documents, DOCUMENTS);
	assert_int_equal(t.languages[TEXT_LANG_DE], DOCUMENTS / 4);     /* the tag decides */
	assert_int_equal(t.languages[TEXT_LANG_EN], DOCUMENTS * 3 / 4); /* else the text */
	assert_true(t.time_ms > 1600000000000);
	OK(r, store_reader_open(r->store, NULL, &reader, &r->error));
	for (unsigned i = 1; i <= DOCUMENTS; i++)
		check_document(r, reader, i);
	OK(r, store_each_born(reader, 0, see, &s, &r->error));
	assert_int_equal(s.chunks, t.chunks);
	assert_int_equal(s.seconds, t.chunks - DOCUMENTS);
	OK(r, store_each_born(reader, 42, see, &s, &r->error));
	assert_int_equal(s.chunks, t.chunks);
	store_reader_close(reader);
	check_once(r);
	assert_int_equal(
		rows_ask(r,
			"SELECT count(*) FROM sqlite_schema WHERE type IN ('table', 'view') AND (name LIKE '%words%'"
			" OR name LIKE '%\\_1' ESCAPE '\\' OR type = 'view')"),
		0);
	assert_int_equal(rows_ask(r, "PRAGMA user_version"), 3);
	rows_reopen(r);
	assert_memory_equal(&t, &(struct store_totals[]){ rows_totals(r) }[0], sizeof t);
}

static void note_swept(void *arg, int64_t first_chunk, uint64_t chunks)
{
	assert_int_equal(chunks, 1);
	*(int64_t *)arg += first_chunk;
}

/* It goes on growing: replacing and deleting what came over. */
static void test_goes_on(void **state)
{
	struct rows *r = *state;
	struct store_keys keys;
	int64_t first, swept = 0;
	bool more;

	make_version_1(r, true);
	rows_open(r);
	first = (int64_t)rows_totals(r).chunks + 1;
	keys = rows_bury(r, "id-1");
	assert_int_equal(keys.first_chunk, 1);
	keys = rows_put(r, "id-1", "new words");
	assert_int_equal(keys.document, DOCUMENTS + 7 + 1);
	assert_int_equal(keys.first_chunk, first);
	assert_int_equal(rows_totals(r).version, 44);
	assert_int_equal(rows_totals(r).documents, DOCUMENTS);
	assert_true(bytes_eq(rows_text(r, "id-1", 44), BYTES("new words")));
	assert_int_equal(rows_text(r, "id-1", 42).len, 38);
	rows_begin(r);
	OK(r, store_write_sweep(r->write, 44, 5, note_swept, &swept, &more, &r->error));
	rows_commit(r);
	assert_int_equal(swept, 1);
	assert_false(more);
}

struct olds {
	struct rows *rows;
	size_t count;
	int64_t last;
};

static enum status give_values(void *arg, int64_t document, struct bytes meta, struct error *e)
{
	struct olds *o = arg;

	assert_true(document > o->last);
	assert_true(bytes_eq((struct bytes){ meta.data, 5 }, BYTES("{\"n\":")));
	o->last = document;
	o->count++;
	return store_write_values(o->rows->write, document, BYTES("values"), e);
}

static enum status count_values(void *arg, const struct store_keys *keys, struct bytes values,
	struct error *e)
{
	size_t *count = arg;

	(void)e, (void)keys;
	*count += values.data != NULL;
	return ST_OK;
}

/* Documents with a meta get their values little by little. */
static void test_old_values(void **state)
{
	struct rows *r = *state;
	struct olds o = { r, 0, 0 };
	struct store_reader *reader;
	size_t before, with = 0;

	make_version_1(r, true);
	rows_open(r);
	rows_bury(r, "id-1"); /* and so needs none */
	OK(r, store_reader_open(r->store, NULL, &reader, &r->error));
	do {
		before = o.count;
		rows_begin(r);
		OK(r, store_each_old(reader, 150, give_values, &o, &r->error));
		assert_int_equal(rows_commit(r).version, 43);
		assert_true(o.count <= before + 150);
	} while (o.count > before);
	store_reader_close(reader);
	assert_int_equal(o.count, DOCUMENTS * 4 / 5 - 1);
	OK(r, store_reader_open(r->store, NULL, &reader, &r->error));
	OK(r, store_each_values(reader, count_values, &with, &r->error));
	assert_int_equal(with, o.count);
	store_reader_close(reader);
}

static void test_empty(void **state)
{
	struct rows *r = *state, other;
	unsigned char secret[STORE_SECRET_BYTES];

	make_version_1(r, false);
	rows_open(r);
	assert_int_equal(rows_totals(r).version, 0);
	assert_int_equal(rows_totals(r).time_ms, 0);
	assert_int_equal(rows_put(r, "a", "alpha").document, 1);
	memcpy(secret, store_secret(r->store), sizeof secret);
	rows_reopen(r);
	assert_memory_equal(store_secret(r->store), secret, sizeof secret);
	rows_make_dir(&other);
	rows_open(&other);
	assert_memory_not_equal(store_secret(other.store), secret, sizeof secret);
	rows_close(&other);
	rows_remove_dir(&other);
}

/* A migration that cannot be made leaves the old version, which can be tried again. */
static void test_without_room(void **state)
{
	struct rows *r = *state;
	char path[600];
	sqlite3 *h;

	make_version_1(r, true);
	rows_path(r, "rcpd.db", path, sizeof path);
	assert_int_equal(sqlite3_open(path, &h), SQLITE_OK);
	/* Something in the way, as a tool might leave it. */
	assert_int_equal(sqlite3_exec(h, "CREATE TABLE texts(x)", NULL, NULL, NULL), SQLITE_OK);
	assert_int_equal(store_open(r->dir, 1, &r->store, &r->error), ST_INTERNAL);
	assert_int_equal(rows_ask(r, "SELECT user_version FROM pragma_user_version"), 1);
	assert_int_equal(rows_ask(r, "SELECT count(*) FROM words WHERE words MATCH 'word'"), 1332);
	assert_int_equal(sqlite3_exec(h, "DROP TABLE texts", NULL, NULL, NULL), SQLITE_OK);
	sqlite3_close(h);
	rows_open(r);
	assert_int_equal(rows_totals(r).documents, DOCUMENTS);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, rows_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_whole),
		TEST(test_goes_on),
		TEST(test_old_values),
		TEST(test_empty),
		TEST(test_without_room),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
