/*
 * rpc/inflight.h: requests that a cancel can reach, by (identity, session, id).
 * Entries are embedded in the calls; each has a place of its own, so that two
 * clients (or one careless client) with the same id never meet (D17). Thread-safe.
 */
#ifndef RCPD_RPC_INFLIGHT_H
#define RCPD_RPC_INFLIGHT_H

#include <jansson.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "util/arena.h"
#include "util/status.h"

struct inflight;

struct inflight_entry {
	struct inflight_entry *next, **prev_next; /* prev_next NULL: not in the table */
	struct bytes key;
	atomic_bool cancelled;
};

/* A table of its own; freed once nothing is in flight. */
enum status inflight_new(struct inflight **ret);
void inflight_free(struct inflight *t);

/* The key of a request in the arena: identity, session and the id's value, so that
 * "7" and 7 differ and 7, 7.0 and 7e0 do not. ST_NOMEM only. */
enum status inflight_key(struct arena *a, const char *identity, const char *session,
	const json_t *id, struct bytes *ret);
void inflight_add(struct inflight *t, struct inflight_entry *e);
void inflight_remove(struct inflight *t, struct inflight_entry *e); /* fine if not in */
/* Marks what has the key; returns how many that were. */
size_t inflight_cancel(struct inflight *t, struct bytes key);

#endif
