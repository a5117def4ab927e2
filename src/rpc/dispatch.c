/*
 * rpc/dispatch.c: one message from envelope to answer. The order of checks is D20:
 * envelope, path, session, method known, capability, rights, params. Nothing else
 * in the server writes a JSON-RPC answer to a request.
 */
#include <stdio.h>
#include <string.h>

#include "rpc/private.h"
#include "util/clock.h"
#include "util/log.h"
#include "util/mem.h"

/* ---- answers ---- */

#define MAX_BATCH_ANSWER (64u << 20) /* bytes after which a batch's members are refused */

static bool is_request(const struct rpc_call *call)
{
	return call->env.kind != ENVELOPE_NOTIFICATION;
}

static void begin_answer(struct rpc_call *call)
{
	struct strbuf *body = &call->job->reply.body;

	if (call->job->batch)
		strbuf_addc(body, body->len ? ',' : '[');
}

void call_fail(struct rpc_call *call)
{
	call->state = CALL_ANSWERED;
	if (!is_request(call))
		return;
	begin_answer(call);
	rpc_error_write(&call->job->reply.body, call->env.id.data, call->env.id.len, &call->err);
}

/* Puts traceId into a result that was written without _meta (O2). */
static void add_trace_id(struct strbuf *body, size_t result_at, const char *trace_id)
{
	bool empty = body->len == result_at + 2;

	if (!strbuf_ok(body))
		return;
	body->len--; /* the closing brace comes again below */
	strbuf_addf(body, "%s\"_meta\":{\"traceId\":\"%s\"}}", empty ? "" : ",", trace_id);
}

/* What the handler wrote since `at` is one whole object. */
static bool result_is_object(const struct strbuf *body, size_t at, const struct json_writer *w)
{
	return json_writer_ok(w) && body->len >= at + 2 && body->data[at] == '{' &&
		body->data[body->len - 1] == '}';
}

/*
 * Runs the handler with its output going straight into the reply; on an error the
 * reply is cut back to where it was. mark is before the answer, at before the
 * result.
 */
static void run_handler(struct rpc_call *call)
{
	struct rpc_job *job = call->job;
	struct strbuf *body = &job->reply.body;
	size_t mark = body->len, at;
	struct json_writer w;
	enum rpc_code rc;

	begin_answer(call);
	strbuf_adds(body, "{\"jsonrpc\":\"2.0\",\"id\":");
	if (call->env.id.data)
		strbuf_add(body, call->env.id.data, call->env.id.len);
	else
		strbuf_adds(body, "null");
	strbuf_adds(body, ",\"result\":");
	at = body->len;
	json_writer_init(&w, body);
	rc = call->method->run(call, call->params, &w);
	if (rc == RPC_OK && !result_is_object(body, at, &w))
		rc = strbuf_ok(body) ? rpc_error_set(&call->err, RPC_INTERNAL, "internal error")
				     : rpc_error_set(&call->err, RPC_UNAVAILABLE, "out of memory");
	if (rc == RPC_OK && is_request(call)) {
		if (job->trace_id[0] && !(call->method->flags & RPC_M_OWN_META))
			add_trace_id(body, at, job->trace_id);
		strbuf_addc(body, '}');
		call->state = CALL_ANSWERED;
		return;
	}
	body->failed = false;
	body->len = mark;
	if (rc == RPC_INTERNAL)
		log_event(LOG_ERROR, "a method failed", LOG_S("method", call->method->name),
			LOG_S("reason", call->err.message));
	call->state = CALL_ANSWERED;
	if (rc != RPC_OK)
		call_fail(call);
}

/* Members of one batch may not pile up answers without end: those behind are refused. */
static bool is_full(const struct rpc_job *job)
{
	return job->batch && job->reply.body.len > MAX_BATCH_ANSWER;
}

void call_run(struct rpc_call *call)
{
	if (rpc_call_should_stop(call)) {
		rpc_call_stopped(call);
		call_fail(call);
		return;
	}
	if (is_full(call->job)) {
		rpc_error_set(&call->err, RPC_TOO_LARGE,
			"the answers before this one are larger than %u MiB together; ask again "
			"in another batch",
			MAX_BATCH_ANSWER >> 20);
		call_fail(call);
		return;
	}
	run_handler(call);
}

/* ---- checks ---- */

const struct rpc_method *call_find_method(const struct rpc *rpc, struct bytes name)
{
	/* Seventeen rows: a linear look beats hashing the name. */
	for (size_t i = 0; i < rpc->method_count; i++)
		if (bytes_eq(bytes_of(rpc->methods[i].name), name))
			return &rpc->methods[i];
	return NULL;
}

/* A dotted path names a member that must be there and not false. */
static bool advertised(const json_t *capabilities, const char *path)
{
	const json_t *at = capabilities;

	while (*path) {
		size_t n = strcspn(path, ".");

		at = json_object_getn(at, path, n);
		path += n + (path[n] == '.');
	}
	return at && !json_is_false(at);
}

/* D7, D9: a method in the path must be the one in the body. */
static enum rpc_code check_path(struct rpc_call *call)
{
	const struct rpc_job *job = call->job;

	if (!job->has_path || bytes_eq(bytes_of(job->path_method), call->env.method))
		return RPC_OK;
	return rpc_error_set(&call->err, RPC_INVALID_REQUEST,
		"the method in the path is not the one in the body");
}

static enum rpc_code check_method(struct rpc_call *call)
{
	struct rpc_job *job = call->job;
	const struct rpc_method *m = call_find_method(job->rpc, call->env.method);
	enum rpc_code rc = session_gate(call, m && (m->flags & RPC_M_OPEN));

	if (rc)
		return rc;
	if (!m)
		return rpc_error_set(&call->err, RPC_UNKNOWN_METHOD,
			"unknown method; info lists what is offered");
	if (m->run && m->right == RPC_WRITE && m->capability &&
		!advertised(job->rpc->capabilities, m->capability))
		return rpc_error_set(&call->err, RPC_CAPABILITY, "this server is read-only");
	if (!m->run || (m->capability && !advertised(job->rpc->capabilities, m->capability)))
		return rpc_error_set(&call->err, RPC_CAPABILITY,
			"%s is not among the capabilities of this server", m->name);
	if ((m->right & job->caller.rights) != m->right)
		return rpc_error_set(&call->err, RPC_UNAUTHORIZED, "this caller has no right to %s",
			m->name);
	call->method = m;
	return RPC_OK;
}

/* params._meta: what of it this server understands (T6, L7, O1). */
static enum rpc_code read_meta(struct rpc_call *call)
{
	const json_t *meta = json_object_get(call->env.params, "_meta");
	const json_t *v;
	int64_t ms;

	if (!meta || json_is_null(meta))
		return RPC_OK;
	if (!json_is_object(meta))
		return rpc_error_field(&call->err, "_meta", "_meta must be an object");
	call->meta = meta;
	v = json_object_get(meta, "progressToken");
	if (v && !json_is_null(v)) {
		if (!json_is_string(v) && !rpc_json_integer(v, &ms))
			return rpc_error_field(&call->err, "_meta.progressToken",
				"_meta.progressToken must be a string or an integer");
		call->token = v;
	}
	v = json_object_get(meta, "deadlineMs");
	if (v && !json_is_null(v)) {
		if (!rpc_json_integer(v, &ms) || ms < 1)
			return rpc_error_field(&call->err, "_meta.deadlineMs",
				"_meta.deadlineMs must be a positive integer");
		if ((uint64_t)ms < (call->deadline_ns - call->job->arrived_ns) / 1000000U)
			call->deadline_ns = call->job->arrived_ns + (uint64_t)ms * 1000000U;
	}
	v = json_object_get(meta, "logLevel");
	if (v && !json_is_null(v)) {
		int level = json_is_string(v) ? log_level_parse(json_string_value(v)) : -1;

		if (level < 0 || level == LOG_OFF)
			return rpc_error_field(&call->err, "_meta.logLevel",
				"_meta.logLevel must be debug, info, notice, warning or error");
		call->log_level = level;
	}
	return RPC_OK;
}

static enum rpc_code check_params(struct rpc_call *call)
{
	struct rpc_job *job = call->job;
	const struct rpc_method *m = call->method;
	const json_t *params = call->env.params;
	enum rpc_code rc;

	if (params && json_is_null(params))
		params = NULL;
	if (params && !json_is_object(params))
		return rpc_error_set(&call->err, RPC_INVALID_PARAMS, "params must be an object");
	rc = read_meta(call);
	if (rc)
		return rc;
	call->params = arena_zero(&job->arena, m->params_size ? m->params_size : 1);
	if (!call->params)
		return rpc_error_set(&call->err, RPC_UNAVAILABLE, "out of memory");
	rc = rpc_params_parse(m->params, m->param_count, params, &job->arena, call->params,
		&call->err);
	if (rc)
		return rc;
	return m->check ? m->check(call, call->params) : RPC_OK;
}

void call_prepare(struct rpc_call *call)
{
	enum rpc_code rc = RPC_OK;

	if (call->env.kind == ENVELOPE_INVALID) {
		call_fail(call);
		return;
	}
	if (!is_request(call) && strncmp(call->env.method.data, "notifications/", 14) == 0) {
		call->state = CALL_ANSWERED;
		if (check_path(call) == RPC_OK)
			call_notification(call);
		return;
	}
	rc = check_path(call);
	if (!rc)
		rc = check_method(call);
	if (!rc)
		rc = check_params(call);
	if (rc) {
		call_fail(call);
		return;
	}
	/* Without an answer to give, only a write has an effect (M5, RPC-05). */
	if (!is_request(call) && call->method->right != RPC_WRITE) {
		call->state = CALL_ANSWERED;
		return;
	}
	if (call->method->flags & RPC_M_INLINE)
		run_handler(call);
	else
		call->state = CALL_READY;
}

/* ---- cancel ---- */

int call_register(struct rpc_call *call)
{
	struct rpc_job *job = call->job;

	if (!call->env.id_value || call->registered)
		return 0;
	if (inflight_key(&job->arena, job->caller.identity, job->session, call->env.id_value,
		    &call->inflight.key))
		return -1;
	inflight_add(job->rpc->inflight, &call->inflight);
	call->registered = true;
	return 0;
}

void call_unregister(struct rpc_call *call)
{
	if (call->registered)
		inflight_remove(call->job->rpc->inflight, &call->inflight);
	call->registered = false;
}

/*
 * D17: over HTTP a cancel must come with a proved identity or with a session that
 * initialize handed out; otherwise anyone behind the same proxy could cancel.
 */
static bool may_cancel(const struct rpc_job *job)
{
	if (job->transport == RPC_OVER_STDIO)
		return true;
	if (job->has_session)
		return session_presented(job);
	return job->caller.authenticated;
}

void call_notification(struct rpc_call *call)
{
	struct rpc_job *job = call->job;
	const json_t *id = json_object_get(call->env.params, "id");
	struct bytes key;

	if (!bytes_eq(call->env.method, bytes_of("notifications/cancel")))
		return; /* progress, log and unknown ones mean nothing to a server */
	if (!json_is_string(id) && !json_is_number(id))
		return;
	if (may_cancel(job) &&
		inflight_key(&job->arena, job->caller.identity, job->session, id, &key) == ST_OK)
		inflight_cancel(job->rpc->inflight, key);
}
