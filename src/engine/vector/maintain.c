/*
 * maintain.c: what is to be done next: write the oldest frozen head to a file; else make
 * lists; else merge flat files of like size; else rewrite a flat file that is a fifth
 * dead.
 *
 * Sizes fall into levels, each four times the one below. Four flat files of a level, with
 * only smaller ones between, become one. Only neighbours are merged: so the parts stay in
 * the order of their keys. What lists are made of stands first, and what they wait for is
 * left alone.
 */
#include "engine/vector/private.h"

#include "util/mem.h"

#define FACTOR 4     /* between levels */
#define DEAD_SHARE 5 /* rewritten when more than one row in so many is dead */
#define TAIL_SHARE 8 /* new lists when the flat files have more than this share of them, */
#define LOSS_SHARE 4 /* or when so many of the listed are dead */

static uint64_t living(const struct vec_slice *s)
{
	return s->rows - s->dead;
}

static bool is_flat(const struct vec_slice *s)
{
	return s->part->seg && s->part->seg->lists == 0 && !s->part->busy;
}

static unsigned level_of(const struct vectors *vs, const struct vec_slice *s)
{
	uint64_t size = living(s) / vs->head_vectors;
	unsigned level = 0;

	for (; size >= FACTOR; size /= FACTOR)
		level++;
	return level;
}

/* The run of flat files from i on that are at `level` or below, ending with one that is at
 * it. Returns its length, *ret_count how many of it are at the level. */
static size_t run_from(const struct vectors *vs, const struct vectors_view *v, size_t i,
	unsigned level, unsigned *ret_count)
{
	size_t best = i;

	*ret_count = 0;
	for (size_t end = i; end < v->count && is_flat(&v->slice[end]); end++) {
		unsigned l = level_of(vs, &v->slice[end]);

		if (l > level || *ret_count == 2 * FACTOR)
			break;
		if (l == level) {
			++*ret_count;
			best = end + 1;
		}
	}
	return best - i;
}

static bool pick_merge(const struct vectors *vs, const struct vectors_view *v, size_t *ret_first,
	size_t *ret_n)
{
	for (size_t i = 0; i < v->count; i++) {
		unsigned at_level;
		size_t n;

		if (!is_flat(&v->slice[i]))
			continue;
		n = run_from(vs, v, i, level_of(vs, &v->slice[i]), &at_level);
		if (at_level < FACTOR && v->slice[i].dead > v->slice[i].rows / DEAD_SHARE)
			n = 1;
		else if (at_level < FACTOR)
			continue;
		*ret_first = i;
		*ret_n = n;
		return true;
	}
	return false;
}

/* All heads but the last are frozen. */
static bool pick_head(const struct vectors_view *v, size_t *ret_first)
{
	for (size_t i = 0; i + 1 < v->count; i++) {
		if (!v->slice[i].part->seg) {
			*ret_first = i;
			return true;
		}
	}
	return false;
}

/* The first n slices are files: are new lists of them due? */
static bool pick_lists(const struct vectors *vs, const struct vectors_view *v, size_t *ret_n)
{
	uint64_t listed = 0, lost = 0, flat = 0, least = vs->exact_most / 2;
	size_t n = 0;

	if (atomic_load(&vs->is_pending))
		return false;
	for (; n < v->count && v->slice[n].part->seg; n++) {
		const struct vec_slice *s = &v->slice[n];

		if (s->part->seg->lists > 0) {
			listed += living(s);
			lost += s->dead;
		} else {
			flat += living(s);
		}
	}
	*ret_n = n;
	if (listed + lost == 0)
		return flat > vs->exact_most;
	return flat > (listed / TAIL_SHARE > least ? listed / TAIL_SHARE : least) ||
		lost > (listed + lost) / LOSS_SHARE;
}

/* Writes these slices into one flat file. */
static enum status replace(struct vectors *vs, const struct vectors_view *v, size_t first, size_t n,
	uint64_t commit, const bool *stop, struct error *e)
{
	struct vec_change *c = NULL;
	struct vec_ref *refs = NULL;
	size_t count = 0;
	enum status st = vec_collect(v, first, n, &refs, &count, e);

	if (!st)
		st = vec_change_new(vs, v, first, n, refs, count, NULL, stop, &c, e);
	mem_free(refs);
	if (!st)
		st = vec_change_install(vs, c, commit, e);
	vec_change_free(c, false);
	return st;
}

void vec_seal_heads(struct vectors *vs)
{
	struct vectors_view *v = vectors_view_get(vs);
	size_t first;

	if (pick_head(v, &first))
		replace(vs, v, first, 1, v->slice[first].part->commit, NULL, NULL);
	vectors_view_unref(v);
}

/* Frees what was replaced and is in no view any more. Unmapping and unlinking may take a
 * while: not under the lock. */
static void free_replaced(struct vectors *vs)
{
	struct vec_part *free = NULL, **p = &vs->replaced;

	pthread_mutex_lock(&vs->lock);
	vec_view_trim(vs);
	while (*p) {
		struct vec_part *part = *p;

		if (!vec_part_alone(part)) {
			p = &part->next_replaced;
			continue;
		}
		*p = part->next_replaced;
		part->next_replaced = free;
		free = part;
	}
	pthread_mutex_unlock(&vs->lock);
	while (free) {
		struct vec_part *next = free->next_replaced;

		vec_part_unref(free);
		free = next;
	}
}

bool vectors_maintain(struct vectors *vs, const bool *stop, struct error *e)
{
	struct vectors_view *v = vectors_view_get(vs);
	enum status st = ST_OK;
	size_t first, n;
	bool more;

	if (pick_head(v, &first))
		st = replace(vs, v, first, 1, v->slice[first].part->commit, stop, e);
	else if (pick_lists(vs, v, &n))
		st = vec_lists_make(vs, v, n, stop, e);
	else if (pick_merge(vs, v, &first, &n))
		st = replace(vs, v, first, n, 0, stop, e);
	vectors_view_unref(v);
	v = vectors_view_get(vs);
	more = st == ST_OK &&
		(pick_head(v, &first) || pick_lists(vs, v, &n) || pick_merge(vs, v, &first, &n));
	vectors_view_unref(v);
	free_replaced(vs);
	return more;
}

bool vectors_seal(struct vectors *vs, struct error *e)
{
	struct vectors_view *v = vectors_view_get(vs);
	enum status st = ST_OK;
	size_t first;

	if (pick_head(v, &first))
		st = replace(vs, v, first, 1, v->slice[first].part->commit, NULL, e);
	vectors_view_unref(v);
	free_replaced(vs);
	return st == ST_OK;
}

size_t vectors_held_bytes(struct vectors *vs)
{
	size_t bytes = 0;

	pthread_mutex_lock(&vs->lock);
	vec_view_trim(vs);
	for (const struct vec_part *p = vs->replaced; p; p = p->next_replaced)
		if (!p->seg && !vec_part_alone(p))
			bytes += vec_part_memory(p, p->count);
	pthread_mutex_unlock(&vs->lock);
	return bytes;
}
