/*
 * exhaustive.c: scores every chunk that has a term of the query: the reference that
 * pruning must equal bit for bit, and must beat. Window by window, each position of
 * the query in turn adds its term's score, in double: so a chunk's score is summed in
 * the order of the query.
 */
#include "engine/lexical/search.h"

#include "util/mem.h"

#define NORMS 4096 /* lengths with a precomputed norm */

struct exhaustive {
	struct lex_search *s;
	size_t n; /* positions, a cursor each */
	double acc[LEX_WINDOW];
	double norms[NORMS];
};

static void add_block(struct exhaustive *x, const struct lex_cursor *c, double idf, uint32_t base,
	uint32_t from, uint32_t to)
{
	const struct lex_model *m = &x->s->model;
	uint32_t lengths[LEX_BLOCK];

	lex_lengths_get(&x->s->lengths, c->ords + from, to - from, lengths);
	for (uint32_t i = from; i < to; i++) {
		uint32_t length = lengths[i - from];
		double norm = length < NORMS ? x->norms[length] : lex_norm(m, length);

		x->acc[c->ords[i] - base] += lex_score(m, idf, c->tfs[i], norm);
	}
}

/* All postings of the cursor below `end`. */
static void add_window(struct exhaustive *x, struct lex_cursor *c, double idf, uint32_t base,
	uint32_t end)
{
	while (c->block < c->blocks && lex_cursor_block_start(c) < end) {
		uint32_t to;

		if (!lex_cursor_load(c)) {
			x->s->damaged = true;
			return;
		}
		lex_cursor_load_tfs(c);
		to = c->lasts[c->block] < end ? c->count
					      : lex_lower_bound(c->ords, c->pos, c->count, end);
		add_block(x, c, idf, base, c->pos, to);
		c->pos = to;
		if (to < c->count)
			return;
		c->block++;
	}
}

static void take_window(struct exhaustive *x, uint32_t base, uint32_t end)
{
	struct lex_search *s = x->s;

	for (uint32_t i = 0; i < end - base; i++) {
		struct lex_scored found = { x->acc[i], s->slice_no, base + i };

		if (!(found.score > 0))
			continue;
		x->acc[i] = 0;
		if (s->top.count == s->top.k && found.score < s->top.best[0].score)
			continue;
		if (lex_search_allows(s, found.ord))
			lex_top_offer(&s->top, found);
	}
}

static enum status run(struct exhaustive *x)
{
	struct lex_search *s = x->s;
	uint32_t chunks = s->slice->chunks;

	for (uint32_t base = 0; base < chunks; base += LEX_WINDOW) {
		uint32_t end = chunks - base < LEX_WINDOW ? chunks : base + LEX_WINDOW;

		if (lex_search_stopped(s))
			return ST_CANCELLED;
		for (size_t i = 0; i < x->n; i++)
			add_window(x, &s->cursors[i], s->terms[s->positions[i]].idf, base, end);
		take_window(x, base, end);
	}
	return ST_OK;
}

enum status lex_search_exhaust(struct lex_search *s)
{
	struct exhaustive *x = mem_zero(sizeof(*x));
	size_t used = 0;
	enum status st;

	if (!x)
		return ST_NOMEM;
	x->s = s;
	x->n = s->query->term_count;
	for (uint32_t i = 0; i < NORMS; i++)
		x->norms[i] = lex_norm(&s->model, i);
	for (size_t i = 0; i < x->n; i++)
		lex_search_open(s, &s->cursors[i], s->positions[i], &used);
	st = run(x);
	mem_free(x);
	return st;
}
