/*
 * kernel_avx2.c: the kernels for AVX2. The 8-bit multiplication takes one factor without
 * a sign: it gets |q|, and the row's component takes q's sign. Two products of at most
 * 127 * 127 fit into the 16 bits that their sum is made in.
 */
#include "engine/vector/kernel.h"

#if defined(__x86_64__)

#include <immintrin.h>

#define TARGET __attribute__((target("avx2")))

TARGET static inline __m256i multiply(__m256i sum, __m256i size, __m256i q, const int8_t *row)
{
	__m256i r = _mm256_sign_epi8(_mm256_loadu_si256((const __m256i *)(const void *)row), q);

	return _mm256_add_epi32(sum,
		_mm256_madd_epi16(_mm256_maddubs_epi16(size, r), _mm256_set1_epi16(1)));
}

/* The sums of four vectors' members. */
TARGET static inline __m128i add_up(__m256i a, __m256i b, __m256i c, __m256i d)
{
	__m256i s = _mm256_hadd_epi32(_mm256_hadd_epi32(a, b), _mm256_hadd_epi32(c, d));

	return _mm_add_epi32(_mm256_castsi256_si128(s), _mm256_extracti128_si256(s, 1));
}

TARGET static inline void four(const int8_t *q, const int8_t *const r[4], size_t stride,
	int32_t *out)
{
	__m256i a = _mm256_setzero_si256(), b = a, c = a, d = a;

	for (size_t i = 0; i < stride; i += 32) {
		__m256i v = _mm256_loadu_si256((const __m256i *)(const void *)(q + i));
		__m256i size = _mm256_abs_epi8(v);

		a = multiply(a, size, v, r[0] + i);
		b = multiply(b, size, v, r[1] + i);
		c = multiply(c, size, v, r[2] + i);
		d = multiply(d, size, v, r[3] + i);
	}
	_mm_storeu_si128((__m128i *)(void *)out, add_up(a, b, c, d));
}

/* The last one is taken again to make up four. */
TARGET static void few(const int8_t *q, const int8_t *const *r, size_t n, size_t stride,
	int32_t *out)
{
	const int8_t *p[4];
	int32_t sums[4];

	for (size_t i = 0; i < 4; i++)
		p[i] = r[i < n ? i : n - 1];
	four(q, p, stride, sums);
	for (size_t i = 0; i < n; i++)
		out[i] = sums[i];
}

TARGET static void rows8(const int8_t *q, const int8_t *rows, size_t stride, size_t n, int32_t *out)
{
	for (; n > 0; n -= n < 4 ? n : 4, rows += 4 * stride, out += 4) {
		const int8_t *r[4] = { rows, rows + stride, rows + 2 * stride, rows + 3 * stride };

		for (size_t i = 0; i < 4 * stride; i += VEC_ALIGN)
			__builtin_prefetch(rows + VEC_AHEAD + i);
		if (n >= 4)
			four(q, r, stride, out);
		else
			few(q, r, n, stride, out);
	}
}

TARGET static void some8(const int8_t *q, const int8_t *rows, size_t stride, const uint32_t *at,
	size_t n, int32_t *out)
{
	for (size_t i = 0; i < n; i += 4) {
		size_t m = n - i < 4 ? n - i : 4, soon = i + VEC_AHEAD_ROWS;
		const int8_t *r[4];

		if (soon < n)
			vec_fetch_some(rows, stride, at + soon, n - soon < 4 ? n - soon : 4);
		for (size_t j = 0; j < 4; j++)
			r[j] = rows + at[i + (j < m ? j : 0)] * stride;
		if (m == 4)
			four(q, r, stride, out + i);
		else
			few(q, r, m, stride, out + i);
	}
}

TARGET static int32_t dot16(const int16_t *a, const int16_t *b, size_t stride)
{
	__m256i even = _mm256_setzero_si256(), odd = even;

	for (size_t i = 0; i < stride / 2; i += 32) {
		const __m256i *x = (const __m256i *)(const void *)(a + i);
		const __m256i *y = (const __m256i *)(const void *)(b + i);

		even = _mm256_add_epi32(even,
			_mm256_madd_epi16(_mm256_loadu_si256(x), _mm256_loadu_si256(y)));
		odd = _mm256_add_epi32(odd,
			_mm256_madd_epi16(_mm256_loadu_si256(x + 1), _mm256_loadu_si256(y + 1)));
	}
	even = _mm256_add_epi32(even, odd);
	odd = _mm256_setzero_si256();
	return _mm_cvtsi128_si32(add_up(even, odd, odd, odd));
}

static const struct vec_kernel kernel = { rows8, some8, dot16 };
const struct vec_kernel *const vec_kernel_avx2 = &kernel;

#else
const struct vec_kernel *const vec_kernel_avx2 = NULL;
#endif
