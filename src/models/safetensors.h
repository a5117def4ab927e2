/*
 * models/safetensors.h: tensors in a file of the safetensors format: a header in JSON,
 * then numbers. Nothing is copied; a file may be hostile.
 */
#ifndef RCPD_MODELS_SAFETENSORS_H
#define RCPD_MODELS_SAFETENSORS_H

#include <stddef.h>
#include <stdint.h>

#include "util/bytes.h"
#include "util/status.h"

struct json_t;

enum tensor_type { TENSOR_F32, TENSOR_F16, TENSOR_F64, TENSOR_I8, TENSOR_I64 };

struct tensor {
	enum tensor_type type;
	size_t rows, columns; /* columns is 1 of a vector */
	const char *data;     /* rows * columns numbers, little-endian, perhaps not aligned */
};

struct safetensors {
	struct json_t *header;
	struct bytes data;
};

/* The file is borrowed. ST_INVALID says what is wrong; ST_NOMEM. */
enum status safetensors_open(struct bytes file, struct safetensors *ret, struct error *e);
void safetensors_close(struct safetensors *s); /* zeroed is fine */
/* ST_NOT_FOUND; ST_INVALID: of a type or shape that is not known, or out of bounds. */
enum status safetensors_get(const struct safetensors *s, const char *name, struct tensor *ret,
	struct error *e);
/* Number i < rows * columns as a float, of any type. */
float tensor_float(const struct tensor *t, size_t i);
int64_t tensor_integer(const struct tensor *t, size_t i); /* of I64 alone */

#endif
