/*
 * tiny_models.h: models of a few lines, linked in place of the real ones: a table of
 * four dimensions that counts letters, and a remote model that a test lets fail.
 */
#ifndef RCPD_TESTS_TINY_MODELS_H
#define RCPD_TESTS_TINY_MODELS_H

#include "pipeline/models.h"

#define TINY_DIMENSION 4 /* of the table and of what is remote */
#define TINY_LOCAL 6     /* of table and corpus space */

struct tiny_models {
	enum status fail; /* what remote models and the table end with; ST_OK: they work */
	bool nan;         /* scores of rerankers are no numbers */
	/* what was asked of remote models */
	unsigned calls;
	size_t texts;
	bool query;
	char last[64]; /* the last text */
	bool stopped;  /* its stop said so when asked */
};
extern struct tiny_models tiny_models;

/* A table that works, not to be closed. */
const struct static_model *tiny_table(void);
/* A remote with that identity, not to be closed. */
struct remote *tiny_remote(const char *identity);
/* What they make of a text: letters by their place in the alphabet, modulo 4, each
 * counted, unit length; no letters: all zero. */
void tiny_vector(struct bytes text, float out[TINY_DIMENSION]);

#endif
