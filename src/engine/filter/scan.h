/*
 * engine/filter/scan.h: loops over arrays of values that make bits: 64 comparisons into
 * 64 bytes, which the compiler vectorises, then eight bytes at a time into bits.
 */
#ifndef RCPD_ENGINE_FILTER_SCAN_H
#define RCPD_ENGINE_FILTER_SCAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/filter/set.h"

/* What is looked for in an array of values less `base`: those in [lo, hi], or, if set
 * is given, those in it. lo and hi are less base, too, and fit the array's width. */
struct flt_probe {
	uint64_t base, lo, hi;
	const struct flt_set *set;
	const uint8_t *table; /* of width 1: what the set says to each; may be NULL */
};

/* Bit i: values[i] passes. The unused bits of the last word are 0. */
void flt_scan(const void *values, unsigned width, size_t n, const struct flt_probe *p,
	uint64_t *out);

/* Set bits in n words. */
uint64_t flt_popcount(const uint64_t *words, size_t n);

#endif
