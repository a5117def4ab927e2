/* rpc/error.c: filling errors and writing them as JSON-RPC (specification 12). */
#include "rpc/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "rpc/writer.h"
#include "util/utf8.h"

bool rpc_code_retryable(enum rpc_code code)
{
	return code == RPC_NOT_INITIALIZED || code == RPC_UNAVAILABLE || code == RPC_RATE_LIMITED ||
		code == RPC_TIMEOUT;
}

/* Copies into a fixed array, cutting on a whole character. */
static void copy_cut(char *dst, size_t size, const char *src)
{
	size_t n = strlen(src);

	if (n >= size)
		n = utf8_floor(src, n, size - 1);
	memcpy(dst, src, n);
	dst[n] = '\0';
}

static void set_message(struct rpc_error *err, enum rpc_code code, const char *fmt, va_list ap)
	RCPD_PRINTF(3, 0);
static void set_message(struct rpc_error *err, enum rpc_code code, const char *fmt, va_list ap)
{
	int n;

	err->code = code;
	err->field[0] = err->option[0] = '\0';
	err->retryable = -1;
	err->retry_after_ms = 0;
	n = vsnprintf(err->message, sizeof(err->message), fmt, ap);
	if (n >= (int)sizeof(err->message)) {
		size_t last = sizeof(err->message) - 1;

		err->message[utf8_floor(err->message, last, last)] = '\0';
	}
}

enum rpc_code(rpc_error_set)(struct rpc_error *err, enum rpc_code code, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	set_message(err, code, fmt, ap);
	va_end(ap);
	return code;
}

enum rpc_code(rpc_error_field)(struct rpc_error *err, const char *field, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	set_message(err, RPC_INVALID_PARAMS, fmt, ap);
	va_end(ap);
	copy_cut(err->field, sizeof(err->field), field);
	return RPC_INVALID_PARAMS;
}

enum rpc_code(rpc_error_option)(struct rpc_error *err, const char *option, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	set_message(err, RPC_OPTION, fmt, ap);
	va_end(ap);
	copy_cut(err->option, sizeof(err->option), option);
	return RPC_OPTION;
}

static enum rpc_code code_of(enum status st)
{
	switch (st) {
	case ST_OK:
		return RPC_OK;
	case ST_INVALID:
		return RPC_INVALID_PARAMS;
	case ST_CANCELLED:
		return RPC_CANCELLED;
	case ST_TIMEOUT:
		return RPC_TIMEOUT;
	case ST_NOT_FOUND:
		return RPC_NOT_FOUND;
	case ST_CONFLICT:
		return RPC_CONFLICT;
	case ST_TOO_LARGE:
		return RPC_TOO_LARGE;
	case ST_NOMEM:
	case ST_UNAVAILABLE:
	case ST_FULL:
	case ST_IO:
	case ST_CORRUPT:
	case ST_FUTURE:
	case ST_LOCKED:
	case ST_GONE:
		return RPC_UNAVAILABLE;
	case ST_INTERNAL:
		break;
	}
	return RPC_INTERNAL;
}

enum rpc_code rpc_error_from(struct rpc_error *err, const struct error *e)
{
	rpc_error_set(err, code_of(e->code), "%s", e->message);
	copy_cut(err->field, sizeof(err->field), e->field);
	/* What is damaged or gone does not come back by asking again. */
	if (e->code == ST_CORRUPT || e->code == ST_FUTURE || e->code == ST_GONE)
		err->retryable = 0;
	return err->code;
}

void rpc_error_write(struct strbuf *out, const char *id, size_t id_len, const struct rpc_error *err)
{
	struct json_writer w;
	bool retryable = err->retryable < 0 ? rpc_code_retryable(err->code) : err->retryable != 0;

	json_writer_init(&w, out);
	jw_object(&w);
	jw_kv_string(&w, "jsonrpc", "2.0");
	jw_key(&w, "id");
	if (id)
		jw_raw(&w, id, id_len);
	else
		jw_null(&w);
	jw_key(&w, "error");
	jw_object(&w);
	jw_kv_int(&w, "code", err->code);
	jw_kv_string(&w, "message", err->message);
	jw_key(&w, "data");
	jw_object(&w);
	if (err->field[0])
		jw_kv_string(&w, "field", err->field);
	if (err->option[0])
		jw_kv_string(&w, "option", err->option);
	jw_kv_bool(&w, "retryable", retryable);
	if (err->retry_after_ms)
		jw_kv_int(&w, "retryAfterMs", err->retry_after_ms);
	jw_end(&w);
	jw_end(&w);
	jw_end(&w);
}
