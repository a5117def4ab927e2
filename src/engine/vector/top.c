/* top.c: a heap of the best, and a sorted list of those that tie with its worst. */
#include "engine/vector/top.h"

#include <stdlib.h>

bool vec_top_init(struct vec_top *t, size_t k, struct arena *arena)
{
	t->k = k;
	t->n = t->tied = 0;
	t->changes = 0;
	t->heap = arena_array(arena, k, sizeof(*t->heap));
	return t->heap != NULL;
}

static bool is_better(const struct vec_scored *a, const struct vec_scored *b)
{
	return a->dot != b->dot ? a->dot > b->dot : a->key < b->key;
}

static void swap(struct vec_scored *a, struct vec_scored *b)
{
	struct vec_scored c = *a;

	*a = *b;
	*b = c;
}

static void sift_down(struct vec_top *t)
{
	for (size_t i = 0, child; (child = 2 * i + 1) < t->n; i = child) {
		if (child + 1 < t->n && is_better(&t->heap[child], &t->heap[child + 1]))
			child++;
		if (is_better(&t->heap[child], &t->heap[i]))
			break;
		swap(&t->heap[child], &t->heap[i]);
	}
}

static void push(struct vec_top *t, struct vec_scored s)
{
	size_t i = t->n++;

	t->changes++;
	t->heap[i] = s;
	for (; i > 0 && is_better(&t->heap[(i - 1) / 2], &t->heap[i]); i = (i - 1) / 2)
		swap(&t->heap[i], &t->heap[(i - 1) / 2]);
}

/* Of too many the greatest key goes. */
static void tie(struct vec_top *t, struct vec_scored s)
{
	size_t i = t->tied;

	for (; i > 0 && t->ties[i - 1].key > s.key; i--)
		t->ties[i] = t->ties[i - 1];
	t->ties[i] = s;
	if (t->tied < VEC_MORE)
		t->tied++;
}

void vec_top_offer(struct vec_top *t, int32_t dot, int64_t key)
{
	struct vec_scored s = { dot, key }, worst;

	if (t->n < t->k) {
		push(t, s);
		return;
	}
	worst = t->heap[0];
	if (is_better(&s, &worst)) {
		t->changes++;
		t->heap[0] = s;
		sift_down(t);
		if (t->heap[0].dot == worst.dot)
			tie(t, worst);
		else
			t->tied = 0;
	} else if (dot == worst.dot) {
		tie(t, s);
	}
}

static int compare(const void *a, const void *b)
{
	return is_better(a, b) ? -1 : is_better(b, a);
}

struct vec_scored *vec_top_sort(struct vec_top *t, struct arena *arena, size_t *ret_n)
{
	struct vec_scored *all = arena_array(arena, t->n + t->tied + 1, sizeof(*all));

	if (!all)
		return NULL;
	for (size_t i = 0; i < t->n; i++)
		all[i] = t->heap[i];
	for (size_t i = 0; i < t->tied; i++)
		all[t->n + i] = t->ties[i];
	*ret_n = t->n + t->tied;
	qsort(all, *ret_n, sizeof(*all), compare);
	return all;
}
