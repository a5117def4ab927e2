/*
 * rpc/json.h: JSON in, within limits (M15, D41). A first pass over the bytes, in
 * constant memory, counts depth, keys and string lengths and remembers where the
 * ids stand, so that they can be echoed exactly as they were written (D19); then
 * Jansson parses.
 */
#ifndef RCPD_RPC_JSON_H
#define RCPD_RPC_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "rpc/error.h"
#include "util/bytes.h"

struct json_bounds {
	size_t max_depth, max_keys, max_string;
};

/* Where the raw text of "id" stands: of the message, or of each member of a batch. */
struct json_ids {
	struct bytes *v; /* the caller's array */
	size_t cap;      /* its size; ids of later members are not kept */
};

struct json_doc {
	json_t *root; /* new reference */
	bool lossy;   /* some integer did not fit 64 bits: all numbers are reals */
};

/*
 * RPC_OK, or RPC_PARSE / RPC_TOO_LARGE with err filled. The caller zeroes ids->v;
 * what is set there borrows from text. An id beyond 64 bits is RPC_PARSE.
 */
enum rpc_code json_read(const char *text, size_t len, const struct json_bounds *bounds,
	struct json_ids *ids, struct json_doc *ret, struct rpc_error *err);

#endif
