/*
 * engine/lexical/pack.h: integers in few bits: blocks of 128 as the postings use
 * them, fields of some bits in a row of bits, variable-byte numbers, little-endian
 * words. Everything is little-endian in the file, whatever the machine is.
 */
#ifndef RCPD_ENGINE_LEXICAL_PACK_H
#define RCPD_ENGINE_LEXICAL_PACK_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

#include "util/strbuf.h"

#define LEX_BLOCK 128U /* values in a packed block */

/* Bits that the value needs; 0 for 0. */
static inline unsigned lex_width(uint64_t v)
{
	return v ? 64U - (unsigned)__builtin_clzll(v) : 0;
}

static inline size_t lex_packed_size(unsigned width)
{
	return (size_t)width * LEX_BLOCK / 8;
}

/* Packs 128 values of at most width (<= 32) bits into lex_packed_size(width) bytes. */
void lex_pack(const uint32_t in[LEX_BLOCK], unsigned width, unsigned char *out);
/* The reverse; reads exactly that many bytes. */
void lex_unpack(const unsigned char *in, unsigned width, uint32_t out[LEX_BLOCK]);
/*
 * The same for gaps less one: out[i] = out[i - 1] + 1 + value[i], out[-1] = before.
 * False if the numbers do not grow strictly or reach 2^31 (a hostile file); out is then
 * of no use.
 */
bool lex_unpack_gaps(const unsigned char *in, unsigned width, uint32_t before,
	uint32_t out[LEX_BLOCK]);

/*
 * Few large values among small ones: these are packed in few bits, and what the others
 * have above is kept apart as patches: varint how many, their places, a byte each,
 * their high bits, a varint each. lex_patch_choose finds the width with which both
 * together are smallest, within `room` bytes of patches, and appends these to *patches
 * (nothing if there are none); values lose their high bits.
 */
unsigned lex_patch_choose(uint32_t values[LEX_BLOCK], unsigned room, struct strbuf *patches);
/* Puts the high bits back; returns where the patches end, NULL for damage. */
const unsigned char *lex_patch_apply(uint32_t values[LEX_BLOCK], unsigned width,
	const unsigned char *p, const unsigned char *end);

/* Seven bits a byte, low ones first. get returns where to go on, NULL at the end
 * of the bytes or for a number that is too large. */
void lex_put_varint(struct strbuf *out, uint64_t v);
const unsigned char *lex_get_varint(const unsigned char *p, const unsigned char *end,
	uint32_t *ret);
const unsigned char *lex_get_varint64(const unsigned char *p, const unsigned char *end,
	uint64_t *ret);

/*
 * Numbers of which most are near 2^k or below (Rice's code): the part above k bits as
 * so many 0 bits and a 1, then k bits; from 24 zeros on, the number itself instead.
 */
struct lex_bits {
	const unsigned char *p;
	uint64_t at, end; /* in bits */
};

unsigned lex_rice_choose(const uint32_t *values, uint32_t n);
/* Appends to bits of a buffer, *at the number of bits so far. */
void lex_put_rice(struct strbuf *out, uint64_t *at, unsigned k, uint32_t v);
/* False at the end of the bits. */
bool lex_get_rice(struct lex_bits *b, unsigned k, uint32_t *ret);

/* A field of width (<= 64) bits that starts at a bit. lex_get_bits may read up to 9
 * bytes from the byte of that bit on; lex_put_bits writes into zeroed bytes. */
uint64_t lex_get_bits(const unsigned char *p, uint64_t bit, unsigned width);
void lex_put_bits(unsigned char *p, uint64_t bit, unsigned width, uint64_t v);

static inline uint32_t lex_get32(const void *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return le32toh(v);
}

static inline uint64_t lex_get64(const void *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return le64toh(v);
}

static inline void lex_put32(void *p, uint32_t v)
{
	v = htole32(v);
	memcpy(p, &v, sizeof(v));
}

static inline void lex_put64(void *p, uint64_t v)
{
	v = htole64(v);
	memcpy(p, &v, sizeof(v));
}

/*
 * A checksum against torn and mixed-up files (not against forgers): each change of
 * one 8-byte word changes it for certain, others but for one in 2^64. Runs at the
 * speed of memory without special instructions.
 */
uint64_t lex_checksum(const void *p, size_t n, uint64_t seed);

#endif
