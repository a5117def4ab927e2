/* top.c: the best k of a search; see lex_top in search.h. */
#include "engine/lexical/search.h"

bool lex_top_before(const struct lex_top *top, const struct lex_scored *s,
	const struct lex_scored *t)
{
	struct lex_row a, b;
	int c;

	if (s->score > t->score || s->score < t->score)
		return s->score > t->score;
	lex_slice_row(&top->view->slice[s->slice], s->ord, &a);
	lex_slice_row(&top->view->slice[t->slice], t->ord, &b);
	c = bytes_cmp(a.doc_id, b.doc_id);
	if (c != 0)
		return c < 0;
	return a.no != b.no ? a.no < b.no : a.key < b.key;
}

static void sift_down(const struct lex_top *top, struct lex_scored *heap, size_t n, size_t i)
{
	struct lex_scored s = heap[i];

	for (size_t child; (child = 2 * i + 1) < n; i = child) {
		if (child + 1 < n && lex_top_before(top, &heap[child], &heap[child + 1]))
			child++;
		if (!lex_top_before(top, &s, &heap[child]))
			break;
		heap[i] = heap[child];
	}
	heap[i] = s;
}

static void sift_up(const struct lex_top *top, struct lex_scored *heap, size_t i)
{
	struct lex_scored s = heap[i];

	for (size_t parent; i > 0; i = parent) {
		parent = (i - 1) / 2;
		if (!lex_top_before(top, &heap[parent], &s))
			break;
		heap[i] = heap[parent];
	}
	heap[i] = s;
}

void lex_top_offer(struct lex_top *top, struct lex_scored s)
{
	if (top->count < top->k) {
		top->best[top->count++] = s;
		sift_up(top, top->best, top->count - 1);
	} else if (lex_top_before(top, &s, &top->best[0])) {
		top->best[0] = s;
		sift_down(top, top->best, top->count, 0);
	}
}

void lex_top_sort(struct lex_top *top)
{
	for (size_t n = top->count; n > 1;) {
		struct lex_scored worst = top->best[0];

		top->best[0] = top->best[--n];
		top->best[n] = worst;
		sift_down(top, top->best, n, 0);
	}
}

void lex_top_note(struct lex_top *top, float score)
{
	float *h = top->floats;
	size_t i = top->floats_count;

	if (i < top->k) { /* up from the end */
		top->floats_count++;
		for (size_t parent; i > 0 && h[parent = (i - 1) / 2] > score; i = parent)
			h[i] = h[parent];
		h[i] = score;
		if (top->floats_count < top->k)
			return;
	} else if (score > h[0]) { /* down from the top */
		i = 0;
		for (size_t child; (child = 2 * i + 1) < top->k; i = child) {
			child += child + 1 < top->k && h[child + 1] < h[child];
			if (h[child] >= score)
				break;
			h[i] = h[child];
		}
		h[i] = score;
	}
	top->cut = h[0] * (1 - top->slack);
}
