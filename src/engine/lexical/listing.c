/*
 * listing.c: what passes a filter, in the order of ties. Each chunk that passes is looked
 * at once; the k first are kept in the heap of a search, all with score 0.
 */
#include "engine/lexical/search.h"
#include "util/mem.h"

static bool is_skipped(const struct lexical_listing *l, int64_t key)
{
	size_t low = 0, high = l->skip_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (l->skip[middle] < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low < l->skip_count && l->skip[low] == key;
}

static void offer(struct lex_search *s, const struct lexical_listing *l, uint32_t ord)
{
	struct lex_scored scored = { .score = 0, .slice = s->slice_no, .ord = ord };

	if (s->slice->deleted > 0 && lex_slice_dead(s->slice, ord))
		return;
	if (!is_skipped(l, lex_slice_key(s->slice, ord)))
		lex_top_offer(&s->top, scored);
}

static enum status list_slice(struct lex_search *s, const struct lexical_listing *l)
{
	for (uint32_t from = 0; from < s->slice->chunks; from += LEX_WINDOW) {
		uint32_t left = s->slice->chunks - from;
		uint32_t to = from + (left < LEX_WINDOW ? left : LEX_WINDOW);

		if (lex_search_stopped(s))
			return ST_CANCELLED;
		if (lex_search_count_allowed(s, from, to) == 0)
			continue;
		memset(s->bits, 0, sizeof(s->bits));
		lex_search_mark_allowed(s, from, to, s->bits);
		for (uint32_t i = 0; i < LEX_WINDOW / 64; i++)
			for (uint64_t w = s->bits[i]; w; w &= w - 1)
				offer(s, l, from + i * 64 + (uint32_t)__builtin_ctzll(w));
	}
	return ST_OK;
}

enum status lexical_list(const struct lexical_view *v, const struct lexical_listing *l,
	struct arena *arena, struct lexical_hit **ret, size_t *ret_n, struct error *e)
{
	const struct lexical_query query = { .filter = l->filter,
		.stop = l->stop,
		.stop_arg = l->stop_arg };
	struct lex_search *s = mem_zero(sizeof(*s));
	enum status st = ST_OK;

	if (!s)
		return error_set(e, ST_NOMEM, "out of memory");
	s->view = v;
	s->query = &query;
	s->top.view = v;
	s->top.k = l->k < v->chunks ? l->k : (size_t)v->chunks;
	s->top.best = mem_array(s->top.k ? s->top.k : 1, sizeof(*s->top.best));
	if (!s->top.best)
		st = error_set(e, ST_NOMEM, "out of memory");
	for (; !st && s->top.k > 0 && s->slice_no < v->count; s->slice_no++) {
		s->slice = &v->slice[s->slice_no];
		st = list_slice(s, l);
	}
	if (st == ST_CANCELLED)
		error_set(e, st, "cancelled");
	if (!st)
		st = lex_search_take(s, arena, ret, ret_n, e);
	mem_free(s->top.best);
	mem_free(s);
	return st;
}
