/* store_rows.c: see store_rows.h. */
#include "store_rows.h"

#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

#include "util/utf8.h"

void rows_expect_ok(const struct rows *r, enum status st, const char *what)
{
	if (st)
		fail_msg("%s: %s: %s (%s)", what, status_name(st), r->error.message,
			r->error.detail);
}

void rows_make_dir(struct rows *r)
{
	const char *base = getenv("TMPDIR");

	memset(r, 0, sizeof *r);
	snprintf(r->dir, sizeof r->dir, "%s/rcpd-store-XXXXXX", base && *base ? base : "/tmp");
	assert_non_null(mkdtemp(r->dir));
	arena_init(&r->arena, 0);
}

void rows_path(const struct rows *r, const char *file, char *buf, size_t size)
{
	assert_true(snprintf(buf, size, "%s/%s", r->dir, file) < (int)size);
}

void rows_remove_dir(struct rows *r)
{
	DIR *d = opendir(r->dir);
	struct dirent *entry;
	char path[600];

	while (d && (entry = readdir(d)))
		if (entry->d_name[0] != '.') {
			rows_path(r, entry->d_name, path, sizeof path);
			unlink(path);
		}
	if (d)
		closedir(d);
	rmdir(r->dir);
	arena_release(&r->arena);
}

void rows_open(struct rows *r)
{
	OK(r, store_open(r->dir, 3, &r->store, &r->error));
}

void rows_close(struct rows *r)
{
	store_close(r->store);
	r->store = NULL;
}

void rows_reopen(struct rows *r)
{
	rows_close(r);
	rows_open(r);
}

int rows_setup(void **state)
{
	struct rows *r = calloc(1, sizeof *r);

	rows_make_dir(r);
	rows_open(r);
	*state = r;
	return 0;
}

int rows_teardown(void **state)
{
	struct rows *r = *state;

	if (r->write)
		store_write_abort(r->write);
	rows_close(r);
	rows_check(r);
	rows_remove_dir(r);
	free(r);
	return 0;
}

struct store_document rows_document(const char *id, const char *text)
{
	static struct store_chunk chunk; /* one at a time is enough */

	chunk = (struct store_chunk){ 0, strlen(text), 0, utf8_count(text, strlen(text)),
		BYTES_NONE };
	return (struct store_document){ .id = bytes_of(id),
		.text = bytes_of(text),
		.analysis = TEXT_LANG_EN,
		.chunks = &chunk,
		.chunk_count = 1 };
}

void rows_begin(struct rows *r)
{
	assert_null(r->write);
	OK(r, store_write_begin(r->store, NULL, &r->write, &r->error));
}

struct store_totals rows_commit(struct rows *r)
{
	struct store_write *w = r->write;
	struct store_totals totals;

	r->write = NULL;
	OK(r, store_write_commit(w, &totals, &r->error));
	return totals;
}

static bool begin_own(struct rows *r)
{
	if (r->write)
		return false;
	rows_begin(r);
	return true;
}

struct store_keys rows_put_document(struct rows *r, const struct store_document *doc)
{
	bool own = begin_own(r);
	struct store_keys keys;

	OK(r, store_write_put(r->write, doc, &keys, &r->error));
	if (own)
		rows_commit(r);
	return keys;
}

struct store_keys rows_put(struct rows *r, const char *id, const char *text)
{
	struct store_document doc = rows_document(id, text);

	return rows_put_document(r, &doc);
}

struct store_keys rows_bury(struct rows *r, const char *id)
{
	bool own = begin_own(r);
	struct store_keys keys;

	OK(r, store_write_bury(r->write, bytes_of(id), &keys, &r->error));
	if (own)
		rows_commit(r);
	return keys;
}

struct bytes rows_text(struct rows *r, const char *id, uint64_t version)
{
	struct store_reader *reader;
	struct engine_record rec = { .text = BYTES_NONE };
	enum status st;

	OK(r, store_reader_open(r->store, NULL, &reader, &r->error));
	st = store_get(reader, bytes_of(id), version, &r->arena, &rec, &r->error);
	store_reader_close(reader);
	if (st != ST_NOT_FOUND)
		OK(r, st);
	return rec.text;
}

struct store_totals rows_totals(struct rows *r)
{
	struct store_reader *reader;
	struct store_totals totals;

	OK(r, store_reader_open(r->store, NULL, &reader, &r->error));
	OK(r, store_read_totals(reader, &totals, &r->error));
	store_reader_close(reader);
	return totals;
}

bool countdown_stop(void *arg)
{
	struct countdown *c = arg;

	return c->left-- <= 0;
}

static sqlite3 *connect_to(const struct rows *r)
{
	char path[600];
	sqlite3 *h;

	rows_path(r, "rcpd.db", path, sizeof path);
	assert_int_equal(sqlite3_open_v2(path, &h, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
	return h;
}

long long rows_ask(const struct rows *r, const char *sql)
{
	sqlite3 *h = connect_to(r);
	sqlite3_stmt *stmt;
	long long value = -1;

	if (sqlite3_prepare_v2(h, sql, -1, &stmt, NULL))
		fail_msg("%s: %s", sql, sqlite3_errmsg(h));
	if (sqlite3_step(stmt) == SQLITE_ROW)
		value = sqlite3_column_int64(stmt, 0);
	if (sqlite3_finalize(stmt))
		fail_msg("%s: %s", sql, sqlite3_errmsg(h));
	sqlite3_close(h);
	return value;
}

/* Each gives 1 when the rows agree. */
static const char *const checks[] = {
	"SELECT integrity_check = 'ok' FROM pragma_integrity_check",
	"SELECT count(*) = 0 FROM pragma_foreign_key_check",
	/* Totals and next keys. */
	"SELECT documents = (SELECT count(*) FROM documents WHERE died IS NULL)"
	" AND chunks = (SELECT coalesce(sum(chunks), 0) FROM documents WHERE died IS NULL)"
	" AND text_bytes ="
	"  (SELECT coalesce(sum(text_bytes), 0) FROM documents WHERE died IS NULL)"
	" AND next_document > (SELECT coalesce(max(key), 0) FROM documents)"
	" AND next_chunk > (SELECT coalesce(max(key), 0) FROM chunks)"
	" AND length(secret) = 32 AND length(id) = 16 AND (time_ms = 0) = (version = 0)"
	" FROM corpus",
	"SELECT count(*) = 0 FROM (SELECT lang, documents FROM languages WHERE documents > 0"
	" EXCEPT SELECT analysis, count(*) FROM documents WHERE died IS NULL GROUP BY analysis)",
	"SELECT count(*) = 0 FROM (SELECT analysis, count(*) FROM documents WHERE died IS NULL"
	" GROUP BY analysis EXCEPT SELECT lang, documents FROM languages)",
	/* Lives: within the corpus's, in order of keys, those of one id one after another. */
	"SELECT count(*) = 0 FROM documents, corpus"
	" WHERE born > version OR born < 0 OR died > version OR died < born",
	"SELECT count(*) = 0 FROM (SELECT born, lag(born) OVER (ORDER BY key) AS before"
	" FROM documents) WHERE before > born",
	"SELECT count(*) = 0 FROM (SELECT died, lead(born) OVER"
	" (PARTITION BY id ORDER BY key) AS next FROM documents)"
	" WHERE next IS NOT NULL AND (died IS NULL OR died > next)",
	/* What belongs to a document. */
	"SELECT count(*) = 0 FROM documents LEFT JOIN texts ON document = key"
	" WHERE text IS NULL OR length(text) <> text_bytes",
	"SELECT (SELECT count(*) FROM texts) = (SELECT count(*) FROM documents)",
	"SELECT count(*) = 0 FROM chunks AS c LEFT JOIN documents AS d ON d.key = c.doc"
	" WHERE d.key IS NULL OR c.key < d.first_chunk OR c.key >= d.first_chunk + d.chunks"
	" OR c.byte_start >= c.byte_end OR c.byte_end > d.text_bytes",
	"SELECT (SELECT count(*) FROM chunks) = (SELECT coalesce(sum(chunks), 0) FROM documents)",
	"SELECT count(*) = 0 FROM (SELECT key, first_chunk, chunks FROM documents"
	" WHERE died IS NULL EXCEPT SELECT document, first_chunk, chunks FROM document_values)",
	"SELECT (SELECT count(*) FROM document_values) ="
	" (SELECT count(*) FROM documents WHERE died IS NULL)",
	"SELECT count(*) = 0 FROM without_values LEFT JOIN documents ON key = document"
	" WHERE key IS NULL OR died IS NOT NULL",
};

void rows_check(const struct rows *r)
{
	char path[600];

	rows_path(r, "rcpd.db", path, sizeof path);
	if (access(path, F_OK))
		return;
	for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++)
		if (rows_ask(r, checks[i]) != 1)
			fail_msg("rows do not agree: %s", checks[i]);
}
