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
#include "models/rarity.h"
#include "models/static.h"

struct local_model;

/* Weight of the table's part before and after a fit; measured in docs/QUALITY.md. */
#define LOCAL_STATIC_WEIGHT 0.5f

/* table is borrowed. blob: of local_fit_run, copied; NONE: the model before any fit.
 * ST_INVALID, ST_NOMEM. */
enum status local_model_open(const struct static_model *table, struct bytes blob,
	struct local_model **ret, struct error *e);
void local_model_close(struct local_model *m); /* NULL is fine */
size_t local_model_dimension(const struct static_model *table);
/* "TABLE+lsa-1": two with the same identity are projected alike but for the fit. In the
 * arena. */
enum status local_model_identity(const struct static_model *table, struct arena *arena,
	struct bytes *ret);
/* How rare the table's tokens are in the corpus; borrowed. NULL before a fit. */
const struct rarity *local_model_rarity(const struct local_model *m);
/* Of unit length, or all zero. ST_NOMEM. */
enum status local_model_embed(const struct local_model *m, struct bytes text, float *out,
	struct error *e);

/* A fit of the corpus's part on its texts; as in corpus.h. */
struct local_fit;
enum status local_fit_new(const struct static_model *table, uint64_t seed, struct local_fit **ret,
	struct error *e);
enum status local_fit_add(struct local_fit *f, struct bytes text, struct error *e);
enum status local_fit_run(struct local_fit *f, bool (*stop)(void *arg),
	void (*progress)(void *arg, double done), void *arg, struct strbuf *blob, struct error *e);
void local_fit_free(struct local_fit *f); /* NULL is fine */

#endif
