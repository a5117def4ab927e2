/*
 * methods/embed.h: what embed, embed/sparse and embed/multi share (X1-X3, D32). For
 * src/methods only.
 */
#ifndef RCPD_METHODS_EMBED_H
#define RCPD_METHODS_EMBED_H

#include "methods/common.h"

/* One struct for the three; embed/sparse has no encoding. */
struct methods_embed_params {
	const json_t *inputs, *texts;
	struct bytes kind, encoding;
	unsigned char strict; /* enum rpc_tristate */
	/* filled by the check: */
	struct bytes *v; /* borrowed from the message or in the call's arena */
	size_t n;
	const char *name; /* under which they came: for paths */
	bool query;       /* kind; without one inputs are documents */
	bool base64;      /* encoding */
};

#define METHODS_EMBED_PARAMS 5
#define METHODS_EMBED_SPARSE_PARAMS 3

extern const struct rpc_param methods_embed_table[METHODS_EMBED_PARAMS];
extern const struct rpc_param methods_embed_sparse_table[METHODS_EMBED_SPARSE_PARAMS];

rpc_handler methods_embed, methods_embed_sparse, methods_embed_multi;
rpc_checker methods_embed_check, methods_embed_multi_check;

#define METHODS_BM25_IDENTITY "x-rcpd-bm25" /* of the corpus's own sparse vectors */

/*
 * Who speaks for embed: the embedder that is configured, else the table (LOCAL), else
 * NOBODY; not the corpus space, which changes with each fit, and nobody where vectors
 * come from clients. The same as long as the configuration is (D42).
 */
enum models_speaker methods_embedder(const struct models *models);
/* -32602 for an input that has no vector: a zero one would be near to everything. */
enum rpc_code methods_embed_nothing(struct rpc_call *call, const struct methods_embed_params *p,
	size_t i);
/* What a model over HTTP failed with: as methods_fail, but a time that ran out is the
 * model's (-32010) unless the request's own did. */
enum rpc_code methods_remote_fail(struct rpc_call *call, const struct error *e);

#endif
