/*
 * base.c: turns the deletes that a view sees in a segment into a base: what the list
 * on disk records of them, and what a part starts with that takes the place of one
 * with many deletes. A base needs a bit a chunk and some bytes for each term of the
 * dead, where the deletes themselves cost several hundred bytes each.
 */
#include "engine/lexical/private.h"

#include "util/mem.h"

struct pair {
	uint32_t id, count;
};

static int compare_pairs(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	return (x->id > y->id) - (x->id < y->id);
}

/* Terms of the deletes up to `seen`, as numbers of the segment's dictionary. */
static enum status count_terms(const struct lex_slice *s, struct pair **ret, size_t *ret_n)
{
	const struct lex_live_table *t =
		atomic_load_explicit(&s->part->tombs.live.table, memory_order_acquire);
	struct pair *pairs = mem_array(t->mask + 1, sizeof(*pairs));
	size_t n = 0;

	if (!pairs)
		return ST_NOMEM;
	for (size_t i = 0; i <= t->mask; i++) {
		struct lex_live_list *l = atomic_load_explicit(&t->slot[i], memory_order_acquire);
		uint32_t count = l ? lex_live_count(l, s->seen + 1) : 0;
		struct lex_postings found;

		if (count > 0 && lex_segment_find(s->part->seg, l->term, &found))
			pairs[n++] = (struct pair){ found.term, count };
	}
	qsort(pairs, n, sizeof(*pairs), compare_pairs);
	*ret = pairs;
	*ret_n = n;
	return ST_OK;
}

static void put_pair(struct lex_base *b, uint32_t id, uint32_t count)
{
	b->ids[b->terms] = id;
	b->counts[b->terms++] = count;
}

/* The sum of the old base's terms and the pairs; both are in order. */
static enum status join_terms(struct lex_base *b, const struct lex_base *old,
	const struct pair *pairs, size_t n)
{
	size_t i = 0, j = 0, old_n = old ? old->terms : 0;

	b->ids = mem_array(old_n + n, sizeof(*b->ids));
	b->counts = mem_array(old_n + n, sizeof(*b->counts));
	if (!b->ids || !b->counts)
		return ST_NOMEM;
	while (i < old_n || j < n) {
		if (j == n || (i < old_n && old->ids[i] < pairs[j].id)) {
			put_pair(b, old->ids[i], old->counts[i]);
			i++;
		} else if (i == old_n || old->ids[i] > pairs[j].id) {
			put_pair(b, pairs[j].id, pairs[j].count);
			j++;
		} else {
			put_pair(b, old->ids[i], old->counts[i] + pairs[j].count);
			i++, j++;
		}
	}
	return ST_OK;
}

static enum status mark_dead(struct lex_base *b, const struct lex_slice *s)
{
	const struct lex_base *old = s->part->base;
	size_t words = ((size_t)s->chunks + 63) / 64;

	b->dead = mem_array(words, sizeof(*b->dead));
	if (!b->dead)
		return ST_NOMEM;
	if (old)
		memcpy(b->dead, old->dead, words * sizeof(*b->dead));
	for (uint32_t i = 1; i <= s->seen; i++) {
		uint32_t ord = lex_tombs_get(&s->part->tombs, i)->ord;

		b->dead[ord / 64] |= UINT64_C(1) << ord % 64;
	}
	return ST_OK;
}

enum status lex_base_make(const struct lex_slice *s, struct lex_base **ret, struct error *e)
{
	struct lex_base *b;
	struct pair *pairs = NULL;
	size_t n = 0;
	enum status st;

	if (s->deleted == 0) {
		*ret = NULL;
		return ST_OK;
	}
	b = mem_zero(sizeof(*b));
	st = b ? mark_dead(b, s) : ST_NOMEM;
	if (!st && s->seen > 0)
		st = count_terms(s, &pairs, &n);
	if (!st)
		st = join_terms(b, s->part->base, pairs, n);
	mem_free(pairs);
	if (st) {
		lex_base_free(b);
		return error_set(e, st, "out of memory");
	}
	b->chunks = s->chunks;
	b->deleted = s->deleted;
	b->deleted_length = s->part->seg->total_length - s->live_length;
	*ret = b;
	return ST_OK;
}
