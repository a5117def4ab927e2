/* block.c: the life of a block while it is open, and what is the same in both forms. */
#include "engine/filter/block.h"

#include "util/mem.h"

void flt_block_count(struct flt_block *b, size_t bytes)
{
	atomic_fetch_add_explicit(&b->bytes, bytes, memory_order_relaxed);
	atomic_fetch_add_explicit(b->total, bytes, memory_order_relaxed);
}

void flt_block_begin(struct flt_block *b, int64_t key)
{
	b->no = flt_block_no(key);
	b->first = (uint16_t)flt_block_offset(key);
}

struct flt_block *flt_block_new(_Atomic uint64_t *total, int64_t key, size_t max_fields)
{
	struct flt_block *b = mem_zero(sizeof(*b));

	if (!b)
		return NULL;
	b->lists = mem_array(max_fields, sizeof(b->lists[0]));
	if (!b->lists) {
		mem_free(b);
		return NULL;
	}
	atomic_init(&b->refs, 1);
	b->total = total;
	flt_block_begin(b, key);
	b->list_count = max_fields;
	flt_block_count(b, sizeof(*b) + max_fields * sizeof(b->lists[0]));
	return b;
}

void flt_block_ref(struct flt_block *b)
{
	atomic_fetch_add_explicit(&b->refs, 1, memory_order_relaxed);
}

void flt_block_unref(struct flt_block *b)
{
	if (!b || atomic_fetch_sub_explicit(&b->refs, 1, memory_order_acq_rel) > 1)
		return;
	atomic_fetch_sub_explicit(b->total, atomic_load_explicit(&b->bytes, memory_order_relaxed),
		memory_order_relaxed);
	for (size_t i = 0; i < b->list_count; i++) {
		struct flt_list *l = atomic_load_explicit(&b->lists[i], memory_order_relaxed);

		if (l)
			flt_list_release(l);
		mem_free(l);
	}
	for (size_t i = 0; i < b->column_count; i++)
		flt_column_free(b->columns[i]);
	mem_free(b->lists);
	mem_free(b->columns);
	mem_free(b->offsets);
	mem_free(b);
}

struct flt_list *flt_block_list(struct flt_block *b, size_t field)
{
	struct flt_list *l = atomic_load_explicit(&b->lists[field], memory_order_relaxed);

	if (l)
		return l;
	l = mem_zero(sizeof(*l));
	if (!l)
		return NULL;
	flt_block_count(b, sizeof(*l));
	atomic_store_explicit(&b->lists[field], l, memory_order_release);
	return l;
}

const struct flt_list *flt_block_find_list(const struct flt_block *b, size_t field)
{
	return field < b->list_count ? atomic_load_explicit(&b->lists[field], memory_order_acquire)
				     : NULL;
}

bool flt_block_make_room(struct flt_block *b, int64_t key)
{
	if (b->offsets || flt_block_offset(key) == b->first + b->n)
		return true;
	/* For the whole block at once, so that it never moves under a reader. Views that
	 * are older saw no gap and go on without. */
	b->offsets = mem_array(FLT_BLOCK_KEYS, sizeof(b->offsets[0]));
	if (!b->offsets)
		return false;
	flt_block_count(b, FLT_BLOCK_KEYS * sizeof(b->offsets[0]));
	for (uint32_t i = 0; i < b->n; i++)
		b->offsets[i] = (uint16_t)(b->first + i);
	return true;
}

void flt_block_add(struct flt_block *b, int64_t key)
{
	uint32_t offset = flt_block_offset(key);

	if (b->offsets)
		b->offsets[b->n] = (uint16_t)offset;
	b->n++;
	atomic_fetch_or_explicit(&b->living[offset / 64], UINT64_C(1) << offset % 64,
		memory_order_relaxed);
}

bool flt_block_forget(struct flt_block *b, int64_t key)
{
	uint32_t offset = flt_block_offset(key);
	uint64_t bit = UINT64_C(1) << offset % 64;

	if (!(atomic_fetch_and_explicit(&b->living[offset / 64], ~bit, memory_order_relaxed) & bit))
		return false;
	atomic_fetch_add_explicit(&b->gone, 1, memory_order_relaxed);
	return true;
}

const struct flt_column *flt_block_column(const struct flt_block *b, size_t field)
{
	size_t low = 0, high = b->column_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (b->columns[middle]->field < field)
			low = middle + 1;
		else
			high = middle;
	}
	return low < b->column_count && b->columns[low]->field == field ? b->columns[low] : NULL;
}

bool flt_slice_find(const struct flt_slice *s, int64_t key, uint32_t *ret)
{
	uint32_t offset = flt_block_offset(key), low = 0, high = s->n;

	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (flt_slice_offset(s, middle) < offset)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == s->n || flt_slice_offset(s, low) != offset)
		return false;
	*ret = low;
	return true;
}
