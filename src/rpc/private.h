/* rpc/private.h: the structs behind rpc.h and table.h; for src/rpc only. */
#ifndef RCPD_RPC_PRIVATE_H
#define RCPD_RPC_PRIVATE_H

#include <stdatomic.h>

#include "rpc/envelope.h"
#include "rpc/inflight.h"
#include "rpc/json.h"
#include "rpc/rpc.h"
#include "rpc/session.h"

#define TRACE_ID_LEN 32

struct rpc {
	const struct rpc_method *methods;
	size_t method_count;
	void *methods_arg;
	json_t *capabilities;    /* of epoch 0, for their members; never changed */
	char *capabilities_json; /* the text of all epochs, or NULL: asked for */
	void (*write_capabilities)(void *methods_arg, uint64_t epoch, struct strbuf *out);
	uint64_t (*epoch)(void *methods_arg);
	char *server_name, *server_version, *conformance;
	enum rpc_session_mode mode;
	struct rpc_limits limits;
	atomic_uint deadline_ms;
	atomic_bool stopping; /* rpc_cancel_all was called */
	struct sessions *sessions;
	struct inflight *inflight;
};

enum call_state {
	CALL_NEW,      /* the envelope was read */
	CALL_READY,    /* checked; its handler waits for a worker */
	CALL_ANSWERED, /* its answer, if it gets one, is in the reply */
};

/* One message of a job: the only one, or a member of a batch. */
struct rpc_call {
	struct rpc_job *job;
	struct envelope env;
	struct json_spans spans; /* what is echoed as it was written */
	enum call_state state;
	const struct rpc_method *method;
	void *params;
	const json_t *meta;  /* params._meta, an object, or NULL */
	const json_t *token; /* meta.progressToken or NULL */
	uint64_t deadline_ns;
	double progress;
	int log_level; /* lowest level that the peer asked for; -1: none */
	bool in_session;
	uint64_t epoch; /* of that session */
	struct inflight_entry inflight;
	bool registered; /* in the table; the runner's own note of it */
	struct rpc_error err;
};

struct rpc_job {
	atomic_int refs;
	struct pool_task task;
	struct rpc *rpc;
	enum rpc_transport transport;
	bool has_path, has_session, wants_progress;
	bool scanned, parsed, answered, batch, shutdown;
	struct json_scan scan;
	struct bytes early_id; /* the id as text while the message waits to be parsed */
	struct strbuf body;
	size_t bytes; /* of the body as it came */
	struct arena arena;
	json_t *root;
	char *path_method;
	char session[SESSION_TOKEN_LEN + 1]; /* RCP-Session as sent; "" if it cannot be one */
	char trace_id[TRACE_ID_LEN + 1];
	char session_out[SESSION_TOKEN_LEN + 1];
	struct rpc_caller caller;
	uint64_t arrived_ns, deadline_ns;
	atomic_bool cancelled;
	struct rpc_call *calls;
	struct rpc_call single; /* calls points here unless it is a batch */
	size_t call_count, next;
	struct rpc_reply reply;
	const struct rpc_stream_ops *ops;
	void *stream_arg;
	void (*done)(struct rpc_job *, void *);
	void *done_arg;
};

/*
 * Brings a call as far as it goes without a worker: answers what is wrong or
 * cheap, otherwise leaves it CALL_READY. err is filled already for an envelope
 * that is invalid.
 */
void call_prepare(struct rpc_call *call);
/* Runs a CALL_READY call to its answer. */
void call_run(struct rpc_call *call);
/* The row of a method, or NULL. */
const struct rpc_method *call_find_method(const struct rpc *rpc, struct bytes name);
/* Cancelled, or past its deadline at that moment. */
bool call_stopped_at(const struct rpc_call *call, uint64_t now_ns);
/* Appends an error answer under the call's id (nothing for notifications). */
void call_fail(struct rpc_call *call);
/* Registers a request so that cancels reach it; -1 when out of memory. */
int call_register(struct rpc_call *call);
void call_unregister(struct rpc_call *call);
/* A message of the notifications family: cancel is acted on, the rest is dropped. */
void call_notification(struct rpc_call *call);

/* Answers calls in order until one needs a worker or, with slow, to the end. */
void job_advance(struct rpc_job *job, bool slow);
/* The whole job is answered with one error object. */
void job_reply_error(struct rpc_job *job, enum rpc_reply_kind kind, struct bytes id,
	const struct rpc_error *err);
/* All calls are answered. */
void job_finish(struct rpc_job *job);
/* The message's text is not needed any more: ids live in it, so this is the end. */
void job_drop_message(struct rpc_job *job);

/* Appends what is advertised in an epoch. */
void rpc_capabilities(const struct rpc *rpc, uint64_t epoch, struct strbuf *out);

/* The key of the session that governs a message of this job, written to out. */
void session_key(const struct rpc_job *job, const char *token, char out[SESSION_KEY_MAX]);
/* Whether RCP-Session is a token that initialize handed out to this caller. */
bool session_presented(const struct rpc_job *job);
/* RPC_OK if the method may be served now, else RPC_NOT_INITIALIZED or
 * RPC_NOT_FOUND (an expired session). Also finds what the session knows about the peer. */
enum rpc_code session_gate(struct rpc_call *call, bool open);

#endif
