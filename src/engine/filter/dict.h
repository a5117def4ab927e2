/*
 * engine/filter/dict.h: the distinct strings of a field and their codes 0, 1, …
 *
 *   table: hash ─▶ code        segments: code ─▶ string        pool: length, bytes
 *
 * One writer adds; readers look up at the same time without a lock. Nothing moves and
 * nothing goes before the dictionary does; a table that was outgrown stays with it,
 * since somebody may still be reading there.
 */
#ifndef RCPD_ENGINE_FILTER_DICT_H
#define RCPD_ENGINE_FILTER_DICT_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "engine/filter/segment.h"
#include "util/bytes.h"

struct flt_string {
	uint32_t len;
	char data[];
};

struct flt_dict_table;
struct flt_dict_pool;

struct flt_dict {
	_Atomic uint32_t count; /* codes below it may be read */
	struct flt_string **segments[FLT_SEGMENTS];
	struct flt_dict_table *_Atomic table;
	struct flt_dict_pool *pool; /* the writer's from here on */
	size_t bytes;               /* memory held */
};

/* All zero is an empty dictionary. */
void flt_dict_release(struct flt_dict *d);
/* For the writer: the code of s, added if need be. False when out of memory. */
bool flt_dict_add(struct flt_dict *d, struct bytes s, uint32_t *ret);
/* For anybody. False if it is not there; a code that the reader's view does not know
 * has no entry in it. */
bool flt_dict_find(const struct flt_dict *d, struct bytes s, uint32_t *ret);

/* The string of a code below count. */
static inline struct bytes flt_dict_at(const struct flt_dict *d, uint32_t code)
{
	uint32_t at;
	unsigned s = flt_segment(code, &at);
	const struct flt_string *string = d->segments[s][at];

	return (struct bytes){ string->data, string->len };
}

static inline uint32_t flt_dict_count(const struct flt_dict *d)
{
	return atomic_load_explicit(&d->count, memory_order_acquire);
}

#endif
