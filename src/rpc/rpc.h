/*
 * rpc/rpc.h: the RCP/1 dispatcher: bytes in, bytes out. It knows neither HTTP nor
 * methods: the table is handed to rpc_new, a transport hands in bytes and gets a
 * reply. See table.h for what a method is.
 *
 * Life of a message (a job):
 *
 *   rpc_job_new ──▶ rpc_job_parse ──▶ answered? ──yes──▶ rpc_job_reply ──▶ unref
 *                                        │no
 *                                        ▼
 *      rpc_job_submit (or refuse) ─▶ worker: [parse] run ─▶ done callback (once)
 *                                                                │
 *                                                rpc_job_reply ──▶ unref
 *
 * A job is reference-counted: the transport holds one reference, a queued or
 * running job another, so that a worker may outlive its client. Only
 * rpc_job_cancel, ref and unref may be called from any thread at any time; the
 * rest by the one who drives the job at that moment.
 */
#ifndef RCPD_RPC_RPC_H
#define RCPD_RPC_RPC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rpc/caller.h"
#include "rpc/error.h"
#include "rpc/stream.h"
#include "rpc/table.h"
#include "util/pool.h"
#include "util/strbuf.h"

enum rpc_transport { RPC_OVER_HTTP, RPC_OVER_STDIO };

enum rpc_session_mode {
	RPC_SESSIONS_STATELESS, /* every request counts as initialized (default over HTTP) */
	RPC_SESSIONS_TOKEN,     /* RCP-Session required */
	RPC_SESSIONS_STRICT,    /* one lifecycle a caller identity */
	RPC_SESSIONS_PROCESS,   /* one lifecycle for the process (stdio) */
};

/* All counts and sizes that a client controls (M15, C5). Zero is not "no limit". */
struct rpc_limits {
	size_t max_depth;       /* JSON nesting, default 64 */
	size_t max_values;      /* JSON members and elements in a message, default 250,000 */
	size_t max_string;      /* bytes of one JSON string, default 16 MiB */
	size_t max_batch;       /* members of a batch, default 100 */
	size_t max_sessions;    /* live sessions, oldest dropped first, default 10,000 */
	uint32_t session_ttl_s; /* default 3600 */
	uint32_t deadline_ms;   /* default 25,000 (D21); _meta.deadlineMs may lower it */
};

struct rpc;
struct rpc_job;

struct rpc_config {
	const struct rpc_method *methods; /* borrowed for the life of rpc */
	size_t method_count;
	void *methods_arg; /* given to each handler */
	/*
	 * The advertised object: a text that never changes (copied), or what capabilities
	 * appends for an epoch. An epoch numbers a state of what is advertised: a session
	 * keeps the one that epoch gave at its initialize (D42), stateless requests see
	 * the current one. Which members there are must not depend on it. Both functions
	 * are called on any thread, capabilities once more by rpc_new, with epoch 0.
	 */
	const char *capabilities_json;
	void (*capabilities)(void *methods_arg, uint64_t epoch, struct strbuf *out);
	uint64_t (*epoch)(void *methods_arg);
	const char *server_name, *server_version;
	const char *conformance; /* "L0"… (D40) */
	enum rpc_session_mode sessions;
	struct rpc_limits limits;
};

/* Returns new; errors: a method row or capabilities that contradict themselves. */
enum status rpc_new(const struct rpc_config *cfg, struct rpc **ret, struct error *e);
void rpc_free(struct rpc *rpc); /* all jobs must be gone */
/* Changes the default deadline of requests that arrive from now on (SIGHUP). */
void rpc_set_deadline(struct rpc *rpc, uint32_t deadline_ms);
/* Cancels everything in flight (the end of a drain). */
void rpc_cancel_all(struct rpc *rpc);

struct rpc_input {
	enum rpc_transport transport;
	struct strbuf body;      /* taken */
	bool has_path;           /* HTTP: the path named a method */
	const char *path_method; /* copied; decoded; may be any text */
	struct rpc_caller caller;
	const char *session;     /* RCP-Session as sent, NULL if absent; copied */
	const char *traceparent; /* W3C Trace Context header, NULL if absent; copied */
	bool progress;           /* the transport can carry frames for this message */
};

/* Takes in->body in any case (inited again afterwards). NULL only when out of memory. */
struct rpc_job *rpc_job_new(struct rpc *rpc, struct rpc_input *in);
size_t rpc_job_bytes(const struct rpc_job *job); /* of the message as it came */
struct rpc_job *rpc_job_ref(struct rpc_job *job);
void rpc_job_unref(struct rpc_job *job); /* NULL is fine */

/*
 * Parses and checks as far as params, and runs what is cheap (ping, info,
 * initialize, shutdown, notifications). Cost: proportional to the body; call it
 * on the I/O thread for small bodies only; rpc_job_submit'ed jobs are parsed by
 * the worker otherwise. Idempotent.
 */
void rpc_job_parse(struct rpc_job *job);
/*
 * Before a large message waits for a worker to parse it: looks at its bytes once,
 * for the limits (it may be answered after this) and for the id and deadline, so
 * that a cancel and the deadline reach it in the queue. Idempotent.
 */
void rpc_job_scan(struct rpc_job *job);
/* Cancelled, or past its deadline: whoever holds it back should hand it on. */
bool rpc_job_stale(const struct rpc_job *job, uint64_t now_ns);
bool rpc_job_answered(const struct rpc_job *job); /* reply is ready */
/* After parse: one request of a method that streams, not answered yet. */
bool rpc_job_streams(const struct rpc_job *job);
/* After parse: the message was an accepted shutdown request (stdio ends, S4). */
bool rpc_job_is_shutdown(const struct rpc_job *job);

/*
 * Queues the job on the pool; takes a reference of its own. done is called exactly
 * once, on the thread that finished it, when rpc_job_reply is ready. If the pool
 * is full or stopping, returns ST_FULL or ST_UNAVAILABLE, makes the reply a
 * refusal (-32010, retryable) at once and never calls done. ops may be NULL; it
 * and arg must live until done was called.
 */
enum status rpc_job_submit(struct rpc_job *job, struct pool *pool, unsigned wait_ms,
	const struct rpc_stream_ops *ops, void *stream_arg, void (*done)(struct rpc_job *, void *),
	void *done_arg) RCPD_MUST_CHECK;
/* Runs to the end on this thread instead (tests, tools). */
void rpc_job_run_here(struct rpc_job *job, const struct rpc_stream_ops *ops, void *stream_arg);
/* Asks it to stop soon; its reply will be -32006 unless it was finished. */
void rpc_job_cancel(struct rpc_job *job);
/* Answers instead of running: draining or overloaded. Before submit only. */
void rpc_job_refuse(struct rpc_job *job, enum rpc_code code, const char *message,
	uint32_t retry_after_ms);

enum rpc_reply_kind {
	RPC_REPLY_NONE,        /* notifications only: 204, nothing on stdio */
	RPC_REPLY_BODY,        /* a JSON-RPC answer: 200 */
	RPC_REPLY_UNPARSEABLE, /* an error body for what was no JSON-RPC: 400 */
	RPC_REPLY_REFUSED,     /* draining or overloaded: 503 */
	RPC_REPLY_TOO_LARGE,   /* out of memory for this one, or over a limit: 413 */
};

struct rpc_reply {
	enum rpc_reply_kind kind;
	struct strbuf body; /* compact JSON, no newline; the taker may detach it */
	uint32_t retry_after_ms;
	const char *session; /* RCP-Session handed out by initialize, or NULL; the job's */
};
/* Only when answered or done; lives as long as the job. */
struct rpc_reply *rpc_job_reply(struct rpc_job *job);

#endif
