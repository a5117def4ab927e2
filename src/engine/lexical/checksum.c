/*
 * checksum.c: the checksum of files: four lanes of 8-byte words, each mixed in by
 * xor, multiplication with an odd number and rotation. Every step can be undone, so
 * one changed word always changes its lane, and the lanes are folded the same way.
 */
#include "engine/lexical/pack.h"

#define ODD_A UINT64_C(0xd6e8feb86659fd93) /* primes or odd with well-spread bits */
#define ODD_B UINT64_C(0xa0761d6478bd642f)

static inline uint64_t mix(uint64_t lane, uint64_t word)
{
	lane = (lane ^ word) * ODD_A;
	return lane << 29 | lane >> 35;
}

static uint64_t fold(uint64_t h, uint64_t v)
{
	h = (h ^ v) * ODD_B;
	return h ^ h >> 32;
}

uint64_t lex_checksum(const void *p, size_t n, uint64_t seed)
{
	const unsigned char *in = p;
	uint64_t a = seed, b = ~seed, c = seed + ODD_A, d = seed - ODD_A;
	uint64_t h = fold(seed, n);

	for (; n >= 32; n -= 32, in += 32) {
		a = mix(a, lex_get64(in));
		b = mix(b, lex_get64(in + 8));
		c = mix(c, lex_get64(in + 16));
		d = mix(d, lex_get64(in + 24));
	}
	h = fold(fold(fold(fold(h, a), b), c), d);
	for (; n > 0; in += n < 8 ? n : 8, n -= n < 8 ? n : 8) {
		unsigned char word[8] = { 0 };

		memcpy(word, in, n < 8 ? n : 8);
		h = fold(h, lex_get64(word));
	}
	return fold(h, ODD_A);
}
