/* fixture.c: see fixture.h. */
#include "fixture.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "rpc/lifecycle.h"
#include "util/clock.h"

struct echo_params {
	struct rpc_text text;
};

static const struct rpc_param echo_table[] = {
	{ .name = "text",
		.type = RPC_P_TEXT,
		.flags = RPC_P_REQUIRED,
		.offset = offsetof(struct echo_params, text) },
};

static enum rpc_code run_echo(struct rpc_call *call, const void *params, struct json_writer *out)
{
	const struct echo_params *p = params;

	(void)call;
	jw_object(out);
	jw_kv_bytes(out, "text", p->text.text);
	jw_end(out);
	return RPC_OK;
}

static int writes;

static enum rpc_code run_write(struct rpc_call *call, const void *params, struct json_writer *out)
{
	(void)call, (void)params;
	writes++;
	jw_object(out);
	jw_end(out);
	return RPC_OK;
}

static enum rpc_code run_wait(struct rpc_call *call, const void *params, struct json_writer *out)
{
	(void)params;
	rpc_call_progress(call, 0.5, "recall", NULL, NULL, 0);
	rpc_call_progress(call, 0.2, "pack", "going back", "{\"hits\":[]}", 11);
	rpc_call_log(call, LOG_INFO, "test", "waiting %d", 1);
	for (int i = 0; i < 2000 && !rpc_call_should_stop(call); i++)
		clock_sleep_ms(1);
	if (rpc_call_should_stop(call))
		return rpc_call_stopped(call);
	jw_object(out);
	jw_end(out);
	return RPC_OK;
}

/* 24 MiB of text. */
static enum rpc_code run_large(struct rpc_call *call, const void *params, struct json_writer *out)
{
	static char text[(24u << 20) + 1];

	(void)call, (void)params;
	memset(text, 'x', sizeof(text) - 1);
	jw_object(out);
	jw_kv_string(out, "text", text);
	jw_end(out);
	return RPC_OK;
}

static enum rpc_code run_nothing(struct rpc_call *call, const void *params, struct json_writer *out)
{
	(void)call, (void)params, (void)out;
	return RPC_OK;
}

static enum rpc_code run_nan(struct rpc_call *call, const void *params, struct json_writer *out)
{
	(void)call, (void)params;
	jw_object(out);
	jw_kv_real(out, "score", NAN);
	jw_end(out);
	return RPC_OK;
}

static const struct rpc_method table[] = {
	{ .name = "initialize",
		.run = rpc_initialize,
		.params = rpc_initialize_table,
		.param_count = RPC_INITIALIZE_PARAMS,
		.params_size = sizeof(struct rpc_initialize_params),
		.flags = RPC_M_OPEN | RPC_M_INLINE | RPC_M_OWN_META },
	{ .name = "info", .run = rpc_info, .flags = RPC_M_OPEN | RPC_M_INLINE | RPC_M_OWN_META },
	{ .name = "ping",
		.run = rpc_ping,
		.params = rpc_ping_table,
		.param_count = RPC_PING_PARAMS,
		.params_size = sizeof(struct rpc_ping_params),
		.flags = RPC_M_OPEN | RPC_M_INLINE },
	{ .name = "shutdown", .run = rpc_shutdown, .flags = RPC_M_OPEN | RPC_M_INLINE },
	{ .name = "echo",
		.capability = "echo",
		.run = run_echo,
		.params = echo_table,
		.param_count = 1,
		.params_size = sizeof(struct echo_params),
		.right = RPC_READ },
	{ .name = "write", .run = run_write, .right = RPC_WRITE },
	{ .name = "wait", .run = run_wait, .flags = RPC_M_STREAMS, .right = RPC_READ },
	{ .name = "large", .run = run_large, .right = RPC_READ },
	{ .name = "nothing", .run = run_nothing, .right = RPC_READ },
	{ .name = "nan", .run = run_nan, .right = RPC_READ },
	{ .name = "unbuilt", .right = RPC_READ },
	{ .name = "hidden", .capability = "echo.hidden", .run = run_write, .right = RPC_READ },
};

struct rpc *fixture_rpc(enum rpc_session_mode mode)
{
	const struct rpc_config cfg = {
		.methods = table,
		.method_count = sizeof(table) / sizeof(table[0]),
		.capabilities_json = "{\"echo\":{\"hidden\":false},\"streaming\":{}}",
		.server_name = "test",
		.server_version = "1",
		.conformance = "L0",
		.sessions = mode,
		.limits = { .max_depth = 16,
			.max_values = 100,
			.max_string = 2000,
			.max_batch = 5,
			.max_sessions = 10,
			.session_ttl_s = 60,
			.deadline_ms = 20000 },
	};
	struct rpc *rpc = NULL;
	struct error e;

	assert_int_equal(rpc_new(&cfg, &rpc, &e), ST_OK);
	return rpc;
}

int fixture_writes(void)
{
	int n = writes;

	writes = 0;
	return n;
}

struct rpc_job *fixture_job(struct rpc *rpc, const char *text, size_t len,
	const struct fixture_call *how)
{
	static const struct fixture_call plain;
	struct rpc_input in = { .body = STRBUF_INIT };

	if (!how)
		how = &plain;
	in.transport = how->transport;
	in.has_path = how->path != NULL;
	in.path_method = how->path;
	in.session = how->session;
	in.traceparent = how->traceparent;
	in.progress = how->progress;
	in.caller.authenticated = how->authenticated;
	in.caller.rights = how->rights ? how->rights : RPC_READ | RPC_WRITE | RPC_ADMIN;
	snprintf(in.caller.identity, sizeof(in.caller.identity), "%s",
		how->identity ? how->identity : "addr:127.0.0.1");
	strbuf_add(&in.body, text, len);
	return rpc_job_new(rpc, &in);
}

static char body[65536], frames[65536], session_out[64];
static enum rpc_reply_kind kind;

static int keep_frame(void *arg, const char *json, size_t len)
{
	size_t at = strlen(frames);

	(void)arg;
	assert_true(at + len + 2 < sizeof(frames));
	memcpy(frames + at, json, len);
	memcpy(frames + at + len, "\n", 2);
	return 0;
}

const char *fixture_run(struct rpc *rpc, const char *text, const struct fixture_call *how)
{
	static const struct rpc_stream_ops ops = { keep_frame, true };
	struct rpc_job *job = fixture_job(rpc, text, strlen(text), how);
	struct rpc_reply *reply;

	assert_non_null(job);
	frames[0] = '\0';
	rpc_job_run_here(job, &ops, NULL);
	assert_true(rpc_job_answered(job));
	reply = rpc_job_reply(job);
	kind = reply->kind;
	snprintf(session_out, sizeof(session_out), "%s", reply->session ? reply->session : "");
	snprintf(body, sizeof(body), "%s", reply->body.data ? reply->body.data : "");
	rpc_job_unref(job);
	return body;
}

enum rpc_reply_kind fixture_kind(void)
{
	return kind;
}

const char *fixture_session(void)
{
	return *session_out ? session_out : NULL;
}

const char *fixture_frames(void)
{
	return frames;
}
