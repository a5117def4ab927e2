/*
 * pipeline/rerank.c: the best candidates judged by their texts. Late interaction runs
 * here, a passage at a time; the other models are asked over HTTP for all at once.
 *
 * What a text says is weighed against what the first stages found, for colbert: its
 * table of token vectors is a weak judge on its own (docs/QUALITY.md). A remote model
 * has the last word.
 */
#include <math.h>
#include <stdlib.h>

#include "pipeline/private.h"
#include "util/fault.h"
#include "util/utf8.h"

/* Bytes of a passage that are read: what is beyond the models' windows anyway. */
#define MAX_PASSAGE 32768

/* What an entry's chunk says, after its title and headings, as an encoder would read it;
 * cut on a whole character. */
static enum status passage(struct retrieve_run *r, const struct retrieve_entry *x,
	struct arena *arena, struct bytes *ret)
{
	struct engine_record rec;
	enum status st = engine_fetch(r->view, &x->candidate, ENGINE_TEXT | ENGINE_CITATION, arena,
		&rec, r->e);

	if (st)
		return st;
	if (!rec.text.data)
		rec.text = bytes_of("");
	if (rec.text.len > MAX_PASSAGE)
		rec.text.len = utf8_floor(rec.text.data, rec.text.len, MAX_PASSAGE);
	return engine_join_text(rec.title, rec.context, rec.text, TEXT_PLAIN, arena, ret, r->e);
}

/* Between passages: whoever cancels waits for one of them at most. */
static enum status go_on(struct retrieve_run *r)
{
	if (fault_hit("retrieve.rerank.passage", r->hooks->stop, r->hooks->arg))
		return error_set(r->e, ST_UNAVAILABLE, "the rerank stage failed");
	return retrieve_stopped(r);
}

/* ---- colbert ---- */

static enum status add_passage(struct retrieve_run *r, struct maxsim_query *q,
	const struct retrieve_entry *x)
{
	struct bytes text;
	struct arena scratch;
	enum status st;

	arena_init(&scratch, 0);
	st = passage(r, x, &scratch, &text);
	if (!st)
		st = maxsim_add(q, text, r->e);
	arena_release(&scratch);
	return st ? st : go_on(r);
}

/* What makes 0..1 of the score before: convex fusion did that, others are measured by
 * their best. */
static double scale_of(const struct retrieve_run *r)
{
	double most = 0;

	if (r->mode == RETRIEVE_HYBRID && r->req->fusion.method == RETRIEVE_CONVEX)
		return 1;
	for (size_t i = 0; i < r->list.n; i++)
		most = fmax(most, r->list.v[i].score);
	return most > 0 ? 1 / most : 0;
}

static void interpolate(struct retrieve_run *r)
{
	const double share = RETRIEVE_COLBERT_SHARE, scale = scale_of(r);

	for (size_t i = 0; i < r->list.n; i++) {
		struct retrieve_entry *x = &r->list.v[i];

		x->score = share * x->scores.rerank + (1 - share) * x->score * scale;
	}
}

static enum status colbert(struct retrieve_run *r)
{
	const struct models *m = r->req->models;
	double *scores = arena_array(r->arena, r->list.n, sizeof(*scores));
	struct maxsim_query *q = NULL;
	enum status st;

	if (!scores)
		return retrieve_nomem(r);
	st = maxsim_query_new(m->table, models_rarity(m, r->view), r->req->query, r->arena, &q,
		r->e);
	for (size_t i = 0; !st && i < r->list.n; i++)
		st = add_passage(r, q, &r->list.v[i]);
	if (st)
		return st;
	maxsim_scores(q, scores);
	for (size_t i = 0; i < r->list.n; i++)
		r->list.v[i].scores.rerank = scores[i];
	interpolate(r);
	return ST_OK;
}

/* ---- remote models ---- */

static enum status passages(struct retrieve_run *r, struct arena *arena, struct bytes *out)
{
	enum status st = ST_OK;

	for (size_t i = 0; !st && i < r->list.n; i++) {
		struct arena scratch;

		arena_init(&scratch, 0);
		st = passage(r, &r->list.v[i], &scratch, &out[i]);
		if (!st && arena_dup_bytes(arena, out[i], &out[i]))
			st = retrieve_nomem(r);
		arena_release(&scratch);
		if (!st)
			st = go_on(r);
	}
	return st;
}

static enum status ask(struct retrieve_run *r, struct remote *model, struct arena *scratch)
{
	const struct remote_call call = { 0, r->hooks->stop, r->hooks->arg };
	struct retrieve_list *list = &r->list;
	struct bytes *texts = arena_array(scratch, list->n, sizeof(*texts));
	double *scores = arena_array(scratch, list->n, sizeof(*scores));
	struct error why = { .code = ST_OK };
	enum status st;

	if (!texts || !scores)
		return retrieve_nomem(r);
	st = passages(r, scratch, texts);
	if (st)
		return st;
	if (remote_rerank(model, r->req->query, texts, list->n, &call, scores, &why)) {
		retrieve_remote_failed(r, &why);
		*r->e = why;
		return why.code;
	}
	for (size_t i = 0; i < list->n; i++)
		list->v[i].score = list->v[i].scores.rerank = scores[i] + 0.0; /* no -0.0 */
	return ST_OK;
}

static enum status remote(struct retrieve_run *r, struct remote *model)
{
	struct arena scratch;
	enum status st;

	arena_init(&scratch, 0);
	st = ask(r, model, &scratch);
	arena_release(&scratch);
	return st;
}

/* strict:false: recall's order stays. */
static enum status do_without(struct retrieve_run *r, const struct error *before)
{
	*r->e = *before;
	for (size_t i = 0; i < r->list.n; i++)
		r->list.v[i].scores.rerank = NAN;
	retrieve_note(r, "the reranker is not available: hits are in the order of recall");
	return ST_OK;
}

enum status retrieve_rerank(struct retrieve_run *r)
{
	const struct retrieve_request *req = r->req;
	struct retrieve_list *list = &r->list;
	struct error before = *r->e;
	enum status st;

	if (list->n > req->top_n)
		list->n = req->top_n;
	if (!list->n)
		return ST_OK;
	if (req->reranker == RETRIEVE_COLBERT)
		st = colbert(r);
	else
		st = remote(r,
			req->reranker == RETRIEVE_LLM ? req->models->llm
						      : req->models->cross_encoder);
	if (st == ST_UNAVAILABLE && req->lenient)
		return do_without(r, &before);
	if (st)
		return st;
	r->out->reranked = list->n;
	qsort(list->v, list->n, sizeof(*list->v), retrieve_by_score);
	return ST_OK;
}
