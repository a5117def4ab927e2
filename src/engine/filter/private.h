/*
 * engine/filter/private.h: the structs behind filter.h.
 */
#ifndef RCPD_ENGINE_FILTER_PRIVATE_H
#define RCPD_ENGINE_FILTER_PRIVATE_H

#include <stdatomic.h>

#include "engine/filter/block.h"
#include "engine/filter/cache.h"
#include "engine/filter/dict.h"
#include "engine/filter/filter.h"

struct flt_field {
	struct bytes name; /* behind the struct */
	enum engine_type type;
	struct flt_dict dict; /* KEYWORD and PROSE */
};

struct filter {
	size_t max_fields;
	struct flt_field **fields; /* max_fields; those below a view's count do not change */
	_Atomic uint64_t bytes;    /* of blocks and dictionaries */
	struct flt_cache cache;

	/* The writer's. */
	size_t field_count;
	uint32_t *names; /* hash table: field + 1, 0 free; name_mask + 1 slots */
	size_t name_mask;
	struct flt_block **blocks; /* by number; the last one may be open */
	size_t block_count, block_room;
	struct flt_block *spare; /* the next open block, empty; NULL if not made yet */
	bool has_key;
	int64_t last_key;
	uint64_t *orders; /* scratch of an addition: its values as numbers */
	size_t order_room;
};

struct filter_view {
	_Atomic uint32_t refs;
	struct filter *filter;
	size_t field_count;
	size_t slice_count;
	struct flt_slice slices[];
};

/* The slice with that block number; NULL if none. */
const struct flt_slice *flt_view_slice(const struct filter_view *v, int64_t no);

#endif
