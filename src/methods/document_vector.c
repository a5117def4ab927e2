/*
 * methods/document_vector.c: vectors that documents of index/add bring along
 * (x-rcpd-vector), for users with an encoder of their own: taken where the corpus stores
 * its vectors, refused where it makes them itself.
 */
#include <stdio.h>

#include "methods/common.h"
#include "methods/document.h"
#include "methods/vectors.h"

#define MEMBER "x-rcpd-vector"

static bool brings_any(const json_t *documents)
{
	for (size_t i = 0; i < json_array_size(documents); i++)
		if (document_member(json_array_get(documents, i), MEMBER))
			return true;
	return false;
}

/* The space that vectors must be of; its members that live in a view are cleared. */
static enum rpc_code find_space(struct rpc_call *call, struct engine_space *ret)
{
	const struct methods *m = rpc_call_methods_arg(call);
	const struct engine_stop stop = { methods_stop, call };
	struct engine_view *view = NULL;
	struct error e;
	bool stored;

	if (engine_view_open(m->engine, &stop, &view, &e))
		return methods_fail(call, &e);
	stored = engine_view_space(view, ret) && !ret->derived;
	ret->identity = BYTES_NONE;
	ret->model = NULL;
	engine_view_close(view);
	if (stored)
		return RPC_OK;
	return rpc_error_option(rpc_call_error(call), MEMBER,
		"documents cannot bring vectors here: the server makes those of this corpus "
		"itself");
}

enum rpc_code document_read_vectors(struct rpc_call *call, const json_t *documents,
	struct engine_document *docs)
{
	struct engine_space space = { .dimension = 0 };
	enum rpc_code rc;

	if (!brings_any(documents))
		return RPC_OK;
	rc = find_space(call, &space);
	for (size_t i = 0; !rc && i < json_array_size(documents); i++) {
		const json_t *v = document_member(json_array_get(documents, i), MEMBER);
		float *vector = NULL;
		char path[64];

		if (!v)
			continue;
		snprintf(path, sizeof(path), "documents[%zu]." MEMBER, i);
		rc = methods_read_vector(call, v, path, space.dimension, &vector);
		docs[i].vectors = vector;
		docs[i].space = space.number;
	}
	return rc;
}
