/*
 * safetensors.c: header of a safetensors file, checked to the last byte: a tensor's
 * offsets lie within the file and are as far apart as its shape says.
 */
#include "models/safetensors.h"

#include "models/load.h"

#define MAX_HEADER (16u << 20)

enum status safetensors_open(struct bytes file, struct safetensors *ret, struct error *e)
{
	uint64_t len = 0;
	enum status st;

	*ret = (struct safetensors){ 0 };
	if (file.len >= 8)
		memcpy(&len, file.data, 8); /* little-endian, as every machine that we run on */
	if (file.len < 8 || len > file.len - 8 || len > MAX_HEADER)
		return error_set(e, ST_INVALID, "the header of the tensors is cut off");
	st = load_json((struct bytes){ file.data + 8, (size_t)len }, "the header", &ret->header, e);
	if (st != ST_OK)
		return st;
	if (!json_is_object(ret->header)) {
		safetensors_close(ret);
		return error_set(e, ST_INVALID, "the header of the tensors is no JSON object");
	}
	ret->data = (struct bytes){ file.data + 8 + len, file.len - 8 - (size_t)len };
	return ST_OK;
}

void safetensors_close(struct safetensors *s)
{
	json_decref(s->header);
	*s = (struct safetensors){ 0 };
}

static bool type_of(const char *name, enum tensor_type *ret, size_t *size)
{
	static const struct {
		const char *name;
		enum tensor_type type;
		size_t size;
	} types[] = { { "F32", TENSOR_F32, 4 }, { "F16", TENSOR_F16, 2 }, { "F64", TENSOR_F64, 8 },
		{ "I8", TENSOR_I8, 1 }, { "I64", TENSOR_I64, 8 } };

	for (size_t i = 0; name && i < sizeof types / sizeof *types; i++)
		if (strcmp(types[i].name, name) == 0) {
			*ret = types[i].type;
			*size = types[i].size;
			return true;
		}
	return false;
}

/* A whole number of the header, at most max; -1. */
static int64_t number(const json_t *list, size_t i, uint64_t max)
{
	const json_t *v = json_array_get(list, i);
	json_int_t n = json_is_integer(v) ? json_integer_value(v) : -1;

	return n >= 0 && (uint64_t)n <= max ? (int64_t)n : -1;
}

enum status safetensors_get(const struct safetensors *s, const char *name, struct tensor *ret,
	struct error *e)
{
	const json_t *v = json_object_get(s->header, name), *shape = json_object_get(v, "shape");
	const json_t *offsets = json_object_get(v, "data_offsets");
	int64_t rows, columns = 1, start, end;
	size_t size, total;

	if (!v)
		return error_set(e, ST_NOT_FOUND, "there is no tensor '%s'", name);
	if (!type_of(json_string_value(json_object_get(v, "dtype")), &ret->type, &size))
		return error_set(e, ST_INVALID, "tensor '%s' is of a type that is not supported",
			name);
	rows = number(shape, 0, s->data.len);
	if (json_array_size(shape) == 2)
		columns = number(shape, 1, s->data.len);
	if (rows < 0 || columns < 0 || json_array_size(shape) > 2)
		return error_set(e, ST_INVALID, "tensor '%s' is of no shape that is supported",
			name);
	start = number(offsets, 0, s->data.len);
	end = number(offsets, 1, s->data.len);
	if (start < 0 || end < start || json_array_size(offsets) != 2 ||
		__builtin_mul_overflow((size_t)rows, (size_t)columns, &total) ||
		__builtin_mul_overflow(total, size, &total) || total != (size_t)(end - start))
		return error_set(e, ST_INVALID, "tensor '%s' does not fit its place in the file",
			name);
	ret->rows = (size_t)rows;
	ret->columns = (size_t)columns;
	ret->data = s->data.data + start;
	return ST_OK;
}

/* IEEE 754 binary16 to binary32: every value has one. */
static float from_half(uint16_t half)
{
	uint32_t sign = (uint32_t)(half & 0x8000) << 16, exponent = half >> 10 & 31;
	uint32_t mantissa = half & 0x3FF, bits;
	float f;

	if (exponent == 0) {
		f = (float)mantissa * 0x1p-24f;
		return sign ? -f : f;
	}
	bits = sign | (exponent == 31 ? 0x7F800000 : (exponent + 112) << 23) | mantissa << 13;
	memcpy(&f, &bits, sizeof f);
	return f;
}

float tensor_float(const struct tensor *t, size_t i)
{
	float f = 0;
	double d;
	uint16_t half;

	switch (t->type) {
	case TENSOR_F32:
		memcpy(&f, t->data + 4 * i, 4);
		break;
	case TENSOR_F16:
		memcpy(&half, t->data + 2 * i, 2);
		f = from_half(half);
		break;
	case TENSOR_F64:
		memcpy(&d, t->data + 8 * i, 8);
		f = (float)d;
		break;
	case TENSOR_I8:
		f = (float)(signed char)t->data[i];
		break;
	case TENSOR_I64:
		f = (float)tensor_integer(t, i);
		break;
	}
	return f;
}

int64_t tensor_integer(const struct tensor *t, size_t i)
{
	int64_t v;

	memcpy(&v, t->data + 8 * i, 8);
	return v;
}
