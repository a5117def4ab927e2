/*
 * methods/rerank.c: passages against a query (X4, D22): a score for each by its index,
 * and their order, best first, equal ones as they came. colbert in this process, passage
 * by passage; the other methods over HTTP.
 */
#include <math.h>
#include <stdlib.h>

#include "methods/embed.h"
#include "methods/rerank.h"
#include "util/fault.h"

#define FRAMES 16 /* of progress in one call */

struct ranked {
	size_t index;
	double score;
};

static int by_score(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->score > y->score || x->score < y->score)
		return x->score > y->score ? -1 : 1;
	return (x->index > y->index) - (x->index < y->index);
}

static enum rpc_code judge(struct rpc_call *call, const struct methods_rerank_call_params *p,
	const struct rarity *rarity, struct ranked *out)
{
	const struct methods *m = rpc_call_methods_arg(call);
	size_t step = p->n / FRAMES + 1;
	double *scores = arena_array(rpc_call_arena(call), p->n ? p->n : 1, sizeof(*scores));
	struct maxsim_query *query;
	struct error e;

	if (!scores)
		return methods_nomem(call);

	if (maxsim_query_new(m->models->table, rarity, p->query.text, rpc_call_arena(call), &query,
		    &e))
		return methods_fail(call, &e);
	for (size_t i = 0; i < p->n; i++) {
		if (fault_hit("rerank.passage", methods_stop, call))
			return rpc_error_set(rpc_call_error(call), RPC_UNAVAILABLE,
				"rerank failed");
		if (rpc_call_should_stop(call))
			return rpc_call_stopped(call);
		if (maxsim_add(query, p->v[i], &e))
			return methods_fail(call, &e);
		if (i % step == 0)
			rpc_call_progress(call, (double)i / (double)p->n, "rerank", NULL, NULL, 0);
	}
	maxsim_scores(query, scores);
	for (size_t i = 0; i < p->n; i++)
		out[i].score = scores[i];
	return RPC_OK;
}

/* Tokens are weighed as the corpus of now has them. */
static enum rpc_code by_colbert(struct rpc_call *call, const struct methods_rerank_call_params *p,
	struct ranked *out)
{
	const struct methods *m = rpc_call_methods_arg(call);
	const struct engine_stop stop = { methods_stop, call };
	struct engine_view *v = NULL;
	struct error e;
	enum rpc_code rc;

	if (engine_view_open(m->engine, &stop, &v, &e))
		return methods_fail(call, &e);
	rc = judge(call, p, models_rarity(m->models, v), out);
	engine_view_close(v);
	return rc;
}

static enum rpc_code by_remote(struct rpc_call *call, const struct methods_rerank_call_params *p,
	struct remote *remote, struct ranked *out)
{
	const struct remote_call how = { 0, methods_stop, call };
	double *scores = arena_array(rpc_call_arena(call), p->n ? p->n : 1, sizeof(*scores));
	struct error e;

	if (!scores)
		return methods_nomem(call);
	rpc_call_progress(call, 0, "rerank", NULL, NULL, 0);
	if (p->n && remote_rerank(remote, p->query.text, p->v, p->n, &how, scores, &e))
		return methods_remote_fail(call, &e);
	for (size_t i = 0; i < p->n; i++)
		out[i].score = scores[i];
	return RPC_OK;
}

static enum rpc_code score_all(struct rpc_call *call, const struct methods_rerank_call_params *p,
	struct ranked *out)
{
	const struct methods *m = rpc_call_methods_arg(call);

	switch (p->which) {
	case RETRIEVE_COLBERT:
		return by_colbert(call, p, out);
	case RETRIEVE_CROSS_ENCODER:
		return by_remote(call, p, m->models->cross_encoder, out);
	case RETRIEVE_LLM:
		return by_remote(call, p, m->models->llm, out);
	case RETRIEVE_NO_RERANKER:
		break;
	}
	return rpc_error_set(rpc_call_error(call), RPC_INTERNAL, "there is no reranker");
}

/* order and results: the best ones, topN at most. */
static void write_order(const struct methods_rerank_call_params *p, const struct ranked *ranked,
	struct json_writer *out)
{
	size_t n = p->top_n.set && (uint64_t)p->top_n.v < p->n ? (size_t)p->top_n.v : p->n;

	jw_key(out, "order");
	jw_array(out);
	for (size_t i = 0; i < n; i++)
		jw_int(out, (int64_t)ranked[i].index);
	jw_end(out);
	jw_key(out, "results");
	jw_array(out);
	for (size_t i = 0; i < n; i++) {
		jw_object(out);
		jw_kv_int(out, "index", (int64_t)ranked[i].index);
		jw_kv_real(out, "score", ranked[i].score);
		jw_end(out);
	}
	jw_end(out);
}

static void write_notes(const struct methods_rerank_call_params *p, struct json_writer *out)
{
	if (!p->note_count)
		return;
	jw_key(out, "usage");
	jw_object(out);
	jw_key(out, "notes");
	jw_array(out);
	for (size_t i = 0; i < p->note_count; i++)
		jw_string(out, p->notes[i]);
	jw_end(out);
	jw_end(out);
}

enum rpc_code methods_rerank(struct rpc_call *call, const void *params, struct json_writer *out)
{
	const struct methods_rerank_call_params *p = params;
	struct ranked *ranked = arena_array(rpc_call_arena(call), p->n ? p->n : 1, sizeof(*ranked));
	enum rpc_code rc;

	if (!ranked)
		return methods_nomem(call);
	rc = score_all(call, p, ranked);
	if (rc)
		return rc;
	jw_object(out);
	jw_key(out, "scores");
	jw_array(out);
	for (size_t i = 0; i < p->n; i++) {
		if (!isfinite(ranked[i].score)) /* RET-04: it would have no place */
			return rpc_error_set(rpc_call_error(call), RPC_UNAVAILABLE,
				"the model gave a score that is no number");
		ranked[i].index = i;
		jw_real(out, ranked[i].score);
	}
	jw_end(out);
	qsort(ranked, p->n, sizeof(*ranked), by_score);
	write_order(p, ranked, out);
	write_notes(p, out);
	jw_end(out);
	return RPC_OK;
}
