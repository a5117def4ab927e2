/*
 * pipeline/private.h: one run of retrieve, as its stages see it; for src/pipeline only.
 *
 *   retrieve.c   the stages in order
 *   dense.c      who makes the query's vector, and which mode that allows
 *   candidates.c recall ─▶ the list: chunks or documents in the order of their scores
 *   fuse.c       two lists into one, and the order of all lists
 *   rerank.c     the best of the list, judged by their texts
 *   diversify.c  maximal marginal relevance
 *   fill.c       what only passes the filter, behind the list
 *   group.c      chunks into documents
 *   pack.c       the list ─▶ one page of it, with its texts
 *
 * The list depends on the request and the view alone, never on the page that is asked
 * for (but for how far it reaches), so that pages neither repeat nor skip a hit.
 */
#ifndef RCPD_PIPELINE_PRIVATE_H
#define RCPD_PIPELINE_PRIVATE_H

#include "pipeline/retrieve.h"

struct retrieve_entry {
	struct engine_candidate candidate; /* of a document: its best chunk */
	double score;                      /* of the last stage that gave one */
	double weight;                     /* of the sides that found it; breaks ties */
	size_t dense_rank, sparse_rank;    /* in their lists, from 1; 0: not found there */
	struct retrieve_scores scores;
};

/* In the run's arena. Entries from `matched` on only pass the filter. */
struct retrieve_list {
	struct retrieve_entry *v;
	size_t n, matched;
};

struct retrieve_run {
	struct engine *en;
	struct engine_view *view;
	const struct retrieve_request *req;
	const struct retrieve_hooks *hooks;
	struct arena *arena;
	struct retrieve_result *out;
	struct error *e;
	struct engine_query query;
	struct engine_pass *pass; /* NULL: no filter */
	bool has_space;           /* the view has vectors, and models may use them */
	struct engine_space space;
	enum retrieve_mode mode; /* AUTO no more */
	const float *vector;     /* the query's; NULL: the dense side finds nothing */
	struct retrieve_list list;
	size_t want; /* how deep recall went on each side */
	bool all;    /* and there is nothing below that */
	bool cut;    /* minScore keeps out what has no score */
};

/* Tells the client something about its answer; text is static. */
void retrieve_note(struct retrieve_run *r, const char *text);
enum status retrieve_nomem(struct retrieve_run *r);
/* ST_CANCELLED if the request should not go on. */
enum status retrieve_stopped(struct retrieve_run *r);
/* A remote model failed: out of its own time, it is not available; out of ours, this
 * request is stopped. */
void retrieve_remote_failed(struct retrieve_run *r, struct error *why);
/* True if one list serves all pages: see pipeline/retrieve.h. */
bool retrieve_one_list(const struct retrieve_run *r);

/* dense.c: fills has_space, space, mode and vector. */
enum status retrieve_vector(struct retrieve_run *r);

/* candidates.c: the list as recall found it, both sides together, not ordered yet where
 * the mode is hybrid. The query has words or a vector. */
enum status retrieve_recall(struct retrieve_run *r);
/* Orders the list, and makes documents of its chunks if those are wanted. */
enum status retrieve_rank(struct retrieve_run *r);
/* Goes on behind the candidates if the page lies there. */
enum status retrieve_deepen(struct retrieve_run *r);
/* Recency and minScore, after all that gives scores. */
void retrieve_settle(struct retrieve_run *r);

/* fuse.c: a total order (R1), for qsort. */
int retrieve_by_score(const void *a, const void *b);
/* Both lists, each best first, into one without repeats, in the arena. */
enum status retrieve_unite(struct retrieve_run *r, const struct engine_candidate *sparse,
	size_t sparse_n, const struct engine_candidate *dense, size_t dense_n);
/* Completes the scores of a united list and gives each entry the fused one. */
enum status retrieve_fuse_scores(struct retrieve_run *r);

/* rerank.c: the top_n best of the list in their new order, nothing behind them. */
enum status retrieve_rerank(struct retrieve_run *r);

/* diversify.c: as many of the list as this page and those before need, in the order in
 * which MMR takes them. */
enum status retrieve_diversify(struct retrieve_run *r);

/* fill.c: further entries that pass the filter, until there are k (F4). */
enum status retrieve_fill(struct retrieve_run *r);

/* Makes out->hits, without records: the page of the list that was asked for. */
enum status retrieve_page(struct retrieve_run *r);
/* Fills their records and cuts the page where an answer must end. */
enum status retrieve_pack(struct retrieve_run *r);

/* ---- group.c ---- */

/* A set of document ids, open addressing; in the arena. */
struct retrieve_group {
	struct bytes *slots;
	size_t cap;
};

/* For at most `most` ids. ST_NOMEM. */
enum status retrieve_group_init(struct retrieve_group *g, size_t most, struct arena *arena);
/* False if the id was there already. At most `most` calls may return true. */
bool retrieve_group_add(struct retrieve_group *g, struct bytes doc_id);

#endif
