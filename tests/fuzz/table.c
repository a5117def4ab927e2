/*
 * table.c: see table.h. The handlers answer at once and touch nothing.
 */
#include "table.h"

#include "fuzz.h"
#include "rpc/lifecycle.h"

struct echo_params {
	const json_t *value;
	struct rpc_int n;
	struct rpc_text text;
};

static const struct rpc_param echo_table[] = {
	{ .name = "value", .type = RPC_P_JSON, .offset = offsetof(struct echo_params, value) },
	{ .name = "n", .type = RPC_P_INT, .offset = offsetof(struct echo_params, n), .max = 100 },
	{ .name = "text", .type = RPC_P_TEXT, .offset = offsetof(struct echo_params, text) },
};

static enum rpc_code run_echo(struct rpc_call *call, const void *params, struct json_writer *out)
{
	const struct echo_params *p = params;

	(void)call;
	jw_object(out);
	if (p->value) {
		jw_key(out, "value");
		jw_json(out, p->value);
	}
	if (p->text.set)
		jw_kv_bytes(out, "text", p->text.text);
	jw_end(out);
	return RPC_OK;
}

static enum rpc_code run_stream(struct rpc_call *call, const void *params, struct json_writer *out)
{
	rpc_call_progress(call, 0.25, "recall", NULL, NULL, 0);
	rpc_call_log(call, LOG_INFO, "fuzz", "half of it");
	rpc_call_progress(call, 0.125, "fuse", "falls, so it is raised", "{\"hits\":[]}", 11);
	return run_echo(call, params, out);
}

/* Fails after it has written something, which must not show. */
static enum rpc_code run_fail(struct rpc_call *call, const void *params, struct json_writer *out)
{
	(void)params;
	jw_object(out);
	jw_kv_string(out, "half", "an answer");
	return rpc_error_set(rpc_call_error(call), RPC_NOT_FOUND, "nothing there");
}

#define ECHO_ROWS                                                                                  \
	.params = echo_table, .param_count = sizeof(echo_table) / sizeof(echo_table[0]),           \
	.params_size = sizeof(struct echo_params)

static const struct rpc_method methods[] = {
	{ .name = "initialize",
		.run = rpc_initialize,
		.params = rpc_initialize_table,
		.param_count = RPC_INITIALIZE_PARAMS,
		.params_size = sizeof(struct rpc_initialize_params),
		.flags = RPC_M_OPEN | RPC_M_INLINE | RPC_M_OWN_META },
	{ .name = "ping",
		.run = rpc_ping,
		.params = rpc_ping_table,
		.param_count = RPC_PING_PARAMS,
		.params_size = sizeof(struct rpc_ping_params),
		.flags = RPC_M_OPEN | RPC_M_INLINE },
	{ .name = "info", .run = rpc_info, .flags = RPC_M_OPEN | RPC_M_INLINE | RPC_M_OWN_META },
	{ .name = "shutdown",
		.run = rpc_shutdown,
		.flags = RPC_M_OPEN | RPC_M_INLINE | RPC_M_OWN_META },
	{ .name = "retrieve",
		.run = run_stream,
		.right = RPC_READ,
		.flags = RPC_M_STREAMS,
		ECHO_ROWS },
	{ .name = "embed", .run = run_echo, .right = RPC_READ, ECHO_ROWS },
	{ .name = "index/add", .run = run_echo, .right = RPC_WRITE, ECHO_ROWS },
	{ .name = "index/delete", .run = run_fail, .right = RPC_WRITE, ECHO_ROWS },
	{ .name = "graph" },
	{ .name = "rerank", .run = run_echo, .capability = "rerank", ECHO_ROWS },
	{ .name = "feedback", .run = run_echo, .right = RPC_ADMIN, ECHO_ROWS },
};

struct rpc *table_rpc(enum rpc_session_mode mode)
{
	const struct rpc_config cfg = { .methods = methods,
		.method_count = sizeof(methods) / sizeof(methods[0]),
		.capabilities_json = "{\"retrieve\":{\"modes\":[\"sparse\"]},\"streaming\":true}",
		.server_name = "fuzz",
		.server_version = "0",
		.conformance = "L0",
		.sessions = mode,
		.limits = { .max_depth = 16,
			.max_values = 200,
			.max_string = 1000,
			.max_batch = 8,
			.max_sessions = 4,
			.session_ttl_s = 3600,
			.deadline_ms = 25000 } };
	struct rpc *rpc;

	FUZZ_CHECK(rpc_new(&cfg, &rpc, NULL) == ST_OK);
	return rpc;
}
