/*
 * pipeline/diversify.c: maximal marginal relevance (Carbonell and Goldstein 1998, "The
 * Use of MMR, Diversity-Based Reranking"): the next hit is the one with the greatest
 *
 *   lambda x relevance + (1 - lambda) x novelty
 *
 * relevance is the score by the best of the list, novelty 1 minus the greatest cosine
 * with a hit that was taken before (1 for the first; cosines below 0 count as 0, and so
 * does a chunk without a vector). This differs from the formula of the paper by a
 * constant, so it orders alike, and is never negative. It is also the hit's score: what
 * is taken later has never more, since novelty only falls while hits are taken and each
 * is the best of those that are left. So scores descend, as they must (R1).
 *
 * Cost: hits taken x candidates x dimension. A page takes as many as it needs.
 */
#include <math.h>
#include <stdlib.h>

#include "pipeline/private.h"

/* Numbers multiplied between two questions whether to go on: well under 1 ms. */
#define BATCH 200000

struct pool {
	size_t n, dimension;
	float *vectors;    /* n rows; all zero: there is none */
	double *relevance; /* 0..1 */
	double *nearest;   /* greatest cosine with what was taken, >= 0 */
	size_t work;       /* multiplications since the last question */
};

static enum status prepare(struct retrieve_run *r, struct pool *p, struct arena *scratch)
{
	const struct retrieve_list *list = &r->list;
	double least = fmin(0, list->v[list->n - 1].score), most = list->v[0].score;
	size_t cells;

	p->n = list->n;
	p->dimension = r->has_space ? r->space.dimension : 0;
	if (__builtin_mul_overflow(p->n, p->dimension, &cells))
		return retrieve_nomem(r);
	p->vectors = arena_array(scratch, cells ? cells : 1, sizeof(*p->vectors));
	p->relevance = arena_array(scratch, p->n, sizeof(*p->relevance));
	p->nearest = arena_array(scratch, p->n, sizeof(*p->nearest));
	if (!p->vectors || !p->relevance || !p->nearest)
		return retrieve_nomem(r);
	for (size_t i = 0; i < p->n; i++) {
		const struct retrieve_entry *x = &list->v[i];

		/* Halves: the difference of two large numbers is still one. */
		p->relevance[i] = most > least ? (x->score / 2 - least / 2) / (most / 2 - least / 2)
					       : 1;
		if (p->dimension)
			engine_vector(r->view, x->candidate.key, p->vectors + i * p->dimension);
	}
	return ST_OK;
}

/* Four sums side by side: their additions need not wait for each other. */
static double cosine(const float *a, const float *b, size_t n)
{
	double sum[4] = { 0 };
	size_t i = 0;

	for (; i + 4 <= n; i += 4)
		for (size_t j = 0; j < 4; j++)
			sum[j] += (double)a[i + j] * (double)b[i + j];
	for (; i < n; i++)
		sum[0] += (double)a[i] * (double)b[i];
	return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

/* What was just taken makes the rest less new. */
static enum status move_near(struct retrieve_run *r, struct pool *p, size_t from, size_t taken)
{
	const float *v = p->vectors + taken * p->dimension;

	for (size_t i = from; i < p->n; i++) {
		double near = fmin(1, cosine(v, p->vectors + i * p->dimension, p->dimension));

		p->nearest[i] = fmax(p->nearest[i], near);
		p->work += p->dimension;
		if (p->work >= BATCH) {
			p->work = 0;
			if (retrieve_stopped(r))
				return ST_CANCELLED;
		}
	}
	return ST_OK;
}

/* Swaps rows a and b of everything. */
static void swap(struct retrieve_list *list, struct pool *p, size_t a, size_t b)
{
	struct retrieve_entry entry = list->v[a];
	double relevance = p->relevance[a], nearest = p->nearest[a];

	list->v[a] = list->v[b];
	list->v[b] = entry;
	p->relevance[a] = p->relevance[b];
	p->relevance[b] = relevance;
	p->nearest[a] = p->nearest[b];
	p->nearest[b] = nearest;
	for (size_t i = 0; i < p->dimension; i++) {
		float v = p->vectors[a * p->dimension + i];

		p->vectors[a * p->dimension + i] = p->vectors[b * p->dimension + i];
		p->vectors[b * p->dimension + i] = v;
	}
}

/* Equal values: whoever would have come first without MMR. */
static bool better(const struct retrieve_entry *x, double of_x, const struct retrieve_entry *y,
	double of_y)
{
	return of_x != of_y ? of_x > of_y : retrieve_by_score(x, y) < 0;
}

static enum status take(struct retrieve_run *r, struct pool *p, size_t want)
{
	const double lambda = r->req->lambda;
	struct retrieve_list *list = &r->list;
	double *value = p->relevance; /* of those taken */
	enum status st = ST_OK;

	if (!p->relevance || !p->nearest)
		return retrieve_nomem(r);
	for (size_t at = 0; !st && at < want; at++) {
		size_t best = at;
		double most = -1;

		for (size_t i = at; i < p->n; i++) {
			double v = lambda * p->relevance[i] + (1 - lambda) * (1 - p->nearest[i]);

			if (i == at || better(&list->v[i], v, &list->v[best], most)) {
				best = i;
				most = v;
			}
		}
		swap(list, p, at, best);
		value[at] = most;
		st = move_near(r, p, at + 1, at);
	}
	for (size_t i = 0; !st && i < want; i++)
		list->v[i].score = value[i];
	return st;
}

enum status retrieve_diversify(struct retrieve_run *r)
{
	const struct retrieve_request *req = r->req;
	struct retrieve_list *list = &r->list;
	struct pool pool = { .n = 0 };
	struct arena scratch;
	enum status st;
	size_t want;

	if (list->n > RETRIEVE_MAX_DIVERSIFY)
		list->n = RETRIEVE_MAX_DIVERSIFY;
	if (!list->n)
		return ST_OK;
	if (!r->has_space)
		retrieve_note(r, "without vectors mmr cannot tell hits apart");
	if (__builtin_add_overflow(req->offset, req->k, &want) || want > list->n)
		want = list->n;
	arena_init(&scratch, 0);
	st = prepare(r, &pool, &scratch);
	if (!st)
		st = take(r, &pool, want);
	arena_release(&scratch);
	return st;
}
