/*
 * engine/engine.h: documents in, ranked chunks out. The rows in SQLite are the only
 * truth; the inverted index (lexical/) and the filter columns (filter/) are derived
 * from them and can be deleted. It knows no JSON, no HTTP and no model: texts, typed
 * values and offsets come in, rows and scores go out.
 *
 *   engine_add ─▶ analyse ─▶ queue ─▶ one SQLite transaction for all who wait
 *                                       └▶ index and columns ─▶ a new view
 *
 * A view is an immutable state of the corpus, named by its commit number; any number
 * may be open, and none of them holds up a writer. Rows are never changed in place:
 * a document that is replaced or deleted dies at a commit and is swept away once no
 * view can see it.
 *
 * Threads: everything may be called from any number of threads. A view belongs to the
 * thread that uses it at a time.
 */
#ifndef RCPD_ENGINE_ENGINE_H
#define RCPD_ENGINE_ENGINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "text/analyze.h"
#include "text/chunk.h"
#include "util/arena.h"
#include "util/bytes.h"
#include "util/status.h"

struct engine;
struct engine_view;
struct engine_encoder;

/* Asked now and then during long work; true: stop, ST_CANCELLED is returned. fn may be
 * called on another thread than the caller's while the call is being made. */
struct engine_stop {
	bool (*fn)(void *arg);
	void *arg;
};

/* ---- fields: what of a document's meta can be filtered by (F2) ---- */

enum engine_type {
	ENGINE_KEYWORD, /* a string that is compared as a whole */
	ENGINE_PROSE,   /* a string that is searched for substrings ("text" on the wire) */
	ENGINE_INT,
	ENGINE_FLOAT,
	ENGINE_BOOL,
	ENGINE_DATE, /* milliseconds since the Unix epoch */
};
#define ENGINE_TYPE_COUNT 6

/* A field's name on the wire: "keyword", "text", "int", "float", "bool", "date". */
const char *engine_type_name(enum engine_type type);
/* False if name is none of them. */
bool engine_type_parse(struct bytes name, enum engine_type *ret);

#define ENGINE_MAX_FIELD_NAME 256 /* bytes, at least 1 */
#define ENGINE_MAX_KEYWORD 4096   /* bytes of a string that filters can see */

struct engine_declared {
	struct bytes name;
	enum engine_type type;
};

/* One value of a document's meta as JSON has it; the field's type decides what becomes
 * of it. An array is several values of one field that follow one another. */
enum engine_kind { ENGINE_V_STRING, ENGINE_V_INT, ENGINE_V_REAL, ENGINE_V_BOOL };

struct engine_value {
	struct bytes field;
	enum engine_kind kind;
	bool element;   /* of an array */
	int64_t i;      /* INT; BOOL: 0 or 1 */
	double r;       /* REAL, finite */
	struct bytes s; /* STRING, UTF-8 */
};

struct engine_options {
	const char *dir;  /* must exist; rcpd.db and the folder index are made inside */
	unsigned readers; /* read connections kept, >= 1 */

	enum text_lang language; /* of texts whose language nobody tells; NONE: guessed alone */
	double k1, b;            /* BM25; k1 = 0: the defaults 1.2 and 0.75 */
	size_t head_chunks;      /* the index's part in memory; 0: 16,384. Small ones for tests */
	size_t held_bytes;       /* of old heads that kept states may hold; 0: 160 MiB */
	unsigned snapshot_ttl_s; /* how long a view lives on after its last use */
	size_t max_snapshots;    /* how many may */
	size_t max_fields;       /* fields kept, declared ones included; later ones are not */
	const struct engine_declared *declared;
	size_t declared_count;
	/* For corpora whose rows are older than filters: the values of a meta (JSON text),
	 * as engine_document wants them, in the arena. NULL: they stay without. */
	enum status (*values)(struct bytes meta, struct arena *arena, struct engine_value **ret,
		size_t *ret_n);
	/* Where vectors come from (dense.h); copied. NULL: there are none. */
	const struct engine_encoder *encoder;
};

/*
 * Opens or creates the corpus; runs migrations; brings index and columns up to the
 * rows, which takes long if the index has to be made anew (logged with progress).
 * ST_LOCKED: another process has it; ST_FUTURE: made by a newer version (file
 * untouched); ST_CORRUPT; ST_IO. Takes the folder's lock until close.
 */
enum status engine_open(const struct engine_options *opt, struct engine **ret, struct error *e);
void engine_close(struct engine *en); /* all views closed before; NULL is fine */

/* ---- writing ---- */

#define ENGINE_MAX_ID 1024       /* bytes of a document id (D36) */
#define ENGINE_MAX_CHUNKS 100000 /* of one document */

/* A stretch of the document's text, which the citation names. */
struct engine_chunk {
	uint64_t byte_start, byte_end; /* start < end, on character boundaries */
	struct bytes context;          /* path of headings, NONE if none */
};

struct engine_document {
	struct bytes id;   /* 1..ENGINE_MAX_ID bytes, any content */
	struct bytes text; /* valid UTF-8, NULs allowed */
	struct bytes meta; /* JSON text of an object, stored and returned as it is; may be NONE */
	struct bytes title, uri, source, lang; /* D45; NONE when not given */
	enum text_format format;               /* decides what of the text is indexed */
	/* In order of their start; they may overlap. None: the whole text is one. */
	const struct engine_chunk *chunks;
	size_t chunk_count;
	bool contextual; /* contexts are indexed with their chunks */
	const struct engine_value *values;
	size_t value_count;
	/* Of a stored space (dense.h): one row of its dimension a chunk (one if chunk_count
	 * is 0), and its number. NULL: none. Rows that are all zero: that chunk has none. */
	const float *vectors;
	uint64_t space;
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
 * Replaces or adds all documents, all or none, on disk before it returns and visible
 * in views opened from then on (when memory is too short for that, a moment later). Calls that wait at the same time share one transaction
 * and one commit number. The last of equal ids wins. ST_INVALID with the field
 * documents[i].…: a value that contradicts a declared field (D37). ST_FULL: no room on
 * disk, ST_IO: the disk failed; nothing was changed, reads go on. ST_CANCELLED only
 * before commit.
 */
enum status engine_add(struct engine *en, const struct engine_document *docs, size_t n,
	const struct engine_once *once, const struct engine_stop *stop, struct arena *arena,
	struct engine_commit *ret, struct error *e);
/* Deletes by document id; ids that are not there do not count. An empty delete
 * or one that finds nothing makes no commit. */
enum status engine_delete(struct engine *en, const struct bytes *ids, size_t n,
	const struct engine_stop *stop, struct engine_commit *ret, struct error *e);

struct engine_filter;
/* Deletes the documents that pass the filter when its turn comes, all in one commit. */
enum status engine_delete_where(struct engine *en, const struct engine_filter *filter,
	const struct engine_stop *stop, struct engine_commit *ret, struct error *e);

/* ---- reading ---- */

/* The newest state of the corpus. */
enum status engine_view_open(struct engine *en, const struct engine_stop *stop,
	struct engine_view **ret, struct error *e);
/* The state after that commit, if it is kept: else ST_GONE. */
enum status engine_view_open_at(struct engine *en, uint64_t version, const struct engine_stop *stop,
	struct engine_view **ret, struct error *e);
/* Keeps the view's state for snapshot_ttl_s from now, so that engine_view_open_at finds
 * it (R9, R10). Of more than max_snapshots those unused for longest go. Cannot fail;
 * if memory is short it is not kept. */
void engine_view_keep(struct engine_view *v);
void engine_view_close(struct engine_view *v);             /* NULL is fine */
uint64_t engine_view_version(const struct engine_view *v); /* commit counter */
/* When that commit was made, by the wall clock. 0: nothing was ever written. */
int64_t engine_view_time_ms(const struct engine_view *v);
/* 16 hex digits drawn when the corpus was made; names it in indexVersion. */
const char *engine_corpus_id(const struct engine *en);
/* 32 bytes that only this corpus knows, for signing cursors. */
const unsigned char *engine_secret(const struct engine *en);

struct engine_stats {
	uint64_t documents, chunks, text_bytes, version;
	uint64_t contradictions; /* values that do not suit their field's type (D37) */
	uint64_t unfielded;      /* values of fields beyond max_fields or with longer names */
};
/* Counts of what the view sees; the last two of all that was ever loaded. */
enum status engine_view_stats(struct engine_view *v, struct engine_stats *ret, struct error *e);

struct engine_field {
	struct bytes name; /* lives as long as the engine */
	enum engine_type type;
	bool declared;
};
/*
 * Fields have numbers in the order in which they were found; the list only grows
 * (D42). engine_field_count is how many there are now.
 */
size_t engine_field_count(struct engine *en);
void engine_field_at(struct engine *en, size_t i, struct engine_field *ret); /* i < count */
bool engine_field_find(struct engine *en, struct bytes name, size_t *ret);

/* ---- filters ---- */

enum engine_op {
	ENGINE_EQ,
	ENGINE_NE,
	ENGINE_GT,
	ENGINE_GTE,
	ENGINE_LT,
	ENGINE_LTE,
	ENGINE_IN,
	ENGINE_NIN,
	ENGINE_CONTAINS,
	ENGINE_EXISTS,
};

/* A value in the field's type: i for INT, DATE and BOOL, r for FLOAT, s for strings. */
struct engine_scalar {
	int64_t i;
	double r;
	struct bytes s;
};

/*
 * A tree (F1). Two-valued logic (D27): NE and NIN are the negations of EQ and IN and so
 * true where the field is missing; the ordered operators are false there; a leaf is
 * true if any element of an array makes it so. CONTAINS: a substring of a value that
 * is no element, an element as a whole (KEYWORD), a substring of any value (PROSE).
 * EXISTS takes i = 0 or 1. Which operator suits which type: engine_op_suits.
 */
struct engine_filter {
	enum engine_filter_kind { ENGINE_AND, ENGINE_OR, ENGINE_NOT, ENGINE_LEAF } kind;
	struct engine_filter *children; /* AND, OR: at least one; NOT: one */
	size_t count;
	size_t field; /* its number; LEAF from here on */
	enum engine_op op;
	struct engine_scalar *values; /* IN, NIN: several; else one */
	size_t value_count;
};

#define ENGINE_FILTER_DEPTH 32 /* nesting of a tree, its root being 1 */

/* EQ, NE, IN, NIN and EXISTS suit every type, the ordered ones INT, FLOAT and DATE,
 * CONTAINS KEYWORD and PROSE. */
bool engine_op_suits(enum engine_op op, enum engine_type type);

/* A filter made ready for one view: which chunks pass. In the arena given. */
struct engine_pass;
enum status engine_filter_compile(struct engine_view *v, const struct engine_filter *filter,
	struct arena *arena, struct engine_pass **ret, struct error *e);

/* ---- recall ---- */

#define ENGINE_MAX_TERMS 512 /* of a query; what goes beyond is dropped */

/* The words of a query in this view: analysed in the language of the query if that is
 * one of the corpus's, else in that of most documents. */
struct engine_query {
	struct bytes *terms; /* in order, stop words dropped, repeated where repeated */
	size_t n;
	bool only_stop_words; /* there were words, all of them function words */
	bool truncated;
	double bound; /* no chunk of this view can score more: for judging scores */
};
enum status engine_analyze(struct engine_view *v, struct bytes text, struct arena *arena,
	struct engine_query *ret, struct error *e);

struct engine_candidate {
	struct bytes doc_id; /* lives as long as the view */
	int64_t key;         /* the chunk's row */
	uint32_t chunk;      /* number within the document, from 0 */
	double score;        /* BM25, >= 0, higher is better */
};

/*
 * Best k chunks that pass (pass NULL: of all): score descending, then doc_id
 * ascending, then chunk; exact. The array is in the arena. A query without terms gives
 * none.
 */
enum status engine_recall(struct engine_view *v, const struct engine_query *q, size_t k,
	const struct engine_pass *pass, struct arena *arena, struct engine_candidate **ret,
	size_t *ret_n, struct error *e);
/*
 * The first k chunks that pass, by doc_id, then chunk, with score 0, without those in
 * skip (sorted or not): what fills up the hits of a filtered query (F4). k is small.
 */
enum status engine_list(struct engine_view *v, const struct engine_pass *pass, size_t k,
	const struct engine_candidate *skip, size_t skip_n, struct arena *arena,
	struct engine_candidate **ret, size_t *ret_n, struct error *e);
/* The instant of a chunk's document under a DATE or INT field; false if it has none.
 * The latest of several. */
bool engine_instant(struct engine_view *v, size_t field, int64_t key, int64_t *ret_ms);

enum engine_want { ENGINE_TEXT = 1, ENGINE_META = 2, ENGINE_CITATION = 4, ENGINE_WHOLE = 8 };

struct engine_record {
	struct bytes doc_id;
	struct bytes text; /* the chunk's text; with ENGINE_WHOLE its document's */
	struct bytes meta; /* JSON text or NONE */
	struct bytes title, uri, source, lang;
	struct bytes context;          /* path of headings or NONE */
	uint64_t cp_start, cp_end;     /* code points in the document's text */
	uint64_t byte_start, byte_end; /* UTF-8 bytes in it */
};

/* What `want` names (the rest is NONE), copied into the arena. ENGINE_WHOLE: the text
 * and offsets are the whole document's. */
enum status engine_fetch(struct engine_view *v, const struct engine_candidate *c, unsigned want,
	struct arena *arena, struct engine_record *ret, struct error *e);
/* A whole document by id: text, meta, citation fields. ST_NOT_FOUND. */
enum status engine_get(struct engine_view *v, struct bytes id, struct arena *arena,
	struct engine_record *ret, struct error *e);

#endif
