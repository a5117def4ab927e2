/*
 * replace.c: puts new parts in the place of old ones while writes go on.
 *
 *   1. the new segment is written from a view                        (no lock)
 *   2. deletes published since are carried over to the new part      (no lock)
 *   3. the list on disk is replaced                                  (no lock)
 *   4. the last deletes are carried over and the parts swapped       (lock, short)
 *
 * Whenever it ends early, memory goes on with the old parts. If that is after 3, the
 * list names the new segment, which holds the same; the next list puts that right,
 * and so would opening: commits after the list's are replayed.
 *
 * On the way parts with many deletes get them as a base (step 1 is then free): what
 * the deletes themselves cost in memory is bounded by that.
 */
#include "engine/lexical/private.h"

#include "util/mem.h"

#define REBASE_DELETES 512   /* deletes that a part keeps without a base, */
#define REBASE_TERMS 200000U /* or fewer, if they have so many terms */
#define SMALL_REST 32        /* deletes that may be carried over under the lock */
#define MAX_ROUNDS 50

struct swap {
	struct lex_part *old, *new; /* new is NULL if nothing lives; shared by neighbours */
	const uint32_t *map;        /* NULL: ordinals stay */
	uint32_t done;              /* deletes of old that are carried over */
	uint32_t published;         /* deletes of new that the view of the swap sees */
};

struct replace {
	struct lexical *lx;
	struct swap *swap;
	size_t count;
	struct lex_part *merged;    /* own reference; NULL if nothing lives */
	struct lexical_term *terms; /* scratch */
	size_t terms_cap;
};

static enum status no_memory(struct error *e)
{
	return error_set(e, ST_NOMEM, "out of memory");
}

/* ---- carrying deletes over ---- */

static bool carry_one(struct replace *r, struct swap *s, const struct lex_tomb *tomb)
{
	uint32_t ord = s->map ? s->map[tomb->ord] : tomb->ord;

	if (!s->new || ord == UINT32_MAX)
		return true;
	if (tomb->term_count > r->terms_cap) {
		struct lexical_term *t = mem_resize(r->terms, tomb->term_count * sizeof(*r->terms));

		if (!t)
			return false;
		r->terms = t;
		r->terms_cap = tomb->term_count;
	}
	for (size_t i = 0; i < tomb->term_count; i++)
		r->terms[i] = (struct lexical_term){ tomb->lists[i]->term, 1 };
	return lex_tombs_add(&s->new->tombs, ord, s->new->seg->chunks, tomb->length, r->terms,
		tomb->term_count);
}

static bool carry(struct replace *r, struct swap *s, uint32_t upto)
{
	while (s->done < upto) {
		if (!carry_one(r, s, lex_tombs_get(&s->old->tombs, s->done + 1)))
			return false;
		s->done++;
	}
	return true;
}

static const struct lex_slice *find_slice(const struct lexical_view *v, const struct lex_part *p)
{
	for (size_t i = 0; i < v->count; i++)
		if (v->slice[i].part == p)
			return &v->slice[i];
	return NULL;
}

/* What v sees; *ret_n counts what was carried over. */
static bool carry_view(struct replace *r, const struct lexical_view *v, size_t *ret_n)
{
	size_t n = 0;

	for (size_t i = 0; i < r->count; i++) {
		const struct lex_slice *s = find_slice(v, r->swap[i].old);
		uint32_t before = r->swap[i].done;

		if (s && !carry(r, &r->swap[i], s->seen))
			return false;
		n += r->swap[i].done - before;
	}
	*ret_n = n;
	return true;
}

/* Catches up with the writer until little is left for the lock. */
static enum status catch_up(struct replace *r, struct error *e)
{
	size_t n = SIZE_MAX;

	for (int round = 0; n > SMALL_REST && round < MAX_ROUNDS; round++) {
		struct lexical_view *v = lexical_view_get(r->lx);
		bool ok = carry_view(r, v, &n);

		lexical_view_unref(v);
		if (!ok)
			return no_memory(e);
	}
	return ST_OK;
}

/* ---- the list ---- */

static struct swap *find_swap(const struct replace *r, const struct lex_part *old)
{
	for (size_t i = 0; i < r->count; i++)
		if (r->swap[i].old == old)
			return &r->swap[i];
	return NULL;
}

/* A segment that stays: its entry; and if it has many deletes, a part that has them
 * as its base, to be swapped in too. */
static enum status keep_segment(struct replace *r, const struct lex_slice *s, struct lex_entry *ret,
	struct error *e)
{
	struct lex_part *p;
	enum status st = lex_base_make(s, &ret->base, e);

	if (st)
		return st;
	ret->seg = s->part->seg;
	ret->commit = s->part->commit;
	if (s->part->busy || s->seen == 0)
		return ST_OK;
	if (s->seen <= REBASE_DELETES && ret->base->terms <= REBASE_TERMS)
		return ST_OK;
	p = lex_part_new_segment(s->part->seg, ret->base, s->part->commit);
	if (!p)
		return ST_OK; /* another time */
	lex_segment_ref(p->seg);
	r->swap[r->count++] = (struct swap){ .old = s->part, .new = p, .done = s->seen };
	return ST_OK;
}

/* The entry of the merged part, with the deletes carried over so far. */
static enum status merged_entry(const struct replace *r, struct lex_entry *ret, struct error *e)
{
	struct lex_slice s = lex_part_now(r->merged);

	ret->seg = r->merged->seg;
	ret->commit = r->merged->commit;
	return lex_base_make(&s, &ret->base, e);
}

/* A base that went to a new part is the part's. */
static void free_entries(const struct replace *r, struct lex_entry *entries, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		bool taken = false;

		for (size_t j = 0; j < r->count; j++)
			taken |= r->swap[j].new && r->swap[j].new->base == entries[i].base;
		if (!taken)
			lex_base_free(entries[i].base);
	}
	mem_free(entries);
}

static bool grow_swaps(struct replace *r, size_t more)
{
	struct swap *s = mem_resize(r->swap, (r->count + more) * sizeof(*s));

	if (s)
		r->swap = s;
	return s != NULL;
}

static enum status write_list(struct replace *r, const struct lexical_view *v, uint64_t commit,
	struct error *e)
{
	struct lex_entry *entries = mem_array(v->count, sizeof(*entries));
	size_t n = 0, olds = r->count;
	bool merged = false;
	enum status st = entries && grow_swaps(r, v->count) ? ST_OK : no_memory(e);

	for (size_t i = 0; !st && i < v->count; i++) {
		const struct lex_slice *s = &v->slice[i];
		bool old = false;

		for (size_t j = 0; j < olds; j++)
			old |= r->swap[j].old == s->part;
		if (old && r->merged && !merged) {
			merged = true;
			st = merged_entry(r, &entries[n++], e);
		} else if (!old && s->part->seg) {
			st = keep_segment(r, s, &entries[n++], e);
		}
	}
	if (!st)
		st = lex_list_write(r->lx, entries, n, commit, e);
	if (entries)
		free_entries(r, entries, n);
	return st;
}

/* ---- the swap ---- */

/* Replaces the old parts by the new ones in lx->parts; the old ones wait. */
static void swap_parts(struct replace *r)
{
	struct lexical *lx = r->lx;
	struct lex_part *before = NULL;
	size_t n = 0;

	for (size_t i = 0; i < lx->count; i++) {
		struct swap *s = find_swap(r, lx->parts[i]);

		if (!s) {
			lx->parts[n++] = before = lx->parts[i];
			continue;
		}
		if (s->new && s->new != before)
			lx->parts[n++] = before = lex_part_ref(s->new);
		if (s->old->seg && (!s->new || s->new->seg != s->old->seg))
			atomic_store(&s->old->seg->doomed, true);
		s->old->next_replaced = lx->replaced;
		lx->replaced = s->old;
	}
	lx->count = n;
}

/* The current view with the new parts, which show in it the deletes it sees. */
static void swap_view(struct replace *r, const struct lexical_view *current)
{
	struct lexical *lx = r->lx;
	struct lexical_view *v = lx->spare;
	struct lex_part *before = NULL;

	lx->spare = NULL;
	lex_view_fill(v, lx, current->commit);
	for (size_t i = 0; i < current->count; i++) {
		struct swap *s = find_swap(r, current->slice[i].part);

		if (!s)
			lex_view_add(v, current->slice[i]);
		else if (s->new && s->new != before)
			lex_view_add(v,
				lex_part_slice(s->new, s->new->seg->chunks,
					s->new->seg->total_length, s->published));
		if (s)
			before = s->new;
	}
	lex_view_publish(lx, v);
}

/*
 * Under the lock. The published deletes first, so that the view can be told where
 * they end; then those of a commit that is open. All that can fail comes before the
 * first change that anybody sees.
 */
static bool swap_locked(struct replace *r)
{
	struct lexical *lx = r->lx;
	struct lexical_view *current = atomic_load(&lx->current);
	size_t n;

	if (!lex_make_room(lx) || !carry_view(r, current, &n))
		return false;
	for (size_t i = 0; i < r->count; i++)
		if (r->swap[i].new)
			r->swap[i].published = r->swap[i].new->tombs.count;
	for (size_t i = 0; i < r->count; i++)
		if (!carry(r, &r->swap[i], r->swap[i].old->tombs.count))
			return false;
	swap_view(r, current);
	swap_parts(r);
	return true;
}

static enum status swap_all(struct replace *r, struct error *e)
{
	bool done;

	pthread_mutex_lock(&r->lx->lock);
	done = swap_locked(r);
	pthread_mutex_unlock(&r->lx->lock);
	return done ? ST_OK : no_memory(e);
}

/* ---- all of it ---- */

static enum status replace_init(struct replace *r, struct lexical *lx, struct lexical_view *v,
	size_t first, size_t n)
{
	memset(r, 0, sizeof(*r));
	r->lx = lx;
	r->swap = mem_array(n, sizeof(*r->swap));
	if (!r->swap)
		return ST_NOMEM;
	for (; r->count < n; r->count++) {
		const struct lex_slice *s = &v->slice[first + r->count];

		r->swap[r->count] = (struct swap){ .old = s->part, .done = s->seen };
		s->part->busy = true;
	}
	return ST_OK;
}

/* The first n swaps are the parts that were to be merged, the others brought a new
 * part of their own. */
static void replace_release(struct replace *r, size_t n)
{
	for (size_t i = 0; i < r->count; i++) {
		if (i < n)
			r->swap[i].old->busy = false;
		else
			lex_part_unref(r->swap[i].new);
	}
	lex_part_unref(r->merged);
	mem_free(r->swap);
	mem_free(r->terms);
}

/* Takes seg (may be NULL). */
static enum status set_merged(struct replace *r, struct lex_segment *seg, uint32_t **maps,
	struct error *e)
{
	if (!seg)
		return ST_OK;
	r->merged = lex_part_new_segment(seg, NULL, r->swap[r->count - 1].old->commit);
	if (!r->merged) {
		atomic_store(&seg->doomed, true);
		lex_segment_unref(seg);
		return no_memory(e);
	}
	for (size_t i = 0; i < r->count; i++) {
		r->swap[i].new = r->merged;
		r->swap[i].map = maps[i];
	}
	return ST_OK;
}

static enum status install(struct replace *r, uint64_t commit, struct error *e)
{
	struct lexical *lx = r->lx;
	struct lexical_view *v;
	enum status st = catch_up(r, e);

	if (!st) {
		v = lexical_view_get(lx);
		st = write_list(r, v, commit > lx->list_commit ? commit : lx->list_commit, e);
		lexical_view_unref(v);
	}
	if (st && r->merged)
		atomic_store(&r->merged->seg->doomed, true); /* no list names it */
	if (!st)
		st = catch_up(r, e);
	return st ? st : swap_all(r, e);
}

enum status lex_replace(struct lexical *lx, struct lexical_view *v, size_t first, size_t n,
	uint64_t commit, const bool *stop, void (*between)(struct lexical *lx), struct error *e)
{
	uint32_t **maps = mem_array(n, sizeof(uint32_t *));
	struct lex_segment *seg = NULL;
	struct replace r;
	enum status st = ST_NOMEM;

	if (!maps || replace_init(&r, lx, v, first, n)) {
		mem_free(maps);
		return no_memory(e);
	}
	st = lex_merge(lx, v->slice + first, n, maps, stop, between, &seg, e);
	if (!st)
		st = set_merged(&r, seg, maps, e);
	if (!st)
		st = install(&r, commit, e);
	replace_release(&r, n);
	for (size_t i = 0; i < n; i++)
		mem_free(maps[i]);
	mem_free(maps);
	return st;
}
