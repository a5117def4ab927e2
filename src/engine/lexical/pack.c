/*
 * pack.c: blocks of 128 values in a fixed number of bits, four lanes abreast.
 *
 * Value i lies in lane i % 4, row i / 4. A lane is a stream of 32 values in `width`
 * 32-bit words, and the words of the four lanes alternate, so that one 16-byte load
 * feeds all lanes:
 *
 *   bytes:  w0.l0 w0.l1 w0.l2 w0.l3 | w1.l0 w1.l1 w1.l2 w1.l3 | …
 *
 * The vector types of gcc and clang become SSE2 or NEON code, which every 64-bit
 * machine of these families has, so nothing has to be chosen at run time. The width
 * is a constant in each case of the switch: shifts and masks are folded.
 */
#include "engine/lexical/pack.h"

typedef uint32_t row __attribute__((vector_size(16)));

#define ROWS (LEX_BLOCK / 4)
#define INLINE static inline __attribute__((always_inline))

INLINE row load_row(const unsigned char *in)
{
	row v;

	memcpy(&v, in, sizeof(v));
#if __BYTE_ORDER == __BIG_ENDIAN
	for (int i = 0; i < 4; i++)
		v[i] = __builtin_bswap32(v[i]);
#endif
	return v;
}

INLINE void store_row(void *out, row v)
{
	memcpy(out, &v, sizeof(v));
}

INLINE row unpack_row(const unsigned char *in, const unsigned width, const unsigned r)
{
	const unsigned shift = r * width % 32;
	const size_t word = r * width / 32;
	row v = load_row(in + 16 * word) >> shift;

	if (shift + width > 32)
		v |= load_row(in + 16 * (word + 1)) << (32 - shift);
	return width == 32 ? v : v & ((1U << width) - 1);
}

/* Running sum over the lanes, each plus one, on top of the last lane before. */
INLINE row sum_row(row v, row before)
{
	const row zero = { 0, 0, 0, 0 };

	v += 1;
	v += __builtin_shufflevector(zero, v, 0, 4, 5, 6);
	v += __builtin_shufflevector(zero, v, 0, 1, 4, 5);
	return v + __builtin_shufflevector(before, before, 3, 3, 3, 3);
}

INLINE void unpack_width(const unsigned char *in, const unsigned width, uint32_t *out)
{
#pragma GCC unroll 32
	for (size_t r = 0; r < ROWS; r++)
		store_row(out + 4 * r, unpack_row(in, width, (unsigned)r));
}

INLINE void unpack_gaps_width(const unsigned char *in, const unsigned width, uint32_t before,
	uint32_t *out)
{
	row last = { before, before, before, before };

#pragma GCC unroll 32
	for (size_t r = 0; r < ROWS; r++) {
		last = sum_row(unpack_row(in, width, (unsigned)r), last);
		store_row(out + 4 * r, last);
	}
}

/* One case a width; both functions below are this list. */
#define EACH_WIDTH(c)                                                                              \
	c(1) c(2) c(3) c(4) c(5) c(6) c(7) c(8) c(9) c(10) c(11) c(12) c(13) c(14) c(15) c(16)     \
		c(17) c(18) c(19) c(20) c(21) c(22) c(23) c(24) c(25) c(26) c(27) c(28) c(29)      \
			c(30) c(31) c(32)

void lex_unpack(const unsigned char *in, unsigned width, uint32_t out[LEX_BLOCK])
{
	switch (width) {
#define CASE(w)                                                                                    \
	case w:                                                                                    \
		unpack_width(in, w, out);                                                          \
		break;
		EACH_WIDTH(CASE)
#undef CASE
	default:
		memset(out, 0, LEX_BLOCK * sizeof(*out));
	}
}

/*
 * Do the numbers grow strictly, below 2^31? Gaps below 2^24 cannot run over within one
 * block, so then the last one tells; only wider ones have to be looked at.
 */
static bool is_growing(unsigned width, uint32_t before, const uint32_t *out)
{
	if (before != UINT32_MAX && before >= UINT32_C(1) << 31)
		return false;
	if (width <= 24)
		return out[LEX_BLOCK - 1] < UINT32_C(1) << 31;
	for (unsigned i = 0; i < LEX_BLOCK; i++) {
		if ((before != UINT32_MAX && out[i] <= before) || out[i] >= UINT32_C(1) << 31)
			return false;
		before = out[i];
	}
	return true;
}

bool lex_unpack_gaps(const unsigned char *in, unsigned width, uint32_t before,
	uint32_t out[LEX_BLOCK])
{
	switch (width) {
#define CASE(w)                                                                                    \
	case w:                                                                                    \
		unpack_gaps_width(in, w, before, out);                                             \
		break;
		EACH_WIDTH(CASE)
#undef CASE
	default:
		for (unsigned i = 0; i < LEX_BLOCK; i++)
			out[i] = before + 1 + i;
	}
	return is_growing(width, before, out);
}

/* Packing is not in a hurry: once a posting and merge. */
void lex_pack(const uint32_t in[LEX_BLOCK], unsigned width, unsigned char *out)
{
	uint32_t words[LEX_BLOCK] = { 0 };

	for (unsigned i = 0; width > 0 && i < LEX_BLOCK; i++) {
		unsigned bit = i / 4 * width, word = bit / 32, shift = bit % 32;

		words[4 * word + i % 4] |= in[i] << shift;
		if (shift + width > 32)
			words[4 * (word + 1) + i % 4] |= in[i] >> (32 - shift);
	}
	for (size_t i = 0; i < (size_t)4 * width; i++)
		lex_put32(out + 4 * i, words[i]);
}

void lex_put_varint(struct strbuf *out, uint64_t v)
{
	for (; v >= 0x80; v >>= 7)
		strbuf_addc(out, (char)(v | 0x80));
	strbuf_addc(out, (char)v);
}

const unsigned char *lex_get_varint64(const unsigned char *p, const unsigned char *end,
	uint64_t *ret)
{
	uint64_t v = 0;

	for (unsigned shift = 0; p < end && shift < 64; shift += 7) {
		unsigned char c = *p++;

		v |= (uint64_t)(c & 0x7f) << shift;
		if (c < 0x80) {
			*ret = v;
			return p;
		}
	}
	return NULL;
}

const unsigned char *lex_get_varint(const unsigned char *p, const unsigned char *end, uint32_t *ret)
{
	uint64_t v;

	if (p < end && *p < 0x80) { /* nearly all of them */
		*ret = *p;
		return p + 1;
	}
	p = lex_get_varint64(p, end, &v);
	if (!p || v > UINT32_MAX)
		return NULL;
	*ret = (uint32_t)v;
	return p;
}

uint64_t lex_get_bits(const unsigned char *p, uint64_t bit, unsigned width)
{
	unsigned shift = bit % 8;
	uint64_t v;

	if (width == 0)
		return 0;
	p += bit / 8;
	v = lex_get64(p) >> shift;
	if (shift + width > 64)
		v |= (uint64_t)p[8] << (64 - shift);
	return width == 64 ? v : v & ((UINT64_C(1) << width) - 1);
}

void lex_put_bits(unsigned char *p, uint64_t bit, unsigned width, uint64_t v)
{
	for (unsigned done = 0; done < width;) {
		unsigned at = bit % 8, n = 8 - at < width - done ? 8 - at : width - done;

		p[bit / 8] |= (unsigned char)((v >> done & ((1U << n) - 1)) << at);
		done += n;
		bit += n;
	}
}
