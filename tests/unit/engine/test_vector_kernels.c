/*
 * test_vector_kernels.c: the kernels of every instruction set this processor has give the
 * bits of the plain ones, and what is kept of a vector is what it should be.
 */
#include "vector_model.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#include "engine/vector/row.h"

#define ROWS 37

static const size_t dimensions[] = { 127, 128, 129, 191, 192, 255, 256, 257, 300, 384, 511, 768,
	1000, 1024, 1536, 3072, 4095, 4096 };

struct data {
	int8_t *q, *rows;
	int16_t *a, *b;
	uint32_t at[ROWS];
};

/* extreme: all components as large as they can be. */
static void draw_data(struct vrng *r, struct data *d, size_t small, size_t wide, bool extreme)
{
	for (size_t i = 0; i < small; i++)
		d->q[i] = (int8_t)(extreme ? 127 : (int)vrng_below(r, 255) - 127);
	for (size_t i = 0; i < small * ROWS; i++)
		d->rows[i] = (int8_t)(extreme ? (i / small % 2 ? 127 : -127)
					      : (int)vrng_below(r, 255) - 127);
	/* No longer than unit vectors. */
	for (size_t i = 0; i < wide / 2; i++) {
		int most = extreme ? 511 : 1 + (int)vrng_below(r, 511);

		d->a[i] = (int16_t)(extreme ? most : (int)vrng_below(r, 2 * 511) - 511);
		d->b[i] = (int16_t)(vrng_below(r, 2) ? most : -most);
	}
	if (extreme)
		d->a[0] = d->b[0] = 32767;
	for (size_t i = 0; i < ROWS; i++)
		d->at[i] = vrng_below(r, ROWS);
}

static void compare(const struct vec_kernel *k, const struct data *d, size_t small, size_t wide)
{
	const struct vec_kernel *plain = &vec_kernel_plain;
	int32_t expect[ROWS], got[ROWS + 1];

	for (size_t n = 0; n <= ROWS; n++) {
		plain->rows8(d->q, d->rows, small, n, expect);
		got[n] = 12345;
		k->rows8(d->q, d->rows, small, n, got);
		assert_memory_equal(expect, got, n * sizeof(int32_t));
		assert_int_equal(got[n], 12345);
		plain->some8(d->q, d->rows, small, d->at, n, expect);
		k->some8(d->q, d->rows, small, d->at, n, got);
		assert_memory_equal(expect, got, n * sizeof(int32_t));
		assert_int_equal(got[n], 12345);
	}
	assert_int_equal(plain->dot16(d->a, d->b, wide), k->dot16(d->a, d->b, wide));
}

static void compare_all(size_t dimension, struct vrng *r)
{
	size_t small = vec_small_bytes(dimension), wide = vec_wide_bytes(dimension);
	/* Ends of allocations, for sanitizers to see what is read behind. */
	struct data d = { .q = malloc(small),
		.rows = malloc(small * ROWS),
		.a = malloc(wide),
		.b = malloc(wide) };

	assert_true(d.q && d.rows && d.a && d.b);
	for (int extreme = 0; extreme < 2; extreme++) {
		draw_data(r, &d, small, wide, extreme);
		for (int level = CPU_PLAIN; level <= (int)cpu_level(); level++)
			compare(vec_kernel_at((enum cpu_level)level), &d, small, wide);
	}
	free(d.q);
	free(d.rows);
	free(d.a);
	free(d.b);
}

static void test_all_levels_agree(void **state)
{
	struct vrng r = { 5 };

	(void)state;
	for (size_t d = 1; d <= 70; d++)
		compare_all(d, &r);
	for (size_t i = 0; i < sizeof(dimensions) / sizeof(dimensions[0]); i++)
		compare_all(dimensions[i], &r);
#if defined(__x86_64__)
	assert_ptr_not_equal(vec_kernel_at(CPU_AVX2), &vec_kernel_plain);
	assert_ptr_equal(vec_kernel_at(CPU_NEON), &vec_kernel_plain);
#endif
	assert_ptr_equal(vec_kernel(), vec_kernel_at(cpu_level()));
}

static void test_plain_kernel_multiplies(void **state)
{
	int8_t a[64] = { 1, -2, 3 }, b[128] = { 4, 5, -6 };
	int16_t c[32] = { 32767 }, d[32] = { -32767, 9 };
	int32_t out[2];

	(void)state;
	b[64] = 100;
	vec_kernel_plain.rows8(a, b, 64, 2, out);
	assert_int_equal(out[0], 4 - 10 - 18);
	assert_int_equal(out[1], 100);
	assert_int_equal(vec_kernel_plain.dot16(c, d, 64), -32767 * 32767);
}

/* Unit length up to rounding, the rest no longer than said, zeros behind. */
static void check_row(const float *values, size_t dimension)
{
	int16_t wide[4096];
	int8_t small[4096];
	float back[4096];
	struct vec_scale scale;
	double length = 0, rest = 0, sum = 0, same = 0;

	assert_true(vec_row_widen(values, dimension, wide));
	vec_row_shrink(wide, dimension, small, &scale);
	vec_row_values(wide, dimension, back);
	for (size_t i = 0; i < dimension; i++) {
		double d = wide[i] - (double)scale.step * small[i];

		length += (double)wide[i] * wide[i];
		rest += d * d;
		sum += (double)back[i] * back[i];
		same += (double)values[i] * values[i];
	}
	for (size_t i = 0; i < dimension; i++)
		assert_true(fabs(back[i] - values[i] / sqrt(same)) < 0.6 / 32767 * 2);
	assert_true(fabs(sqrt(length) - 32767) <= 0.5 * sqrt((double)dimension) + 0.001);
	assert_true(sqrt(rest) <= (double)scale.error);
	assert_true(fabs(sum - 1) < 1e-5);
	for (size_t i = dimension; i < vec_small_bytes(dimension); i++)
		assert_int_equal(small[i], 0);
	for (size_t i = dimension; i < vec_wide_bytes(dimension) / 2; i++)
		assert_int_equal(wide[i], 0);
}

static void test_rows(void **state)
{
	struct vrng r = { 6 };
	float values[4096];

	(void)state;
	for (size_t d = 1; d <= 4096; d = d < 70 ? d + 1 : d + 61) {
		for (size_t i = 0; i < d; i++)
			values[i] = (float)vrng_below(&r, 2001) - 1000.5F;
		check_row(values, d);
		for (size_t i = 0; i < d; i++)
			values[i] *= i % 3 ? 1e-40F : 1e-38F;
		check_row(values, d);
		memset(values, 0, sizeof(values));
		values[d - 1] = -FLT_MAX;
		check_row(values, d);
		values[d - 1] = FLT_TRUE_MIN;
		check_row(values, d);
	}
}

static void test_bad_vectors(void **state)
{
	float values[3] = { 0, -0.F, 0 };
	int16_t wide[32];

	(void)state;
	assert_false(vec_row_widen(values, 3, wide));
	values[1] = NAN;
	assert_false(vec_row_widen(values, 3, wide));
	values[1] = -INFINITY;
	assert_false(vec_row_widen(values, 3, wide));
	values[1] = 1;
	assert_true(vec_row_widen(values, 3, wide));
	assert_int_equal(wide[1], 32767);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_levels_agree),
		cmocka_unit_test(test_plain_kernel_multiplies),
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_bad_vectors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
