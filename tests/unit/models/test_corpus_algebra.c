/*
 * test_corpus_algebra.c: the linear algebra under the corpus's space, against what is known:
 * logarithms, factors, eigenvectors, singular values of small matrices.
 * REQ: X1.
 */
#include "../unit.h"

#include <math.h>

#include "models/corpus_private.h"
#include "util/mem.h"

#define N CORPUS_SKETCH

static struct error err;

static double *square(void)
{
	double *m = mem_array(N, N * sizeof(double));

	assert_non_null(m);
	return m;
}

static void test_logarithm(void **state)
{
	(void)state;
	for (double x = 1e-9; x < 1e12; x *= 1.37)
		assert_true(fabs(corpus_log(x) - log(x)) <= 1e-13 * (1 + fabs(log(x))));
	assert_true(corpus_log(1) == 0);
	for (uint32_t n = 1; n < 40; n++)
		assert_true(fabs(corpus_tf(n) - (1 + log(n))) < 1e-6);
	assert_true(corpus_tf(UINT32_MAX) < 24);
}

static void test_idf(void **state)
{
	(void)state;
	assert_int_equal(corpus_idf(0, 0), 0);
	assert_int_equal(corpus_idf(100, 0), 0);
	assert_int_equal(corpus_idf(100, 100), 0);
	assert_int_equal(corpus_idf(100, 101), 0);
	assert_int_equal(corpus_idf(99, 9), (int)(log(10) * CORPUS_IDF_UNIT + 0.5));
	assert_int_equal(corpus_idf(UINT64_MAX - 1, 1), UINT16_MAX);
}

/* Groups are brought to their length each, items without weight are left out. */
static void test_weights(void **state)
{
	static uint16_t idf[CORPUS_BUCKETS];
	struct corpus_item items[] = { { 2, 5 }, { 1, 6 }, { 1, CORPUS_WORDS }, { 3, 7 } };
	struct corpus_term terms[4];
	double words;

	(void)state;
	idf[5] = idf[6] = idf[CORPUS_WORDS] = CORPUS_IDF_UNIT;
	assert_int_equal(corpus_weigh(items, 4, idf, terms), 3);
	words = hypot(terms[0].weight, terms[1].weight);
	assert_true(fabs(words - 1) < 1e-6);
	assert_true(fabs(terms[0].weight / terms[1].weight - (1 + log(2))) < 1e-5);
	assert_int_equal(terms[2].bucket, CORPUS_WORDS);
	assert_true(terms[2].weight > 0);
	assert_int_equal(corpus_weigh(items, 4, NULL, terms), 4);
	assert_int_equal(corpus_weigh(items, 0, idf, terms), 0);
}

/* g = x^T x of rows with a rank of 40: every column behind hangs on those before. */
static void fill_gram(double *g, size_t rank)
{
	uint32_t r = 7;

	memset(g, 0, sizeof(double) * N * N);
	for (size_t i = 0; i < rank; i++) {
		double x[N];

		for (size_t k = 0; k < N; k++) {
			r = r * 1664525U + 1013904223U;
			x[k] = (double)(r >> 8) / (1 << 24) - 0.5;
		}
		for (size_t p = 0; p < N; p++)
			for (size_t q = 0; q < N; q++)
				g[p * N + q] += x[p] * x[q];
	}
}

static void check_cholesky(size_t rank)
{
	double *g = square(), *r = square(), *inv = square();
	size_t kept = 0;

	fill_gram(g, rank);
	corpus_cholesky(g, r);
	corpus_invert(r, inv);
	for (size_t i = 0; i < N; i++)
		kept += r[i * N + i] > 0;
	assert_int_equal(kept, rank < N ? rank : N);
	for (size_t p = 0; p < N; p++) {
		for (size_t q = p; q < N; q++) {
			double sum = 0, one = 0;

			for (size_t k = 0; k <= p; k++)
				sum += r[k * N + p] * r[k * N + q];
			for (size_t k = p; k <= q; k++)
				one += r[p * N + k] * inv[k * N + q];
			assert_true(fabs(sum - g[p * N + q]) < 1e-6);
			if (r[p * N + p] > 0 && r[q * N + q] > 0)
				assert_true(fabs(one - (p == q)) < 1e-6);
		}
	}
	mem_free(g);
	mem_free(r);
	mem_free(inv);
}

static void test_cholesky(void **state)
{
	(void)state;
	check_cholesky(40);
	check_cholesky(2 * N);
}

/* Of a 2 x 2 block [[2, 1], [1, 2]] with the values 3 and 1, and a 5 alone. */
static void test_eigenvalues_of_a_known_matrix(void **state)
{
	double *g = square(), *r = square(), *v = square(), values[N];
	struct corpus_watch watch = { 0 };

	(void)state;
	g[0] = g[N + 1] = 2;
	g[1] = g[N] = 1;
	g[2 * N + 2] = 5;
	corpus_cholesky(g, r);
	assert_int_equal(corpus_eigen(r, values, v, &watch, &err), ST_OK);
	assert_true(fabs(values[0] - 5) < 1e-12 && fabs(values[1] - 3) < 1e-12);
	assert_true(fabs(values[2] - 1) < 1e-12 && values[3] == 0);
	assert_true(fabs(fabs(v[2]) - 1) < 1e-12);
	assert_true(fabs(fabs(v[N]) - sqrt(0.5)) < 1e-12 && fabs(v[N] - v[N + 1]) < 1e-12);
	assert_true(fabs(v[2 * N] + v[2 * N + 1]) < 1e-12);
	mem_free(g);
	mem_free(r);
	mem_free(v);
}

static void test_eigenvectors_rebuild_the_matrix(void **state)
{
	double *g = square(), *r = square(), *v = square(), values[N];
	struct corpus_watch watch = { 0 };

	(void)state;
	fill_gram(g, N / 2);
	corpus_cholesky(g, r);
	assert_int_equal(corpus_eigen(r, values, v, &watch, &err), ST_OK);
	for (size_t p = 0; p < N; p += 17) {
		for (size_t q = 0; q < N; q++) {
			double sum = 0, dot = 0;

			for (size_t k = 0; k < N; k++) {
				sum += values[k] * v[k * N + p] * v[k * N + q];
				dot += v[p * N + k] * v[q * N + k];
			}
			assert_true(fabs(sum - g[p * N + q]) < 1e-8);
			if (p < N / 2 && q < N / 2)
				assert_true(fabs(dot - (p == q)) < 1e-9);
		}
	}
	mem_free(g);
	mem_free(r);
	mem_free(v);
}

/* How long a vector of the basis is. */
static double weight(const double *singular, size_t d)
{
	return pow(singular[d] / singular[0], 0.25);
}

/* Rows of a matrix whose singular values are known: row i has `values[i]` times two entries
 * of a rotation, in columns of its own. */
static void test_singular_values(void **state)
{
	enum { ROWS = 300 };
	struct corpus_matrix a;
	struct corpus_watch watch = { 0 };
	double singular[CORPUS_DIMENSION];
	float *basis = mem_array(2 * ROWS, N * sizeof(float));
	uint32_t rank;

	(void)state;
	assert_non_null(basis);
	assert_int_equal(corpus_matrix_new(ROWS, 2 * ROWS, 2 * ROWS, &a, &err), ST_OK);
	for (size_t i = 0; i < ROWS; i++) {
		double value = i < 20 ? 40 - (double)i : 0.5;

		a.start[i + 1] = 2 * i + 2;
		a.index[2 * i] = (uint16_t)(2 * i);
		a.index[2 * i + 1] = (uint16_t)(2 * i + 1);
		a.value[2 * i] = (float)(value * 0.6);
		a.value[2 * i + 1] = (float)(value * 0.8);
	}
	assert_int_equal(corpus_svd(&a, 1, &watch, basis, singular, &rank, &err), ST_OK);
	assert_int_equal(rank, CORPUS_DIMENSION);
	for (size_t d = 0; d < 20; d++) {
		float *row = basis + 2 * d * N;

		assert_true(fabs(singular[d] - (40 - (double)d)) < 1e-3);
		assert_true(fabs(fabs(row[d]) - 0.6 * weight(singular, d)) < 1e-3);
		assert_true(fabs(fabs(row[N + d]) - 0.8 * weight(singular, d)) < 1e-3);
	}
	for (size_t d = 20; d < CORPUS_DIMENSION; d++)
		assert_true(singular[d] < 0.51);
	for (size_t p = 0; p < CORPUS_DIMENSION; p += 3) {
		for (size_t q = 0; q < CORPUS_DIMENSION; q++) {
			double dot = 0;

			for (size_t i = 0; i < 2 * ROWS; i++)
				dot += (double)basis[i * N + p] * basis[i * N + q];
			dot /= weight(singular, p) * weight(singular, q);
			assert_true(fabs(dot - (p == q)) < 1e-4);
		}
	}
	corpus_matrix_free(&a);
	mem_free(basis);
}

static void test_rank_below_the_dimension(void **state)
{
	struct corpus_matrix a;
	struct corpus_watch watch = { 0 };
	double singular[CORPUS_DIMENSION];
	float *basis = mem_array(4, N * sizeof(float));
	uint32_t rank;

	(void)state;
	assert_non_null(basis);
	assert_int_equal(corpus_matrix_new(3, 4, 3, &a, &err), ST_OK);
	for (size_t i = 0; i < 3; i++) { /* the third row is empty */
		a.start[i + 1] = i < 2 ? i + 1 : 2;
		a.index[i] = (uint16_t)(i + 1);
		a.value[i] = i ? 3 : 2;
	}
	assert_int_equal(corpus_svd(&a, 1, &watch, basis, singular, &rank, &err), ST_OK);
	assert_int_equal(rank, 2);
	assert_true(fabs(singular[0] - 3) < 1e-5 && fabs(singular[1] - 2) < 1e-5);
	for (size_t i = 0; i < 4; i++)
		for (size_t d = 2; d < CORPUS_DIMENSION; d++)
			assert_true(basis[i * N + d] == 0);
	corpus_matrix_free(&a);
	mem_free(basis);
}

static void test_transpose(void **state)
{
	struct corpus_matrix a, t;
	struct corpus_watch watch = { 0 };

	(void)state;
	assert_int_equal(corpus_matrix_new(2, 3, 3, &a, &err), ST_OK);
	a.start[1] = 2, a.start[2] = 3;
	a.index[0] = 2, a.index[1] = 0, a.index[2] = 2;
	a.value[0] = 1, a.value[1] = 2, a.value[2] = 3;
	assert_int_equal(corpus_matrix_transpose(&a, &watch, &t, &err), ST_OK);
	assert_int_equal(t.start[0], 0);
	assert_int_equal(t.start[1], 1);
	assert_int_equal(t.start[2], 1);
	assert_int_equal(t.start[3], 3);
	assert_true(t.index[0] == 0 && t.value[0] == 2);
	assert_true(t.index[1] == 0 && t.value[1] == 1);
	assert_true(t.index[2] == 1 && t.value[2] == 3);
	corpus_matrix_free(&a);
	corpus_matrix_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_logarithm),
		cmocka_unit_test(test_idf),
		cmocka_unit_test(test_weights),
		cmocka_unit_test(test_cholesky),
		cmocka_unit_test(test_eigenvalues_of_a_known_matrix),
		cmocka_unit_test(test_eigenvectors_rebuild_the_matrix),
		cmocka_unit_test(test_singular_values),
		cmocka_unit_test(test_rank_below_the_dimension),
		cmocka_unit_test(test_transpose),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
