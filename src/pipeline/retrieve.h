/*
 * pipeline/retrieve.h: from a question to ranked hits, stage by stage:
 *
 *   transform (words of the query) ─▶ recall (BM25) ─▶ pack (order, cut, texts)
 *
 * Each stage announces itself through hooks->stage and asks hooks->stop now and
 * then. A whole call reads one view of the corpus.
 */
#ifndef RCPD_PIPELINE_RETRIEVE_H
#define RCPD_PIPELINE_RETRIEVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/engine.h"
#include "pipeline/version.h"

struct retrieve_request {
	struct bytes query;    /* UTF-8 */
	size_t k, candidate_k; /* 1 <= k <= candidate_k */
	bool has_min_score;
	double min_score;           /* BM25 scale: hits below are left out */
	struct bytes recency_field; /* NONE: no decay */
	double half_life_days;      /* > 0; the score halves with each */
	int64_t now_ms;             /* the decay's present, wall clock */
	bool want_text;
	struct bytes index_version; /* NONE: the newest */
};

struct retrieve_hit {
	struct engine_candidate candidate; /* candidate.score: BM25 as recalled */
	double score;                      /* after decay */
	struct engine_record record;       /* filled by pack */
};

#define RETRIEVE_MAX_NOTES 8
/* Texts and metas of all hits together; more is ST_TOO_LARGE. */
#define RETRIEVE_MAX_ANSWER (64U << 20)

struct retrieve_result {
	struct retrieve_hit *hits; /* arena; best first */
	size_t n;
	size_t candidates; /* that recall brought */
	char index_version[VERSION_MAX];
	const char *notes[RETRIEVE_MAX_NOTES]; /* static texts */
	size_t note_count;
};

struct retrieve_hooks {
	void *arg;
	bool (*stop)(void *arg);
	/* A stage begins. For pack, hits holds the first n candidates with scores but
	 * without records; otherwise n is 0. */
	void (*stage)(void *arg, const char *name, double progress, const struct retrieve_hit *hits,
		size_t n);
	/* The instant in a document's meta (JSON text) under a field; false if none. */
	bool (*meta_date)(void *arg, struct bytes meta, struct bytes field, int64_t *ret_ms);
};

/*
 * Errors: ST_INVALID with field indexVersion, ST_TOO_LARGE (RETRIEVE_MAX_ANSWER), ST_GONE for a pinned version that is
 * not served any more, ST_CANCELLED when stop said so, and what engine.h names.
 */
enum status retrieve_run(struct engine *en, const struct retrieve_request *req,
	const struct retrieve_hooks *hooks, struct arena *arena, struct retrieve_result *ret,
	struct error *e);

#endif
