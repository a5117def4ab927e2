/*
 * kernel_avx512.c: the kernels for AVX-512 with VNNI. Its 8-bit multiplication takes one
 * factor without a sign: the row's components get 128 added (their top bit turned), and
 * the sum 128 times that of q's components taken off again.
 */
#include "engine/vector/kernel.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define TARGET __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq,avx512vnni")))

TARGET static inline __m512i multiply(__m512i sum, __m512i q, __m512i bias, const int8_t *row)
{
	return _mm512_dpbusd_epi32(sum,
		_mm512_xor_si512(_mm512_loadu_si512((const void *)row), bias), q);
}

TARGET static inline __m256i halve(__m512i v)
{
	return _mm256_add_epi32(_mm512_castsi512_si256(v), _mm512_extracti64x4_epi64(v, 1));
}

/* The sums of four vectors' members. */
TARGET static inline __m128i add_up(__m512i a, __m512i b, __m512i c, __m512i d)
{
	__m256i s = _mm256_hadd_epi32(_mm256_hadd_epi32(halve(a), halve(b)),
		_mm256_hadd_epi32(halve(c), halve(d)));

	return _mm_add_epi32(_mm256_castsi256_si128(s), _mm256_extracti128_si256(s, 1));
}

/* 128 times the sum of q's components. */
TARGET static int32_t excess(const int8_t *q, size_t stride)
{
	__m512i sum = _mm512_setzero_si512(), ones = _mm512_set1_epi8(1);

	for (size_t i = 0; i < stride; i += 64)
		sum = _mm512_dpbusd_epi32(sum, ones, _mm512_loadu_si512((const void *)(q + i)));
	return 128 * _mm512_reduce_add_epi32(sum);
}

TARGET static inline void four(const int8_t *q, const int8_t *const r[4], size_t stride,
	int32_t off, int32_t *out)
{
	__m512i a = _mm512_setzero_si512(), b = a, c = a, d = a, bias = _mm512_set1_epi8(-128);

	for (size_t i = 0; i < stride; i += 64) {
		__m512i v = _mm512_loadu_si512((const void *)(q + i));

		a = multiply(a, v, bias, r[0] + i);
		b = multiply(b, v, bias, r[1] + i);
		c = multiply(c, v, bias, r[2] + i);
		d = multiply(d, v, bias, r[3] + i);
	}
	_mm_storeu_si128((__m128i *)(void *)out,
		_mm_sub_epi32(add_up(a, b, c, d), _mm_set1_epi32(off)));
}

/* The last one is taken again to make up four. */
TARGET static void few(const int8_t *q, const int8_t *const *r, size_t n, size_t stride,
	int32_t off, int32_t *out)
{
	const int8_t *p[4];
	int32_t sums[4];

	for (size_t i = 0; i < 4; i++)
		p[i] = r[i < n ? i : n - 1];
	four(q, p, stride, off, sums);
	for (size_t i = 0; i < n; i++)
		out[i] = sums[i];
}

TARGET static void rows8(const int8_t *q, const int8_t *rows, size_t stride, size_t n, int32_t *out)
{
	int32_t off = excess(q, stride);

	for (; n > 0; n -= n < 4 ? n : 4, rows += 4 * stride, out += 4) {
		const int8_t *r[4] = { rows, rows + stride, rows + 2 * stride, rows + 3 * stride };

		for (size_t i = 0; i < 4 * stride; i += VEC_ALIGN)
			__builtin_prefetch(rows + VEC_AHEAD + i);
		if (n >= 4)
			four(q, r, stride, off, out);
		else
			few(q, r, n, stride, off, out);
	}
}

TARGET static void some8(const int8_t *q, const int8_t *rows, size_t stride, const uint32_t *at,
	size_t n, int32_t *out)
{
	int32_t off = excess(q, stride);

	for (size_t i = 0; i < n; i += 4) {
		size_t m = n - i < 4 ? n - i : 4, soon = i + VEC_AHEAD_ROWS;
		const int8_t *r[4];

		if (soon < n)
			vec_fetch_some(rows, stride, at + soon, n - soon < 4 ? n - soon : 4);
		for (size_t j = 0; j < 4; j++)
			r[j] = rows + at[i + (j < m ? j : 0)] * stride;
		if (m == 4)
			four(q, r, stride, off, out + i);
		else
			few(q, r, m, stride, off, out + i);
	}
}

TARGET static int32_t dot16(const int16_t *a, const int16_t *b, size_t stride)
{
	__m512i sum = _mm512_setzero_si512();

	for (size_t i = 0; i < stride / 2; i += 32)
		sum = _mm512_dpwssd_epi32(sum, _mm512_loadu_si512((const void *)(a + i)),
			_mm512_loadu_si512((const void *)(b + i)));
	return _mm512_reduce_add_epi32(sum);
}

static const struct vec_kernel kernel = { rows8, some8, dot16 };
const struct vec_kernel *const vec_kernel_avx512 = &kernel;

#else
const struct vec_kernel *const vec_kernel_avx512 = NULL;
#endif
