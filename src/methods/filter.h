/*
 * methods/filter.h: JSON into what the engine filters by: filter trees (F1-F3,
 * D24-D28) and the values of a document's meta.
 */
#ifndef RCPD_METHODS_FILTER_H
#define RCPD_METHODS_FILTER_H

#include "engine/engine.h"
#include "rpc/table.h"

/*
 * Reads the value of a `filter` parameter (not null) into a tree in the call's arena;
 * strings are borrowed from the message. Fields are those that this call's session was
 * told about (D42). A wrong tree is -32602 with the path of the culprit, an operator
 * that is not offered -32005.
 */
enum rpc_code methods_filter_parse(struct rpc_call *call, const json_t *filter,
	struct engine_filter **ret);

#define METHODS_FILTER_LEAVES 4096  /* of a tree: more is -32013 */
#define METHODS_FILTER_VALUES 10000 /* of all in and nin of a tree: more is -32013 */

/* The same without a call. */
struct methods_filter_source {
	struct engine *engine;
	uint64_t epoch; /* fields with lower numbers are known */
	struct arena *arena;
	struct rpc_error *err;
};
enum rpc_code methods_filter_read(const struct methods_filter_source *src, const json_t *filter,
	struct engine_filter **ret);

/* An operator's name on the wire. Static storage. */
const char *methods_op_name(enum engine_op op);
#define METHODS_OPS 10

/*
 * The values of a meta object: scalars and arrays of scalars; members of objects under
 * their path ("author.name"), nested at most 8 deep; null and anything else is left
 * out. At most 1,024 values, the first ones. Strings are borrowed from meta, paths of
 * nested members in the arena. ST_NOMEM.
 */
enum status methods_values_read(const json_t *meta, struct arena *arena, struct engine_value **ret,
	size_t *ret_n);
/* The same from JSON text, everything in the arena: engine_options.values. Text that is
 * no object has none. */
enum status methods_values_parse(struct bytes meta, struct arena *arena, struct engine_value **ret,
	size_t *ret_n);

#endif
