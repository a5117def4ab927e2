/*
 * fake_models.h: models whose answers a test chose, in place of models/ and
 * pipeline/encode.c. Rerankers read the number that a passage's text begins with.
 */
#ifndef RCPD_TESTS_FAKE_MODELS_H
#define RCPD_TESTS_FAKE_MODELS_H

#include "pipeline/models.h"

struct fake_models {
	enum models_speaker speaker;
	float query[2];     /* vector of any query */
	enum status embed;  /* what models_embed_query returns; not ST_OK: no vector */
	enum status remote; /* what remote_rerank returns */
	bool slow;          /* remote calls end by their stop alone */
	/* what was done */
	unsigned embeds, judged, remote_calls;
	size_t longest; /* bytes of a passage */
};

extern struct fake_models fake_models;
/* A table, colbert, a cross-encoder and an LLM; speaker LOCAL, query (1, 0). */
const struct models *fake_models_reset(void);

#endif
