/*
 * recall.c: the first ranking stage: BM25 over the index, inside a filter's bits; and
 * the filter alone where no words are left to rank by.
 */
#include "engine/private.h"

#include <stdlib.h>

#include "util/fault.h"

enum status engine_filter_compile(struct engine_view *v, const struct engine_filter *filter,
	struct arena *arena, struct engine_pass **ret, struct error *e)
{
	struct engine_pass *pass = arena_zero(arena, sizeof(*pass));
	enum status st;

	if (!pass)
		return engine_no_memory(e);
	st = filter_eval(v->state->columns, filter, &v->stop, arena, &pass->bits, &pass->count, e);
	if (!st)
		*ret = pass;
	return st;
}

bool engine_instant(struct engine_view *v, size_t field, int64_t key, int64_t *ret_ms)
{
	return filter_instant(v->state->columns, field, key, ret_ms);
}

/* The stall of a test ends early when the view is told to stop. */
static enum status pass_fault_point(struct engine_view *v, struct error *e)
{
	if (fault_hit("engine.recall", v->stop.fn, v->stop.arg))
		return error_set(e, ST_IO, "cannot read the corpus: the disk failed");
	if (engine_stopped(&v->stop))
		return error_set(e, ST_CANCELLED, "cancelled");
	return ST_OK;
}

static enum status take_hits(const struct lexical_hit *hits, size_t n, struct arena *arena,
	struct engine_candidate **ret, size_t *ret_n, struct error *e)
{
	struct engine_candidate *c = arena_array(arena, n ? n : 1, sizeof(*c));

	if (!c)
		return engine_no_memory(e);
	for (size_t i = 0; i < n; i++)
		c[i] = (struct engine_candidate){ hits[i].doc_id, hits[i].key, hits[i].no,
			hits[i].score };
	*ret = c;
	*ret_n = n;
	return ST_OK;
}

static bool has_none(const struct engine_pass *pass)
{
	return pass && pass->count == 0;
}

enum status engine_recall(struct engine_view *v, const struct engine_query *q, size_t k,
	const struct engine_pass *pass, struct arena *arena, struct engine_candidate **ret,
	size_t *ret_n, struct error *e)
{
	struct lexical_query query = { .terms = q->terms,
		.term_count = q->n,
		.k = k,
		.filter = pass ? &pass->bits : NULL,
		.stop = v->stop.fn,
		.stop_arg = v->stop.arg };
	struct lexical_hit *hits = NULL;
	size_t n = 0;
	enum status st = pass_fault_point(v, e);

	if (!st && !has_none(pass))
		st = lexical_search(v->state->index, &query, arena, &hits, &n, e);
	return st ? st : take_hits(hits, n, arena, ret, ret_n, e);
}

static int compare_keys(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

enum status engine_list(struct engine_view *v, const struct engine_pass *pass, size_t k,
	const struct engine_candidate *skip, size_t skip_n, struct arena *arena,
	struct engine_candidate **ret, size_t *ret_n, struct error *e)
{
	int64_t *keys = arena_array(arena, skip_n ? skip_n : 1, sizeof(*keys));
	struct lexical_listing listing = { .k = k,
		.filter = &pass->bits,
		.skip = keys,
		.skip_count = skip_n,
		.stop = v->stop.fn,
		.stop_arg = v->stop.arg };
	struct lexical_hit *hits = NULL;
	size_t n = 0;
	enum status st = ST_OK;

	if (!keys)
		return engine_no_memory(e);
	for (size_t i = 0; i < skip_n; i++)
		keys[i] = skip[i].key;
	qsort(keys, skip_n, sizeof(*keys), compare_keys);
	if (!has_none(pass))
		st = lexical_list(v->state->index, &listing, arena, &hits, &n, e);
	return st ? st : take_hits(hits, n, arena, ret, ret_n, e);
}
