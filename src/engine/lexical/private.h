/*
 * engine/lexical/private.h: the index as a whole, and how its three kinds of threads
 * keep out of each other's way.
 *
 *   writer       lexical_add, _remove, _publish: one call at a time
 *   maintainer   lexical_maintain: one call at a time, beside the writer
 *   readers      lexical_view_get and all that takes a view: any number, no locks
 *
 * `lock` is held by each call of the writer, and by the maintainer only for the
 * moment in which it puts a finished part in the place of others. What the
 * maintainer reads meanwhile is immutable or append-only, as for readers.
 *
 * A view to be replaced may just be looked at by a reader that has not counted itself
 * yet. So lexical_view_get announces itself in `getting` before it reads `current`,
 * and a replaced view waits in `retired` until somebody who holds the lock sees
 * getting = 0: later readers find the new one. That moment comes soon, as getting
 * covers a few instructions only.
 */
#ifndef RCPD_ENGINE_LEXICAL_PRIVATE_H
#define RCPD_ENGINE_LEXICAL_PRIVATE_H

#include <pthread.h>
#include <stdatomic.h>

#include "engine/lexical/part.h"

struct lexical_view {
	_Atomic unsigned refs;
	struct lexical_view *next_retired;
	uint64_t commit;
	uint64_t chunks, deleted, total_length; /* living chunks, dead ones, their lengths */
	double k1, b;
	size_t count, cap;
	struct lex_slice slice[];
};

struct lexical {
	char *dir;
	double k1, b;
	size_t head_chunks;
	unsigned merge_factor;
	uint64_t identity; /* checksum of the corpus's */

	pthread_mutex_t lock;    /* guards what follows, up to the next comment */
	struct lex_part **parts; /* own references; the last one is the head */
	size_t count, cap;
	struct lexical_view *spare; /* made before it is needed: publishing cannot fail */
	struct lexical_view *retired;
	int64_t last_key;
	uint64_t unsealed;       /* adds and deletes since the last freeze */
	uint64_t unsealed_bytes; /* that the adds took, without tables */
	uint64_t frozen_commit;  /* at the last freeze */
	bool pending;            /* changes that are not published */
	bool freeze;             /* wanted at the next publish */

	struct lexical_view *_Atomic current;
	_Atomic unsigned getting;
	_Atomic uint64_t persisted;

	/*
	 * The maintainer's alone. Replaced parts keep the index's reference until no view
	 * has one: so it is the maintainer who unmaps and unlinks, which may take a while,
	 * and never a writer or reader who lets go of a view.
	 */
	struct lex_part *replaced;
	uint64_t next_id;     /* of segment files */
	uint64_t list_commit; /* as in the list on disk */
};

/* ---- view.c ---- */

/* An empty view with room for cap slices; NULL when out of memory. */
struct lexical_view *lex_view_new(size_t cap);
/* Fills a new view; takes references to the slices' parts. */
void lex_view_fill(struct lexical_view *v, const struct lexical *lx, uint64_t commit);
void lex_view_add(struct lexical_view *v, struct lex_slice slice);
/* Under the lock: makes v (taken) the current view. */
void lex_view_publish(struct lexical *lx, struct lexical_view *v);
/* Under the lock: lets go of replaced views that nobody is about to take. */
void lex_view_trim(struct lexical *lx);

/* ---- lexical.c ---- */

/* Under the lock: makes sure that there is a spare view and room in parts for one
 * more part. False when out of memory. */
bool lex_make_room(struct lexical *lx);

/* ---- list.c ---- */

/* One segment of the list. */
struct lex_entry {
	struct lex_segment *seg;
	struct lex_base *base;
	uint64_t commit;
};
/* Replaces the list on disk. */
enum status lex_list_write(struct lexical *lx, const struct lex_entry *entries, size_t n,
	uint64_t commit, struct error *e);
/* Reads the list and opens its segments, up to the first that is not good; appends
 * them to lx->parts and sets next_id, list_commit. Never fails for what is on disk:
 * ST_NOMEM or ST_IO for the folder itself. */
enum status lex_list_read(struct lexical *lx, struct error *e);
/* Removes files of ours that are not in lx->parts. */
void lex_list_sweep(const struct lexical *lx);

/* ---- replace.c ---- */

/*
 * Writes the slices [first, first + n) of a view (segments or heads, neighbours) into
 * one new segment without what is dead in the view, puts it into the list and in
 * their place. The list says `commit`. between is called now and then on the way.
 */
enum status lex_replace(struct lexical *lx, struct lexical_view *v, size_t first, size_t n,
	uint64_t commit, const bool *stop, void (*between)(struct lexical *lx), struct error *e);

/* ---- merge.c ---- */

/* Writes the living chunks of n slices into one file; *ret stays NULL if there are
 * none. maps[i][ord] (allocated by the callee with mem_alloc, freed by the caller in
 * any case) is the new ordinal, UINT32_MAX if dead. */
enum status lex_merge(struct lexical *lx, const struct lex_slice *slices, size_t n, uint32_t **maps,
	const bool *stop, void (*between)(struct lexical *lx), struct lex_segment **ret,
	struct error *e);

/* ---- base.c ---- */

/* A slice's dead chunks as a base of their own; NULL in *ret if none is dead. */
enum status lex_base_make(const struct lex_slice *s, struct lex_base **ret, struct error *e);

#endif
