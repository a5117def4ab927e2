/*
 * pipeline/candidates.c: the list that pages walk through: recall, grouping into
 * documents, recency, minScore, and what only passes the filter.
 */
#include <math.h>
#include <stdlib.h>

#include "pipeline/private.h"

#define DAY_MS 86400000.0

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/*
 * Entries that the list must reach at least. One more than the page holds, so that it
 * is known whether a next page exists. With recency the list is the same for every
 * page: a longer one would be sorted otherwise.
 */
static size_t reach(const struct retrieve_request *req)
{
	size_t n;

	if (req->has_recency)
		return req->candidate_k;
	if (__builtin_add_overflow(req->offset, req->k, &n) || __builtin_add_overflow(n, 1U, &n))
		return SIZE_MAX;
	return n;
}

/* Candidates into entries, best first; of a document only its best chunk. */
static enum status enlist(struct retrieve_run *r, const struct engine_candidate *c, size_t n)
{
	struct retrieve_group seen;
	bool grouped = r->req->unit == RETRIEVE_DOCUMENT;
	struct retrieve_list *list = &r->list;

	list->n = 0;
	list->v = arena_array(r->arena, n ? n : 1, sizeof(*list->v));
	if (!list->v || (grouped && retrieve_group_init(&seen, n, r->arena)))
		return retrieve_nomem(r);
	for (size_t i = 0; i < n; i++)
		if (!grouped || retrieve_group_add(&seen, c[i].doc_id))
			list->v[list->n++] = (struct retrieve_entry){ c[i], c[i].score };
	return ST_OK;
}

/* What usage tells: without the one chunk that was looked at for the next page. */
static size_t looked_at(const struct retrieve_request *req, size_t n)
{
	size_t last = reach(req) - 1;

	if (req->unit == RETRIEVE_DOCUMENT || req->has_recency || n <= req->candidate_k)
		return n;
	return least(n, last > req->candidate_k ? last : req->candidate_k);
}

/*
 * Recall is asked again with twice as many chunks while they are of too few documents.
 * All rounds together cost less than twice the last one.
 */
static enum status recall(struct retrieve_run *r)
{
	const struct retrieve_request *req = r->req;
	size_t target = reach(req);
	size_t want =
		least(target > req->candidate_k ? target : req->candidate_k, req->max_candidates);

	for (;;) {
		struct engine_candidate *c = NULL;
		size_t n = 0;
		enum status st =
			engine_recall(r->view, &r->query, want, r->pass, r->arena, &c, &n, r->e);

		if (!st)
			st = enlist(r, c, n);
		if (!st)
			st = retrieve_stopped(r);
		if (st)
			return st;
		r->out->candidates = looked_at(req, n);
		if (req->unit == RETRIEVE_CHUNK || r->list.n >= target || n < want ||
			want >= req->max_candidates)
			return ST_OK;
		want = want > req->max_candidates / 2 ? req->max_candidates : 2 * want;
	}
}

/* Score descending, then document id, then chunk: a total order (R1). */
static int by_score(const void *a, const void *b)
{
	const struct retrieve_entry *x = a, *y = b;
	int c;

	if (x->score != y->score)
		return x->score < y->score ? 1 : -1;
	c = bytes_cmp(x->candidate.doc_id, y->candidate.doc_id);
	if (c)
		return c;
	return (x->candidate.chunk > y->candidate.chunk) -
		(x->candidate.chunk < y->candidate.chunk);
}

/*
 * R6: score times 2^(-age / half-life). Age counts from the view's commit and not from
 * now, so that a version gives the same scores whenever it is asked (R9). A date in the
 * future counts as age 0; a document without a date keeps its score.
 */
static void decay(struct retrieve_run *r)
{
	const struct retrieve_request *req = r->req;
	int64_t now = engine_view_time_ms(r->view);

	if (!req->has_recency)
		return;
	r->list.n = least(r->list.n, req->candidate_k);
	for (size_t i = 0; i < r->list.n; i++) {
		struct retrieve_entry *x = &r->list.v[i];
		int64_t when;

		if (engine_instant(r->view, req->recency_field, x->candidate.key, &when) &&
			when < now)
			x->score *=
				exp2(-((double)now - (double)when) / DAY_MS / req->half_life_days);
	}
	qsort(r->list.v, r->list.n, sizeof(*r->list.v), by_score);
}

static void cut(struct retrieve_run *r)
{
	const struct retrieve_request *req = r->req;

	while (req->has_min_score && r->list.n && r->list.v[r->list.n - 1].score < req->min_score)
		r->list.n--;
}

/* ---- what only passes the filter (F4) ---- */

/* Room for k entries, the present ones copied. */
static enum status widen(struct retrieve_run *r)
{
	struct retrieve_entry *v = arena_array(r->arena, r->req->k, sizeof(*v));

	if (!v)
		return retrieve_nomem(r);
	for (size_t i = 0; i < r->list.n; i++)
		v[i] = r->list.v[i];
	r->list.v = v;
	return ST_OK;
}

static void append(struct retrieve_list *list, const struct engine_candidate *c)
{
	list->v[list->n++] = (struct retrieve_entry){ *c, 0 };
}

static enum status fill_chunks(struct retrieve_run *r, struct arena *scratch)
{
	struct retrieve_list *list = &r->list;
	struct engine_candidate *skip, *c = NULL;
	size_t n = 0;
	enum status st;

	skip = arena_array(scratch, list->n ? list->n : 1, sizeof(*skip));
	if (!skip)
		return retrieve_nomem(r);
	for (size_t i = 0; i < list->n; i++)
		skip[i] = list->v[i].candidate;
	st = engine_list(r->view, r->pass, r->req->k - list->n, skip, list->n, scratch, &c, &n,
		r->e);
	for (size_t i = 0; !st && i < n && list->n < r->req->k; i++)
		append(list, &c[i]);
	return st;
}

/* One round: of the first `ask` chunks that pass, those of documents not yet listed.
 * *ret_all: there are no more chunks. */
static enum status fill_round(struct retrieve_run *r, size_t ask, struct arena *scratch,
	bool *ret_all)
{
	struct retrieve_list *list = &r->list;
	struct engine_candidate *c = NULL;
	struct retrieve_group seen;
	size_t n = 0;
	enum status st = engine_list(r->view, r->pass, ask, NULL, 0, scratch, &c, &n, r->e);

	if (st)
		return st;
	if (retrieve_group_init(&seen, list->n + n, scratch))
		return retrieve_nomem(r);
	for (size_t i = 0; i < list->n; i++)
		retrieve_group_add(&seen, list->v[i].candidate.doc_id);
	for (size_t i = 0; i < n && list->n < r->req->k; i++)
		if (retrieve_group_add(&seen, c[i].doc_id))
			append(list, &c[i]);
	*ret_all = n < ask;
	return retrieve_stopped(r);
}

/* Documents may have many chunks each: twice as many chunks are listed each round. */
static enum status fill_documents(struct retrieve_run *r, struct arena *scratch)
{
	size_t ask = 2 * r->req->k;
	bool all = false;
	enum status st = ST_OK;

	while (!st && !all && r->list.n < r->req->k) {
		st = fill_round(r, ask, scratch, &all);
		arena_release(scratch);
		ask = ask > SIZE_MAX / 2 ? SIZE_MAX : 2 * ask;
	}
	return st;
}

/*
 * Fewer than k entries share a word with the query, but the filter names what is wanted:
 * further ones that pass come behind, until there are k (F4, RET-05).
 */
static enum status fill(struct retrieve_run *r)
{
	const struct retrieve_request *req = r->req;
	struct arena scratch;
	enum status st;

	r->list.matched = r->list.n;
	if (!r->pass || r->list.n >= req->k || (req->has_min_score && req->min_score > 0))
		return ST_OK;
	st = widen(r);
	if (st)
		return st;
	arena_init(&scratch, 0);
	st = req->unit == RETRIEVE_DOCUMENT ? fill_documents(r, &scratch)
					    : fill_chunks(r, &scratch);
	arena_release(&scratch);
	return st;
}

enum status retrieve_candidates(struct retrieve_run *r)
{
	enum status st = ST_OK;

	if (r->req->filter)
		st = engine_filter_compile(r->view, r->req->filter, r->arena, &r->pass, r->e);
	if (!st)
		st = recall(r);
	if (st)
		return st;
	decay(r);
	cut(r);
	return fill(r);
}
