/* methods/vectors.h: vectors between JSON and floats. */
#ifndef RCPD_METHODS_VECTORS_H
#define RCPD_METHODS_VECTORS_H

#include "rpc/table.h"

/* An array of numbers, nine digits each: they read back as the same floats. One that is
 * not finite spoils the writer, as jw_real has it. About 30 ns a number. */
void methods_write_floats(struct json_writer *w, const float *v, size_t n);
/* A string: f32-base64, little-endian binary32 in base64 with padding (X1). */
void methods_write_base64(struct json_writer *w, const float *v, size_t n);
/*
 * A vector that a client brings (x-rcpd-vector), an array of so many numbers, not all
 * zero; brought to unit length, in the call's arena. Anything else is -32602 with the
 * path of the culprit.
 */
enum rpc_code methods_read_vector(struct rpc_call *call, const json_t *v, const char *path,
	size_t dimension, float **ret);

#endif
