/* methods/document.h: a document of index/add, from JSON. */
#ifndef RCPD_METHODS_DOCUMENT_H
#define RCPD_METHODS_DOCUMENT_H

#include "engine/engine.h"
#include "rpc/table.h"

/* Fills *ret (zeroed) from the i-th document: all but its chunks and vectors. Strings are
 * borrowed from the message or lie in the call's arena. */
enum rpc_code document_read(struct rpc_call *call, const json_t *doc, size_t i,
	struct engine_document *ret);
/* Fills vectors and space of those that bring a vector (x-rcpd-vector): in the call's
 * arena. -32005 where the corpus does not store its vectors. */
enum rpc_code document_read_vectors(struct rpc_call *call, const json_t *documents,
	struct engine_document *docs);
/* The member of an object, NULL where it is absent or null, or object is NULL. */
const json_t *document_member(const json_t *object, const char *key);

#endif
