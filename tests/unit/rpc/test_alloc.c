/*
 * Every allocation of a message's life fails once: the answer is then whole or a
 * refusal, never half a JSON text, and nothing leaks (ASan runs this too).
 */
#include "fixture.h"

#include <string.h>

#include "util/gauge.h"
#include "util/mem.h"

static void try_all(const char *text, const struct fixture_call *how)
{
	struct rpc *rpc = fixture_rpc(RPC_SESSIONS_STATELESS);
	bool passed = false;

	for (long n = 0; n < 400 && !passed; n++) {
		struct rpc_job *job;
		json_t *v;

		mem_fail_after(n);
		job = fixture_job(rpc, text, strlen(text), how);
		if (!job) {
			mem_fail_after(-1);
			continue;
		}
		rpc_job_run_here(job, NULL, NULL);
		passed = mem_fail_after(-1) <= n;
		assert_true(rpc_job_answered(job));
		if (rpc_job_reply(job)->kind == RPC_REPLY_BODY) {
			v = json_loads(rpc_job_reply(job)->body.data, 0, NULL);
			if (!v)
				fail_msg("broken answer: %s", rpc_job_reply(job)->body.data);
			json_decref(v);
		}
		rpc_job_unref(job);
	}
	assert_true(passed);
	rpc_free(rpc);
	assert_int_equal(gauge_get(GAUGE_REQUESTS), 0);
}

static void test_single(void **state)
{
	static const struct fixture_call path = { .path = "echo" };

	(void)state;
	try_all("{\"jsonrpc\":\"2.0\",\"id\":\"a long id that needs room\",\"method\":\"echo\","
		"\"params\":{\"text\":[\"one\",\"two\"]}}",
		&path);
	try_all("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\","
		"\"params\":{\"protocolVersion\":1}}",
		NULL);
	try_all("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"nope\"}", NULL);
	try_all("{", NULL);
}

static void test_batch(void **state)
{
	(void)state;
	try_all("[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"echo\",\"params\":{\"text\":\"x\"}},"
		"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"write\"},5]",
		NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_single),
		cmocka_unit_test(test_batch),
	};

	json_set_alloc_funcs(mem_alloc, mem_free);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
