/* methods/retrieve_write.c: hits as JSON (R12). */
#include <math.h>

#include "methods/retrieve.h"
#include "methods/vectors.h"

static void write_citation(struct json_writer *out, const struct engine_record *rec)
{
	jw_key(out, "citation");
	jw_object(out);
	jw_kv_bytes_opt(out, "source", rec->source);
	jw_kv_bytes_opt(out, "uri", rec->uri);
	jw_kv_bytes_opt(out, "title", rec->title);
	jw_kv_int(out, "start", (int64_t)rec->cp_start);
	jw_kv_int(out, "end", (int64_t)rec->cp_end);
	jw_kv_int(out, "x-rcpd-byteStart", (int64_t)rec->byte_start);
	jw_kv_int(out, "x-rcpd-byteEnd", (int64_t)rec->byte_end);
	jw_end(out);
}

static void write_score(struct json_writer *out, const char *key, double score)
{
	if (!isnan(score))
		jw_kv_real(out, key, score);
}

/* Of each stage by itself, before recency and MMR. */
static void write_scores(struct json_writer *out, const struct retrieve_scores *s)
{
	jw_key(out, "scores");
	jw_object(out);
	write_score(out, "dense", s->dense);
	write_score(out, "sparse", s->sparse);
	write_score(out, "rerank", s->rerank);
	jw_end(out);
}

static void write_body(struct json_writer *out, const struct retrieve_hit *hit, size_t dimension)
{
	const struct engine_record *rec = &hit->record;

	jw_kv_bytes_opt(out, "text", rec->text);
	if (rec->meta.data) {
		jw_key(out, "meta");
		jw_raw(out, rec->meta.data, rec->meta.len);
	}
	if (hit->vector) {
		jw_key(out, "vector");
		methods_write_floats(out, hit->vector, dimension);
	}
	write_scores(out, &hit->scores);
	write_citation(out, rec);
	/* K3: what users wrote is never trusted */
	jw_key(out, "trust");
	jw_object(out);
	jw_kv_string(out, "level", "untrusted");
	jw_end(out);
}

/* D36: a document's hit has the document's id, a chunk's one of its own. */
static void write_hit(struct json_writer *out, const struct retrieve_hit *hit,
	enum retrieve_unit unit, size_t dimension, bool whole)
{
	jw_object(out);
	jw_key(out, "id");
	if (unit == RETRIEVE_DOCUMENT)
		jw_bytes(out, hit->candidate.doc_id);
	else
		methods_write_hit_id(out, hit->candidate.doc_id, hit->candidate.chunk);
	jw_kv_real(out, "score", hit->score);
	if (whole)
		write_body(out, hit, dimension);
	jw_kv_string(out, "unit", unit == RETRIEVE_DOCUMENT ? "document" : "chunk");
	jw_key(out, "chunk");
	jw_object(out);
	jw_kv_bytes(out, "docId", hit->candidate.doc_id);
	jw_kv_int(out, "index", hit->candidate.chunk);
	if (whole)
		jw_kv_bytes_opt(out, "context", hit->record.context);
	jw_end(out);
	jw_end(out);
}

void methods_write_hits(struct json_writer *out, const struct retrieve_hit *hits, size_t n,
	enum retrieve_unit unit, size_t dimension, bool whole)
{
	jw_key(out, "hits");
	jw_array(out);
	for (size_t i = 0; i < n; i++)
		write_hit(out, &hits[i], unit, dimension, whole);
	jw_end(out);
}
