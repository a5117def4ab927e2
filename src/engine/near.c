/*
 * near.c: ranking by vectors: the nearest chunks, and the scores of chunks that were
 * found by other means.
 */
#include "engine/private.h"

#include <math.h>
#include <stdlib.h>

#include "util/fault.h"

bool engine_view_space(const struct engine_view *v, struct engine_space *ret)
{
	if (!v->state->dense)
		return false;
	*ret = v->state->dense->space;
	return true;
}

static enum status note_row(void *arg, const struct store_row *row, struct error *e)
{
	(void)row;
	(void)e;
	*(bool *)arg = true;
	return ST_GONE; /* one is enough */
}

enum status engine_space_lacks(struct engine_view *v, bool *ret, struct error *e)
{
	const struct dense *d = v->state->dense;
	struct store_reader *r;
	enum status st;

	*ret = false;
	if (!d || d->space.derived)
		return ST_OK;
	st = view_reader(v, &r, e);
	if (!st)
		st = store_each_unembedded(r, NULL, d->space.number, 0, note_row, ret, e);
	return *ret ? ST_OK : st;
}

bool engine_vector(struct engine_view *v, int64_t key, float *ret)
{
	return v->state->near && vectors_get(v->state->near, key, ret);
}

/* Score descending, then doc_id, then chunk: as engine_recall. */
static int by_score(const void *a, const void *b)
{
	const struct engine_candidate *x = a, *y = b;
	int c;

	if (x->score != y->score)
		return x->score < y->score ? 1 : -1;
	c = bytes_cmp(x->doc_id, y->doc_id);
	return c ? c : (x->chunk > y->chunk) - (x->chunk < y->chunk);
}

/* The index knows keys only; whose they are the other index tells. */
static enum status name_hits(struct engine_view *v, const struct vectors_hit *hits, size_t n,
	size_t k, struct arena *arena, struct engine_candidate **ret, size_t *ret_n,
	struct error *e)
{
	struct engine_candidate *c = arena_array(arena, n ? n : 1, sizeof(*c));
	size_t m = 0;

	if (!c)
		return engine_no_memory(e);
	for (size_t i = 0; i < n; i++) {
		c[m] = (struct engine_candidate){ .key = hits[i].key, .score = hits[i].score };
		if (lexical_find(v->state->index, hits[i].key, &c[m].doc_id, &c[m].chunk))
			m++;
	}
	qsort(c, m, sizeof(*c), by_score);
	*ret = c;
	*ret_n = m < k ? m : k;
	return ST_OK;
}

enum status engine_near(struct engine_view *v, const float *query, size_t k,
	const struct engine_pass *pass, bool exact, struct arena *arena,
	struct engine_candidate **ret, size_t *ret_n, struct error *e)
{
	struct vectors_filter filter;
	struct vectors_query q = { .values = query,
		.k = k,
		.exact = exact,
		.stop = v->stop.fn,
		.stop_arg = v->stop.arg };
	struct vectors_hit *hits = NULL;
	size_t n = 0;
	enum status st = ST_OK;

	if (fault_hit("engine.near", v->stop.fn, v->stop.arg))
		return error_set(e, ST_IO, "cannot read the corpus: the disk failed");
	if (engine_stopped(&v->stop))
		return error_set(e, ST_CANCELLED, "cancelled");
	if (pass) {
		filter = (struct vectors_filter){ pass->bits.bits, pass->bits.base,
			pass->bits.count, pass->count };
		q.filter = &filter;
	}
	if (v->state->near && !(pass && pass->count == 0))
		st = vectors_search(v->state->near, &q, arena, &hits, &n, e);
	return st ? st : name_hits(v, hits, n, k, arena, ret, ret_n, e);
}

enum status engine_cosines(struct engine_view *v, const float *query,
	const struct engine_candidate *c, size_t n, double *ret, struct error *e)
{
	struct arena scratch;
	int64_t *keys;
	enum status st = ST_OK;

	for (size_t i = 0; i < n; i++)
		ret[i] = NAN;
	if (!v->state->near || n == 0)
		return ST_OK;
	arena_init(&scratch, 0);
	keys = arena_array(&scratch, n, sizeof(*keys));
	if (!keys)
		st = engine_no_memory(e);
	for (size_t i = 0; !st && i < n; i++)
		keys[i] = c[i].key;
	if (!st)
		st = vectors_score(v->state->near, query, keys, n, ret, e);
	arena_release(&scratch);
	return st;
}

static int by_key(const void *a, const void *b)
{
	int64_t x = ((const struct lexical_hit *)a)->key, y = ((const struct lexical_hit *)b)->key;

	return (x > y) - (x < y);
}

/* A filter that lets the candidates pass and nobody else. */
static enum status pass_these(const struct engine_candidate *c, size_t n, struct arena *arena,
	struct lexical_filter *ret, struct error *e)
{
	int64_t low = c[0].key, high = c[0].key;
	uint64_t *bits;

	for (size_t i = 1; i < n; i++) {
		low = c[i].key < low ? c[i].key : low;
		high = c[i].key > high ? c[i].key : high;
	}
	ret->base = low;
	ret->count = (size_t)(high - low) + 1;
	bits = arena_array(arena, ret->count / 64 + 1, sizeof(*bits));
	if (!bits)
		return engine_no_memory(e);
	for (size_t i = 0; i < n; i++)
		bits[(c[i].key - low) / 64] |= (uint64_t)1 << (c[i].key - low) % 64;
	ret->bits = bits;
	return ST_OK;
}

/* Scores of the index, in the order of keys, to those who asked. */
static void hand_out(struct lexical_hit *hits, size_t hit_count, const struct engine_candidate *c,
	size_t n, double *ret)
{
	if (hit_count)
		qsort(hits, hit_count, sizeof(*hits), by_key);
	for (size_t i = 0; i < n; i++) {
		struct lexical_hit key = { .key = c[i].key };
		const struct lexical_hit *hit =
			hit_count ? bsearch(&key, hits, hit_count, sizeof(*hits), by_key) : NULL;

		ret[i] = hit ? hit->score : 0;
	}
}

enum status engine_bm25(struct engine_view *v, const struct engine_query *q,
	const struct engine_candidate *c, size_t n, struct arena *arena, double *ret,
	struct error *e)
{
	struct lexical_filter these;
	struct lexical_query query = { .terms = q->terms,
		.term_count = q->n,
		.k = n,
		.filter = &these,
		.stop = v->stop.fn,
		.stop_arg = v->stop.arg };
	struct lexical_hit *hits = NULL;
	size_t hit_count = 0;
	enum status st;

	if (n == 0)
		return ST_OK;
	st = pass_these(c, n, arena, &these, e);
	if (!st && q->n)
		st = lexical_search(v->state->index, &query, arena, &hits, &hit_count, e);
	if (!st)
		hand_out(hits, hit_count, c, n, ret);
	return st;
}
