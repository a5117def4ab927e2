/*
 * methods/embed_sparse.c: texts to sparse vectors (X2): by a model over HTTP, or the
 * corpus's own weights of terms, under an identity that says so. A term's index is a hash
 * of its text, the same on every machine and in every corpus; the weights are those of
 * the newest state, whose indexVersion is told.
 */
#include <math.h>
#include <stdlib.h>

#include "methods/embed.h"
#include "pipeline/version.h"
#include "util/hash.h"

static const unsigned char key[16]; /* all zero: an index means the same everywhere */

struct entry {
	uint32_t index;
	double value;
};

static int by_index(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	return (x->index > y->index) - (x->index < y->index);
}

/* Ascending and unique: terms that share an index are summed. Returns how many. */
static size_t make_unique(struct entry *v, size_t n)
{
	size_t out = 0;

	qsort(v, n, sizeof(*v), by_index);
	for (size_t i = 0; i < n; i++) {
		if (out && v[out - 1].index == v[i].index)
			v[out - 1].value += v[i].value;
		else
			v[out++] = v[i];
	}
	return out;
}

static void write_entries(const struct entry *v, size_t n, struct json_writer *out)
{
	jw_object(out);
	jw_key(out, "indices");
	jw_array(out);
	for (size_t i = 0; i < n; i++)
		jw_int(out, v[i].index);
	jw_end(out);
	jw_key(out, "values");
	jw_array(out);
	for (size_t i = 0; i < n; i++)
		jw_real(out, v[i].value);
	jw_end(out);
	jw_end(out);
}

/* scratch is for this text alone. */
static enum status weigh(struct engine_view *view, struct bytes text, bool query,
	struct arena *scratch, struct json_writer *out, struct error *e)
{
	struct engine_weight *weights = NULL;
	struct entry *entries;
	size_t n = 0, kept = 0;
	enum status st = engine_weights(view, text, !query, scratch, &weights, &n, e);

	if (st)
		return st;
	entries = arena_array(scratch, n ? n : 1, sizeof(*entries));
	if (!entries)
		return error_set(e, ST_NOMEM, "out of memory");
	for (size_t i = 0; i < n; i++) {
		uint64_t hash = hash_siphash24(weights[i].term.data, weights[i].term.len, key);

		if (isfinite(weights[i].weight) && weights[i].weight > 0)
			entries[kept++] =
				(struct entry){ (uint32_t)(hash & 0x7fffffff), weights[i].weight };
	}
	write_entries(entries, make_unique(entries, kept), out);
	return ST_OK;
}

static enum rpc_code weigh_all(struct rpc_call *call, const struct methods_embed_params *p,
	struct engine_view *view, struct json_writer *out)
{
	for (size_t i = 0; i < p->n; i++) {
		struct arena scratch;
		struct error e;
		enum status st;

		if (rpc_call_should_stop(call))
			return rpc_call_stopped(call);
		arena_init(&scratch, 0);
		st = weigh(view, p->v[i], p->query, &scratch, out, &e);
		arena_release(&scratch);
		if (st)
			return methods_fail(call, &e);
	}
	return RPC_OK;
}

static enum rpc_code by_corpus(struct rpc_call *call, const struct methods_embed_params *p,
	struct json_writer *out)
{
	const struct methods *m = rpc_call_methods_arg(call);
	const struct engine_stop stop = { methods_stop, call };
	struct engine_view *view = NULL;
	char version[VERSION_MAX];
	struct error e;
	enum rpc_code rc;

	if (engine_view_open(m->engine, &stop, &view, &e))
		return methods_fail(call, &e);
	jw_object(out);
	jw_key(out, "sparse");
	jw_array(out);
	rc = weigh_all(call, p, view, out);
	if (!rc) {
		jw_end(out);
		version_format(engine_corpus_id(m->engine), engine_view_version(view), version);
		jw_kv_string(out, "indexVersion", version);
		jw_end(out);
	}
	engine_view_close(view);
	return rc;
}

static void write_remote(const struct remote_sparse *s, struct json_writer *out)
{
	jw_object(out);
	jw_key(out, "indices");
	jw_array(out);
	for (size_t i = 0; i < s->n; i++)
		jw_int(out, s->indices[i]);
	jw_end(out);
	jw_key(out, "values");
	jw_array(out);
	for (size_t i = 0; i < s->n; i++)
		jw_real(out, (double)s->values[i]);
	jw_end(out);
	jw_end(out);
}

/* A text without words has no weights: such are not sent. */
static enum rpc_code by_remote(struct rpc_call *call, const struct methods_embed_params *p,
	struct remote *remote, struct json_writer *out)
{
	const struct remote_call how = { 0, methods_stop, call };
	struct arena *arena = rpc_call_arena(call);
	struct remote_sparse *got = arena_array(arena, p->n ? p->n : 1, sizeof(*got));
	struct bytes *sent = arena_array(arena, p->n ? p->n : 1, sizeof(*sent));
	size_t n = 0, at = 0;
	struct error e;

	if (!got || !sent)
		return methods_nomem(call);
	for (size_t i = 0; i < p->n; i++)
		if (!models_blank(p->v[i]))
			sent[n++] = p->v[i];
	if (n && remote_embed_sparse(remote, sent, n, &how, arena, got, &e))
		return methods_remote_fail(call, &e);
	jw_object(out);
	jw_key(out, "sparse");
	jw_array(out);
	for (size_t i = 0; i < p->n; i++)
		write_remote(models_blank(p->v[i]) ? &(struct remote_sparse){ .n = 0 } : &got[at++],
			out);
	jw_end(out);
	jw_end(out);
	return RPC_OK;
}

enum rpc_code methods_embed_sparse(struct rpc_call *call, const void *params,
	struct json_writer *out)
{
	const struct methods *m = rpc_call_methods_arg(call);

	if (m->models && m->models->sparse)
		return by_remote(call, params, m->models->sparse, out);
	return by_corpus(call, params, out);
}
