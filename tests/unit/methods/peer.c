/* peer.c: see peer.h. */
#include "../unit.h"

#include "peer.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "methods/filter.h"
#include "rpc/rpc.h"
#include "util/mem.h"

struct methods peer_methods;

static struct models models;
static struct arena arena;
static char dir[64];
static struct rpc *rpc;

static void open_engine(void)
{
	struct engine_encoder encoder;
	struct engine_options opt = { .dir = dir,
		.readers = 1,
		.snapshot_ttl_s = 60,
		.max_snapshots = 10,
		.max_fields = 10,
		.values = methods_values_parse };
	struct error e;

	arena_init(&arena, 0);
	if (models_encoder(&models, &arena, &encoder))
		opt.encoder = &encoder;
	if (engine_open(&opt, &peer_methods.engine, &e))
		fail_msg("%s", e.message);
}

void peer_open(const struct models *of)
{
	struct rpc_config cfg = { .methods_arg = &peer_methods,
		.capabilities = methods_capabilities,
		.epoch = methods_epoch,
		.server_name = "t",
		.server_version = "1",
		.conformance = "L0",
		.limits = { 64, 10000, 1000000, 10, 10, 60, 20000 } };
	struct error e;

	models = *of;
	memset(&tiny_models, 0, sizeof(tiny_models));
	snprintf(dir, sizeof(dir), "/tmp/rcpd-methods-XXXXXX");
	assert_non_null(mkdtemp(dir));
	peer_methods = (struct methods){ .models = &models,
		.max_k = 10,
		.max_candidates = 100,
		.max_documents = 10,
		.max_inputs = 4,
		.max_passages = 5,
		.chunk_target = 16,
		.chunk_overlap = 4 };
	open_engine();
	cfg.methods = methods_table(&cfg.method_count);
	if (rpc_new(&cfg, &rpc, &e))
		fail_msg("%s", e.message);
}

static int drop(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st, (void)type, (void)at;
	return remove(path);
}

void peer_close(void)
{
	rpc_free(rpc);
	engine_close(peer_methods.engine);
	arena_release(&arena);
	nftw(dir, drop, 16, FTW_DEPTH | FTW_PHYS);
}

json_t *peer_call_failing(const char *method, const char *params, long fail_after, bool *ret_failed)
{
	struct rpc_input in = { .body = STRBUF_INIT,
		.caller = { .identity = "addr:127.0.0.1", .rights = RPC_READ | RPC_WRITE } };
	struct rpc_job *job;
	json_t *answer = NULL;

	strbuf_addf(&in.body, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"%s\",\"params\":%s}",
		method, params);
	mem_fail_after(fail_after);
	job = rpc_job_new(rpc, &in);
	if (job)
		rpc_job_run_here(job, NULL, NULL);
	*ret_failed = mem_fail_after(-1) > fail_after && fail_after >= 0;
	if (job && rpc_job_reply(job)->body.len) {
		answer = json_loads(rpc_job_reply(job)->body.data, 0, NULL);
		if (!answer)
			fail_msg("broken answer: %s", rpc_job_reply(job)->body.data);
	}
	rpc_job_unref(job);
	return answer;
}

json_t *peer_call(const char *method, const char *params)
{
	bool failed;
	json_t *answer = peer_call_failing(method, params, -1, &failed);

	assert_non_null(answer);
	return answer;
}

json_t *peer_result(const char *method, const char *params)
{
	json_t *answer = peer_call(method, params);
	json_t *result = json_incref(json_object_get(answer, "result"));

	if (!result)
		fail_msg("%s: %s", method, json_dumps(answer, 0));
	json_decref(answer);
	return result;
}

void peer_refused(const char *method, const char *params, int code, const char *where)
{
	json_t *answer = peer_call(method, params);
	const json_t *error = json_object_get(answer, "error");
	const json_t *data = json_object_get(error, "data");
	const char *field = json_string_value(json_object_get(data, "field"));
	const char *option = json_string_value(json_object_get(data, "option"));

	if (json_integer_value(json_object_get(error, "code")) != code ||
		strcmp(field             ? field
				: option ? option
					 : "",
			where) != 0)
		fail_msg("%s %s: %s", method, params, json_dumps(answer, 0));
	json_decref(answer);
}

void peer_walk(const char *method, const char *params)
{
	bool passed = false;

	for (long n = 0; n < 3000 && !passed; n++) {
		bool failed;
		json_t *answer = peer_call_failing(method, params, n, &failed);
		const json_t *code = json_object_get(json_object_get(answer, "error"), "code");

		passed = !failed;
		if (passed && !json_object_get(answer, "result"))
			fail_msg("%s: %s", method, json_dumps(answer, 0));
		if (code && json_integer_value(code) != -32010)
			fail_msg("%s, allocation %ld: %s", method, n, json_dumps(answer, 0));
		json_decref(answer);
	}
	assert_true(passed);
}
