/*
 * fuzz_envelope.c: any bytes as a message for the dispatcher. The first byte says
 * how it comes:
 *
 *   '0' + sessions (0..3: stateless, token, strict, process)
 *       + 4 over stdio  + 8 the first line is the method in the path
 *       + 16 with a session header  + 32 initialized before
 *
 * Whatever comes, the reply must be one of the known kinds, valid JSON of the right
 * shape, under the id that was sent. REQ: M1-M5 M14 M15 C2 D6 D7 D9 D11 D18 D19 D41.
 */
#include <string.h>

#include "check.h"
#include "fuzz.h"
#include "rpc/rpc.h"
#include "table.h"

enum how { HOW_STDIO = 4, HOW_PATH = 8, HOW_SESSION = 16, HOW_BEFORE = 32 };

static int on_frame(void *arg, const char *json, size_t len)
{
	json_t *v = check_parse(json, len, NULL);

	(void)arg;
	FUZZ_CHECK(v && !memchr(json, '\n', len));
	check_notification(v);
	json_decref(v);
	return 0;
}

static struct rpc_job *job_run(struct rpc *rpc, unsigned how, const char *path, const char *text,
	size_t len)
{
	static const struct rpc_stream_ops ops = { .send = on_frame, .logs = true };
	struct rpc_input in = { .transport = how & HOW_STDIO ? RPC_OVER_STDIO : RPC_OVER_HTTP,
		.has_path = path != NULL,
		.path_method = path,
		.caller = { .identity = "fuzz", .rights = RPC_READ | RPC_WRITE },
		.session = how & HOW_SESSION ? "0123456789abcdef0123456789abcdef" : NULL,
		.traceparent = how & HOW_SESSION
			? "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
			: NULL,
		.progress = true };

	strbuf_init(&in.body);
	strbuf_add(&in.body, text, len);
	struct rpc_job *job = rpc_job_new(rpc, &in);
	FUZZ_CHECK(job);
	rpc_job_parse(job);
	if (!rpc_job_answered(job))
		rpc_job_run_here(job, &ops, NULL);
	FUZZ_CHECK(rpc_job_answered(job));
	return job;
}

/* What no message at all may change. */
static void check_kind(const struct rpc_reply *r)
{
	switch (r->kind) {
	case RPC_REPLY_NONE:
		FUZZ_CHECK(r->body.len == 0);
		return;
	case RPC_REPLY_BODY:
	case RPC_REPLY_UNPARSEABLE:
	case RPC_REPLY_TOO_LARGE:
		FUZZ_CHECK(r->body.len > 0 && strbuf_ok(&r->body));
		FUZZ_CHECK(!memchr(r->body.data, '\n', r->body.len));
		return;
	case RPC_REPLY_REFUSED:
		break; /* nothing was full */
	}
	FUZZ_CHECK(!"a known kind of reply");
}

static void check_reply(const struct rpc_reply *r, const char *text, size_t len, bool compact)
{
	bool lossy = false;
	json_t *message = check_parse(text, len, &lossy);
	json_t *answer = r->body.len ? check_parse(r->body.data, r->body.len, &lossy) : NULL;

	check_kind(r);
	FUZZ_CHECK(answer || r->body.len == 0);
	if (r->kind == RPC_REPLY_UNPARSEABLE) {
		int code = check_response(answer);
		FUZZ_CHECK(code == -32700 || code == -32600);
		FUZZ_CHECK(json_is_null(json_object_get(answer, "id")));
		FUZZ_CHECK(code == -32700 || !json_is_object(message));
	}
	check_answer(message, answer, compact);
	json_decref(message);
	json_decref(answer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char init[] =
		"{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\","
		"\"params\":{\"protocolVersion\":1,\"capabilities\":{\"log\":{}}}}";
	char path[256] = "";

	if (size < 1)
		return 0;
	unsigned how = (unsigned)(data[0] - '0');
	const char *text = (const char *)data + 1;
	size_t len = size - 1;
	const char *line = how & HOW_PATH ? memchr(text, '\n', len) : NULL;
	if (line) {
		(void)snprintf(path, sizeof(path), "%.*s", (int)(line - text), text);
		len -= (size_t)(line - text) + 1;
		text = line + 1;
	}
	struct rpc *rpc = table_rpc((enum rpc_session_mode)(how & 3));
	if (how & HOW_BEFORE)
		rpc_job_unref(job_run(rpc, how & HOW_STDIO, NULL, init, sizeof(init) - 1));
	struct rpc_job *job = job_run(rpc, how, line ? path : NULL, text, len);
	check_reply(rpc_job_reply(job), text, len, !(how & HOW_STDIO));
	rpc_job_unref(job);
	rpc_free(rpc);
	return 0;
}
