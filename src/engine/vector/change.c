/*
 * change.c: puts a new part in the place of neighbouring old ones while writes go on.
 *
 *   1. the new segment is written from a view                              (no lock)
 *   2. the list on disk is replaced                                        (files)
 *   3. deletes made since are carried over and the parts swapped           (lock, short)
 *
 * Whenever it ends early, memory goes on with the old parts. If that is after 2, the list
 * names the new segment, which holds the same; the next list puts that right, and so
 * would opening: commits after the list's are replayed. Lists that wait for a commit go
 * through 2 and 3 in the writer's publishing.
 */
#include "engine/vector/private.h"

#include "util/fault.h"
#include "util/mem.h"

static enum status no_memory(struct error *e)
{
	return error_set(e, ST_NOMEM, "out of memory");
}

static uint32_t row_in_order(const struct vec_part *p, uint32_t i)
{
	return p->seg ? vec_segment_place(p->seg, i) : i;
}

enum status vec_collect(const struct vectors_view *v, size_t first, size_t n, struct vec_ref **ret,
	size_t *ret_n, struct error *e)
{
	size_t living = 0, count = 0;
	struct vec_ref *refs;

	for (size_t i = first; i < first + n; i++)
		living += v->slice[i].rows - v->slice[i].dead;
	refs = mem_array(living + 1, sizeof(*refs));
	if (!refs)
		return no_memory(e);
	for (size_t i = first; i < first + n; i++) {
		const struct vec_slice *s = &v->slice[i];

		for (uint32_t j = 0; j < s->rows && count < living; j++) {
			uint32_t row = row_in_order(s->part, j);

			if (!vec_row_is_dead(s->part, row, v->seen))
				refs[count++] = (struct vec_ref){ (uint32_t)(i - first), row };
		}
	}
	*ret = refs;
	*ret_n = count;
	return ST_OK;
}

void vec_change_free(struct vec_change *c, bool drop)
{
	if (!c)
		return;
	if (drop && c->new)
		atomic_store(&c->new->seg->doomed, true);
	vec_part_unref(c->new);
	for (size_t i = 0; i < c->n; i++) {
		if (c->old)
			vec_part_unref(c->old[i]);
		if (c->map)
			mem_free(c->map[i]);
	}
	mem_free(c->old);
	mem_free(c->map);
	mem_free(c);
}

/* Where the rows went. */
static bool make_maps(struct vec_change *c, const struct vec_ref *refs, size_t count)
{
	for (size_t i = 0; i < c->n; i++) {
		uint32_t rows = c->old[i]->count;

		c->map[i] = mem_array((size_t)rows + 1, sizeof(uint32_t));
		if (!c->map[i])
			return false;
		memset(c->map[i], 0xff, rows * sizeof(uint32_t));
	}
	for (size_t i = 0; i < count; i++)
		c->map[refs[i].part][refs[i].row] = (uint32_t)i;
	return true;
}

static struct vec_change *change_alloc(const struct vectors_view *v, size_t first, size_t n)
{
	struct vec_change *c = mem_zero(sizeof(*c));

	if (!c)
		return NULL;
	c->old = mem_array(n, sizeof(struct vec_part *));
	c->map = mem_array(n, sizeof(uint32_t *));
	if (!c->old || !c->map) {
		vec_change_free(c, false);
		return NULL;
	}
	for (; c->n < n; c->n++)
		c->old[c->n] = vec_part_ref(v->slice[first + c->n].part);
	return c;
}

enum status vec_change_new(struct vectors *vs, const struct vectors_view *v, size_t first, size_t n,
	const struct vec_ref *refs, size_t count, const struct vec_lists *lists, const bool *stop,
	struct vec_change **ret, struct error *e)
{
	struct vec_change *c = change_alloc(v, first, n);
	const struct vec_part *last = v->slice[first + n - 1].part;
	struct vec_segment *seg = NULL;
	enum status st = ST_OK;

	if (!c || !make_maps(c, refs, count)) {
		vec_change_free(c, false);
		return no_memory(e);
	}
	if (count > 0)
		st = vec_segment_write(vs, c->old, refs, count, lists, stop, &seg, e);
	if (seg)
		c->new = vec_part_new_segment(seg, last->commit, last->last_key);
	if (seg && !c->new) {
		atomic_store(&seg->doomed, true);
		vec_segment_unref(seg);
		st = no_memory(e);
	}
	if (st)
		vec_change_free(c, true);
	else
		*ret = c;
	return st;
}

/* ---- the swap ---- */

static size_t find_old(const struct vec_change *c, const struct vec_part *p)
{
	size_t i = 0;

	while (i < c->n && c->old[i] != p)
		i++;
	return i;
}

/* Deletes that the new part does not have yet, under their numbers. Can be repeated. */
static bool carry(struct vec_change *c)
{
	for (size_t i = 0; c->new &&i < c->n; i++) {
		const struct vec_part *old = c->old[i];

		for (uint32_t j = 0; j < old->log_count; j++) {
			uint32_t row = old->log[j], to = c->map[i][row];

			if (to != UINT32_MAX && vec_part_mark(c->new, to) == 0 &&
				!vec_part_remove(c->new, to, vec_part_mark(old, row)))
				return false;
		}
	}
	return true;
}

/* Replaces the old parts by the new one in vs->parts; the old ones wait. */
static void swap_parts(struct vectors *vs, struct vec_change *c)
{
	size_t n = 0;

	for (size_t i = 0; i < vs->count; i++) {
		struct vec_part *p = vs->parts[i];

		if (find_old(c, p) == c->n) {
			vs->parts[n++] = p;
			continue;
		}
		if (c->new &&p == c->old[0])
			vs->parts[n++] = vec_part_ref(c->new);
		if (p->seg)
			atomic_store(&p->seg->doomed, true);
		p->next_replaced = vs->replaced;
		vs->replaced = p;
	}
	vs->count = n;
}

/* The current view with the new part, which shows in it the deletes it sees. */
static void swap_view(struct vectors *vs, const struct vec_change *c)
{
	const struct vectors_view *current = atomic_load(&vs->current);
	struct vectors_view *v = vs->spare;

	vs->spare = NULL;
	v->commit = current->commit;
	v->seen = current->seen;
	v->dimension = current->dimension;
	for (size_t i = 0; i < current->count; i++) {
		const struct vec_slice *s = &current->slice[i];

		if (find_old(c, s->part) == c->n)
			vec_view_add(v, *s);
		else if (c->new && s->part == c->old[0])
			vec_view_add(v,
				(struct vec_slice){ c->new, c->new->count,
					vec_part_dead(c->new, current->seen) });
	}
	vec_view_publish(vs, v);
}

/* All that can fail comes before the first change that anybody sees. */
static enum status swap_all(struct vectors *vs, struct vec_change *c, struct error *e)
{
	bool done;

	pthread_mutex_lock(&vs->lock);
	done = vec_make_room(vs) && carry(c);
	if (done) {
		swap_view(vs, c);
		swap_parts(vs, c);
	}
	pthread_mutex_unlock(&vs->lock);
	return done ? ST_OK : no_memory(e);
}

/* Parts with the change made, for a list; mem_free. The parts are not referenced. */
static struct vec_part **changed_parts(struct vec_part *const *parts, size_t n,
	const struct vec_change *c, size_t *ret_n)
{
	struct vec_part **after = mem_array(n + 1, sizeof(struct vec_part *));

	*ret_n = 0;
	for (size_t i = 0; after && i < n; i++) {
		if (find_old(c, parts[i]) == c->n)
			after[(*ret_n)++] = parts[i];
		else if (c->new &&parts[i] == c->old[0])
			after[(*ret_n)++] = c->new;
	}
	return after;
}

static enum status write_list(struct vectors *vs, struct vec_part *const *parts, size_t n,
	const struct vec_change *c, const struct vec_list *list, struct error *e)
{
	size_t count;
	struct vec_part **after = changed_parts(parts, n, c, &count);
	enum status st;

	if (!after)
		return no_memory(e);
	st = vec_list_write(vs, after, count, list, e);
	mem_free(after);
	return st;
}

/* Deletes since the new segment was written may be missing in the list: they are of
 * commits after the one that it says. */
static enum status write_list_of_view(struct vectors *vs, const struct vectors_view *v,
	const struct vec_change *c, uint64_t commit, struct error *e)
{
	const struct vec_part *last = c->old[c->n - 1];
	struct vec_list list = { v->seen, vs->list_commit, vs->list_key };
	struct vec_part **parts = mem_array(v->count, sizeof(struct vec_part *));
	enum status st;

	if (!parts)
		return no_memory(e);
	for (size_t i = 0; i < v->count; i++)
		parts[i] = v->slice[i].part;
	if (commit > list.commit)
		list.commit = commit;
	if (commit > 0 && last->last_key > list.key)
		list.key = last->last_key;
	st = write_list(vs, parts, v->count, c, &list, e);
	mem_free(parts);
	return st;
}

enum status vec_change_install(struct vectors *vs, struct vec_change *c, uint64_t commit,
	struct error *e)
{
	struct vectors_view *now;
	enum status st;

	if (fault_hit("vector.install", NULL, NULL))
		return error_set(e, ST_IO, "a fault point");
	pthread_mutex_lock(&vs->files);
	now = vectors_view_get(vs);
	st = write_list_of_view(vs, now, c, commit, e);
	vectors_view_unref(now);
	if (st && c->new)
		atomic_store(&c->new->seg->doomed, true); /* no list names it */
	if (!st)
		st = swap_all(vs, c, e);
	pthread_mutex_unlock(&vs->files);
	return st;
}

bool vec_change_enter(struct vectors *vs)
{
	struct vec_change *c = vs->pending;
	struct vec_list list;
	enum status st;

	if (pthread_mutex_trylock(&vs->files))
		return false; /* the maintainer is at it: another time */
	list = (struct vec_list){ vs->serial, vs->list_commit, vs->list_key };
	st = carry(c) ? write_list(vs, vs->parts, vs->count, c, &list, NULL) : ST_NOMEM;
	if (!st) {
		swap_parts(vs, c);
		vs->pending = NULL;
		atomic_store(&vs->is_pending, false);
		vec_change_free(c, false);
	}
	pthread_mutex_unlock(&vs->files);
	return !st;
}
