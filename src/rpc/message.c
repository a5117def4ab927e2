/*
 * rpc/message.c: what is in a message: the scan that comes first, the parse, the
 * members of a batch, and their way through the checks in order.
 */
#include <string.h>

#include "rpc/private.h"
#include "util/clock.h"

static const char *text_of(const struct rpc_job *job)
{
	return job->body.data ? job->body.data : "";
}

static enum rpc_code no_memory(struct rpc_error *err)
{
	return rpc_error_set(err, RPC_UNAVAILABLE, "out of memory");
}

static enum rpc_reply_kind kind_of_unread(const struct rpc_job *job, enum rpc_code rc)
{
	if (rc == RPC_TOO_LARGE && job->scan.batch_excess)
		return RPC_REPLY_BODY; /* D12: a count over its cap is a plain answer */
	if (rc == RPC_TOO_LARGE)
		return RPC_REPLY_TOO_LARGE;
	return rc == RPC_UNAVAILABLE ? RPC_REPLY_REFUSED : RPC_REPLY_UNPARSEABLE;
}

/* ---- the scan ---- */

/* Room for what the scan finds: one message's, or a whole batch's. */
static enum rpc_code make_spans(struct rpc_job *job, struct rpc_error *err)
{
	const char *text = text_of(job);

	job->scan.spans = &job->single.spans;
	job->scan.cap = 1;
	if (text[strspn(text, " \t\r\n")] != '[')
		return RPC_OK;
	job->scan.cap = job->rpc->limits.max_batch;
	job->scan.spans = arena_array(&job->arena, job->scan.cap, sizeof(*job->scan.spans));
	return job->scan.spans ? RPC_OK : no_memory(err);
}

/* A scalar's raw text as a value; NULL if it is none after all. New. */
static json_t *value_of(struct bytes raw)
{
	return raw.data ? json_loadb(raw.data, raw.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL)
			: NULL;
}

static void lower_deadline(struct rpc_job *job, struct bytes raw)
{
	json_t *v = value_of(raw);
	uint64_t end;
	int64_t ms;

	if (v && rpc_json_integer(v, &ms) && ms >= 1 && ms < 1000000000) {
		end = job->arrived_ns + (uint64_t)ms * 1000000U;
		if (end < job->deadline_ns)
			job->deadline_ns = end;
	}
	json_decref(v);
}

/*
 * Lets cancels find a message that waits to be parsed. The text may still turn out
 * to be no JSON, so its id counts only if it is a value by itself.
 */
static void register_early(struct rpc_job *job)
{
	struct rpc_call *call = &job->single;
	json_t *id = value_of(job->single.spans.id);

	if (id &&
		inflight_key(&job->arena, job->caller.identity, job->session, id,
			&call->inflight.key) == ST_OK) {
		job->early_id = job->single.spans.id;
		inflight_add(job->rpc->inflight, &call->inflight);
		call->registered = true;
	}
	json_decref(id);
}

static enum rpc_code scan(struct rpc_job *job, struct rpc_error *err)
{
	const struct rpc_limits *lim = &job->rpc->limits;
	const struct json_bounds bounds = { lim->max_depth, lim->max_values, lim->max_string,
		lim->max_batch };
	enum rpc_code rc = make_spans(job, err);

	job->scanned = true;
	return rc ? rc : json_scan(text_of(job), job->body.len, &bounds, &job->scan, err);
}

void rpc_job_scan(struct rpc_job *job)
{
	struct rpc_error err;
	enum rpc_code rc;

	if (job->scanned)
		return;
	rc = scan(job, &err);
	if (rc) {
		job_reply_error(job, kind_of_unread(job, rc), BYTES_NONE, &err);
		job_drop_message(job);
		job->parsed = true;
		return;
	}
	if (job->scan.batch)
		return;
	lower_deadline(job, job->single.spans.deadline);
	register_early(job);
}

/* ---- the parse ---- */

static void init_call(struct rpc_job *job, struct rpc_call *call, const json_t *message)
{
	call->log_level = -1;
	call->deadline_ns = job->deadline_ns;
	envelope_read(message, call->spans.id, job->transport == RPC_OVER_HTTP, &call->env,
		&call->err);
}

static enum rpc_code start_batch(struct rpc_job *job, struct rpc_error *err)
{
	size_t n = json_array_size(job->root);

	if (n == 0)
		return rpc_error_set(err, RPC_INVALID_REQUEST, "an empty batch is no request");
	job->calls = arena_array(&job->arena, n, sizeof(*job->calls));
	if (!job->calls)
		return no_memory(err);
	job->batch = true;
	job->call_count = n;
	for (size_t i = 0; i < n; i++) {
		job->calls[i].job = job;
		job->calls[i].spans = job->scan.spans[i];
		init_call(job, &job->calls[i], json_array_get(job->root, i));
	}
	return RPC_OK;
}

static enum rpc_code read_message(struct rpc_job *job, struct rpc_error *err)
{
	enum rpc_code rc = job->scanned ? RPC_OK : scan(job, err);

	if (!rc)
		rc = json_parse(text_of(job), job->body.len, &job->root, err);
	if (rc)
		return rc;
	if (json_is_array(job->root))
		return start_batch(job, err);
	if (!json_is_object(job->root))
		return rpc_error_set(err, RPC_INVALID_REQUEST,
			"a message must be an object or an array of objects");
	job->calls = &job->single;
	job->call_count = 1;
	init_call(job, &job->single, job->root);
	return RPC_OK;
}

/* Requests that will wait for a worker must be within a cancel's reach meanwhile. */
static void register_waiting(struct rpc_job *job)
{
	for (size_t i = job->next; i < job->call_count; i++) {
		struct rpc_call *call = &job->calls[i];

		if (call->env.kind == ENVELOPE_REQUEST && call_register(call) != 0) {
			(void)no_memory(&call->err);
			call->env.kind = ENVELOPE_INVALID;
			call->state = CALL_NEW;
		}
	}
}

void job_advance(struct rpc_job *job, bool slow)
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
	job_finish(job);
}

void rpc_job_parse(struct rpc_job *job)
{
	struct rpc_error err;
	enum rpc_code rc;

	if (job->parsed || job->answered)
		return;
	rc = read_message(job, &err);
	if (!rc) {
		job_advance(job, false);
		if (!job->answered)
			register_waiting(job);
	} else {
		/* An empty batch was JSON-RPC's own affair (M14), unlike a bare scalar. */
		bool empty = rc == RPC_INVALID_REQUEST && json_is_array(job->root);

		job_reply_error(job, empty ? RPC_REPLY_BODY : kind_of_unread(job, rc), BYTES_NONE,
			&err);
		job_drop_message(job);
	}
	job->parsed = true;
}
