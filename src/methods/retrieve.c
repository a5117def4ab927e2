/*
 * methods/retrieve.c: retrieve, between JSON and pipeline/. The check refuses what
 * is malformed (-32602) and what is not offered (-32005) before a stream starts;
 * with strict:false a preference is dropped and noted, a filter or cursor never.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "methods/common.h"
#include "pipeline/retrieve.h"
#include "util/clock.h"
#include "util/date.h"
#include "util/utf8.h"

#define SAFE_INT 9007199254740991.0
#define MAX_QUERY_BYTES 65536 /* of text that is looked at; more is no question */

#define AT(field) offsetof(struct methods_retrieve_params, field)

static const struct rpc_param rerank_table[] = {
	{ .name = "method",
		.type = RPC_P_STRING,
		.offset = offsetof(struct methods_rerank_params, method) },
	{ .name = "model",
		.type = RPC_P_STRING,
		.offset = offsetof(struct methods_rerank_params, model) },
	{ .name = "topN",
		.type = RPC_P_INT,
		.min = 1,
		.max = SAFE_INT,
		.offset = offsetof(struct methods_rerank_params, top_n) },
};

static const struct rpc_param recency_table[] = {
	{ .name = "field",
		.type = RPC_P_STRING,
		.flags = RPC_P_REQUIRED | RPC_P_NONEMPTY,
		.max = 1024,
		.offset = offsetof(struct methods_recency_params, field),
		.summary = "a member of the document's meta that holds a date" },
	{ .name = "halfLifeDays",
		.type = RPC_P_REAL,
		.flags = RPC_P_REQUIRED,
		.min = 1e-6,
		.max = 1e9,
		.offset = offsetof(struct methods_recency_params, half_life_days),
		.summary = "days in which a score halves" },
};

/* clang-format off */
const struct rpc_param methods_retrieve_table[METHODS_RETRIEVE_PARAMS] = {
	{ .name = "query", .type = RPC_P_TEXT, .flags = RPC_P_REQUIRED, .offset = AT(query),
	  .summary = "the question: text, a text block or an array of them" },
	{ .name = "k", .type = RPC_P_INT, .min = 1, .max = SAFE_INT, .offset = AT(k),
	  .summary = "hits wanted, default 10; clamped to retrieve.maxK" },
	{ .name = "mode", .type = RPC_P_STRING, .flags = RPC_P_NONEMPTY, .offset = AT(mode), .summary = "sparse" },
	{ .name = "modality", .type = RPC_P_STRING, .flags = RPC_P_NONEMPTY, .offset = AT(modality), .summary = "text" },
	{ .name = "candidateK", .type = RPC_P_INT, .min = 1, .max = SAFE_INT,
	  .offset = AT(candidate_k), .summary = "candidates of the recall stage, default 100" },
	{ .name = "minScore", .type = RPC_P_REAL, .min = -1e308, .max = 1e308,
	  .offset = AT(min_score), .summary = "hits with a lower score are left out" },
	{ .name = "recency", .type = RPC_P_OBJECT, .offset = AT(recency), .sub = recency_table,
	  .sub_count = 2, .summary = "lets scores fall with a document's age" },
	{ .name = "unit", .type = RPC_P_STRING, .flags = RPC_P_NONEMPTY, .offset = AT(unit), .summary = "chunk" },
	{ .name = "includeText", .type = RPC_P_BOOL, .offset = AT(include_text),
	  .summary = "whether hits carry their text, default true" },
	{ .name = "includeVectors", .type = RPC_P_BOOL, .offset = AT(include_vectors) },
	{ .name = "seed", .type = RPC_P_INT, .min = -SAFE_INT, .max = SAFE_INT,
	  .offset = AT(seed), .summary = "taken; nothing here is random" },
	{ .name = "indexVersion", .type = RPC_P_STRING, .offset = AT(index_version),
	  .summary = "serve exactly this state of the corpus or fail" },
	{ .name = "strict", .type = RPC_P_BOOL, .offset = AT(strict),
	  .summary = "false: drop preferences that are not offered, default true" },
	{ .name = "sessionId", .type = RPC_P_STRING, .offset = AT(session_id),
	  .summary = "taken as the hint it is" },
	{ .name = "fusion", .type = RPC_P_JSON_OBJECT, .offset = AT(fusion) },
	{ .name = "rerank", .type = RPC_P_FALSE_OR_OBJECT, .offset = AT(rerank),
	  .sub = rerank_table, .sub_count = 3 },
	{ .name = "mmr", .type = RPC_P_JSON_OBJECT, .offset = AT(mmr) },
	{ .name = "rewrite", .type = RPC_P_JSON, .offset = AT(rewrite) },
	{ .name = "level", .type = RPC_P_INT, .min = 0, .max = SAFE_INT, .offset = AT(level) },
	{ .name = "tokenBudget", .type = RPC_P_INT, .min = 1, .max = SAFE_INT,
	  .offset = AT(token_budget) },
	{ .name = "filter", .type = RPC_P_JSON, .offset = AT(filter) },
	{ .name = "cursor", .type = RPC_P_JSON, .offset = AT(cursor) },
};
/* clang-format on */

/* ---- the check ---- */

/* R3, D23: candidateK >= rerank.topN >= k among the values as sent. */
static enum rpc_code check_funnel(struct rpc_call *call, const struct methods_retrieve_params *p)
{
	const struct rpc_int *top = &p->rerank.top_n;
	const char *rule = "candidateK >= rerank.topN >= k must hold";

	if (p->k.set && top->set && top->v < p->k.v)
		return rpc_error_field(rpc_call_error(call), "rerank.topN",
			"rerank.topN is less than k: %s", rule);
	if (p->candidate_k.set && top->set && p->candidate_k.v < top->v)
		return rpc_error_field(rpc_call_error(call), "candidateK",
			"candidateK is less than rerank.topN: %s", rule);
	if (p->candidate_k.set && p->k.set && p->candidate_k.v < p->k.v)
		return rpc_error_field(rpc_call_error(call), "candidateK",
			"candidateK is less than k: %s", rule);
	return RPC_OK;
}

/* An option that was asked for and is not offered: an error, or a note. */
static enum rpc_code refuse(struct rpc_call *call, struct methods_retrieve_params *p,
	const char *option, const char *text)
{
	if (p->strict != RPC_FALSE)
		return rpc_error_option(rpc_call_error(call), option, "%s", text);
	if (p->note_count < sizeof(p->notes) / sizeof(p->notes[0]))
		p->notes[p->note_count++] = text;
	return RPC_OK;
}

/* A named value of which only one is offered. */
static enum rpc_code check_value(struct rpc_call *call, struct methods_retrieve_params *p,
	struct bytes value, const char *offered, const char *text)
{
	char option[64];

	if (!value.data || bytes_eq(value, bytes_of(offered)))
		return RPC_OK;
	snprintf(option, sizeof(option), "%.*s",
		(int)utf8_floor(value.data, value.len, sizeof(option) - 1), value.data);
	if (!option[0]) /* it begins with U+0000: nothing that could be named */
		return rpc_error_set(rpc_call_error(call), RPC_INVALID_PARAMS, "%s", text);
	return refuse(call, p, option, text);
}

static enum rpc_code check_options(struct rpc_call *call, struct methods_retrieve_params *p)
{
	const struct {
		bool asked;
		const char *option, *text;
	} unoffered[] = {
		{ p->fusion != NULL, "fusion", "fusion is not offered: there is one mode" },
		{ p->rerank.present, "rerank", "rerank is not offered" },
		{ p->mmr != NULL, "mmr", "mmr is not offered" },
		{ p->rewrite && !json_is_false(p->rewrite), "rewrite", "rewrite is not offered" },
		{ p->level.set, "level", "level is not offered" },
		{ p->token_budget.set, "tokenBudget", "tokenBudget is not offered" },
		{ p->include_vectors == RPC_TRUE, "includeVectors",
			"includeVectors is not offered" },
	};
	enum rpc_code rc;

	rc = check_value(call, p, p->mode, "sparse", "only mode sparse is offered");
	if (!rc)
		rc = check_value(call, p, p->modality, "text", "only modality text is offered");
	if (!rc)
		rc = check_value(call, p, p->unit, "chunk", "only unit chunk is offered");
	for (size_t i = 0; !rc && i < sizeof(unoffered) / sizeof(unoffered[0]); i++)
		if (unoffered[i].asked)
			rc = refuse(call, p, unoffered[i].option, unoffered[i].text);
	return rc;
}

enum rpc_code methods_retrieve_check(struct rpc_call *call, void *params)
{
	struct methods_retrieve_params *p = params;
	struct rpc_error *err = rpc_call_error(call);
	enum rpc_code rc = check_funnel(call, p);
	char corpus[VERSION_ID_LEN + 1];
	uint64_t commit;

	if (rc)
		return rc;
	if (p->rewrite && !json_is_false(p->rewrite) && !json_is_string(p->rewrite))
		return rpc_error_field(err, "rewrite", "rewrite must be a string or false");
	if (p->query.text.len > MAX_QUERY_BYTES)
		return rpc_error_set(err, RPC_TOO_LARGE, "a query may have at most %d bytes",
			MAX_QUERY_BYTES);
	if (p->index_version.data && !version_parse(p->index_version, corpus, &commit))
		return rpc_error_field(err, "indexVersion",
			"indexVersion is none of this server's");
	/* What narrows the result is never dropped, not even with strict:false (D40). */
	if (p->filter)
		return rpc_error_option(err, "filter", "filter is not offered");
	if (p->cursor)
		return rpc_error_option(err, "cursor", "cursor is not offered");
	return check_options(call, p);
}

/* ---- the run ---- */

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* D23: what was not sent gets a default, then all is clamped to the limits. */
static void fill_funnel(const struct methods *m, const struct methods_retrieve_params *p,
	struct retrieve_request *req)
{
	int64_t k = 10, candidates, top = p->rerank.top_n.set ? p->rerank.top_n.v : 0;

	if (p->rerank.top_n.set)
		k = least(k, p->rerank.top_n.v);
	if (p->candidate_k.set)
		k = least(k, p->candidate_k.v);
	if (p->k.set)
		k = p->k.v;
	candidates = p->candidate_k.set ? p->candidate_k.v : top > 100 ? top : 100;
	k = least(k, (int64_t)m->max_k);
	candidates = least(candidates, (int64_t)m->max_candidates);
	req->k = (size_t)k;
	req->candidate_k = (size_t)(candidates < k ? k : candidates);
}

static void write_citation(struct json_writer *out, const struct engine_record *rec)
{
	jw_key(out, "citation");
	jw_object(out);
	jw_kv_bytes_opt(out, "source", rec->source);
	jw_kv_bytes_opt(out, "uri", rec->uri);
	jw_kv_bytes_opt(out, "title", rec->title);
	jw_kv_int(out, "start", (int64_t)rec->cp_start);
	jw_kv_int(out, "end", (int64_t)rec->cp_end);
	jw_kv_int(out, "x-rcpd-byteStart", (int64_t)rec->byte_start);
	jw_kv_int(out, "x-rcpd-byteEnd", (int64_t)rec->byte_end);
	jw_end(out);
}

static void write_hit(struct json_writer *out, const struct retrieve_hit *hit, bool whole)
{
	const struct engine_record *rec = &hit->record;

	jw_object(out);
	jw_key(out, "id");
	methods_write_hit_id(out, hit->candidate.doc_id, hit->candidate.chunk);
	jw_kv_real(out, "score", hit->score);
	if (whole) {
		jw_kv_bytes_opt(out, "text", rec->text);
		if (rec->meta.data) {
			jw_key(out, "meta");
			jw_raw(out, rec->meta.data, rec->meta.len);
		}
		jw_key(out, "scores");
		jw_object(out);
		jw_kv_real(out, "sparse", hit->candidate.score);
		jw_end(out);
		write_citation(out, rec);
	}
	jw_kv_string(out, "unit", "chunk");
	jw_key(out, "chunk");
	jw_object(out);
	jw_kv_bytes(out, "docId", hit->candidate.doc_id);
	jw_kv_int(out, "index", hit->candidate.chunk);
	jw_end(out);
	jw_end(out);
}

static void write_hits(struct json_writer *out, const struct retrieve_hit *hits, size_t n,
	bool whole)
{
	jw_key(out, "hits");
	jw_array(out);
	for (size_t i = 0; i < n; i++)
		write_hit(out, &hits[i], whole);
	jw_end(out);
}

/* A stage begins: one progress frame, with the candidates once there are some. */
static void on_stage(void *arg, const char *name, double progress, const struct retrieve_hit *hits,
	size_t n)
{
	struct rpc_call *call = arg;
	struct strbuf partial = STRBUF_INIT;
	struct json_writer w;

	if (!rpc_call_wants_progress(call))
		return;
	if (n) {
		json_writer_init(&w, &partial);
		jw_object(&w);
		write_hits(&w, hits, n, false);
		jw_end(&w);
		if (!json_writer_ok(&w))
			strbuf_reset(&partial);
	}
	rpc_call_progress(call, progress, name, NULL, partial.len ? partial.data : NULL,
		partial.len);
	strbuf_release(&partial);
}

/* D28: RFC 3339 or integer milliseconds since the epoch. */
static bool meta_date(void *arg, struct bytes meta, struct bytes field, int64_t *ret_ms)
{
	json_t *root = json_loadb(meta.data, meta.len, JSON_ALLOW_NUL, NULL);
	const json_t *v = json_object_getn(root, field.data, field.len);
	bool found = false;

	(void)arg;
	if (json_is_string(v))
		found = date_parse((struct bytes){ json_string_value(v), json_string_length(v) },
			ret_ms);
	else if (v)
		found = rpc_json_integer(v, ret_ms);
	json_decref(root);
	return found;
}

static void write_usage(struct json_writer *out, const struct methods_retrieve_params *p,
	const struct retrieve_result *res, uint64_t began_ns)
{
	jw_key(out, "usage");
	jw_object(out);
	jw_kv_int(out, "candidates", (int64_t)res->candidates);
	jw_kv_int(out, "reranked", 0);
	jw_kv_real(out, "latencyMs", round((double)(clock_mono_ns() - began_ns) / 1e3) / 1e3);
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

enum rpc_code methods_retrieve(struct rpc_call *call, const void *params, struct json_writer *out)
{
	const struct methods_retrieve_params *p = params;
	const struct methods *m = rpc_call_methods_arg(call);
	const struct retrieve_hooks hooks = { call, methods_stop, on_stage, meta_date };
	struct retrieve_request req = {
		.query = p->query.text,
		.has_min_score = p->min_score.set,
		.min_score = p->min_score.v,
		.recency_field = p->recency.present ? p->recency.field : BYTES_NONE,
		.half_life_days = p->recency.half_life_days.v,
		.now_ms = clock_wall_ms(),
		.want_text = p->include_text != RPC_FALSE,
		.index_version = p->index_version,
	};
	struct retrieve_result res;
	uint64_t began = clock_mono_ns();
	struct error e;

	fill_funnel(m, p, &req);
	if (retrieve_run(m->engine, &req, &hooks, rpc_call_arena(call), &res, &e))
		return methods_fail(call, &e);
	rpc_call_log(call, LOG_DEBUG, "retrieve", "%zu hits of %zu candidates", res.n,
		res.candidates);
	jw_object(out);
	write_hits(out, res.hits, res.n, true);
	jw_kv_string(out, "indexVersion", res.index_version);
	write_usage(out, p, &res, began);
	jw_end(out);
	return RPC_OK;
}
