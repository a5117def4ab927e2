/*
 * engine/filter/set.h: a set of values (types.h) that a column is compared with.
 *
 *   sorted   of IN: its values; few of them in a block are compared one by one
 *   bits     where the values lie close together, and for dictionary codes
 *   hash     else; with a secret factor, since clients choose the values
 */
#ifndef RCPD_ENGINE_FILTER_SET_H
#define RCPD_ENGINE_FILTER_SET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/arena.h"

struct flt_set {
	const uint64_t *sorted; /* NULL: only bits say what is in */
	size_t n;
	unsigned wide; /* 1: each of sorted is two values, v and v + 1 */
	uint64_t base; /* of the first bit */
	uint64_t bit_count;
	uint64_t *bits; /* NULL: see hash */
	uint64_t *hash; /* 0 is free; the value 0 is held by has_zero */
	uint64_t mask, factor;
	unsigned shift;
	bool has_zero;
};

/* Sorts n >= 1 values in place and drops equal ones. values lives as long as the set. False
 * when out of memory. */
bool flt_set_init(struct flt_set *s, uint64_t *values, size_t n, unsigned wide, struct arena *a);
/* The index range of sorted that may have values in [lo, hi]. */
void flt_set_clip(const struct flt_set *s, uint64_t lo, uint64_t hi, size_t *ret_from,
	size_t *ret_to);

static inline bool flt_set_has(const struct flt_set *s, uint64_t v)
{
	if (s->bits) {
		uint64_t i = v - s->base;

		return i < s->bit_count && (s->bits[i / 64] >> i % 64 & 1);
	}
	if (v == 0)
		return s->has_zero;
	for (uint64_t i = v * s->factor >> s->shift;; i = (i + 1) & s->mask)
		if (s->hash[i] == v || s->hash[i] == 0)
			return s->hash[i] == v;
}

#endif
