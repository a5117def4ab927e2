/*
 * statements.c: the SQL, all of it constant text. What clients send is bound as a
 * parameter and nothing else (F5). See schema.c for the tables.
 */
#include "engine/store/statements.h"

static const char *const sql[STATEMENT_COUNT] = {
	[STATEMENT_BEGIN_READ] = "BEGIN",
	/* Takes the write lock now, so that a later statement cannot fail for want of it. */
	[STATEMENT_BEGIN_WRITE] = "BEGIN IMMEDIATE",
	[STATEMENT_COMMIT] = "COMMIT",
	[STATEMENT_ROLLBACK] = "ROLLBACK",

	[STATEMENT_GET_CORPUS] = "SELECT version, documents, chunks, text_bytes FROM corpus",
	[STATEMENT_SET_CORPUS] =
		"UPDATE corpus SET version = ?1, documents = ?2, chunks = ?3, text_bytes = ?4",

	/* length() of a blob is read from its header, the text itself is not. */
	[STATEMENT_FIND_DOCUMENT] =
		"SELECT key, length(text), (SELECT count(*) FROM chunks WHERE doc = documents.key)"
		" FROM documents WHERE id = ?1",
	[STATEMENT_INSERT_DOCUMENT] =
		"INSERT INTO documents(id, title, uri, source, lang, meta, text)"
		" VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)",
	[STATEMENT_UPDATE_DOCUMENT] =
		"UPDATE documents SET title = ?2, uri = ?3, source = ?4, lang = ?5, meta = ?6,"
		" text = ?7 WHERE id = ?1",
	[STATEMENT_DELETE_DOCUMENT] = "DELETE FROM documents WHERE key = ?1",
	[STATEMENT_INSERT_CHUNK] =
		"INSERT INTO chunks(doc, no, byte_start, byte_end, cp_start, cp_end)"
		" VALUES(?1, ?2, ?3, ?4, ?5, ?6)",
	[STATEMENT_DELETE_CHUNKS] = "DELETE FROM chunks WHERE doc = ?1",

	/* The index keeps no text: to take words out it must be told what went in, so
	 * unindexing comes before the rows change, indexing after. */
	[STATEMENT_INDEX_DOCUMENT] =
		"INSERT INTO words(rowid, title, text)"
		" SELECT key, title, text FROM chunk_texts WHERE doc = ?1",
	[STATEMENT_UNINDEX_DOCUMENT] =
		"INSERT INTO words(words, rowid, title, text)"
		" SELECT 'delete', key, title, text FROM chunk_texts WHERE doc = ?1",

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

	/* bm25 is negative, the best first; a sorter keeps no more than ?2 rows. The
	 * first form looks up the documents of the best rows alone, so which of equal
	 * scores it cuts off is chance; the second looks up all, and is exact. CROSS
	 * JOIN fixes the order of the loops: matches first, then their rows. */
	[STATEMENT_SEARCH] =
		"SELECT best.key, d.id, c.no, best.cost FROM"
		" (SELECT rowid AS key, bm25(words, 2.0, 1.0) AS cost"
		"  FROM words WHERE words MATCH ?1 ORDER BY cost LIMIT ?2) AS best"
		" CROSS JOIN chunks AS c ON c.key = best.key"
		" CROSS JOIN documents AS d ON d.key = c.doc"
		" ORDER BY best.cost, d.id, c.no",
	[STATEMENT_SEARCH_TIED] =
		"SELECT words.rowid, d.id, c.no, bm25(words, 2.0, 1.0) AS cost"
		" FROM words CROSS JOIN chunks AS c ON c.key = words.rowid"
		" CROSS JOIN documents AS d ON d.key = c.doc"
		" WHERE words MATCH ?1 ORDER BY cost, d.id, c.no LIMIT ?2",

	/* ?2 is of enum engine_want; what is not wanted is not read from disk. */
	[STATEMENT_FETCH_CHUNK] =
		"SELECT d.id, c.byte_start, c.byte_end, c.cp_start, c.cp_end,"
		" CASE WHEN ?2 & 1 THEN"
		"  substr(d.text, c.byte_start + 1, c.byte_end - c.byte_start) END,"
		" CASE WHEN ?2 & 2 THEN d.meta END,"
		" CASE WHEN ?2 & 4 THEN d.title END, CASE WHEN ?2 & 4 THEN d.uri END,"
		" CASE WHEN ?2 & 4 THEN d.source END, CASE WHEN ?2 & 4 THEN d.lang END"
		" FROM chunks AS c JOIN documents AS d ON d.key = c.doc WHERE c.key = ?1",
	[STATEMENT_GET_DOCUMENT] =
		"SELECT id, text, meta, title, uri, source, lang FROM documents WHERE id = ?1",
};

const char *statement_sql(enum statement what)
{
	return sql[what];
}
