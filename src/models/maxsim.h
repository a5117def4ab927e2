/*
 * models/maxsim.h: late interaction (Khattab and Zaharia 2020, "ColBERT") over the token
 * vectors of a static table: each token of the query looks for its nearest token in the
 * passage, and the weighted sum of these cosines is the passage's score.
 *
 * Immutable tables; any thread.
 */
#ifndef RCPD_MODELS_MAXSIM_H
#define RCPD_MODELS_MAXSIM_H

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

/* In the arena; the model is borrowed. ST_NOMEM. */
enum status maxsim_query_new(const struct static_model *m, struct bytes text, struct arena *arena,
	struct maxsim_query **ret, struct error *e);
/* 0..1, higher is better; 0 where either has no tokens. About 1 us for each ten tokens of
 * the passage. ST_NOMEM. */
enum status maxsim_score(const struct maxsim_query *q, struct bytes passage, double *ret,
	struct error *e);

#endif
