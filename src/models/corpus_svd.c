/*
 * corpus_svd.c: truncated singular value decomposition of a large sparse matrix by random
 * projection and power iteration (Halko, Martinsson, Tropp 2011, algorithms 4.4 and 5.1):
 *
 *   Y = A W, W random signs; Q = orth(Y); POWERS times: Q = orth(A A^T Q);
 *   B = A^T Q; B^T B = U L U^T; V = B U L^(-1/2), each vector times
 *   its singular value to the power of 1/4 (measured; the greatest one counts as 1)
 *
 * The bases are made orthogonal by Cholesky factors of their Gram matrices, whose sums
 * are in doubles. Four passes over the matrix; two dense arrays of CORPUS_SKETCH columns.
 */
#include <math.h>

#include "models/corpus_private.h"
#include "util/mem.h"

#define POWERS 1
#define N CORPUS_SKETCH
#define GRAM_ROWS 64
#define STEP 50000    /* multiplications of a row between two questions: some 5 ms */
#define SMALLEST 1e-7 /* of the greatest eigenvalue: less is noise of the floats */

struct svd {
	const struct corpus_matrix *a;
	struct corpus_matrix at; /* a transposed */
	struct corpus_watch *watch;
	struct error *e;
	float *q;                       /* a->rows by N */
	float *basis;                   /* a->columns by N */
	double *g, *r, *inverse, *work; /* N by N; work: GRAM_ROWS by N */
	float *m;                       /* N by N */
};

enum status corpus_watch_step(struct corpus_watch *w, size_t work, struct error *e)
{
	w->work += work;
	if (w->work < STEP)
		return ST_OK;
	w->work = 0;
	if (w->stop && w->stop(w->arg))
		return error_set(e, ST_CANCELLED, "the fit was stopped");
	return ST_OK;
}

void corpus_watch_done(struct corpus_watch *w, double share)
{
	w->done += share;
	if (w->progress)
		w->progress(w->arg, w->done < 1 ? w->done : 1);
}

/* splitmix64 (Steele, Lea, Flood 2014) as a function of a counter. */
static uint64_t random_at(uint64_t seed, uint64_t i)
{
	uint64_t z = seed + (i + 1) * UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

/* The basis to random signs, 32 columns at a time. */
static enum status fill_signs(struct svd *s, uint64_t seed)
{
	uint64_t counter = 0;

	for (size_t c = 0; c < s->a->columns; c++) {
		float *row = s->basis + c * N;
		enum status st = corpus_watch_step(s->watch, 4, s->e);

		if (st)
			return st;
		for (size_t i = 0; i < N; i += 32) {
			uint64_t bits = random_at(seed, counter++);

			for (size_t k = 0; k < 32; k++)
				row[i + k] = bits >> k & 1 ? 1 : -1;
		}
	}
	return ST_OK;
}

/* y = a x */
static enum status multiply(struct svd *s, const struct corpus_matrix *a, const float *x, float *y)
{
	for (size_t i = 0; i < a->rows; i++) {
		size_t from = a->start[i], n = a->start[i + 1] - from;
		enum status st = corpus_watch_step(s->watch, n + 8, s->e);

		if (st)
			return st;
		corpus_gather(a->index + from, a->value + from, n, x, y + i * N);
	}
	corpus_watch_done(s->watch, s->watch->share);
	return ST_OK;
}

/* g = x^T x, r its Cholesky factor. */
static enum status factor(struct svd *s, const float *x, size_t rows)
{
	memset(s->g, 0, sizeof(double) * N * N);
	for (size_t i = 0; i < rows; i += GRAM_ROWS) {
		size_t n = rows - i < GRAM_ROWS ? rows - i : GRAM_ROWS;
		enum status st = corpus_watch_step(s->watch, n * N / 2, s->e);

		if (st)
			return st;
		corpus_gram(x + i * N, n, s->work, s->g);
	}
	corpus_cholesky(s->g, s->r);
	return ST_OK;
}

/* x = x m, row by row. */
static enum status apply(struct svd *s, float *x, size_t rows)
{
	float y[N];

	for (size_t i = 0; i < rows; i++) {
		enum status st = corpus_watch_step(s->watch, N, s->e);

		if (st)
			return st;
		corpus_times(x + i * N, s->m, y);
		memcpy(x + i * N, y, sizeof(y));
	}
	return ST_OK;
}

static enum status orthogonalise(struct svd *s)
{
	enum status st = factor(s, s->q, s->a->rows);

	if (st)
		return st;
	corpus_invert(s->r, s->inverse);
	for (size_t i = 0; i < (size_t)N * N; i++)
		s->m[i] = (float)s->inverse[i];
	return apply(s, s->q, s->a->rows);
}

/* The basis of the range, in q. */
static enum status find_range(struct svd *s)
{
	enum status st = multiply(s, s->a, s->basis, s->q);

	if (!st)
		st = orthogonalise(s);
	for (int i = 0; i < POWERS && !st; i++) {
		st = multiply(s, &s->at, s->q, s->basis);
		if (!st)
			st = multiply(s, s->a, s->basis, s->q);
		if (!st)
			st = orthogonalise(s);
	}
	return st;
}

static enum status find_vectors(struct svd *s, double *singular, uint32_t *rank)
{
	double values[N];
	enum status st = multiply(s, &s->at, s->q, s->basis);

	if (!st)
		st = factor(s, s->basis, s->a->columns);
	if (!st)
		st = corpus_eigen(s->r, values, s->g, s->watch, s->e);
	if (st)
		return st;
	*rank = 0;
	memset(s->m, 0, sizeof(float) * N * N);
	for (size_t d = 0; d < CORPUS_DIMENSION; d++) {
		double root = sqrt(values[d]), power;

		if (singular)
			singular[d] = root;
		if (!(values[d] > SMALLEST * values[0]))
			continue;
		*rank = (uint32_t)d + 1;
		power = sqrt(sqrt(root / sqrt(values[0])));
		for (size_t k = 0; k < N; k++)
			s->m[k * N + d] = (float)(s->g[d * N + k] / root * power);
	}
	return apply(s, s->basis, s->a->columns);
}

static bool allocate(struct svd *s)
{
	s->q = mem_array(s->a->rows, N * sizeof(float));
	s->g = mem_array(N, N * sizeof(double));
	s->r = mem_array(N, N * sizeof(double));
	s->inverse = mem_array(N, N * sizeof(double));
	s->work = mem_array(GRAM_ROWS, N * sizeof(double));
	s->m = mem_array(N, N * sizeof(float));
	return s->q && s->g && s->r && s->inverse && s->work && s->m;
}

static void release(struct svd *s)
{
	corpus_matrix_free(&s->at);
	mem_free(s->q);
	mem_free(s->g);
	mem_free(s->r);
	mem_free(s->inverse);
	mem_free(s->work);
	mem_free(s->m);
}

enum status corpus_svd(const struct corpus_matrix *a, uint64_t seed, struct corpus_watch *watch,
	float *basis, double *singular, uint32_t *rank, struct error *e)
{
	struct svd s = { .a = a, .watch = watch, .e = e, .basis = basis };
	enum status st = corpus_matrix_transpose(a, watch, &s.at, e);

	if (st)
		return st;
	watch->share = 0.8 / (2 + 2 * POWERS);
	if (allocate(&s)) {
		st = fill_signs(&s, seed);
		if (!st)
			st = find_range(&s);
		if (!st)
			st = find_vectors(&s, singular, rank);
	} else {
		st = error_set(e, ST_NOMEM, "out of memory");
	}
	release(&s);
	return st;
}
