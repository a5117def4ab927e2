/*
 * methods/capabilities.c: what initialize advertises: what is whole, nothing else.
 * The schema's `citations` is a top-level member (D38).
 */
#include "methods/methods.h"

static void write_retrieve(const struct methods *m, struct json_writer *w)
{
	jw_key(w, "retrieve");
	jw_object(w);
	jw_kv_int(w, "maxK", (int64_t)m->max_k);
	jw_key(w, "modes");
	jw_array(w);
	jw_string(w, "sparse");
	jw_end(w);
	jw_kv_string(w, "defaultMode", "sparse");
	jw_key(w, "modalities");
	jw_array(w);
	jw_string(w, "text");
	jw_end(w);
	jw_key(w, "units");
	jw_array(w);
	jw_string(w, "chunk");
	jw_end(w);
	jw_kv_string(w, "scoreScale", "bm25");
	jw_kv_int(w, "scoreFloor", 0);
	jw_end(w);
}

static void write_log(struct json_writer *w)
{
	static const char *const levels[] = { "debug", "info", "notice", "warning", "error" };

	jw_key(w, "log");
	jw_object(w);
	jw_key(w, "levels");
	jw_array(w);
	for (size_t i = 0; i < sizeof(levels) / sizeof(levels[0]); i++)
		jw_string(w, levels[i]);
	jw_end(w);
	jw_end(w);
}

void methods_capabilities(const struct methods *m, struct strbuf *out)
{
	struct json_writer w;

	json_writer_init(&w, out);
	jw_object(&w);
	write_retrieve(m, &w);
	jw_key(&w, "index");
	jw_object(&w);
	jw_kv_bool(&w, "writable", !m->read_only);
	jw_kv_bool(&w, "chunking", false);
	jw_kv_bool(&w, "contextual", false);
	jw_end(&w);
	jw_key(&w, "streaming");
	jw_object(&w);
	jw_end(&w);
	jw_key(&w, "citations");
	jw_object(&w);
	jw_end(&w);
	if (m->logs) /* log frames travel over stdio only (S5) */
		write_log(&w);
	jw_end(&w);
}

const char *methods_conformance(const struct methods *m)
{
	(void)m;
	return "L0"; /* D40: L1 wants dense, hybrid and filter as well */
}
