/*
 * models/maxsim.h: late interaction (Khattab and Zaharia 2020, "ColBERT") over the token
 * vectors of a static table: each token of the query looks for its nearest token in the
 * passage, and the weighted mean of these cosines is the passage's score. A token weighs
 * the length of its row in the table times its inverse document frequency in the corpus,
 * or, where that is not known, among the passages that are judged together (docs/QUALITY.md
 * has what was measured): so scores of one call can be compared with each other, not
 * always with those of another one.
 *
 * Immutable tables; any thread. A query belongs to one thread.
 */
#ifndef RCPD_MODELS_MAXSIM_H
#define RCPD_MODELS_MAXSIM_H

#include "models/rarity.h"
#include "models/static.h"

struct maxsim_query;

/* Tokens of a text, without those whose vector is zero: ids, their unit vectors (n rows
 * of the table's dimension) and weights, all in the arena. At most MAXSIM_MAX_TOKENS;
 * the rest of the text does not count. ST_NOMEM. */
#define MAXSIM_MAX_TOKENS 4096
struct maxsim_tokens {
	size_t n, dimension;
	uint32_t *ids;
	float *vectors, *weights;
};
enum status maxsim_tokens(const struct static_model *m, struct bytes text, struct arena *arena,
	struct maxsim_tokens *ret, struct error *e);

/* In the arena, as what is added later; model, rarity (NULL: that of the passages) and
 * arena are borrowed. ST_NOMEM. */
enum status maxsim_query_new(const struct static_model *m, const struct rarity *rarity,
	struct bytes text, struct arena *arena, struct maxsim_query **ret, struct error *e);
/* Looks at one more passage. About 1 us for each ten of its tokens. ST_NOMEM. */
enum status maxsim_add(struct maxsim_query *q, struct bytes passage, struct error *e);
/* The scores of the passages in the order in which they were added: 0..1, higher is
 * better; 0 where query or passage has no tokens. */
void maxsim_scores(const struct maxsim_query *q, double *ret);

#endif
