/*
 * seal.c: full blocks: made of the open one when the first key beyond it comes, and
 * made anew without the entries that were forgotten. The old block stays with the
 * views that have it.
 */
#include "engine/filter/block.h"

#include "util/mem.h"

/* A full block in the making. */
struct sealing {
	const struct flt_block *from;
	const uint64_t *keep; /* entries to take */
	struct flt_block *to;
	struct flt_pairs pairs; /* scratch */
};

/* Starts the block: keys and what is alive of them. A key that is forgotten stays a
 * member of the block until it is compacted. */
static struct flt_block *start(const struct flt_block *b, const uint64_t *keep, uint32_t n)
{
	struct flt_slice all = { NULL, b->offsets, b->n };
	struct flt_block *to = mem_zero(sizeof(*to));
	uint32_t entry = 0;

	if (!to)
		return NULL;
	atomic_init(&to->refs, 1);
	to->total = b->total;
	to->no = b->no;
	to->n = n;
	to->dropped = b->dropped + (b->n - n);
	flt_block_count(to, sizeof(*to));
	if (b->offsets || n < b->n) {
		to->offsets = mem_array(n, sizeof(to->offsets[0]));
		if (!to->offsets) {
			flt_block_unref(to);
			return NULL;
		}
		flt_block_count(to, n * sizeof(to->offsets[0]));
	}
	all.block = to; /* for `first`, which is the same while there are no offsets */
	to->first = b->first;
	for (uint32_t i = 0; i < b->n && to->offsets; i++)
		if (flt_bit(keep, i))
			to->offsets[entry++] = (uint16_t)flt_slice_offset(&all, i);
	for (size_t i = 0; i < FLT_BLOCK_WORDS; i++)
		atomic_store_explicit(&to->living[i],
			atomic_load_explicit(&b->living[i], memory_order_relaxed),
			memory_order_relaxed);
	return to;
}

/* The field's values as pairs. False when out of memory. */
static bool collect(struct sealing *s, size_t i)
{
	const struct flt_block *b = s->from;

	if (!b->lists) {
		const struct flt_column *c = b->columns[i];

		s->pairs.n = 0;
		if (!flt_pairs_reserve(&s->pairs, flt_column_count(c, b->n)))
			return false;
		flt_column_pairs(c, b->n, s->keep, &s->pairs);
		return true;
	}
	const struct flt_list *l = flt_block_find_list(b, i);
	uint32_t count = l ? flt_list_count(l) : 0;

	s->pairs.n = 0;
	if (!flt_pairs_reserve(&s->pairs, count))
		return false;
	for (uint32_t k = 0; k < count; k++) {
		s->pairs.values[k] = flt_list_value(l, k);
		s->pairs.entries[k] = flt_list_entry(l, k);
	}
	s->pairs.n = count;
	return true;
}

static bool make_columns(struct sealing *s)
{
	const struct flt_block *b = s->from;
	size_t sources = b->lists ? b->list_count : b->column_count, n = 0;
	struct flt_block *to = s->to;

	for (size_t i = 0; i < sources; i++)
		n += b->lists ? flt_block_find_list(b, i) != NULL : 1;
	to->columns = mem_array(n, sizeof(struct flt_column *));
	if (!to->columns)
		return false;
	flt_block_count(to, n * sizeof(struct flt_column *));
	for (size_t i = 0; i < sources; i++) {
		struct flt_column *c;

		if (!collect(s, i))
			return false;
		if (s->pairs.n == 0)
			continue;
		c = flt_column_new(b->lists ? i : b->columns[i]->field, &s->pairs, to->n);
		if (!c)
			return false;
		to->columns[to->column_count++] = c;
		flt_block_count(to, c->bytes);
	}
	return true;
}

static struct flt_block *make(const struct flt_block *b, const uint64_t *keep, uint32_t n)
{
	struct sealing s = { .from = b, .keep = keep };
	bool made;

	s.to = start(b, keep, n);
	if (!s.to)
		return NULL;
	made = make_columns(&s);
	flt_pairs_release(&s.pairs);
	if (made)
		return s.to;
	flt_block_unref(s.to);
	return NULL;
}

struct flt_block *flt_block_seal(struct flt_block *b)
{
	uint64_t keep[FLT_BLOCK_WORDS];
	struct flt_block *to;

	memset(keep, 0xff, sizeof(keep));
	to = make(b, keep, b->n);
	if (to)
		atomic_store_explicit(&to->gone,
			atomic_load_explicit(&b->gone, memory_order_relaxed), memory_order_relaxed);
	return to;
}

struct flt_block *flt_block_compact(struct flt_block *b)
{
	struct flt_slice all = { b, b->offsets, b->n };
	uint64_t keep[FLT_BLOCK_WORDS] = { 0 };
	uint32_t n = 0;

	for (uint32_t i = 0; i < b->n; i++) {
		uint32_t offset = flt_slice_offset(&all, i);
		uint64_t word = atomic_load_explicit(&b->living[offset / 64], memory_order_relaxed);

		if (word >> offset % 64 & 1) {
			flt_bit_set(keep, i);
			n++;
		}
	}
	return make(b, keep, n);
}
