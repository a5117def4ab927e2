/* methods/common.h: what the method families share; for src/methods only. */
#ifndef RCPD_METHODS_COMMON_H
#define RCPD_METHODS_COMMON_H

#include "methods/cursor.h"
#include "methods/methods.h"

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

struct methods_retrieve_params {
	struct rpc_text query;
	struct rpc_int k, candidate_k, level, token_budget, seed;
	struct bytes mode, modality, unit, session_id, index_version;
	const json_t *fusion, *mmr, *rewrite, *filter, *cursor;
	struct methods_rerank_params rerank;
	struct methods_recency_params recency;
	struct rpc_real min_score;
	unsigned char include_text, include_vectors, strict; /* enum rpc_tristate */
	/* filled by the check: */
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

#define METHODS_RETRIEVE_PARAMS 22
#define METHODS_INDEX_ADD_PARAMS 3
#define METHODS_INDEX_DELETE_PARAMS 2

extern const struct rpc_param methods_retrieve_table[METHODS_RETRIEVE_PARAMS];
extern const struct rpc_param methods_index_add_table[METHODS_INDEX_ADD_PARAMS];
extern const struct rpc_param methods_index_delete_table[METHODS_INDEX_DELETE_PARAMS];

rpc_handler methods_retrieve, methods_index_add, methods_index_delete;
rpc_checker methods_retrieve_check, methods_index_add_check, methods_index_delete_check;

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
