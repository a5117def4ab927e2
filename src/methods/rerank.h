/* methods/rerank.h: the method rerank (X4, D22). For src/methods only. */
#ifndef RCPD_METHODS_RERANK_H
#define RCPD_METHODS_RERANK_H

#include "methods/common.h"

struct methods_rerank_call_params {
	struct rpc_text query;
	const json_t *passages, *documents;
	struct bytes method, model;
	struct rpc_int top_n;
	unsigned char strict; /* enum rpc_tristate */
	/* filled by the check: */
	struct bytes *v; /* borrowed from the message or in the call's arena */
	size_t n;
	const char *name; /* under which they came: for paths */
	enum retrieve_reranker which;
	const char *notes[2]; /* preferences dropped because strict is false */
	size_t note_count;
};

#define METHODS_RERANK_PARAMS 7

extern const struct rpc_param methods_rerank_table[METHODS_RERANK_PARAMS];

rpc_handler methods_rerank;
rpc_checker methods_rerank_check;

/* Whether a reranker can be used, and the one of a request that names none: the best that
 * is offered. RETRIEVE_NO_RERANKER: none is. */
bool methods_can_rerank(const struct models *models, enum retrieve_reranker which);
enum retrieve_reranker methods_best_reranker(const struct models *models);

#endif
