/*
 * kmeans.c: see kmeans.h. Centres begin as rows drawn by chance; a centre that nobody is
 * near to any more goes to a row of the largest cluster. A few rounds do: what lists need
 * is clusters of like size in about the right places.
 */
#include "engine/vector/kmeans.h"

#include <math.h>
#include <string.h>

#include "util/mem.h"

#define ROUNDS 8
#define BATCH 256   /* rows between looks at the pause */
#define TOGETHER 64 /* centres for which dot products are made at once */

static enum status no_memory(struct error *e)
{
	return error_set(e, ST_NOMEM, "out of memory");
}

static void *aligned(void *p)
{
	return (void *)(((uintptr_t)p + VEC_ALIGN - 1) / VEC_ALIGN * VEC_ALIGN);
}

bool vec_sample_init(struct vec_sample *s, size_t dimension, uint32_t count)
{
	size_t small = vec_small_bytes(dimension), wide = vec_wide_bytes(dimension);

	*s = (struct vec_sample){ .dimension = dimension, .count = count };
	s->memory = mem_alloc(VEC_ALIGN + count * (small + wide));
	if (!s->memory)
		return false;
	s->small = aligned(s->memory);
	s->wide = (int16_t *)(void *)(s->small + count * small);
	return true;
}

void vec_sample_release(struct vec_sample *s)
{
	mem_free(s->memory);
	s->memory = NULL;
}

void vec_centres_release(struct vec_centres *c)
{
	mem_free(c->memory);
	mem_free(c->steps);
	c->memory = c->steps = NULL;
}

static bool centres_init(struct vec_centres *c, size_t dimension, uint32_t count)
{
	*c = (struct vec_centres){ .dimension = dimension, .count = count };
	c->memory = mem_alloc(VEC_ALIGN + count * vec_small_bytes(dimension));
	c->steps = mem_array(count, sizeof(*c->steps));
	if (!c->memory || !c->steps) {
		vec_centres_release(c);
		return false;
	}
	c->small = aligned(c->memory);
	return true;
}

/* splitmix64 (Steele, Lea, Flood 2014). */
static uint64_t draw(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static uint32_t draw_below(uint64_t *state, uint32_t n)
{
	return (uint32_t)((draw(state) >> 32) * n >> 32);
}

void vec_nearest(const struct vec_centres *c, const int8_t *rows, size_t n, uint32_t *ret)
{
	const struct vec_kernel *kernel = vec_kernel();
	size_t stride = vec_small_bytes(c->dimension);
	int32_t dots[TOGETHER];

	for (size_t i = 0; i < n; i++) {
		float best = -INFINITY;

		ret[i] = 0;
		for (uint32_t at = 0; at < c->count; at += TOGETHER) {
			uint32_t m = c->count - at < TOGETHER ? c->count - at : TOGETHER;

			kernel->rows8(rows + i * stride, c->small + at * stride, stride, m, dots);
			for (uint32_t j = 0; j < m; j++) {
				float score = (float)dots[j] * c->steps[at + j].step;

				if (score > best) {
					best = score;
					ret[i] = at + j;
				}
			}
		}
	}
}

/* A state of one run. */
struct kmeans {
	const struct vec_sample *s;
	struct vec_centres *c;
	uint64_t random;
	uint32_t *near;  /* of each row */
	uint32_t *sizes; /* of each cluster */
	int64_t *sums;   /* of each cluster's wide rows */
	float *mean;     /* scratch: a centre */
	int16_t *wide;   /* the same */
};

static void set_centre(struct kmeans *k, uint32_t i, const int16_t *wide)
{
	vec_row_shrink(wide, k->s->dimension, k->c->small + i * vec_small_bytes(k->s->dimension),
		&k->c->steps[i]);
}

static const int16_t *wide_row(const struct kmeans *k, uint32_t row)
{
	return k->s->wide + row * vec_wide_bytes(k->s->dimension) / 2;
}

/* Different rows: one of each of `count` stretches. */
static void draw_centres(struct kmeans *k)
{
	uint64_t rows = k->s->count, count = k->c->count;

	for (uint64_t i = 0; i < count; i++) {
		uint32_t first = (uint32_t)(rows * i / count);
		uint32_t end = (uint32_t)(rows * (i + 1) / count);

		set_centre(k, (uint32_t)i,
			wide_row(k, first + draw_below(&k->random, end - first)));
	}
}

static bool assign(struct kmeans *k, const struct vec_pause *pause)
{
	size_t stride = vec_small_bytes(k->s->dimension);

	for (uint32_t i = 0; i < k->s->count; i += BATCH) {
		uint32_t n = k->s->count - i < BATCH ? k->s->count - i : BATCH;

		if (pause->fn && pause->fn(pause->arg))
			return false;
		vec_nearest(k->c, k->s->small + i * stride, n, k->near + i);
	}
	return true;
}

static void add_up(struct kmeans *k)
{
	size_t dimension = k->s->dimension;

	memset(k->sizes, 0, k->c->count * sizeof(*k->sizes));
	memset(k->sums, 0, k->c->count * dimension * sizeof(*k->sums));
	for (uint32_t i = 0; i < k->s->count; i++) {
		const int16_t *row = wide_row(k, i);
		int64_t *sum = k->sums + k->near[i] * dimension;

		k->sizes[k->near[i]]++;
		for (size_t j = 0; j < dimension; j++)
			sum[j] += row[j];
	}
}

static uint32_t largest(const struct kmeans *k)
{
	uint32_t most = 0;

	for (uint32_t i = 1; i < k->c->count; i++)
		if (k->sizes[i] > k->sizes[most])
			most = i;
	return most;
}

/* To a row of the largest cluster, which counts as half as large from then on. */
static void split_largest(struct kmeans *k, uint32_t empty)
{
	uint32_t from = largest(k), skip = draw_below(&k->random, k->sizes[from]), i = 0;

	for (;; i++)
		if (k->near[i] == from && skip-- == 0)
			break;
	set_centre(k, empty, wide_row(k, i));
	k->sizes[from] -= k->sizes[from] / 2;
}

static void move_centres(struct kmeans *k)
{
	size_t dimension = k->s->dimension;

	for (uint32_t i = 0; i < k->c->count; i++) {
		for (size_t j = 0; j < dimension; j++)
			k->mean[j] = (float)k->sums[i * dimension + j];
		/* Rows that cancel each other out leave the centre where it is. */
		if (k->sizes[i] > 0 && vec_row_widen(k->mean, dimension, k->wide))
			set_centre(k, i, k->wide);
	}
}

static bool kmeans_init(struct kmeans *k)
{
	size_t count = k->c->count, dimension = k->s->dimension;

	k->near = mem_array(k->s->count, sizeof(*k->near));
	k->sizes = mem_array(count, sizeof(*k->sizes));
	k->sums = mem_array(count, dimension * sizeof(*k->sums));
	k->mean = mem_array(dimension, sizeof(*k->mean));
	k->wide = mem_zero(vec_wide_bytes(dimension));
	return k->near && k->sizes && k->sums && k->mean && k->wide;
}

static void kmeans_release(struct kmeans *k)
{
	mem_free(k->near);
	mem_free(k->sizes);
	mem_free(k->sums);
	mem_free(k->mean);
	mem_free(k->wide);
}

static enum status run(struct kmeans *k, const struct vec_pause *pause, struct error *e)
{
	draw_centres(k);
	for (int round = 0; round < ROUNDS; round++) {
		if (!assign(k, pause))
			return error_set(e, ST_CANCELLED, "stopped");
		add_up(k);
		move_centres(k);
		for (uint32_t i = 0; i < k->c->count; i++)
			if (k->sizes[i] == 0)
				split_largest(k, i);
	}
	return ST_OK;
}

enum status vec_kmeans(const struct vec_sample *s, uint32_t count, uint64_t seed,
	const struct vec_pause *pause, struct vec_centres *ret, struct error *e)
{
	struct kmeans k = { .s = s, .c = ret, .random = seed };
	enum status st;

	if (!centres_init(ret, s->dimension, count))
		return no_memory(e);
	st = kmeans_init(&k) ? run(&k, pause, e) : no_memory(e);
	kmeans_release(&k);
	if (st)
		vec_centres_release(ret);
	return st;
}
