/*
 * rpc/call.c: what a handler may ask of the request it runs, and the frames it
 * may send before the answer.
 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "rpc/private.h"
#include "util/clock.h"

struct arena *rpc_call_arena(struct rpc_call *call)
{
	return &call->job->arena;
}

struct rpc_error *rpc_call_error(struct rpc_call *call)
{
	return &call->err;
}

void *rpc_call_methods_arg(struct rpc_call *call)
{
	return call->job->rpc->methods_arg;
}

const struct rpc_caller *rpc_call_caller(const struct rpc_call *call)
{
	return &call->job->caller;
}

const json_t *rpc_call_meta(const struct rpc_call *call)
{
	return call->meta;
}

const char *rpc_call_trace_id(const struct rpc_call *call)
{
	return call->job->trace_id;
}

uint64_t rpc_call_epoch(const struct rpc_call *call)
{
	const struct rpc *rpc = call->job->rpc;

	if (call->in_session)
		return call->epoch;
	return rpc->epoch ? rpc->epoch(rpc->methods_arg) : 0;
}

static bool was_cancelled(const struct rpc_call *call)
{
	return atomic_load_explicit(&call->inflight.cancelled, memory_order_relaxed) ||
		atomic_load_explicit(&call->job->cancelled, memory_order_relaxed) ||
		atomic_load_explicit(&call->job->rpc->stopping, memory_order_relaxed);
}

bool call_stopped_at(const struct rpc_call *call, uint64_t now_ns)
{
	return was_cancelled(call) || now_ns >= call->deadline_ns;
}

bool rpc_call_should_stop(const struct rpc_call *call)
{
	return call_stopped_at(call, clock_mono_ns());
}

enum rpc_code rpc_call_stopped(struct rpc_call *call)
{
	if (was_cancelled(call))
		return rpc_error_set(&call->err, RPC_CANCELLED, "cancelled");
	return rpc_error_set(&call->err, RPC_TIMEOUT, "the deadline of this request passed");
}

bool rpc_call_wants_progress(const struct rpc_call *call)
{
	return call->token && call->job->ops && !call->job->batch && call->job->wants_progress;
}

/* T6: as it came, down to the spelling of a number. */
static void write_token(const struct rpc_call *call, struct json_writer *w)
{
	jw_key(w, "progressToken");
	jw_raw(w, call->spans.token.data, call->spans.token.len);
}

/* A reader that is gone or too slow ends the request. */
static void send_frame(struct rpc_call *call, struct json_writer *w)
{
	struct rpc_job *job = call->job;

	if (json_writer_ok(w) && job->ops->send(job->stream_arg, w->out->data, w->out->len) != 0)
		atomic_store(&job->cancelled, true);
}

static void open_notification(struct json_writer *w, struct strbuf *sb, const char *method)
{
	json_writer_init(w, sb);
	jw_object(w);
	jw_kv_string(w, "jsonrpc", "2.0");
	jw_kv_string(w, "method", method);
	jw_key(w, "params");
	jw_object(w);
}

void rpc_call_progress(struct rpc_call *call, double progress, const char *stage,
	const char *message, const char *partial, size_t partial_len)
{
	struct strbuf sb = STRBUF_INIT;
	struct json_writer w;

	if (!rpc_call_wants_progress(call))
		return;
	if (!(progress >= call->progress))
		progress = call->progress;
	if (progress > 1)
		progress = 1;
	call->progress = progress;
	open_notification(&w, &sb, "notifications/progress");
	write_token(call, &w);
	jw_kv_real(&w, "progress", progress);
	jw_kv_string(&w, "stage", stage);
	if (message)
		jw_kv_string(&w, "message", message);
	if (partial) {
		jw_key(&w, "partial");
		jw_raw(&w, partial, partial_len);
	}
	jw_end(&w);
	jw_end(&w);
	send_frame(call, &w);
	strbuf_release(&sb);
}

void rpc_call_log(struct rpc_call *call, enum log_level level, const char *logger, const char *fmt,
	...)
{
	struct strbuf sb = STRBUF_INIT;
	struct json_writer w;
	char message[256];
	va_list ap;

	if (call->log_level < 0 || (int)level < call->log_level || !call->job->ops ||
		!call->job->ops->logs)
		return;
	va_start(ap, fmt);
	vsnprintf(message, sizeof(message), fmt, ap);
	va_end(ap);
	open_notification(&w, &sb, "notifications/log");
	jw_kv_string(&w, "level", log_level_name(level));
	jw_kv_string(&w, "message", message);
	jw_kv_string(&w, "logger", logger);
	if (call->token) {
		jw_key(&w, "_meta");
		jw_object(&w);
		write_token(call, &w);
		jw_end(&w);
	}
	jw_end(&w);
	jw_end(&w);
	send_frame(call, &w);
	strbuf_release(&sb);
}
