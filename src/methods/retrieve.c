/*
 * methods/retrieve.c: retrieve, between JSON and pipeline/. What comes here has passed
 * the check (retrieve_check.c).
 */
#include "methods/retrieve.h"

#include <math.h>

#include "util/clock.h"

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t most(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* D23: what was not sent gets a default, then all is clamped to the limits. */
static void fill_funnel(const struct methods *m, const struct methods_retrieve_params *p,
	struct retrieve_request *req)
{
	int64_t k = 10, candidates, top = p->rerank.top_n.set ? p->rerank.top_n.v : 0;

	if (top)
		k = least(k, top);
	if (p->candidate_k.set)
		k = least(k, p->candidate_k.v);
	if (p->k.set)
		k = p->k.v;
	candidates = p->candidate_k.set ? p->candidate_k.v : most(top, RETRIEVE_CANDIDATES);
	k = least(k, (int64_t)m->max_k);
	candidates = most(k, least(candidates, (int64_t)m->max_candidates));
	if (!top)
		top = most(k, least(RETRIEVE_TOP_N, candidates));
	top = least(top, least(candidates, (int64_t)m->max_passages));
	if (req->reranker)
		k = least(k, top);
	req->k = (size_t)k;
	req->top_n = (size_t)most(top, k);
	req->candidate_k = (size_t)candidates;
	req->max_candidates = m->max_candidates > req->candidate_k ? m->max_candidates
								   : req->candidate_k;
}

/* The options that the check chose. */
static void fill_choice(const struct methods *m, const struct methods_retrieve_params *p,
	struct retrieve_request *req)
{
	const struct methods_choice *c = &p->choice;

	req->models = m->models;
	req->vector = c->vector;
	req->dimension = c->dimension;
	req->mode = c->mode;
	req->lenient = p->strict == RPC_FALSE;
	req->fusion = c->fusion;
	req->reranker = c->reranker;
	req->has_mmr = c->mmr;
	req->lambda = p->mmr.lambda.set ? p->mmr.lambda.v : RETRIEVE_MMR_LAMBDA;
	req->want_vectors = c->vectors;
}

static void fill_request(const struct methods *m, const struct methods_retrieve_params *p,
	struct retrieve_request *req)
{
	*req = (struct retrieve_request){
		.query = p->query.text,
		.unit = bytes_eq(p->unit, bytes_of("document")) ? RETRIEVE_DOCUMENT
								: RETRIEVE_CHUNK,
		.filter = p->filter_tree,
		.has_min_score = p->min_score.set,
		.min_score = p->min_score.v,
		.has_recency = p->has_recency,
		.recency_field = p->recency_field,
		.half_life_days = p->recency.half_life_days.v,
		.token_budget = p->token_budget.set ? (uint64_t)p->token_budget.v : 0,
		.want_text = p->include_text != RPC_FALSE,
		.index_version = p->index_version,
		.has_cursor = p->has_place,
		.cursor_version = p->has_place ? p->place.commit : 0,
		.offset = p->has_place ? (size_t)p->place.offset : 0,
	};
	fill_choice(m, p, req);
	fill_funnel(m, p, req);
}

/* What the pipeline's hooks are given. */
struct watch {
	struct rpc_call *call;
	enum retrieve_unit unit;
};

static bool on_stop(void *arg)
{
	return methods_stop(((struct watch *)arg)->call);
}

/* A stage begins: one progress frame, with the candidates once there are some. */
static void on_stage(void *arg, const char *name, double progress, const struct retrieve_hit *hits,
	size_t n)
{
	struct watch *watch = arg;
	struct rpc_call *call = watch->call;
	struct strbuf partial = STRBUF_INIT;
	struct json_writer w;

	if (!rpc_call_wants_progress(call))
		return;
	if (n) {
		json_writer_init(&w, &partial);
		jw_object(&w);
		methods_write_hits(&w, hits, n, watch->unit, 0, false);
		jw_end(&w);
		if (!json_writer_ok(&w))
			strbuf_reset(&partial);
	}
	rpc_call_progress(call, progress, name, NULL, partial.len ? partial.data : NULL,
		partial.len);
	strbuf_release(&partial);
}

static void write_usage(struct json_writer *out, const struct methods_retrieve_params *p,
	const struct retrieve_result *res, uint64_t began_ns)
{
	jw_key(out, "usage");
	jw_object(out);
	jw_kv_int(out, "candidates", (int64_t)res->candidates);
	jw_kv_int(out, "reranked", (int64_t)res->reranked);
	jw_kv_real(out, "latencyMs", round((double)(clock_mono_ns() - began_ns) / 1e3) / 1e3);
	if (p->token_budget.set)
		jw_kv_int(out, "tokens", (int64_t)res->tokens);
	if (p->note_count + res->note_count) {
		jw_key(out, "notes");
		jw_array(out);
		for (size_t i = 0; i < p->note_count; i++)
			jw_string(out, p->notes[i]);
		for (size_t i = 0; i < res->note_count; i++)
			jw_string(out, res->notes[i]);
		jw_end(out);
	}
	jw_end(out);
}

/* D42: which fit of the models this answer is of; O2. */
static void write_meta(struct rpc_call *call, const struct retrieve_result *res,
	struct json_writer *out)
{
	const char *trace = rpc_call_trace_id(call);

	if (!trace[0] && !res->model_fit)
		return;
	jw_key(out, "_meta");
	jw_object(out);
	if (res->model_fit)
		jw_kv_int(out, "modelFit", (int64_t)res->model_fit);
	if (trace[0])
		jw_kv_string(out, "traceId", trace);
	jw_end(out);
}

enum status methods_retrieve_digest(const struct methods_retrieve_params *p,
	unsigned char out[CURSOR_DIGEST_LEN])
{
	return cursor_digest(methods_retrieve_table, METHODS_RETRIEVE_PARAMS, p, "cursor", out);
}

/* R10: where the next page begins, if there is one. */
static enum rpc_code write_cursor(struct rpc_call *call, const struct methods_retrieve_params *p,
	const struct retrieve_result *res, struct json_writer *out)
{
	const struct methods *m = rpc_call_methods_arg(call);
	struct cursor next = { .commit = res->version, .offset = res->next_offset };
	char text[CURSOR_LEN + 1];
	enum status st;

	if (!res->more)
		return RPC_OK;
	st = methods_retrieve_digest(p, next.digest);
	if (st == ST_NOMEM)
		return methods_nomem(call);
	if (st || cursor_write(&next, engine_secret(m->engine), text))
		return rpc_error_set(rpc_call_error(call), RPC_INTERNAL, "cannot sign a cursor");
	jw_kv_string(out, "nextCursor", text);
	return RPC_OK;
}

enum rpc_code methods_retrieve(struct rpc_call *call, const void *params, struct json_writer *out)
{
	const struct methods_retrieve_params *p = params;
	const struct methods *m = rpc_call_methods_arg(call);
	struct watch watch = { .call = call };
	const struct retrieve_hooks hooks = { &watch, on_stop, on_stage };
	struct retrieve_request req;
	struct retrieve_result res;
	uint64_t began = clock_mono_ns();
	struct error e;
	enum rpc_code rc;

	fill_request(m, p, &req);
	watch.unit = req.unit;
	if (retrieve_run(m->engine, &req, &hooks, rpc_call_arena(call), &res, &e))
		return methods_fail(call, &e);
	rpc_call_log(call, LOG_DEBUG, "retrieve", "%zu hits of %zu candidates", res.n,
		res.candidates);
	jw_object(out);
	methods_write_hits(out, res.hits, res.n, req.unit, res.dimension, true);
	jw_kv_string(out, "indexVersion", res.index_version);
	rc = write_cursor(call, p, &res, out);
	write_usage(out, p, &res, began);
	write_meta(call, &res, out);
	jw_end(out);
	return rc;
}
