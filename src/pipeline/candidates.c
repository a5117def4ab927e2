/*
 * pipeline/candidates.c: the list that pages walk through: recall of the sides that the
 * mode names, grouping into documents, later pages, recency, minScore.
 */
#include <math.h>
#include <stdlib.h>

#include "pipeline/private.h"

#define DAY_MS 86400000.0

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static size_t most(size_t a, size_t b)
{
	return a > b ? a : b;
}

bool retrieve_one_list(const struct retrieve_run *r)
{
	const struct retrieve_request *req = r->req;

	return req->reranker || req->has_mmr || req->has_recency;
}

/*
 * Entries that the list must reach at least. One more than the page holds, so that it
 * is known whether a next page exists. Where there is one list for all pages it does
 * not depend on the page: a longer one would be sorted otherwise.
 */
static size_t reach(const struct retrieve_run *r)
{
	const struct retrieve_request *req = r->req;
	size_t n;

	if (retrieve_one_list(r))
		return req->candidate_k;
	if (__builtin_add_overflow(req->offset, req->k, &n) || __builtin_add_overflow(n, 1U, &n))
		return SIZE_MAX;
	return n;
}

/* What usage tells: without the one chunk that was looked at for the next page. */
static size_t looked_at(const struct retrieve_run *r, size_t n)
{
	const struct retrieve_request *req = r->req;

	if (req->unit == RETRIEVE_DOCUMENT || n <= req->candidate_k)
		return n;
	if (retrieve_one_list(r))
		return req->candidate_k;
	return least(n, most(reach(r) - 1, req->candidate_k));
}

/* The best r->want chunks of each side. */
static enum status recall_once(struct retrieve_run *r)
{
	struct engine_candidate *sparse = NULL, *dense = NULL;
	size_t sparse_n = 0, dense_n = 0;
	size_t want = r->want;
	enum status st = ST_OK;

	if (r->mode != RETRIEVE_DENSE && r->query.n)
		st = engine_recall(r->view, &r->query, want, r->pass, r->arena, &sparse, &sparse_n,
			r->e);
	if (!st && r->vector)
		st = engine_near(r->view, r->vector, want, r->pass, false, r->arena, &dense,
			&dense_n, r->e);
	if (!st)
		st = retrieve_unite(r, sparse, sparse_n, dense, dense_n);
	r->all = sparse_n < want && dense_n < want;
	return st ? st : retrieve_stopped(r);
}

static enum status count_documents(struct retrieve_run *r, size_t *ret)
{
	struct retrieve_group seen;
	struct arena scratch;
	enum status st;

	*ret = 0;
	arena_init(&scratch, 0);
	st = retrieve_group_init(&seen, r->list.n, &scratch);
	for (size_t i = 0; !st && i < r->list.n; i++)
		*ret += retrieve_group_add(&seen, r->list.v[i].candidate.doc_id);
	arena_release(&scratch);
	return st ? retrieve_nomem(r) : ST_OK;
}

/* Twice as deep. */
static void deeper(struct retrieve_run *r)
{
	size_t max = r->req->max_candidates;

	r->want = r->want > max / 2 ? max : 2 * r->want;
}

/*
 * Recall is asked again with twice as many chunks while they are of too few documents.
 * All rounds together cost less than twice the last one. Only in the sparse mode alone,
 * where deeper means more of the same list, does the page decide how deep.
 */
enum status retrieve_recall(struct retrieve_run *r)
{
	const struct retrieve_request *req = r->req;
	size_t target = r->mode == RETRIEVE_SPARSE ? reach(r) : req->k;
	size_t want = req->candidate_k;

	if (r->mode == RETRIEVE_SPARSE && !retrieve_one_list(r))
		want = most(target, want);
	r->want = least(want, req->max_candidates);
	for (;;) {
		size_t documents = 0;
		enum status st = recall_once(r);

		if (!st && req->unit == RETRIEVE_DOCUMENT)
			st = count_documents(r, &documents);
		if (st)
			return st;
		r->out->candidates = looked_at(r, r->list.n);
		if (req->unit == RETRIEVE_CHUNK || documents >= target || r->all ||
			r->want >= req->max_candidates)
			return ST_OK;
		deeper(r);
	}
}

/* Of a document only its best chunk stays. */
static enum status group(struct retrieve_run *r)
{
	struct retrieve_list *list = &r->list;
	struct retrieve_group seen;
	size_t n = 0;

	if (retrieve_group_init(&seen, list->n, r->arena))
		return retrieve_nomem(r);
	for (size_t i = 0; i < list->n; i++)
		if (retrieve_group_add(&seen, list->v[i].candidate.doc_id))
			list->v[n++] = list->v[i];
	list->n = n;
	return ST_OK;
}

enum status retrieve_rank(struct retrieve_run *r)
{
	enum status st = ST_OK;

	if (r->mode == RETRIEVE_HYBRID) /* of one side it is the engine's order */
		qsort(r->list.v, r->list.n, sizeof(*r->list.v), retrieve_by_score);
	if (r->req->unit == RETRIEVE_DOCUMENT)
		st = group(r);
	if (retrieve_one_list(r))
		r->list.n = least(r->list.n, r->req->candidate_k);
	else if (r->mode != RETRIEVE_SPARSE && !r->all)
		r->list.n = least(r->list.n, r->want);
	return st;
}

/* ---- pages behind the first candidates ---- */

/* What makes two entries the same hit. Lives as long as the entry. */
static struct bytes name_of(const struct retrieve_run *r, const struct retrieve_entry *x)
{
	if (r->req->unit == RETRIEVE_DOCUMENT)
		return x->candidate.doc_id;
	return (struct bytes){ (const char *)&x->candidate.key, sizeof(x->candidate.key) };
}

/* Puts behind `before` what r->list has beyond it, never with a higher score. */
static enum status append(struct retrieve_run *r, const struct retrieve_list *before)
{
	struct retrieve_list list = { .n = before->n };
	struct retrieve_group seen;
	double last = before->n ? before->v[before->n - 1].score : INFINITY;
	size_t n;

	if (__builtin_add_overflow(before->n, r->list.n, &n) ||
		retrieve_group_init(&seen, n, r->arena))
		return retrieve_nomem(r);
	list.v = arena_array(r->arena, n ? n : 1, sizeof(*list.v));
	if (!list.v)
		return retrieve_nomem(r);
	for (size_t i = 0; i < before->n; i++) {
		list.v[i] = before->v[i];
		retrieve_group_add(&seen, name_of(r, &list.v[i]));
	}
	for (size_t i = 0; i < r->list.n; i++) {
		if (!retrieve_group_add(&seen, name_of(r, &r->list.v[i])))
			continue;
		list.v[list.n] = r->list.v[i];
		list.v[list.n++].score = fmin(last, r->list.v[i].score);
	}
	r->list = list;
	return ST_OK;
}

/*
 * R10: a page that lies behind the candidates of the first one. Candidates of twice the
 * depth may come in anywhere between the old ones, so that those who were shown already
 * keep their places and the new ones follow: no page repeats or skips a hit, and which
 * hit stands where does not depend on how long the pages are.
 */
enum status retrieve_deepen(struct retrieve_run *r)
{
	enum status st = ST_OK;

	if (r->mode == RETRIEVE_SPARSE || retrieve_one_list(r))
		return ST_OK;
	while (!st && r->list.n < reach(r) && !r->all && r->want < r->req->max_candidates) {
		struct retrieve_list before = r->list;

		deeper(r);
		st = recall_once(r);
		if (!st && r->mode == RETRIEVE_HYBRID)
			st = retrieve_fuse_scores(r);
		if (!st)
			st = retrieve_rank(r);
		if (!st)
			st = append(r, &before);
		r->out->candidates = looked_at(r, r->list.n);
	}
	return st;
}

/*
 * R6: score times 2^(-age / half-life). Age counts from the view's commit and not from
 * now, so that a version gives the same scores whenever it is asked (R9). A date in the
 * future counts as age 0; a document without a date keeps its score. What is below zero
 * goes down with age as well.
 */
static void decay(struct retrieve_run *r)
{
	const struct retrieve_request *req = r->req;
	int64_t now = engine_view_time_ms(r->view);

	for (size_t i = 0; i < r->list.n; i++) {
		struct retrieve_entry *x = &r->list.v[i];
		double part;
		int64_t when;

		if (!engine_instant(r->view, req->recency_field, x->candidate.key, &when) ||
			when >= now)
			continue;
		part = exp2(-((double)now - (double)when) / DAY_MS / req->half_life_days);
		x->score *= x->score < 0 ? 2 - part : part;
	}
	qsort(r->list.v, r->list.n, sizeof(*r->list.v), retrieve_by_score);
}

void retrieve_settle(struct retrieve_run *r)
{
	const struct retrieve_request *req = r->req;
	struct retrieve_list *list = &r->list;
	size_t n = list->n;

	if (req->has_recency)
		decay(r);
	while (req->has_min_score && list->n && list->v[list->n - 1].score < req->min_score)
		list->n--;
	r->cut = list->n < n || (req->has_min_score && req->min_score > 0);
}
