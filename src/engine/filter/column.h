/*
 * engine/filter/column.h: a field's values in a full block; immutable.
 *
 *   values[entry] = value - base, in 1, 2, 4 or 8 bytes   the first value of an entry
 *   present       a bit an entry; NULL: every entry has a value
 *   more          further values (of arrays), with their entries, in order
 *
 * Where few entries have a value, all are in `more` and values is NULL.
 */
#ifndef RCPD_ENGINE_FILTER_COLUMN_H
#define RCPD_ENGINE_FILTER_COLUMN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Values on their way from one form into another: entries never fall. */
struct flt_pairs {
	uint64_t *values;
	uint16_t *entries;
	size_t n, room;
};

/* Makes room for n pairs in all. False when out of memory. */
bool flt_pairs_reserve(struct flt_pairs *p, size_t n);
void flt_pairs_release(struct flt_pairs *p);

struct flt_column {
	size_t field;
	uint64_t base, max; /* the least and the greatest value */
	unsigned width;
	uint32_t more_count;
	const void *values;
	const uint64_t *present;
	const void *more;
	const uint16_t *more_entries;
	size_t bytes; /* of the whole, in one allocation */
};

/* A new column over n entries; at least one pair. NULL when out of memory. */
struct flt_column *flt_column_new(size_t field, const struct flt_pairs *p, uint32_t n);
void flt_column_free(struct flt_column *c);
/* Appends the values of the entries whose bit in `keep` is set, renumbered, to p, which
 * has room (flt_column_count). */
void flt_column_pairs(const struct flt_column *c, uint32_t n, const uint64_t *keep,
	struct flt_pairs *p);
/* How many values it holds, at most. */
size_t flt_column_count(const struct flt_column *c, uint32_t n);
/* The greatest value of an entry. False if it has none. */
bool flt_column_latest(const struct flt_column *c, uint32_t entry, uint64_t *ret);

/* Item i of an array of that width. */
static inline uint64_t flt_load(const void *values, unsigned width, size_t i)
{
	switch (width) {
	case 1:
		return ((const uint8_t *)values)[i];
	case 2:
		return ((const uint16_t *)values)[i];
	case 4:
		return ((const uint32_t *)values)[i];
	default:
		return ((const uint64_t *)values)[i];
	}
}

static inline bool flt_bit(const uint64_t *bits, size_t i)
{
	return bits[i / 64] >> i % 64 & 1;
}

static inline void flt_bit_set(uint64_t *bits, size_t i)
{
	bits[i / 64] |= UINT64_C(1) << i % 64;
}

#endif
