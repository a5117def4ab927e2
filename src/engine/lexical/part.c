/* part.c: one interface to segments and heads, with their deletes; see part.h. */
#include "engine/lexical/part.h"

#include "util/hash.h"
#include "util/mem.h"

#define FIRST_ROWS 64

struct lex_part *lex_part_new_head(void)
{
	struct lex_part *p = mem_zero(sizeof(*p));

	if (!p || !lex_live_init(&p->head.live, false)) {
		mem_free(p);
		return NULL;
	}
	atomic_init(&p->refs, 1);
	atomic_init(&p->head.rows, NULL);
	lex_tombs_init(&p->tombs);
	return p;
}

struct lex_part *lex_part_new_segment(struct lex_segment *seg, struct lex_base *base,
	uint64_t commit)
{
	struct lex_part *p = mem_zero(sizeof(*p));

	if (!p)
		return NULL;
	atomic_init(&p->refs, 1);
	lex_tombs_init(&p->tombs);
	p->seg = seg;
	p->base = base;
	p->commit = commit;
	return p;
}

struct lex_part *lex_part_ref(struct lex_part *p)
{
	atomic_fetch_add_explicit(&p->refs, 1, memory_order_relaxed);
	return p;
}

bool lex_part_alone(const struct lex_part *p)
{
	return atomic_load_explicit(&p->refs, memory_order_acquire) == 1;
}

static void head_release(struct lex_head *h)
{
	struct lex_head_rows *r = atomic_load_explicit(&h->rows, memory_order_relaxed);

	while (r) {
		struct lex_head_rows *older = r->older;

		mem_free(r->lengths);
		mem_free(r);
		r = older;
	}
	lex_live_release(&h->live);
}

void lex_part_unref(struct lex_part *p)
{
	if (!p || atomic_fetch_sub_explicit(&p->refs, 1, memory_order_acq_rel) > 1)
		return;
	if (p->seg)
		lex_segment_unref(p->seg);
	else
		head_release(&p->head);
	lex_base_free(p->base);
	lex_tombs_release(&p->tombs);
	mem_free(p);
}

struct lex_slice lex_part_slice(struct lex_part *p, uint32_t chunks, uint64_t length, uint32_t seen)
{
	struct lex_slice s = { .part = p, .chunks = chunks, .seen = seen };

	s.deleted = seen + (p->base ? p->base->deleted : 0);
	s.live_length = length - (p->base ? p->base->deleted_length : 0) -
		(seen ? lex_tombs_get(&p->tombs, seen)->length_sum : 0);
	return s;
}

struct lex_slice lex_part_now(struct lex_part *p)
{
	return lex_part_slice(p, p->seg ? p->seg->chunks : p->head.count,
		p->seg ? p->seg->total_length : p->head.total_length, p->tombs.count);
}

/* Room for one more chunk. */
static struct lex_head_rows *grow_rows(struct lex_head *h)
{
	struct lex_head_rows *old = atomic_load_explicit(&h->rows, memory_order_relaxed), *r;
	size_t cap = old ? 2 * (size_t)old->cap : FIRST_ROWS;

	if (old && h->count < old->cap)
		return old;
	r = mem_zero(sizeof(*r) + cap * sizeof(r->row[0]));
	if (!r)
		return NULL;
	r->lengths = mem_array(cap, sizeof(*r->lengths));
	if (!r->lengths) {
		mem_free(r);
		return NULL;
	}
	r->cap = (uint32_t)cap;
	r->older = old;
	if (old) {
		memcpy(r->row, old->row, old->cap * sizeof(r->row[0]));
		memcpy(r->lengths, old->lengths, old->cap * sizeof(*r->lengths));
	}
	atomic_store_explicit(&h->rows, r, memory_order_release);
	return r;
}

/*
 * First everything that can fail, then everything that cannot: a failed add leaves
 * at most empty lists behind.
 */
bool lex_part_add(struct lex_part *p, const struct lexical_chunk *c)
{
	struct lex_head *h = &p->head;
	struct lex_head_rows *rows = grow_rows(h);
	struct lex_live_list **lists = mem_array(c->term_count, sizeof(struct lex_live_list *));
	struct bytes id = BYTES_NONE;
	bool ok = rows && lists && !arena_dup_bytes(&h->live.arena, c->doc_id, &id);

	for (size_t i = 0; ok && i < c->term_count; i++) {
		struct bytes term = c->terms[i].term;

		lists[i] = lex_live_reserve(&h->live, term, hash_bytes(term.data, term.len));
		ok = lists[i] != NULL;
	}
	if (ok) {
		for (size_t i = 0; i < c->term_count; i++)
			lex_live_push(lists[i], h->count, c->terms[i].tf, c->length);
		rows->row[h->count] = (struct lex_row){ c->key, id, c->no };
		rows->lengths[h->count] = c->length;
		h->total_length += c->length;
		h->count++;
	}
	mem_free(lists);
	return ok;
}

uint32_t lex_part_find(const struct lex_part *p, int64_t key)
{
	struct lex_slice s = { .part = (struct lex_part *)(uintptr_t)p };
	uint32_t ord;

	s.chunks = p->seg ? p->seg->chunks : p->head.count;
	ord = lex_slice_seek(&s, key);
	if (ord == s.chunks || lex_slice_key(&s, ord) != key || lex_base_dead(p->base, ord) ||
		lex_tombs_has(&p->tombs, ord))
		return UINT32_MAX;
	return ord;
}

bool lex_part_remove(struct lex_part *p, uint32_t ord, const struct lexical_term *terms, size_t n)
{
	struct lex_slice s = { .part = p };

	s.chunks = p->seg ? p->seg->chunks : p->head.count;
	return lex_tombs_add(&p->tombs, ord, s.chunks, lex_slice_length(&s, ord), terms, n);
}

static const struct lex_head_rows *rows_of(const struct lex_slice *s)
{
	return atomic_load_explicit(&s->part->head.rows, memory_order_acquire);
}

bool lex_slice_dead(const struct lex_slice *s, uint32_t ord)
{
	const struct lex_part *p = s->part;

	if (lex_base_dead(p->base, ord))
		return true;
	return s->seen > 0 &&
		lex_marks_dead(atomic_load_explicit(&p->tombs.marks, memory_order_acquire), ord,
			s->seen);
}

int64_t lex_slice_key(const struct lex_slice *s, uint32_t ord)
{
	return s->part->seg ? lex_segment_key(s->part->seg, ord) : rows_of(s)->row[ord].key;
}

uint32_t lex_slice_length(const struct lex_slice *s, uint32_t ord)
{
	return s->part->seg ? lex_segment_length(s->part->seg, ord) : rows_of(s)->lengths[ord];
}

void lex_slice_row(const struct lex_slice *s, uint32_t ord, struct lex_row *ret)
{
	if (s->part->seg)
		lex_segment_row(s->part->seg, ord, ret);
	else
		*ret = rows_of(s)->row[ord];
}

uint32_t lex_slice_seek(const struct lex_slice *s, int64_t key)
{
	uint32_t low = 0, high = s->chunks;
	const struct lex_head_rows *rows;

	if (s->part->seg)
		return lex_segment_seek(s->part->seg, key);
	rows = rows_of(s);
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (rows->row[middle].key < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

bool lex_slice_find(const struct lex_slice *s, struct bytes term, uint64_t hash,
	struct lex_term_in *ret)
{
	const struct lex_part *p = s->part;
	uint32_t df, dead = lex_tombs_count(&p->tombs, term, hash, s->seen);

	ret->list = NULL;
	ret->postings.df = 0;
	if (p->seg) {
		if (!lex_segment_find(p->seg, term, &ret->postings))
			return false;
		df = ret->postings.df;
		dead += lex_base_count(p->base, ret->postings.term);
	} else {
		ret->list = lex_live_find(&p->head.live, term, hash);
		df = ret->list ? lex_live_count(ret->list, s->chunks) : 0;
	}
	/* Below 0 only if a delete named terms that the chunk did not have. */
	ret->live = df > dead ? df - dead : 0;
	return df > 0;
}
