/*
 * pipeline/ingest.h: from documents to a commit: format ─▶ chunks ─▶ engine_add.
 */
#ifndef RCPD_PIPELINE_INGEST_H
#define RCPD_PIPELINE_INGEST_H

#include "engine/engine.h"
#include "text/chunk.h"

struct ingest_options {
	bool chunk;      /* texts beyond the target are cut; else each is one chunk */
	bool contextual; /* index the headings above a chunk with it */
	struct text_chunk_options size;
};

/*
 * Fills chunks, chunk_count and contextual of docs (their format is set by the caller)
 * in the arena and adds them all. Errors as engine_add; ST_TOO_LARGE with the field
 * documents[i].text for a text of too many chunks. Any thread.
 */
enum status ingest_run(struct engine *en, struct engine_document *docs, size_t n,
	const struct ingest_options *opt, const struct engine_once *once,
	const struct engine_stop *stop, struct arena *arena, struct engine_commit *ret,
	struct error *e);

#endif
