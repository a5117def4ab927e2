/*
 * search.c: what is scanned for a query. Flat segments and heads as a whole, or only what
 * passes the filter; of lists the nearest, until no more is found. When that is hangs on
 * the listed segment, the query and the filter, not on what lies beside it; so what is
 * found does not change with flat files and heads.
 */
#include "engine/vector/scan.h"

#include <math.h>

#define STOP_ROWS 16384U /* between looks whether to stop */

/* ---- which lists ---- */

struct near_list {
	float score;
	uint32_t list;
};

static bool is_nearer(const struct near_list *a, const struct near_list *b)
{
	return a->score > b->score || (!(a->score < b->score) && a->list < b->list);
}

static void sift_down(struct near_list *heap, size_t n, size_t i)
{
	for (size_t child; (child = 2 * i + 1) < n; i = child) {
		struct near_list c = heap[i];

		if (child + 1 < n && is_nearer(&heap[child + 1], &heap[child]))
			child++;
		if (!is_nearer(&heap[child], &c))
			break;
		heap[i] = heap[child];
		heap[child] = c;
	}
}

/* All lists in a heap, the nearest first. NULL: out of memory. */
static struct near_list *rank_lists(const struct vec_scan *s, const struct vec_segment *seg,
	struct arena *arena)
{
	struct near_list *heap = arena_array(arena, seg->lists, sizeof(*heap));
	int32_t *dots = arena_array(arena, seg->lists, sizeof(*dots));

	if (!heap || !dots)
		return NULL;
	s->kernel->rows8(s->q->small, seg->centres, vec_small_bytes(seg->dimension), seg->lists,
		dots);
	for (uint32_t i = 0; i < seg->lists; i++)
		heap[i] = (struct near_list){ (float)dots[i] * seg->steps[i].step, i };
	for (size_t i = seg->lists / 2; i-- > 0;)
		sift_down(heap, seg->lists, i);
	return heap;
}

/* ---- plans ---- */

/* Lists without a change of the best, before the rest is left; of fewer lists than MANY
 * there are more, as they cost less. */
#define PATIENCE 20
#define MANY 2048

struct plan {
	const struct vectors_query *q;
	struct vec_scan scan;
	struct arena *arena;
	uint32_t since; /* rows since the last look whether to stop */
};

static bool should_stop(struct plan *p, uint32_t rows)
{
	p->since += rows;
	if (p->since < STOP_ROWS || !p->q->stop)
		return false;
	p->since = 0;
	return p->q->stop(p->q->stop_arg);
}

static double patience(const struct plan *p, const struct vec_segment *seg)
{
	double effort = p->q->effort > 0 ? p->q->effort : 1;

	if (seg->lists < MANY)
		effort *= sqrt((double)MANY / seg->lists);
	if (p->q->k > 10) /* the last of many come in later */
		effort *= 1 + (double)(63 - __builtin_clzll(p->q->k / 10)) / 8;
	return PATIENCE * effort;
}

/* x to the power of 3/4, by roots alone: they are rounded alike everywhere. */
static double three_quarters(double x)
{
	return sqrt(x) * sqrt(sqrt(x));
}

/*
 * The nearest lists first, until so many one after the other brought nothing among the
 * best: a query in the midst of a cluster is done after a few lists, one between many goes
 * on for long. With a filter a list counts by a power of the share that passes: the
 * fewer rows it has for us, the less it says about the next ones.
 */
static enum status scan_lists(struct plan *p, const struct vec_part *part, struct error *e)
{
	const struct vec_segment *seg = part->seg;
	struct near_list *heap = rank_lists(&p->scan, seg, p->arena);
	double quiet = 0, most = patience(p, seg);

	if (!heap)
		return error_set(e, ST_NOMEM, "out of memory");
	for (size_t left = seg->lists; left > 0 && quiet < most;) {
		uint32_t first = seg->starts[heap[0].list], end = seg->starts[heap[0].list + 1];
		struct vec_run run = vec_part_run(part, first, end);
		uint64_t changes = p->scan.top.changes;
		double passing = vec_scan_run(&p->scan, part, &run);

		heap[0] = heap[--left];
		sift_down(heap, left, 0);
		if (p->scan.top.changes != changes || p->scan.top.n < p->scan.top.k)
			quiet = 0;
		else if (passing > 0)
			quiet += three_quarters(passing / run.n);
		if (should_stop(p, run.n))
			return error_set(e, ST_CANCELLED, "stopped");
	}
	return ST_OK;
}

static enum status scan_whole(struct plan *p, const struct vec_slice *slice, struct error *e)
{
	for (uint32_t i = 0; i < slice->rows;) {
		uint32_t end = slice->rows - i < STOP_ROWS ? slice->rows : i + STOP_ROWS;
		struct vec_run run = vec_part_run(slice->part, i, end);

		(void)vec_scan_run(&p->scan, slice->part, &run);
		i += run.n;
		if (should_stop(p, run.n))
			return error_set(e, ST_CANCELLED, "stopped");
	}
	return ST_OK;
}

/* ---- by keys ---- */

/* Rows of one part that pass, gathered. */
struct some {
	struct vec_run run;
	uint32_t n, at[256];
};

static void flush(struct plan *p, const struct vec_part *part, struct some *some)
{
	vec_scan_some(&p->scan, part, &some->run, some->at, some->n);
	some->n = 0;
}

static void gather(struct plan *p, const struct vec_slice *slice, struct some *some, uint32_t row)
{
	const struct vec_part *part = slice->part;
	uint32_t first = part->seg ? 0 : row / VEC_BLOCK * VEC_BLOCK;

	if (some->n == sizeof(some->at) / sizeof(some->at[0]) ||
		(some->n > 0 && some->run.first != first))
		flush(p, part, some);
	if (some->n == 0)
		some->run = vec_part_run(part, first, slice->rows);
	some->at[some->n++] = row - first;
}

static int64_t first_key(const struct vec_slice *s)
{
	return s->part->seg ? s->part->seg->first_key : *vec_part_run(s->part, 0, 1).keys;
}

/* Each bit that is set, from the slice's first key on: growing keys are found fast. */
static enum status scan_passing(struct plan *p, const struct vec_slice *slice, struct error *e)
{
	const struct vectors_filter *f = p->scan.filter;
	struct some some = { .n = 0 };
	uint32_t hint = 0;
	int64_t from = first_key(slice), last;
	size_t bit = from > f->base ? (size_t)((uint64_t)from - (uint64_t)f->base) : 0;

	last = slice->part->seg ? slice->part->seg->last_key : INT64_MAX;
	for (size_t word = bit / 64; word < (f->count + 63) / 64; word++) {
		uint64_t bits = f->bits[word];

		if (word == bit / 64)
			bits &= UINT64_MAX << bit % 64;
		if ((uint64_t)last - (uint64_t)f->base < word * 64 || last < f->base)
			break;
		for (; bits; bits &= bits - 1) {
			size_t at = word * 64 + (size_t)__builtin_ctzll(bits);
			uint32_t row;

			if (at >= f->count)
				break;
			row = vec_part_find(slice->part, slice->rows,
				(int64_t)((uint64_t)f->base + at), &hint);
			if (row != UINT32_MAX)
				gather(p, slice, &some, row);
		}
		if (should_stop(p, 64))
			return error_set(e, ST_CANCELLED, "stopped");
	}
	flush(p, slice->part, &some);
	return ST_OK;
}

static enum status scan_slice(struct plan *p, const struct vec_slice *slice, struct error *e)
{
	const struct vectors_filter *f = p->scan.filter;
	const struct vec_segment *seg = slice->part->seg;

	if (slice->rows == slice->dead)
		return ST_OK;
	if (seg && seg->lists > 0 && !p->q->exact) {
		/* If no more pass than so many lists have: one by one. */
		if (f && (double)f->passing * seg->lists <= patience(p, seg) * seg->rows)
			return scan_passing(p, slice, e);
		return scan_lists(p, slice->part, e);
	}
	if (f && f->passing < slice->rows / 8)
		return scan_passing(p, slice, e);
	return scan_whole(p, slice, e);
}

static enum status take_hits(struct plan *p, struct vectors_hit **ret, size_t *ret_n,
	struct error *e);

enum status vectors_search(const struct vectors_view *v, const struct vectors_query *q,
	struct arena *arena, struct vectors_hit **ret, size_t *ret_n, struct error *e)
{
	struct plan p = { .q = q,
		.scan = { .v = v, .kernel = vec_kernel(), .filter = q->filter },
		.arena = arena };
	size_t k = q->k < v->living ? q->k : (size_t)v->living;
	struct vec_query query;
	enum status st = vec_query_init(&query, q->values, v->dimension, arena, e);

	*ret = NULL;
	*ret_n = 0;
	if (st || k == 0 || (q->filter && q->filter->passing == 0))
		return st;
	p.scan.q = &query;
	if (!vec_top_init(&p.scan.top, k, arena))
		return error_set(e, ST_NOMEM, "out of memory");
	/* Lists come first of all (they are of the oldest rows): what else there is has no
	 * part in when they are done. */
	for (size_t i = 0; !st && i < v->count; i++)
		st = scan_slice(&p, &v->slice[i], e);
	return st ? st : take_hits(&p, ret, ret_n, e);
}

/* ---- scores ---- */

static double score_of(int32_t dot)
{
	return vec_clamp(dot) / (double)VEC_ONE;
}

static enum status take_hits(struct plan *p, struct vectors_hit **ret, size_t *ret_n,
	struct error *e)
{
	size_t n = 0;
	struct vec_scored *found = vec_top_sort(&p->scan.top, p->arena, &n);
	struct vectors_hit *hits = arena_array(p->arena, n + 1, sizeof(*hits));

	if (!found || !hits)
		return error_set(e, ST_NOMEM, "out of memory");
	for (size_t i = 0; i < n; i++)
		hits[i] = (struct vectors_hit){ found[i].key, score_of(found[i].dot) };
	*ret = hits;
	*ret_n = n;
	return ST_OK;
}

/* The wide row of a key that lives; NULL: there is none. */
static const int16_t *find_wide(const struct vectors_view *v, int64_t key)
{
	for (size_t i = v->count; i-- > 0;) {
		const struct vec_slice *s = &v->slice[i];
		uint32_t row = vec_part_find(s->part, s->rows, key, &(uint32_t){ 0 });

		if (row != UINT32_MAX)
			return vec_row_is_dead(s->part, row, v->seen)
				? NULL
				: vec_part_run(s->part, row, row + 1).wide;
	}
	return NULL;
}

enum status vectors_score(const struct vectors_view *v, const float *query, const int64_t *keys,
	size_t n, double *ret, struct error *e)
{
	const struct vec_kernel *kernel = vec_kernel();
	struct vec_query q;
	struct arena arena;
	enum status st;

	arena_init(&arena, 0);
	st = vec_query_init(&q, query, v->dimension, &arena, e);
	for (size_t i = 0; !st && i < n; i++) {
		const int16_t *wide = find_wide(v, keys[i]);

		ret[i] = wide ? score_of(kernel->dot16(q.wide, wide, vec_wide_bytes(v->dimension)))
			      : (double)NAN;
	}
	arena_release(&arena);
	return st;
}

bool vectors_get(const struct vectors_view *v, int64_t key, float *ret)
{
	const int16_t *wide = find_wide(v, key);

	if (wide)
		vec_row_values(wide, v->dimension, ret);
	return wide != NULL;
}
