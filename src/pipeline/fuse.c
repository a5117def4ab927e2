/*
 * pipeline/fuse.c: two lists into one (R4), and the order of all lists (R1).
 *
 * Whoever was found by one side alone gets the other side's score as well, and both
 * sides are put in scale by the best of the whole pool: so the score of an entry does
 * not depend on where either list was cut.
 */
#include <math.h>
#include <stdlib.h>

#include "pipeline/private.h"

int retrieve_by_score(const void *a, const void *b)
{
	const struct retrieve_entry *x = a, *y = b;
	int c;

	if (x->score != y->score)
		return x->score < y->score ? 1 : -1;
	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	c = bytes_cmp(x->candidate.doc_id, y->candidate.doc_id);
	if (c)
		return c;
	return (x->candidate.chunk > y->candidate.chunk) -
		(x->candidate.chunk < y->candidate.chunk);
}

static int by_key(const void *a, const void *b)
{
	const struct retrieve_entry *x = a, *y = b;

	return (x->candidate.key > y->candidate.key) - (x->candidate.key < y->candidate.key);
}

/* ---- the pool ---- */

static struct retrieve_entry from_sparse(const struct engine_candidate *c, size_t rank)
{
	return (struct retrieve_entry){ .candidate = *c,
		.score = c->score,
		.sparse_rank = rank,
		.scores = { NAN, c->score, NAN } };
}

static struct retrieve_entry from_dense(const struct engine_candidate *c, size_t rank)
{
	return (struct retrieve_entry){ .candidate = *c,
		.score = fmax(0, c->score),
		.dense_rank = rank,
		.scores = { c->score, NAN, NAN } };
}

/* An entry that stands twice, once from each side, becomes one. The list is sorted by
 * keys. */
static void join(struct retrieve_list *list)
{
	size_t n = 0;

	for (size_t i = 0; i < list->n; i++) {
		struct retrieve_entry *last = n ? &list->v[n - 1] : NULL;
		const struct retrieve_entry *x = &list->v[i];

		if (!last || last->candidate.key != x->candidate.key) {
			list->v[n++] = *x;
			continue;
		}
		last->dense_rank += x->dense_rank; /* one of them is 0 */
		last->sparse_rank += x->sparse_rank;
		last->scores.dense = fmax(last->scores.dense, x->scores.dense); /* or NAN */
		last->scores.sparse = fmax(last->scores.sparse, x->scores.sparse);
	}
	list->n = n;
}

enum status retrieve_unite(struct retrieve_run *r, const struct engine_candidate *sparse,
	size_t sparse_n, const struct engine_candidate *dense, size_t dense_n)
{
	struct retrieve_list *list = &r->list;
	size_t n;

	if (__builtin_add_overflow(sparse_n, dense_n, &n))
		return retrieve_nomem(r);
	list->n = 0;
	list->v = arena_array(r->arena, n ? n : 1, sizeof(*list->v));
	if (!list->v)
		return retrieve_nomem(r);
	for (size_t i = 0; i < sparse_n; i++)
		list->v[list->n++] = from_sparse(&sparse[i], i + 1);
	for (size_t i = 0; i < dense_n; i++)
		list->v[list->n++] = from_dense(&dense[i], i + 1);
	if (sparse_n && dense_n) {
		qsort(list->v, list->n, sizeof(*list->v), by_key);
		join(list);
	}
	return ST_OK;
}

/* ---- scores ---- */

/* Asks the engine for both scores of every entry: those that are there already come out
 * the same. */
static enum status complete(struct retrieve_run *r)
{
	struct retrieve_list *list = &r->list;
	struct engine_candidate *c = arena_array(r->arena, list->n ? list->n : 1, sizeof(*c));
	double *score = arena_array(r->arena, list->n ? list->n : 1, sizeof(*score));
	enum status st;

	if (!c || !score)
		return retrieve_nomem(r);
	for (size_t i = 0; i < list->n; i++)
		c[i] = list->v[i].candidate;
	st = engine_bm25(r->view, &r->query, c, list->n, r->arena, score, r->e);
	for (size_t i = 0; !st && i < list->n; i++)
		list->v[i].scores.sparse = score[i];
	if (st || !r->vector)
		return st;
	st = engine_cosines(r->view, r->vector, c, list->n, score, r->e);
	for (size_t i = 0; !st && i < list->n; i++)
		list->v[i].scores.dense = score[i];
	return st;
}

/* The dense side's part of the scale: never negative, and 0 without a vector. */
static double near(const struct retrieve_entry *x)
{
	return isnan(x->scores.dense) ? 0 : fmax(0, x->scores.dense);
}

/* The least and the greatest of both sides. */
struct range {
	double least_dense, dense, least_sparse, sparse;
};

static struct range range_of(const struct retrieve_list *list)
{
	struct range g = { INFINITY, 0, INFINITY, 0 };

	for (size_t i = 0; i < list->n; i++) {
		const struct retrieve_entry *x = &list->v[i];

		g.least_dense = fmin(g.least_dense, near(x));
		g.dense = fmax(g.dense, near(x));
		g.least_sparse = fmin(g.least_sparse, x->scores.sparse);
		g.sparse = fmax(g.sparse, x->scores.sparse);
	}
	return g;
}

/* v between least and most as 0..1. Where all are equal each is the best there is,
 * unless that is nothing. */
static double scaled(double v, double least, double most)
{
	if (most <= least)
		return most > 0 ? 1 : 0;
	return (v - least) / (most - least);
}

static double reciprocal(double weight, double k, size_t rank)
{
	return rank ? weight / (k + (double)rank) : 0;
}

static double fused(const struct retrieve_fusion *f, const struct range *g,
	const struct retrieve_entry *x)
{
	switch (f->method) {
	case RETRIEVE_RRF:
		return reciprocal(f->dense, f->rrf_k, x->dense_rank) +
			reciprocal(f->sparse, f->rrf_k, x->sparse_rank);
	case RETRIEVE_WEIGHTED:
		return f->dense * scaled(near(x), g->least_dense, g->dense) +
			f->sparse * scaled(x->scores.sparse, g->least_sparse, g->sparse);
	case RETRIEVE_CONVEX:
		break;
	}
	/* Zero is the floor of both sides. Bruch, Gai and Ingber anchor cosines at -1; the
	 * encoders here give unrelated texts a cosine near 0, and what is below that says
	 * nothing more. */
	return f->alpha * scaled(near(x), 0, g->dense) +
		(1 - f->alpha) * scaled(x->scores.sparse, 0, g->sparse);
}

/* Of the sides that found it at all. */
static double weight_of(const struct retrieve_fusion *f, const struct retrieve_entry *x)
{
	bool convex = f->method == RETRIEVE_CONVEX;
	double dense = convex ? f->alpha : f->dense, sparse = convex ? 1 - f->alpha : f->sparse;

	return (near(x) > 0 ? dense : 0) + (x->scores.sparse > 0 ? sparse : 0);
}

enum status retrieve_fuse_scores(struct retrieve_run *r)
{
	const struct retrieve_fusion *f = &r->req->fusion;
	enum status st = complete(r);
	struct range g;

	if (st)
		return st;
	g = range_of(&r->list);
	for (size_t i = 0; i < r->list.n; i++) {
		struct retrieve_entry *x = &r->list.v[i];

		x->score = fused(f, &g, x);
		x->weight = weight_of(f, x);
	}
	return ST_OK;
}
