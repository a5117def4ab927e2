/*
 * methods/methods.h: the RCP/1 methods over pipeline and engine, as one const
 * table (methods/table.c) for rpc_new.
 */
#ifndef RCPD_METHODS_METHODS_H
#define RCPD_METHODS_METHODS_H

#include <stdbool.h>
#include <stddef.h>

#include "engine/engine.h"
#include "rpc/table.h"
#include "util/strbuf.h"

/* What the handlers work on; outlives the rpc. Given to rpc_new as methods_arg. */
struct methods {
	struct engine *engine; /* borrowed */
	bool read_only;        /* index/add and index/delete: -32003 */
	bool logs;             /* the transport carries notifications/log (stdio) */
	size_t max_k;          /* retrieve.maxK: k is clamped to it */
	size_t max_candidates; /* candidateK is clamped to it */
	size_t max_documents;  /* documents or ids in one call: more is -32013 */
};

/* Every method of RCP/1, built or not. Static storage. */
const struct rpc_method *methods_table(size_t *ret_count);
/* Appends the advertised capabilities as a JSON object; only what is whole. */
void methods_capabilities(const struct methods *m, struct strbuf *out);
/* The level that _meta.conformance claims (D40). */
const char *methods_conformance(const struct methods *m);

#endif
