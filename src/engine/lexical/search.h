/*
 * engine/lexical/search.h: what the files of a search share.
 *
 * search.c resolves the terms and goes through the slices, largest first; prune.c
 * finds candidates in one slice by bounds, with approximate scores; exhaustive.c
 * scores everything instead; top.c keeps the best.
 */
#ifndef RCPD_ENGINE_LEXICAL_SEARCH_H
#define RCPD_ENGINE_LEXICAL_SEARCH_H

#include "engine/lexical/cursor.h"
#include "engine/lexical/private.h"

#define LEX_WINDOW 8192U /* ordinals that are accumulated together: 4096 to 16384 do */

/* A term of the query; one that stands there twice is one with times = 2. */
struct lex_query_term {
	struct bytes term;
	uint64_t hash, df;
	uint32_t times;
	double idf;
};

/* A scored chunk. */
struct lex_scored {
	double score;
	uint32_t slice, ord;
};

/* A candidate with its approximate score, until it is scored exactly. */
struct lex_maybe {
	float score;
	uint32_t ord;
};

/*
 * The best so far. `best` is a heap of at most k with the worst on top, exact, ties
 * settled. `floats` is a heap of the k highest approximate scores of all candidates,
 * whether scored exactly by now or not: its lowest, less some slack, is `cut`: what
 * stays below it cannot be among the best.
 */
struct lex_top {
	const struct lexical_view *view;
	size_t k, count;
	struct lex_scored *best;
	size_t floats_count;
	float *floats;
	float cut;   /* below 0 until there are k */
	float slack; /* relative; doubled error of an approximate score */
};

/* s ranks before t in the result. */
bool lex_top_before(const struct lex_top *top, const struct lex_scored *s,
	const struct lex_scored *t);
void lex_top_offer(struct lex_top *top, struct lex_scored s);
/* Notes an approximate score >= cut. */
void lex_top_note(struct lex_top *top, float score);
/* Sorts best by rank. */
void lex_top_sort(struct lex_top *top);

struct lex_search {
	const struct lexical_view *view;
	const struct lexical_query *query;
	struct lex_model model;
	struct lex_query_term *terms; /* distinct */
	uint32_t n;
	uint32_t *positions;        /* of the query: the term there */
	struct lex_term_in *in;     /* slice by slice, n each */
	struct lex_cursor *cursors; /* n, or one a position when exhaustive */
	struct lex_top top;

	/* Scratch for the cursors of one slice. */
	uint32_t *lasts;
	float *bounds;
	struct lex_block_at *ats;
	size_t blocks;

	/* The slice being searched. */
	uint32_t slice_no;
	const struct lex_slice *slice;
	struct lex_lengths lengths;

	/* prune.c */
	uint32_t *order; /* cursors by their bound in the window, lowest first */
	float *sums;     /* sums[i]: bounds of order[0] to order[i] in the window */
	float *rest;     /* the same of the blocks around one candidate */
	double *scores;  /* of one chunk, by term */
	struct lex_maybe *pool;
	size_t pool_count, pool_cap;
	float acc[LEX_WINDOW];
	uint32_t touched[LEX_WINDOW + 1]; /* one more, to write before looking */
	uint64_t bits[LEX_WINDOW / 64];
	bool damaged;
};

bool lex_search_stopped(const struct lex_search *s);
/* Opens cursor i for term t of the slice, with scratch from *used on. */
void lex_search_open(struct lex_search *s, struct lex_cursor *c, uint32_t t, size_t *used);
/* The filter lets the chunk through and it lives. */
bool lex_search_allows(const struct lex_search *s, uint32_t ord);
/* Chunks in [from, to) that the filter lets through, at most; without one, all. */
uint32_t lex_search_count_allowed(const struct lex_search *s, uint32_t from, uint32_t to);
/* Marks them in bits, from bit 0 for `from` on. */
void lex_search_mark_allowed(const struct lex_search *s, uint32_t from, uint32_t to,
	uint64_t *bits);

/* What is in top, by rank, in the arena. ST_NOMEM. */
enum status lex_search_take(struct lex_search *s, struct arena *arena, struct lexical_hit **ret,
	size_t *ret_n, struct error *e);
/* Adds the slice's best to top. ST_CANCELLED if told to stop. */
enum status lex_search_prune(struct lex_search *s);
enum status lex_search_exhaust(struct lex_search *s);

#endif
