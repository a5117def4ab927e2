/*
 * vectors.c: opening, closing and the writer's calls. Every change goes to the head (adds)
 * or to the part that holds the key (deletes) at once, where views that were taken before
 * do not see it; publishing makes a view that does.
 */
#include "engine/vector/private.h"

#include "engine/lexical/pack.h"
#include "util/mem.h"

#define DEFAULT_HEAD 16384
#define DEFAULT_EXACT 50000

static enum status no_memory(struct error *e)
{
	return error_set(e, ST_NOMEM, "out of memory");
}

bool vec_make_room(struct vectors *vs)
{
	if (vs->count + 2 > vs->cap) {
		size_t cap = vs->cap ? 2 * vs->cap : 16;
		struct vec_part **parts = mem_resize(vs->parts, cap * sizeof(struct vec_part *));

		if (!parts)
			return false;
		vs->parts = parts;
		vs->cap = cap;
	}
	if (vs->spare && vs->spare->cap < vs->count + 2) {
		vectors_view_unref(vs->spare);
		vs->spare = NULL;
	}
	if (!vs->spare)
		vs->spare = vec_view_new(vs->count + 8);
	return vs->spare != NULL;
}

/* Makes a view of all there is; the caller has made room. */
static void publish_all(struct vectors *vs, uint64_t commit)
{
	struct vectors_view *v = vs->spare;

	vs->spare = NULL;
	v->commit = commit;
	v->seen = vs->serial;
	v->dimension = vs->dimension;
	for (size_t i = 0; i < vs->count; i++)
		vec_view_add(v, vec_part_now(vs->parts[i]));
	vec_view_publish(vs, v);
	vs->changed = false;
}

static enum status start(struct vectors *vs, struct error *e)
{
	struct vec_part *head;
	enum status st = vec_list_read(vs, e);

	if (st)
		return st;
	vec_list_sweep(vs);
	head = vec_make_room(vs) ? vec_part_new_head(vs->dimension) : NULL;
	if (!head)
		return no_memory(e);
	vs->kept_key = vs->list_key;
	atomic_store(&vs->last_key, vs->list_key);
	vs->parts[vs->count++] = head;
	publish_all(vs, vs->list_commit);
	atomic_store(&vs->persisted, vs->list_commit);
	vs->frozen_commit = vs->list_commit;
	return ST_OK;
}

enum status vectors_open(const struct vectors_options *opt, struct vectors **ret,
	uint64_t *ret_commit, struct error *e)
{
	struct vectors *vs;
	enum status st;

	if (opt->dimension == 0 || opt->dimension > VECTORS_MAX_DIMENSION)
		return error_set(e, ST_INVALID, "a vector has 1 to %d components",
			VECTORS_MAX_DIMENSION);
	vs = mem_zero(sizeof(*vs));
	if (!vs)
		return no_memory(e);
	pthread_mutex_init(&vs->lock, NULL);
	pthread_mutex_init(&vs->files, NULL);
	vs->dimension = opt->dimension;
	vs->head_vectors = opt->head_vectors ? opt->head_vectors : DEFAULT_HEAD;
	vs->exact_most = opt->exact_most ? opt->exact_most : DEFAULT_EXACT;
	vs->seed = opt->seed;
	vs->identity = lex_checksum(opt->identity.data, opt->identity.len, opt->dimension);
	vs->dir = mem_strdup(opt->dir);
	st = vs->dir ? start(vs, e) : no_memory(e);
	if (st) {
		vectors_close(vs);
		return st;
	}
	*ret_commit = vs->list_commit;
	*ret = vs;
	return ST_OK;
}

void vectors_close(struct vectors *vs)
{
	struct vectors_view *v;

	if (!vs)
		return;
	v = atomic_load(&vs->current);
	atomic_store(&vs->current, NULL);
	vectors_view_unref(v);
	vec_view_trim(vs);
	vectors_view_unref(vs->spare);
	vec_change_free(vs->pending, true);
	for (size_t i = 0; i < vs->count; i++)
		vec_part_unref(vs->parts[i]);
	while (vs->replaced) {
		struct vec_part *next = vs->replaced->next_replaced;

		vec_part_unref(vs->replaced);
		vs->replaced = next;
	}
	pthread_mutex_destroy(&vs->files);
	pthread_mutex_destroy(&vs->lock);
	mem_free(vs->parts);
	mem_free(vs->dir);
	mem_free(vs);
}

enum status vectors_add(struct vectors *vs, int64_t key, const float *values, struct error *e)
{
	int16_t wide[VECTORS_MAX_DIMENSION];
	enum status st = ST_OK;
	struct vec_part *head;

	if (!vec_row_widen(values, vs->dimension, wide))
		return error_set(e, ST_INVALID, "a vector must be finite and not all zero");
	pthread_mutex_lock(&vs->lock);
	head = vs->parts[vs->count - 1];
	if (key <= vs->kept_key) {
		/* Replayed: it is in the files, or is dead and was left out of them. */
	} else if (key <= atomic_load(&vs->last_key)) {
		st = error_set(e, ST_INVALID, "row keys have to grow");
	} else if (head->count == VEC_MAX_ROWS) {
		st = error_set(e, ST_TOO_LARGE, "too many vectors wait to be written");
	} else if (!vec_part_add(head, key, wide)) {
		st = no_memory(e);
	} else {
		atomic_store(&vs->last_key, key);
		vs->unsealed++;
		vs->changed = true;
	}
	pthread_mutex_unlock(&vs->lock);
	return st;
}

/* The part that holds a living row of the key; the parts are in order of keys. */
static struct vec_part *find_part(const struct vectors *vs, int64_t key, uint32_t *ret_row)
{
	for (size_t i = vs->count; i-- > 0;) {
		struct vec_part *p = vs->parts[i];

		*ret_row = vec_part_find(p, p->count, key, &(uint32_t){ 0 });
		if (*ret_row != UINT32_MAX)
			return vec_row_is_dead(p, *ret_row, UINT64_MAX) ? NULL : p;
	}
	return NULL;
}

enum status vectors_remove(struct vectors *vs, int64_t key, struct error *e)
{
	enum status st = ST_OK;
	struct vec_part *p;
	uint32_t row;

	pthread_mutex_lock(&vs->lock);
	p = find_part(vs, key, &row);
	if (p && !vec_part_remove(p, row, vs->serial + 1)) {
		st = no_memory(e);
	} else if (p) {
		vs->serial++;
		vs->unsealed++;
		vs->changed = true;
	}
	pthread_mutex_unlock(&vs->lock);
	return st;
}

/* The head takes no more; an empty one goes behind it (the caller has made room). Left
 * for the next publish when memory is short. Must be published at once: the maintainer
 * takes a frozen head as its view shows it. */
static void freeze_head(struct vectors *vs, uint64_t commit)
{
	struct vec_part *head = vec_part_new_head(vs->dimension);

	if (!head)
		return;
	vs->parts[vs->count - 1]->commit = commit;
	vs->parts[vs->count - 1]->last_key = atomic_load(&vs->last_key);
	vs->parts[vs->count++] = head;
	vs->freeze = false;
	vs->unsealed = 0;
	vs->frozen_commit = commit;
}

/* Deletes count as well: they are safe only in a list, and lists are written when heads
 * are. */
static bool is_full(const struct vectors *vs)
{
	return vs->unsealed >= vs->head_vectors || vs->freeze;
}

void vectors_publish(struct vectors *vs, uint64_t commit)
{
	pthread_mutex_lock(&vs->lock);
	vs->changed = true;
	if (vec_make_room(vs)) {
		if (vs->pending && commit > atomic_load(&vs->current)->commit)
			vec_change_enter(vs);
		if (is_full(vs))
			freeze_head(vs, commit);
		publish_all(vs, commit);
		vec_make_room(vs); /* a spare for next time, if there is memory */
	}
	pthread_mutex_unlock(&vs->lock);
}

void vectors_freeze(struct vectors *vs)
{
	struct vectors_view *v;

	pthread_mutex_lock(&vs->lock);
	v = atomic_load(&vs->current);
	if (vs->changed) {
		vs->freeze = true;
	} else if ((vs->unsealed > 0 || v->commit > vs->frozen_commit) && vec_make_room(vs)) {
		freeze_head(vs, v->commit);
		publish_all(vs, v->commit);
		vec_make_room(vs);
	}
	pthread_mutex_unlock(&vs->lock);
}

bool vectors_pending(const struct vectors *vs)
{
	return atomic_load(&vs->is_pending);
}

int64_t vectors_last_key(const struct vectors *vs)
{
	return atomic_load(&vs->last_key);
}

uint64_t vectors_persisted_commit(const struct vectors *vs)
{
	return atomic_load(&vs->persisted);
}
