/*
 * engine/filter/types.h: every value as a 64-bit number that sorts like the value, so
 * that one set of loops serves all types. INT, DATE and BOOL: the integer with its
 * sign turned. FLOAT: its bits, turned so that they sort. Strings: twice the code in
 * the field's dictionary, plus 1 for an element of an array (KEYWORD only).
 */
#ifndef RCPD_ENGINE_FILTER_TYPES_H
#define RCPD_ENGINE_FILTER_TYPES_H

#include <stdint.h>
#include <string.h>

#include "engine/engine.h"

#define FLT_SIGN (UINT64_C(1) << 63)

static inline uint64_t flt_from_int(int64_t v)
{
	return (uint64_t)v ^ FLT_SIGN;
}

static inline int64_t flt_to_int(uint64_t order)
{
	return (int64_t)(order ^ FLT_SIGN);
}

/* Both zeros are one; r is no NaN. */
static inline uint64_t flt_from_real(double r)
{
	uint64_t bits;

	memcpy(&bits, &r, sizeof(bits));
	if (bits << 1 == 0)
		bits = 0;
	return bits & FLT_SIGN ? ~bits : bits | FLT_SIGN;
}

static inline bool flt_is_string(enum engine_type type)
{
	return type == ENGINE_KEYWORD || type == ENGINE_PROSE;
}

/* False if v does not suit the type (filter_suits). *ret is set unless the type is one
 * of strings. */
bool flt_value_order(enum engine_type type, const struct engine_value *v, uint64_t *ret);

/* The same for a scalar of a filter, which is in its type; no strings. */
uint64_t flt_scalar_order(enum engine_type type, const struct engine_scalar *s);

#endif
