/*
 * models/static_private.h: what static.c, static_read.c and static_kernels.c share.
 *
 * A row of the table becomes floats in a buffer of `padded` numbers, those past the
 * dimension zero, so that the kernels work on whole steps of STATIC_LANES.
 */
#ifndef RCPD_MODELS_STATIC_PRIVATE_H
#define RCPD_MODELS_STATIC_PRIVATE_H

#include "models/safetensors.h"
#include "models/static.h"

#define STATIC_LANES 16
#define STATIC_MAX_DIMENSION 4096

struct static_model {
	struct tokenizer *tokenizer;
	struct tensor table;
	size_t dimension, padded, vocabulary;
	float *scales;     /* by row, of int8 tables; else NULL */
	float *weights;    /* by id, finite; NULL: all 1 */
	uint32_t *mapping; /* by id: its row; NULL: the id */
	char *identity;
	void *owned; /* the tensors' bytes, if they are the model's own */
};

/* sum[0..padded) += factor * row: a product, then a sum, in each place: the same bits on
 * every processor. */
void static_add_i8(float *sum, const signed char *row, float factor, size_t n);
void static_add_f32(float *sum, const float *row, float factor, size_t n);
/* Sums in STATIC_LANES lanes and of these in one fixed order; padded buffers. */
float static_dot(const float *a, const float *b, size_t padded);
/* The dot products of a row with STATIC_LANES vectors at once: column i holds component i
 * of each of them. */
void static_dots(const float *columns, const float *row, size_t padded, float *out);
/* To unit length; zeroed if it has none. Returns the length it had. */
float static_unit(float *v, size_t padded);

size_t static_padded(const struct static_model *m);
/* The row of a token, times its scale, not its weight, into a padded buffer. */
void static_row(const struct static_model *m, uint32_t id, float *out);
float static_weight(const struct static_model *m, uint32_t id);

#endif
