/* kernel.c: the kernels in plain C, and which ones this processor gets. */
#include "engine/vector/kernel.h"

static int32_t dot8(const int8_t *a, const int8_t *b, size_t n)
{
	int32_t sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += a[i] * b[i];
	return sum;
}

static void rows8(const int8_t *q, const int8_t *rows, size_t stride, size_t n, int32_t *out)
{
	for (size_t i = 0; i < n; i++)
		out[i] = dot8(q, rows + i * stride, stride);
}

static void some8(const int8_t *q, const int8_t *rows, size_t stride, const uint32_t *at, size_t n,
	int32_t *out)
{
	for (size_t i = 0; i < n; i++)
		out[i] = dot8(q, rows + at[i] * stride, stride);
}

/* Unsigned: rows of a damaged file may overflow. */
static int32_t dot16(const int16_t *a, const int16_t *b, size_t stride)
{
	uint32_t sum = 0;

	for (size_t i = 0; i < stride / 2; i++)
		sum += (uint32_t)(a[i] * b[i]);
	return (int32_t)sum;
}

const struct vec_kernel vec_kernel_plain = { rows8, some8, dot16 };

const struct vec_kernel *vec_kernel_at(enum cpu_level level)
{
	const struct vec_kernel *k = NULL;

	if (level == CPU_AVX512)
		k = vec_kernel_avx512;
	else if (level == CPU_AVX2)
		k = vec_kernel_avx2;
	else if (level == CPU_NEON)
		k = vec_kernel_neon;
	return k ? k : &vec_kernel_plain;
}

const struct vec_kernel *vec_kernel(void)
{
	return vec_kernel_at(cpu_level());
}
