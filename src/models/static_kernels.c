/*
 * static_kernels.c: the arithmetic of static tables. Each kernel is written once, over
 * vectors of the compiler, and compiled for several instruction sets. No fused
 * multiply-add (the build says -ffp-contract=off), lanes and their order fixed: all give
 * the same bits.
 */
#include <math.h>

#include "models/static_private.h"
#include "util/cpu.h"

/* Half of STATIC_LANES: what one register of AVX2 holds. Twice as much is made by hand, as
 * gcc keeps wider vectors in memory where there is no register for them. */
#define WIDTH (STATIC_LANES / 2)
typedef float lanes __attribute__((vector_size(4 * WIDTH)));
typedef int32_t ints __attribute__((vector_size(4 * WIDTH)));
typedef int16_t shorts __attribute__((vector_size(2 * WIDTH)));
typedef signed char bytes_lanes __attribute__((vector_size(WIDTH)));

#define KERNEL static inline __attribute__((always_inline))

KERNEL void add_i8(float *sum, const signed char *row, float factor, size_t n)
{
	size_t i = 0;

	for (; i + WIDTH <= n; i += WIDTH) {
		bytes_lanes q;
		lanes s;
		ints w;

		memcpy(&q, row + i, sizeof q);
		memcpy(&s, sum + i, sizeof s);
		/* Twice as wide each time: in one go gcc makes scalars of it. */
		w = __builtin_convertvector(__builtin_convertvector(q, shorts), ints);
		s += __builtin_convertvector(w, lanes) * factor;
		memcpy(sum + i, &s, sizeof s);
	}
	for (; i < n; i++)
		sum[i] += (float)row[i] * factor;
}

KERNEL void add_f32(float *sum, const float *row, float factor, size_t n)
{
	size_t i = 0;

	for (; i + WIDTH <= n; i += WIDTH) {
		lanes v, s;

		memcpy(&v, (const char *)row + 4 * i, sizeof v);
		memcpy(&s, sum + i, sizeof s);
		s += v * factor;
		memcpy(sum + i, &s, sizeof s);
	}
	for (; i < n; i++) {
		float v;

		memcpy(&v, (const char *)row + 4 * i, sizeof v);
		sum[i] += v * factor;
	}
}

/* *sum += a * b; by pointers, as vectors are no arguments in C. */
KERNEL void add_product(lanes *sum, const float *a, const float *b)
{
	lanes x, y;

	memcpy(&x, a, sizeof x);
	memcpy(&y, b, sizeof y);
	*sum += x * y;
}

KERNEL float dot(const float *a, const float *b, size_t padded)
{
	lanes low = { 0 }, high = { 0 };
	float part[STATIC_LANES];

	for (size_t i = 0; i < padded; i += STATIC_LANES) {
		add_product(&low, a + i, b + i);
		add_product(&high, a + i + WIDTH, b + i + WIDTH);
	}
	memcpy(part, &low, sizeof low);
	memcpy(part + WIDTH, &high, sizeof high);
	for (size_t half = STATIC_LANES / 2; half > 0; half /= 2)
		for (size_t i = 0; i < half; i++)
			part[i] += part[i + half];
	return part[0];
}

#if defined(__x86_64__)
/* *low and *high += column i times component i. */
KERNEL void add_column(lanes *low, lanes *high, const float *columns, const float *row, size_t i)
{
	lanes x, y;

	memcpy(&x, columns + i * STATIC_LANES, sizeof x);
	memcpy(&y, columns + i * STATIC_LANES + WIDTH, sizeof y);
	*low += x * row[i];
	*high += y * row[i];
}

/* Two sums of each, so that one addition need not wait for the one before. */
KERNEL void dots(const float *columns, const float *row, size_t padded, float *out)
{
	lanes a = { 0 }, b = { 0 }, c = { 0 }, d = { 0 };

	for (size_t i = 0; i < padded; i += 2) {
		add_column(&a, &b, columns, row, i);
		add_column(&c, &d, columns, row, i + 1);
	}
	a += c;
	b += d;
	memcpy(out, &a, sizeof a);
	memcpy(out + WIDTH, &b, sizeof b);
}
#endif

#define VARIANT(suffix, attribute)                                                                 \
	attribute static void add_i8_##suffix(float *s, const signed char *r, float f, size_t n)   \
	{                                                                                          \
		add_i8(s, r, f, n);                                                                \
	}                                                                                          \
	attribute static void add_f32_##suffix(float *s, const float *r, float f, size_t n)        \
	{                                                                                          \
		add_f32(s, r, f, n);                                                               \
	}                                                                                          \
	attribute static float dot_##suffix(const float *a, const float *b, size_t n)              \
	{                                                                                          \
		return dot(a, b, n);                                                               \
	}

#define WIDE(suffix, attribute)                                                                    \
	attribute static void dots_##suffix(const float *c, const float *r, size_t n, float *out)  \
	{                                                                                          \
		dots(c, r, n, out);                                                                \
	}

/* The same sums on registers of four lanes, which SSE2 and NEON have. */
typedef float quad __attribute__((vector_size(16)));

static void dots_plain(const float *columns, const float *row, size_t padded, float *out)
{
	for (size_t q = 0; q < STATIC_LANES; q += 4) {
		quad a = { 0 }, c = { 0 }, x, y;

		for (size_t i = 0; i < padded; i += 2) {
			memcpy(&x, columns + i * STATIC_LANES + q, sizeof x);
			memcpy(&y, columns + (i + 1) * STATIC_LANES + q, sizeof y);
			a += x * row[i];
			c += y * row[i + 1];
		}
		a += c;
		memcpy(out + q, &a, sizeof a);
	}
}

VARIANT(plain, )
#if defined(__x86_64__)
VARIANT(avx2, __attribute__((target("avx2"))))
WIDE(avx2, __attribute__((target("avx2"))))
VARIANT(avx512, __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq"))))
WIDE(avx512, __attribute__((target("avx512f,avx512bw,avx512vl,avx512dq"))))
#define PICK(how, name, ...)                                                                       \
	switch (cpu_level()) {                                                                     \
	case CPU_AVX512:                                                                           \
		how name##_avx512(__VA_ARGS__);                                                    \
		break;                                                                             \
	case CPU_AVX2:                                                                             \
		how name##_avx2(__VA_ARGS__);                                                      \
		break;                                                                             \
	default:                                                                                   \
		how name##_plain(__VA_ARGS__);                                                     \
		break;                                                                             \
	}
#else
#define PICK(how, name, ...) how name##_plain(__VA_ARGS__)
#endif

void static_add_i8(float *sum, const signed char *row, float factor, size_t n)
{
	PICK(, add_i8, sum, row, factor, n);
}

void static_add_f32(float *sum, const float *row, float factor, size_t n)
{
	PICK(, add_f32, sum, row, factor, n);
}

float static_dot(const float *a, const float *b, size_t padded)
{
	PICK(return, dot, a, b, padded);
}

void static_dots(const float *columns, const float *row, size_t padded, float *out)
{
	PICK(, dots, columns, row, padded, out);
}

float static_unit(float *v, size_t padded)
{
	float most = 0, length;

	/* Scaled by the greatest first: squares neither overflow nor vanish. */
	for (size_t i = 0; i < padded; i++)
		most = fabsf(v[i]) > most ? fabsf(v[i]) : most;
	if (!(most > 0) || !isfinite(most)) {
		memset(v, 0, padded * sizeof *v);
		return 0;
	}
	for (size_t i = 0; i < padded; i++)
		v[i] /= most;
	length = sqrtf(static_dot(v, v, padded));
	if (!isfinite(length)) {
		memset(v, 0, padded * sizeof *v);
		return 0;
	}
	for (size_t i = 0; i < padded; i++)
		v[i] /= length;
	return length * most;
}
