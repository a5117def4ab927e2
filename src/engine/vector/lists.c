/*
 * lists.c: makes lists of what is in files: centres by k-means on a sample, each row to
 * its nearest centre, a file in the order of the lists. That changes what searches find,
 * so the result waits for a commit. On the way full heads go to files: making lists of
 * many vectors takes a while.
 */
#include "engine/vector/private.h"

#include <math.h>
#include <sys/statvfs.h>

#include "engine/vector/kmeans.h"
#include "util/fault.h"
#include "util/mem.h"

#define LISTS_BY_ROOT 2   /* lists are so many times the root of the number of rows */
#define SAMPLE_BY_LIST 40 /* rows that k-means learns from, for each list */
#define BATCH 64          /* rows that are copied and assigned together */
#define SEAL_EACH 64      /* batches between looks for full heads */

struct build {
	struct vectors *vs;
	const struct vectors_view *v;
	const bool *stop;
	struct error *e;
	struct vec_ref *refs; /* the living rows in the order of keys */
	size_t n;
	struct vec_centres centres;
	uint32_t *list; /* of each row */
	uint32_t *starts;
	unsigned batches;
};

/* k-means asks this between batches. */
static bool should_stop(void *arg)
{
	struct build *b = arg;

	if (b->batches++ % SEAL_EACH == 0)
		vec_seal_heads(b->vs);
	return b->stop && __atomic_load_n(b->stop, __ATOMIC_RELAXED);
}

static struct vec_run row_of(const struct build *b, size_t i)
{
	struct vec_ref ref = b->refs[i];

	return vec_part_run(b->v->slice[ref.part].part, ref.row, ref.row + 1);
}

/* Rows at even distances: the same ones for the same vectors, whatever files they are in. */
static enum status learn(struct build *b, uint32_t lists)
{
	size_t small = vec_small_bytes(b->vs->dimension), wide = vec_wide_bytes(b->vs->dimension);
	size_t count = (size_t)lists * SAMPLE_BY_LIST;
	struct vec_pause pause = { should_stop, b };
	struct vec_sample s;
	enum status st;

	if (count > b->n)
		count = b->n;
	if (!vec_sample_init(&s, b->vs->dimension, (uint32_t)count))
		return error_set(b->e, ST_NOMEM, "out of memory");
	for (size_t i = 0; i < count; i++) {
		struct vec_run run = row_of(b, (size_t)((uint64_t)i * b->n / count));

		memcpy(s.small + i * small, run.small, small);
		memcpy((unsigned char *)s.wide + i * wide, run.wide, wide);
	}
	st = vec_kmeans(&s, lists, b->vs->seed, &pause, &b->centres, b->e);
	vec_sample_release(&s);
	return st;
}

static enum status assign(struct build *b)
{
	size_t small = vec_small_bytes(b->vs->dimension);
	int8_t *rows = mem_alloc(BATCH * small);
	enum status st = rows ? ST_OK : error_set(b->e, ST_NOMEM, "out of memory");

	for (size_t i = 0; !st && i < b->n; i += BATCH) {
		size_t m = b->n - i < BATCH ? b->n - i : BATCH;

		if (should_stop(b))
			st = error_set(b->e, ST_CANCELLED, "stopped");
		for (size_t j = 0; !st && j < m; j++)
			memcpy(rows + j * small, row_of(b, i + j).small, small);
		if (!st)
			vec_nearest(&b->centres, rows, m, b->list + i);
	}
	mem_free(rows);
	return st;
}

/* The rows list by list, in each in the order of keys. */
static enum status sort_rows(struct build *b)
{
	uint32_t lists = b->centres.count;
	struct vec_ref *sorted = mem_array(b->n, sizeof(*sorted));
	uint32_t *next = mem_array(lists, sizeof(*next));

	b->starts = mem_array((size_t)lists + 1, sizeof(*b->starts));
	if (!sorted || !next || !b->starts) {
		mem_free(sorted);
		mem_free(next);
		return error_set(b->e, ST_NOMEM, "out of memory");
	}
	for (size_t i = 0; i < b->n; i++)
		b->starts[b->list[i] + 1]++;
	for (uint32_t i = 0; i < lists; i++) {
		b->starts[i + 1] += b->starts[i];
		next[i] = b->starts[i];
	}
	for (size_t i = 0; i < b->n; i++)
		sorted[next[b->list[i]]++] = b->refs[i];
	mem_free(next);
	mem_free(b->refs);
	b->refs = sorted;
	return ST_OK;
}

/* Whether there is room for the file is asked before the work, or a full disk would cost
 * all of it again and again. */
static enum status check_room(const struct build *b)
{
	size_t row = vec_small_bytes(b->vs->dimension) + vec_wide_bytes(b->vs->dimension);
	struct statvfs s;

	if (statvfs(b->vs->dir, &s) == 0 &&
		(uint64_t)s.f_bavail * s.f_frsize < (uint64_t)b->n * (row + 32))
		return error_set(b->e, ST_FULL, "cannot write the index");
	return ST_OK;
}

static enum status make(struct build *b, size_t slices, struct vec_change **ret)
{
	double root = sqrt((double)b->n) * LISTS_BY_ROOT;
	uint32_t count = root < VEC_MAX_LISTS ? (uint32_t)root : VEC_MAX_LISTS;
	struct vec_lists lists;
	enum status st;

	if (count > b->n)
		count = (uint32_t)b->n;
	if (b->n <= b->vs->exact_most / 2)
		return vec_change_new(b->vs, b->v, 0, slices, b->refs, b->n, NULL, b->stop, ret,
			b->e);
	if (fault_hit("vector.lists", NULL, NULL))
		return error_set(b->e, ST_IO, "a fault point");
	st = check_room(b);
	if (!st)
		b->list = mem_array(b->n, sizeof(*b->list));
	if (!st && !b->list)
		st = error_set(b->e, ST_NOMEM, "out of memory");
	if (!st)
		st = learn(b, count);
	if (!st)
		st = assign(b);
	if (!st)
		st = sort_rows(b);
	if (st)
		return st;
	lists = (struct vec_lists){ count, b->starts, b->centres.small, b->centres.steps };
	return vec_change_new(b->vs, b->v, 0, slices, b->refs, b->n, &lists, b->stop, ret, b->e);
}

/* From now on the parts are left alone until the lists take their place. */
static void wait_for_commit(struct vectors *vs, struct vec_change *c)
{
	for (size_t i = 0; i < c->n; i++)
		c->old[i]->busy = true;
	pthread_mutex_lock(&vs->lock);
	vs->pending = c;
	atomic_store(&vs->is_pending, true);
	pthread_mutex_unlock(&vs->lock);
}

enum status vec_lists_make(struct vectors *vs, const struct vectors_view *v, size_t n,
	const bool *stop, struct error *e)
{
	struct build b = { .vs = vs, .v = v, .stop = stop, .e = e };
	struct vec_change *c = NULL;
	enum status st = vec_collect(v, 0, n, &b.refs, &b.n, e);

	if (!st)
		st = make(&b, n, &c);
	if (!st)
		wait_for_commit(vs, c);
	vec_centres_release(&b.centres);
	mem_free(b.refs);
	mem_free(b.list);
	mem_free(b.starts);
	return st;
}
