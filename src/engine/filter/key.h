/*
 * engine/filter/key.h: a filter tree as bytes: equal bytes, same answer in any view.
 */
#ifndef RCPD_ENGINE_FILTER_KEY_H
#define RCPD_ENGINE_FILTER_KEY_H

#include "engine/filter/private.h"
#include "util/strbuf.h"

/* Appends the tree's bytes; ret->failed when out of memory. ST_INTERNAL if it is deeper
 * than ENGINE_FILTER_DEPTH. */
enum status flt_key_make(const struct filter_view *v, const struct engine_filter *f,
	struct strbuf *ret);

#endif
