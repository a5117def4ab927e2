/*
 * engine/vector/kernel.h: dot products of rows of whole numbers, in one version for each
 * instruction set. Sums of whole numbers are the same in every order: so all versions
 * give the same bits.
 *
 * Rows are padded with zeros to a multiple of 64
 * bytes (the stride), so no kernel has tails, and best begin at one. 8-bit components are -127..127; with at
 * most 4,096 of them no sum leaves 27 bits. 16-bit rows have a length of about 32,767,
 * so by Cauchy and Schwarz no sum, nor any part of one, leaves 31 bits. Rows of a damaged
 * file may break both; their sums are then wrong, and that is all.
 */
#ifndef RCPD_ENGINE_VECTOR_KERNEL_H
#define RCPD_ENGINE_VECTOR_KERNEL_H

#include <stddef.h>
#include <stdint.h>

#include "util/cpu.h"

#define VEC_ALIGN ((size_t)64)

struct vec_kernel {
	/* out[i] = q * row i of n, one after the other; stride in bytes. */
	void (*rows8)(const int8_t *q, const int8_t *rows, size_t stride, size_t n, int32_t *out);
	/* The same of rows at[0..n), which are anywhere. */
	void (*some8)(const int8_t *q, const int8_t *rows, size_t stride, const uint32_t *at,
		size_t n, int32_t *out);
	/* stride in bytes, of two each component. */
	int32_t (*dot16)(const int16_t *a, const int16_t *b, size_t stride);
};

/* Of a level; that of cpu_level() is vec_kernel(). A level that this build does not know
 * gives the plain ones. */
const struct vec_kernel *vec_kernel_at(enum cpu_level level);
const struct vec_kernel *vec_kernel(void);

/* How far ahead rows are fetched: of rows that stand together in bytes, else in rows. */
#define VEC_AHEAD 1024
#define VEC_AHEAD_ROWS 16

/* Rows of a list that come into use soon. */
static inline void vec_fetch_some(const int8_t *rows, size_t stride, const uint32_t *at, size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < stride; j += VEC_ALIGN)
			__builtin_prefetch(rows + at[i] * stride + j);
}

/* ---- the versions; NULL where the build is for another processor ---- */

extern const struct vec_kernel vec_kernel_plain;
extern const struct vec_kernel *const vec_kernel_avx2, *const vec_kernel_avx512,
							       *const vec_kernel_neon;

#endif
