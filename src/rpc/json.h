/*
 * rpc/json.h: JSON in, within limits (M15, D41). A first pass over the bytes, in
 * constant memory, counts depth, values and string lengths and remembers where the
 * few values stand that are echoed exactly as they were written (D19, L5, T6) or
 * wanted before anything is parsed (L6, L7); then Jansson parses.
 */
#ifndef RCPD_RPC_JSON_H
#define RCPD_RPC_JSON_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "rpc/error.h"
#include "util/bytes.h"

struct json_bounds {
	size_t max_depth;
	size_t max_values; /* members and elements of all objects and arrays */
	size_t max_string;
	size_t max_batch;
};

/* Raw text of a message's scalars; NONE where absent or no string or number. */
struct json_spans {
	struct bytes id;
	struct bytes nonce;    /* params.nonce */
	struct bytes token;    /* params._meta.progressToken */
	struct bytes deadline; /* params._meta.deadlineMs */
};

struct json_scan {
	bool batch;               /* the text is an array */
	bool batch_excess;        /* with more members than max_batch */
	struct json_spans *spans; /* the caller's: one, or max_batch of them, zeroed */
	size_t cap;               /* their number; later members are not kept */
};

/*
 * The first pass alone. RPC_OK, or RPC_PARSE / RPC_TOO_LARGE with err filled. What
 * it finds in text that is no JSON means nothing; spans borrow from text.
 */
enum rpc_code json_scan(const char *text, size_t len, const struct json_bounds *bounds,
	struct json_scan *ret, struct rpc_error *err);
/*
 * Parses text that passed the scan; *ret is a new reference. Integers beyond 64
 * bits become reals: too large for any declared integer, ignored where unknown.
 */
enum rpc_code json_parse(const char *text, size_t len, json_t **ret, struct rpc_error *err);

#endif
