/*
 * engine/filter/segment.h: arrays that grow while others read them: segment s holds
 * 64 << s items, so nothing ever moves and half of the memory is in use.
 */
#ifndef RCPD_ENGINE_FILTER_SEGMENT_H
#define RCPD_ENGINE_FILTER_SEGMENT_H

#include <stdint.h>

#define FLT_SEGMENTS 26U /* hold FLT_MAX_ITEMS and some more */
#define FLT_MAX_ITEMS (UINT32_MAX / 2)

/* The segment of item i and its place there. */
static inline unsigned flt_segment(uint32_t i, uint32_t *ret_at)
{
	uint64_t x = (uint64_t)i + 64;
	unsigned s = 57 - (unsigned)__builtin_clzll(x);

	*ret_at = (uint32_t)(x - (UINT64_C(64) << s));
	return s;
}

static inline uint32_t flt_segment_size(unsigned s)
{
	return UINT32_C(64) << s;
}

#endif
