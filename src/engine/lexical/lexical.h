/*
 * engine/lexical/lexical.h: the inverted index: chunks as bags of terms in,
 * BM25-ranked chunks out. It knows no text, no SQLite and no documents: the engine
 * feeds it analysed chunks under row keys that only grow, and tells it what died.
 *
 * One writer at a time (the engine's commit lock); any number of readers, which
 * never lock. A view is an immutable, reference-counted state:
 *
 *   view ─▶ segment files (immutable, mmapped) + for each: how many deletes it sees
 *        └▶ head (append-only, in memory)      + how many chunks and deletes it sees
 *
 * Scores depend on the live chunks alone (document frequency, count and average
 * length are exact for the view), never on segments, order of writes or merges.
 */
#ifndef RCPD_ENGINE_LEXICAL_LEXICAL_H
#define RCPD_ENGINE_LEXICAL_LEXICAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/arena.h"
#include "util/bytes.h"
#include "util/status.h"

struct lexical;
struct lexical_view;

#define LEXICAL_MAX_TERM 4096 /* bytes of a term, at least 1 */
#define LEXICAL_MAX_QUERY 512 /* terms of a query */

struct lexical_options {
	const char *dir;    /* for segment files and their list; must exist */
	double k1, b;       /* BM25 (Robertson and Zaragoza, 2009): 1.2, 0.75 */
	size_t head_chunks; /* seal the head at so many chunks, default 16384 */
	/* Segments of like size that are merged, default 4: a million chunks are then in
	 * some 7 files instead of 12 with 8, searches a fifth faster and files smaller,
	 * and building took no longer. */
	unsigned merge_factor;
	/* Of the corpus, any bytes: files that were made for another one are dropped.
	 * Whoever restores a corpus from a backup gives it a new one. */
	struct bytes identity;
};

/*
 * Opens what segment files there are. *ret_commit is the newest commit they hold
 * in full: the engine replays later ones. Files that are missing, torn or foreign
 * are dropped, in doubt all of them (then *ret_commit is 0). Replay takes the chunks
 * that live now and were added later, and the removals that came later; what of these
 * is in the files already does no harm.
 */
enum status lexical_open(const struct lexical_options *opt, struct lexical **ret,
	uint64_t *ret_commit, struct error *e);
void lexical_close(struct lexical *lx); /* all views released before */

/* One chunk as a bag of distinct terms. */
struct lexical_term {
	struct bytes term;
	uint32_t tf; /* >= 1; the engine counts title terms with their weight */
};
struct lexical_chunk {
	int64_t key;         /* row key: greater than every earlier one */
	struct bytes doc_id; /* for ties */
	uint32_t no;         /* chunk number within the document */
	uint32_t length;     /* terms in it, with weights */
	const struct lexical_term *terms;
	size_t term_count;
};

/*
 * Changes of one commit; visible to views taken after lexical_publish. One call at a
 * time. A call that fails (ST_NOMEM, ST_INVALID) has changed nothing.
 */
enum status lexical_add(struct lexical *lx, const struct lexical_chunk *chunk, struct error *e);
/* The terms are those it was added with: they leave the document frequencies. A key
 * that is not there (any more) is no error, so that commits can be replayed. */
enum status lexical_remove(struct lexical *lx, int64_t key, const struct lexical_term *terms,
	size_t term_count, struct error *e);
/* Cannot fail; if memory is so short that no view can be made, the changes become
 * visible with the next one. */
void lexical_publish(struct lexical *lx, uint64_t commit);

/*
 * Writes a full head to a segment file, or merges segments, one such step a call; on
 * a background thread of the engine (one at a time) beside writers and readers,
 * which it holds up for the moment of a swap only. True if there is more to do. Also
 * frees what was replaced and is in no view any more, files too.
 * After a failure e->code is set (clear it before) and nothing is lost: the next call
 * tries again. stop ends it early.
 */
bool lexical_maintain(struct lexical *lx, const bool *stop, struct error *e);
/* From now (or from the next publish, if a commit is open) the head counts as full:
 * maintaining writes all there is to disk. For a clean end and for backups. */
void lexical_freeze(struct lexical *lx);
/* The head's terms take 64 MiB: the next publish freezes it, however few chunks it has. */
bool lexical_heavy(struct lexical *lx);
/* The greatest row key that was ever added (and kept by the files), INT64_MIN if none:
 * where adding goes on. The writer's. */
int64_t lexical_last_key(const struct lexical *lx);
/* What heads take in memory that are on disk by now, because views hold them. The
 * maintainer's. */
size_t lexical_held_bytes(const struct lexical *lx);
/* All commits up to it are in the files: what lexical_open would give now. What was
 * needed to replay them can go. Any thread. */
uint64_t lexical_persisted_commit(const struct lexical *lx);

/* The newest; new reference. Any thread, without a lock. */
struct lexical_view *lexical_view_get(struct lexical *lx);
struct lexical_view *lexical_view_ref(struct lexical_view *v);
void lexical_view_unref(struct lexical_view *v);
uint64_t lexical_view_commit(const struct lexical_view *v);

struct lexical_stats {
	uint64_t chunks, deleted, segments, head_chunks, file_bytes, total_length;
};
/* chunks: living ones; head_chunks: in memory, dead ones too. Of what the view sees. */
void lexical_view_stats(const struct lexical_view *v, struct lexical_stats *ret);

struct lexical_hit {
	int64_t key;
	struct bytes doc_id; /* borrowed from the view */
	uint32_t no;
	double score;
};

/* Which chunks may be returned: NULL allows all. */
struct lexical_filter {
	/* A bitmap over row keys: bit (key - base) set means allowed. */
	const uint64_t *bits;
	int64_t base;
	size_t count; /* bits */
};

struct lexical_query {
	const struct bytes *terms; /* in order; a term that stands twice counts twice */
	size_t term_count;
	size_t k;
	const struct lexical_filter *filter;
	bool exhaustive; /* score everything: the reference for tests and bench */
	bool (*stop)(void *arg);
	void *stop_arg;
};

/* The best k: score descending, doc_id ascending, chunk ascending; exact: what
 * exhaustive gives, bit for bit. ST_CANCELLED if stop said so. */
enum status lexical_search(const struct lexical_view *v, const struct lexical_query *q,
	struct arena *arena, struct lexical_hit **ret, size_t *ret_n, struct error *e);
/* Chunks that hold the term in this view. */
uint64_t lexical_document_frequency(const struct lexical_view *v, struct bytes term);
/* ln(1 + (n - df + 0.5) / (df + 0.5)), the weight of a term that df of n chunks hold. */
double lexical_idf(uint64_t chunks, uint64_t df);

/* What BM25 makes of a term that a chunk of that length holds tf times, without the idf:
 * times lexical_idf it is the term's part of the score. */
double lexical_weight(const struct lexical_view *v, uint32_t tf, uint32_t length);

/* Whose the living chunk of that key is; borrowed from the view. False: none lives. */
bool lexical_find(const struct lexical_view *v, int64_t key, struct bytes *ret_doc_id,
	uint32_t *ret_no);
/* The keys of living chunks, ascending: every step-th, beginning with the first. fn
 * returning false ends it. */
void lexical_each_key(const struct lexical_view *v, uint64_t step,
	bool (*fn)(void *arg, int64_t key), void *arg);

struct lexical_listing {
	size_t k;
	const struct lexical_filter *filter; /* not NULL */
	const int64_t *skip;                 /* keys in ascending order that are left out */
	size_t skip_count;
	bool (*stop)(void *arg);
	void *stop_arg;
};

/* The first k living chunks that pass the filter, by doc_id, then chunk number, with
 * score 0. Looks at each that passes. */
enum status lexical_list(const struct lexical_view *v, const struct lexical_listing *l,
	struct arena *arena, struct lexical_hit **ret, size_t *ret_n, struct error *e);

#endif
