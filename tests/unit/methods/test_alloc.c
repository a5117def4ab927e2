/*
 * Each allocation of retrieve, index/add and index/delete fails once: the answer is
 * whole or an error, a failed add has changed nothing, and nothing leaks.
 */
#include "../unit.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "methods/filter.h"
#include "methods/methods.h"
#include "rpc/rpc.h"
#include "util/clock.h"
#include "util/gauge.h"
#include "util/mem.h"

static char dir[] = "/tmp/rcpd-methods-XXXXXX";
static struct methods methods = { .max_k = 10,
	.max_candidates = 100,
	.max_documents = 10,
	.chunk_target = 16,
	.chunk_overlap = 4 };
static struct rpc *rpc;

static int setup(void **state)
{
	struct engine_options opt = { .dir = dir,
		.readers = 1,
		.snapshot_ttl_s = 60,
		.max_snapshots = 10,
		.max_fields = 10,
		.values = methods_values_parse };
	struct rpc_config cfg = { .methods_arg = &methods,
		.capabilities = methods_capabilities,
		.epoch = methods_epoch,
		.server_name = "t",
		.server_version = "1",
		.conformance = "L0",
		.limits = { 64, 1000, 100000, 10, 10, 60, 20000 } };
	struct error e;

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(engine_open(&opt, &methods.engine, &e), ST_OK);
	cfg.methods = methods_table(&cfg.method_count);
	assert_int_equal(rpc_new(&cfg, &rpc, &e), ST_OK);
	return 0;
}

static int drop(const char *path, const struct stat *st, int type, struct FTW *at)
{
	(void)st, (void)type, (void)at;
	return remove(path);
}

static int teardown(void **state)
{
	(void)state;
	rpc_free(rpc);
	engine_close(methods.engine);
	return nftw(dir, drop, 16, FTW_DEPTH | FTW_PHYS);
}

/* Runs text; the answer, or NULL when there was no memory to say anything. New. */
static json_t *run(const char *text, long fail_after, bool *ret_failed)
{
	struct rpc_input in = { .body = STRBUF_INIT,
		.caller = { .identity = "addr:127.0.0.1", .rights = RPC_READ | RPC_WRITE } };
	struct rpc_job *job;
	json_t *answer = NULL;

	strbuf_adds(&in.body, text);
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

static size_t hits(void)
{
	bool failed;
	json_t *v =
		run("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"retrieve\",\"params\":"
		    "{\"query\":\"fox\"}}",
			-1, &failed);
	size_t n = json_array_size(json_object_get(json_object_get(v, "result"), "hits"));

	json_decref(v);
	return n;
}

#define CALL(method, params)                                                                       \
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"" method "\",\"params\":{" params "}}"
#define ADD                                                                                        \
	CALL("index/add",                                                                          \
		"\"documents\":[{\"id\":\"a%#\",\"text\":\"red fox\","                             \
		"\"meta\":{\"title\":\"t\",\"d\":\"2024-01-01\",\"o\":{\"n\":[1,2]}}},"            \
		"{\"content\":[\"grey fox\",{\"type\":\"text\",\"text\":\"x\"}],"                  \
		"\"meta\":{\"mimeType\":\"text/markdown\"}}],"                                     \
		"\"contextual\":true,\"_meta\":{\"idempotencyKey\":\"k\"}")
#define RETRIEVE                                                                                   \
	CALL("retrieve",                                                                           \
		"\"query\":[\"fox\",\"red\"],\"recency\":{\"field\":\"d\",\"halfLifeDays\":1},"    \
		"\"k\":1,\"filter\":{\"or\":[{\"field\":\"o.n\",\"op\":\"in\",\"value\":[2]},"     \
		"{\"not\":{\"field\":\"d\",\"op\":\"exists\"}}]}")
#define DELETE CALL("index/delete", "\"ids\":[\"a%#\",\"b\"]")
#define DELETE_WHERE                                                                               \
	CALL("index/delete",                                                                       \
		"\"filter\":{\"field\":\"mimeType\",\"op\":\"eq\",\"value\":\"text/markdown\"}")

static void walk(const char *text, size_t hits_before)
{
	bool failed = true;

	for (long n = 0; n < 1000 && failed; n++) {
		json_t *v = run(text, n, &failed);
		const json_t *error = json_object_get(v, "error");
		int code = (int)json_integer_value(json_object_get(error, "code"));

		if (error && code != -32010 && code != -32700)
			fail_msg("allocation %ld of %s gives %d", n, text, code);
		if (failed && error)
			assert_int_equal(hits(), hits_before);
		if (failed && v && !error)
			failed = false; /* it did no harm: the answer was whole */
		json_decref(v);
	}
	assert_int_equal(gauge_get(GAUGE_REQUESTS), 0);
	assert_int_equal(gauge_get(GAUGE_VIEWS), 0);
}

/* What is on disk and could not be made visible for want of memory is tried again. */
static void wait_for_hits(size_t n)
{
	for (int i = 0; i < 500 && hits() != n; i++)
		clock_sleep_ms(10);
	assert_int_equal(hits(), n);
}

static void test_walks(void **state)
{
	(void)state;
	walk(ADD, 0);
	wait_for_hits(2);
	walk(RETRIEVE, 2);
	walk(DELETE, 2);
	wait_for_hits(1);
	walk(DELETE_WHERE, 1);
	wait_for_hits(0);
	walk(CALL("info", ""), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(test_walks) };

	json_set_alloc_funcs(mem_alloc, mem_free);
	return cmocka_run_group_tests(tests, setup, teardown);
}
