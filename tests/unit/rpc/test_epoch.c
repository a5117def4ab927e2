/*
 * Capabilities that grow (REQ: D42, L4): a session keeps what its initialize told, a
 * stateless request sees what there is now.
 */
#include "fixture.h"

#include <stdio.h>
#include <string.h>

#include "rpc/lifecycle.h"
#include "util/mem.h"

static uint64_t now; /* the current epoch */

static void write_capabilities(void *arg, uint64_t epoch, struct strbuf *out)
{
	assert_ptr_equal(arg, &now);
	strbuf_addf(out, "{\"fields\":{\"count\":%llu}}", (unsigned long long)epoch);
}

static uint64_t current(void *arg)
{
	return *(uint64_t *)arg;
}

static enum rpc_code run_epoch(struct rpc_call *call, const void *params, struct json_writer *out)
{
	(void)params;
	jw_object(out);
	jw_kv_int(out, "epoch", (int64_t)rpc_call_epoch(call));
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
	{ .name = "shutdown", .run = rpc_shutdown, .flags = RPC_M_OPEN | RPC_M_INLINE },
	{ .name = "epoch", .capability = "fields", .run = run_epoch, .right = RPC_READ },
	{ .name = "none", .capability = "other", .run = run_epoch, .right = RPC_READ },
};

static struct rpc_config config_of(enum rpc_session_mode mode)
{
	return (struct rpc_config){ .methods = table,
		.method_count = sizeof(table) / sizeof(table[0]),
		.methods_arg = &now,
		.capabilities = write_capabilities,
		.epoch = current,
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
			.deadline_ms = 20000 } };
}

static struct rpc *begin(enum rpc_session_mode mode)
{
	const struct rpc_config cfg = config_of(mode);
	struct rpc *rpc = NULL;
	struct error e;

	now = 3;
	assert_int_equal(rpc_new(&cfg, &rpc, &e), ST_OK);
	return rpc;
}

#define REQUEST(method, params)                                                                    \
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"" method "\",\"params\":" params "}"
#define INITIALIZE REQUEST("initialize", "{\"protocolVersion\":1}")

static void assert_count(struct rpc *rpc, const char *request, const struct fixture_call *how,
	int want)
{
	char text[40];
	const char *answer = fixture_run(rpc, request, how);

	snprintf(text, sizeof(text), "{\"count\":%d}", want);
	if (!strstr(answer, text))
		fail_msg("not %d: %s", want, answer);
}

static void assert_epoch(struct rpc *rpc, const struct fixture_call *how, int want)
{
	char text[40];
	const char *answer = fixture_run(rpc, REQUEST("epoch", "{}"), how);

	snprintf(text, sizeof(text), "\"result\":{\"epoch\":%d}", want);
	if (!strstr(answer, text))
		fail_msg("not %d: %s", want, answer);
}

static void test_stateless_sees_the_current_one(void **state)
{
	struct rpc *rpc = begin(RPC_SESSIONS_STATELESS);

	(void)state;
	assert_count(rpc, INITIALIZE, NULL, 3);
	now = 4;
	assert_count(rpc, REQUEST("info", "{}"), NULL, 4);
	assert_count(rpc, INITIALIZE, NULL, 4);
	assert_epoch(rpc, NULL, 4);
	assert_non_null(strstr(fixture_run(rpc, REQUEST("none", "{}"), NULL), "-32003"));
	rpc_free(rpc);
}

static void test_one_lifecycle_keeps_its_own(enum rpc_session_mode mode,
	const struct fixture_call *how)
{
	struct rpc *rpc = begin(mode);

	assert_count(rpc, REQUEST("info", "{}"), how, 3);
	now = 4;
	assert_count(rpc, REQUEST("info", "{}"), how, 4); /* nothing was promised yet */
	assert_count(rpc, INITIALIZE, how, 4);
	now = 9;
	assert_count(rpc, REQUEST("info", "{}"), how, 4);
	assert_epoch(rpc, how, 4);
	assert_non_null(strstr(fixture_run(rpc, INITIALIZE, how), "-32600"));
	assert_epoch(rpc, how, 4);
	fixture_run(rpc, REQUEST("shutdown", "{}"), how);
	assert_count(rpc, INITIALIZE, how, 9);
	assert_epoch(rpc, how, 9);
	rpc_free(rpc);
}

static void test_strict_and_process(void **state)
{
	static const struct fixture_call stdio = { .transport = RPC_OVER_STDIO };

	(void)state;
	test_one_lifecycle_keeps_its_own(RPC_SESSIONS_STRICT, NULL);
	test_one_lifecycle_keeps_its_own(RPC_SESSIONS_PROCESS, &stdio);
}

/* Strict sessions of two callers, of different ages. */
static void test_each_caller_has_its_own(void **state)
{
	static const struct fixture_call a = { .identity = "a" }, b = { .identity = "b" };
	struct rpc *rpc = begin(RPC_SESSIONS_STRICT);

	(void)state;
	assert_count(rpc, INITIALIZE, &a, 3);
	now = 5;
	assert_count(rpc, INITIALIZE, &b, 5);
	assert_epoch(rpc, &a, 3);
	assert_epoch(rpc, &b, 5);
	rpc_free(rpc);
}

static void test_each_token_has_its_own(void **state)
{
	struct rpc *rpc = begin(RPC_SESSIONS_TOKEN);
	char first[64], second[64];
	struct fixture_call a = { .session = first }, b = { .session = second };

	(void)state;
	assert_count(rpc, INITIALIZE, NULL, 3);
	snprintf(first, sizeof(first), "%s", fixture_session());
	now = 5;
	assert_count(rpc, INITIALIZE, NULL, 5);
	snprintf(second, sizeof(second), "%s", fixture_session());
	now = 6;
	assert_epoch(rpc, &a, 3);
	assert_epoch(rpc, &b, 5);
	assert_count(rpc, REQUEST("info", "{}"), &a, 3);
	assert_count(rpc, REQUEST("info", "{}"), NULL, 6);
	rpc_free(rpc);
}

static void write_nonsense(void *arg, uint64_t epoch, struct strbuf *out)
{
	(void)arg, (void)epoch;
	strbuf_adds(out, "[]");
}

static void write_nothing(void *arg, uint64_t epoch, struct strbuf *out)
{
	(void)arg, (void)epoch, (void)out;
}

static void test_capabilities_must_be_an_object(void **state)
{
	struct rpc_config cfg = config_of(RPC_SESSIONS_STATELESS);
	struct rpc *rpc = NULL;
	struct error e;

	(void)state;
	cfg.capabilities = write_nonsense;
	assert_int_equal(rpc_new(&cfg, &rpc, &e), ST_INTERNAL);
	cfg.capabilities = write_nothing;
	assert_int_equal(rpc_new(&cfg, &rpc, &e), ST_INTERNAL);
	cfg.capabilities = NULL;
	assert_int_equal(rpc_new(&cfg, &rpc, &e), ST_INTERNAL);
}

/* An answer is whole or an error, and a session that could not be told is not open. */
static void test_out_of_memory(void **state)
{
	static const char *const texts[] = { INITIALIZE, REQUEST("info", "{}") };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		bool failed = true;

		for (long n = 0; failed; n++) {
			struct rpc *rpc = begin(RPC_SESSIONS_STRICT);
			struct rpc_job *job;
			bool served = false;

			mem_fail_after(n);
			job = fixture_job(rpc, texts[i], strlen(texts[i]), NULL);
			if (job)
				rpc_job_run_here(job, NULL, NULL);
			failed = mem_fail_after(-1) > n;
			if (job && rpc_job_reply(job)->body.data)
				served = strstr(rpc_job_reply(job)->body.data, "\"result\"");
			rpc_job_unref(job);
			if (failed && !served && i == 0)
				assert_count(rpc, INITIALIZE, NULL, 3);
			rpc_free(rpc);
			assert_true(n < 400);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stateless_sees_the_current_one),
		cmocka_unit_test(test_strict_and_process),
		cmocka_unit_test(test_each_caller_has_its_own),
		cmocka_unit_test(test_each_token_has_its_own),
		cmocka_unit_test(test_capabilities_must_be_an_object),
		cmocka_unit_test(test_out_of_memory),
	};

	json_set_alloc_funcs(mem_alloc, mem_free);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
