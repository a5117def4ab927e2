/*
 * corpus_small.c: dense algebra of one small size, in doubles: Cholesky factors of
 * semidefinite matrices, their inverse, eigenvectors. Work that grows with the cube of
 * CORPUS_SKETCH, about a tenth of a second each.
 */
#include <math.h>

#include "models/corpus_private.h"

#define N CORPUS_SKETCH
#define DEPENDENT 1e-10 /* share of a column's square that is left: it hangs on the others */
#define ORTHOGONAL 1e-13
#define SWEEPS 40

void corpus_cholesky(const double *g, double *r)
{
	memset(r, 0, sizeof(double) * N * N);
	for (size_t j = 0; j < N; j++) {
		double *row = r + j * N;
		double pivot;

		for (size_t c = j; c < N; c++)
			row[c] = g[j * N + c];
		for (size_t k = 0; k < j; k++) {
			double f = r[k * N + j];

			for (size_t c = j; c < N; c++)
				row[c] -= f * r[k * N + c];
		}
		pivot = row[j];
		if (!(pivot > DEPENDENT * g[j * N + j])) {
			memset(row, 0, sizeof(double) * N);
			continue;
		}
		pivot = sqrt(pivot);
		for (size_t c = j; c < N; c++)
			row[c] /= pivot;
	}
}

void corpus_invert(const double *r, double *inv)
{
	memset(inv, 0, sizeof(double) * N * N);
	for (size_t i = N; i-- > 0;) {
		double d = r[i * N + i], *row = inv + i * N;

		if (d <= 0)
			continue;
		row[i] = 1;
		for (size_t k = i + 1; k < N; k++) {
			double f = r[i * N + k];

			for (size_t c = k; c < N; c++)
				row[c] -= f * inv[k * N + c];
		}
		for (size_t c = i; c < N; c++)
			row[c] /= d;
	}
	/* A dropped column depends on nothing. */
	for (size_t j = 0; j < N; j++)
		for (size_t i = 0; i < N && r[j * N + j] <= 0; i++)
			inv[i * N + j] = 0;
}

/* In four sums, so that it can go four at a time and has one order. */
static double dot(const double *a, const double *b)
{
	double s[4] = { 0 };

	for (size_t i = 0; i < N; i += 4)
		for (size_t k = 0; k < 4; k++)
			s[k] += a[i + k] * b[i + k];
	return (s[0] + s[1]) + (s[2] + s[3]);
}

/* Turns two rows so that they are orthogonal; false: they were. */
static bool rotate(double *a, double *b)
{
	double aa = dot(a, a), bb = dot(b, b), ab = dot(a, b), zeta, t, c, s;

	if (ab * ab <= ORTHOGONAL * ORTHOGONAL * aa * bb)
		return false;
	zeta = (bb - aa) / (2 * ab);
	t = (zeta >= 0 ? 1 : -1) / (fabs(zeta) + sqrt(1 + zeta * zeta));
	c = 1 / sqrt(1 + t * t);
	s = c * t;
	for (size_t i = 0; i < N; i++) {
		double x = a[i], y = b[i];

		a[i] = c * x - s * y;
		b[i] = s * x + c * y;
	}
	return true;
}

/* Rows of r by length into v, unit length. Rows of equal length keep their order. */
static void sort_rows(const double *r, double *values, double *v)
{
	bool used[N] = { false };
	double square[N];

	for (size_t i = 0; i < N; i++)
		square[i] = dot(r + i * N, r + i * N);
	for (size_t i = 0; i < N; i++) {
		size_t best = N;
		double length;

		for (size_t k = 0; k < N; k++)
			if (!used[k] && (best == N || square[k] > square[best]))
				best = k;
		used[best] = true;
		values[i] = square[best];
		length = sqrt(square[best]);
		for (size_t k = 0; k < N; k++)
			v[i * N + k] = length > 0 ? r[best * N + k] / length : 0;
	}
}

enum status corpus_eigen(double *r, double *values, double *v, struct corpus_watch *watch,
	struct error *e)
{
	bool turned = true, zero[N];

	for (size_t i = 0; i < N; i++)
		zero[i] = r[i * N + i] <= 0; /* then all of the row is, and stays so */
	/* r^T r = (J r)^T (J r) for any rotation J of the rows: once they are orthogonal,
	 * they are the eigenvectors times the roots of their values. */
	for (size_t sweep = 0; turned && sweep < SWEEPS; sweep++) {
		turned = false;
		for (size_t p = 0; p + 1 < N; p++) {
			enum status st = corpus_watch_step(watch, 32 * (N - p), e);

			if (st)
				return st;
			for (size_t q = p + 1; q < N && !zero[p]; q++)
				turned |= !zero[q] && rotate(r + p * N, r + q * N);
		}
	}
	sort_rows(r, values, v);
	return ST_OK;
}
