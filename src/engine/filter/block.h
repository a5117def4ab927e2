/*
 * engine/filter/block.h: up to 65,536 keys that share their upper 48 bits.
 *
 *   open    lists by field, which the writer appends to (list.h)
 *   full    columns in order of their fields (column.h); immutable
 *
 * Entry i is key first + i while no key is missing, else key offsets[i]. `living` has
 * a bit a key, cleared when it is forgotten: the only thing of a full block that
 * changes. Blocks are shared by views; the last to let go frees.
 */
#ifndef RCPD_ENGINE_FILTER_BLOCK_H
#define RCPD_ENGINE_FILTER_BLOCK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/filter/column.h"
#include "engine/filter/list.h"

#define FLT_BLOCK_KEYS 65536U
#define FLT_BLOCK_WORDS (FLT_BLOCK_KEYS / 64)

/* The number of a key's block, and the key's place in it. */
static inline int64_t flt_block_no(int64_t key)
{
	return key >> 16;
}

static inline uint32_t flt_block_offset(int64_t key)
{
	return (uint32_t)key & (FLT_BLOCK_KEYS - 1);
}

struct flt_block {
	_Atomic uint32_t refs;
	_Atomic uint64_t *total; /* where its memory is counted */
	_Atomic uint64_t bytes;
	int64_t no;
	uint32_t n;       /* entries; of an open block the writer's */
	uint32_t dropped; /* entries that were here before and were compacted away */
	uint16_t first;
	uint16_t *offsets;               /* NULL: without gaps */
	_Atomic uint32_t gone;           /* entries that were forgotten */
	struct flt_list *_Atomic *lists; /* open: by field; else NULL */
	size_t list_count;
	struct flt_column **columns;
	size_t column_count;
	_Atomic uint64_t living[FLT_BLOCK_WORDS];
};

/* A block as a view sees it. */
struct flt_slice {
	struct flt_block *block;
	const uint16_t *offsets;
	uint32_t n; /* entries, at least 1 */
};

static inline uint32_t flt_slice_offset(const struct flt_slice *s, uint32_t entry)
{
	return s->offsets ? s->offsets[entry] : s->block->first + entry;
}

/* Entries that the block ever had, as far as the view sees: with the block's number it
 * names what a tree says about it. */
static inline uint32_t flt_slice_born(const struct flt_slice *s)
{
	return s->n + s->block->dropped;
}

/* A new open block for a key and those after it. NULL when out of memory. */
struct flt_block *flt_block_new(_Atomic uint64_t *total, int64_t key, size_t max_fields);
/* Makes an empty block begin with another key. */
void flt_block_begin(struct flt_block *b, int64_t key);
void flt_block_ref(struct flt_block *b);
void flt_block_unref(struct flt_block *b); /* NULL is fine */

/* For the writer: the field's list in the open block, made if need be; NULL when out of
 * memory. Then offsets that allow for the key. Then the key itself. */
struct flt_list *flt_block_list(struct flt_block *b, size_t field);
bool flt_block_make_room(struct flt_block *b, int64_t key);
void flt_block_add(struct flt_block *b, int64_t key);
/* Counts memory that the block took. */
void flt_block_count(struct flt_block *b, size_t bytes);
/* True if the key was there until now. */
bool flt_block_forget(struct flt_block *b, int64_t key);

/* The same block full, or a full one without the entries that were forgotten; not all
 * were. New reference; NULL when out of memory. */
struct flt_block *flt_block_seal(struct flt_block *b);
struct flt_block *flt_block_compact(struct flt_block *b);

/* Of a full block. NULL if nobody has a value. */
const struct flt_column *flt_block_column(const struct flt_block *b, size_t field);
/* Of an open one. */
const struct flt_list *flt_block_find_list(const struct flt_block *b, size_t field);
/* The entry of a key in a view's slice. */
bool flt_slice_find(const struct flt_slice *s, int64_t key, uint32_t *ret);

#endif
