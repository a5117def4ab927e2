/* kernel_neon.c: the kernels for 64-bit ARM. Two products of at most 127 * 127 fit into
 * 16 bits, so pairs are added there first. */
#include "engine/vector/kernel.h"

#if defined(__aarch64__)

#include <arm_neon.h>

static inline int32_t dot8(const int8_t *a, const int8_t *b, size_t n)
{
	int32x4_t even = vdupq_n_s32(0), odd = even;

	for (size_t i = 0; i < n; i += 32) {
		int8x16_t x = vld1q_s8(a + i), y = vld1q_s8(b + i);
		int8x16_t z = vld1q_s8(a + i + 16), w = vld1q_s8(b + i + 16);

		even = vpadalq_s16(even,
			vmlal_s8(vmull_s8(vget_low_s8(x), vget_low_s8(y)), vget_high_s8(x),
				vget_high_s8(y)));
		odd = vpadalq_s16(odd,
			vmlal_s8(vmull_s8(vget_low_s8(z), vget_low_s8(w)), vget_high_s8(z),
				vget_high_s8(w)));
	}
	return vaddvq_s32(vaddq_s32(even, odd));
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

static int32_t dot16(const int16_t *a, const int16_t *b, size_t stride)
{
	int32x4_t low = vdupq_n_s32(0), high = low;

	for (size_t i = 0; i < stride / 2; i += 8) {
		int16x8_t x = vld1q_s16(a + i), y = vld1q_s16(b + i);

		low = vmlal_s16(low, vget_low_s16(x), vget_low_s16(y));
		high = vmlal_s16(high, vget_high_s16(x), vget_high_s16(y));
	}
	return vaddvq_s32(vaddq_s32(low, high));
}

static const struct vec_kernel kernel = { rows8, some8, dot16 };
const struct vec_kernel *const vec_kernel_neon = &kernel;

#else
const struct vec_kernel *const vec_kernel_neon = NULL;
#endif
