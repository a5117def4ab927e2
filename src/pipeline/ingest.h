/*
 * pipeline/ingest.h: from documents to a commit: format ─▶ chunks ─▶ vectors, if they are
 * stored and a model over HTTP makes them ─▶ engine_add.
 */
#ifndef RCPD_PIPELINE_INGEST_H
#define RCPD_PIPELINE_INGEST_H

#include "engine/engine.h"
#include "pipeline/gate.h"
#include "pipeline/models.h"
#include "text/chunk.h"

struct ingest_options {
	bool chunk;      /* texts beyond the target are cut; else each is one chunk */
	bool contextual; /* index the headings above a chunk with it */
	struct text_chunk_options size;
	const struct models *models; /* NULL: no vectors but those that the engine makes */
	struct ingest_gate *gate;    /* NULL: nobody changes the space */
};

#define INGEST_MAX_VECTOR_BYTES (256u << 20) /* of all vectors of one call */

/*
 * Fills chunks, chunk_count and contextual of docs (their format is set by the caller)
 * in the arena and adds them all. Vectors that a document brings lie in its `vectors`
 * with the number of their space; the others' are made where the space is that of the
 * embedder, with the deadline and outside all locks but the gate.
 *
 * Errors as engine_add; ST_TOO_LARGE with the field documents[i].text for a text of too
 * many chunks, or for too many vectors in one call; ST_INVALID with the field
 * documents[i].x-rcpd-vector for one vector of several chunks; ST_UNAVAILABLE: the
 * embedder is down, or the space of documents' vectors is the active one no more. Any
 * thread.
 */
enum status ingest_run(struct engine *en, struct engine_document *docs, size_t n,
	const struct ingest_options *opt, const struct engine_once *once,
	const struct engine_stop *stop, struct arena *arena, struct engine_commit *ret,
	struct error *e);

#endif
