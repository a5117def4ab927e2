/*
 * maintain.c: what is to be done next: seal the oldest frozen head; else merge
 * neighbours of like size; else rewrite a segment that is a fifth dead.
 *
 * Sizes fall into levels, each merge_factor times the one below, the lowest reaching
 * to merge_factor heads. merge_factor segments of a level, with only smaller ones
 * between, become one. Only neighbours are merged: so the parts stay in the order of
 * their keys, which finds a key's part and says up to which commit files are whole.
 * Each chunk is rewritten once a level.
 */
#include "engine/lexical/private.h"

#define DEAD_SHARE 5 /* rewritten when more than one chunk in so many is dead */

static unsigned level_of(const struct lexical *lx, const struct lex_slice *s)
{
	uint64_t size = (s->chunks - s->deleted) / lx->head_chunks;
	unsigned level = 0;

	for (; size >= lx->merge_factor; size /= lx->merge_factor)
		level++;
	return level;
}

/* The run of segments from i on that are at `level` or below, ending with one that is
 * at it. Returns its length, *ret_count how many of it are at the level. */
static size_t run_from(const struct lexical *lx, const struct lexical_view *v, size_t i,
	unsigned level, unsigned *ret_count)
{
	size_t end = i, best = i;
	uint64_t total = 0;

	*ret_count = 0;
	for (; end < v->count && v->slice[end].part->seg; end++) {
		unsigned l = level_of(lx, &v->slice[end]);

		total += v->slice[end].chunks - v->slice[end].deleted;
		if (l > level || total >= LEX_MAX_CHUNKS || *ret_count == 2 * lx->merge_factor)
			break;
		if (l == level) {
			++*ret_count;
			best = end + 1;
		}
	}
	return best - i;
}

static bool pick_run(const struct lexical *lx, const struct lexical_view *v, size_t *ret_first,
	size_t *ret_n)
{
	for (unsigned level = 0; level < 32; level++) {
		for (size_t i = 0; i < v->count && v->slice[i].part->seg; i++) {
			unsigned at_level;
			size_t n;

			if (level_of(lx, &v->slice[i]) != level)
				continue;
			n = run_from(lx, v, i, level, &at_level);
			if (at_level >= lx->merge_factor) {
				*ret_first = i;
				*ret_n = n;
				return true;
			}
		}
	}
	return false;
}

static bool pick_dead(const struct lexical_view *v, size_t *ret_first, size_t *ret_n)
{
	for (size_t i = 0; i < v->count && v->slice[i].part->seg; i++) {
		if ((uint64_t)v->slice[i].deleted * DEAD_SHARE > v->slice[i].chunks) {
			*ret_first = i;
			*ret_n = 1;
			return true;
		}
	}
	return false;
}

/* All heads but the last are frozen. */
static bool pick_head(const struct lexical_view *v, size_t *ret_first)
{
	for (size_t i = 0; i + 1 < v->count; i++) {
		if (!v->slice[i].part->seg) {
			*ret_first = i;
			return true;
		}
	}
	return false;
}

/* Between a long merge's steps: heads that have filled up meanwhile do not wait.
 * Failures are met again, and reported, when it is their turn. */
static void seal_on_the_way(struct lexical *lx)
{
	struct lexical_view *v = lexical_view_get(lx);
	size_t first;

	if (pick_head(v, &first))
		lex_replace(lx, v, first, 1, v->slice[first].part->commit, NULL, NULL, NULL);
	lexical_view_unref(v);
}

static bool pick_merge(const struct lexical *lx, const struct lexical_view *v, size_t *ret_first,
	size_t *ret_n)
{
	return pick_run(lx, v, ret_first, ret_n) || pick_dead(v, ret_first, ret_n);
}

/* Frees what was replaced and is in no view any more. */
static void free_replaced(struct lexical *lx)
{
	struct lex_part **p = &lx->replaced;

	pthread_mutex_lock(&lx->lock);
	lex_view_trim(lx);
	pthread_mutex_unlock(&lx->lock);
	while (*p) {
		struct lex_part *part = *p;

		if (!lex_part_alone(part)) {
			p = &part->next_replaced;
			continue;
		}
		*p = part->next_replaced;
		lex_part_unref(part);
	}
}

bool lexical_maintain(struct lexical *lx, const bool *stop, struct error *e)
{
	struct lexical_view *v = lexical_view_get(lx);
	enum status st = ST_OK;
	size_t first, n;
	bool more;

	if (pick_head(v, &first))
		st = lex_replace(lx, v, first, 1, v->slice[first].part->commit, stop, NULL, e);
	else if (pick_merge(lx, v, &first, &n))
		st = lex_replace(lx, v, first, n, 0, stop, seal_on_the_way, e);
	lexical_view_unref(v);
	v = lexical_view_get(lx);
	more = st == ST_OK && (pick_head(v, &first) || pick_merge(lx, v, &first, &n));
	lexical_view_unref(v);
	free_replaced(lx);
	return more;
}
