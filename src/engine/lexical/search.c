/*
 * search.c: a search from the query's terms to hits: looks every term up in every
 * slice, sums document frequencies, then lets prune.c or exhaustive.c go through the
 * slices, largest first, so that later ones meet a high threshold.
 */
#include "engine/lexical/search.h"

#include <float.h>

#include "util/hash.h"
#include "util/mem.h"

/* ---- the query's terms ---- */

static bool same_term(const struct lex_query_term *t, struct bytes term, uint64_t hash)
{
	return t->hash == hash && bytes_eq(t->term, term);
}

static void collect_terms(struct lex_search *s)
{
	const struct lexical_query *q = s->query;

	for (size_t i = 0; i < q->term_count; i++) {
		uint64_t hash = hash_bytes(q->terms[i].data, q->terms[i].len);
		uint32_t t = 0;

		while (t < s->n && !same_term(&s->terms[t], q->terms[i], hash))
			t++;
		if (t == s->n)
			s->terms[s->n++] =
				(struct lex_query_term){ .term = q->terms[i], .hash = hash };
		s->terms[t].times++;
		s->positions[i] = t;
	}
}

/* Fills in and df; the scratch that the slice with most blocks needs. */
static void find_terms(struct lex_search *s)
{
	for (size_t i = 0; i < s->view->count; i++) {
		const struct lex_slice *slice = &s->view->slice[i];
		size_t blocks = 0;

		for (uint32_t t = 0; t < s->n; t++) {
			struct lex_term_in *in = &s->in[i * s->n + t];

			if (!lex_slice_find(slice, s->terms[t].term, s->terms[t].hash, in))
				continue;
			s->terms[t].df += in->live;
			blocks += lex_cursor_blocks(slice, in) *
				(s->query->exhaustive ? s->terms[t].times : 1);
		}
		if (blocks > s->blocks)
			s->blocks = blocks;
	}
	for (uint32_t t = 0; t < s->n; t++)
		s->terms[t].idf = lex_idf(s->view->chunks, s->terms[t].df);
}

/* ---- memory ---- */

static void search_free(struct lex_search *s)
{
	mem_free(s->terms);
	mem_free(s->positions);
	mem_free(s->in);
	mem_free(s->cursors);
	mem_free(s->lasts);
	mem_free(s->bounds);
	mem_free(s->ats);
	mem_free(s->order);
	mem_free(s->sums);
	mem_free(s->rest);
	mem_free(s->scores);
	mem_free(s->pool);
	mem_free(s->top.best);
	mem_free(s->top.floats);
	mem_free(s);
}

static struct lex_search *search_new(const struct lexical_view *v, const struct lexical_query *q)
{
	struct lex_search *s = mem_alloc(sizeof(*s));
	size_t n = q->term_count;

	if (!s)
		return NULL;
	memset(s, 0, offsetof(struct lex_search, model));
	memset(&s->terms, 0,
		offsetof(struct lex_search, touched) - offsetof(struct lex_search, terms));
	memset(s->bits, 0, sizeof(s->bits));
	s->damaged = false;
	s->view = v;
	s->query = q;
	s->terms = mem_array(n, sizeof(*s->terms));
	s->positions = mem_array(n, sizeof(*s->positions));
	s->in = mem_array(v->count * n, sizeof(*s->in));
	s->order = mem_array(n, sizeof(*s->order));
	s->sums = mem_array(n, sizeof(*s->sums));
	s->rest = mem_array(n, sizeof(*s->rest));
	s->scores = mem_array(n, sizeof(*s->scores));
	s->cursors = mem_alloc(n * sizeof(*s->cursors));
	if (s->terms && s->positions && s->in && s->order && s->sums && s->rest && s->scores &&
		s->cursors)
		return s;
	search_free(s);
	return NULL;
}

/* What depends on how many postings there are. */
static bool make_scratch(struct lex_search *s)
{
	struct lex_top *top = &s->top;

	top->view = s->view;
	top->k = s->query->k < s->view->chunks ? s->query->k : (size_t)s->view->chunks;
	top->cut = -1;
	/* Each of n sums and a handful of steps before them rounds once, by half an
	 * epsilon of a sum of positive numbers; that for each side of a comparison,
	 * and as much again for comfort. */
	top->slack = (float)(s->n + 16) * 4 * FLT_EPSILON;
	s->pool_cap = 2 * top->k + 256;
	s->lasts = mem_alloc(s->blocks * sizeof(*s->lasts));
	s->bounds = mem_alloc(s->blocks * sizeof(*s->bounds));
	s->ats = mem_alloc(s->blocks * sizeof(*s->ats));
	s->pool = mem_alloc(s->pool_cap * sizeof(*s->pool));
	top->best = mem_alloc(top->k * sizeof(*top->best));
	top->floats = mem_alloc(top->k * sizeof(*top->floats));
	return s->lasts && s->bounds && s->ats && s->pool && top->best && top->floats;
}

void lex_search_open(struct lex_search *s, struct lex_cursor *c, uint32_t t, size_t *used)
{
	const struct lex_term_in *in = &s->in[s->slice_no * (size_t)s->n + t];

	c->lasts = s->lasts + *used;
	c->bounds = s->bounds + *used;
	c->ats = s->ats + *used;
	c->damaged = false;
	c->weight = (float)(s->terms[t].idf * s->terms[t].times) * s->model.weight;
	lex_cursor_open(c, s->slice, in, &s->model, &s->lengths);
	*used += c->blocks;
	s->damaged |= c->damaged;
}

/* ---- the slices ---- */

bool lex_search_stopped(const struct lex_search *s)
{
	return s->query->stop && s->query->stop(s->query->stop_arg);
}

/* Numbers of the slices, most living chunks first. Few: at worst some dozens. */
static void order_slices(const struct lexical_view *v, uint32_t *order)
{
	for (uint32_t i = 0; i < v->count; i++) {
		uint32_t live = v->slice[i].chunks - v->slice[i].deleted, j = i;

		for (; j > 0; j--) {
			const struct lex_slice *before = &v->slice[order[j - 1]];

			if (before->chunks - before->deleted >= live)
				break;
			order[j] = order[j - 1];
		}
		order[j] = i;
	}
}

static enum status search_slices(struct lex_search *s, const uint32_t *order, struct error *e)
{
	enum status st = ST_OK;

	for (size_t i = 0; !st && i < s->view->count; i++) {
		s->slice_no = order[i];
		s->slice = &s->view->slice[s->slice_no];
		if (s->slice->chunks == s->slice->deleted)
			continue;
		s->lengths = lex_lengths_of(s->slice);
		st = s->query->exhaustive ? lex_search_exhaust(s) : lex_search_prune(s);
	}
	if (st == ST_CANCELLED)
		return error_set(e, st, "cancelled");
	if (st)
		return error_set(e, st, "out of memory");
	if (s->damaged)
		return error_set(e, ST_CORRUPT, "the index is damaged");
	return ST_OK;
}

enum status lex_search_take(struct lex_search *s, struct arena *arena, struct lexical_hit **ret,
	size_t *ret_n, struct error *e)
{
	struct lex_top *top = &s->top;
	struct lexical_hit *hits = arena_array(arena, top->count ? top->count : 1, sizeof(*hits));

	if (!hits)
		return error_set(e, ST_NOMEM, "out of memory");
	lex_top_sort(top);
	for (size_t i = 0; i < top->count; i++) {
		struct lex_row row;

		lex_slice_row(&s->view->slice[top->best[i].slice], top->best[i].ord, &row);
		hits[i] = (struct lexical_hit){ row.key, row.doc_id, row.no, top->best[i].score };
	}
	*ret = hits;
	*ret_n = top->count;
	return ST_OK;
}

static enum status search(struct lex_search *s, struct arena *arena, struct lexical_hit **ret,
	size_t *ret_n, struct error *e)
{
	const struct lexical_view *v = s->view;
	uint32_t *order = mem_array(v->count, sizeof(*order));
	enum status st;

	collect_terms(s);
	find_terms(s);
	lex_model_init(&s->model, v->k1, v->b, v->chunks, v->total_length);
	if (!order || !make_scratch(s)) {
		mem_free(order);
		return error_set(e, ST_NOMEM, "out of memory");
	}
	order_slices(v, order);
	st = search_slices(s, order, e);
	mem_free(order);
	return st ? st : lex_search_take(s, arena, ret, ret_n, e);
}

enum status lexical_search(const struct lexical_view *v, const struct lexical_query *q,
	struct arena *arena, struct lexical_hit **ret, size_t *ret_n, struct error *e)
{
	struct lex_search *s;
	enum status st;

	if (q->term_count > LEXICAL_MAX_QUERY)
		return error_set(e, ST_TOO_LARGE, "a query has at most %d terms",
			LEXICAL_MAX_QUERY);
	if (q->term_count == 0 || q->k == 0 || v->chunks == 0) {
		*ret = NULL;
		*ret_n = 0;
		return ST_OK;
	}
	s = search_new(v, q);
	if (!s)
		return error_set(e, ST_NOMEM, "out of memory");
	st = search(s, arena, ret, ret_n, e);
	search_free(s);
	return st;
}

double lexical_idf(uint64_t chunks, uint64_t df)
{
	return lex_idf(chunks, df);
}
