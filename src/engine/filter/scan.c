/* scan.c: the loops of scan.h, one for each width. */
#include "engine/filter/scan.h"

#include <string.h>

#include "engine/filter/column.h"

/* In all of them: v - lo <= hi - lo, in the width's own arithmetic. */
static void range_1(const uint8_t *restrict v, uint8_t lo, uint8_t span, uint8_t *restrict ret)
{
	for (size_t i = 0; i < 64; i++)
		ret[i] = (uint8_t)(v[i] - lo) <= span;
}

static void range_2(const uint16_t *restrict v, uint16_t lo, uint16_t span, uint8_t *restrict ret)
{
	for (size_t i = 0; i < 64; i++)
		ret[i] = (uint16_t)(v[i] - lo) <= span;
}

static void range_4(const uint32_t *restrict v, uint32_t lo, uint32_t span, uint8_t *restrict ret)
{
	for (size_t i = 0; i < 64; i++)
		ret[i] = v[i] - lo <= span;
}

static void range_8(const uint64_t *restrict v, uint64_t lo, uint64_t span, uint8_t *restrict ret)
{
	for (size_t i = 0; i < 64; i++)
		ret[i] = v[i] - lo <= span;
}

static void in_table(const uint8_t *restrict v, const uint8_t *restrict table,
	uint8_t *restrict ret)
{
	for (size_t i = 0; i < 64; i++)
		ret[i] = table[v[i]];
}

/* Byte i of eight, 0 or 1, becomes bit i. */
static uint64_t pack(const uint8_t *bytes)
{
	uint64_t word = 0;

	for (unsigned i = 0; i < 8; i++) {
		uint64_t eight;

		memcpy(&eight, bytes + (size_t)8 * i, sizeof(eight));
		if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__)
			eight = __builtin_bswap64(eight);
		word |= (eight * UINT64_C(0x0102040810204080) >> 56) << 8 * i;
	}
	return word;
}

/* The values themselves, base added, n <= 64. */
static void widen(const void *values, unsigned width, size_t from, size_t n, uint64_t base,
	uint64_t *ret)
{
	switch (width) {
	case 1:
		for (size_t i = 0; i < n; i++)
			ret[i] = base + ((const uint8_t *)values)[from + i];
		break;
	case 2:
		for (size_t i = 0; i < n; i++)
			ret[i] = base + ((const uint16_t *)values)[from + i];
		break;
	case 4:
		for (size_t i = 0; i < n; i++)
			ret[i] = base + ((const uint32_t *)values)[from + i];
		break;
	default:
		for (size_t i = 0; i < n; i++)
			ret[i] = base + ((const uint64_t *)values)[from + i];
	}
}

static uint64_t in_bits(const struct flt_set *set, const uint64_t *v, size_t n)
{
	uint64_t word = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t at = v[i] - set->base, inside = at < set->bit_count;

		/* Without a branch, which nobody could foresee. */
		at = inside ? at : 0;
		word |= (set->bits[at / 64] >> at % 64 & inside) << i;
	}
	return word;
}

static uint64_t in_set(const struct flt_set *set, const uint64_t *v, size_t n)
{
	uint64_t word = 0;

	if (set->bits)
		return in_bits(set, v, n);
	for (size_t i = 0; i < n; i++)
		word |= (uint64_t)flt_set_has(set, v[i]) << i;
	return word;
}

/* n <= 64 values. */
static uint64_t scan_some(const void *values, unsigned width, size_t from, size_t n,
	const struct flt_probe *p)
{
	uint64_t wide[64], word = 0;

	widen(values, width, from, n, p->base, wide);
	if (p->set)
		return in_set(p->set, wide, n);
	for (size_t i = 0; i < n; i++)
		word |= (uint64_t)(wide[i] - p->base - p->lo <= p->hi - p->lo) << i;
	return word;
}

static void scan_64(const void *values, unsigned width, size_t from, const struct flt_probe *p,
	uint8_t *bytes)
{
	uint64_t span = p->hi - p->lo;

	switch (width) {
	case 1:
		if (p->table)
			in_table((const uint8_t *)values + from, p->table, bytes);
		else
			range_1((const uint8_t *)values + from, (uint8_t)p->lo, (uint8_t)span,
				bytes);
		break;
	case 2:
		range_2((const uint16_t *)values + from, (uint16_t)p->lo, (uint16_t)span, bytes);
		break;
	case 4:
		range_4((const uint32_t *)values + from, (uint32_t)p->lo, (uint32_t)span, bytes);
		break;
	default:
		range_8((const uint64_t *)values + from, p->lo, span, bytes);
	}
}

void flt_scan(const void *values, unsigned width, size_t n, const struct flt_probe *p,
	uint64_t *out)
{
	bool slowly = p->set && (!p->table || width > 1);
	uint8_t bytes[64];
	size_t from = 0;

	for (; from + 64 <= n; from += 64) {
		if (slowly) {
			*out++ = scan_some(values, width, from, 64, p);
			continue;
		}
		scan_64(values, width, from, p, bytes);
		*out++ = pack(bytes);
	}
	if (from < n)
		*out = scan_some(values, width, from, n - from, p);
}

/* Not __builtin_popcountll, which is a call on machines of the common denominator. */
uint64_t flt_popcount(const uint64_t *words, size_t n)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < n; i++) {
		uint64_t w = words[i];

		w -= w >> 1 & UINT64_C(0x5555555555555555);
		w = (w & UINT64_C(0x3333333333333333)) + (w >> 2 & UINT64_C(0x3333333333333333));
		w = (w + (w >> 4)) & UINT64_C(0x0f0f0f0f0f0f0f0f);
		/* Sums of bytes, without a multiplication, which would not vectorise. */
		w += w >> 8;
		w += w >> 16;
		w += w >> 32;
		sum += w & 0xff;
	}
	return sum;
}
