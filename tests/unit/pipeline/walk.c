/* walk.c: see walk.h. */
#include "walk.h"

#include "../unit.h"

#include <stdio.h>
#include <string.h>

struct arena walk_arena;

static bool never(void *arg)
{
	(void)arg;
	return false;
}

static void quiet(void *arg, const char *name, double progress, const struct retrieve_hit *hits,
	size_t n)
{
	(void)arg, (void)name, (void)progress, (void)hits, (void)n;
}

enum status walk_try(const struct retrieve_request *req, struct retrieve_result *res,
	struct error *e)
{
	const struct retrieve_hooks hooks = { NULL, never, quiet };

	return retrieve_run(NULL, req, &hooks, &walk_arena, res, e);
}

static void append_hits(const struct retrieve_result *res, char *out, size_t size)
{
	for (size_t i = 0; i < res->n; i++) {
		const struct engine_candidate *c = &res->hits[i].candidate;
		size_t at = strlen(out);

		snprintf(out + at, size - at, "%.*s#%u ", (int)c->doc_id.len, c->doc_id.data,
			c->chunk);
	}
}

struct retrieve_result walk_page(const struct retrieve_request *req, char *out, size_t size)
{
	struct retrieve_result res;
	struct error e;
	unsigned closed = fake.closed, opened = fake.opened, keeps = fake.keeps;

	arena_release(&walk_arena);
	if (walk_try(req, &res, &e))
		fail_msg("%s", e.message);
	assert_int_equal(fake.opened, opened + 1);
	assert_int_equal(fake.closed, closed + 1);
	assert_int_equal(fake.keeps, keeps + 1);
	if (out) {
		out[0] = '\0';
		append_hits(&res, out, size);
	}
	return res;
}

void walk_all(struct retrieve_request req, char *out, size_t size)
{
	struct retrieve_result res;
	size_t pages = 0;

	out[0] = '\0';
	do {
		assert_true(pages++ < 1000);
		if (pages > 1)
			snprintf(out + strlen(out), size - strlen(out), "| ");
		res = walk_page(&req, NULL, 0);
		append_hits(&res, out, size);
		assert_true(!res.more || res.next_offset > req.offset);
		req.offset = res.next_offset;
	} while (res.more);
}

bool walk_noted(const struct retrieve_result *res, const char *part)
{
	for (size_t i = 0; i < res->note_count; i++)
		if (strstr(res->notes[i], part))
			return true;
	return false;
}
