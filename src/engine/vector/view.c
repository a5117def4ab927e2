/* view.c: views: their lives, their numbers, and how they take each other's place. */
#include "engine/vector/private.h"

#include "util/mem.h"

struct vectors_view *vec_view_new(size_t cap)
{
	struct vectors_view *v = mem_zero(sizeof(*v) + cap * sizeof(v->slice[0]));

	if (!v)
		return NULL;
	atomic_init(&v->refs, 1);
	v->cap = cap;
	return v;
}

void vec_view_add(struct vectors_view *v, struct vec_slice slice)
{
	vec_part_ref(slice.part);
	v->slice[v->count++] = slice;
	v->living += slice.rows - slice.dead;
}

void vec_view_publish(struct vectors *vs, struct vectors_view *v)
{
	struct vectors_view *old = atomic_exchange(&vs->current, v);

	if (old) {
		old->next_retired = vs->retired;
		vs->retired = old;
	}
	vec_view_trim(vs);
}

void vec_view_trim(struct vectors *vs)
{
	struct vectors_view *v;

	/* Sequentially consistent, as are the steps of vectors_view_get. */
	if (!vs->retired || atomic_load(&vs->getting) != 0)
		return;
	v = vs->retired;
	vs->retired = NULL;
	while (v) {
		struct vectors_view *next = v->next_retired;

		vectors_view_unref(v);
		v = next;
	}
}

struct vectors_view *vectors_view_get(struct vectors *vs)
{
	struct vectors_view *v;

	atomic_fetch_add(&vs->getting, 1);
	v = vectors_view_ref(atomic_load(&vs->current));
	atomic_fetch_sub(&vs->getting, 1);
	return v;
}

struct vectors_view *vectors_view_ref(struct vectors_view *v)
{
	atomic_fetch_add_explicit(&v->refs, 1, memory_order_relaxed);
	return v;
}

void vectors_view_unref(struct vectors_view *v)
{
	if (!v || atomic_fetch_sub_explicit(&v->refs, 1, memory_order_acq_rel) > 1)
		return;
	for (size_t i = 0; i < v->count; i++)
		vec_part_unref(v->slice[i].part);
	mem_free(v);
}

uint64_t vectors_view_commit(const struct vectors_view *v)
{
	return v->commit;
}

void vectors_view_stats(const struct vectors_view *v, struct vectors_stats *ret)
{
	struct vectors_stats s = { .vectors = v->living };

	for (size_t i = 0; i < v->count; i++) {
		const struct vec_slice *slice = &v->slice[i];
		const struct vec_segment *seg = slice->part->seg;

		s.memory_bytes += vec_part_memory(slice->part, slice->rows);
		if (!seg) {
			s.head_vectors += slice->rows;
			continue;
		}
		s.segments++;
		s.lists += seg->lists;
		s.listed += seg->lists ? slice->rows - slice->dead : 0;
		s.file_bytes += seg->size;
	}
	*ret = s;
}
