/*
 * models/rarity.h: how many texts of a corpus have each token of a table, for weighing
 * tokens by how rare they are (maxsim.h). Counted on the texts of a fit and kept in its
 * blob, before the corpus space's part.
 *
 * Immutable once read; any thread. Counting belongs to one thread.
 */
#ifndef RCPD_MODELS_RARITY_H
#define RCPD_MODELS_RARITY_H

#include "models/static.h"
#include "util/strbuf.h"

struct rarity {
	size_t vocabulary;
	uint64_t texts;
	uint32_t *df;   /* of each token */
	uint32_t *seen; /* while counting: the last text that had it, from 1 */
};

/* Takes a text into account; the first one makes room (mem_free by rarity_release).
 * ST_NOMEM. */
enum status rarity_count(struct rarity *r, const struct static_model *m, struct bytes text,
	struct error *e);
/* Appends what was counted to a blob. False when out of memory. */
bool rarity_write(const struct rarity *r, struct strbuf *blob);
/* Reads it from the head of a blob of the same table, and takes it off. ST_INVALID,
 * ST_NOMEM. */
enum status rarity_read(struct rarity *r, const struct static_model *m, struct bytes *blob,
	struct error *e);
void rarity_release(struct rarity *r);
/* Inverse document frequency: ln(1 + (n - df + 0.5) / (df + 0.5)) (Robertson and Zaragoza
 * 2009). */
double rarity_idf(uint64_t texts, uint64_t df);

#endif
