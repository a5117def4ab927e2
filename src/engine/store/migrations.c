/*
 * migrations.c: one row of SQL for each version. schema.c draws the tables as they
 * are after the last.
 *
 * What SQL cannot tell, it asks functions of ours, which exist while a migration runs:
 * rcpd_random(n) and rcpd_language(lang, text).
 */
#include "engine/store/migrations.h"

#include <errno.h>

#include "text/analyze.h"
#include "util/crypto.h"

/*
 * Row i brings version i to i + 1, and says so at its end. Never change one that was
 * released; add another.
 *
 * Row 1: a document was one row that changed in place, found by FTS5's table. Each
 * becomes a row that was born at the corpus's version. Chunks are numbered anew, in
 * order of documents, so that those of one document are neighbours for certain.
 */
static const char *const migrations[MIGRATIONS_VERSION] = {
	"CREATE TABLE corpus("
	" one INTEGER PRIMARY KEY CHECK(one = 1), id TEXT NOT NULL,"
	" version INTEGER NOT NULL, documents INTEGER NOT NULL,"
	" chunks INTEGER NOT NULL, text_bytes INTEGER NOT NULL) STRICT;"
	"INSERT INTO corpus VALUES(1, lower(hex(randomblob(8))), 0, 0, 0, 0);"
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
	"PRAGMA user_version = 1;",

	"DROP TABLE words;"
	"DROP VIEW chunk_texts;"
	"ALTER TABLE documents RENAME TO documents_1;"
	"ALTER TABLE chunks RENAME TO chunks_1;"

	"CREATE TABLE documents("
	" key INTEGER PRIMARY KEY, id BLOB NOT NULL, born INTEGER NOT NULL, died INTEGER,"
	" format INTEGER NOT NULL, analysis TEXT NOT NULL, contextual INTEGER NOT NULL,"
	" first_chunk INTEGER NOT NULL, chunks INTEGER NOT NULL, text_bytes INTEGER NOT NULL,"
	" title TEXT, uri TEXT, source TEXT, lang TEXT, meta TEXT) STRICT;"
	"CREATE TABLE texts("
	" document INTEGER PRIMARY KEY REFERENCES documents(key), text BLOB NOT NULL) STRICT;"
	"CREATE TABLE chunks("
	" key INTEGER PRIMARY KEY, doc INTEGER NOT NULL,"
	" byte_start INTEGER NOT NULL, byte_end INTEGER NOT NULL,"
	" cp_start INTEGER NOT NULL, cp_end INTEGER NOT NULL, context TEXT) STRICT;"
	"CREATE TABLE document_values("
	" document INTEGER PRIMARY KEY REFERENCES documents(key),"
	" first_chunk INTEGER NOT NULL, chunks INTEGER NOT NULL, data BLOB) STRICT;"
	"CREATE TABLE without_values("
	" document INTEGER PRIMARY KEY REFERENCES documents(key)) STRICT;"
	"CREATE TABLE fields("
	" number INTEGER PRIMARY KEY, name BLOB NOT NULL UNIQUE, type INTEGER NOT NULL) STRICT;"
	"CREATE TABLE languages("
	" lang TEXT PRIMARY KEY, documents INTEGER NOT NULL) STRICT, WITHOUT ROWID;"
	"CREATE TABLE models("
	" number INTEGER PRIMARY KEY, identity TEXT NOT NULL UNIQUE,"
	" dimension INTEGER NOT NULL) STRICT;"
	"CREATE TABLE vectors("
	" chunk INTEGER NOT NULL, model INTEGER NOT NULL REFERENCES models(number),"
	" data BLOB NOT NULL, PRIMARY KEY(chunk, model)) STRICT, WITHOUT ROWID;"
	"CREATE TABLE feedback("
	" key INTEGER PRIMARY KEY, created INTEGER NOT NULL, session TEXT, query TEXT,"
	" hit BLOB, signals TEXT) STRICT;"

	"ALTER TABLE corpus ADD COLUMN next_document INTEGER NOT NULL DEFAULT 1;"
	"ALTER TABLE corpus ADD COLUMN next_chunk INTEGER NOT NULL DEFAULT 1;"
	"ALTER TABLE corpus ADD COLUMN time_ms INTEGER NOT NULL DEFAULT 0;"
	"ALTER TABLE corpus ADD COLUMN secret BLOB NOT NULL DEFAULT x'';"

	"INSERT INTO chunks SELECT row_number() OVER (ORDER BY doc, no), doc,"
	" byte_start, byte_end, cp_start, cp_end, NULL FROM chunks_1 ORDER BY doc, no;"
	"CREATE TEMP TABLE places(doc INTEGER PRIMARY KEY, first INTEGER, n INTEGER);"
	"INSERT INTO places WITH counts AS (SELECT doc, count(*) AS n FROM chunks_1 GROUP BY doc)"
	" SELECT doc, sum(n) OVER (ORDER BY doc) - n + 1, n FROM counts ORDER BY doc;"
	"INSERT INTO documents SELECT d.key, d.id, (SELECT version FROM corpus), NULL,"
	" 0, rcpd_language(d.lang, d.text), 0, coalesce(p.first, 1), coalesce(p.n, 0),"
	" length(d.text), d.title, d.uri, d.source, d.lang, d.meta"
	" FROM documents_1 AS d LEFT JOIN places AS p ON p.doc = d.key ORDER BY d.key;"
	"DROP TABLE places;"
	"INSERT INTO texts SELECT key, text FROM documents_1 ORDER BY key;"
	"INSERT INTO document_values SELECT key, first_chunk, chunks, NULL FROM documents;"
	"INSERT INTO without_values SELECT key FROM documents WHERE meta IS NOT NULL;"
	"INSERT INTO languages SELECT analysis, count(*) FROM documents GROUP BY analysis;"
	"DROP TABLE chunks_1;"
	"DROP TABLE documents_1;"
	"CREATE INDEX documents_id ON documents(id, born);"
	"CREATE INDEX documents_born ON documents(born);"
	"CREATE INDEX documents_died ON documents(died) WHERE died IS NOT NULL;"

	"UPDATE corpus SET secret = rcpd_random(32),"
	" next_document = (SELECT coalesce(max(key), 0) + 1 FROM documents),"
	" next_chunk = (SELECT coalesce(max(key), 0) + 1 FROM chunks),"
	" time_ms = iif(version = 0, 0,"
	"  CAST((julianday('now') - 2440587.5) * 86400000 AS INTEGER));"
	"PRAGMA user_version = 2;",

	"DROP TABLE vectors;"
	"DROP TABLE models;"
	"CREATE TABLE spaces("
	" number INTEGER PRIMARY KEY, identity TEXT NOT NULL, dimension INTEGER NOT NULL,"
	" derived INTEGER NOT NULL, fit INTEGER NOT NULL, fitted INTEGER NOT NULL,"
	" active INTEGER NOT NULL, blob BLOB) STRICT;"
	"CREATE TABLE vectors(place INTEGER PRIMARY KEY, data BLOB NOT NULL) STRICT;"
	"ALTER TABLE corpus ADD COLUMN next_space INTEGER NOT NULL DEFAULT 1;"
	"PRAGMA user_version = 3;",
};

static void random_blob(sqlite3_context *context, int n, sqlite3_value **args)
{
	unsigned char buf[64];
	int len = sqlite3_value_int(args[0]);

	(void)n;
	if (len < 1 || (size_t)len > sizeof buf || crypto_random(buf, (size_t)len))
		sqlite3_result_error(context, "no random bytes", -1);
	else
		sqlite3_result_blob(context, buf, len, SQLITE_TRANSIENT);
}

static struct bytes value_bytes(sqlite3_value *value)
{
	const char *data = sqlite3_value_blob(value);

	return (struct bytes){ data, data ? (size_t)sqlite3_value_bytes(value) : 0 };
}

/* The tag of the language in which a text will be analysed. */
static void language_of(sqlite3_context *context, int n, sqlite3_value **args)
{
	enum text_lang lang = text_lang_parse(value_bytes(args[0]));

	(void)n;
	if (lang == TEXT_LANG_NONE)
		lang = text_lang_detect(value_bytes(args[1]));
	sqlite3_result_text(context, text_lang_tag(lang), -1, SQLITE_STATIC);
}

enum status migrations_run(struct db *db, int64_t from, struct error *e)
{
	int flags = SQLITE_UTF8 | SQLITE_DIRECTONLY;
	enum status st;
	int rc;

	errno = 0; /* for db_fail */
	rc = sqlite3_create_function_v2(db->handle, "rcpd_random", 1, flags, NULL, random_blob,
		NULL, NULL, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_create_function_v2(db->handle, "rcpd_language", 2, flags, NULL,
			language_of, NULL, NULL, NULL);
	st = rc == SQLITE_OK ? db_exec(db, migrations[from], e) : db_fail(db, rc, e);
	(void)sqlite3_create_function_v2(db->handle, "rcpd_random", 1, flags, NULL, NULL, NULL,
		NULL, NULL);
	(void)sqlite3_create_function_v2(db->handle, "rcpd_language", 2, flags, NULL, NULL, NULL,
		NULL, NULL);
	return st;
}
