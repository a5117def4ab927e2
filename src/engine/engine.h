/*
 * engine/engine.h: the corpus: documents in, ranked chunks out. No JSON, no HTTP,
 * no models. SQLite is the store of record (engine/store); the recall stage is
 * behind engine_recall, so that it can be replaced without touching a caller.
 *
 * Threads: an engine may be used by any number of threads. A view belongs to the
 * thread that uses it at a time. Writers queue; readers never wait for them (WAL).
 */
#ifndef RCPD_ENGINE_ENGINE_H
#define RCPD_ENGINE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/arena.h"
#include "util/bytes.h"
#include "util/status.h"

struct engine;
struct engine_view;

/* Asked now and then during long work; true: stop, ST_CANCELLED is returned. */
struct engine_stop {
	bool (*fn)(void *arg);
	void *arg;
};

struct engine_options {
	const char *dir;  /* must exist; rcpd.db is made inside */
	unsigned readers; /* read connections kept, >= 1 */
};

/*
 * Opens or creates the corpus; runs migrations. ST_LOCKED: another process has
 * it; ST_FUTURE: made by a newer version (file untouched); ST_CORRUPT; ST_IO.
 * Takes the folder's lock until close.
 */
enum status engine_open(const struct engine_options *opt, struct engine **ret, struct error *e);
void engine_close(struct engine *en); /* all views closed before; NULL is fine */

/* ---- writing ---- */

#define ENGINE_MAX_ID 1024 /* bytes of a document id (D36) */

struct engine_document {
	struct bytes id;   /* 1..ENGINE_MAX_ID bytes, any content */
	struct bytes text; /* valid UTF-8, NULs allowed */
	struct bytes meta; /* JSON text of an object, stored and returned as it is; may be NONE */
	struct bytes title, uri, source, lang; /* D45; NONE when not given */
};

/* Repeating a key gives the first result again (X7, D37). */
struct engine_once {
	struct bytes owner;     /* caller identity */
	struct bytes key;       /* NONE: no idempotency wanted */
	unsigned char hash[32]; /* of the request; a different one is ST_CONFLICT */
	struct bytes result;    /* stored with the key, returned on a repeat */
};

struct engine_commit {
	uint64_t version;    /* commit counter after the call */
	uint64_t documents;  /* written or deleted by it */
	uint64_t chunks;     /* written by it */
	bool repeated;       /* idempotency key seen before: nothing was written now, and
	                      * the numbers above are those of the first call */
	struct bytes result; /* repeated: the stored result, in the arena given */
};

/*
 * Replaces or adds all documents in one transaction, on disk before it returns:
 * all or none. The last of equal ids wins. ST_FULL: no room on disk, ST_IO: the
 * disk failed; nothing was changed, reads go on. ST_CANCELLED only before commit.
 */
enum status engine_add(struct engine *en, const struct engine_document *docs, size_t n,
	const struct engine_once *once, const struct engine_stop *stop, struct arena *arena,
	struct engine_commit *ret, struct error *e);
/* Deletes by document id; ids that are not there do not count. An empty delete
 * or one that finds nothing makes no commit. */
enum status engine_delete(struct engine *en, const struct bytes *ids, size_t n,
	const struct engine_stop *stop, struct engine_commit *ret, struct error *e);

/* ---- reading ---- */

/* A consistent state of the corpus; hold it for one request only. */
enum status engine_view_open(struct engine *en, const struct engine_stop *stop,
	struct engine_view **ret, struct error *e);
void engine_view_close(struct engine_view *v);             /* NULL is fine */
uint64_t engine_view_version(const struct engine_view *v); /* commit counter */
/* 16 hex digits drawn when the corpus was made; names it in indexVersion. */
const char *engine_corpus_id(const struct engine *en);

struct engine_stats {
	uint64_t documents, chunks, text_bytes, version;
};
/* Counts of what the view sees. */
enum status engine_view_stats(struct engine_view *v, struct engine_stats *ret, struct error *e);

/* Analysed query: see text/query.h. */
struct text_query;

struct engine_candidate {
	struct bytes doc_id; /* arena */
	int64_t key;         /* the chunk's row */
	uint32_t chunk;      /* number within the document, from 0 */
	double score;        /* BM25, >= 0, higher is better */
};

/* Best k chunks: score descending, then doc_id ascending, then chunk. Arrays are
 * in the arena. A query without terms gives none. */
enum status engine_recall(struct engine_view *v, const struct text_query *q, size_t k,
	struct arena *arena, struct engine_candidate **ret, size_t *ret_n, struct error *e);

enum engine_want { ENGINE_TEXT = 1, ENGINE_META = 2, ENGINE_CITATION = 4 };

struct engine_record {
	struct bytes doc_id;
	struct bytes text; /* the chunk's text */
	struct bytes meta; /* JSON text or NONE */
	struct bytes title, uri, source, lang;
	uint64_t cp_start, cp_end;     /* code points in the document's text */
	uint64_t byte_start, byte_end; /* UTF-8 bytes in it */
};

/* What `want` names (the rest is NONE), copied into the arena. */
enum status engine_fetch(struct engine_view *v, const struct engine_candidate *c, unsigned want,
	struct arena *arena, struct engine_record *ret, struct error *e);
/* A whole document by id: text, meta, citation fields. ST_NOT_FOUND. */
enum status engine_get(struct engine_view *v, struct bytes id, struct arena *arena,
	struct engine_record *ret, struct error *e);

#endif
