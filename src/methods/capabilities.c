/*
 * methods/capabilities.c: what initialize advertises: what is whole, nothing else.
 * The schema's `citations` is a top-level member (D38). filter.fields grows while the
 * server runs: an epoch is how many fields there were (D42). What the vectors allow
 * changes only when x-rcpd/reembed gives the corpus another space.
 */
#include "methods/filter.h"
#include "methods/rerank.h"

/* An array of n names under key. */
static void write_names(struct json_writer *w, const char *key, const char *const *names, size_t n)
{
	jw_key(w, key);
	jw_array(w);
	for (size_t i = 0; i < n; i++)
		jw_string(w, names[i]);
	jw_end(w);
}

#define NAMES(w, key, ...)                                                                         \
	write_names(w, key, (const char *const[]){ __VA_ARGS__ },                                  \
		sizeof((const char *const[]){ __VA_ARGS__ }) / sizeof(const char *))

/* A corpus whose vectors come from clients is searched by words unless they bring the
 * query's too. */
static bool speaks(const struct methods_offer *offer)
{
	return offer->speaker == MODELS_LOCAL || offer->speaker == MODELS_REMOTE;
}

static void write_modes(const struct methods *m, const struct methods_offer *offer,
	struct json_writer *w)
{
	if (offer->speaker == MODELS_NOBODY) {
		NAMES(w, "modes", "sparse");
	} else {
		NAMES(w, "modes", "dense", "sparse", "hybrid");
		NAMES(w, "fusion", "convex", "rrf", "weighted");
	}
	jw_kv_string(w, "defaultMode", speaks(offer) ? "hybrid" : "sparse");
	if (offer->space)
		jw_kv_bool(w, "mmr", true);
	if (methods_best_reranker(m->models))
		jw_kv_bool(w, "rerankBuiltin", true);
}

/* One scale and one floor for all modes, or none at all (D42). */
static void write_scale(const struct methods *m, const struct methods_offer *offer,
	struct json_writer *w)
{
	if (offer->speaker != MODELS_NOBODY || offer->space || methods_best_reranker(m->models))
		return;
	jw_kv_string(w, "scoreScale", "bm25");
	jw_kv_int(w, "scoreFloor", 0);
}

static void write_retrieve(const struct methods *m, struct json_writer *w)
{
	struct methods_offer offer;

	if (methods_offer(m, &offer, NULL)) {
		w->out->failed = true;
		return;
	}
	jw_key(w, "retrieve");
	jw_object(w);
	jw_kv_int(w, "maxK", (int64_t)m->max_k);
	write_modes(m, &offer, w);
	NAMES(w, "modalities", "text");
	NAMES(w, "units", "chunk", "document");
	jw_kv_bool(w, "tokenBudget", true);
	jw_kv_bool(w, "deterministic", true);
	jw_kv_bool(w, "snapshots", true);
	write_scale(m, &offer, w);
	jw_end(w);
}

static void write_index(const struct methods *m, struct json_writer *w)
{
	jw_key(w, "index");
	jw_object(w);
	jw_kv_bool(w, "writable", !m->read_only);
	jw_kv_bool(w, "chunking", true);
	jw_kv_bool(w, "contextual", true);
	jw_end(w);
}

static void write_filter(const struct methods *m, uint64_t epoch, struct json_writer *w)
{
	jw_key(w, "filter");
	jw_object(w);
	jw_key(w, "fields");
	jw_object(w);
	for (uint64_t i = 0; i < epoch; i++) {
		struct engine_field field;

		engine_field_at(m->engine, (size_t)i, &field);
		jw_key_bytes(w, field.name);
		jw_string(w, engine_type_name(field.type));
	}
	jw_end(w);
	jw_key(w, "operators");
	jw_array(w);
	for (int i = 0; i < METHODS_OPS; i++)
		jw_string(w, methods_op_name((enum engine_op)i));
	jw_end(w);
	NAMES(w, "x-rcpd-dateEncodings", "rfc3339", "epoch-ms"); /* D28 */
	jw_end(w);
}

static void write_empty(struct json_writer *w, const char *key)
{
	jw_key(w, key);
	jw_object(w);
	jw_end(w);
}

void methods_capabilities(void *methods, uint64_t epoch, struct strbuf *out)
{
	const struct methods *m = methods;
	struct json_writer w;

	json_writer_init(&w, out);
	jw_object(&w);
	write_retrieve(m, &w);
	write_index(m, &w);
	write_filter(m, epoch, &w);
	methods_write_model_capabilities(m, &w);
	write_empty(&w, "pagination");
	write_empty(&w, "streaming");
	write_empty(&w, "citations");
	if (m->logs) { /* log frames travel over stdio only (S5) */
		jw_key(&w, "log");
		jw_object(&w);
		NAMES(&w, "levels", "debug", "info", "notice", "warning", "error");
		jw_end(&w);
	}
	jw_end(&w);
}

uint64_t methods_epoch(void *methods)
{
	const struct methods *m = methods;

	return engine_field_count(m->engine);
}

/*
 * D40: L1 wants dense, sparse, hybrid, filters and citations, the last two of which are
 * always there; L2 rerank, streaming, pagination and snapshots on top.
 */
const char *methods_conformance(const struct methods *m)
{
	struct methods_offer offer;

	if (methods_offer(m, &offer, NULL) || !speaks(&offer))
		return "L0";
	return methods_best_reranker(m->models) ? "L2" : "L1";
}
