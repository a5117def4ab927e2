/*
 * methods/capabilities.c: what initialize advertises: what is whole, nothing else.
 * The schema's `citations` is a top-level member (D38). Of all this only filter.fields
 * changes while the server runs: an epoch is how many fields there were (D42).
 */
#include "methods/filter.h"
#include "methods/methods.h"

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

static void write_retrieve(const struct methods *m, struct json_writer *w)
{
	jw_key(w, "retrieve");
	jw_object(w);
	jw_kv_int(w, "maxK", (int64_t)m->max_k);
	NAMES(w, "modes", "sparse");
	jw_kv_string(w, "defaultMode", "sparse");
	NAMES(w, "modalities", "text");
	NAMES(w, "units", "chunk", "document");
	jw_kv_bool(w, "tokenBudget", true);
	jw_kv_bool(w, "deterministic", true);
	jw_kv_bool(w, "snapshots", true);
	jw_kv_string(w, "scoreScale", "bm25");
	jw_kv_int(w, "scoreFloor", 0);
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

const char *methods_conformance(const struct methods *m)
{
	(void)m;
	return "L0"; /* D40: L1 wants dense and hybrid as well */
}
