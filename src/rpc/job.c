/*
 * rpc/job.c: a message's life between a transport and the workers, and the
 * dispatcher object itself. See rpc.h for the drawing.
 */
#include <stdio.h>
#include <string.h>

#include "rpc/json.h"
#include "rpc/private.h"
#include "util/clock.h"
#include "util/gauge.h"
#include "util/log.h"
#include "util/mem.h"

/* ---- the dispatcher ---- */

static enum status check_methods(const struct rpc_config *cfg, struct error *e)
{
	for (size_t i = 0; i < cfg->method_count; i++) {
		const struct rpc_method *m = &cfg->methods[i];

		if (!m->name || (m->param_count && (!m->params || !m->params_size)))
			return error_set(e, ST_INTERNAL, "method row %zu contradicts itself", i);
		for (size_t j = 0; j < i; j++)
			if (strcmp(m->name, cfg->methods[j].name) == 0)
				return error_set(e, ST_INTERNAL, "method %s stands twice", m->name);
	}
	return ST_OK;
}

static enum status copy_names(struct rpc *rpc, const struct rpc_config *cfg, struct error *e)
{
	json_error_t je;

	rpc->server_name = mem_strdup(cfg->server_name);
	rpc->server_version = mem_strdup(cfg->server_version);
	rpc->conformance = mem_strdup(cfg->conformance);
	rpc->capabilities_json = mem_strdup(cfg->capabilities_json);
	if (!rpc->server_name || !rpc->server_version || !rpc->conformance ||
		!rpc->capabilities_json)
		return error_set(e, ST_NOMEM, "out of memory");
	rpc->capabilities_len = strlen(rpc->capabilities_json);
	rpc->capabilities = json_loads(cfg->capabilities_json, JSON_REJECT_DUPLICATES, &je);
	if (!json_is_object(rpc->capabilities))
		return error_set(e, ST_INTERNAL, "capabilities are no JSON object: %s", je.text);
	return ST_OK;
}

enum status rpc_new(const struct rpc_config *cfg, struct rpc **ret, struct error *e)
{
	struct rpc *rpc = mem_zero(sizeof(*rpc));
	enum status st;
	uint32_t ttl = cfg->sessions == RPC_SESSIONS_PROCESS ? 0 : cfg->limits.session_ttl_s;

	if (!rpc)
		return error_set(e, ST_NOMEM, "out of memory");
	rpc->methods = cfg->methods;
	rpc->method_count = cfg->method_count;
	rpc->methods_arg = cfg->methods_arg;
	rpc->mode = cfg->sessions;
	rpc->limits = cfg->limits;
	atomic_init(&rpc->deadline_ms, cfg->limits.deadline_ms);
	st = check_methods(cfg, e);
	if (!st)
		st = copy_names(rpc, cfg, e);
	if (!st &&
		(sessions_new(cfg->limits.max_sessions, ttl, &rpc->sessions) ||
			inflight_new(&rpc->inflight)))
		st = error_set(e, ST_NOMEM, "out of memory");
	if (st) {
		rpc_free(rpc);
		return st;
	}
	*ret = rpc;
	return ST_OK;
}

void rpc_free(struct rpc *rpc)
{
	if (!rpc)
		return;
	sessions_free(rpc->sessions);
	inflight_free(rpc->inflight);
	json_decref(rpc->capabilities);
	mem_free(rpc->capabilities_json);
	mem_free(rpc->server_name);
	mem_free(rpc->server_version);
	mem_free(rpc->conformance);
	mem_free(rpc);
}

void rpc_set_deadline(struct rpc *rpc, uint32_t deadline_ms)
{
	atomic_store(&rpc->deadline_ms, deadline_ms);
}

void rpc_cancel_all(struct rpc *rpc)
{
	atomic_store(&rpc->stopping, true);
}

/* ---- a job ---- */

/*
 * The trace-id of a W3C traceparent (Trace Context, section 3.2), or "" where the
 * header is not valid: version ff, all-zero ids, or a tail on version 00.
 */
static void read_traceparent(const char *header, char out[TRACE_ID_LEN + 1])
{
	static const char hex[] = "0123456789abcdef";
	size_t len = header ? strlen(header) : 0;

	out[0] = '\0';
	if (len < 55 || strspn(header, hex) != 2 || strspn(header + 3, hex) != TRACE_ID_LEN ||
		strspn(header + 36, hex) != 16 || strspn(header + 53, hex) < 2)
		return;
	if (header[2] != '-' || header[35] != '-' || header[52] != '-')
		return;
	if (memcmp(header, "ff", 2) == 0 || strspn(header + 3, "0") == TRACE_ID_LEN ||
		strspn(header + 36, "0") == 16)
		return;
	if (len > 55 && (memcmp(header, "00", 2) == 0 || header[55] != '-'))
		return;
	memcpy(out, header + 3, TRACE_ID_LEN);
	out[TRACE_ID_LEN] = '\0';
}

static bool job_is_stale(const struct pool_task *task, uint64_t now_ns)
{
	const struct rpc_job *job =
		(const struct rpc_job *)((const char *)task - offsetof(struct rpc_job, task));

	if (atomic_load_explicit(&job->cancelled, memory_order_relaxed) ||
		atomic_load_explicit(&job->rpc->stopping, memory_order_relaxed) ||
		now_ns >= job->deadline_ns)
		return true;
	return job->parsed && !job->batch && call_stopped_at(&job->calls[0], now_ns);
}

static void job_task_run(struct pool_task *task);

struct rpc_job *rpc_job_new(struct rpc *rpc, struct rpc_input *in)
{
	struct rpc_job *job = mem_zero(sizeof(*job));

	if (!job || (in->has_path && !(job->path_method = mem_strdup(in->path_method)))) {
		mem_free(job);
		strbuf_release(&in->body);
		return NULL;
	}
	atomic_init(&job->refs, 1);
	job->task.run = job_task_run;
	job->task.stale = job_is_stale;
	job->rpc = rpc;
	job->transport = in->transport;
	job->has_path = in->has_path;
	job->wants_progress = in->progress;
	job->has_session = in->session != NULL;
	if (in->session && strlen(in->session) == SESSION_TOKEN_LEN)
		memcpy(job->session, in->session, SESSION_TOKEN_LEN + 1);
	read_traceparent(in->traceparent, job->trace_id);
	job->caller = in->caller;
	job->body = in->body;
	strbuf_init(&in->body);
	arena_init(&job->arena, 0);
	strbuf_init(&job->reply.body);
	job->arrived_ns = clock_mono_ns();
	job->deadline_ns = job->arrived_ns + (uint64_t)atomic_load(&rpc->deadline_ms) * 1000000U;
	gauge_add(GAUGE_REQUESTS, 1);
	return job;
}

/* The message's text is not needed any more: ids live in it, so this is the end. */
static void drop_message(struct rpc_job *job)
{
	for (size_t i = 0; i < job->call_count; i++)
		call_unregister(&job->calls[i]);
	json_decref(job->root);
	job->root = NULL;
	strbuf_release(&job->body);
}

struct rpc_job *rpc_job_ref(struct rpc_job *job)
{
	atomic_fetch_add_explicit(&job->refs, 1, memory_order_relaxed);
	return job;
}

void rpc_job_unref(struct rpc_job *job)
{
	if (!job || atomic_fetch_sub_explicit(&job->refs, 1, memory_order_acq_rel) != 1)
		return;
	drop_message(job); /* one that was parsed and never run is still in flight */
	strbuf_release(&job->reply.body);
	arena_release(&job->arena);
	mem_free(job->path_method);
	mem_free(job);
	gauge_add(GAUGE_REQUESTS, -1);
}

/* ---- replies ---- */

/* The whole job is answered with one error object. */
static void reply_error(struct rpc_job *job, enum rpc_reply_kind kind, struct bytes id,
	const struct rpc_error *err)
{
	strbuf_reset(&job->reply.body);
	rpc_error_write(&job->reply.body, id.data, id.len, err);
	job->reply.kind = kind;
	job->reply.retry_after_ms = err->retry_after_ms;
	job->answered = true;
}

static void finish(struct rpc_job *job)
{
	struct strbuf *body = &job->reply.body;

	if (job->batch && body->len)
		strbuf_addc(body, ']');
	job->reply.kind = body->len ? RPC_REPLY_BODY : RPC_REPLY_NONE;
	if (!strbuf_ok(body)) {
		struct rpc_error err;
		struct bytes id = job->batch ? BYTES_NONE : job->calls[0].env.id;

		rpc_error_set(&err, RPC_UNAVAILABLE, "out of memory");
		strbuf_release(body);
		reply_error(job, RPC_REPLY_REFUSED, id, &err);
	}
	drop_message(job);
	job->answered = true;
}

struct rpc_reply *rpc_job_reply(struct rpc_job *job)
{
	return &job->reply;
}

bool rpc_job_answered(const struct rpc_job *job)
{
	return job->answered;
}

bool rpc_job_streams(const struct rpc_job *job)
{
	return job->parsed && !job->answered && !job->batch &&
		job->calls[0].env.kind == ENVELOPE_REQUEST && job->calls[0].method &&
		(job->calls[0].method->flags & RPC_M_STREAMS);
}

bool rpc_job_is_shutdown(const struct rpc_job *job)
{
	return job->shutdown;
}

/* ---- parsing ---- */

static void init_call(struct rpc_job *job, struct rpc_call *call, const json_t *message,
	struct bytes raw_id)
{
	call->job = job;
	call->log_level = -1;
	call->deadline_ns = job->deadline_ns;
	atomic_init(&call->inflight.cancelled, false);
	envelope_read(message, raw_id, job->transport == RPC_OVER_HTTP, &call->env, &call->err);
}

/* Answers calls in order until one needs a worker (or, with slow, to the end). */
static void advance(struct rpc_job *job, bool slow)
{
	for (; job->next < job->call_count; job->next++) {
		struct rpc_call *call = &job->calls[job->next];

		if (call->state == CALL_NEW)
			call_prepare(call);
		if (call->state == CALL_READY && !slow)
			return;
		if (call->state == CALL_READY)
			call_run(call);
		call_unregister(call);
	}
	finish(job);
}

/* Requests that will wait for a worker must be within a cancel's reach meanwhile. */
static void register_waiting(struct rpc_job *job)
{
	for (size_t i = job->next; i < job->call_count; i++) {
		struct rpc_call *call = &job->calls[i];

		if (call->env.kind == ENVELOPE_REQUEST && call_register(call) != 0) {
			rpc_error_set(&call->err, RPC_UNAVAILABLE, "out of memory");
			call->env.kind = ENVELOPE_INVALID;
			call->state = CALL_NEW;
		}
	}
}

static bool batch_fits(struct rpc_job *job)
{
	size_t n = json_array_size(job->root);
	struct rpc_error err;

	if (n >= 1 && n <= job->rpc->limits.max_batch)
		return true;
	if (n == 0)
		rpc_error_set(&err, RPC_INVALID_REQUEST, "an empty batch is no request");
	else
		rpc_error_set(&err, RPC_TOO_LARGE, "a batch may have at most %zu members, not %zu",
			job->rpc->limits.max_batch, n);
	reply_error(job, RPC_REPLY_BODY, BYTES_NONE, &err);
	return false;
}

static bool start_batch(struct rpc_job *job, const struct json_ids *ids)
{
	size_t n = json_array_size(job->root);

	if (!batch_fits(job))
		return false;
	job->calls = arena_array(&job->arena, n, sizeof(*job->calls));
	if (!job->calls) {
		struct rpc_error err;

		rpc_error_set(&err, RPC_UNAVAILABLE, "out of memory");
		reply_error(job, RPC_REPLY_REFUSED, BYTES_NONE, &err);
		return false;
	}
	job->batch = true;
	job->call_count = n;
	for (size_t i = 0; i < n; i++)
		init_call(job, &job->calls[i], json_array_get(job->root, i), ids->v[i]);
	return true;
}

static enum rpc_reply_kind kind_of_unread(enum rpc_code rc)
{
	if (rc == RPC_TOO_LARGE)
		return RPC_REPLY_TOO_LARGE;
	return rc == RPC_UNAVAILABLE ? RPC_REPLY_REFUSED : RPC_REPLY_UNPARSEABLE;
}

/* Reads the text; false when the answer is ready already. */
static bool read_message(struct rpc_job *job)
{
	const struct rpc_limits *lim = &job->rpc->limits;
	struct json_bounds bounds = { lim->max_depth, lim->max_keys, lim->max_string };
	struct bytes one = BYTES_NONE;
	struct json_ids ids = { &one, 1 };
	struct json_doc doc;
	struct rpc_error err;
	enum rpc_code rc;
	const char *text = job->body.data ? job->body.data : "";
	size_t spaces = strspn(text, " \t\r\n");

	if (text[spaces] == '[') {
		ids.v = arena_array(&job->arena, lim->max_batch, sizeof(*ids.v));
		ids.cap = lim->max_batch;
	}
	if (ids.v)
		rc = json_read(text, job->body.len, &bounds, &ids, &doc, &err);
	else
		rc = rpc_error_set(&err, RPC_UNAVAILABLE, "out of memory");
	if (!rc) {
		job->root = doc.root;
		job->lossy = doc.lossy;
		if (!json_is_object(doc.root) && !json_is_array(doc.root))
			rc = rpc_error_set(&err, RPC_INVALID_REQUEST,
				"a message must be an object or an array of objects");
	}
	if (rc) {
		reply_error(job, kind_of_unread(rc), BYTES_NONE, &err);
		return false;
	}
	if (json_is_array(job->root))
		return start_batch(job, &ids);
	job->calls = &job->single;
	job->call_count = 1;
	init_call(job, &job->single, job->root, one);
	return true;
}

void rpc_job_parse(struct rpc_job *job)
{
	if (job->parsed || job->answered)
		return;
	if (read_message(job)) {
		advance(job, false);
		if (!job->answered)
			register_waiting(job);
	} else {
		drop_message(job);
	}
	job->parsed = true;
}

/* ---- running ---- */

static void work(struct rpc_job *job)
{
	rpc_job_parse(job);
	if (!job->answered)
		advance(job, true);
}

static void job_task_run(struct pool_task *task)
{
	struct rpc_job *job = (struct rpc_job *)((char *)task - offsetof(struct rpc_job, task));

	work(job);
	gauge_add(GAUGE_INFLIGHT, -1);
	if (job->done)
		job->done(job, job->done_arg);
	rpc_job_unref(job);
}

void rpc_job_refuse(struct rpc_job *job, enum rpc_code code, const char *message,
	uint32_t retry_after_ms)
{
	struct rpc_error err;
	struct bytes id = BYTES_NONE;

	rpc_error_set(&err, code, "%s", message);
	err.retry_after_ms = retry_after_ms;
	if (job->parsed && !job->batch && job->call_count)
		id = job->calls[0].env.id;
	reply_error(job, RPC_REPLY_REFUSED, id, &err);
	/* A line of its own would answer a notification; a status does not (M5, D14). */
	if (job->transport == RPC_OVER_STDIO && job->parsed && !job->batch &&
		job->calls[0].env.kind == ENVELOPE_NOTIFICATION) {
		strbuf_reset(&job->reply.body);
		job->reply.kind = RPC_REPLY_NONE;
	}
	drop_message(job);
}

enum status rpc_job_submit(struct rpc_job *job, struct pool *pool, unsigned wait_ms,
	const struct rpc_stream_ops *ops, void *stream_arg, void (*done)(struct rpc_job *, void *),
	void *done_arg)
{
	enum status st;

	job->ops = ops;
	job->stream_arg = stream_arg;
	job->done = done;
	job->done_arg = done_arg;
	rpc_job_ref(job);
	gauge_add(GAUGE_INFLIGHT, 1);
	st = wait_ms ? pool_submit_wait(pool, &job->task, wait_ms) : pool_submit(pool, &job->task);
	if (st == ST_OK)
		return ST_OK;
	gauge_add(GAUGE_INFLIGHT, -1);
	rpc_job_refuse(job, RPC_UNAVAILABLE,
		st == ST_FULL ? "too many requests are waiting; try again shortly"
			      : "the server is shutting down",
		st == ST_FULL ? 1000 : 5000);
	rpc_job_unref(job);
	return st;
}

void rpc_job_run_here(struct rpc_job *job, const struct rpc_stream_ops *ops, void *stream_arg)
{
	job->ops = ops;
	job->stream_arg = stream_arg;
	work(job);
}

void rpc_job_cancel(struct rpc_job *job)
{
	atomic_store(&job->cancelled, true);
}
