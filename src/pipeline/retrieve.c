/*
 * pipeline/retrieve.c: the stages in order. A fault point at the start of each lets tests
 * stall it.
 */
#include "pipeline/retrieve.h"

#include <string.h>

#include "pipeline/private.h"
#include "util/fault.h"

void retrieve_note(struct retrieve_run *r, const char *text)
{
	if (r->out->note_count < RETRIEVE_MAX_NOTES)
		r->out->notes[r->out->note_count++] = text;
}

enum status retrieve_nomem(struct retrieve_run *r)
{
	return error_set(r->e, ST_NOMEM, "out of memory");
}

enum status retrieve_stopped(struct retrieve_run *r)
{
	if (r->hooks->stop(r->hooks->arg))
		return error_set(r->e, ST_CANCELLED, "cancelled");
	return ST_OK;
}

void retrieve_remote_failed(struct retrieve_run *r, struct error *why)
{
	if (why->code == ST_CANCELLED || r->hooks->stop(r->hooks->arg))
		error_set(why, ST_CANCELLED, "cancelled");
	else if (why->code == ST_TIMEOUT)
		error_set(why, ST_UNAVAILABLE, "the model did not answer in time");
}

/* Announces a stage; ST_CANCELLED if the request should not go on. */
static enum status enter(struct retrieve_run *r, const char *stage, const char *fault,
	double progress)
{
	const struct retrieve_hooks *h = r->hooks;

	h->stage(h->arg, stage, progress, r->out->hits, r->out->n);
	if (fault_hit(fault, h->stop, h->arg))
		return error_set(r->e, ST_UNAVAILABLE, "the %s stage failed", stage);
	return retrieve_stopped(r);
}

/* The state that a pin or a cursor names. A pin may be of another corpus (D35). */
static enum status open_at(struct retrieve_run *r, const struct engine_stop *stop)
{
	const struct retrieve_request *req = r->req;
	char corpus[VERSION_ID_LEN + 1];
	uint64_t commit = 0;
	enum status st = ST_GONE;

	if (req->index_version.data && !version_parse(req->index_version, corpus, &commit))
		return error_field(r->e, ST_INVALID, "indexVersion",
			"indexVersion is none of this server's");
	if (req->has_cursor)
		st = engine_view_open_at(r->en, req->cursor_version, stop, &r->view, r->e);
	else if (strcmp(corpus, engine_corpus_id(r->en)) == 0)
		st = engine_view_open_at(r->en, commit, stop, &r->view, r->e);
	if (st != ST_GONE)
		return st;
	if (req->has_cursor)
		return error_field(r->e, ST_NOT_FOUND, "cursor",
			"the state of the corpus that this cursor walks through is not kept any more");
	return error_set(r->e, ST_GONE, "this indexVersion is not served any more");
}

static enum status open_view(struct retrieve_run *r)
{
	struct engine_stop stop = { r->hooks->stop, r->hooks->arg };
	enum status st;

	if (r->req->has_cursor || r->req->index_version.data)
		st = open_at(r, &stop);
	else
		st = engine_view_open(r->en, &stop, &r->view, r->e);
	if (st)
		return st;
	r->out->version = engine_view_version(r->view);
	version_format(engine_corpus_id(r->en), r->out->version, r->out->index_version);
	return ST_OK;
}

static enum status transform(struct retrieve_run *r)
{
	enum status st = enter(r, "transform", "retrieve.transform", 0.0);

	if (!st)
		st = engine_analyze(r->view, r->req->query, r->arena, &r->query, r->e);
	if (st)
		return st;
	if (r->query.truncated)
		retrieve_note(r, "the query was cut to its first 512 words");
	if (r->query.n == 0)
		retrieve_note(r,
			r->query.only_stop_words
				? "the query has only function words, which match nothing"
				: "the query has no words");
	return retrieve_vector(r);
}

/* D33: a query without words finds nothing, whatever the filter lets pass. A vector that
 * came with it speaks for itself. */
static bool has_question(const struct retrieve_run *r)
{
	return r->query.n || (r->vector && r->mode != RETRIEVE_SPARSE);
}

static enum status recall(struct retrieve_run *r)
{
	enum status st = enter(r, "recall", "retrieve.recall", 0.1);

	if (st || !has_question(r))
		return st;
	if (r->req->filter)
		st = engine_filter_compile(r->view, r->req->filter, r->arena, &r->pass, r->e);
	return st ? st : retrieve_recall(r);
}

static enum status fuse(struct retrieve_run *r)
{
	enum status st = ST_OK;

	if (r->mode == RETRIEVE_HYBRID)
		st = enter(r, "fuse", "retrieve.fuse", 0.4);
	if (!st && r->mode == RETRIEVE_HYBRID)
		st = retrieve_fuse_scores(r);
	if (!st)
		st = retrieve_rank(r);
	return st ? st : retrieve_deepen(r);
}

/* T6: those who watch see the candidates before they are reranked. */
static enum status rerank(struct retrieve_run *r)
{
	enum status st;

	if (!r->req->reranker)
		return ST_OK;
	st = retrieve_page(r);
	if (!st)
		st = enter(r, "rerank", "retrieve.rerank", 0.5);
	return st ? st : retrieve_rerank(r);
}

static enum status diversify(struct retrieve_run *r)
{
	enum status st;

	if (!r->req->has_mmr)
		return ST_OK;
	st = retrieve_page(r);
	if (!st)
		st = enter(r, "diversify", "retrieve.diversify", 0.7);
	return st ? st : retrieve_diversify(r);
}

static enum status pack(struct retrieve_run *r)
{
	enum status st = retrieve_page(r);

	if (!st)
		st = enter(r, "pack", "retrieve.pack", 0.8);
	return st ? st : retrieve_pack(r);
}

/* From the list as recall found it to the list that pages walk through. */
static enum status order(struct retrieve_run *r)
{
	enum status st;

	if (!has_question(r))
		return ST_OK;
	st = fuse(r);
	if (!st)
		st = rerank(r);
	if (st)
		return st;
	retrieve_settle(r);
	st = diversify(r);
	return st ? st : retrieve_fill(r);
}

enum status retrieve_run(struct engine *en, const struct retrieve_request *req,
	const struct retrieve_hooks *hooks, struct arena *arena, struct retrieve_result *ret,
	struct error *e)
{
	struct retrieve_result out = { .n = 0 };
	struct retrieve_run r = { .en = en,
		.req = req,
		.hooks = hooks,
		.arena = arena,
		.out = &out,
		.e = e };
	enum status st;

	st = open_view(&r);
	if (!st)
		st = transform(&r);
	if (!st)
		st = recall(&r);
	if (!st)
		st = order(&r);
	if (!st)
		st = pack(&r);
	if (!st) {
		engine_view_keep(r.view);
		*ret = out;
	}
	engine_view_close(r.view);
	return st;
}
