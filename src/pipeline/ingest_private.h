/* pipeline/ingest_private.h: what the two files of ingest share. */
#ifndef RCPD_PIPELINE_INGEST_PRIVATE_H
#define RCPD_PIPELINE_INGEST_PRIVATE_H

#include "pipeline/ingest.h"

/* Whether it matters which space is active: there is an embedder, or a document brings
 * its vector. */
bool ingest_needs_space(const struct engine_document *docs, size_t n,
	const struct ingest_options *opt);
/* Checks the vectors that documents bring, and makes the others' if the active space is
 * the embedder's, in the arena. Errors as ingest_run. */
enum status ingest_vectors(struct engine *en, struct engine_document *docs, size_t n,
	const struct ingest_options *opt, const struct engine_stop *stop, struct arena *arena,
	struct error *e);

#endif
