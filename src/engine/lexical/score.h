/*
 * engine/lexical/score.h: BM25 (Robertson and Zaragoza, 2009), in two ways.
 *
 * Exact, in double, one expression in one place, summed in the order of the query:
 * what a hit's score is, whichever way the hit was found. Approximate, in float, four
 * at a time: what decides who can still be a hit. The two differ by less than the
 * relative error `slack` of a search, and every comparison leaves that much room.
 */
#ifndef RCPD_ENGINE_LEXICAL_SCORE_H
#define RCPD_ENGINE_LEXICAL_SCORE_H

#include "engine/lexical/bound.h"
#include "engine/lexical/part.h"

#define LEX_BOUND_TFS 16 /* tfs with a row in the table of bounds */

struct lex_model {
	double k1, b, average;
	/* The length's part of the denominator: base + per_length * length. */
	float base, per_length, weight; /* weight: k1 + 1, times a term's idf */
	/* tf / (tf + that), for tf and the code of a length. */
	float bound[LEX_BOUND_TFS][256];
};

/* chunks (living ones) and total length of the view. */
void lex_model_init(struct lex_model *m, double k1, double b, uint64_t chunks, uint64_t length);
double lex_idf(uint64_t chunks, uint64_t df);
/* The length's part of the denominator, and one term's score with it. */
double lex_norm(const struct lex_model *m, uint32_t length);
static inline double lex_score(const struct lex_model *m, double idf, uint32_t tf, double norm)
{
	return idf * (tf * (m->k1 + 1) / (tf + norm));
}
/* At least the approximate score of each posting of a block, with weight 1. */
float lex_bound_score(const struct lex_model *m, const unsigned char pairs[LEX_BOUND_BYTES]);
float lex_bound_pair(const struct lex_model *m, uint32_t tf, uint32_t length);
/* out[i] = weight * tf / (tf + base + per_length * length), for n postings. */
void lex_score_run(const struct lex_model *m, float weight, const uint32_t *tfs,
	const uint32_t *lengths, uint32_t n, float *out);

#endif
