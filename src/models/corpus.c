/*
 * corpus.c: models of a corpus's own space: opening, and text to vector. Without a fit a
 * vector is made by feature hashing: each bucket adds its weight to one dimension, with a
 * sign (Weinberger et al. 2009).
 *
 * Scratch space is kept in a pool: a thread takes one for the time of a call, so that as
 * many exist as calls ran at once, up to POOL_MAX when they are done.
 */
#include <math.h>
#include <pthread.h>

#include "models/corpus_private.h"
#include "util/mem.h"

#define POOL_MAX 16

/* A thread's scratch space: features and their weights. */
struct scratch {
	struct scratch *next;
	struct corpus_features *features;
	struct corpus_term terms[CORPUS_BUCKETS];
};

struct corpus_model {
	struct corpus_fitted *fitted; /* NULL: none */
	pthread_mutex_t lock;         /* over the pool */
	struct scratch *pool;
	size_t pooled;
};

enum status corpus_model_open(struct bytes blob, struct corpus_model **ret, struct error *e)
{
	struct corpus_model *m = mem_zero(sizeof(*m));
	enum status st = ST_OK;

	if (!m)
		return error_set(e, ST_NOMEM, "out of memory");
	if (blob.data) {
		m->fitted = mem_alloc(sizeof(*m->fitted));
		st = m->fitted ? corpus_blob_read(blob, m->fitted, e)
			       : error_set(e, ST_NOMEM, "out of memory");
	}
	if (!st && pthread_mutex_init(&m->lock, NULL))
		st = error_set(e, ST_NOMEM, "out of memory");
	if (st) {
		mem_free(m->fitted);
		mem_free(m);
		return st;
	}
	*ret = m;
	return ST_OK;
}

static void scratch_free(struct scratch *s)
{
	corpus_features_free(s->features);
	mem_free(s);
}

void corpus_model_close(struct corpus_model *m)
{
	if (!m)
		return;
	while (m->pool) {
		struct scratch *s = m->pool;

		m->pool = s->next;
		scratch_free(s);
	}
	(void)pthread_mutex_destroy(&m->lock);
	mem_free(m->fitted);
	mem_free(m);
}

bool corpus_model_fitted(const struct corpus_model *m)
{
	return m->fitted != NULL;
}

/* The pool is all that changes in a model. */
static enum status scratch_take(struct corpus_model *m, struct scratch **ret, struct error *e)
{
	struct scratch *s;
	enum status st;

	(void)pthread_mutex_lock(&m->lock);
	s = m->pool;
	if (s) {
		m->pool = s->next;
		m->pooled--;
	}
	(void)pthread_mutex_unlock(&m->lock);
	if (!s) {
		s = mem_zero(sizeof(*s));
		if (!s)
			return error_set(e, ST_NOMEM, "out of memory");
		st = corpus_features_new(&s->features, e);
		if (st) {
			mem_free(s);
			return st;
		}
	}
	*ret = s;
	return ST_OK;
}

static void scratch_give(struct corpus_model *m, struct scratch *s)
{
	bool full;

	(void)pthread_mutex_lock(&m->lock);
	full = m->pooled == POOL_MAX;
	if (!full) {
		s->next = m->pool;
		m->pool = s;
		m->pooled++;
	}
	(void)pthread_mutex_unlock(&m->lock);
	if (full)
		scratch_free(s);
}

static void hash_into(const struct corpus_term *terms, size_t n, float *out)
{
	memset(out, 0, CORPUS_DIMENSION * sizeof(*out));
	for (size_t i = 0; i < n; i++) {
		uint32_t h = terms[i].bucket * UINT32_C(0x9e3779b1);

		h = (h ^ h >> 15) * UINT32_C(0x85ebca6b);
		h ^= h >> 13;
		out[h % CORPUS_DIMENSION] += h & 0x10000 ? terms[i].weight : -terms[i].weight;
	}
}

/* Sums have one order; the root and the division are exact. */
static void unit_length(float *v)
{
	double square = 0;

	for (size_t d = 0; d < CORPUS_DIMENSION; d++)
		square += (double)v[d] * v[d];
	if (!(square > 1e-24)) {
		memset(v, 0, CORPUS_DIMENSION * sizeof(*v));
		return;
	}
	square = sqrt(square);
	for (size_t d = 0; d < CORPUS_DIMENSION; d++)
		v[d] = (float)(v[d] / square);
}

enum status corpus_model_embed(const struct corpus_model *m, struct bytes text, float *out,
	struct error *e)
{
	struct corpus_model *owner = (struct corpus_model *)(uintptr_t)m; /* for its pool */
	struct scratch *s = NULL;
	enum status st = scratch_take(owner, &s, e);
	size_t n;

	if (st)
		return st;
	st = corpus_features_read(s->features, text, e);
	if (!st) {
		n = corpus_weigh(s->features->items, s->features->n,
			m->fitted ? m->fitted->idf : NULL, s->terms);
		if (m->fitted)
			corpus_project(s->terms, n, m->fitted->scale, m->fitted->projection, out);
		else
			hash_into(s->terms, n, out);
		unit_length(out);
	}
	scratch_give(owner, s);
	return st;
}
