/*
 * engine/vector/part.h: what a view is made of: segments, then frozen heads, then the
 * head being written, in the order of their keys; and what is dead in each.
 *
 * Deletes have serial numbers that grow over the whole index. Each row has a mark: the
 * number of its delete, 0 while it lives. A view remembers the last number that it sees,
 * so it needs no copy of anything: a row lives in it if its mark is 0 or higher. Rows that
 * were dead when a segment was opened are in a bitmap, dead for everybody. A part that
 * takes the place of others gets their later marks with the same numbers.
 *
 * "Writer" means whoever holds the index's lock (private.h).
 */
#ifndef RCPD_ENGINE_VECTOR_PART_H
#define RCPD_ENGINE_VECTOR_PART_H

#include "engine/vector/segment.h"

#define VEC_BLOCK 256U /* rows of a head that are allocated, and scanned, together */

struct vec_block {
	int64_t keys[VEC_BLOCK];
	_Atomic uint64_t marks[VEC_BLOCK];
	struct vec_scale scales[VEC_BLOCK];
	int8_t *small;
	int16_t *wide;
};

/* A head's blocks; replaced by a copy of twice the size when full. */
struct vec_blocks {
	struct vec_blocks *older;
	size_t cap;
	struct vec_block *at[];
};

struct vec_part {
	_Atomic unsigned refs;
	struct vec_segment *seg; /* own reference; NULL for a head */
	size_t dimension;
	uint64_t commit;  /* with the parts before it, all adds up to it; set when frozen */
	int64_t last_key; /* all keys up to it are in this part and those before it, or
			   * dead; set when frozen */
	bool busy;        /* the maintainer's: lists that wait are made of it */

	struct vec_blocks *_Atomic blocks; /* of a head */
	uint32_t count;                    /* the writer's: rows, published or not */

	uint64_t *gone; /* of a segment: bit per row; NULL: none */
	uint32_t gone_count;
	_Atomic uint64_t *_Atomic marks; /* of a segment; NULL before the first delete */
	uint32_t *log;                   /* the writer's: rows in the order of their deletes */
	uint32_t log_count, log_cap;

	struct vec_part *next_replaced; /* see private.h */
};

/* A part as a view sees it. */
struct vec_slice {
	struct vec_part *part;
	uint32_t rows, dead;
};

/* Rows that stand in a row, and where. */
struct vec_run {
	uint32_t first, n;
	const int64_t *keys;
	const struct vec_scale *scales;
	const int8_t *small;
	const int16_t *wide;
};

struct vec_part *vec_part_new_head(size_t dimension); /* NULL when out of memory */
/* Takes seg on success only. */
struct vec_part *vec_part_new_segment(struct vec_segment *seg, uint64_t commit, int64_t last_key);
struct vec_part *vec_part_ref(struct vec_part *p);
void vec_part_unref(struct vec_part *p); /* NULL is fine */
/* Nobody but the caller has a reference (and so nobody can take one). */
bool vec_part_alone(const struct vec_part *p);
/* Bytes of the heap. */
size_t vec_part_memory(const struct vec_part *p, uint32_t rows);

/* The writer: everything there is, published or not. */
struct vec_slice vec_part_now(struct vec_part *p);
/* The writer: how many rows are dead for who sees `seen`. */
uint32_t vec_part_dead(const struct vec_part *p, uint64_t seen);
/* The writer: appends a row to a head. False when out of memory. */
bool vec_part_add(struct vec_part *p, int64_t key, const int16_t *wide);
/* The writer: marks a row that has no mark. False when out of memory. */
bool vec_part_remove(struct vec_part *p, uint32_t row, uint64_t serial);

/* Readers; row below the slice's rows. */
bool vec_row_is_dead(const struct vec_part *p, uint32_t row, uint64_t seen);
/* The number of the row's delete, 0: none but for those of the bitmap. */
uint64_t vec_part_mark(const struct vec_part *p, uint32_t row);
/* Of rows from `first` on, up to `rows`; as many as stand together. */
struct vec_run vec_part_run(const struct vec_part *p, uint32_t first, uint32_t rows);
/*
 * The row of a key, UINT32_MAX if there is none. *hint (0 at first) makes a search of
 * growing keys fast: with it the next key is looked for near the one before.
 */
uint32_t vec_part_find(const struct vec_part *p, uint32_t rows, int64_t key, uint32_t *hint);

#endif
