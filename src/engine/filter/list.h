/*
 * engine/filter/list.h: a field's values in the open block, in the order they came:
 * (entry, value), entries never falling; an entry may have several. The writer appends
 * while readers read: what is below the count does not change.
 */
#ifndef RCPD_ENGINE_FILTER_LIST_H
#define RCPD_ENGINE_FILTER_LIST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/filter/segment.h"

struct flt_list_segment {
	uint64_t *values; /* behind it in one allocation, then entries */
	uint16_t *entries;
};

struct flt_list {
	_Atomic uint32_t count;
	uint32_t pending; /* the writer's: reserved by the addition that runs */
	struct flt_list_segment *segments[FLT_SEGMENTS];
};

/* All zero is an empty list. */
void flt_list_release(struct flt_list *l);
/* Room for `pending` + 1 values; adds 1 to pending. *bytes grows by memory taken.
 * False when out of memory. */
bool flt_list_reserve(struct flt_list *l, size_t *bytes);
/* Appends one of those reserved. */
void flt_list_add(struct flt_list *l, uint16_t entry, uint64_t value);

static inline uint32_t flt_list_count(const struct flt_list *l)
{
	return atomic_load_explicit(&l->count, memory_order_acquire);
}

/* The first value whose entry is not below `entry`, or `count` (as it was read). */
uint32_t flt_list_seek(const struct flt_list *l, uint32_t count, uint32_t entry);

static inline uint16_t flt_list_entry(const struct flt_list *l, uint32_t i)
{
	uint32_t at;
	unsigned s = flt_segment(i, &at);

	return l->segments[s]->entries[at];
}

static inline uint64_t flt_list_value(const struct flt_list *l, uint32_t i)
{
	uint32_t at;
	unsigned s = flt_segment(i, &at);

	return l->segments[s]->values[at];
}

#endif
