/*
 * view.c: views: made of the blocks as they are, after those with many gaps were
 * tidied up; and what can be asked of a view apart from filters.
 */
#include "engine/filter/private.h"
#include "engine/filter/types.h"
#include "util/mem.h"

/* So many blocks are rewritten in one publish, a few milliseconds' work. */
#define COMPACT_AT_ONCE 2U

static uint32_t gone(const struct flt_block *b)
{
	return atomic_load_explicit(&b->gone, memory_order_relaxed);
}

/* Full blocks of which nothing is left go; of those with more gaps than keys some are
 * rewritten. Memory that is short costs nothing but the chance. */
static void tidy(struct filter *f)
{
	unsigned left = COMPACT_AT_ONCE;
	size_t kept = 0;

	for (size_t i = 0; i < f->block_count; i++) {
		struct flt_block *b = f->blocks[i], *small;

		if (!b->lists && gone(b) == b->n) {
			flt_block_unref(b);
			continue;
		}
		if (!b->lists && left > 0 && gone(b) > b->n / 2) {
			left--;
			small = flt_block_compact(b);
			if (small)
				flt_block_unref(b);
			b = small ? small : b;
		}
		f->blocks[kept++] = b;
	}
	f->block_count = kept;
}

struct filter_view *filter_publish(struct filter *f)
{
	struct filter_view *v;

	tidy(f);
	v = mem_zero(sizeof(*v) + f->block_count * sizeof(v->slices[0]));
	if (!v)
		return NULL;
	atomic_init(&v->refs, 1);
	v->filter = f;
	v->field_count = f->field_count;
	for (size_t i = 0; i < f->block_count; i++) {
		struct flt_block *b = f->blocks[i];

		flt_block_ref(b);
		v->slices[v->slice_count++] = (struct flt_slice){ b, b->offsets, b->n };
	}
	return v;
}

struct filter_view *filter_view_ref(struct filter_view *v)
{
	atomic_fetch_add_explicit(&v->refs, 1, memory_order_relaxed);
	return v;
}

void filter_view_unref(struct filter_view *v)
{
	if (!v || atomic_fetch_sub_explicit(&v->refs, 1, memory_order_acq_rel) > 1)
		return;
	for (size_t i = 0; i < v->slice_count; i++)
		flt_block_unref(v->slices[i].block);
	mem_free(v);
}

size_t filter_view_fields(const struct filter_view *v)
{
	return v->field_count;
}

struct bytes filter_view_name(const struct filter_view *v, size_t field)
{
	return v->filter->fields[field]->name;
}

enum engine_type filter_view_type(const struct filter_view *v, size_t field)
{
	return v->filter->fields[field]->type;
}

const struct flt_slice *flt_view_slice(const struct filter_view *v, int64_t no)
{
	size_t low = 0, high = v->slice_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (v->slices[middle].block->no < no)
			low = middle + 1;
		else
			high = middle;
	}
	return low < v->slice_count && v->slices[low].block->no == no ? &v->slices[low] : NULL;
}

static bool latest_of_list(const struct flt_list *l, uint32_t entry, uint64_t *ret)
{
	uint32_t count = flt_list_count(l), from = flt_list_seek(l, count, entry), i = from;

	for (; i < count && flt_list_entry(l, i) == entry; i++) {
		uint64_t v = flt_list_value(l, i);

		*ret = i == from || v > *ret ? v : *ret;
	}
	return i > from;
}

bool filter_instant(const struct filter_view *v, size_t field, int64_t key, int64_t *ret_ms)
{
	const struct flt_slice *s = flt_view_slice(v, flt_block_no(key));
	const struct flt_column *c;
	const struct flt_list *l;
	enum engine_type type;
	uint64_t order = 0;
	uint32_t entry;
	bool found;

	if (field >= v->field_count || !s || !flt_slice_find(s, key, &entry))
		return false;
	type = v->filter->fields[field]->type;
	if (type != ENGINE_DATE && type != ENGINE_INT)
		return false;
	if (s->block->lists) {
		l = flt_block_find_list(s->block, field);
		found = l && latest_of_list(l, entry, &order);
	} else {
		c = flt_block_column(s->block, field);
		found = c && flt_column_latest(c, entry, &order);
	}
	if (found)
		*ret_ms = flt_to_int(order);
	return found;
}

void filter_view_stats(const struct filter_view *v, struct filter_stats *ret)
{
	struct flt_cache *c = &v->filter->cache;

	*ret = (struct filter_stats){ .blocks = v->slice_count };
	for (size_t i = 0; i < v->slice_count; i++) {
		/* Of an open block keys may be gone that the view never had. */
		uint32_t n = v->slices[i].n, dead = gone(v->slices[i].block);

		ret->keys += dead < n ? n - dead : 0;
	}
	ret->bytes = atomic_load_explicit(&v->filter->bytes, memory_order_relaxed);
	(void)pthread_mutex_lock(&c->mutex);
	ret->cache_bytes = c->bytes;
	ret->cache_hits = c->hits;
	ret->cache_misses = c->misses;
	(void)pthread_mutex_unlock(&c->mutex);
}
