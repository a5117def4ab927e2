/*
 * methods/rerank_check.c: the parameters of rerank: `passages`, else `documents` (D22),
 * each a string or a text block, at most maxCandidates of them (C5, D12); method and
 * model among those offered (C1).
 */
#include <stdio.h>
#include <string.h>

#include "methods/rerank.h"
#include "util/utf8.h"

#define SAFE_INT 9007199254740991.0
#define MAX_QUERY_BYTES 65536 /* as of retrieve: more is no question */

#define AT(field) offsetof(struct methods_rerank_call_params, field)

/* clang-format off */
const struct rpc_param methods_rerank_table[METHODS_RERANK_PARAMS] = {
	{ .name = "query", .type = RPC_P_TEXT, .flags = RPC_P_REQUIRED, .offset = AT(query),
	  .summary = "the question: text, a text block or an array of them" },
	{ .name = "passages", .type = RPC_P_JSON_ARRAY, .offset = AT(passages),
	  .summary = "strings or text blocks" },
	{ .name = "documents", .type = RPC_P_JSON_ARRAY, .offset = AT(documents),
	  .summary = "another name of passages" },
	{ .name = "method", .type = RPC_P_STRING, .flags = RPC_P_NONEMPTY, .offset = AT(method),
	  .summary = "one of rerank.methods; the best of them where absent" },
	{ .name = "model", .type = RPC_P_STRING, .flags = RPC_P_NONEMPTY, .offset = AT(model),
	  .summary = "one of rerank.models, that of the method" },
	{ .name = "topN", .type = RPC_P_INT, .min = 1, .max = SAFE_INT, .offset = AT(top_n),
	  .summary = "how many of the best are listed in order and results, default all" },
	{ .name = "strict", .type = RPC_P_BOOL, .offset = AT(strict),
	  .summary = "false: the best method where that asked for is not offered" },
};
/* clang-format on */

bool methods_can_rerank(const struct models *models, enum retrieve_reranker which)
{
	if (!models)
		return false;
	switch (which) {
	case RETRIEVE_COLBERT:
		return models->table && models->colbert;
	case RETRIEVE_CROSS_ENCODER:
		return models->cross_encoder != NULL;
	case RETRIEVE_LLM:
		return models->llm != NULL;
	case RETRIEVE_NO_RERANKER:
		break;
	}
	return false;
}

/* A language model is asked only where somebody names it, or there is nothing else: it
 * costs most. */
enum retrieve_reranker methods_best_reranker(const struct models *models)
{
	static const enum retrieve_reranker best[] = { RETRIEVE_CROSS_ENCODER, RETRIEVE_COLBERT,
		RETRIEVE_LLM };

	for (size_t i = 0; i < sizeof(best) / sizeof(best[0]); i++)
		if (methods_can_rerank(models, best[i]))
			return best[i];
	return RETRIEVE_NO_RERANKER;
}

static enum rpc_code refuse(struct rpc_call *call, struct methods_rerank_call_params *p,
	const char *field, struct bytes value, const char *text)
{
	char option[64];

	snprintf(option, sizeof(option), "%.*s",
		(int)utf8_floor(value.data, value.len, sizeof(option) - 1), value.data);
	if (!option[0]) /* it begins with U+0000: nothing that could be named */
		return rpc_error_field(rpc_call_error(call), field, "%s", text);
	if (p->strict != RPC_FALSE)
		return rpc_error_option(rpc_call_error(call), option, "%s", text);
	p->notes[p->note_count++] = text;
	return RPC_OK;
}

static enum rpc_code choose(struct rpc_call *call, struct methods_rerank_call_params *p)
{
	const struct methods *m = rpc_call_methods_arg(call);
	enum rpc_code rc = RPC_OK;

	p->which = RETRIEVE_NO_RERANKER;
	for (int i = 1; p->method.data && i < METHODS_RERANKERS; i++) {
		enum retrieve_reranker which = (enum retrieve_reranker)i;

		if (methods_can_rerank(m->models, which) &&
			bytes_eq(p->method, bytes_of(methods_reranker_name(which))))
			p->which = which;
	}
	if (p->method.data && p->which == RETRIEVE_NO_RERANKER)
		rc = refuse(call, p, "method", p->method,
			"this rerank method is not offered; see rerank.methods");
	if (p->which == RETRIEVE_NO_RERANKER)
		p->which = methods_best_reranker(m->models);
	if (!rc && p->model.data &&
		!bytes_eq(p->model, bytes_of(methods_reranker_model(m->models, p->which))))
		rc = refuse(call, p, "model", p->model,
			"this model is not that of the rerank method; see rerank.models");
	return rc;
}

static enum rpc_code read_passages(struct rpc_call *call, struct methods_rerank_call_params *p)
{
	const struct methods *m = rpc_call_methods_arg(call);
	const json_t *list = p->passages ? p->passages : p->documents;

	p->name = p->passages || !p->documents ? "passages" : "documents";
	if (!list)
		return rpc_error_field(rpc_call_error(call), "passages", "passages is required");
	p->n = json_array_size(list);
	if (p->n > m->max_passages)
		return rpc_error_set(rpc_call_error(call), RPC_TOO_LARGE,
			"a call may have at most %zu %s, not %zu", m->max_passages, p->name, p->n);
	p->v = arena_array(rpc_call_arena(call), p->n ? p->n : 1, sizeof(*p->v));
	if (!p->v)
		return methods_nomem(call);
	for (size_t i = 0; i < p->n; i++) {
		char path[32];
		enum rpc_code rc;

		snprintf(path, sizeof(path), "%s[%zu]", p->name, i);
		rc = rpc_text_parse(json_array_get(list, i), path, false, rpc_call_arena(call),
			&p->v[i], rpc_call_error(call));
		if (rc)
			return rc;
	}
	return RPC_OK;
}

enum rpc_code methods_rerank_check(struct rpc_call *call, void *params)
{
	struct methods_rerank_call_params *p = params;
	enum rpc_code rc;

	if (p->query.text.len > MAX_QUERY_BYTES)
		return rpc_error_set(rpc_call_error(call), RPC_TOO_LARGE,
			"a query may have at most %d bytes", MAX_QUERY_BYTES);
	rc = read_passages(call, p);
	return rc ? rc : choose(call, p);
}
