/*
 * rpc/lifecycle.c: initialize, info, ping, shutdown, and the session gate. Which
 * session a message belongs to depends on the mode:
 *
 *   stateless  "t:" identity newline token; nothing requires it, cancels use it
 *   token      "t:" identity newline token    (RCP-Session)
 *   strict     "i:" identity; its token is for cancels
 *   process    "p"
 */
#include "rpc/lifecycle.h"

#include <stdio.h>
#include <string.h>

#include "rpc/private.h"
#include "util/crypto.h"
#include "util/log.h"

#define PROTOCOL_VERSION 1
#define SAFE_INT 9007199254740991.0

const struct rpc_param rpc_initialize_table[RPC_INITIALIZE_PARAMS] = {
	{ .name = "protocolVersion",
		.type = RPC_P_INT,
		.flags = RPC_P_REQUIRED,
		.offset = offsetof(struct rpc_initialize_params, protocol_version),
		.min = -SAFE_INT,
		.max = SAFE_INT,
		.summary = "highest protocol version the client speaks" },
	{ .name = "client",
		.type = RPC_P_JSON_OBJECT,
		.offset = offsetof(struct rpc_initialize_params, client),
		.summary = "the client's name and version" },
	{ .name = "capabilities",
		.type = RPC_P_JSON_OBJECT,
		.offset = offsetof(struct rpc_initialize_params, capabilities),
		.summary = "what the client can take: log" },
};

const struct rpc_param rpc_ping_table[RPC_PING_PARAMS] = {
	{ .name = "nonce",
		.type = RPC_P_SCALAR,
		.offset = offsetof(struct rpc_ping_params, nonce),
		.summary = "echoed in the answer" },
};

void session_key(const struct rpc_job *job, const char *token, char out[SESSION_KEY_MAX])
{
	switch (job->rpc->mode) {
	case RPC_SESSIONS_PROCESS:
		snprintf(out, SESSION_KEY_MAX, "p");
		break;
	case RPC_SESSIONS_STRICT:
		snprintf(out, SESSION_KEY_MAX, "i:%s", job->caller.identity);
		break;
	case RPC_SESSIONS_TOKEN:
	case RPC_SESSIONS_STATELESS:
		snprintf(out, SESSION_KEY_MAX, "t:%s\n%s", job->caller.identity, token);
		break;
	}
}

bool session_presented(const struct rpc_job *job)
{
	struct session_info info;
	char key[SESSION_KEY_MAX];

	if (!job->session[0])
		return false;
	session_key(job, job->session, key);
	return sessions_find(job->rpc->sessions, key, &info) &&
		crypto_equal(info.token, job->session, SESSION_TOKEN_LEN);
}

enum rpc_code session_gate(struct rpc_call *call, bool open)
{
	struct rpc_job *job = call->job;
	struct session_info info;
	char key[SESSION_KEY_MAX];

	if (job->rpc->mode == RPC_SESSIONS_STATELESS)
		return RPC_OK;
	session_key(job, job->session, key);
	if (sessions_find(job->rpc->sessions, key, &info)) {
		call->log_level = info.log_level;
		call->in_session = true;
		call->epoch = info.epoch;
		return RPC_OK;
	}
	if (open)
		return RPC_OK;
	if (job->rpc->mode == RPC_SESSIONS_TOKEN && job->has_session)
		return rpc_error_set(&call->err, RPC_NOT_FOUND,
			"the session is unknown or has expired; call initialize again");
	return rpc_error_set(&call->err, RPC_NOT_INITIALIZED,
		"not initialized: call initialize first");
}

/* What initialize and info have in common; the object stays open for _meta. */
static void write_identity(struct rpc_call *call, struct json_writer *out, int64_t version,
	const struct strbuf *capabilities)
{
	const struct rpc *rpc = call->job->rpc;

	jw_object(out);
	jw_kv_int(out, "protocolVersion", version);
	jw_key(out, "server");
	jw_object(out);
	jw_kv_string(out, "name", rpc->server_name);
	jw_kv_string(out, "version", rpc->server_version);
	jw_end(out);
	jw_key(out, "capabilities");
	jw_raw(out, capabilities->data, capabilities->len);
	jw_key(out, "_meta");
	jw_object(out);
	jw_kv_string(out, "conformance", rpc->conformance);
	if (call->job->trace_id[0])
		jw_kv_string(out, "traceId", call->job->trace_id);
}

static enum rpc_code no_memory(struct rpc_call *call)
{
	return rpc_error_set(&call->err, RPC_UNAVAILABLE, "out of memory");
}

enum rpc_code rpc_info(struct rpc_call *call, const void *params, struct json_writer *out)
{
	struct strbuf capabilities = STRBUF_INIT;
	bool whole;

	(void)params;
	rpc_capabilities(call->job->rpc, rpc_call_epoch(call), &capabilities);
	whole = strbuf_ok(&capabilities);
	if (whole) {
		write_identity(call, out, PROTOCOL_VERSION, &capabilities);
		jw_end(out);
		jw_end(out);
	}
	strbuf_release(&capabilities);
	return whole ? RPC_OK : no_memory(call);
}

/* The client's wish for log notifications: its `log` capability, from info up
 * unless _meta.logLevel says otherwise (specification 17.1). */
static int wanted_log_level(const struct rpc_call *call, const struct rpc_initialize_params *p)
{
	const json_t *log = json_object_get(p->capabilities, "log");

	if (call->log_level >= 0)
		return call->log_level;
	return log && !json_is_false(log) && !json_is_null(log) ? LOG_INFO : -1;
}

static enum rpc_code initialized_twice(struct rpc_call *call)
{
	return rpc_error_set(&call->err, RPC_INVALID_REQUEST,
		"already initialized: a session negotiates once");
}

/* Opens the session; a token goes out over HTTP. */
static enum rpc_code start_session(struct rpc_call *call, int log_level, uint64_t epoch)
{
	struct rpc_job *job = call->job;
	struct session_info info = { .log_level = log_level, .epoch = epoch };
	char key[SESSION_KEY_MAX];
	enum status st;

	if (job->rpc->mode != RPC_SESSIONS_PROCESS &&
		crypto_random_hex(SESSION_TOKEN_LEN / 2, info.token) != ST_OK)
		return rpc_error_set(&call->err, RPC_INTERNAL, "no random bytes for a session");
	session_key(job, info.token, key);
	st = sessions_start(job->rpc->sessions, key, job->caller.identity, &info);
	if (st == ST_CONFLICT)
		return initialized_twice(call);
	if (st)
		return no_memory(call);
	memcpy(job->session_out, info.token, sizeof(info.token));
	return RPC_OK;
}

/* Opens a session in which what capabilities says holds from now on (D42). */
static enum rpc_code initialize(struct rpc_call *call, const struct rpc_initialize_params *p,
	uint64_t epoch, const struct strbuf *capabilities, struct json_writer *out)
{
	struct rpc_job *job = call->job;
	enum rpc_code rc;

	/* Room for the answer first: a session that is open must not be reported as
	 * failed, or the retry would be refused. */
	if (!strbuf_ok(capabilities) || !strbuf_grow(out->out, capabilities->len + 1024))
		return no_memory(call);
	rc = start_session(call, wanted_log_level(call, p), epoch);
	if (rc)
		return rc;
	write_identity(call, out, PROTOCOL_VERSION, capabilities);
	if (job->session_out[0]) {
		jw_kv_string(out, "session", job->session_out);
		job->reply.session = job->session_out;
	}
	jw_end(out);
	jw_end(out);
	return RPC_OK;
}

enum rpc_code rpc_initialize(struct rpc_call *call, const void *params, struct json_writer *out)
{
	const struct rpc_initialize_params *p = params;
	struct rpc *rpc = call->job->rpc;
	struct strbuf capabilities = STRBUF_INIT;
	enum rpc_code rc;
	uint64_t epoch;

	if (p->protocol_version.v < 1)
		return rpc_error_set(&call->err, RPC_VERSION,
			"protocol version %lld is not spoken; this server speaks 1",
			(long long)p->protocol_version.v);
	/* In token mode the session to be opened twice is the one presented. */
	if (rpc->mode == RPC_SESSIONS_TOKEN && session_presented(call->job))
		return initialized_twice(call);
	epoch = rpc->epoch ? rpc->epoch(rpc->methods_arg) : 0;
	rpc_capabilities(rpc, epoch, &capabilities);
	rc = initialize(call, p, epoch, &capabilities, out);
	strbuf_release(&capabilities);
	return rc;
}

enum rpc_code rpc_ping(struct rpc_call *call, const void *params, struct json_writer *out)
{
	const struct rpc_ping_params *p = params;

	jw_object(out);
	if (p->nonce) { /* L5: as it came, down to the spelling of a number */
		jw_key(out, "nonce");
		jw_raw(out, call->spans.nonce.data, call->spans.nonce.len);
	}
	jw_end(out);
	return RPC_OK;
}

enum rpc_code rpc_shutdown(struct rpc_call *call, const void *params, struct json_writer *out)
{
	struct rpc_job *job = call->job;
	char key[SESSION_KEY_MAX];

	(void)params;
	session_key(job, job->session, key);
	sessions_end(job->rpc->sessions, key);
	job->shutdown = true;
	jw_object(out);
	jw_end(out);
	return RPC_OK;
}
