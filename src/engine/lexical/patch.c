/*
 * patch.c: codes for skewed numbers: patched blocks and Rice's code; see pack.h. Most
 * tfs are 1, but the largest of 128 often needs three bits or four; gaps are spread
 * exponentially. Both codes together save an eighth of the index.
 */
#include "engine/lexical/pack.h"

#define ESCAPE 24 /* zeros after which the number itself follows */

static unsigned varint_size(uint32_t v)
{
	return (lex_width(v | 1) + 6) / 7;
}

/* Bytes of the patches that a width needs; 0 for none. */
static unsigned patch_size(const uint32_t *values, unsigned width)
{
	unsigned n = 0, size = 0;

	for (unsigned i = 0; i < LEX_BLOCK && width < 32; i++) {
		if (values[i] >> width) {
			n++;
			size += 1 + varint_size(values[i] >> width);
		}
	}
	return n ? size + varint_size(n) : 0;
}

static void put_patches(uint32_t *values, unsigned width, struct strbuf *out)
{
	unsigned n = 0;

	for (unsigned i = 0; i < LEX_BLOCK; i++)
		n += values[i] >> width != 0;
	lex_put_varint(out, n);
	for (unsigned i = 0; i < LEX_BLOCK; i++)
		if (values[i] >> width)
			strbuf_addc(out, (char)i);
	for (unsigned i = 0; i < LEX_BLOCK; i++) {
		if (values[i] >> width)
			lex_put_varint(out, values[i] >> width);
		values[i] &= (UINT32_C(1) << width) - 1;
	}
}

unsigned lex_patch_choose(uint32_t values[LEX_BLOCK], unsigned room, struct strbuf *patches)
{
	uint32_t all = 0;
	unsigned best, width;
	size_t least;

	for (unsigned i = 0; i < LEX_BLOCK; i++)
		all |= values[i];
	best = width = lex_width(all);
	least = lex_packed_size(width);
	while (width-- > 0) {
		unsigned size = patch_size(values, width);

		if (size > room)
			break;
		if (lex_packed_size(width) + size < least) {
			least = lex_packed_size(width) + size;
			best = width;
		}
	}
	if (best < 32 && all >> best)
		put_patches(values, best, patches);
	return best;
}

const unsigned char *lex_patch_apply(uint32_t values[LEX_BLOCK], unsigned width,
	const unsigned char *p, const unsigned char *end)
{
	const unsigned char *places;
	uint32_t n, high;

	p = lex_get_varint(p, end, &n);
	if (!p || width > 31 || n > (size_t)(end - p))
		return NULL;
	places = p;
	p += n;
	for (uint32_t i = 0; i < n; i++) {
		p = lex_get_varint(p, end, &high);
		if (!p)
			return NULL;
		values[places[i] % LEX_BLOCK] |= high << width;
	}
	return p;
}

/* The width of the mean, less a little: where the code is shortest for exponentially
 * spread numbers. */
unsigned lex_rice_choose(const uint32_t *values, uint32_t n)
{
	uint64_t sum = 0;
	unsigned width;

	for (uint32_t i = 0; i < n; i++)
		sum += values[i];
	width = lex_width(n > 0 ? sum * 7 / 10 / n : 0);
	return width > 0 ? width - 1 : 0;
}

/* Bit by bit: tails are short. */
static void put_bits(struct strbuf *out, uint64_t *at, unsigned width, uint32_t v)
{
	for (unsigned i = 0; i < width; i++, ++*at) {
		if (*at % 8 == 0)
			strbuf_addc(out, 0);
		if (strbuf_ok(out) && (v >> i & 1))
			out->data[out->len - 1] |= (char)(1U << *at % 8);
	}
}

void lex_put_rice(struct strbuf *out, uint64_t *at, unsigned k, uint32_t v)
{
	unsigned zeros = v >> k < ESCAPE ? v >> k : ESCAPE;

	put_bits(out, at, zeros + 1, UINT32_C(1) << zeros);
	put_bits(out, at, zeros < ESCAPE ? k : 32, v);
}

/* At least 56 bits from b->at on, zeros behind the end. */
static uint64_t peek(const struct lex_bits *b)
{
	const unsigned char *p = b->p + b->at / 8;
	uint64_t left = b->end / 8 - b->at / 8, v = 0;

	if (left >= 8)
		return lex_get64(p) >> b->at % 8;
	for (uint64_t i = 0; i < left; i++)
		v |= (uint64_t)p[i] << 8 * i;
	return v >> b->at % 8;
}

bool lex_get_rice(struct lex_bits *b, unsigned k, uint32_t *ret)
{
	uint64_t v;
	unsigned zeros, width;

	if (b->at >= b->end)
		return false;
	v = peek(b);
	zeros = v ? (unsigned)__builtin_ctzll(v) : ESCAPE + 1;
	if (zeros > ESCAPE)
		return false;
	b->at += zeros + 1;
	width = zeros < ESCAPE ? k : 32;
	if (width > b->end - b->at)
		return false;
	v = zeros + 1 + width <= 56 ? v >> (zeros + 1) : peek(b);
	b->at += width;
	v &= (UINT64_C(1) << width) - 1;
	*ret = zeros < ESCAPE ? (uint32_t)((uint64_t)zeros << k | v) : (uint32_t)v;
	return true;
}
