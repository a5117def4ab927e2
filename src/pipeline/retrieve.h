/*
 * pipeline/retrieve.h: from a question to ranked hits, stage by stage:
 *
 *   transform (words of the query) ─▶ recall (BM25, filter) ─▶ pack (order, cut, texts)
 *
 * Each stage announces itself through hooks->stage and asks hooks->stop now and
 * then. A whole call reads one view of the corpus, which is kept afterwards so that
 * its indexVersion and its cursors can be served again.
 *
 * Order of hits: score descending, then document id, then chunk. The list that pages
 * walk through is the best max_candidates chunks (or their documents), with recency the
 * candidate_k best, decayed and sorted again; what a page holds depends on the request,
 * its offset and the view alone.
 */
#ifndef RCPD_PIPELINE_RETRIEVE_H
#define RCPD_PIPELINE_RETRIEVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/engine.h"
#include "pipeline/version.h"

enum retrieve_unit { RETRIEVE_CHUNK, RETRIEVE_DOCUMENT };

struct retrieve_request {
	struct bytes query;                 /* UTF-8 */
	size_t k, candidate_k;              /* 1 <= k <= candidate_k <= max_candidates */
	size_t max_candidates;              /* how far pages go */
	enum retrieve_unit unit;            /* DOCUMENT: scored by its best chunk (MaxP) */
	const struct engine_filter *filter; /* NULL: none */
	bool has_min_score;
	double min_score; /* BM25 scale: hits below are left out */
	bool has_recency;
	size_t recency_field;  /* without values in the view: nothing has an age */
	double half_life_days; /* > 0; the score halves with each */
	uint64_t token_budget; /* 0: none */
	bool want_text;
	struct bytes index_version; /* pinned, or NONE */
	bool has_cursor;
	uint64_t cursor_version; /* the view of the first page: else ST_NOT_FOUND */
	size_t offset;           /* hits on the pages before */
};

struct retrieve_hit {
	struct engine_candidate candidate; /* of a document: its best chunk */
	double score;                      /* after recency */
	struct engine_record record;       /* filled for the hits that are answered */
};

#define RETRIEVE_MAX_NOTES 4
#define RETRIEVE_MAX_ANSWER (64u << 20) /* bytes of texts and metas in one answer */

struct retrieve_result {
	struct retrieve_hit *hits; /* arena */
	size_t n;
	bool more;          /* there is a next page */
	size_t next_offset; /* hits on the pages so far; where the next one begins */
	size_t candidates;  /* chunks that were looked at */
	uint64_t tokens;    /* of the hits' texts; only with a token budget */
	uint64_t version;   /* commit */
	char index_version[VERSION_MAX];
	const char *notes[RETRIEVE_MAX_NOTES]; /* static storage */
	size_t note_count;
};

struct retrieve_hooks {
	void *arg;
	bool (*stop)(void *arg);
	/* A stage begins. For pack, hits holds the first n candidates with scores but
	 * without records; otherwise n is 0. */
	void (*stage)(void *arg, const char *name, double progress, const struct retrieve_hit *hits,
		size_t n);
};

/*
 * Errors: ST_INVALID with field indexVersion, ST_TOO_LARGE (RETRIEVE_MAX_ANSWER), ST_GONE
 * for a pinned version that is not served any more, ST_NOT_FOUND for a cursor's,
 * ST_CANCELLED when stop said so, and what engine.h names.
 */
enum status retrieve_run(struct engine *en, const struct retrieve_request *req,
	const struct retrieve_hooks *hooks, struct arena *arena, struct retrieve_result *ret,
	struct error *e);

#endif
