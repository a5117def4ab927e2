/* Batches (REQ: M14, D9, D12, RPC-06). */
#include "fixture.h"

#include <pthread.h>
#include <string.h>

#include "util/clock.h"
#include "util/strbuf.h"

#define PING(id) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"ping\"}"
#define NOTE "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\"}"

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
	return 0;
}

/* The batch's answers, parsed; the caller owns them. */
static json_t *run(const char *text, const struct fixture_call *how)
{
	json_t *v = json_loads(fixture_run(rpc, text, how), 0, NULL);

	assert_non_null(v);
	return v;
}

static int code_at(const json_t *answers, size_t i)
{
	return (int)json_integer_value(
		json_object_get(json_object_get(json_array_get(answers, i), "error"), "code"));
}

static void test_members_fail_alone(void **state)
{
	json_t *v = run("[" PING("1") ",1,[]," PING("\"x\"") ",{\"jsonrpc\":\"2.0\",\"id\":3,"
			"\"method\":\"nope\"}]", NULL);

	(void)state;
	assert_int_equal(json_array_size(v), 5);
	assert_int_equal(code_at(v, 0), 0);
	assert_int_equal(code_at(v, 1), -32600);
	assert_true(json_is_null(json_object_get(json_array_get(v, 1), "id")));
	assert_int_equal(code_at(v, 2), -32600);
	assert_string_equal(json_string_value(json_object_get(json_array_get(v, 3), "id")), "x");
	assert_int_equal(code_at(v, 4), -32004);
	json_decref(v);
}

static void test_empty_and_silent(void **state)
{
	json_t *v = run("[]", NULL);

	(void)state;
	assert_true(json_is_object(v));
	assert_int_equal(json_integer_value(json_object_get(json_object_get(v, "error"), "code")),
		-32600);
	json_decref(v);
	assert_string_equal(fixture_run(rpc, "[" NOTE "," NOTE "]", NULL), "");
	assert_int_equal(fixture_kind(), RPC_REPLY_NONE);
	v = run("[" NOTE "," PING("4") "," NOTE "]", NULL);
	assert_int_equal(json_array_size(v), 1);
	json_decref(v);
}

static void test_cap(void **state)
{
	json_t *v = run("[1,1,1,1,1,1]", NULL);

	(void)state;
	assert_true(json_is_object(v));
	assert_int_equal(json_integer_value(json_object_get(json_object_get(v, "error"), "code")),
		-32013);
	assert_true(json_is_null(json_object_get(v, "id")));
	json_decref(v);
}

static void test_D9_through_a_method_path(void **state)
{
	static const struct fixture_call path = { .path = "ping" };
	json_t *v =
		run("[" PING("1") ",{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"write\"}]", &path);

	(void)state;
	assert_int_equal(code_at(v, 0), 0);
	assert_int_equal(code_at(v, 1), -32600);
	assert_int_equal(fixture_writes(), 0);
	json_decref(v);
}

static void test_order_with_initialize(void **state)
{
	static const struct fixture_call stdio = { .transport = RPC_OVER_STDIO };
	struct rpc *process = fixture_rpc(RPC_SESSIONS_PROCESS);
	const char *text = fixture_run(process,
		"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"write\"},"
		"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"initialize\","
		"\"params\":{\"protocolVersion\":1}},"
		"{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"write\"}]",
		&stdio);
	json_t *v = json_loads(text, 0, NULL);

	(void)state;
	assert_int_equal(code_at(v, 0), -32001);
	assert_int_equal(code_at(v, 1), 0);
	assert_int_equal(code_at(v, 2), 0);
	json_decref(v);
	assert_int_equal(fixture_writes(), 1);
	rpc_free(process);
}

static void *run_job(void *job)
{
	rpc_job_run_here(job, NULL, NULL);
	return NULL;
}

/* A member that has not even begun can be cancelled. */
static void test_cancel_of_a_later_member(void **state)
{
	const char *text =
		"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"wait\"},"
		"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"wait\"}]";
	static const struct fixture_call me = { .identity = "token:a", .authenticated = true };
	struct rpc_job *job = fixture_job(rpc, text, strlen(text), &me);
	uint64_t began = clock_mono_ms();
	pthread_t thread;
	json_t *v;

	(void)state;
	rpc_job_parse(job);
	assert_false(rpc_job_streams(job));
	assert_int_equal(pthread_create(&thread, NULL, run_job, job), 0);
	for (int id = 2; id >= 1; id--)
		fixture_run(rpc,
			id == 2 ? "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancel\","
				  "\"params\":{\"id\":2}}"
				: "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancel\","
				  "\"params\":{\"id\":1}}",
			&me);
	pthread_join(thread, NULL);
	assert_true(clock_mono_ms() - began < 1500);
	v = json_loads(rpc_job_reply(job)->body.data, 0, NULL);
	assert_int_equal(code_at(v, 0), -32006);
	assert_int_equal(code_at(v, 1), -32006);
	json_decref(v);
	rpc_job_unref(job);
}

/* REQ: K1: answers of one batch do not pile up without end. */
static void test_answers_have_a_limit(void **state)
{
	static const char text[] =
		"[{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"large\"},"
		"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"large\"},"
		"{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"large\"},"
		"{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"large\"}]";
	struct rpc_job *job = fixture_job(rpc, text, strlen(text), NULL);
	struct strbuf *body;
	json_t *v;

	(void)state;
	assert_non_null(job);
	rpc_job_run_here(job, NULL, NULL);
	body = &rpc_job_reply(job)->body;
	assert_true(body->len > (72u << 20) && body->len < (73u << 20));
	v = json_loadb(body->data, body->len, 0, NULL);
	assert_int_equal(json_array_size(v), 4);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(code_at(v, i), 0);
	assert_int_equal(code_at(v, 3), -32013);
	json_decref(v);
	rpc_job_unref(job);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_members_fail_alone, setup, teardown),
		cmocka_unit_test_setup_teardown(test_empty_and_silent, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cap, setup, teardown),
		cmocka_unit_test_setup_teardown(test_answers_have_a_limit, setup, teardown),
		cmocka_unit_test_setup_teardown(test_D9_through_a_method_path, setup, teardown),
		cmocka_unit_test_setup_teardown(test_order_with_initialize, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cancel_of_a_later_member, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
