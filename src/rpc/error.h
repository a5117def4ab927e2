/*
 * rpc/error.h: the error codes of RCP/1 (C2) and how one is told.
 */
#ifndef RCPD_RPC_ERROR_H
#define RCPD_RPC_ERROR_H

#include <stdbool.h>
#include <stdint.h>

#include "rcp/errors.h"
#include "util/status.h"
#include "util/strbuf.h"

enum rpc_code {
	RPC_OK = 0,
	RPC_PARSE = RCP_PARSE_ERROR,
	RPC_INVALID_REQUEST = RCP_INVALID_REQUEST,
	RPC_INVALID_PARAMS = RCP_INVALID_PARAMS,
	RPC_INTERNAL = RCP_INTERNAL_ERROR,
	RPC_NOT_INITIALIZED = RCP_NOT_INITIALIZED,
	RPC_VERSION = RCP_VERSION_MISMATCH,
	RPC_CAPABILITY = RCP_CAPABILITY_MISSING,
	RPC_UNKNOWN_METHOD = RCP_UNKNOWN_METHOD,
	RPC_OPTION = RCP_OPTION_UNSUPPORTED,
	RPC_CANCELLED = RCP_CANCELLED,
	RPC_UNAVAILABLE = RCP_BACKEND_UNAVAILABLE,
	RPC_RATE_LIMITED = RCP_RATE_LIMITED,
	RPC_UNAUTHORIZED = RCP_UNAUTHORIZED,
	RPC_TOO_LARGE = RCP_PAYLOAD_TOO_LARGE,
	RPC_TIMEOUT = RCP_TIMEOUT,
	RPC_NOT_FOUND = RCP_NOT_FOUND,
	RPC_CONFLICT = RCP_CONFLICT,
};

struct rpc_error {
	enum rpc_code code;
	char message[256];
	char field[416];         /* error.data.field, "" when none; the deepest filter fits */
	char option[80];         /* error.data.option, "" when none */
	int retryable;           /* -1: as the code's default; 0, 1 */
	uint32_t retry_after_ms; /* 0: left out */
};

/* Whether a retry of the same request may succeed (specification 12.2). */
bool rpc_code_retryable(enum rpc_code code);
/* Fills err; returns code. The _field and _option forms also set error.data. */
enum rpc_code rpc_error_set(struct rpc_error *err, enum rpc_code code, const char *fmt, ...)
	RCPD_PRINTF(3, 4);
enum rpc_code rpc_error_field(struct rpc_error *err, const char *field, const char *fmt, ...)
	RCPD_PRINTF(3, 4); /* RPC_INVALID_PARAMS */
enum rpc_code rpc_error_option(struct rpc_error *err, const char *option, const char *fmt, ...)
	RCPD_PRINTF(3, 4); /* RPC_OPTION */
/* Translates a lower layer's error (status to code, field and message kept). */
enum rpc_code rpc_error_from(struct rpc_error *err, const struct error *e);

/*
 * Appends a whole JSON-RPC error response. id is raw JSON text as the client sent
 * it, or NULL for null. A body for HTTP failures is made with the same function.
 */
void rpc_error_write(struct strbuf *out, const char *id, size_t id_len,
	const struct rpc_error *err);

#ifdef __clang_analyzer__ /* as in util/status.h */
#define rpc_error_set(err, code, ...) ((void)(rpc_error_set)(err, code, __VA_ARGS__), (code))
#define rpc_error_field(err, ...) ((void)(rpc_error_field)(err, __VA_ARGS__), RPC_INVALID_PARAMS)
#define rpc_error_option(err, ...) ((void)(rpc_error_option)(err, __VA_ARGS__), RPC_OPTION)
#endif

#endif
