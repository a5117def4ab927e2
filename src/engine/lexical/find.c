/*
 * find.c: chunks by their keys, and what a term would weigh: for those who found a chunk
 * by other means than its words.
 */
#include "engine/lexical/private.h"

#include "engine/lexical/score.h"

double lexical_weight(const struct lexical_view *v, uint32_t tf, uint32_t length)
{
	struct lex_model m;

	lex_model_init(&m, v->k1, v->b, v->chunks, v->total_length);
	return lex_score(&m, 1, tf, lex_norm(&m, length));
}

/* Slices stand in the order of their keys: the last one that begins at or before key. */
static const struct lex_slice *slice_of(const struct lexical_view *v, int64_t key)
{
	size_t low = 0, high = v->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct lex_slice *s = &v->slice[middle];

		if (s->chunks > 0 && lex_slice_key(s, 0) <= key)
			low = middle + 1;
		else
			high = middle;
	}
	return low > 0 ? &v->slice[low - 1] : NULL;
}

bool lexical_find(const struct lexical_view *v, int64_t key, struct bytes *ret_doc_id,
	uint32_t *ret_no)
{
	const struct lex_slice *s = slice_of(v, key);
	struct lex_row row;
	uint32_t ord;

	if (!s)
		return false;
	ord = lex_slice_seek(s, key);
	if (ord == s->chunks || lex_slice_key(s, ord) != key ||
		(s->deleted > 0 && lex_slice_dead(s, ord)))
		return false;
	lex_slice_row(s, ord, &row);
	*ret_doc_id = row.doc_id;
	*ret_no = row.no;
	return true;
}

void lexical_each_key(const struct lexical_view *v, uint64_t step,
	bool (*fn)(void *arg, int64_t key), void *arg)
{
	uint64_t seen = 0;

	for (size_t i = 0; i < v->count; i++) {
		const struct lex_slice *s = &v->slice[i];

		for (uint32_t ord = 0; ord < s->chunks; ord++) {
			if (s->deleted > 0 && lex_slice_dead(s, ord))
				continue;
			if (seen++ % step == 0 && !fn(arg, lex_slice_key(s, ord)))
				return;
		}
	}
}
