/*
 * engine/vector/kmeans.h: k-means (Lloyd 1982) on unit vectors, by the cosine: for lists.
 * All distances are dot products of small rows (row.h), all sums are of whole numbers: the
 * same rows and seed give the same centres on every machine.
 */
#ifndef RCPD_ENGINE_VECTOR_KMEANS_H
#define RCPD_ENGINE_VECTOR_KMEANS_H

#include "engine/vector/row.h"
#include "util/status.h"

struct vec_centres {
	size_t dimension;
	uint32_t count;
	int8_t *small; /* at a multiple of 64 bytes */
	struct vec_scale *steps;
	void *memory; /* own: of small */
};

/* Twice is fine. */
void vec_centres_release(struct vec_centres *c);

/* Rows to learn from, all in memory. */
struct vec_sample {
	size_t dimension;
	uint32_t count;
	int8_t *small;
	int16_t *wide;
	void *memory; /* own: of both */
};

/* Uninitialised rows. False when out of memory. */
bool vec_sample_init(struct vec_sample *s, size_t dimension, uint32_t count);
void vec_sample_release(struct vec_sample *s);

/* Asked now and then: true ends it with ST_CANCELLED. */
struct vec_pause {
	bool (*fn)(void *arg);
	void *arg;
};

/* count centres (no more than there are rows) of the sample. */
enum status vec_kmeans(const struct vec_sample *s, uint32_t count, uint64_t seed,
	const struct vec_pause *pause, struct vec_centres *ret, struct error *e);
/* The nearest centre of each of n rows that stand together; the first of those as near. */
void vec_nearest(const struct vec_centres *c, const int8_t *rows, size_t n, uint32_t *ret);

#endif
