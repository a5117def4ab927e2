/*
 * call.c: from a complete POST to the dispatcher and back.
 *
 *   small body ─▶ parse here ─▶ answered? ─▶ reply     (ping: the hot path)
 *                                 │no
 *   large body ───────────────────┴─▶ worker ─▶ done ─▶ resume ─▶ reply
 *
 * Whether a request streams is known only once it is parsed. A large body whose
 * client wants a stream is therefore parsed by a worker first and comes back here
 * to be decided like a small one; that costs it one more turn in the queue and
 * keeps one rule for all sizes: errors found before a stream starts are plain
 * JSON.
 */
#include "http/private.h"

static void job_done(struct rpc_job *job, void *arg)
{
	struct exchange *ex = arg;

	(void)job;
	pthread_mutex_lock(&ex->lock);
	if (ex->mhd) /* otherwise nobody waits for it, and io may be gone */
		answer_charge_locked(ex);
	ex->done = true;
	exchange_resume_locked(ex);
	pthread_mutex_unlock(&ex->lock);
	exchange_unref(ex);
}

/* The job is answered, or goes to a worker. */
static enum MHD_Result call_dispatch(struct exchange *ex, bool parsed)
{
	struct http *h = ex->io->http;
	bool stream;

	if (parsed && rpc_job_answered(ex->job))
		return reply_rpc(ex);
	stream = parsed && ex->wants_sse && rpc_job_streams(ex->job);
	ex->phase = PHASE_RUNNING;
	ex->queue_max = h->cfg.max_stream_queue;
	atomic_fetch_add(&ex->refs, 1); /* job_done's */
	if (rpc_job_submit(ex->job, h->hooks.pool, 0, stream ? &sse_ops : NULL, ex, job_done, ex) !=
		ST_OK) {
		exchange_unref(ex);
		return reply_rpc(ex);
	}
	ex->submitted = true;
	return stream ? sse_start(ex) : exchange_wait(ex);
}

static bool parse_stale(const struct pool_task *task, uint64_t now_ns)
{
	const struct exchange *ex = ((const struct parse_task *)task)->ex;

	return atomic_load(&ex->gone) || rpc_job_stale(ex->job, now_ns);
}

static void parse_run(struct pool_task *task)
{
	struct exchange *ex = ((struct parse_task *)task)->ex;

	if (!atomic_load(&ex->gone))
		rpc_job_parse(ex->job);
	job_done(ex->job, ex);
}

static enum MHD_Result call_parse_later(struct exchange *ex)
{
	ex->phase = PHASE_PARSING;
	ex->parse = (struct parse_task){ { .run = parse_run, .stale = parse_stale }, ex };
	atomic_fetch_add(&ex->refs, 1); /* parse_run's */
	if (pool_submit(ex->io->http->hooks.pool, &ex->parse.task) != ST_OK) {
		exchange_unref(ex);
		rpc_job_refuse(ex->job, RPC_UNAVAILABLE, "the server is busy", 1000);
		return reply_rpc(ex);
	}
	return exchange_wait(ex);
}

enum MHD_Result call_answer(struct exchange *ex)
{
	const struct http *h = ex->io->http;
	bool small = ex->body.len <= h->cfg.inline_body;
	struct rpc_input in = {
		.transport = RPC_OVER_HTTP,
		.body = ex->body,
		.has_path = ex->method != NULL,
		.path_method = ex->method,
		.caller = ex->caller,
		.session = ex->headers.session,
		.traceparent = ex->headers.traceparent,
		.progress = ex->wants_sse,
	};

	strbuf_init(&ex->body);
	ex->job = rpc_job_new(h->hooks.rpc, &in);
	strbuf_release(&in.body);
	if (!ex->job) {
		refuse(ex, MHD_HTTP_SERVICE_UNAVAILABLE, RPC_UNAVAILABLE, "out of memory");
		return reply_refusal(ex);
	}
	if (small) {
		rpc_job_parse(ex->job);
		return call_dispatch(ex, true);
	}
	rpc_job_scan(ex->job); /* a cancel must reach it in the queue */
	if (rpc_job_answered(ex->job))
		return reply_rpc(ex);
	return ex->wants_sse ? call_parse_later(ex) : call_dispatch(ex, false);
}

enum MHD_Result call_continue(struct exchange *ex)
{
	bool done, parsing = ex->phase == PHASE_PARSING;

	if (atomic_load(&ex->gone))
		return MHD_NO;
	pthread_mutex_lock(&ex->lock);
	done = ex->done;
	if (parsing)
		ex->done = false; /* the next wait is for the run */
	pthread_mutex_unlock(&ex->lock);
	if (!done)
		return exchange_wait(ex);
	return parsing ? call_dispatch(ex, true) : reply_rpc(ex);
}
