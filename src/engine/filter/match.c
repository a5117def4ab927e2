/* match.c: a leaf over a block's values: over a column or over a list. */
#include "engine/filter/leaf.h"

/* So many values of a set that a block can have are compared one after the other. */
#define FEW_VALUES 4U

/* What an array of a column's width is scanned with. */
struct match {
	struct flt_probe probe[FEW_VALUES];
	size_t n;
	uint8_t table[256];
};

static void add_range(struct match *m, const struct flt_column *c, uint64_t lo, uint64_t hi)
{
	if (hi < c->base || lo > c->max)
		return;
	lo = lo < c->base ? c->base : lo;
	hi = hi > c->max ? c->max : hi;
	m->probe[m->n++] = (struct flt_probe){ c->base, lo - c->base, hi - c->base, NULL, NULL };
}

static void add_set(struct match *m, const struct flt_column *c, const struct flt_set *set)
{
	struct flt_probe p = { c->base, 0, 0, set, NULL };
	size_t from, to;

	if (set->sorted) {
		flt_set_clip(set, c->base, c->max, &from, &to);
		if (to - from <= FEW_VALUES) {
			for (; from < to; from++)
				add_range(m, c, set->sorted[from], set->sorted[from] + set->wide);
			return;
		}
	}
	if (c->width == 1) {
		for (unsigned i = 0; i <= c->max - c->base; i++)
			m->table[i] = flt_set_has(set, c->base + i);
		p.table = m->table;
	}
	m->probe[m->n++] = p;
}

static void scan(const struct match *m, const void *values, unsigned width, size_t n, uint64_t *out)
{
	uint64_t other[FLT_BLOCK_WORDS];

	flt_scan(values, width, n, &m->probe[0], out);
	for (size_t i = 1; i < m->n; i++) {
		flt_scan(values, width, n, &m->probe[i], other);
		for (size_t k = 0; k < (n + 63) / 64; k++)
			out[k] |= other[k];
	}
}

/* Sets the bits of the entries whose value, one of up to 64, has a bit in word. */
static void scatter(uint64_t word, const uint16_t *entries, uint64_t *out)
{
	for (; word; word &= word - 1)
		flt_bit_set(out, entries[__builtin_ctzll(word)]);
}

static bool covers(const struct match *m, const struct flt_column *c)
{
	const struct flt_probe *p = &m->probe[0];

	return m->n == 1 && !p->set && p->lo == 0 && p->hi == c->max - c->base;
}

static void fill_ones(uint64_t *out, uint32_t n)
{
	memset(out, 0xff, n / 64 * sizeof(out[0]));
	if (n % 64)
		out[n / 64] = (UINT64_C(1) << n % 64) - 1;
}

static void eval_column(const struct flt_column *c, const struct match *m, uint32_t n,
	uint64_t *out)
{
	size_t words = (n + 63) / 64;
	uint64_t word;

	if (!c->values)
		memset(out, 0, words * sizeof(out[0]));
	else if (covers(m, c))
		fill_ones(out, n);
	else
		scan(m, c->values, c->width, n, out);
	for (size_t i = 0; i < words && c->present && c->values; i++)
		out[i] &= c->present[i];
	for (size_t i = 0; i < c->more_count; i += 64) {
		size_t some = c->more_count - i < 64 ? c->more_count - i : 64;

		scan(m, (const char *)c->more + i * c->width, c->width, some, &word);
		scatter(word, c->more_entries + i, out);
	}
}

/* Up to 64 values of a segment; those of entries that the view does not have go. */
static bool eval_some(const struct flt_list_segment *segment, uint32_t at, uint32_t n,
	const struct flt_probe *p, uint32_t entries, uint64_t *out)
{
	uint64_t word;

	if (segment->entries[at] >= entries)
		return false;
	while (segment->entries[at + n - 1] >= entries)
		n--;
	flt_scan(segment->values + at, 8, n, p, &word);
	scatter(word, segment->entries + at, out);
	return true;
}

static void eval_list(const struct flt_list *l, const struct flt_probe *p, uint32_t entries,
	uint64_t *out)
{
	uint32_t count = flt_list_count(l), at = 0;

	for (unsigned s = 0; count > 0; s++, at = 0) {
		uint32_t size = flt_segment_size(s) < count ? flt_segment_size(s) : count;

		for (count -= size; at < size; at += 64) {
			uint32_t some = size - at < 64 ? size - at : 64;

			if (!eval_some(l->segments[s], at, some, p, entries, out))
				return;
		}
	}
}

static enum flt_truth truth_of(const uint64_t *bits, uint32_t n)
{
	uint64_t any = 0, all = ~UINT64_C(0);

	for (size_t i = 0; i < n / 64; i++) {
		any |= bits[i];
		all &= bits[i];
	}
	if (n % 64) {
		any |= bits[n / 64];
		all &= bits[n / 64] | ~UINT64_C(0) << n % 64;
	}
	return any == 0 ? FLT_NONE : all == ~UINT64_C(0) ? FLT_ALL : FLT_SOME;
}

enum status flt_leaf_eval(struct flt_run *r, const struct flt_leaf *leaf, const struct flt_slice *s,
	uint64_t *out, enum flt_truth *ret)
{
	const struct flt_set *set = leaf->kind == FLT_RANGE ? NULL : &leaf->set;
	const struct flt_column *c;
	const struct flt_list *l;
	struct match m = { .n = 0 };

	*ret = FLT_NONE;
	if (leaf->kind == FLT_NEVER)
		return ST_OK;
	if (flt_run_stopped(r, 64) || flt_contains_block(r, leaf, s) != ST_OK)
		return ST_CANCELLED;
	if (s->block->lists) {
		struct flt_probe p = { 0, leaf->lo, leaf->hi, set, NULL };

		l = flt_block_find_list(s->block, leaf->field);
		if (!l)
			return ST_OK;
		memset(out, 0, (s->n + 63) / 64 * sizeof(out[0]));
		eval_list(l, &p, s->n, out);
	} else {
		c = flt_block_column(s->block, leaf->field);
		if (!c)
			return ST_OK;
		if (set)
			add_set(&m, c, set);
		else
			add_range(&m, c, leaf->lo, leaf->hi);
		if (m.n == 0)
			return ST_OK;
		eval_column(c, &m, s->n, out);
	}
	*ret = truth_of(out, s->n);
	return ST_OK;
}
