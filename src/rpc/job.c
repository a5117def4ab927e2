/*
 * rpc/job.c: a message's life between a transport and the workers. See rpc.h for
 * the drawing; what is in the message is read by message.c.
 */
#include <string.h>

#include "rpc/private.h"
#include "util/clock.h"
#include "util/gauge.h"
#include "util/log.h"
#include "util/mem.h"

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

bool rpc_job_stale(const struct rpc_job *job, uint64_t now_ns)
{
	if (atomic_load_explicit(&job->cancelled, memory_order_relaxed) ||
		atomic_load_explicit(&job->rpc->stopping, memory_order_relaxed) ||
		atomic_load_explicit(&job->single.inflight.cancelled, memory_order_relaxed) ||
		now_ns >= job->deadline_ns)
		return true;
	return job->parsed && !job->batch && call_stopped_at(&job->calls[0], now_ns);
}

static bool job_is_stale(const struct pool_task *task, uint64_t now_ns)
{
	const struct rpc_job *job =
		(const struct rpc_job *)((const char *)task - offsetof(struct rpc_job, task));

	return rpc_job_stale(job, now_ns);
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
	atomic_init(&job->single.inflight.cancelled, false);
	job->single.job = job;
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
	job->bytes = in->body.len;
	strbuf_init(&in->body);
	arena_init(&job->arena, 0);
	strbuf_init(&job->reply.body);
	job->arrived_ns = clock_mono_ns();
	job->deadline_ns = job->arrived_ns + (uint64_t)atomic_load(&rpc->deadline_ms) * 1000000U;
	gauge_add(GAUGE_REQUESTS, 1);
	return job;
}

void job_drop_message(struct rpc_job *job)
{
	call_unregister(&job->single);
	for (size_t i = 0; i < job->call_count; i++)
		call_unregister(&job->calls[i]);
	json_decref(job->root);
	job->root = NULL;
	strbuf_release(&job->body);
}

size_t rpc_job_bytes(const struct rpc_job *job)
{
	return job->bytes;
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
	job_drop_message(job); /* one that was parsed and never run is still in flight */
	strbuf_release(&job->reply.body);
	arena_release(&job->arena);
	mem_free(job->path_method);
	mem_free(job);
	gauge_add(GAUGE_REQUESTS, -1);
}

/* ---- replies ---- */

void job_reply_error(struct rpc_job *job, enum rpc_reply_kind kind, struct bytes id,
	const struct rpc_error *err)
{
	strbuf_reset(&job->reply.body);
	rpc_error_write(&job->reply.body, id.data, id.len, err);
	job->reply.kind = kind;
	job->reply.retry_after_ms = err->retry_after_ms;
	job->answered = true;
}

void job_finish(struct rpc_job *job)
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
		job_reply_error(job, RPC_REPLY_REFUSED, id, &err);
	}
	job_drop_message(job);
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

/* ---- running ---- */

/* Nobody waits for it any more, or not long enough: it is not even parsed. */
static void answer_unparsed(struct rpc_job *job)
{
	struct rpc_error err;

	if (clock_mono_ns() >= job->deadline_ns)
		rpc_error_set(&err, RPC_TIMEOUT, "the deadline of this request passed");
	else
		rpc_error_set(&err, RPC_CANCELLED, "cancelled");
	job_reply_error(job, RPC_REPLY_BODY, job->early_id, &err);
	if (!job->scan.batch && !job->early_id.data) { /* as far as one can tell, no request */
		strbuf_reset(&job->reply.body);
		job->reply.kind = RPC_REPLY_NONE;
	}
	job_drop_message(job);
	job->parsed = true;
}

static void work(struct rpc_job *job)
{
	if (!job->parsed && rpc_job_stale(job, clock_mono_ns())) {
		answer_unparsed(job);
		return;
	}
	rpc_job_parse(job);
	if (!job->answered)
		job_advance(job, true);
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
	if (!job->parsed)
		id = job->early_id;
	if (job->parsed && !job->batch && job->call_count)
		id = job->calls[0].env.id;
	job_reply_error(job, RPC_REPLY_REFUSED, id, &err);
	/* A line of its own would answer a notification; a status does not (M5, D14). */
	if (job->transport == RPC_OVER_STDIO && job->parsed && !job->batch &&
		job->calls[0].env.kind == ENVELOPE_NOTIFICATION) {
		strbuf_reset(&job->reply.body);
		job->reply.kind = RPC_REPLY_NONE;
	}
	job_drop_message(job);
}

/* Writes queue for the disk, one at a time; they must not take every worker. A
 * message that is not parsed yet tells by its path. */
static bool job_writes(const struct rpc_job *job)
{
	const struct rpc_method *m;

	for (size_t i = job->next; i < job->call_count; i++) {
		m = call_find_method(job->rpc, job->calls[i].env.method);
		if (m && m->right == RPC_WRITE)
			return true;
	}
	m = job->parsed || !job->has_path ? NULL
					  : call_find_method(job->rpc, bytes_of(job->path_method));
	return m && m->right == RPC_WRITE;
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
	job->task.slow = job_writes(job);
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
