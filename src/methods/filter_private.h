/* methods/filter_private.h: what the readers of filters share. */
#ifndef RCPD_METHODS_FILTER_PRIVATE_H
#define RCPD_METHODS_FILTER_PRIVATE_H

#include "methods/filter.h"

/* The longest path: each level adds ".and[4095]" at most, since leaves are bounded,
 * and ".value[9999]" may follow. It fits struct rpc_error. */
#define FILTER_PATH_MAX (24 + ENGINE_FILTER_DEPTH * 12)

/* A tree being read. */
struct filter_reader {
	const struct methods_filter_source *src;
	size_t leaves, values;      /* so far */
	char path[FILTER_PATH_MAX]; /* of the node at hand, ASCII */
	size_t path_len;
};

/* Appends to the path; returns how long it was, for filter_path_cut. */
size_t filter_path_add(struct filter_reader *r, const char *fmt, ...) RCPD_PRINTF(2, 3);
void filter_path_cut(struct filter_reader *r, size_t len);

/* Fills ret->values from `value` (NULL: absent) as ret->op and the field's type want
 * it; both were found to suit each other. The path is the leaf's. */
enum rpc_code filter_value_read(struct filter_reader *r, const json_t *value,
	const struct engine_field *field, struct engine_filter *ret);

#endif
