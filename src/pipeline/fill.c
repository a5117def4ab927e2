/*
 * pipeline/fill.c: what only passes the filter (F4, RET-05): comes behind the list, with
 * score 0, until there are as many hits as were asked for.
 */
#include <math.h>

#include "pipeline/private.h"

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

/* Never above those before it, of which some rerankers make negative scores. */
static void append(struct retrieve_run *r, const struct engine_candidate *c)
{
	struct retrieve_list *list = &r->list;
	double last = list->n ? list->v[list->n - 1].score : 0;
	double sparse = r->mode == RETRIEVE_DENSE ? NAN : 0;

	list->v[list->n++] = (struct retrieve_entry){ .candidate = *c,
		.score = fmin(0, last),
		.scores = { NAN, sparse, NAN } };
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
		append(r, &c[i]);
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
			append(r, &c[i]);
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
enum status retrieve_fill(struct retrieve_run *r)
{
	const struct retrieve_request *req = r->req;
	struct arena scratch;
	enum status st;

	r->list.matched = r->list.n;
	if (!r->pass || r->list.n >= req->k || r->cut)
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
