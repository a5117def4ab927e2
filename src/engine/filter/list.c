/* list.c: values of the open block (list.h). */
#include "engine/filter/list.h"

#include "util/mem.h"

void flt_list_release(struct flt_list *l)
{
	for (unsigned i = 0; i < FLT_SEGMENTS; i++)
		mem_free(l->segments[i]);
}

bool flt_list_reserve(struct flt_list *l, size_t *bytes)
{
	uint64_t need =
		(uint64_t)atomic_load_explicit(&l->count, memory_order_relaxed) + l->pending;
	struct flt_list_segment *segment;
	uint32_t at;
	unsigned s;
	size_t n, size;

	if (need >= FLT_MAX_ITEMS)
		return false;
	s = flt_segment((uint32_t)need, &at);
	n = flt_segment_size(s);
	size = sizeof(*segment) + n * (sizeof(uint64_t) + sizeof(uint16_t));
	if (!l->segments[s]) {
		segment = mem_alloc(size);
		if (!segment)
			return false;
		segment->values = (uint64_t *)(void *)(segment + 1);
		segment->entries = (uint16_t *)(void *)(segment->values + n);
		l->segments[s] = segment;
		*bytes += size;
	}
	l->pending++;
	return true;
}

void flt_list_add(struct flt_list *l, uint16_t entry, uint64_t value)
{
	uint32_t count = atomic_load_explicit(&l->count, memory_order_relaxed), at;
	struct flt_list_segment *segment = l->segments[flt_segment(count, &at)];

	segment->values[at] = value;
	segment->entries[at] = entry;
	l->pending--;
	atomic_store_explicit(&l->count, count + 1, memory_order_release);
}

uint32_t flt_list_seek(const struct flt_list *l, uint32_t count, uint32_t entry)
{
	uint32_t low = 0;

	while (low < count) {
		uint32_t middle = low + (count - low) / 2;

		if (flt_list_entry(l, middle) < entry)
			low = middle + 1;
		else
			count = middle;
	}
	return low;
}
