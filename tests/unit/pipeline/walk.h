/* walk.h: retrieve over the fake engine, a page at a time. */
#ifndef RCPD_TESTS_WALK_H
#define RCPD_TESTS_WALK_H

#include "fake_engine.h"
#include "pipeline/retrieve.h"

extern struct arena walk_arena; /* released before each request of walk_page */

/* Never stops; the result must be ST_OK. Hits as "id#chunk " into out (may be NULL). */
struct retrieve_result walk_page(const struct retrieve_request *req, char *out, size_t size);
/* Any status. */
enum status walk_try(const struct retrieve_request *req, struct retrieve_result *res,
	struct error *e);
/* All pages from offset 0, joined with "| "; fails beyond 1000 pages. */
void walk_all(struct retrieve_request req, char *out, size_t size);
/* Whether the result says so. */
bool walk_noted(const struct retrieve_result *res, const char *part);

#endif
