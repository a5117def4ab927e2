/*
 * One message from bytes to answer: order of checks (D20), lifecycles (L1-L7, T8,
 * D1-D5), paths (D7), cancels (L6, D17), deadlines, progress (T6), traces (O2).
 */
#include "fixture.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "util/clock.h"
#include "util/gauge.h"

#define REQ(method, params)                                                                        \
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"" method "\",\"params\":" params "}"
#define INIT REQ("initialize", "{\"protocolVersion\":1}")

static struct rpc *rpc;

static int setup(void **state)
{
	(void)state;
	rpc = fixture_rpc(RPC_SESSIONS_STATELESS);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	rpc_free(rpc);
	assert_int_equal(gauge_get(GAUGE_REQUESTS), 0);
	assert_int_equal(gauge_get(GAUGE_INFLIGHT), 0);
	return 0;
}

static void has(const char *answer, const char *what)
{
	if (!strstr(answer, what))
		fail_msg("no %s in %s", what, answer);
}

static void test_D20_order_of_checks(void **state)
{
	static const struct fixture_call elsewhere = { .path = "ping" };
	static const struct fixture_call reader = { .rights = RPC_READ };

	(void)state;
	has(fixture_run(rpc, "{", NULL), "-32700");
	assert_int_equal(fixture_kind(), RPC_REPLY_UNPARSEABLE);
	has(fixture_run(rpc, "5", NULL), "-32600");
	assert_int_equal(fixture_kind(), RPC_REPLY_UNPARSEABLE);
	has(fixture_run(rpc, "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"nope\"}", &elsewhere),
		"\"id\":null,\"error\":{\"code\":-32600");
	assert_int_equal(fixture_kind(), RPC_REPLY_BODY);
	has(fixture_run(rpc, REQ("nope", "[]"), &elsewhere), "\"id\":1,\"error\":{\"code\":-32600");
	has(fixture_run(rpc, REQ("nope", "[]"), NULL), "-32004");
	has(fixture_run(rpc, REQ("unbuilt", "[]"), NULL), "-32003");
	has(fixture_run(rpc, REQ("hidden", "[]"), NULL), "-32003");
	has(fixture_run(rpc, REQ("write", "[]"), &reader), "-32012");
	has(fixture_run(rpc, REQ("write", "[]"), NULL), "-32602");
	has(fixture_run(rpc, REQ("echo", "{}"), NULL), "\"field\":\"text\"");
	has(fixture_run(rpc, REQ("echo", "{\"text\":\"x\"}"), NULL),
		"\"result\":{\"text\":\"x\"}}");
}

static void test_M3_ids_come_back_as_written(void **state)
{
	static const char *const ids[] = { "7", "7.0", "\"7\"", "9007199254740993", "1e3", "0",
		"\"\"", "-1", "1.5", "\"\\u0000\\ud83d\\ude00\"" };

	(void)state;
	for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
		char text[200], want[200];

		snprintf(text, sizeof(text), "{\"jsonrpc\":\"2.0\",\"id\":%s,\"method\":\"ping\"}",
			ids[i]);
		snprintf(want, sizeof(want), "{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{}}",
			ids[i]);
		assert_string_equal(fixture_run(rpc, text, NULL), want);
	}
}

static void test_D7_path(void **state)
{
	static const struct fixture_call ping = { .path = "ping" }, upper = { .path = "PING" },
					 root = { .path = "" };

	(void)state;
	has(fixture_run(rpc, REQ("ping", "{}"), &ping), "result");
	has(fixture_run(rpc, REQ("ping", "{}"), &upper), "-32600");
	has(fixture_run(rpc, REQ("write", "{}"), &ping), "-32600");
	assert_int_equal(fixture_writes(), 0);
	has(fixture_run(rpc, REQ("ping", "{}"), &root), "-32600");
	fixture_run(rpc, "{\"jsonrpc\":\"2.0\",\"method\":\"write\"}", &ping);
	assert_int_equal(fixture_kind(), RPC_REPLY_NONE);
	assert_int_equal(fixture_writes(), 0);
}

static void test_M5_notifications_are_silent(void **state)
{
	static const char *const silent[] = { "nope", "unbuilt", "echo", "info", "initialize",
		"notifications/foo", "notifications/cancel" };

	(void)state;
	for (size_t i = 0; i < sizeof(silent) / sizeof(silent[0]); i++) {
		char text[200];

		snprintf(text, sizeof(text),
			"{\"jsonrpc\":\"2.0\",\"method\":\"%s\",\"params\":[5]}", silent[i]);
		assert_string_equal(fixture_run(rpc, text, NULL), "");
		assert_int_equal(fixture_kind(), RPC_REPLY_NONE);
	}
	/* A write without an id is applied (RPC-05). */
	fixture_run(rpc, "{\"jsonrpc\":\"2.0\",\"method\":\"write\"}", NULL);
	assert_int_equal(fixture_kind(), RPC_REPLY_NONE);
	assert_int_equal(fixture_writes(), 1);
}

static void test_L1_L3_strict_lifecycle(void **state)
{
	static const struct fixture_call other = { .identity = "addr:10.0.0.9" };
	struct rpc *strict = fixture_rpc(RPC_SESSIONS_STRICT);

	(void)state;
	has(fixture_run(strict, REQ("ping", "{}"), NULL), "result");
	has(fixture_run(strict, REQ("info", "{}"), NULL), "result");
	has(fixture_run(strict, REQ("echo", "{\"text\":\"x\"}"), NULL), "-32001");
	has(fixture_run(strict, REQ("nope", "{}"), NULL), "-32001"); /* D3 */
	has(fixture_run(strict, REQ("initialize", "{\"protocolVersion\":0}"), NULL), "-32002");
	has(fixture_run(strict, REQ("initialize", "{}"), NULL), "\"field\":\"protocolVersion\"");
	has(fixture_run(strict, REQ("echo", "{\"text\":\"x\"}"), NULL), "-32001");
	has(fixture_run(strict, INIT, NULL), "\"conformance\":\"L0\"");
	has(fixture_run(strict, INIT, NULL), "-32600");
	has(fixture_run(strict, REQ("nope", "{}"), NULL), "-32004");
	has(fixture_run(strict, REQ("echo", "{\"text\":\"x\"}"), NULL), "result");
	has(fixture_run(strict, REQ("echo", "{\"text\":\"x\"}"), &other), "-32001");
	has(fixture_run(strict, REQ("shutdown", "{}"), NULL), "\"result\":{}");
	has(fixture_run(strict, REQ("echo", "{\"text\":\"x\"}"), NULL), "-32001");
	has(fixture_run(strict, INIT, NULL), "result"); /* D1: it can run again */
	rpc_free(strict);
}

static void test_T8_token_sessions(void **state)
{
	struct rpc *token = fixture_rpc(RPC_SESSIONS_TOKEN);
	char session[64];
	struct fixture_call with = { .session = session };
	struct fixture_call thief = { .session = session, .identity = "addr:10.0.0.9" };
	static const struct fixture_call wrong = { .session = "0123456789abcdef0123456789abcdef" };

	(void)state;
	has(fixture_run(token, REQ("echo", "{\"text\":\"x\"}"), NULL), "-32001");
	has(fixture_run(token, REQ("echo", "{\"text\":\"x\"}"), &wrong), "-32015");
	has(fixture_run(token, INIT, NULL), "\"session\":\"");
	assert_non_null(fixture_session());
	snprintf(session, sizeof(session), "%s", fixture_session());
	has(fixture_run(token, REQ("echo", "{\"text\":\"x\"}"), &with), "result");
	has(fixture_run(token, REQ("echo", "{\"text\":\"x\"}"), &thief), "-32015");
	has(fixture_run(token, INIT, &with), "-32600");
	has(fixture_run(token, INIT, NULL), "result"); /* another session */
	has(fixture_run(token, REQ("shutdown", "{}"), &with), "result");
	has(fixture_run(token, REQ("echo", "{\"text\":\"x\"}"), &with), "-32015");
	rpc_free(token);
}

static void test_D5_versions(void **state)
{
	static const char *const good[] = { "1", "1.0", "7" };
	static const char *const invalid[] = { "null", "\"1.0\"", "1.5", "true", "[]",
		"1152921504606846976", "99999999999999999999" };
	static const char *const floor_missed[] = { "0", "-3" };
	char text[200];

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		snprintf(text, sizeof(text), REQ("initialize", "{\"protocolVersion\":%s}"),
			good[i]);
		has(fixture_run(rpc, text, NULL), "\"protocolVersion\":1,");
	}
	for (size_t i = 0; i < 7; i++) {
		snprintf(text, sizeof(text), REQ("initialize", "{\"protocolVersion\":%s}"),
			invalid[i]);
		has(fixture_run(rpc, text, NULL), "-32602");
		has(fixture_run(rpc, text, NULL), "\"field\":\"protocolVersion\"");
	}
	for (size_t i = 0; i < 2; i++) {
		snprintf(text, sizeof(text), REQ("initialize", "{\"protocolVersion\":%s}"),
			floor_missed[i]);
		has(fixture_run(rpc, text, NULL), "-32002");
	}
}

static void test_JSON_01_broken_handlers_do_not_leak_out(void **state)
{
	(void)state;
	has(fixture_run(rpc, REQ("nan", "{}"), NULL), "\"id\":1,\"error\":{\"code\":-32603");
	has(fixture_run(rpc, REQ("nothing", "{}"), NULL), "-32603");
}

static void test_JSON_03_huge_numbers(void **state)
{
	(void)state;
	has(fixture_run(rpc,
		    "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"initialize\",\"params\":"
		    "{\"protocolVersion\":99999999999999999999}}",
		    NULL),
		"\"id\":5,\"error\":{\"code\":-32602");
	/* An unknown member is ignored, whatever it holds (M8). */
	has(fixture_run(rpc, REQ("echo", "{\"text\":\"x\",\"y\":99999999999999999999}"), NULL),
		"result");
	has(fixture_run(rpc, REQ("ping", "{\"nonce\":99999999999999999999}"), NULL),
		"{\"nonce\":99999999999999999999}");
	has(fixture_run(rpc, REQ("ping", "{\"nonce\":1.10}"), NULL), "{\"nonce\":1.10}");
}

static void test_T6_progress_frames(void **state)
{
	static const struct fixture_call sse = { .progress = true };
	const char *text = REQ("wait", "{\"_meta\":{\"progressToken\":\"t\",\"deadlineMs\":20}}");

	(void)state;
	has(fixture_run(rpc, text, &sse), "-32014"); /* L7 */
	assert_string_equal(fixture_frames(),
		"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":"
		"{\"progressToken\":\"t\",\"progress\":0.5,\"stage\":\"recall\"}}\n"
		"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":"
		"{\"progressToken\":\"t\",\"progress\":0.5,\"stage\":\"pack\","
		"\"message\":\"going back\",\"partial\":{\"hits\":[]}}}\n");
	fixture_run(rpc, text, NULL); /* no SSE: no frames */
	assert_string_equal(fixture_frames(), "");
	fixture_run(rpc, REQ("wait", "{\"_meta\":{\"deadlineMs\":20}}"), &sse); /* no token */
	assert_string_equal(fixture_frames(), "");
	has(fixture_run(rpc, REQ("wait", "{\"_meta\":{\"progressToken\":1.5}}"), &sse),
		"\"field\":\"_meta.progressToken\"");
	has(fixture_run(rpc, REQ("wait", "{\"_meta\":{\"deadlineMs\":0}}"), &sse),
		"\"field\":\"_meta.deadlineMs\"");
	has(fixture_run(rpc, REQ("wait", "{\"_meta\":5}"), &sse), "\"field\":\"_meta\"");
}

static void test_O1_logs_only_when_asked(void **state)
{
	static const struct fixture_call stdio = { .transport = RPC_OVER_STDIO };
	struct rpc *process = fixture_rpc(RPC_SESSIONS_PROCESS);

	(void)state;
	fixture_run(process, INIT, &stdio);
	fixture_run(process, REQ("wait", "{\"_meta\":{\"deadlineMs\":5}}"), &stdio);
	assert_string_equal(fixture_frames(), "");
	fixture_run(process, REQ("wait", "{\"_meta\":{\"deadlineMs\":5,\"logLevel\":\"info\"}}"),
		&stdio);
	has(fixture_frames(),
		"\"method\":\"notifications/log\",\"params\":{\"level\":\"info\","
		"\"message\":\"waiting 1\",\"logger\":\"test\"}}");
	fixture_run(process, REQ("wait", "{\"_meta\":{\"deadlineMs\":5,\"logLevel\":\"error\"}}"),
		&stdio);
	assert_string_equal(fixture_frames(), "");
	fixture_run(process, REQ("shutdown", "{}"), &stdio);
	fixture_run(process,
		REQ("initialize", "{\"protocolVersion\":1,\"capabilities\":{\"log\":{}}}"), &stdio);
	fixture_run(process, REQ("wait", "{\"_meta\":{\"deadlineMs\":5}}"), &stdio);
	has(fixture_frames(), "notifications/log");
	rpc_free(process);
}

static void test_O2_trace_id(void **state)
{
	static const struct fixture_call traced = {
		.traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	};
	static const char *const bad[] = {
		"",
		"00",
		"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331",
		"ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
		"00-0AF7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
		"00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
		"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0x",
		"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more",
		"0x-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
	};
	static const struct fixture_call later = {
		.traceparent = "01-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more"
	};
	static const struct fixture_call zero = {
		.traceparent = "00-00000000000000000000000000000000-b7ad6b7169203331-01"
	};

	(void)state;
	has(fixture_run(rpc, REQ("ping", "{\"nonce\":1}"), &traced),
		"{\"nonce\":1,\"_meta\":{\"traceId\":\"0af7651916cd43dd8448eb211c80319c\"}}");
	has(fixture_run(rpc, REQ("ping", "{}"), &traced), "\"result\":{\"_meta\":{\"traceId\"");
	has(fixture_run(rpc, REQ("info", "{}"), &traced), "\"traceId\":\"0af7");
	assert_null(strstr(fixture_run(rpc, REQ("ping", "{}"), &zero), "traceId"));
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		const struct fixture_call how = { .traceparent = bad[i] };

		if (strstr(fixture_run(rpc, REQ("ping", "{}"), &how), "traceId"))
			fail_msg("taken: %s", bad[i]);
	}
	has(fixture_run(rpc, REQ("ping", "{}"), &later), "\"traceId\":\"0af7");
}

/* ---- cancels: a job waits on a thread of its own ---- */

static void *run_job(void *job)
{
	rpc_job_run_here(job, NULL, NULL);
	return NULL;
}

static const char *answer_of(struct rpc_job *job, pthread_t thread)
{
	static char text[2000];

	pthread_join(thread, NULL);
	snprintf(text, sizeof(text), "%s", rpc_job_reply(job)->body.data);
	rpc_job_unref(job);
	return text;
}

static struct rpc_job *start_wait(const struct fixture_call *how, pthread_t *thread)
{
	const char *text = "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"wait\"}";
	struct rpc_job *job = fixture_job(rpc, text, strlen(text), how);

	rpc_job_parse(job);
	assert_false(rpc_job_answered(job));
	assert_true(rpc_job_streams(job));
	assert_int_equal(pthread_create(thread, NULL, run_job, job), 0);
	return job;
}

#define CANCEL(id)                                                                                 \
	"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancel\",\"params\":{\"id\":" id "}}"

static void test_D17_cancel_by_session(void **state)
{
	char session[64];
	struct fixture_call mine = { .session = session };
	struct fixture_call thief = { .session = session, .identity = "addr:10.0.0.9" };
	struct rpc_job *job;
	pthread_t thread;
	uint64_t began;

	(void)state;
	fixture_run(rpc, INIT, NULL);
	snprintf(session, sizeof(session), "%s", fixture_session());
	job = start_wait(&mine, &thread);
	began = clock_mono_ms();
	fixture_run(rpc, CANCEL("7"), NULL);      /* no session: nothing happens */
	fixture_run(rpc, CANCEL("7"), &thief);    /* not its session */
	fixture_run(rpc, CANCEL("\"7\""), &mine); /* not its id */
	clock_sleep_ms(50);
	assert_false(rpc_job_answered(job) && clock_mono_ms() - began < 1500);
	fixture_run(rpc, CANCEL("7"), &mine);
	has(answer_of(job, thread), "\"id\":7,\"error\":{\"code\":-32006");
	assert_true(clock_mono_ms() - began < 1500);
	fixture_run(rpc, CANCEL("7"), &mine); /* answered already: nothing happens */
	assert_int_equal(fixture_kind(), RPC_REPLY_NONE);
}

static void test_D17_cancel_by_proved_identity(void **state)
{
	static const struct fixture_call token = { .identity = "token:a", .authenticated = true };
	static const struct fixture_call address = { .identity = "addr:127.0.0.1" };
	struct rpc_job *job;
	pthread_t thread;

	(void)state;
	job = start_wait(&token, &thread);
	fixture_run(rpc, CANCEL("7"), &address);
	fixture_run(rpc, CANCEL("7"), &token);
	has(answer_of(job, thread), "-32006");
}

static void test_T7_hang_up_cancels(void **state)
{
	struct rpc_job *job;
	pthread_t thread;

	(void)state;
	job = start_wait(NULL, &thread);
	rpc_job_cancel(job);
	has(answer_of(job, thread), "-32006");
}

/* REQ: L6, L7, M15: what waits to be parsed is within reach already. */
static void test_scanned_only(void **state)
{
	static const struct fixture_call token = { .identity = "token:a", .authenticated = true };
	const char *text =
		"{\"params\":{\"x\":1},\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"write\"}";
	const char *timed =
		"{\"jsonrpc\":\"2.0\",\"id\":\"d\",\"method\":\"write\","
		"\"params\":{\"_meta\":{\"deadlineMs\":5}}}";
	struct rpc_job *job = fixture_job(rpc, text, strlen(text), &token);

	(void)state;
	rpc_job_scan(job);
	assert_false(rpc_job_stale(job, clock_mono_ns()));
	fixture_run(rpc, CANCEL("7"), &token);
	assert_true(rpc_job_stale(job, clock_mono_ns()));
	rpc_job_run_here(job, NULL, NULL);
	has(rpc_job_reply(job)->body.data, "\"id\":7,\"error\":{\"code\":-32006");
	rpc_job_unref(job);

	job = fixture_job(rpc, timed, strlen(timed), NULL);
	rpc_job_scan(job);
	clock_sleep_ms(6);
	rpc_job_run_here(job, NULL, NULL);
	has(rpc_job_reply(job)->body.data, "\"id\":\"d\",\"error\":{\"code\":-32014");
	rpc_job_unref(job);
	assert_int_equal(fixture_writes(), 0);

	/* A client that left: nothing is parsed; text that is no JSON does no harm. */
	job = fixture_job(rpc, "{\"id\":\"x", 8, NULL);
	rpc_job_scan(job);
	rpc_job_cancel(job);
	rpc_job_run_here(job, NULL, NULL);
	assert_int_equal(rpc_job_reply(job)->kind, RPC_REPLY_NONE);
	rpc_job_unref(job);
}

static void test_scan_refuses(void **state)
{
	char text[600] = "{\"id\":1,\"x\":[";
	struct rpc_job *job;

	(void)state;
	for (int i = 0; i < 101; i++)
		memcpy(text + strlen(text), "1,", 3);
	job = fixture_job(rpc, text, strlen(text), NULL);
	rpc_job_scan(job);
	assert_true(rpc_job_answered(job));
	assert_int_equal(rpc_job_reply(job)->kind, RPC_REPLY_TOO_LARGE);
	has(rpc_job_reply(job)->body.data, "-32013");
	rpc_job_unref(job);
}

/* A job that is parsed and then dropped leaves nothing behind for a cancel. */
static void test_dropped_after_parse(void **state)
{
	static const struct fixture_call token = { .identity = "token:a", .authenticated = true };
	const char *text = "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"wait\"}";
	struct rpc_job *job = fixture_job(rpc, text, strlen(text), &token);

	(void)state;
	rpc_job_parse(job);
	assert_false(rpc_job_answered(job));
	rpc_job_unref(job);
	fixture_run(rpc, CANCEL("7"), &token);
	assert_int_equal(gauge_get(GAUGE_REQUESTS), 0);
}

static void finished(struct rpc_job *job, void *arg)
{
	(void)job;
	atomic_fetch_add((atomic_int *)arg, 1);
}

static void test_refusal_when_the_queue_is_full(void **state)
{
	const char *text = "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"wait\"}";
	struct rpc_job *jobs[3];
	atomic_int done = 0;
	struct pool *pool;
	int refused = 0;

	(void)state;
	assert_int_equal(pool_new(1, 1, &pool, NULL), ST_OK);
	for (int i = 0; i < 3; i++) {
		jobs[i] = fixture_job(rpc, text, strlen(text), NULL);
		rpc_job_parse(jobs[i]);
		if (rpc_job_submit(jobs[i], pool, 0, NULL, NULL, finished, &done) != ST_OK) {
			refused++;
			assert_int_equal(rpc_job_reply(jobs[i])->kind, RPC_REPLY_REFUSED);
			has(rpc_job_reply(jobs[i])->body.data,
				"\"id\":7,\"error\":{\"code\":-32010");
			has(rpc_job_reply(jobs[i])->body.data, "\"retryAfterMs\":1000");
			assert_int_equal(rpc_job_reply(jobs[i])->retry_after_ms, 1000);
		}
	}
	assert_true(refused >= 1);
	for (int i = 0; i < 3; i++)
		rpc_job_cancel(jobs[i]);
	pool_free(pool);
	assert_int_equal(atomic_load(&done), 3 - refused);
	for (int i = 0; i < 3; i++)
		rpc_job_unref(jobs[i]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_D20_order_of_checks, setup, teardown),
		cmocka_unit_test_setup_teardown(test_M3_ids_come_back_as_written, setup, teardown),
		cmocka_unit_test_setup_teardown(test_D7_path, setup, teardown),
		cmocka_unit_test_setup_teardown(test_M5_notifications_are_silent, setup, teardown),
		cmocka_unit_test_setup_teardown(test_L1_L3_strict_lifecycle, setup, teardown),
		cmocka_unit_test_setup_teardown(test_T8_token_sessions, setup, teardown),
		cmocka_unit_test_setup_teardown(test_D5_versions, setup, teardown),
		cmocka_unit_test_setup_teardown(test_JSON_01_broken_handlers_do_not_leak_out, setup,
			teardown),
		cmocka_unit_test_setup_teardown(test_JSON_03_huge_numbers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_T6_progress_frames, setup, teardown),
		cmocka_unit_test_setup_teardown(test_O1_logs_only_when_asked, setup, teardown),
		cmocka_unit_test_setup_teardown(test_O2_trace_id, setup, teardown),
		cmocka_unit_test_setup_teardown(test_D17_cancel_by_session, setup, teardown),
		cmocka_unit_test_setup_teardown(test_D17_cancel_by_proved_identity, setup,
			teardown),
		cmocka_unit_test_setup_teardown(test_T7_hang_up_cancels, setup, teardown),
		cmocka_unit_test_setup_teardown(test_scanned_only, setup, teardown),
		cmocka_unit_test_setup_teardown(test_scan_refuses, setup, teardown),
		cmocka_unit_test_setup_teardown(test_dropped_after_parse, setup, teardown),
		cmocka_unit_test_setup_teardown(test_refusal_when_the_queue_is_full, setup,
			teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
