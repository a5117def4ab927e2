/*
 * methods/methods.h: the RCP/1 methods over pipeline and engine, as one const
 * table (methods/table.c) for rpc_new.
 */
#ifndef RCPD_METHODS_METHODS_H
#define RCPD_METHODS_METHODS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/engine.h"
#include "pipeline/jobs.h"
#include "pipeline/models.h"
#include "rpc/table.h"
#include "util/strbuf.h"

/* What the handlers work on; outlives the rpc. Given to rpc_new as methods_arg. */
struct methods {
	struct engine *engine; /* borrowed */
	/* Borrowed; NULL: no vectors and no rerankers, sparse retrieval alone. */
	const struct models *models;
	struct ingest_gate *gate; /* borrowed; NULL: nobody changes the space of vectors */
	struct jobs *jobs;        /* borrowed; NULL: no background jobs, no x-rcpd/reembed */
	bool read_only;           /* index/add and index/delete: -32003 */
	bool logs;                /* the transport carries notifications/log (stdio) */
	size_t max_k;             /* retrieve.maxK: k is clamped to it */
	size_t max_candidates;    /* candidateK is clamped to it */
	size_t max_documents;     /* documents or ids in one call: more is -32013 */
	size_t max_inputs;        /* embed.batchLimit: more is -32013 */
	size_t max_passages;      /* rerank.maxCandidates: more is -32013 */
	size_t chunk_target;      /* tokens of a chunk, >= 16 */
	size_t chunk_overlap;     /* tokens that it repeats, < chunk_target / 2 */
};

/* Every method of RCP/1, built or not. Static storage. */
const struct rpc_method *methods_table(size_t *ret_count);
/*
 * For rpc_config, both with the struct methods: appends the advertised capabilities as
 * a JSON object, only what is whole; the epoch is how many fields were known (D42).
 */
void methods_capabilities(void *methods, uint64_t epoch, struct strbuf *out);
uint64_t methods_epoch(void *methods);
/* The level that _meta.conformance claims (D40). */
const char *methods_conformance(const struct methods *m);

#endif
