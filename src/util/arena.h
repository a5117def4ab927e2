/*
 * arena.h: memory of one request, freed in one go.
 *
 *   arena ──▶ [chunk: used ....|free] ──▶ [older chunk] ──▶ NULL
 *
 * Not thread-safe: it belongs to whoever runs the request now. Nothing handed
 * out is freed singly. Alignment suits any type. Cost: a bump of a pointer.
 */
#ifndef RCPD_UTIL_ARENA_H
#define RCPD_UTIL_ARENA_H

#include <stddef.h>

#include "util/bytes.h"

struct arena_chunk;
struct arena {
	struct arena_chunk *head;
	size_t total; /* bytes taken from the heap */
	size_t max;   /* 0: no limit; otherwise allocations beyond fail */
};

void arena_init(struct arena *a, size_t max);
void arena_release(struct arena *a);
/* NULL when out of memory or beyond max; arena_zero clears; arena_array checks
 * n * size and clears. */
void *arena_alloc(struct arena *a, size_t size);
void *arena_zero(struct arena *a, size_t size);
void *arena_array(struct arena *a, size_t n, size_t size);
/* A NUL-terminated copy; NULL when out of memory. */
char *arena_dup(struct arena *a, const void *p, size_t n);
/* Copies b; a BYTES_NONE stays one. Returns 0, or -1 when out of memory. */
int arena_dup_bytes(struct arena *a, struct bytes b, struct bytes *ret);

#endif
