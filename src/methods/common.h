/* methods/common.h: what the method families share; for src/methods only. */
#ifndef RCPD_METHODS_COMMON_H
#define RCPD_METHODS_COMMON_H

#include "methods/cursor.h"
#include "methods/methods.h"
#include "pipeline/retrieve.h"

struct methods_rerank_params {
	bool present;
	struct bytes method, model;
	struct rpc_int top_n;
};

struct methods_recency_params {
	bool present;
	struct bytes field;
	struct rpc_real half_life_days;
};

struct methods_weights_params {
	bool present;
	struct rpc_real dense, sparse;
};

struct methods_fusion_params {
	bool present;
	struct bytes method;
	struct rpc_real alpha;
	struct rpc_int rrf_k;
	struct methods_weights_params weights;
};

struct methods_mmr_params {
	bool present;
	struct rpc_real lambda;
};

/* What is done of what was asked for: filled by the check, which drops with strict:false
 * what is not offered. */
struct methods_choice {
	enum retrieve_mode mode;
	struct retrieve_fusion fusion;
	enum retrieve_reranker reranker;
	bool mmr, vectors;
	const float *vector; /* the query's, of unit length; NULL: none */
	size_t dimension;
};

struct methods_retrieve_params {
	struct rpc_text query;
	struct rpc_int k, candidate_k, level, token_budget, seed;
	struct bytes mode, modality, unit, session_id, index_version;
	const json_t *rewrite, *filter, *cursor, *vector;
	struct methods_fusion_params fusion;
	struct methods_mmr_params mmr;
	struct methods_rerank_params rerank;
	struct methods_recency_params recency;
	struct rpc_real min_score;
	unsigned char include_text, include_vectors, strict; /* enum rpc_tristate */
	/* filled by the check: */
	struct methods_choice choice;
	struct engine_filter *filter_tree; /* NULL: none */
	bool has_place;                    /* the cursor named one */
	struct cursor place;
	bool has_recency;
	size_t recency_field;  /* SIZE_MAX: nobody has it */
	const char *notes[16]; /* preferences dropped because strict is false */
	size_t note_count;
};

struct methods_index_add_params {
	const json_t *documents;
	unsigned char chunk, contextual;
};

struct methods_index_delete_params {
	struct rpc_strings ids;
	const json_t *filter;
};

#define METHODS_RETRIEVE_PARAMS 23
#define METHODS_INDEX_ADD_PARAMS 3
#define METHODS_INDEX_DELETE_PARAMS 2

extern const struct rpc_param methods_retrieve_table[METHODS_RETRIEVE_PARAMS];
extern const struct rpc_param methods_index_add_table[METHODS_INDEX_ADD_PARAMS];
extern const struct rpc_param methods_index_delete_table[METHODS_INDEX_DELETE_PARAMS];

rpc_handler methods_retrieve, methods_index_add, methods_index_delete;
rpc_checker methods_retrieve_check, methods_index_add_check, methods_index_delete_check;

#define METHODS_RERANKERS 4 /* with RETRIEVE_NO_RERANKER */

/* What retrieve offers just now; of rerankers see rerank.h. */
struct methods_offer {
	bool space;                  /* the corpus has vectors */
	size_t dimension;            /* of them */
	enum models_speaker speaker; /* who makes a query's; NOBODY: modes sparse alone */
};
/* ST_NOMEM and what engine_view_open fails with. */
enum status methods_offer(const struct methods *m, struct methods_offer *ret, struct error *e);
/* A reranker's name on the wire. Static storage. */
const char *methods_reranker_name(enum retrieve_reranker which);
/* The identity of the model behind one that is offered. Lives as long as models. */
const char *methods_reranker_model(const struct models *models, enum retrieve_reranker which);

/* capabilities_models.c: the members embed, sparseEmbed, multiVector, rerank and x-rcpd,
 * those that are offered. */
void methods_write_model_capabilities(const struct methods *m, struct json_writer *w);

/* Turns a lower layer's error into the call's, and logs what only the operator
 * can mend. A stop becomes -32006 or -32014 as the case is. Returns the code. */
enum rpc_code methods_fail(struct rpc_call *call, const struct error *e);
/* rpc_call_should_stop in the shape that engine and pipeline want. */
bool methods_stop(void *call);
/* -32010 for want of memory. */
enum rpc_code methods_nomem(struct rpc_call *call);
/* Writes "docId#chunk" with % and # of the document id escaped (D36). */
void methods_write_hit_id(struct json_writer *out, struct bytes doc_id, uint32_t chunk);

#endif
