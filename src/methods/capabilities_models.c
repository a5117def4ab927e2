/*
 * methods/capabilities_models.c: what is advertised of models: embed, sparseEmbed,
 * multiVector, rerank, and x-rcpd-vector, which says of what kind vectors are that
 * clients may bring. The first four depend on the configuration alone, so they stay the
 * same while the server runs (L4, D42).
 */
#include "methods/embed.h"
#include "methods/rerank.h"

static void write_names(struct json_writer *w, const char *key, const char *a, const char *b)
{
	jw_key(w, key);
	jw_array(w);
	jw_string(w, a);
	if (b)
		jw_string(w, b);
	jw_end(w);
}

static void write_embed(const struct methods *m, struct json_writer *w)
{
	enum models_speaker who = methods_embedder(m->models);
	bool there = who == MODELS_REMOTE;

	if (who == MODELS_NOBODY)
		return;
	jw_key(w, "embed");
	jw_object(w);
	jw_kv_int(w, "dimension",
		(int64_t)(there ? m->models->embedder_dimension
				: static_model_dimension(m->models->table)));
	jw_kv_string(w, "identity",
		there ? remote_identity(m->models->embedder)
		      : static_model_identity(m->models->table));
	jw_kv_int(w, "batchLimit", (int64_t)m->max_inputs);
	jw_kv_bool(w, "normalized", true);
	write_names(w, "modalities", "text", NULL);
	write_names(w, "encodings", "json", "f32-base64");
	jw_end(w);
}

static void write_sparse(const struct methods *m, struct json_writer *w)
{
	bool there = m->models && m->models->sparse;

	jw_key(w, "sparseEmbed");
	jw_object(w);
	jw_kv_string(w, "identity",
		there ? remote_identity(m->models->sparse) : METHODS_BM25_IDENTITY);
	if (!there)
		jw_kv_int(w, "vocabulary", INT64_C(1) << 31); /* indices are hashes */
	jw_kv_int(w, "batchLimit", (int64_t)m->max_inputs);
	jw_end(w);
}

static void write_multi(const struct methods *m, struct json_writer *w)
{
	if (!m->models || !m->models->table)
		return;
	jw_key(w, "multiVector");
	jw_object(w);
	jw_kv_int(w, "dimension", (int64_t)static_model_dimension(m->models->table));
	jw_kv_string(w, "identity", static_model_identity(m->models->table));
	jw_kv_string(w, "similarity", "cosine");
	jw_kv_int(w, "batchLimit", (int64_t)m->max_inputs);
	write_names(w, "modalities", "text", NULL);
	write_names(w, "encodings", "json", NULL);
	jw_end(w);
}

/* methods and models, one for one. */
static void write_rerank(const struct methods *m, struct json_writer *w)
{
	if (methods_best_reranker(m->models) == RETRIEVE_NO_RERANKER)
		return;
	jw_key(w, "rerank");
	jw_object(w);
	jw_key(w, "methods");
	jw_array(w);
	for (int i = 1; i < METHODS_RERANKERS; i++)
		if (methods_can_rerank(m->models, (enum retrieve_reranker)i))
			jw_string(w, methods_reranker_name((enum retrieve_reranker)i));
	jw_end(w);
	jw_kv_int(w, "maxCandidates", (int64_t)m->max_passages);
	jw_key(w, "models");
	jw_array(w);
	for (int i = 1; i < METHODS_RERANKERS; i++)
		if (methods_can_rerank(m->models, (enum retrieve_reranker)i))
			jw_string(w, methods_reranker_model(m->models, (enum retrieve_reranker)i));
	jw_end(w);
	jw_end(w);
}

static bool never(void *arg)
{
	(void)arg;
	return false;
}

/* The space of the newest state: what x-rcpd-vector of a query must be of, and of a
 * document where vectors are stored. */
static void write_space(const struct methods *m, struct json_writer *w)
{
	const struct engine_stop stop = { never, NULL };
	struct engine_view *v = NULL;
	struct engine_space space;

	if (!m->models || engine_view_open(m->engine, &stop, &v, NULL))
		return;
	if (engine_view_space(v, &space)) {
		jw_key(w, "x-rcpd-vector");
		jw_object(w);
		jw_kv_int(w, "dimension", (int64_t)space.dimension);
		jw_kv_bytes(w, "identity", space.identity);
		jw_kv_bool(w, "documents", !space.derived);
		jw_end(w);
	}
	engine_view_close(v);
}

/* D44 */
static void write_admin(const struct methods *m, struct json_writer *w)
{
	if (!m->jobs)
		return;
	jw_key(w, "x-rcpd");
	jw_object(w);
	jw_key(w, "methods");
	jw_array(w);
	jw_string(w, "x-rcpd/reembed");
	jw_end(w);
	jw_end(w);
}

void methods_write_model_capabilities(const struct methods *m, struct json_writer *w)
{
	write_embed(m, w);
	write_sparse(m, w);
	write_multi(m, w);
	write_rerank(m, w);
	write_space(m, w);
	write_admin(m, w);
}
