/*
 * engine/store/store.h: the rows behind the engine. It speaks of documents, chunks,
 * commits and rows since a commit, not of SQLite, so that another store of record can
 * stand here.
 *
 * Rows are versioned, never changed: a document is born at a commit and dies at a
 * later one; what stands under an id now is the row that has not died. Keys of
 * documents and of chunks are given out once and only grow, in order of commits; the
 * chunks of a document have neighbouring keys. So whoever knows a chunk's key can read
 * it with any reader at any time, until the row is swept.
 *
 * Threads: a write is open in one thread at a time, the others wait in
 * store_write_begin; readers read beside it, one thread each.
 */
#ifndef RCPD_ENGINE_STORE_STORE_H
#define RCPD_ENGINE_STORE_STORE_H

#include "engine/engine.h"

struct store;
struct store_write;
struct store_reader;

/* The row of the corpus after a commit. */
struct store_totals {
	uint64_t version;                       /* of the commit */
	uint64_t documents, chunks, text_bytes; /* living */
	int64_t time_ms;                        /* when, by the wall clock; 0: never */
	uint64_t languages[TEXT_LANG_COUNT];    /* living documents analysed in each */
};

/* As engine_open and engine_close; `declared` has no meaning here. */
enum status store_open(const char *dir, unsigned readers, struct store **ret, struct error *e);
void store_close(struct store *s);
const char *store_corpus_id(const struct store *s);       /* 16 hex digits; lives as long as s */
const unsigned char *store_secret(const struct store *s); /* 32 bytes */

/* ---- writing: a group of calls in one transaction ----
 *
 *   begin ─▶ { savepoint ─▶ changes ─▶ release or undo } … ─▶ commit or abort
 *
 * What was undone leaves no trace, keys and totals included.
 */

/* Waits for the writer before it; asks stop meanwhile only. */
enum status store_write_begin(struct store *s, const struct engine_stop *stop,
	struct store_write **ret, struct error *e);
/* The commit number that this transaction will have if it changes anything. */
uint64_t store_write_version(const struct store_write *w);
enum status store_write_savepoint(struct store_write *w, struct error *e);
/* Keeps the changes since the savepoint. */
enum status store_write_release(struct store_write *w, struct error *e);
/* Drops them. If that fails the whole transaction is lost: only abort is left. */
enum status store_write_undo(struct store_write *w, struct error *e);
/* Whose stop the statements ask from now on; NULL: nobody's. */
void store_write_stop(struct store_write *w, const struct engine_stop *stop);

/* Looks once->key up. Found: *ret_found, and *ret is what its first call returned
 * (result in the arena). Another hash under the same key: ST_CONFLICT. */
enum status store_write_find_once(struct store_write *w, const struct engine_once *once,
	struct arena *arena, bool *ret_found, struct engine_commit *ret, struct error *e);
/* Keeps the answer under once->key, and drops some expired ones. */
enum status store_write_keep_once(struct store_write *w, const struct engine_once *once,
	const struct engine_commit *answer, struct error *e);

struct store_chunk {
	uint64_t byte_start, byte_end;
	uint64_t cp_start, cp_end;
	struct bytes context; /* NONE if none */
};

struct store_document {
	struct bytes id, text, meta, title, uri, source, lang; /* as in engine_document */
	enum text_format format;
	enum text_lang analysis; /* the language its texts were analysed in */
	bool contextual;
	struct bytes values; /* opaque to the store, for store_each_values; NONE if none */
	const struct store_chunk *chunks;
	size_t chunk_count; /* >= 1 */
};

/* Which rows a document has. */
struct store_keys {
	int64_t document;    /* 0: there is none */
	int64_t first_chunk; /* its chunks follow one another */
	uint64_t chunks;
};

/* A new document, born at this commit. Whatever had its id must have been buried. */
enum status store_write_put(struct store_write *w, const struct store_document *doc,
	struct store_keys *ret, struct error *e);
/* The living document of that id dies at this commit; *ret says what it had, its
 * document 0 if there was none. Its values are dropped at once. */
enum status store_write_bury(struct store_write *w, struct bytes id, struct store_keys *ret,
	struct error *e);
/* The same for the document that has the chunk key; nothing if it has died. */
enum status store_write_bury_chunk(struct store_write *w, int64_t chunk, struct store_keys *ret,
	struct error *e);
/* Remembers a field; numbers are 0, 1, 2… in the order of these calls, for ever. */
enum status store_write_field(struct store_write *w, struct bytes name, enum engine_type type,
	struct error *e);
/* A known field's type is another from now on (its declaration changed). */
enum status store_write_retype(struct store_write *w, size_t field, enum engine_type type,
	struct error *e);
/* Sets the values of a document that was made before there were any. */
enum status store_write_values(struct store_write *w, int64_t document, struct bytes values,
	struct error *e);
/*
 * Removes up to max documents that died at or before a commit, for good, fewer if their
 * texts are large, and calls swept with the chunk keys of each. *ret_more: there are
 * more of them.
 */
enum status store_write_sweep(struct store_write *w, uint64_t before, size_t max,
	void (*swept)(void *arg, int64_t first_chunk, uint64_t chunks), void *arg, bool *ret_more,
	struct error *e);

/* ---- spaces of vectors (engine/dense.h) ---- */

struct store_space {
	uint64_t number;
	struct bytes identity;
	size_t dimension;
	bool derived, active;
	uint64_t fit, fitted;
	struct bytes blob; /* NONE if none */
};
#define STORE_MAX_SPACE ((uint64_t)1 << 19) /* their numbers stay below */

/* Adds one; *ret_number is drawn by us and never given again. ST_FULL: none is left. */
enum status store_write_space(struct store_write *w, const struct store_space *space,
	uint64_t *ret_number, struct error *e);
/* That one is active from now on, with its blob (NONE: as it is), and the only one: the rest
 * is dropped. */
enum status store_write_activate(struct store_write *w, uint64_t number, struct bytes blob,
	struct error *e);
enum status store_write_drop_space(struct store_write *w, uint64_t number, struct error *e);
/* The vector of a chunk in a space; NONE or empty: it is known to have none. */
enum status store_write_vector(struct store_write *w, uint64_t space, int64_t chunk,
	struct bytes data, struct error *e);
/* Removes up to max vectors of spaces that were dropped. *ret_more: there may be more. */
enum status store_write_sweep_vectors(struct store_write *w, size_t max, bool *ret_more,
	struct error *e);
/* This transaction is a commit, though no document changes. */
enum status store_write_turn(struct store_write *w, struct error *e);

/* Commits and ends w, whatever comes of it: on failure nothing of the group remains.
 * *ret: the totals after it. Without a put, a bury or a turn the version stays. */
enum status store_write_commit(struct store_write *w, struct store_totals *ret, struct error *e);
void store_write_abort(struct store_write *w);

/* ---- reading ---- */

/* Waits for a free connection. No snapshot is held: see above. Within begin and end
 * statements are cheaper, as they share one. Keep it for one request only. */
enum status store_reader_open(struct store *s, const struct engine_stop *stop,
	struct store_reader **ret, struct error *e);
void store_reader_close(struct store_reader *r);

/* Which rows the document has that lives under id, as committed lately; document 0 if
 * there is none. */
enum status store_find(struct store_reader *r, struct bytes id, struct store_keys *ret,
	struct error *e);
/* By chunk key. ST_NOT_FOUND: swept. */
enum status store_fetch(struct store_reader *r, int64_t key, unsigned want, struct arena *arena,
	struct engine_record *ret, struct error *e);
/* A document by id as it stood after a commit. */
enum status store_get(struct store_reader *r, struct bytes id, uint64_t version,
	struct arena *arena, struct engine_record *ret, struct error *e);
/* As committed last. */
enum status store_read_totals(struct store_reader *r, struct store_totals *ret, struct error *e);

/* One chunk with all that its terms depend on; bytes live until the callback returns. */
struct store_row {
	int64_t key, document;
	uint32_t no; /* within the document */
	struct bytes doc_id, title, context, text;
	enum text_format format;
	enum text_lang analysis;
	bool contextual;
};
/* Anything but ST_OK ends the walk and is returned. */
typedef enum status store_row_fn(void *arg, const struct store_row *row, struct error *e);

/* Living chunks of documents born after a commit, in order of keys. */
enum status store_each_born(struct store_reader *r, uint64_t after, store_row_fn *fn, void *arg,
	struct error *e);
/* Up to max living documents with keys above `after`, chunk by chunk, in order of keys;
 * *ret_n: how many there were. */
enum status store_each_living(struct store_reader *r, int64_t after, size_t max, store_row_fn *fn,
	void *arg, uint64_t *ret_n, struct error *e);
/* Chunks of documents that died after a commit, whenever they were born: what was made
 * of the rows may hold more than that commit. */
enum status store_each_died(struct store_reader *r, uint64_t after, store_row_fn *fn, void *arg,
	struct error *e);
/* The chunks of one document, dead or alive; within a write, or with a reader (the
 * other is NULL). */
enum status store_each_chunk(struct store_reader *r, struct store_write *w, int64_t document,
	store_row_fn *fn, void *arg, struct error *e);

/* The row of one chunk; ST_NOT_FOUND: swept. */
enum status store_one_row(struct store_reader *r, int64_t key, store_row_fn *fn, void *arg,
	struct error *e);
/* Spaces in order of their numbers; bytes live until the callback returns. */
typedef enum status store_space_fn(void *arg, const struct store_space *space, struct error *e);
enum status store_each_space(struct store_reader *r, store_space_fn *fn, void *arg,
	struct error *e);
/* Vectors of living chunks born after a commit, in order of keys. Data is empty where
 * the chunk is known to have none. */
typedef enum status store_vector_fn(void *arg, int64_t key, struct bytes data, struct error *e);
enum status store_each_vector(struct store_reader *r, uint64_t space, uint64_t after,
	store_vector_fn *fn, void *arg, struct error *e);
/* Whether there are vectors at all. */
enum status store_any_vector(struct store_reader *r, bool *ret, struct error *e);
/* Living chunks with keys above `after` without a vector in the space, not even an empty
 * one. Within a write, or with a reader (the other is NULL). */
enum status store_each_unembedded(struct store_reader *r, struct store_write *w, uint64_t space,
	int64_t after, store_row_fn *fn, void *arg, struct error *e);

/* The living documents in order of keys, with their values (NONE if none). */
typedef enum status store_values_fn(void *arg, const struct store_keys *keys, struct bytes values,
	struct error *e);
enum status store_each_values(struct store_reader *r, store_values_fn *fn, void *arg,
	struct error *e);
/* The fields in order of their numbers. */
typedef enum status store_field_fn(void *arg, struct bytes name, enum engine_type type,
	struct error *e);
enum status store_each_field(struct store_reader *r, store_field_fn *fn, void *arg,
	struct error *e);
/* Documents that were made before there were values: their keys and meta, up to max
 * (store_write_values takes them off the list). */
typedef enum status store_old_fn(void *arg, int64_t document, struct bytes meta, struct error *e);
enum status store_each_old(struct store_reader *r, size_t max, store_old_fn *fn, void *arg,
	struct error *e);

#endif
