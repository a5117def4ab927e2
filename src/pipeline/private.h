/*
 * pipeline/private.h: one run of retrieve, as its stages see it; for src/pipeline only.
 *
 *   retrieve.c   the stages in order
 *   candidates.c recall ─▶ the list: chunks or documents in their final order
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
	double score;                      /* after recency */
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
	struct retrieve_list list;
};

/* Tells the client something about its answer; text is static. */
void retrieve_note(struct retrieve_run *r, const char *text);
enum status retrieve_nomem(struct retrieve_run *r);
/* ST_CANCELLED if the request should not go on. */
enum status retrieve_stopped(struct retrieve_run *r);

/* Makes the list; the query has words. */
enum status retrieve_candidates(struct retrieve_run *r);
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
