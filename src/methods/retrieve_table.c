/* methods/retrieve_table.c: the parameters of retrieve. */
#include "methods/common.h"

#define SAFE_INT 9007199254740991.0

#define AT(field) offsetof(struct methods_retrieve_params, field)

#define FUSION(field) offsetof(struct methods_fusion_params, field)
#define WEIGHTS(field) offsetof(struct methods_weights_params, field)
#define MAX_WEIGHT 1e6

static const struct rpc_param weights_table[] = {
	{ .name = "dense", .type = RPC_P_REAL, .max = MAX_WEIGHT, .offset = WEIGHTS(dense) },
	{ .name = "sparse", .type = RPC_P_REAL, .max = MAX_WEIGHT, .offset = WEIGHTS(sparse) },
};

static const struct rpc_param fusion_table[] = {
	{ .name = "method",
		.type = RPC_P_STRING,
		.offset = FUSION(method),
		.summary = "convex, rrf or weighted" },
	{ .name = "alpha",
		.type = RPC_P_REAL,
		.max = 1,
		.offset = FUSION(alpha),
		.summary = "convex: weight of the dense side" },
	{ .name = "rrfK",
		.type = RPC_P_INT,
		.max = 1e6,
		.offset = FUSION(rrf_k),
		.summary = "rrf: what is added to a rank, default 60" },
	{ .name = "weights",
		.type = RPC_P_OBJECT,
		.offset = FUSION(weights),
		.sub = weights_table,
		.sub_count = 2,
		.summary = "rrf and weighted: weights of the sides, default 1" },
};

static const struct rpc_param mmr_table[] = {
	{ .name = "lambda",
		.type = RPC_P_REAL,
		.max = 1,
		.offset = offsetof(struct methods_mmr_params, lambda),
		.summary = "1: relevance alone, 0: novelty alone, default 0.5" },
};

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
		.summary = "a field of type date or int" },
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
	{ .name = "mode", .type = RPC_P_STRING, .flags = RPC_P_NONEMPTY, .offset = AT(mode),
	  .summary = "dense, sparse or hybrid" },
	{ .name = "modality", .type = RPC_P_STRING, .flags = RPC_P_NONEMPTY,
	  .offset = AT(modality), .summary = "text" },
	{ .name = "candidateK", .type = RPC_P_INT, .min = 1, .max = SAFE_INT,
	  .offset = AT(candidate_k), .summary = "candidates of the recall stage, default 100" },
	{ .name = "minScore", .type = RPC_P_REAL, .min = -1e308, .max = 1e308,
	  .offset = AT(min_score), .summary = "hits with a lower score, in the mode's scale, are left out" },
	{ .name = "recency", .type = RPC_P_OBJECT, .offset = AT(recency), .sub = recency_table,
	  .sub_count = 2, .summary = "lets scores fall with a document's age" },
	{ .name = "unit", .type = RPC_P_STRING, .flags = RPC_P_NONEMPTY, .offset = AT(unit),
	  .summary = "chunk (default) or document: scored by its best chunk" },
	{ .name = "includeText", .type = RPC_P_BOOL, .offset = AT(include_text),
	  .summary = "whether hits carry their text, default true" },
	{ .name = "includeVectors", .type = RPC_P_BOOL, .offset = AT(include_vectors),
	  .summary = "whether hits carry their vector, default false" },
	{ .name = "seed", .type = RPC_P_INT, .min = -SAFE_INT, .max = SAFE_INT,
	  .offset = AT(seed), .summary = "taken; nothing here is random" },
	{ .name = "indexVersion", .type = RPC_P_STRING, .offset = AT(index_version),
	  .summary = "serve exactly this state of the corpus or fail" },
	{ .name = "strict", .type = RPC_P_BOOL, .offset = AT(strict),
	  .summary = "false: drop preferences that are not offered, default true" },
	{ .name = "sessionId", .type = RPC_P_STRING, .offset = AT(session_id),
	  .summary = "taken as the hint it is" },
	{ .name = "fusion", .type = RPC_P_OBJECT, .offset = AT(fusion), .sub = fusion_table,
	  .sub_count = 4, .summary = "how mode hybrid makes one list of two" },
	{ .name = "rerank", .type = RPC_P_FALSE_OR_OBJECT, .offset = AT(rerank),
	  .sub = rerank_table, .sub_count = 3,
	  .summary = "judges the best candidates again by their texts" },
	{ .name = "mmr", .type = RPC_P_OBJECT, .offset = AT(mmr), .sub = mmr_table,
	  .sub_count = 1, .summary = "prefers hits that differ from those before them" },
	{ .name = "rewrite", .type = RPC_P_JSON, .offset = AT(rewrite) },
	{ .name = "level", .type = RPC_P_INT, .min = 0, .max = SAFE_INT, .offset = AT(level) },
	{ .name = "tokenBudget", .type = RPC_P_INT, .min = 1, .max = SAFE_INT,
	  .offset = AT(token_budget), .summary = "tokens of the hits' texts together at most" },
	{ .name = "filter", .type = RPC_P_JSON, .offset = AT(filter),
	  .summary = "a tree of and, or, not and {field, op, value}" },
	{ .name = "cursor", .type = RPC_P_JSON, .offset = AT(cursor),
	  .summary = "nextCursor of the page before; all else as it was then" },
	{ .name = "x-rcpd-vector", .type = RPC_P_JSON, .offset = AT(vector),
	  .summary = "the query's vector in the space of the corpus, from the client's encoder" },
};
/* clang-format on */
