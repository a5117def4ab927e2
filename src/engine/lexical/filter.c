/*
 * filter.c: a filter over row keys, asked about ordinals. Keys grow with ordinals, so
 * a range of ordinals is a range of bits, and counting these is cheap; where few are
 * set, each is turned into an ordinal, else each candidate is looked up.
 */
#include "engine/lexical/search.h"

static bool is_allowed(const struct lexical_filter *f, int64_t key)
{
	uint64_t bit = (uint64_t)key - (uint64_t)f->base;

	return key >= f->base && bit < f->count && (f->bits[bit / 64] >> bit % 64 & 1);
}

bool lex_search_allows(const struct lex_search *s, uint32_t ord)
{
	const struct lexical_filter *f = s->query->filter;

	if (s->slice->deleted > 0 && lex_slice_dead(s->slice, ord))
		return false;
	return !f || is_allowed(f, lex_slice_key(s->slice, ord));
}

/* Bits [*ret_from, *ret_to) belong to the keys of ordinals [from, to), from < to. */
static bool bit_range(const struct lex_search *s, uint32_t from, uint32_t to, uint64_t *ret_from,
	uint64_t *ret_to)
{
	const struct lexical_filter *f = s->query->filter;
	int64_t first = lex_slice_key(s->slice, from), last = lex_slice_key(s->slice, to - 1);

	if (last < f->base || first > last || f->count == 0)
		return false;
	*ret_from = first > f->base ? (uint64_t)first - (uint64_t)f->base : 0;
	*ret_to = (uint64_t)last - (uint64_t)f->base;
	*ret_to = *ret_to < f->count ? *ret_to + 1 : f->count;
	return *ret_from < *ret_to;
}

/* Word i of the bitmap with only the bits in [from, to). */
static uint64_t word_in_range(const uint64_t *bits, uint64_t i, uint64_t from, uint64_t to)
{
	uint64_t w = bits[i];

	if (i == from / 64)
		w &= ~UINT64_C(0) << from % 64;
	if (i == to / 64)
		w &= (UINT64_C(1) << to % 64) - 1;
	return w;
}

uint32_t lex_search_count_allowed(const struct lex_search *s, uint32_t from, uint32_t to)
{
	const struct lexical_filter *f = s->query->filter;
	uint64_t first, end, n = 0;

	if (!f)
		return to - from;
	if (!bit_range(s, from, to, &first, &end))
		return 0;
	for (uint64_t i = first / 64; i * 64 < end; i++)
		n += (unsigned)__builtin_popcountll(word_in_range(f->bits, i, first, end));
	/* Keys between those of the slice may be set too, hence "at most". */
	return n < to - from ? (uint32_t)n : to - from;
}

/* The first ordinal from `ord` on, below `to`, with at least that key; `to` if none.
 * Keys grow by one or more an ordinal, which bounds where it can be. */
static uint32_t seek_key(const struct lex_slice *slice, uint32_t ord, uint32_t to, int64_t key)
{
	int64_t here = lex_slice_key(slice, ord);
	uint64_t gap = (uint64_t)key - (uint64_t)here;
	uint32_t high;

	if (here >= key)
		return ord;
	high = gap < to - ord ? ord + (uint32_t)gap : to;
	if (high < to && lex_slice_key(slice, high) == key)
		return high;
	for (ord++; ord < high;) {
		uint32_t middle = ord + (high - ord) / 2;

		if (lex_slice_key(slice, middle) < key)
			ord = middle + 1;
		else
			high = middle;
	}
	return high;
}

void lex_search_mark_allowed(const struct lex_search *s, uint32_t from, uint32_t to, uint64_t *bits)
{
	const struct lexical_filter *f = s->query->filter;
	uint64_t first, end;
	uint32_t ord = from;

	if (!bit_range(s, from, to, &first, &end))
		return;
	for (uint64_t i = first / 64; i * 64 < end; i++) {
		for (uint64_t w = word_in_range(f->bits, i, first, end); w; w &= w - 1) {
			uint64_t bit = i * 64 + (unsigned)__builtin_ctzll(w);
			int64_t key = (int64_t)((uint64_t)f->base + bit);

			ord = seek_key(s->slice, ord, to, key);
			if (ord == to)
				return;
			if (lex_slice_key(s->slice, ord) == key)
				bits[(ord - from) / 64] |= UINT64_C(1) << (ord - from) % 64;
		}
	}
}
