/*
 * engine/lexical/postings.h: one term's postings as bytes of a segment file: growing
 * ordinals of chunks, each with the term's frequency (tf >= 1) in it.
 *
 *   df = 1        in the dictionary: varint ordinal * 2 + (tf > 1), if so varint tf - 2
 *   df < 128      a tail alone
 *   df >= 128     last ordinal of each block     4 bytes each
 *                 bound of each block            8 bytes each (bound.h)
 *                 sizes of each full block       3 bytes: width of gaps, width of tfs,
 *                                                bytes of patches
 *                 full blocks                    gaps - 1 and tf - 1, bit-packed, then
 *                                                patches of the tfs (pack.h)
 *                 tail of the df % 128 last ones
 *
 * A tail is a byte k and for each posting gap - 1 in Rice's code with k bits and tf - 1
 * with 0. The tail of a long list counts as a block among the last ordinals and bounds.
 * Gaps start from ordinal -1. Gaps have no patches: these would make files 2 % smaller
 * and searches a quarter slower.
 *
 * Nothing read is trusted: sizes are checked when a list is laid out, and each
 * decoded block must grow strictly and end where its last ordinal says.
 */
#ifndef RCPD_ENGINE_LEXICAL_POSTINGS_H
#define RCPD_ENGINE_LEXICAL_POSTINGS_H

#include <stdbool.h>

#include "engine/lexical/bound.h"
#include "engine/lexical/pack.h"

/* Ordinals are below 2^31, so that a block's sums cannot run over (pack.h). */
#define LEX_MAX_CHUNKS (UINT32_C(1) << 31)
/* tfs are 1 to 2^30, so that they can be taken for signed. */
#define LEX_TF_BITS 30
#define LEX_SIZES_BYTES 3 /* of a block */
#define LEX_MAX_TF (UINT32_C(1) << LEX_TF_BITS)

/* Builds one list after the other; memory is kept between them. */
struct lex_encoder {
	const uint32_t *lengths; /* by ordinal; borrowed */
	double average;          /* of the lengths, for bound.h */
	uint32_t df, before;     /* postings so far, ordinal of the last one */
	uint32_t used;           /* in the arrays below */
	uint32_t ords[LEX_BLOCK], tfs[LEX_BLOCK];
	struct strbuf lasts, bounds, sizes, blocks, patches;
};

void lex_encoder_init(struct lex_encoder *en, const uint32_t *lengths, double average);
void lex_encoder_release(struct lex_encoder *en);
/* Ordinals must grow. Failures stick; lex_encoder_finish reports them. */
void lex_encoder_add(struct lex_encoder *en, uint32_t ord, uint32_t tf);
/* Appends the list to *out, stores how many postings it has, starts the next;
 * false when memory ran out on the way. Nothing is appended for an empty list. */
bool lex_encoder_finish(struct lex_encoder *en, struct strbuf *out, uint32_t *ret_df);

/* Where the parts of a list with df >= 1 lie. */
struct lex_layout {
	uint32_t full, blocks; /* full blocks; those and the tail */
	uint32_t tail;         /* postings in the tail */
	const unsigned char *lasts, *bounds, *sizes;
	const unsigned char *packed, *end; /* full blocks, then the tail up to end */
};

/* False if size bytes cannot hold such a list. Checks no block. */
bool lex_layout_make(const unsigned char *data, size_t size, uint32_t df, struct lex_layout *ret);
/* Bytes of a full block; false if its widths are impossible. */
bool lex_layout_block_size(const struct lex_layout *l, uint32_t block, uint32_t *ret);
/*
 * Decode a full block whose bytes were checked to lie within the list; before: the
 * last ordinal of the block before, UINT32_MAX for the first. tfs may be taken
 * later. False for a damaged block.
 */
bool lex_block_ords(const struct lex_layout *l, uint32_t block, const unsigned char *at,
	uint32_t before, uint32_t ords[LEX_BLOCK]);
bool lex_block_tfs(const struct lex_layout *l, uint32_t block, const unsigned char *at,
	uint32_t tfs[LEX_BLOCK]);
/* Decodes n (< 128) postings; all ordinals are below `limit`. */
bool lex_tail_decode(const unsigned char *p, const unsigned char *end, uint32_t before, uint32_t n,
	uint32_t limit, uint32_t *ords, uint32_t *tfs);

/* Decodes a list of less than 128 (layout->full == 0), a single one included. */
bool lex_short_decode(const struct lex_layout *l, uint32_t limit, uint32_t *ords, uint32_t *tfs);

/* Walks a whole list, for merging. */
struct lex_decoder {
	struct lex_layout layout;
	const unsigned char *at;
	uint32_t block, before, limit;
	uint32_t count; /* decoded by the last step */
	uint32_t ords[LEX_BLOCK], tfs[LEX_BLOCK];
};

bool lex_decoder_init(struct lex_decoder *de, const unsigned char *data, size_t size, uint32_t df,
	uint32_t limit);
/* The next block into ords and tfs: true, or false at the end or for damage, which
 * differ by *ret_damaged. */
bool lex_decoder_next(struct lex_decoder *de, bool *ret_damaged);

#endif
