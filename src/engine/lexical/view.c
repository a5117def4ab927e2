/* view.c: views: their lives, their numbers, and how they take each other's place. */
#include "engine/lexical/private.h"

#include "util/hash.h"
#include "util/mem.h"

struct lexical_view *lex_view_new(size_t cap)
{
	struct lexical_view *v = mem_zero(sizeof(*v) + cap * sizeof(v->slice[0]));

	if (!v)
		return NULL;
	atomic_init(&v->refs, 1);
	v->cap = cap;
	return v;
}

void lex_view_fill(struct lexical_view *v, const struct lexical *lx, uint64_t commit)
{
	v->commit = commit;
	v->k1 = lx->k1;
	v->b = lx->b;
}

void lex_view_add(struct lexical_view *v, struct lex_slice slice)
{
	lex_part_ref(slice.part);
	v->slice[v->count++] = slice;
	v->chunks += slice.chunks - slice.deleted;
	v->deleted += slice.deleted;
	v->total_length += slice.live_length;
}

void lex_view_publish(struct lexical *lx, struct lexical_view *v)
{
	struct lexical_view *old = atomic_exchange(&lx->current, v);

	if (old) {
		old->next_retired = lx->retired;
		lx->retired = old;
	}
	lex_view_trim(lx);
}

void lex_view_trim(struct lexical *lx)
{
	struct lexical_view *v;

	/* Sequentially consistent, as are the steps of lexical_view_get. */
	if (!lx->retired || atomic_load(&lx->getting) != 0)
		return;
	v = lx->retired;
	lx->retired = NULL;
	while (v) {
		struct lexical_view *next = v->next_retired;

		lexical_view_unref(v);
		v = next;
	}
}

struct lexical_view *lexical_view_get(struct lexical *lx)
{
	struct lexical_view *v;

	atomic_fetch_add(&lx->getting, 1);
	v = lexical_view_ref(atomic_load(&lx->current));
	atomic_fetch_sub(&lx->getting, 1);
	return v;
}

struct lexical_view *lexical_view_ref(struct lexical_view *v)
{
	atomic_fetch_add_explicit(&v->refs, 1, memory_order_relaxed);
	return v;
}

void lexical_view_unref(struct lexical_view *v)
{
	if (!v || atomic_fetch_sub_explicit(&v->refs, 1, memory_order_acq_rel) > 1)
		return;
	for (size_t i = 0; i < v->count; i++)
		lex_part_unref(v->slice[i].part);
	mem_free(v);
}

uint64_t lexical_view_commit(const struct lexical_view *v)
{
	return v->commit;
}

void lexical_view_stats(const struct lexical_view *v, struct lexical_stats *ret)
{
	struct lexical_stats s = { .chunks = v->chunks,
		.deleted = v->deleted,
		.total_length = v->total_length };

	for (size_t i = 0; i < v->count; i++) {
		const struct lex_part *p = v->slice[i].part;

		s.segments += p->seg != NULL;
		s.file_bytes += p->seg ? p->seg->size : 0;
		s.head_chunks += p->seg ? 0 : v->slice[i].chunks;
	}
	*ret = s;
}

uint64_t lexical_document_frequency(const struct lexical_view *v, struct bytes term)
{
	uint64_t hash = hash_bytes(term.data, term.len), df = 0;

	for (size_t i = 0; i < v->count; i++) {
		struct lex_term_in in;

		if (lex_slice_find(&v->slice[i], term, hash, &in))
			df += in.live;
	}
	return df;
}
