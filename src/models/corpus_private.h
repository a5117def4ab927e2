/*
 * models/corpus_private.h: what the files behind corpus.h share; nothing else includes it.
 *
 *   corpus.c           models: opening, embedding, scratch space for threads
 *     corpus_kernel.c    sums of rows, by instruction set
 *   corpus_features.c  text to buckets with counts
 *   corpus_weight.c    counts to weights: logarithms without libm, group norms
 *   corpus_blob.c      the format of a fit
 *   corpus_fit.c       the sample and the steps of a fit
 *     corpus_matrix.c    the sparse matrix and its transpose
 *     corpus_svd.c       randomised truncated SVD
 *     corpus_small.c     small dense algebra: Gram, Cholesky, eigenvectors
 *
 * Everything here gives the same bits on every machine: sums have a fixed order, lanes
 * of a vector are independent, and of libm only what IEEE 754 defines exactly is used.
 * The files are compiled without contraction of a * b + c.
 */
#ifndef RCPD_MODELS_CORPUS_PRIVATE_H
#define RCPD_MODELS_CORPUS_PRIVATE_H

#include "models/corpus.h"
#include "text/analyze.h"

/* Buckets of words come first, those of character n-grams behind them. */
#define CORPUS_WORDS 32768
#define CORPUS_GRAMS (CORPUS_BUCKETS - CORPUS_WORDS)

/* Columns of the random projection: the rank that is wanted and some more (Halko et al.
 * 2011, 4.2). */
#define CORPUS_SKETCH 288

/* ---- corpus_features.c ---- */

struct corpus_item {
	uint32_t count;
	uint16_t bucket;
};

/*
 * Reads texts, one thread at a time, and holds the features of the last one: items[0..n), in
 * the order of their first occurrence. slot is the other half of a sparse set (Briggs and
 * Torczon 1993): it is never cleared, and what it says counts only if the item agrees.
 */
struct corpus_features {
	struct text_analyzer *analyzer;
	size_t n;
	uint16_t slot[CORPUS_BUCKETS];
	struct corpus_item items[CORPUS_BUCKETS];
};

/* About 2 MB. ST_NOMEM, ST_UNAVAILABLE. */
enum status corpus_features_new(struct corpus_features **ret, struct error *e);
void corpus_features_free(struct corpus_features *f); /* NULL is fine */
/* Of the first CORPUS_MAX_TEXT bytes. */
enum status corpus_features_read(struct corpus_features *f, struct bytes text, struct error *e);

/* ---- corpus_weight.c ---- */

/* Natural logarithm of x > 0, finite: within 1e-14, the same bits everywhere. */
double corpus_log(double x);
/* 1 + log(count), count >= 1. */
float corpus_tf(uint32_t count);
/* Inverse document frequency in steps of 1 / CORPUS_IDF_UNIT. */
#define CORPUS_IDF_UNIT 4096
uint16_t corpus_idf(uint64_t texts, uint64_t frequency);

/* A feature with its weight; several of them are a text. */
struct corpus_term {
	float weight;
	uint16_t bucket;
};
/* Weights of items, those of weight 0 left out: tf times idf (NULL: 1), the group of words
 * and that of n-grams each brought to its length. ret has room for n. Returns how many. */
size_t corpus_weigh(const struct corpus_item *items, size_t n, const uint16_t *idf,
	struct corpus_term *ret);

/* ---- corpus_kernel.c ---- */

/* out[0..256) = sum of weight times the row of its bucket. */
void corpus_project(const struct corpus_term *terms, size_t n, const float *scale,
	const int8_t *projection, float *out);
/* y[0..CORPUS_SKETCH) = sum over i < n of weight[i] times row index[i] of x. */
void corpus_gather(const uint16_t *index, const float *weight, size_t n, const float *x, float *y);
/* y[0..CORPUS_SKETCH) = row a (CORPUS_SKETCH) times the matrix m. */
void corpus_times(const float *a, const float *m, float *y);
/* g (CORPUS_SKETCH squared) += x^T x, n rows of x; the upper triangle. work has room for
 * n rows of doubles. */
void corpus_gram(const float *x, size_t n, double *work, double *g);

/* ---- corpus_blob.c ---- */

struct corpus_fitted {
	uint64_t texts;
	uint32_t rank;
	uint16_t idf[CORPUS_BUCKETS];
	float scale[CORPUS_BUCKETS];
	int8_t projection[CORPUS_BUCKETS * CORPUS_DIMENSION];
};
/* ST_NOMEM. */
enum status corpus_blob_write(const struct corpus_fitted *f, struct strbuf *blob, struct error *e);
/* Fills *f. ST_INVALID. */
enum status corpus_blob_read(struct bytes blob, struct corpus_fitted *f, struct error *e);

/* ---- corpus_matrix.c ---- */

/* Compressed rows. */
struct corpus_matrix {
	size_t rows, columns;
	size_t *start; /* rows + 1 */
	uint16_t *index;
	float *value;
};
void corpus_matrix_free(struct corpus_matrix *m);
/* Room for so many rows and values. ST_NOMEM. */
enum status corpus_matrix_new(size_t rows, size_t columns, size_t values, struct corpus_matrix *ret,
	struct error *e);
struct corpus_watch;
enum status corpus_matrix_transpose(const struct corpus_matrix *m, struct corpus_watch *watch,
	struct corpus_matrix *ret, struct error *e);

/* ---- corpus_svd.c ---- */

/* Whether to go on, and how far it is. */
struct corpus_watch {
	bool (*stop)(void *arg); /* may be NULL */
	void (*progress)(void *arg, double done);
	void *arg;
	size_t work; /* since the last question */
	double done, share;
};
/* Counts `work` multiplications of a row; ST_CANCELLED. */
enum status corpus_watch_step(struct corpus_watch *w, size_t work, struct error *e);
/* Another `share` of all is done. */
void corpus_watch_done(struct corpus_watch *w, double share);

/*
 * The right singular vectors of a (rows are texts) for its CORPUS_DIMENSION greatest
 * singular values, each times the fourth root of its value where the greatest counts as 1:
 * basis has a->columns rows of CORPUS_SKETCH floats, of which the first
 * CORPUS_DIMENSION count; those without a singular value are zero. singular (may be NULL)
 * gets CORPUS_DIMENSION values, descending. ST_NOMEM, ST_CANCELLED.
 */
enum status corpus_svd(const struct corpus_matrix *a, uint64_t seed, struct corpus_watch *watch,
	float *basis, double *singular, uint32_t *rank, struct error *e);

/* ---- corpus_small.c: square matrices of CORPUS_SKETCH rows ---- */

/* g = r^T r with r upper triangular, from g's upper triangle; rows of r that hang on the
 * ones before are zero. */
void corpus_cholesky(const double *g, double *r);
/* inv = the inverse of r where its diagonal is not zero; zero columns elsewhere. */
void corpus_invert(const double *r, double *inv);
/* Eigenvalues, descending, and eigenvectors (rows of v) of r^T r; r is destroyed. One
 * sided Jacobi (Hestenes 1958). */
enum status corpus_eigen(double *r, double *values, double *v, struct corpus_watch *watch,
	struct error *e);

#endif
