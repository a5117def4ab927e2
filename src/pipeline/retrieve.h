/*
 * pipeline/retrieve.h: from a question to ranked hits, stage by stage:
 *
 *   transform (words and vector of the query) ─▶ recall (BM25, nearest vectors, filter)
 *     ─▶ fuse ─▶ rerank ─▶ diversify (MMR) ─▶ pack (order, cut, texts)
 *
 * Each stage that the request wants announces itself through hooks->stage and asks
 * hooks->stop now and then. A whole call reads one view of the corpus, which is kept
 * afterwards so that its indexVersion and its cursors can be served again.
 *
 * Order of hits: score descending, then weight (of the sides that found it), then
 * document id, then chunk. Pages walk through one list, which depends on the request and
 * the view alone:
 *
 *   sparse              the best max_candidates chunks (or their documents)
 *   dense, hybrid       the best of candidate_k chunks of each side; behind them those of
 *                       twice as many, and so on, up to max_candidates
 *   any, with recency   the best candidate_k
 *   or MMR
 *   any, with rerank    the best top_n
 *
 * Scores, all finite and >= 0 but for what remote rerankers give:
 *
 *   sparse    BM25
 *   dense     cosine with the query, what is below 0 counting as 0
 *   hybrid    what the fusion says, 0..1 (RRF: its sum of reciprocal ranks)
 *   reranked  colbert: 0..1; others: what the model gives
 *   MMR       lambda x relevance + (1 - lambda) x novelty, 0..1
 */
#ifndef RCPD_PIPELINE_RETRIEVE_H
#define RCPD_PIPELINE_RETRIEVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/engine.h"
#include "pipeline/models.h"
#include "pipeline/version.h"

enum retrieve_unit { RETRIEVE_CHUNK, RETRIEVE_DOCUMENT };

/* AUTO: hybrid where the query can have a vector in the view's space, else sparse. */
enum retrieve_mode { RETRIEVE_AUTO, RETRIEVE_SPARSE, RETRIEVE_DENSE, RETRIEVE_HYBRID };

/* How two lists become one (R4; Bruch, Gai, Ingber 2023, "An Analysis of Fusion
 * Functions for Hybrid Retrieval"). */
enum retrieve_fuse {
	RETRIEVE_CONVEX,   /* alpha x dense + (1 - alpha) x sparse, each from 0 to its best */
	RETRIEVE_RRF,      /* weights over rrf_k + rank */
	RETRIEVE_WEIGHTED, /* weights times min-max of each list */
};

struct retrieve_fusion {
	enum retrieve_fuse method;
	double alpha;         /* CONVEX: weight of the dense side, 0..1 */
	double rrf_k;         /* RRF: > 0 */
	double dense, sparse; /* RRF, WEIGHTED: weights, >= 0 and not both 0 */
};

enum retrieve_reranker {
	RETRIEVE_NO_RERANKER,
	RETRIEVE_COLBERT, /* models/maxsim.h */
	RETRIEVE_CROSS_ENCODER,
	RETRIEVE_LLM,
};

/* ---- defaults, as docs/QUALITY.md measured them ---- */

#define RETRIEVE_CANDIDATES 100     /* candidate_k */
#define RETRIEVE_TOP_N 100          /* of a rerank without topN, if candidate_k allows */
#define RETRIEVE_ALPHA 0.3          /* of a request without fusion */
#define RETRIEVE_NAMED_ALPHA 0.5    /* of fusion "convex" without alpha (R4) */
#define RETRIEVE_RRF_K 60.0         /* R4 */
#define RETRIEVE_COLBERT_SHARE 0.3  /* of MaxSim in the score after a rerank */
#define RETRIEVE_MMR_LAMBDA 0.5     /* of mmr without lambda */
#define RETRIEVE_MAX_DIVERSIFY 1000 /* candidates that MMR chooses from at most */

struct retrieve_request {
	struct bytes query;          /* UTF-8 */
	const struct models *models; /* NULL: there are no vectors, sparse alone */
	const float *vector;         /* the query's, of the client; NULL: none */
	size_t dimension;            /* of vector */
	enum retrieve_mode mode;
	bool lenient;                    /* strict: false. Falls back, with a note */
	struct retrieve_fusion fusion;   /* hybrid: all of it is set */
	size_t k, candidate_k;           /* 1 <= k <= candidate_k <= max_candidates */
	size_t max_candidates;           /* how far pages go */
	enum retrieve_reranker reranker; /* one that models has */
	size_t top_n;                    /* with a reranker: k <= top_n <= candidate_k */
	bool has_mmr;
	double lambda;                      /* 0 (novelty alone) .. 1 (relevance alone) */
	enum retrieve_unit unit;            /* DOCUMENT: scored by its best chunk (MaxP) */
	const struct engine_filter *filter; /* NULL: none */
	bool has_min_score;
	double min_score; /* hits with less, before MMR, are left out */
	bool has_recency;
	size_t recency_field;  /* without values in the view: nothing has an age */
	double half_life_days; /* > 0; the score halves with each */
	uint64_t token_budget; /* 0: none */
	bool want_text, want_vectors;
	struct bytes index_version; /* pinned, or NONE */
	bool has_cursor;
	uint64_t cursor_version; /* the view of the first page: else ST_NOT_FOUND */
	size_t offset;           /* hits on the pages before */
};

/* What the stages said of a hit; NAN: nothing. */
struct retrieve_scores {
	double dense;  /* cosine */
	double sparse; /* BM25 */
	double rerank; /* as the reranker gave it */
};

struct retrieve_hit {
	struct engine_candidate candidate; /* of a document: its best chunk */
	double score;                      /* the final one */
	struct retrieve_scores scores;
	struct engine_record record; /* filled for the hits that are answered */
	const float *vector;         /* with want_vectors; NULL: the chunk has none */
};

#define RETRIEVE_MAX_NOTES 8
#define RETRIEVE_MAX_ANSWER (64u << 20) /* bytes of texts and metas in one answer */

struct retrieve_result {
	struct retrieve_hit *hits; /* arena */
	size_t n;
	bool more;          /* there is a next page */
	size_t next_offset; /* hits on the pages so far; where the next one begins */
	size_t candidates;  /* chunks that were looked at */
	size_t reranked;
	size_t dimension;   /* of the hits' vectors; 0: the view has no space */
	uint64_t model_fit; /* of the space that was used; 0: none, or none was fitted */
	uint64_t tokens;    /* of the hits' texts; only with a token budget */
	uint64_t version;   /* commit */
	char index_version[VERSION_MAX];
	const char *notes[RETRIEVE_MAX_NOTES]; /* static storage */
	size_t note_count;
};

struct retrieve_hooks {
	void *arg;
	bool (*stop)(void *arg);
	/* A stage begins. From rerank on hits holds the page's first n candidates as they
	 * are ranked so far, without records; before that n is 0. */
	void (*stage)(void *arg, const char *name, double progress, const struct retrieve_hit *hits,
		size_t n);
};

/*
 * Errors: ST_INVALID with field indexVersion or x-rcpd-vector, ST_TOO_LARGE
 * (RETRIEVE_MAX_ANSWER), ST_GONE for a pinned version that is not served any more,
 * ST_NOT_FOUND for a cursor's, ST_UNAVAILABLE when a model is, ST_CANCELLED when stop
 * said so, and what engine.h names.
 */
enum status retrieve_run(struct engine *en, const struct retrieve_request *req,
	const struct retrieve_hooks *hooks, struct arena *arena, struct retrieve_result *ret,
	struct error *e);

#endif
