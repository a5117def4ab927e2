/*
 * methods/filter_value.c: the value of a filter's leaf, by the field's type and the
 * operator (F3, D26, D28, D29). What does not suit is refused with its path.
 */
#include "methods/filter_private.h"

#include <math.h>

#include "util/date.h"

static enum rpc_code wrong(struct filter_reader *r, const struct engine_field *field,
	const char *want)
{
	return rpc_error_field(r->src->err, r->path, "the value for a field of type %s must be %s",
		engine_type_name(field->type), want);
}

static enum rpc_code read_string(struct filter_reader *r, const json_t *v,
	const struct engine_field *field, struct engine_scalar *ret)
{
	if (!json_is_string(v))
		return wrong(r, field, "a string");
	ret->s = (struct bytes){ json_string_value(v), json_string_length(v) };
	return RPC_OK;
}

static enum rpc_code read_date(struct filter_reader *r, const json_t *v,
	const struct engine_field *field, struct engine_scalar *ret)
{
	const struct bytes text = { json_string_value(v), json_string_length(v) };

	if (json_is_string(v) ? date_parse(text, &ret->i) : rpc_json_integer(v, &ret->i))
		return RPC_OK;
	return wrong(r, field,
		"a date (RFC 3339 with offset, or a day alone) or milliseconds since 1970");
}

static enum rpc_code read_scalar(struct filter_reader *r, const json_t *v,
	const struct engine_field *field, struct engine_scalar *ret)
{
	switch (field->type) {
	case ENGINE_KEYWORD:
	case ENGINE_PROSE:
		return read_string(r, v, field, ret);
	case ENGINE_INT:
		if (!rpc_json_integer(v, &ret->i))
			return wrong(r, field, "an integer within 53 bits");
		return RPC_OK;
	case ENGINE_FLOAT:
		if (!json_is_number(v) || !isfinite(json_number_value(v)))
			return wrong(r, field, "a number");
		ret->r = json_number_value(v);
		return RPC_OK;
	case ENGINE_BOOL:
		if (!json_is_boolean(v))
			return wrong(r, field, "true or false");
		ret->i = json_is_true(v);
		return RPC_OK;
	case ENGINE_DATE:
		return read_date(r, v, field, ret);
	}
	return rpc_error_set(r->src->err, RPC_INTERNAL, "a field has an unknown type");
}

/* in and nin: the values of one leaf. */
static enum rpc_code read_list(struct filter_reader *r, const json_t *v,
	const struct engine_field *field, struct engine_filter *ret)
{
	size_t n = json_array_size(v);
	enum rpc_code rc = RPC_OK;

	if (!json_is_array(v) || n == 0)
		return rpc_error_field(r->src->err, r->path,
			"the value for in and nin must be an array of at least one scalar");
	if (n > METHODS_FILTER_VALUES - r->values) {
		rpc_error_field(r->src->err, r->path,
			"the lists of a filter may have at most %d values in all",
			METHODS_FILTER_VALUES);
		r->src->err->code = RPC_TOO_LARGE;
		return RPC_TOO_LARGE;
	}
	r->values += n;
	ret->values = arena_array(r->src->arena, n, sizeof(*ret->values));
	if (!ret->values)
		return rpc_error_set(r->src->err, RPC_UNAVAILABLE, "out of memory");
	ret->value_count = n;
	for (size_t i = 0; i < n && !rc; i++) {
		size_t before = filter_path_add(r, "[%zu]", i);

		rc = read_scalar(r, json_array_get(v, i), field, &ret->values[i]);
		if (!rc)
			filter_path_cut(r, before);
	}
	return rc;
}

/* D26: absent is true; nothing else stands for a boolean. */
static enum rpc_code read_exists(struct filter_reader *r, const json_t *v,
	struct engine_scalar *ret)
{
	if (v && !json_is_boolean(v))
		return rpc_error_field(r->src->err, r->path,
			"the value for exists must be true or false");
	ret->i = !v || json_is_true(v);
	return RPC_OK;
}

enum rpc_code filter_value_read(struct filter_reader *r, const json_t *value,
	const struct engine_field *field, struct engine_filter *ret)
{
	size_t before = filter_path_add(r, ".value");
	enum rpc_code rc;

	if (ret->op == ENGINE_IN || ret->op == ENGINE_NIN) {
		rc = read_list(r, value, field, ret);
	} else {
		ret->values = arena_zero(r->src->arena, sizeof(*ret->values));
		if (!ret->values)
			return rpc_error_set(r->src->err, RPC_UNAVAILABLE, "out of memory");
		ret->value_count = 1;
		rc = ret->op == ENGINE_EXISTS ? read_exists(r, value, ret->values)
					      : read_scalar(r, value, field, ret->values);
	}
	if (!rc)
		filter_path_cut(r, before);
	return rc;
}
