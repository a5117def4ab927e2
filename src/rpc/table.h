/*
 * rpc/table.h: what a method is: one const row, a params table and a function
 * that gets a call and writes a result. Only the dispatcher writes replies, so a
 * handler can neither forget to answer nor answer twice.
 */
#ifndef RCPD_RPC_TABLE_H
#define RCPD_RPC_TABLE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rpc/caller.h"
#include "rpc/error.h"
#include "rpc/params.h"
#include "rpc/writer.h"
#include "util/arena.h"
#include "util/log.h"

struct rpc_call; /* one request being run; opaque to methods */

/*
 * Writes exactly one JSON object to out and returns RPC_OK, or fills
 * rpc_call_error(call) and returns its code (what was written is dropped). params
 * is the struct filled from the row's table, in the call's arena.
 */
typedef enum rpc_code rpc_handler(struct rpc_call *call, const void *params,
	struct json_writer *out);
/* Checks across fields, before a stream starts; as above without output. */
typedef enum rpc_code rpc_checker(struct rpc_call *call, void *params);

enum rpc_method_flags {
	RPC_M_OPEN = 1 << 0,     /* served before initialize (D2) */
	RPC_M_INLINE = 1 << 1,   /* cheap: runs on the I/O thread */
	RPC_M_STREAMS = 1 << 2,  /* may send progress frames */
	RPC_M_OWN_META = 1 << 3, /* writes _meta itself (initialize, info) */
};

struct rpc_method {
	const char *name;
	const char *summary;
	const char *capability; /* key that must be advertised; NULL: core */
	rpc_handler *run;       /* NULL: known to RCP/1, not built here: -32003 */
	rpc_checker *check;     /* NULL: none */
	const struct rpc_param *params;
	size_t param_count;
	size_t params_size; /* sizeof the struct that params fill */
	unsigned right;     /* of enum rpc_right */
	unsigned flags;
};

/* What a handler may ask of its call. All belong to the thread that runs it. */
struct arena *rpc_call_arena(struct rpc_call *call);
struct rpc_error *rpc_call_error(struct rpc_call *call);
void *rpc_call_methods_arg(struct rpc_call *call);
const struct rpc_caller *rpc_call_caller(const struct rpc_call *call);
const json_t *rpc_call_meta(const struct rpc_call *call); /* params._meta or NULL */
/* Of the traceparent that came with the message; "" if none did (O2). For methods that
 * write _meta themselves. */
const char *rpc_call_trace_id(const struct rpc_call *call);
/* The epoch of the capabilities that this call's session was told (D42): see rpc.h. */
uint64_t rpc_call_epoch(const struct rpc_call *call);
/* Cancelled, client gone or deadline passed: give up soon. Cheap. */
bool rpc_call_should_stop(const struct rpc_call *call);
/* -32006 or -32014 as the case is; for handlers that gave up. */
enum rpc_code rpc_call_stopped(struct rpc_call *call);
/* True when a progress frame would be sent; ask before building a costly one. */
bool rpc_call_wants_progress(const struct rpc_call *call);
/* Sends one progress frame; progress never falls (clamped). partial is the raw
 * JSON text of an object, or NULL. */
void rpc_call_progress(struct rpc_call *call, double progress, const char *stage,
	const char *message, const char *partial, size_t partial_len);
/* notifications/log to a peer that asked (O1); no query or document text. */
void rpc_call_log(struct rpc_call *call, enum log_level level, const char *logger, const char *fmt,
	...) RCPD_PRINTF(4, 5);

#endif
