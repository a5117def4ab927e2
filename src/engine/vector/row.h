/*
 * engine/vector/row.h: what is kept of one vector.
 *
 *   wide    16 bits a component: the vector x 32767 / its length, rounded. Scores are
 *           dot products of these
 *   small   8 bits a component: wide = step * small + rest, and `error` is not below
 *           the length of that rest. By Cauchy and Schwarz the small dot product bounds
 *           the wide one, so a scan of the small rows finds all that can be among the
 *           best: it is exact (scan.h)
 *
 * Both are padded with zeros to a multiple of 64 bytes.
 */
#ifndef RCPD_ENGINE_VECTOR_ROW_H
#define RCPD_ENGINE_VECTOR_ROW_H

#include <stdbool.h>

#include "engine/vector/kernel.h"

#define VEC_UNIT 32767
#define VEC_ONE (VEC_UNIT * VEC_UNIT) /* the dot product of equal vectors */

struct vec_scale {
	float step, error;
};

/* Bytes of a small and of a wide row. */
static inline size_t vec_small_bytes(size_t dimension)
{
	return (dimension + VEC_ALIGN - 1) / VEC_ALIGN * VEC_ALIGN;
}
static inline size_t vec_wide_bytes(size_t dimension)
{
	return (2 * dimension + VEC_ALIGN - 1) / VEC_ALIGN * VEC_ALIGN;
}

/* Rounding makes some dot products a little larger than they can be. They are cut off
 * before they are compared: what has the same score is ordered by its key. */
static inline int32_t vec_clamp(int32_t dot)
{
	return dot > VEC_ONE ? VEC_ONE : dot < -VEC_ONE ? -VEC_ONE : dot;
}

/* False: all zero, or not finite. */
bool vec_row_widen(const float *values, size_t dimension, int16_t *ret);
/* Of a wide row; any components. */
void vec_row_shrink(const int16_t *wide, size_t dimension, int8_t *ret, struct vec_scale *scale);
/* Back, to unit length. */
void vec_row_values(const int16_t *wide, size_t dimension, float *ret);

#endif
