/*
 * engine/lexical/cursor.h: one term's postings in one slice, as a search walks them:
 * blocks of up to 128 with their last ordinals and score bounds at hand, decoded only
 * when one is entered. Segments and heads look the same from here.
 *
 *   lasts   | 310 | 722 | 1201 |        the block of an ordinal is the first with
 *   bounds  | 2.1 | 1.7 |  3.0 |        lasts >= it
 *
 * It moves forward only, block by block (`block`) and within the decoded one (`pos`).
 */
#ifndef RCPD_ENGINE_LEXICAL_CURSOR_H
#define RCPD_ENGINE_LEXICAL_CURSOR_H

#include "engine/lexical/score.h"

/* A slice's lengths, for fast access to many. */
struct lex_lengths {
	const unsigned char *narrow; /* 2 bytes each, or */
	const unsigned char *wide;   /* 4 bytes each, or */
	const uint32_t *head;
};

/* Lent by the slice's part; get reads those of n ordinals. */
struct lex_lengths lex_lengths_of(const struct lex_slice *s);
void lex_lengths_get(const struct lex_lengths *l, const uint32_t *ords, uint32_t n, uint32_t *out);

struct lex_block_at {
	union {
		const unsigned char *packed;       /* segment */
		const struct lex_live_block *live; /* head */
	} at;
	uint32_t count;
};

struct lex_cursor {
	float weight;
	uint32_t limit;  /* ordinals of the slice are below */
	uint32_t blocks; /* 0: the term is not here */
	bool head;
	bool damaged;
	uint32_t *lasts; /* these three: scratch of the search */
	float *bounds;   /* weight included */
	struct lex_block_at *ats;
	struct lex_layout layout;

	uint32_t block;  /* where it stands; == blocks at the end */
	uint32_t loaded; /* the decoded block, UINT32_MAX if none */
	bool has_tfs;    /* its tfs too */
	uint32_t pos, count;
	const uint32_t *ords, *tfs; /* of the decoded block */
	uint32_t ord_buf[LEX_BLOCK], tf_buf[LEX_BLOCK];

	float window; /* bound in the current window (search.c) */
};

/* Blocks that the term has in the slice, at most: room for scratch. */
size_t lex_cursor_blocks(const struct lex_slice *s, const struct lex_term_in *in);
/* Opens at the start. c->weight is set; lasts, bounds and ats have that room. */
void lex_cursor_open(struct lex_cursor *c, const struct lex_slice *s, const struct lex_term_in *in,
	const struct lex_model *m, const struct lex_lengths *lengths);
/* Decodes the current block's ordinals if need be; false if it is damaged: the cursor
 * is then at its end and says so. */
bool lex_cursor_load_slow(struct lex_cursor *c);
void lex_cursor_load_tfs_slow(struct lex_cursor *c);
/* The tf of an ordinal anywhere, 0 if it is not there. Does not move the cursor;
 * uses bufs of a block each. */
uint32_t lex_cursor_probe(const struct lex_cursor *c, uint32_t ord, uint32_t *ord_buf,
	uint32_t *tf_buf);
/* First position from `from` on with ords[pos] >= ord; n if there is none. */
uint32_t lex_lower_bound(const uint32_t *ords, uint32_t from, uint32_t n, uint32_t ord);

static inline bool lex_cursor_load(struct lex_cursor *c)
{
	return c->loaded == c->block || lex_cursor_load_slow(c);
}

static inline void lex_cursor_load_tfs(struct lex_cursor *c)
{
	if (!c->has_tfs)
		lex_cursor_load_tfs_slow(c);
}

/* Moves to the block that would hold ord; false at the end. */
static inline bool lex_cursor_seek_block(struct lex_cursor *c, uint32_t ord)
{
	while (c->block < c->blocks && c->lasts[c->block] < ord)
		c->block++;
	return c->block < c->blocks;
}

/* The lowest ordinal that the current block can hold. */
static inline uint32_t lex_cursor_block_start(const struct lex_cursor *c)
{
	return c->block > 0 ? c->lasts[c->block - 1] + 1 : 0;
}

#endif
