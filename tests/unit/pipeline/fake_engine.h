/*
 * fake_engine.h: an engine of a few chunks with scores that a test chose, linked in
 * place of the real one, so that pages, groups and errors can be tested to the letter.
 */
#ifndef RCPD_TESTS_FAKE_ENGINE_H
#define RCPD_TESTS_FAKE_ENGINE_H

#include "engine/engine.h"

struct fake_chunk {
	const char *id;
	uint32_t chunk;
	double score;     /* 0: recall does not find it */
	const char *text; /* NULL: "text" */
	bool passes;      /* every filter */
	bool dated;
	int64_t when;
	float vector[2]; /* of unit length; zero: there is none */
};

enum fake_call {
	FAKE_NONE,
	FAKE_OPEN,
	FAKE_OPEN_AT,
	FAKE_ANALYZE,
	FAKE_COMPILE,
	FAKE_RECALL,
	FAKE_LIST,
	FAKE_FETCH,
	FAKE_ADD,
	FAKE_NEAR,
	FAKE_COSINES,
	FAKE_BM25,
};

/* One engine a program. */
struct fake {
	const struct fake_chunk *chunks;
	size_t n;
	uint64_t version; /* the newest; engine_view_open_at knows it and `kept` */
	uint64_t kept;
	int64_t time_ms;
	size_t words; /* that a query has */
	bool only_stop_words, truncated;
	enum fake_call fail; /* this call returns ST_IO */
	/* fake_dense.c */
	bool space; /* of 2 dimensions */
	uint64_t fit;
	/* what was done */
	unsigned nears;
	unsigned opened, closed, keeps, recalls, lists, adds;
	size_t last_k; /* of recall */
	size_t last_docs, last_chunks;
	bool last_contextual;
	struct engine_chunk first; /* the first chunk of the first document added */
};

extern struct fake fake;
/* All zero but for: version 5, one word, time 0. */
void fake_reset(const struct fake_chunk *chunks, size_t n);

#endif
