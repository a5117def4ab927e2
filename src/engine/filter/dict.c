/*
 * dict.c: an open hash table of codes, half full at most before it doubles. A slot is
 * stored with release after its string, so a reader who sees a code sees the string.
 */
#include "engine/filter/dict.h"

#include <stdalign.h>
#include <string.h>

#include "util/hash.h"
#include "util/mem.h"

#define FIRST_SLOTS 16U
#define FIRST_POOL 512U
#define LARGEST_POOL 65536U

struct flt_dict_table {
	struct flt_dict_table *older;
	size_t mask;
	_Atomic uint32_t slots[]; /* code + 1; 0: free */
};

struct flt_dict_pool {
	struct flt_dict_pool *older;
	size_t used, size;
	alignas(uint32_t) char mem[];
};

void flt_dict_release(struct flt_dict *d)
{
	struct flt_dict_table *t = atomic_load(&d->table);

	while (t) {
		struct flt_dict_table *older = t->older;
		mem_free(t);
		t = older;
	}
	while (d->pool) {
		struct flt_dict_pool *older = d->pool->older;
		mem_free(d->pool);
		d->pool = older;
	}
	for (unsigned i = 0; i < FLT_SEGMENTS; i++)
		mem_free(d->segments[i]);
}

/* The slot of s, or the free one where it would go. */
static _Atomic uint32_t *slot_of(const struct flt_dict *d, struct flt_dict_table *t, struct bytes s,
	uint32_t *ret)
{
	size_t i = hash_bytes(s.data, s.len) & t->mask;

	for (;; i = (i + 1) & t->mask) {
		*ret = atomic_load_explicit(&t->slots[i], memory_order_acquire);
		if (*ret == 0 || bytes_eq(flt_dict_at(d, *ret - 1), s))
			return &t->slots[i];
	}
}

bool flt_dict_find(const struct flt_dict *d, struct bytes s, uint32_t *ret)
{
	struct flt_dict_table *t = atomic_load_explicit(&d->table, memory_order_acquire);
	uint32_t slot;

	if (!t)
		return false;
	(void)slot_of(d, t, s, &slot);
	if (slot > 0)
		*ret = slot - 1;
	return slot > 0;
}

/* A table with room for one more; the old one's codes are hashed anew. */
static bool table_grow(struct flt_dict *d, uint32_t count)
{
	struct flt_dict_table *old = atomic_load_explicit(&d->table, memory_order_relaxed), *t;
	size_t slots = old ? (old->mask + 1) * 2 : FIRST_SLOTS, size;

	if (old && (size_t)count + 1 <= (old->mask + 1) / 2)
		return true;
	size = sizeof(*t) + slots * sizeof(t->slots[0]);
	t = mem_zero(size);
	if (!t)
		return false;
	t->older = old;
	t->mask = slots - 1;
	for (uint32_t code = 0; code < count; code++) {
		struct bytes s = flt_dict_at(d, code);
		size_t i = hash_bytes(s.data, s.len) & t->mask;

		while (atomic_load_explicit(&t->slots[i], memory_order_relaxed))
			i = (i + 1) & t->mask;
		atomic_store_explicit(&t->slots[i], code + 1, memory_order_relaxed);
	}
	d->bytes += size;
	atomic_store_explicit(&d->table, t, memory_order_release);
	return true;
}

static bool segment_grow(struct flt_dict *d, unsigned s)
{
	size_t size = flt_segment_size(s) * sizeof(struct flt_string *);

	if (d->segments[s])
		return true;
	d->segments[s] = mem_zero(size);
	if (!d->segments[s])
		return false;
	d->bytes += size;
	return true;
}

/* A copy of s in the pool. NULL when out of memory. */
static struct flt_string *string_new(struct flt_dict *d, struct bytes s)
{
	const size_t align = alignof(struct flt_string);
	size_t need = (sizeof(struct flt_string) + s.len + align - 1) / align * align;
	struct flt_dict_pool *p = d->pool;
	struct flt_string *string;

	if (!p || p->size - p->used < need) {
		size_t size = p ? p->size * 2 : FIRST_POOL;

		size = size > LARGEST_POOL ? LARGEST_POOL : size;
		size = size < need ? need : size;
		p = mem_alloc(sizeof(*p) + size);
		if (!p)
			return NULL;
		p->older = d->pool;
		p->used = 0;
		p->size = size;
		d->pool = p;
		d->bytes += sizeof(*p) + size;
	}
	string = (struct flt_string *)(void *)(p->mem + p->used);
	p->used += need;
	string->len = (uint32_t)s.len;
	if (s.len)
		memcpy(string->data, s.data, s.len);
	return string;
}

bool flt_dict_add(struct flt_dict *d, struct bytes s, uint32_t *ret)
{
	uint32_t count = atomic_load_explicit(&d->count, memory_order_relaxed), at, slot;
	struct flt_string *string;
	unsigned segment;

	if (flt_dict_find(d, s, ret))
		return true;
	segment = flt_segment(count, &at);
	if (count >= FLT_MAX_ITEMS || !table_grow(d, count) || !segment_grow(d, segment))
		return false;
	string = string_new(d, s);
	if (!string)
		return false;
	d->segments[segment][at] = string;
	atomic_store_explicit(&d->count, count + 1, memory_order_release);
	atomic_store_explicit(slot_of(d, atomic_load_explicit(&d->table, memory_order_relaxed), s,
				      &slot),
		count + 1, memory_order_release);
	*ret = count;
	return true;
}
