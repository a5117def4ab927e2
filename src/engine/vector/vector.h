/*
 * engine/vector/vector.h: vectors under row keys in, nearest keys by cosine out. It
 * knows no text, no SQLite and no model: the engine feeds it vectors under chunk keys
 * that only grow, and tells it what died. All vectors of one index are of one space.
 *
 * One writer at a time (the engine's leader), one maintainer beside it, any number of
 * readers, which never lock. A view is an immutable, reference-counted state:
 *
 *   view ─▶ segment files (immutable, mmapped, checksummed) + which keys of each are dead
 *        └▶ head (append-only, in memory)
 *
 * What is kept of a vector: it is brought to unit length and rounded to 16 bits a
 * component (x 32767: by Cauchy and Schwarz no dot product leaves 31 bits), and to 8
 * bits with a scale of its own for scanning. Scanning finds candidates by the 8-bit
 * dot products, and the best of them are scored again by the 16-bit ones. All sums are
 * of whole numbers: the same bits on every processor, in every order.
 *
 * A segment is either flat (scanned as a whole) or has inverted lists (k-means, Lloyd
 * 1982; inverted files: Jegou, Douze, Schmid 2011, "Product Quantization for Nearest
 * Neighbor Search") of which a search looks at the nearest. What a search of lists
 * finds depends on how they were made; so a new set of lists changes answers, and comes
 * into views only with a commit of its own: see vectors_pending. Flat segments and the
 * head never change answers, however they are cut and merged.
 */
#ifndef RCPD_ENGINE_VECTOR_VECTOR_H
#define RCPD_ENGINE_VECTOR_VECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/arena.h"
#include "util/bytes.h"
#include "util/status.h"

struct vectors;
struct vectors_view;

#define VECTORS_MAX_DIMENSION 4096

struct vectors_options {
	const char *dir;       /* for its files and their list; must exist; nobody else's */
	struct bytes identity; /* of the space and the corpus: files of another are dropped */
	size_t dimension;      /* 1..VECTORS_MAX_DIMENSION */
	size_t head_vectors;   /* the head is written to a file at so many; 0: 16,384 */
	size_t exact_most;     /* up to so many in all no lists are made; 0: the measured best */
	uint64_t seed;         /* of k-means; the same vectors and seed give the same lists */
};

/*
 * Opens what files there are. *ret_commit is the newest commit that they hold in full;
 * the engine replays later ones. Files that are missing, torn or foreign are dropped,
 * in doubt all of them (then *ret_commit is 0). Replaying what is in the files already
 * does no harm. ST_NOMEM, ST_IO, ST_FULL.
 */
enum status vectors_open(const struct vectors_options *opt, struct vectors **ret,
	uint64_t *ret_commit, struct error *e);
void vectors_close(struct vectors *vs); /* all views released before; NULL is fine */

/*
 * Changes of one commit; visible to views taken after vectors_publish. A call that fails
 * has changed nothing. key is greater than every earlier one (not every key has a
 * vector). ST_INVALID: not finite, or all zero; ST_NOMEM.
 */
enum status vectors_add(struct vectors *vs, int64_t key, const float *values, struct error *e);
/* A key that is not there is no error. */
enum status vectors_remove(struct vectors *vs, int64_t key, struct error *e);
/* Makes a view of all changes, and of lists that were waiting (pending) if commit is
 * greater than that of the view before. Without memory: visible with the next one. */
void vectors_publish(struct vectors *vs, uint64_t commit);

/*
 * Writes a full head to a file, merges flat segments, makes lists: one such step a call,
 * on one thread beside the writer, which is held up for the moment of a swap only. True
 * if there is more to do. Also frees what no view has any more. After a failure e->code
 * is set (clear it before) and nothing is lost. stop ends it early, in the midst of
 * k-means too.
 */
bool vectors_maintain(struct vectors *vs, const bool *stop, struct error *e);
/* The first of these steps alone: writes the oldest full head to a file, if there is one;
 * never makes lists. On the maintainer's thread. False: it could not (e may be NULL). */
bool vectors_seal(struct vectors *vs, struct error *e);
/* Lists are made and wait for a commit to become visible with: the engine makes an empty
 * one. After a crash before that they may be forgotten and made again. Any thread. */
bool vectors_pending(const struct vectors *vs);
/* From now (or the next publish) the head counts as full. For a clean end. */
void vectors_freeze(struct vectors *vs);
/* What heads take in memory that are in files by now, because views hold them. The
 * maintainer's. */
size_t vectors_held_bytes(struct vectors *vs);
/* The greatest key that was ever added (and kept by the files), INT64_MIN if none. */
int64_t vectors_last_key(const struct vectors *vs);
/* All commits up to it are in the files: what vectors_open would give now. Any thread. */
uint64_t vectors_persisted_commit(const struct vectors *vs);

/* The newest; new reference. Any thread, without a lock but for the pointer's. */
struct vectors_view *vectors_view_get(struct vectors *vs);
struct vectors_view *vectors_view_ref(struct vectors_view *v);
void vectors_view_unref(struct vectors_view *v);
uint64_t vectors_view_commit(const struct vectors_view *v);

struct vectors_stats {
	uint64_t vectors;                               /* living */
	uint64_t segments, lists, head_vectors, listed; /* listed: vectors in lists */
	uint64_t file_bytes, memory_bytes;              /* memory: of the heap, no mmap */
};
void vectors_view_stats(const struct vectors_view *v, struct vectors_stats *ret);

/* Which keys may be returned: bit (key - base) set means allowed. */
struct vectors_filter {
	const uint64_t *bits;
	int64_t base;
	size_t count;     /* bits */
	uint64_t passing; /* bits that are set: how strong the filter is, for the planner */
};

struct vectors_hit {
	int64_t key;
	double score; /* cosine, -1..1 */
};

struct vectors_query {
	const float *values; /* dimension of them; need not be of unit length */
	size_t k;
	const struct vectors_filter *filter; /* NULL: all */
	bool exact;                          /* scan everything: the reference */
	double effort; /* how many lists: 1 (or 0) is the default, 2 twice as many… */
	bool (*stop)(void *arg);
	void *stop_arg;
};

/*
 * The nearest k: score descending, then key ascending; up to k + 64 if further ones
 * have the same score as the k-th, so that the caller can break ties by other means.
 * k come back whenever k pass the filter. With a filter never slower than scanning
 * what passes. ST_INVALID: a query that is zero or not finite; ST_CANCELLED; ST_NOMEM.
 */
enum status vectors_search(const struct vectors_view *v, const struct vectors_query *q,
	struct arena *arena, struct vectors_hit **ret, size_t *ret_n, struct error *e);
/* Cosines of the query with the vectors of keys, in their order; NAN where a key has
 * none. The same bits that vectors_search gives. */
enum status vectors_score(const struct vectors_view *v, const float *query, const int64_t *keys,
	size_t n, double *ret, struct error *e);
/* What is kept under key, of unit length. False: nothing. */
bool vectors_get(const struct vectors_view *v, int64_t key, float *ret);

#endif
