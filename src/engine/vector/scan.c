/* scan.c: see scan.h. */
#include "engine/vector/scan.h"

#include <math.h>

#define PIECE 64  /* rows whose dot products are made together */
#define MOSTLY 40 /* if so many of them pass, all are multiplied */
#define SLACK                                                                                      \
	1024.F /* more than what rounding to float can take off a bound, in wide
		      * dot products (2^30 for equal vectors) */

static void *aligned(void *p)
{
	return p ? (void *)(((uintptr_t)p + VEC_ALIGN - 1) / VEC_ALIGN * VEC_ALIGN) : NULL;
}

/* By Cauchy and Schwarz, with Q = wide, q = scale.step * small, and a row X, x likewise:
 * |Q X - q x| = |Q (X - x) + (Q - q) x| <= |Q| |X - x| + |Q - q| (|X| + |X - x|). */
enum status vec_query_init(struct vec_query *q, const float *values, size_t dimension,
	struct arena *arena, struct error *e)
{
	double sum = 0, longest = VEC_UNIT + 0.5 * sqrt((double)dimension) + 1;

	q->small = aligned(arena_alloc(arena, vec_small_bytes(dimension) + VEC_ALIGN));
	q->wide = aligned(arena_alloc(arena, vec_wide_bytes(dimension) + VEC_ALIGN));
	if (!q->small || !q->wide)
		return error_set(e, ST_NOMEM, "out of memory");
	if (!vec_row_widen(values, dimension, q->wide))
		return error_set(e, ST_INVALID, "a vector must be finite and not all zero");
	vec_row_shrink(q->wide, dimension, q->small, &q->scale);
	for (size_t i = 0; i < dimension; i++)
		sum += (double)q->wide[i] * q->wide[i];
	q->by_error = (float)((sqrt(sum) + (double)q->scale.error) * 1.00001);
	q->bound = (float)(longest * (double)q->scale.error * 1.00001) + SLACK;
	return ST_OK;
}

/* The places of rows whose bound reaches the least that comes in. Of what is cut off at -1
 * (row.h) the bound says nothing. */
static size_t choose(const struct vec_scan *s, const struct vec_scale *scales, const uint32_t *at,
	const int32_t *dots, size_t n, uint32_t *ret)
{
	int32_t least = vec_top_least(&s->top);
	float enough = least <= -VEC_ONE ? -INFINITY : (float)least - s->q->bound;
	float step = s->q->scale.step, by_error = s->q->by_error;
	size_t m = 0;

	for (uint32_t i = 0; i < n; i++) {
		const struct vec_scale *scale = &scales[at ? at[i] : i];
		float most = (float)dots[i] * (scale->step * step) + scale->error * by_error;

		if (most >= enough)
			ret[m++] = i;
	}
	return m;
}

static void offer(struct vec_scan *s, const struct vec_part *p, const struct vec_run *run,
	uint32_t i)
{
	size_t wide = vec_wide_bytes(p->dimension);

	if (vec_row_is_dead(p, run->first + i, s->v->seen))
		return;
	vec_top_offer(&s->top,
		vec_clamp(s->kernel->dot16(s->q->wide, run->wide + i * wide / 2, wide)),
		run->keys[i]);
}

void vec_scan_some(struct vec_scan *s, const struct vec_part *p, const struct vec_run *run,
	const uint32_t *at, size_t n)
{
	size_t stride = vec_small_bytes(p->dimension);
	uint32_t chosen[PIECE];
	int32_t dots[PIECE];

	for (; n > 0; at += n < PIECE ? n : PIECE, n -= n < PIECE ? n : PIECE) {
		size_t m = n < PIECE ? n : PIECE;

		s->kernel->some8(s->q->small, run->small, stride, at, m, dots);
		m = choose(s, run->scales, at, dots, m, chosen);
		for (size_t i = 0; i < m; i++)
			offer(s, p, run, at[chosen[i]]);
	}
}

/* Rows from..from + n one after the other; those chosen still have to pass. */
static void scan_piece(struct vec_scan *s, const struct vec_part *p, const struct vec_run *run,
	uint32_t from, uint32_t n)
{
	size_t stride = vec_small_bytes(p->dimension);
	uint32_t chosen[PIECE];
	int32_t dots[PIECE];
	size_t m;

	s->kernel->rows8(s->q->small, run->small + from * stride, stride, n, dots);
	m = choose(s, run->scales + from, NULL, dots, n, chosen);
	for (size_t i = 0; i < m; i++)
		if (!s->filter || vec_passes(s->filter, run->keys[from + chosen[i]]))
			offer(s, p, run, from + chosen[i]);
}

/* Pieces of which most pass are multiplied as they stand; of others the rows that pass are
 * gathered, so that they are fetched from memory side by side. */
uint32_t vec_scan_run(struct vec_scan *s, const struct vec_part *p, const struct vec_run *run)
{
	uint32_t passing = 0, waiting = 0, at[2 * PIECE];

	for (uint32_t from = 0; from < run->n; from += PIECE) {
		uint32_t n = run->n - from < PIECE ? run->n - from : PIECE, before = waiting;

		for (uint32_t i = from; s->filter && i < from + n; i++) {
			at[waiting] = i;
			waiting += vec_passes(s->filter, run->keys[i]);
		}
		passing += s->filter ? waiting - before : n;
		if (!s->filter || waiting - before >= MOSTLY) {
			waiting = before;
			scan_piece(s, p, run, from, n);
		} else if (waiting >= PIECE) {
			vec_scan_some(s, p, run, at, waiting);
			waiting = 0;
		}
	}
	if (waiting > 0)
		vec_scan_some(s, p, run, at, waiting);
	return passing;
}
