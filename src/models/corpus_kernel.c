/*
 * corpus_kernel.c: the loops that take the time, by instruction set: vectors of four
 * floats, which any processor of 64 bits has, and of eight with AVX2. The loops are in
 * corpus_lanes.inc; all give the same bits.
 */
#include "models/corpus_private.h"
#include "util/cpu.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

static inline const int8_t *row_of(const struct corpus_term *t, const int8_t *projection)
{
	return projection + (size_t)t->bucket * CORPUS_DIMENSION;
}

#if defined(__x86_64__)
static inline __m128 widen(const int8_t *p)
{
	int32_t four;
	__m128i v;

	memcpy(&four, p, sizeof(four));
	v = _mm_cvtsi32_si128(four);
	v = _mm_unpacklo_epi8(v, v); /* each byte is the top one of its four lanes' bytes */
	v = _mm_unpacklo_epi16(v, v);
	return _mm_cvtepi32_ps(_mm_srai_epi32(v, 24));
}
#define NUMBERS(p) (lanes_plain) widen(p)
#else
typedef int8_t four_bytes __attribute__((vector_size(4), aligned(1), may_alias));
#define NUMBERS(p) __builtin_convertvector(*(const four_bytes *)(p), lanes_plain)
#endif
#define NAME(x) x##_plain
#define TARGET
#define LANES 4
#include "models/corpus_lanes.inc"

#if defined(__x86_64__)
#define BYTES(p) _mm_loadl_epi64((const __m128i_u *)(const void *)(p))
#define NUMBERS(p) (lanes_avx2) _mm256_cvtepi32_ps(_mm256_cvtepi8_epi32(BYTES(p)))
#define NAME(x) x##_avx2
#define TARGET __attribute__((target("avx2")))
#define LANES 8
#include "models/corpus_lanes.inc"

static bool avx2(void)
{
	return cpu_level() >= CPU_AVX2;
}
#define CALL(x, ...) (avx2() ? x##_avx2(__VA_ARGS__) : x##_plain(__VA_ARGS__))
#else
#define CALL(x, ...) x##_plain(__VA_ARGS__)
#endif

void corpus_project(const struct corpus_term *terms, size_t n, const float *scale,
	const int8_t *projection, float *out)
{
	CALL(project, terms, n, scale, projection, out);
}

void corpus_gather(const uint16_t *index, const float *weight, size_t n, const float *x, float *y)
{
	CALL(gather, index, weight, n, x, y);
}

void corpus_times(const float *a, const float *m, float *y)
{
	CALL(times, a, m, y);
}

void corpus_gram(const float *x, size_t n, double *work, double *g)
{
	CALL(gram, x, n, work, g);
}
