/*
 * engine/lexical/bound.h: what a block of postings can score at most, kept so that
 * it holds under any k1, b and average length: the pairs (tf, length) that no other
 * posting of the block beats in both. Scores grow with tf and fall with length, so
 * the block's best score is that of one of these pairs.
 *
 * At most four are kept, a byte for each number, rounded to the safe side.
 */
#ifndef RCPD_ENGINE_LEXICAL_BOUND_H
#define RCPD_ENGINE_LEXICAL_BOUND_H

#include <stddef.h>
#include <stdint.h>

#define LEX_PAIRS 4U
#define LEX_BOUND_BYTES ((size_t)2 * LEX_PAIRS)
#define LEX_TF_MANY 255 /* this tf byte stands for any tf from 255 on */

/* The code of the largest length that has one and is not above `length`: exact
 * below 64, then in steps of a 32nd, to 4032. */
static inline uint8_t lex_length_code(uint32_t length)
{
	unsigned e;

	if (length < 64)
		return (uint8_t)length;
	if (length >= 4096)
		return 255;
	e = 25 - (unsigned)__builtin_clz(length); /* 0 for 64..127 */
	return (uint8_t)(64 + 32 * e + (length >> (e + 1)) - 32);
}

static inline uint32_t lex_code_length(uint8_t code)
{
	unsigned e = (code - 64U) / 32;

	return code < 64 ? code : (32U + (code - 64U) % 32) << (e + 1);
}

/* The pairs of n (<= 128) postings: tf and length bytes in turn, unused ones 0.
 * average only guides which pairs are merged when there are too many. */
void lex_bound_make(const uint32_t *tfs, const uint32_t *lengths, unsigned n, double average,
	unsigned char out[LEX_BOUND_BYTES]);

#endif
