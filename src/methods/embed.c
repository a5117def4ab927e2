/*
 * methods/embed.c: texts to dense vectors (X1), of unit length, by one model that stays
 * the same: the static table, or the embedder over HTTP.
 */
#include "methods/embed.h"

#include <math.h>

#include "methods/vectors.h"
#include "util/fault.h"
#include "util/mem.h"

enum models_speaker methods_embedder(const struct models *models)
{
	if (!models || models->external_dimension)
		return MODELS_NOBODY;
	if (models->embedder)
		return MODELS_REMOTE;
	return models->table ? MODELS_LOCAL : MODELS_NOBODY;
}

static void write_vector(const struct methods_embed_params *p, const float *v, size_t dimension,
	struct json_writer *out)
{
	if (p->base64)
		methods_write_base64(out, v, dimension);
	else
		methods_write_floats(out, v, dimension);
}

/* To unit length; false: there is no direction. */
static bool make_unit(float *v, size_t n)
{
	double norm = 0;

	for (size_t i = 0; i < n; i++)
		norm += (double)v[i] * v[i];
	norm = sqrt(norm);
	if (!(norm > 0) || !isfinite(norm))
		return false;
	for (size_t i = 0; i < n; i++)
		v[i] = (float)(v[i] / norm);
	return true;
}

/* One at a time into the answer: a vector is written about as fast as it is made. */
static enum rpc_code embed_here(struct rpc_call *call, const struct methods_embed_params *p,
	const struct static_model *table, float *v, struct json_writer *out)
{
	size_t dimension = static_model_dimension(table);
	struct error e;

	for (size_t i = 0; i < p->n; i++) {
		if (fault_hit("embed.input", methods_stop, call))
			return rpc_error_set(rpc_call_error(call), RPC_UNAVAILABLE, "embed failed");
		if (rpc_call_should_stop(call))
			return rpc_call_stopped(call);
		if (static_model_embed(table, p->v[i], v, &e))
			return methods_fail(call, &e);
		if (!make_unit(v, dimension))
			return methods_embed_nothing(call, p, i);
		write_vector(p, v, dimension, out);
	}
	return RPC_OK;
}

static enum rpc_code embed_there(struct rpc_call *call, const struct methods_embed_params *p,
	const struct models *models, float *v, struct json_writer *out)
{
	const struct remote_call how = { 0, methods_stop, call };
	size_t dimension = models->embedder_dimension;
	struct error e;

	for (size_t i = 0; i < p->n; i++)
		if (models_blank(p->v[i]))
			return methods_embed_nothing(call, p, i);
	if (p->n && remote_embed(models->embedder, p->v, p->n, p->query, &how, v, &e))
		return methods_remote_fail(call, &e);
	for (size_t i = 0; i < p->n; i++) {
		if (!make_unit(v + i * dimension, dimension))
			return methods_embed_nothing(call, p, i);
		write_vector(p, v + i * dimension, dimension, out);
	}
	return RPC_OK;
}

enum rpc_code methods_embed(struct rpc_call *call, const void *params, struct json_writer *out)
{
	const struct methods_embed_params *p = params;
	const struct methods *m = rpc_call_methods_arg(call);
	bool there = methods_embedder(m->models) == MODELS_REMOTE;
	size_t dimension = there ? m->models->embedder_dimension
				 : static_model_dimension(m->models->table);
	float *v = mem_array(there && p->n ? p->n : 1, dimension * sizeof(*v));
	enum rpc_code rc;

	if (!v)
		return methods_nomem(call);
	jw_object(out);
	jw_key(out, "vectors");
	jw_array(out);
	rc = there ? embed_there(call, p, m->models, v, out)
		   : embed_here(call, p, m->models->table, v, out);
	mem_free(v);
	if (rc)
		return rc;
	jw_end(out);
	if (p->base64)
		jw_kv_string(out, "encoding", "f32-base64");
	jw_kv_int(out, "dimension", (int64_t)dimension);
	jw_end(out);
	return RPC_OK;
}
