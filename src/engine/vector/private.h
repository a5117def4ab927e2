/*
 * engine/vector/private.h: the index as a whole, and how its three kinds of threads keep
 * out of each other's way.
 *
 *   writer       vectors_add, _remove, _publish: one call at a time
 *   maintainer   vectors_maintain: one call at a time, beside the writer
 *   readers      vectors_view_get and all that takes a view: any number, no locks
 *
 * `lock` is held by each call of the writer, and by the maintainer for moments. What the
 * maintainer reads meanwhile is immutable or append-only, as for readers. `files` is held
 * by whoever replaces the list on disk and then the parts: the maintainer for flat files,
 * the writer (who only tries to get it) for lists that waited. It is taken before `lock`
 * by the maintainer, and never waited for under it.
 *
 * A view to be replaced may just be looked at by a reader that has not counted itself
 * yet: see engine/lexical/private.h for how `getting` and `retired` take care of that.
 */
#ifndef RCPD_ENGINE_VECTOR_PRIVATE_H
#define RCPD_ENGINE_VECTOR_PRIVATE_H

#include <pthread.h>

#include "engine/vector/part.h"
#include "engine/vector/vector.h"

struct vectors_view {
	_Atomic unsigned refs;
	struct vectors_view *next_retired;
	uint64_t commit, seen; /* deletes up to number `seen` */
	uint64_t living;
	size_t dimension;
	size_t count, cap;
	struct vec_slice slice[];
};

/* Neighbouring parts that one new one takes the place of. */
struct vec_change {
	size_t n;
	struct vec_part **old; /* own references */
	uint32_t **map;        /* for each: row to new row, UINT32_MAX: not kept */
	struct vec_part *new;  /* own reference; NULL: nothing lived */
};

struct vectors {
	char *dir;
	size_t dimension, head_vectors, exact_most;
	uint64_t seed, identity; /* identity: checksum of the corpus's and space's */

	pthread_mutex_t files;
	pthread_mutex_t lock;    /* guards what follows, up to the next comment */
	struct vec_part **parts; /* own references; the last one is the head */
	size_t count, cap;
	struct vectors_view *spare; /* made before it is needed */
	struct vectors_view *retired;
	struct vec_change *pending; /* lists that wait for a commit */
	struct vec_part *replaced;  /* until no view has them; the maintainer frees them */
	uint64_t serial;            /* of the last delete */
	uint64_t unsealed;          /* adds and deletes since the last freeze */
	int64_t kept_key;           /* greatest of the files that were opened */
	uint64_t frozen_commit;     /* at the last freeze */
	bool changed;               /* changes that are not published */
	bool freeze;                /* wanted at the next publish */

	struct vectors_view *_Atomic current;
	_Atomic unsigned getting;
	_Atomic uint64_t persisted;
	_Atomic int64_t last_key;
	_Atomic bool is_pending;

	_Atomic uint64_t next_id; /* of files */

	/* As in the list on disk; under `files`. */
	uint64_t list_commit;
	int64_t list_key; /* all keys up to it are in files, or dead */
};

/* ---- view.c ---- */

struct vectors_view *vec_view_new(size_t cap); /* NULL when out of memory */
/* Takes a reference to the slice's part; there is room. */
void vec_view_add(struct vectors_view *v, struct vec_slice slice);
/* Under the lock: makes v (taken) the current view. */
void vec_view_publish(struct vectors *vs, struct vectors_view *v);
/* Under the lock: lets go of replaced views that nobody is about to take. */
void vec_view_trim(struct vectors *vs);

/* ---- vectors.c ---- */

/* Under the lock: makes sure that there is a spare view, and room for one more part.
 * False when out of memory. */
bool vec_make_room(struct vectors *vs);

/* ---- list.c ---- */

/* What a list says, but for the segments. */
struct vec_list {
	uint64_t seen; /* deletes up to this number are in it */
	uint64_t commit;
	int64_t key;
};
/* Under `files`: replaces the list on disk: of these parts the segments. */
enum status vec_list_write(struct vectors *vs, struct vec_part *const *parts, size_t n,
	const struct vec_list *list, struct error *e);
/* Reads the list and opens its segments, up to the first that is not good; appends them
 * to vs->parts and sets next_id, list_commit, last_key. Never fails for what is on disk:
 * ST_NOMEM or ST_IO for the folder itself. */
enum status vec_list_read(struct vectors *vs, struct error *e);
/* Removes files of ours that are not in vs->parts. */
void vec_list_sweep(const struct vectors *vs);

/* ---- write.c ---- */

/* A row of the part number `part` among some. */
struct vec_ref {
	uint32_t part, row;
};
/* Lists for a file: rows start..start + 1 of the references are list i's. */
struct vec_lists {
	uint32_t count;
	const uint32_t *starts;
	const int8_t *centres;
	const struct vec_scale *steps;
};
/* Writes rows into a new file and opens it. lists is NULL for a flat one. */
enum status vec_segment_write(struct vectors *vs, struct vec_part *const *parts,
	const struct vec_ref *refs, size_t n, const struct vec_lists *lists, const bool *stop,
	struct vec_segment **ret, struct error *e);

/* ---- change.c ---- */

/* The living rows of n slices of a view, in the order of their keys; mem_free. */
enum status vec_collect(const struct vectors_view *v, size_t first, size_t n, struct vec_ref **ret,
	size_t *ret_n, struct error *e);
/* A change of these slices into rows in the order of refs. */
enum status vec_change_new(struct vectors *vs, const struct vectors_view *v, size_t first, size_t n,
	const struct vec_ref *refs, size_t count, const struct vec_lists *lists, const bool *stop,
	struct vec_change **ret, struct error *e);
/* Lets go of it; drop: the new part's file is in no list, and goes. NULL is fine. */
void vec_change_free(struct vec_change *c, bool drop);
/* The maintainer: writes the list and swaps. commit: of a head that gets its file, 0 for
 * other changes, with which the list says the same commit as before. */
enum status vec_change_install(struct vectors *vs, struct vec_change *c, uint64_t commit,
	struct error *e);
/* Under the lock, with room made: writes the list with the waiting change and swaps the
 * parts; the caller publishes. False: not this time. */
bool vec_change_enter(struct vectors *vs);

/* ---- maintain.c ---- */

/* Writes full heads to files, as many as there are; between the steps of long work. What
 * fails is met again later. */
void vec_seal_heads(struct vectors *vs);

/* ---- lists.c ---- */

/* Makes lists of the first n slices (flat if few live) and lets them wait. */
enum status vec_lists_make(struct vectors *vs, const struct vectors_view *v, size_t n,
	const bool *stop, struct error *e);

#endif
