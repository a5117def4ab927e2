/*
 * engine/vector/top.h: the best k of a search, and up to 64 more that score as the k-th
 * does. What is in it does not depend on the order in which rows are offered: first by
 * dot product descending, then by key ascending.
 */
#ifndef RCPD_ENGINE_VECTOR_TOP_H
#define RCPD_ENGINE_VECTOR_TOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/arena.h"

#define VEC_MORE 64

struct vec_scored {
	int32_t dot;
	int64_t key;
};

struct vec_top {
	size_t k, n;
	struct vec_scored *heap; /* the worst one first */
	uint64_t changes;        /* of the heap */
	size_t tied;
	struct vec_scored ties[VEC_MORE + 1]; /* as good as the worst; by key */
};

/* k > 0. False when out of memory. */
bool vec_top_init(struct vec_top *t, size_t k, struct arena *arena);
void vec_top_offer(struct vec_top *t, int32_t dot, int64_t key);
/* Once k are there, only rows of at least so much can come in; INT32_MIN before. */
static inline int32_t vec_top_least(const struct vec_top *t)
{
	return t->n == t->k ? t->heap[0].dot : INT32_MIN;
}
/* All of them, best first, in the arena; the top is of no use then. NULL: no memory. */
struct vec_scored *vec_top_sort(struct vec_top *t, struct arena *arena, size_t *ret_n);

#endif
