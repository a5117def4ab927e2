/*
 * arena.c: chunks of doubling size, up to 64 KiB; a request that needs more gets
 * a chunk of its own size.
 */
#include "util/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <string.h>

#include "util/mem.h"

struct arena_chunk {
	struct arena_chunk *next;
	size_t used, size; /* of mem */
	alignas(max_align_t) unsigned char mem[];
};

#define FIRST_CHUNK 1024
#define LARGEST_CHUNK 65536

void arena_init(struct arena *a, size_t max)
{
	a->head = NULL;
	a->total = 0;
	a->max = max;
}

void arena_release(struct arena *a)
{
	struct arena_chunk *c = a->head;

	while (c) {
		struct arena_chunk *next = c->next;
		mem_free(c);
		c = next;
	}
	arena_init(a, a->max);
}

static struct arena_chunk *chunk_new(struct arena *a, size_t need)
{
	size_t size = a->head ? a->head->size * 2 : FIRST_CHUNK;
	struct arena_chunk *c;

	if (size > LARGEST_CHUNK)
		size = LARGEST_CHUNK;
	if (size < need)
		size = need;
	if (size > SIZE_MAX - sizeof(*c) || (a->max && (size > a->max || a->total > a->max - size)))
		return NULL;
	c = mem_alloc(sizeof(*c) + size);
	if (!c)
		return NULL;
	c->next = a->head;
	c->used = 0;
	c->size = size;
	a->head = c;
	a->total += size;
	return c;
}

void *arena_alloc(struct arena *a, size_t size)
{
	const size_t align = alignof(max_align_t);
	struct arena_chunk *c = a->head;
	void *p;

	if (size > SIZE_MAX - align)
		return NULL;
	size = (size + align - 1) / align * align;
	if (!c || c->size - c->used < size)
		c = chunk_new(a, size);
	if (!c)
		return NULL;
	p = c->mem + c->used;
	c->used += size;
	return p;
}

void *arena_zero(struct arena *a, size_t size)
{
	void *p = arena_alloc(a, size);

	if (p)
		memset(p, 0, size);
	return p;
}

void *arena_array(struct arena *a, size_t n, size_t size)
{
	size_t bytes;

	return __builtin_mul_overflow(n, size, &bytes) ? NULL : arena_zero(a, bytes);
}

char *arena_dup(struct arena *a, const void *p, size_t n)
{
	char *copy = n < SIZE_MAX ? arena_alloc(a, n + 1) : NULL;

	if (!copy)
		return NULL;
	if (n)
		memcpy(copy, p, n);
	copy[n] = '\0';
	return copy;
}

int arena_dup_bytes(struct arena *a, struct bytes b, struct bytes *ret)
{
	char *copy;

	if (!b.data) {
		*ret = BYTES_NONE;
		return 0;
	}
	copy = arena_dup(a, b.data, b.len);
	if (!copy)
		return -1;
	*ret = (struct bytes){ copy, b.len };
	return 0;
}
