/*
 * models/local.h: the embedder that every corpus has: a static table and the corpus's
 * own space side by side. Its vector is both, one behind the other, each times the root
 * of its weight: so the cosine of two texts is the weighted mean of the two cosines.
 *
 *   [ sqrt(w) x static (dimension of the table) | sqrt(1 - w) x corpus (256) ]
 *
 * Immutable; any thread.
 */
#ifndef RCPD_MODELS_LOCAL_H
#define RCPD_MODELS_LOCAL_H

#include "models/corpus.h"
#include "models/static.h"

struct local_model;

/* Weight of the table's part before and after a fit; measured in docs/QUALITY.md. */
#define LOCAL_STATIC_WEIGHT 0.5f

/* table is borrowed. blob: as corpus_model_open. */
enum status local_model_open(const struct static_model *table, struct bytes blob,
	struct local_model **ret, struct error *e);
void local_model_close(struct local_model *m); /* NULL is fine */
size_t local_model_dimension(const struct static_model *table);
/* "TABLE+lsa-1": two with the same identity are projected alike but for the fit. In the
 * arena. */
enum status local_model_identity(const struct static_model *table, struct arena *arena,
	struct bytes *ret);
/* Of unit length, or all zero. ST_NOMEM. */
enum status local_model_embed(const struct local_model *m, struct bytes text, float *out,
	struct error *e);

#endif
