/*
 * types.c: field types: their names on the wire, which operators suit them, and which
 * JSON values become values of them.
 */
#include "engine/filter/types.h"

#include <math.h>

#include "engine/filter/filter.h"
#include "util/date.h"

#define BEYOND_53_BITS 9007199254740992.0

static const char *const type_names[ENGINE_TYPE_COUNT] = {
	[ENGINE_KEYWORD] = "keyword",
	[ENGINE_PROSE] = "text",
	[ENGINE_INT] = "int",
	[ENGINE_FLOAT] = "float",
	[ENGINE_BOOL] = "bool",
	[ENGINE_DATE] = "date",
};

const char *engine_type_name(enum engine_type type)
{
	return type_names[type];
}

bool engine_type_parse(struct bytes name, enum engine_type *ret)
{
	for (unsigned i = 0; i < ENGINE_TYPE_COUNT; i++) {
		if (!bytes_eq(name, bytes_of(type_names[i])))
			continue;
		*ret = (enum engine_type)i;
		return true;
	}
	return false;
}

bool engine_op_suits(enum engine_op op, enum engine_type type)
{
	switch (op) {
	case ENGINE_GT:
	case ENGINE_GTE:
	case ENGINE_LT:
	case ENGINE_LTE:
		return type == ENGINE_INT || type == ENGINE_FLOAT || type == ENGINE_DATE;
	case ENGINE_CONTAINS:
		return flt_is_string(type);
	case ENGINE_EQ:
	case ENGINE_NE:
	case ENGINE_IN:
	case ENGINE_NIN:
	case ENGINE_EXISTS:
		break;
	}
	return true;
}

static bool whole_number(const struct engine_value *v, int64_t *ret)
{
	if (v->kind == ENGINE_V_INT) {
		*ret = v->i;
		return true;
	}
	/* Written so that a NaN fails, too. */
	if (v->kind != ENGINE_V_REAL || !(fabs(v->r) < BEYOND_53_BITS))
		return false;
	*ret = (int64_t)v->r;
	return !((double)*ret < v->r) && !((double)*ret > v->r);
}

static bool instant(const struct engine_value *v, int64_t *ret)
{
	if (v->kind == ENGINE_V_STRING)
		return date_parse(v->s, ret);
	*ret = v->i;
	return v->kind == ENGINE_V_INT;
}

bool flt_value_order(enum engine_type type, const struct engine_value *v, uint64_t *ret)
{
	int64_t i = v->i;
	bool fits = false;

	switch (type) {
	case ENGINE_KEYWORD:
	case ENGINE_PROSE:
		return v->kind == ENGINE_V_STRING && v->s.len <= ENGINE_MAX_KEYWORD;
	case ENGINE_FLOAT:
		if (v->kind != ENGINE_V_INT && (v->kind != ENGINE_V_REAL || !isfinite(v->r)))
			return false;
		*ret = flt_from_real(v->kind == ENGINE_V_INT ? (double)v->i : v->r);
		return true;
	case ENGINE_INT:
		fits = whole_number(v, &i);
		break;
	case ENGINE_DATE:
		fits = instant(v, &i);
		break;
	case ENGINE_BOOL:
		fits = v->kind == ENGINE_V_BOOL;
		i = i != 0;
		break;
	}
	if (fits)
		*ret = flt_from_int(i);
	return fits;
}

uint64_t flt_scalar_order(enum engine_type type, const struct engine_scalar *s)
{
	if (type == ENGINE_FLOAT)
		return flt_from_real(s->r);
	return flt_from_int(type == ENGINE_BOOL ? s->i != 0 : s->i);
}

bool filter_suits(enum engine_type type, const struct engine_value *v)
{
	uint64_t order;

	return flt_value_order(type, v, &order);
}
