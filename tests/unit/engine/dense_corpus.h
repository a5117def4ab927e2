/*
 * dense_corpus.h: a corpus whose vectors a toy encoder makes: each word adds a fixed
 * pseudo-random direction that depends on the space's blob, so that another fit is
 * another space. Reproducible by anybody who has the text.
 */
#ifndef RCPD_TESTS_ENGINE_DENSE_CORPUS_H
#define RCPD_TESTS_ENGINE_DENSE_CORPUS_H

#include <stdatomic.h>

#include "corpus.h"
#include "engine/dense.h"

#define TOY_DIMENSION 24
#define TOY_IDENTITY "toy"

struct toy {
	_Atomic unsigned opened, closed, embedded;
	_Atomic bool refuse; /* open says that it does not know the space */
	_Atomic bool fail;   /* embed runs out of memory */
};

/* The vector of a text under a blob; not of unit length. */
void toy_vector(struct bytes text, struct bytes blob, float *out);
/* An encoder over toy, whose first space has the blob "0". */
struct engine_encoder toy_encoder(struct toy *toy);
struct engine_space_spec toy_spec(const char *blob, uint64_t fit);

/* The ids of the k nearest documents to a text, joined by spaces, by the view's own
 * space. Results are in the arena of c. */
const char *dense_search(struct corpus *c, struct engine_view *v, const char *text, size_t k);
/* The same in the newest view. */
const char *dense_search_now(struct corpus *c, const char *text, size_t k);
/* Fails unless every living chunk has the vector that the blob gives, and no dead one
 * has any. */
void dense_check(struct corpus *c, const char *blob);

#endif
