/*
 * engine/vector/scan.h: scoring rows for one query. The dot product of the small rows,
 * with what it can be off by at most (row.h), says which rows can be among the best; only
 * of these the wide rows are read. So what is found is exactly what scoring all wide rows
 * finds, in whatever order the rows come.
 */
#ifndef RCPD_ENGINE_VECTOR_SCAN_H
#define RCPD_ENGINE_VECTOR_SCAN_H

#include "engine/vector/private.h"
#include "engine/vector/top.h"

struct vec_query {
	int8_t *small;
	int16_t *wide;
	struct vec_scale scale;
	float by_error; /* what a row's bound has for each unit of its error */
	float bound;    /* what every row's has */
};

struct vec_scan {
	const struct vectors_view *v;
	const struct vec_kernel *kernel;
	const struct vec_query *q;
	const struct vectors_filter *filter; /* NULL: all pass */
	struct vec_top top;
};

/* In the arena. ST_INVALID: zero or not finite; ST_NOMEM. */
enum status vec_query_init(struct vec_query *q, const float *values, size_t dimension,
	struct arena *arena, struct error *e);

static inline bool vec_passes(const struct vectors_filter *f, int64_t key)
{
	uint64_t bit = (uint64_t)key - (uint64_t)f->base;

	return bit < f->count && (f->bits[bit / 64] >> bit % 64 & 1);
}

/* Offers the rows of a part's run. Returns how many pass. */
uint32_t vec_scan_run(struct vec_scan *s, const struct vec_part *p, const struct vec_run *run);
/* Offers rows number at[0..n) of a run, which pass. */
void vec_scan_some(struct vec_scan *s, const struct vec_part *p, const struct vec_run *run,
	const uint32_t *at, size_t n);

#endif
