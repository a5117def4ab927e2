/*
 * statements.c: the SQL, all of it constant text. What clients send is bound as a
 * parameter and nothing else (F5). See schema.c for the tables. CROSS JOIN fixes the
 * order of the loops.
 */
#include "engine/store/statements.h"

/* What a walk over documents gives (walk.c). */
#define WALK_COLUMNS                                                                               \
	"SELECT d.key, d.id, d.title, d.format, d.analysis, d.contextual, d.first_chunk,"          \
	" d.chunks, t.text"

/* What dies with a document (change.c). */
#define FOUND_COLUMNS                                                                              \
	"SELECT d.key, d.first_chunk, d.chunks, d.text_bytes, d.analysis, d.died IS NULL"

static const char *const sql[STATEMENT_COUNT] = {
	[STATEMENT_BEGIN_READ] = "BEGIN",
	/* Takes the write lock now, so that a later statement cannot fail for want of it. */
	[STATEMENT_BEGIN_WRITE] = "BEGIN IMMEDIATE",
	[STATEMENT_COMMIT] = "COMMIT",
	[STATEMENT_ROLLBACK] = "ROLLBACK",
	[STATEMENT_SAVEPOINT] = "SAVEPOINT one_call",
	[STATEMENT_RELEASE] = "RELEASE one_call",
	[STATEMENT_ROLLBACK_TO] = "ROLLBACK TO one_call",

	[STATEMENT_GET_CORPUS] =
		"SELECT version, documents, chunks, text_bytes, time_ms,"
		" next_document, next_chunk FROM corpus",
	[STATEMENT_SET_CORPUS] =
		"UPDATE corpus SET version = ?1, documents = ?2, chunks = ?3, text_bytes = ?4,"
		" time_ms = ?5, next_document = ?6, next_chunk = ?7",
	[STATEMENT_GET_LANGUAGES] = "SELECT lang, documents FROM languages",
	[STATEMENT_SET_LANGUAGE] =
		"INSERT OR REPLACE INTO languages(lang, documents)"
		" VALUES(?1, ?2)",

	/* Lives of one id do not overlap, so the newest decides. */
	[STATEMENT_FIND_DOCUMENT] = FOUND_COLUMNS
	" FROM documents AS d WHERE d.id = ?1"
	" ORDER BY d.born DESC, d.key DESC LIMIT 1",
	[STATEMENT_FIND_BY_CHUNK] = FOUND_COLUMNS
	" FROM chunks AS c CROSS JOIN documents AS d ON d.key = c.doc WHERE c.key = ?1",
	[STATEMENT_INSERT_DOCUMENT] =
		"INSERT INTO documents(key, id, born, format, analysis, contextual, first_chunk,"
		" chunks, text_bytes, title, uri, source, lang, meta)"
		" VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14)",
	[STATEMENT_INSERT_TEXT] = "INSERT INTO texts(document, text) VALUES(?1, ?2)",
	[STATEMENT_INSERT_CHUNK] =
		"INSERT INTO chunks(key, doc, byte_start, byte_end, cp_start, cp_end, context)"
		" VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)",
	[STATEMENT_BURY_DOCUMENT] = "UPDATE documents SET died = ?2 WHERE key = ?1",

	[STATEMENT_INSERT_VALUES] =
		"INSERT INTO document_values(document, first_chunk, chunks, data)"
		" VALUES(?1, ?2, ?3, ?4)",
	[STATEMENT_SET_VALUES] = "UPDATE document_values SET data = ?2 WHERE document = ?1",
	[STATEMENT_DELETE_VALUES] = "DELETE FROM document_values WHERE document = ?1",
	[STATEMENT_DELETE_OLD] = "DELETE FROM without_values WHERE document = ?1",
	[STATEMENT_INSERT_FIELD] =
		"INSERT INTO fields(number, name, type)"
		" SELECT coalesce(max(number) + 1, 0), ?1, ?2 FROM fields",
	[STATEMENT_RETYPE_FIELD] = "UPDATE fields SET type = ?2 WHERE number = ?1",

	[STATEMENT_FIND_DEAD] =
		"SELECT key, first_chunk, chunks, text_bytes FROM documents"
		" WHERE died IS NOT NULL AND died <= ?1 ORDER BY died, key LIMIT 1",
	[STATEMENT_DELETE_DOCUMENT] = "DELETE FROM documents WHERE key = ?1",
	[STATEMENT_DELETE_TEXT] = "DELETE FROM texts WHERE document = ?1",
	[STATEMENT_DELETE_CHUNKS] = "DELETE FROM chunks WHERE key >= ?1 AND key < ?1 + ?2",

	[STATEMENT_FIND_ONCE] =
		"SELECT hash, result, version, documents, chunks FROM idempotency"
		" WHERE owner = ?1 AND name = ?2 AND created > ?3",
	[STATEMENT_KEEP_ONCE] =
		"INSERT OR REPLACE INTO idempotency"
		"(owner, name, hash, result, version, documents, chunks, created)"
		" VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
	[STATEMENT_PRUNE_ONCE] =
		"DELETE FROM idempotency WHERE key IN"
		" (SELECT key FROM idempotency WHERE created <= ?1 ORDER BY created LIMIT ?2)",

	/* ?2 is of enum engine_want; what is not wanted is not read from disk. */
	[STATEMENT_FETCH_CHUNK] =
		"SELECT d.id, c.byte_start, c.byte_end, c.cp_start, c.cp_end,"
		" CASE WHEN ?2 & 8 THEN (SELECT text FROM texts WHERE document = c.doc)"
		"  WHEN ?2 & 1 THEN"
		"  (SELECT substr(text, c.byte_start + 1, c.byte_end - c.byte_start)"
		"   FROM texts WHERE document = c.doc) END,"
		" CASE WHEN ?2 & 2 THEN d.meta END,"
		" CASE WHEN ?2 & 4 THEN d.title END, CASE WHEN ?2 & 4 THEN d.uri END,"
		" CASE WHEN ?2 & 4 THEN d.source END, CASE WHEN ?2 & 4 THEN d.lang END,"
		" CASE WHEN ?2 & 8 THEN NULL ELSE c.context END"
		" FROM chunks AS c CROSS JOIN documents AS d ON d.key = c.doc WHERE c.key = ?1",
	/* The newest that was born by then decides. */
	[STATEMENT_GET_DOCUMENT] =
		"SELECT d.id, t.text, d.meta, d.title, d.uri, d.source, d.lang,"
		" d.died IS NULL OR d.died > ?2"
		" FROM documents AS d CROSS JOIN texts AS t ON t.document = d.key"
		" WHERE d.id = ?1 AND d.born <= ?2 ORDER BY d.born DESC, d.key DESC LIMIT 1",

	/* Births are in order of keys, so that the index gives the rows in order. */
	[STATEMENT_EACH_BORN] = WALK_COLUMNS
	" FROM documents AS d CROSS JOIN texts AS t ON t.document = d.key"
	" WHERE d.born > ?1 AND d.died IS NULL ORDER BY d.born, d.key",
	[STATEMENT_EACH_DIED] = WALK_COLUMNS
	" FROM documents AS d CROSS JOIN texts AS t ON t.document = d.key"
	" WHERE d.died IS NOT NULL AND d.died > ?1"
	" ORDER BY d.died, d.key",
	[STATEMENT_EACH_LIVING] = WALK_COLUMNS
	" FROM documents AS d CROSS JOIN texts AS t ON t.document = d.key"
	" WHERE d.key > ?1 AND d.died IS NULL ORDER BY d.key LIMIT ?2",
	[STATEMENT_ONE_DOCUMENT] = WALK_COLUMNS
	" FROM documents AS d CROSS JOIN texts AS t ON t.document = d.key"
	" WHERE d.key = ?1",
	[STATEMENT_CHUNKS_OF] =
		"SELECT key, doc, byte_start, byte_end, context FROM chunks"
		" WHERE key >= ?1 AND key < ?1 + ?2 ORDER BY key",
	[STATEMENT_EACH_VALUES] =
		"SELECT document, first_chunk, chunks, data FROM document_values"
		" ORDER BY document",
	[STATEMENT_EACH_FIELD] = "SELECT number, name, type FROM fields ORDER BY number",
	[STATEMENT_EACH_OLD] =
		"SELECT o.document, d.meta FROM without_values AS o"
		" CROSS JOIN documents AS d ON d.key = o.document ORDER BY o.document LIMIT ?1",

	[STATEMENT_INSERT_SPACE] =
		"INSERT INTO spaces(number, identity, dimension, derived, fit, fitted, active, blob)"
		" SELECT next_space, ?1, ?2, ?3, ?4, ?5, ?6, ?7 FROM corpus RETURNING number",
	[STATEMENT_COUNT_SPACE] = "UPDATE corpus SET next_space = next_space + 1",
	[STATEMENT_SET_BLOB] = "UPDATE spaces SET blob = ?2 WHERE number = ?1",
	[STATEMENT_ACTIVATE_SPACE] = "UPDATE spaces SET active = number = ?1",
	[STATEMENT_DROP_OTHER_SPACES] = "DELETE FROM spaces WHERE number <> ?1",
	[STATEMENT_DROP_SPACE] = "DELETE FROM spaces WHERE number = ?1",
	[STATEMENT_EACH_SPACE] =
		"SELECT number, identity, dimension, derived, fit, fitted, active, blob"
		" FROM spaces ORDER BY number",
	[STATEMENT_PUT_VECTOR] = "INSERT OR REPLACE INTO vectors(place, data) VALUES(?1, ?2)",
	[STATEMENT_HAS_VECTOR] = "SELECT 1 FROM vectors WHERE place = ?1",
	[STATEMENT_FIRST_VECTOR] = "SELECT min(place) FROM vectors WHERE place >= ?1",
	[STATEMENT_HAS_SPACE] = "SELECT 1 FROM spaces WHERE number = ?1",
	[STATEMENT_DELETE_VECTORS] = "DELETE FROM vectors WHERE place >= ?1 AND place < ?1 + ?2",
	[STATEMENT_DELETE_SOME_VECTORS] =
		"DELETE FROM vectors WHERE place IN"
		" (SELECT place FROM vectors WHERE place >= ?1 AND place < ?2 LIMIT ?3)",
	[STATEMENT_EACH_VECTOR] =
		"SELECT c.key, v.data FROM documents AS d"
		" CROSS JOIN chunks AS c ON c.key >= d.first_chunk AND c.key < d.first_chunk + d.chunks"
		" CROSS JOIN vectors AS v ON v.place = ?2 + c.key"
		" WHERE d.born > ?1 AND d.died IS NULL ORDER BY d.born, d.key, c.key",
	[STATEMENT_EACH_UNEMBEDDED] = WALK_COLUMNS
	" FROM documents AS d CROSS JOIN texts AS t ON t.document = d.key"
	" WHERE d.died IS NULL"
	" AND d.key >= (SELECT doc FROM chunks WHERE key > ?1 ORDER BY key LIMIT 1)"
	" AND d.first_chunk + d.chunks - 1 > ?1"
	" AND EXISTS (SELECT 1 FROM chunks AS c"
	"  WHERE c.key >= d.first_chunk AND c.key < d.first_chunk + d.chunks AND c.key > ?1"
	"  AND NOT EXISTS (SELECT 1 FROM vectors AS v WHERE v.place = ?2 + c.key))"
	" ORDER BY d.key",
};

const char *statement_sql(enum statement what)
{
	return sql[what];
}
