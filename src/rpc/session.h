/*
 * rpc/session.h: who has initialized (L1-L3, T8, D1-D4). A bounded table; when it
 * is full the session unused for longest makes room. One owner may hold a quarter
 * of it and then makes room among its own (K1). Thread-safe.
 */
#ifndef RCPD_RPC_SESSION_H
#define RCPD_RPC_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/status.h"

#define SESSION_TOKEN_LEN 32 /* hex digits of 128 random bits */
#define SESSION_KEY_MAX 256

struct sessions;

/* ttl_s: seconds without use until a session expires; 0: never. Returns new. */
enum status sessions_new(size_t max, uint32_t ttl_s, struct sessions **ret);
void sessions_free(struct sessions *s);

struct session_info {
	int log_level;                     /* the client's wish (O1), -1: it wants no logs */
	char token[SESSION_TOKEN_LEN + 1]; /* handed out by initialize, "" for none */
	uint64_t epoch;                    /* of the capabilities that initialize told (D42) */
};

/* Whether key is known and not expired; then *ret is filled and its time renewed. */
bool sessions_find(struct sessions *s, const char *key, struct session_info *ret);
/* Makes key known for an owner (the caller's identity). ST_CONFLICT if it is already
 * (a second initialize), ST_NOMEM. */
enum status sessions_start(struct sessions *s, const char *key, const char *owner,
	const struct session_info *info);
void sessions_end(struct sessions *s, const char *key);
size_t sessions_count(struct sessions *s);

#endif
