/*
 * retrieve from JSON to JSON over a fake engine and fake models (REQ: R1, R2, R3, R4, R5,
 * R8, R9, R10, R12, C1, C5, D23, D39, D42, L6, O2): what is refused and how, what is
 * dropped, what a cursor binds, what an answer carries.
 */
#include "../unit.h"

#include <jansson.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "../pipeline/fake_engine.h"
#include "../pipeline/fake_models.h"
#include "methods/common.h"
#include "rpc/rpc.h"
#include "util/clock.h"
#include "util/fault.h"
#include "util/gauge.h"
#include "util/mem.h"

static const struct fake_chunk chunks[] = {
	{ .id = "a", .score = 4, .text = "0.1", .passes = true },
	{ .id = "b", .score = 2, .text = "0.9", .vector = { 0.8F, 0.6F }, .passes = true },
	{ .id = "c", .text = "0.3", .vector = { 1, 0 }, .passes = true },
	{ .id = "d", .score = 1, .text = "0.5", .vector = { 0, 1 }, .passes = true },
};

/* Room for what the real table of all methods would pull in. */
static const struct rpc_method rows[] = {
	{ .name = "retrieve",
		.capability = "retrieve",
		.right = RPC_READ,
		.flags = RPC_M_STREAMS | RPC_M_OWN_META,
		.run = methods_retrieve,
		.check = methods_retrieve_check,
		.params = methods_retrieve_table,
		.param_count = METHODS_RETRIEVE_PARAMS,
		.params_size = sizeof(struct methods_retrieve_params) },
};

static struct methods methods = { .max_k = 50, .max_candidates = 200, .max_passages = 130 };
static struct models models;
static struct rpc *rpc;

static int setup(void **state)
{
	struct rpc_config cfg = { .methods = rows,
		.method_count = 1,
		.methods_arg = &methods,
		.capabilities_json = "{\"retrieve\":{}}",
		.server_name = "t",
		.server_version = "1",
		.conformance = "L0",
		.limits = { 64, 10000, 100000, 10, 10, 60, 20000 } };
	struct error e;

	(void)state;
	assert_int_equal(rpc_new(&cfg, &rpc, &e), ST_OK);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	rpc_free(rpc);
	return 0;
}

static void reset(void)
{
	fake_reset(chunks, 4);
	fake.space = true;
	models = *fake_models_reset();
	methods.models = &models;
}

static struct rpc_job *job_of(const char *params)
{
	struct rpc_input in = { .body = STRBUF_INIT,
		.traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
		.caller = { .identity = "addr:127.0.0.1", .rights = RPC_READ } };

	strbuf_addf(&in.body,
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"retrieve\",\"params\":{%s}}", params);
	return rpc_job_new(rpc, &in);
}

static json_t *answer_of(struct rpc_job *job)
{
	json_t *v = NULL;

	if (job && rpc_job_reply(job)->body.len)
		v = json_loads(rpc_job_reply(job)->body.data, JSON_REJECT_DUPLICATES, NULL);
	return v;
}

/* The whole answer. New. */
static json_t *ask(const char *params)
{
	struct rpc_job *job = job_of(params);
	json_t *v;

	assert_non_null(job);
	rpc_job_run_here(job, NULL, NULL);
	v = answer_of(job);
	rpc_job_unref(job);
	assert_non_null(v);
	return v;
}

/* Members of members. */
static const json_t *at(const json_t *v, const char *a, const char *b, const char *c)
{
	v = a ? json_object_get(v, a) : v;
	v = b ? json_object_get(v, b) : v;
	return c ? json_object_get(v, c) : v;
}

static void expect_error(const char *params, int code, const char *key, const char *value)
{
	json_t *v = ask(params);
	const char *got = json_string_value(at(v, "error", "data", key));

	if (json_integer_value(at(v, "error", "code", NULL)) != code || !got ||
		strcmp(got, value) != 0)
		fail_msg("%s: %s", params, json_dumps(v, 0));
	json_decref(v);
}

static bool noted(const json_t *v, const char *part)
{
	const json_t *note;
	size_t i;

	json_array_foreach(at(v, "result", "usage", "notes"), i,
		note) if (strstr(json_string_value(note), part)) return true;
	return false;
}

/* Ids of an answer, joined. */
static const char *ids_of(const json_t *v)
{
	static char text[200];
	const json_t *hit;
	size_t i;

	text[0] = '\0';
	if (!at(v, "result", "hits", NULL))
		fail_msg("%s", json_dumps(v, 0));
	json_array_foreach(at(v, "result", "hits", NULL), i, hit) snprintf(text + strlen(text),
		sizeof(text) - strlen(text), "%s ", json_string_value(json_object_get(hit, "id")));
	return text;
}

static void expect_ids(const char *params, const char *ids, const char *note)
{
	json_t *v = ask(params);

	if (strcmp(ids_of(v), ids) != 0 || (note && !noted(v, note)))
		fail_msg("%s: %s", params, json_dumps(v, 0));
	if (!note)
		assert_null(at(v, "result", "usage", "notes"));
	json_decref(v);
}

/* ---- C1 ---- */

static void test_C1_malformed_options_name_their_path(void **state)
{
	static const struct {
		const char *params, *field;
	} cases[] = {
		{ "\"fusion\":5", "fusion" },
		{ "\"fusion\":{\"method\":5}", "fusion.method" },
		{ "\"fusion\":{\"alpha\":1.1}", "fusion.alpha" },
		{ "\"fusion\":{\"alpha\":-0.1}", "fusion.alpha" },
		{ "\"fusion\":{\"alpha\":\"x\"}", "fusion.alpha" },
		{ "\"fusion\":{\"method\":\"rrf\",\"rrfK\":-1}", "fusion.rrfK" },
		{ "\"fusion\":{\"method\":\"rrf\",\"rrfK\":1.5}", "fusion.rrfK" },
		{ "\"fusion\":{\"weights\":[]}", "fusion.weights" },
		{ "\"fusion\":{\"weights\":{\"dense\":-1}}", "fusion.weights.dense" },
		{ "\"fusion\":{\"weights\":{\"sparse\":\"x\"}}", "fusion.weights.sparse" },
		{ "\"fusion\":{\"weights\":{\"sparse\":0,\"dense\":0}}", "fusion.weights" },
		{ "\"mmr\":true", "mmr" },
		{ "\"mmr\":{\"lambda\":2}", "mmr.lambda" },
		{ "\"rerank\":true", "rerank" },
		{ "\"rerank\":{\"topN\":0}", "rerank.topN" },
		{ "\"k\":5,\"rerank\":{\"topN\":4}", "rerank.topN" },
		{ "\"candidateK\":5,\"rerank\":{\"topN\":6}", "candidateK" },
		{ "\"k\":5,\"candidateK\":4", "candidateK" },
		{ "\"includeVectors\":1", "includeVectors" },
		{ "\"x-rcpd-vector\":5", "x-rcpd-vector" },
		{ "\"x-rcpd-vector\":{}", "x-rcpd-vector" },
		{ "\"x-rcpd-vector\":[]", "x-rcpd-vector" },
		{ "\"x-rcpd-vector\":[0,0.0]", "x-rcpd-vector" },
		{ "\"x-rcpd-vector\":[1]", "x-rcpd-vector" },
		{ "\"x-rcpd-vector\":[1,2,3]", "x-rcpd-vector" },
		{ "\"x-rcpd-vector\":[1,\"2\"]", "x-rcpd-vector[1]" },
		{ "\"x-rcpd-vector\":[1e39,2]", "x-rcpd-vector[0]" },
		{ "\"x-rcpd-vector\":[null,2]", "x-rcpd-vector[0]" },
	};
	char params[200];

	(void)state;
	reset();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		snprintf(params, sizeof(params), "\"query\":\"x\",%s", cases[i].params);
		expect_error(params, -32602, "field", cases[i].field);
		snprintf(params, sizeof(params), "\"query\":\"x\",\"strict\":false,%s",
			cases[i].params);
		expect_error(params, -32602, "field", cases[i].field);
	}
}

struct unoffered {
	const char *params, *option;
};

static void expect_unoffered(const struct unoffered *cases, size_t n, const char *ids)
{
	char params[200];

	for (size_t i = 0; i < n; i++) {
		snprintf(params, sizeof(params), "\"query\":\"x\",%s", cases[i].params);
		expect_error(params, -32005, "option", cases[i].option);
		snprintf(params, sizeof(params), "\"query\":\"x\",\"strict\":false,%s",
			cases[i].params);
		expect_ids(params, ids, "");
	}
}

static void test_C1_D40_options_that_are_not_offered(void **state)
{
	static const struct unoffered any[] = {
		{ "\"mode\":\"telepathy\"", "telepathy" },
		{ "\"mode\":\"Dense\"", "Dense" },
		{ "\"fusion\":{\"method\":\"borda\"}", "borda" },
		{ "\"rerank\":{\"method\":\"oracle\"}", "oracle" },
		{ "\"rerank\":{\"method\":\"llm\"}", "llm" },
		{ "\"rewrite\":\"hyde\"", "rewrite" },
	};
	static const struct unoffered sparse[] = {
		{ "\"mode\":\"dense\"", "dense" },
		{ "\"mode\":\"hybrid\"", "hybrid" },
		{ "\"fusion\":{}", "fusion" },
		{ "\"rerank\":{\"topN\":30}", "rerank" },
		{ "\"mmr\":{}", "mmr" },
		{ "\"includeVectors\":true", "includeVectors" },
	};

	(void)state;
	reset();
	models.llm = NULL;
	expect_unoffered(any, sizeof(any) / sizeof(any[0]), "a#0 b#0 c#0 d#0 ");
	expect_error("\"query\":\"x\",\"rerank\":{\"method\":\"colbert\",\"model\":\"other\"}",
		-32005, "option", "other");
	expect_ids(
		"\"query\":\"x\",\"rerank\":{\"method\":\"cross-encoder\",\"model\":\"judge@there\"}",
		"b#0 d#0 c#0 a#0 ", NULL);
	methods.models = NULL;
	expect_unoffered(sparse, sizeof(sparse) / sizeof(sparse[0]), "a#0 b#0 d#0 ");
	expect_ids("\"query\":\"x\",\"x-rcpd-vector\":\"whatever\"", "a#0 b#0 d#0 ", NULL);
	reset();
	models = (struct models){ .external_dimension = 2 };
	fake.space = false;
	fake_models.speaker = MODELS_NOBODY;
	expect_unoffered(sparse, sizeof(sparse) / sizeof(sparse[0]), "a#0 b#0 d#0 ");
	assert_int_equal(fake.opened, fake.closed);
}

/* A space that the server has no model for is searched with the client's vectors. */
static void test_R2_a_vector_offers_the_modes(void **state)
{
	(void)state;
	reset();
	fake_models.speaker = MODELS_NOBODY;
	expect_error("\"query\":\"x\",\"mode\":\"dense\"", -32005, "option", "dense");
	expect_ids("\"query\":\"x\",\"mode\":\"dense\",\"x-rcpd-vector\":[0,3]", "d#0 b#0 c#0 ",
		NULL);
	fake_models.speaker = MODELS_CLIENT;
	expect_ids("\"query\":\"x\",\"mode\":\"dense\",\"x-rcpd-vector\":[1e-45,0]", "c#0 b#0 d#0 ",
		NULL);
	expect_error("\"query\":\"x\",\"mode\":\"dense\"", -32602, "field", "x-rcpd-vector");
	expect_ids("\"query\":\"x\"", "a#0 b#0 d#0 ", NULL);
	expect_ids("\"query\":\"x\",\"mode\":\"hybrid\"", "a#0 b#0 d#0 ", "sparse alone");
}

/* ---- R3, R4, D23 ---- */

static size_t looked_for(const char *params)
{
	json_decref(ask(params));
	return fake.last_k;
}

static void test_R3_D23_the_funnel(void **state)
{
	static struct fake_chunk many[150];
	json_t *v;

	(void)state;
	reset();
	for (uint32_t i = 0; i < 150; i++)
		many[i] = (struct fake_chunk){ .id = "m", .chunk = i, .score = 1, .text = "1" };
	fake_reset(many, 150);
	fake.space = true;
	assert_int_equal(looked_for("\"query\":\"x\",\"mode\":\"hybrid\""), 100);
	assert_int_equal(looked_for("\"query\":\"x\",\"k\":3,\"candidateK\":7"), 7);
	assert_int_equal(looked_for("\"query\":\"x\",\"candidateK\":1000,\"rerank\":{}"), 200);
	assert_int_equal(looked_for("\"query\":\"x\",\"rerank\":{\"topN\":120}"), 120);
	v = ask("\"query\":\"x\",\"rerank\":{}");
	assert_int_equal(json_integer_value(at(v, "result", "usage", "reranked")), 100);
	assert_int_equal(json_array_size(at(v, "result", "hits", NULL)), 10);
	json_decref(v);
	v = ask("\"query\":\"x\",\"rerank\":{\"topN\":3}");
	assert_int_equal(json_integer_value(at(v, "result", "usage", "reranked")), 3);
	assert_int_equal(json_array_size(at(v, "result", "hits", NULL)), 3);
	json_decref(v);
	v = ask("\"query\":\"x\",\"k\":1000,\"rerank\":{\"topN\":100000}");
	assert_int_equal(json_integer_value(at(v, "result", "usage", "reranked")), 130);
	assert_int_equal(json_array_size(at(v, "result", "hits", NULL)), 50); /* maxK */
	json_decref(v);
	v = ask("\"query\":\"x\",\"rerank\":false");
	assert_int_equal(json_integer_value(at(v, "result", "usage", "reranked")), 0);
	json_decref(v);
}

static double best_score(const char *params)
{
	json_t *v = ask(params);
	double score = json_number_value(
		json_object_get(json_array_get(at(v, "result", "hits", NULL), 0), "score"));

	json_decref(v);
	return score;
}

static void test_R4_defaults_of_fusion(void **state)
{
	(void)state;
	reset();
	/* a: words alone, the best of them */
	assert_true(best_score("\"query\":\"x\"") == 1 - RETRIEVE_ALPHA);
	assert_true(best_score("\"query\":\"x\",\"fusion\":{}") == 1 - RETRIEVE_ALPHA);
	assert_true(best_score("\"query\":\"x\",\"fusion\":{\"alpha\":0}") == 1);
	/* b: 0.5 x 0.8 + 0.5 x 2 / 4 */
	assert_true(best_score("\"query\":\"x\",\"fusion\":{\"method\":\"convex\"}") > 0.6499);
	assert_true(best_score("\"query\":\"x\",\"fusion\":{\"method\":\"rrf\"}") == 2.0 / 62);
	assert_true(best_score("\"query\":\"x\",\"fusion\":{\"method\":\"rrf\",\"rrfK\":0,"
			       "\"weights\":{\"dense\":0}}") == 1);
	assert_true(best_score("\"query\":\"x\",\"fusion\":{\"method\":\"weighted\","
			       "\"weights\":{\"sparse\":3}}") == 3);
	/* of no use in other modes, and no error */
	assert_true(best_score("\"query\":\"x\",\"mode\":\"sparse\","
			       "\"fusion\":{\"method\":\"rrf\"}") == 4);
}

/* ---- R8, R12, D42, O2 ---- */

static void test_R12_what_an_answer_carries(void **state)
{
	json_t *v;
	const json_t *hit;

	(void)state;
	reset();
	fake.fit = 3;
	v = ask("\"query\":\"x\",\"mode\":\"hybrid\",\"rerank\":{\"method\":\"cross-encoder\"},"
		"\"includeVectors\":true");
	assert_string_equal(ids_of(v), "b#0 d#0 c#0 a#0 ");
	hit = json_array_get(at(v, "result", "hits", NULL), 0);
	assert_true(json_number_value(at(hit, "scores", "sparse", NULL)) == 2);
	assert_true(json_number_value(at(hit, "scores", "rerank", NULL)) == 0.9);
	assert_true(json_is_number(at(hit, "scores", "dense", NULL)));
	assert_int_equal(json_array_size(json_object_get(hit, "vector")), 2);
	assert_true((float)json_number_value(json_array_get(json_object_get(hit, "vector"), 0)) ==
		0.8F);
	hit = json_array_get(at(v, "result", "hits", NULL), 3);
	assert_null(json_object_get(hit, "vector"));
	assert_null(at(hit, "scores", "dense", NULL));
	assert_int_equal(json_integer_value(at(v, "result", "_meta", "modelFit")), 3);
	assert_string_equal(json_string_value(at(v, "result", "_meta", "traceId")),
		"0af7651916cd43dd8448eb211c80319c");
	json_decref(v);
	v = ask("\"query\":\"x\",\"mode\":\"dense\"");
	hit = json_array_get(at(v, "result", "hits", NULL), 0);
	assert_null(at(hit, "scores", "sparse", NULL));
	assert_null(json_object_get(hit, "vector"));
	json_decref(v);
}

/* ---- R9, R10, D39 ---- */

/* Everything that the list depends on. */
#define BASE                                                                                       \
	"\"query\":\"x\",\"k\":1,\"mode\":\"hybrid\",\"fusion\":{\"method\":\"convex\","           \
	"\"alpha\":0.5,\"rrfK\":60,\"weights\":{\"dense\":1}},\"rerank\":{\"method\":\"colbert\"," \
	"\"topN\":4},\"mmr\":{\"lambda\":0.5},\"x-rcpd-vector\":[1,0.5]"

static void test_R10_D39_a_cursor_binds_every_option(void **state)
{
	static const char *const changes[] = { "\"mode\":\"dense\"", "\"fusion\":{}",
		"\"fusion\":{\"method\":\"rrf\"}", "\"rerank\":{\"topN\":3}", "\"rerank\":false",
		"\"mmr\":{\"lambda\":0.4}", "\"x-rcpd-vector\":[1,0.25]", "\"includeVectors\":true",
		"\"seed\":1", "\"minScore\":0.1" };
	char params[600], cursor[200], first[200];
	json_t *v;

	(void)state;
	reset();
	v = ask(BASE);
	snprintf(first, sizeof(first), "%s", ids_of(v));
	snprintf(cursor, sizeof(cursor), "%s",
		json_string_value(at(v, "result", "nextCursor", NULL)));
	json_decref(v);
	snprintf(params, sizeof(params), BASE ",\"cursor\":\"%s\"", cursor);
	v = ask(params);
	assert_int_equal(json_array_size(at(v, "result", "hits", NULL)), 1);
	assert_string_not_equal(ids_of(v), first);
	json_decref(v);
	for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
		snprintf(params, sizeof(params), "\"query\":\"x\",\"k\":1,%s,\"cursor\":\"%s\"",
			changes[i], cursor);
		expect_error(params, -32602, "field", "cursor");
	}
}

static void test_R9_the_same_question_has_the_same_hits(void **state)
{
	json_t *one, *two;

	(void)state;
	reset();
	one = ask(BASE ",\"seed\":5");
	two = ask(BASE ",\"seed\":5");
	assert_true(json_equal(at(one, "result", "hits", NULL), at(two, "result", "hits", NULL)));
	assert_true(json_equal(at(one, "result", "nextCursor", NULL),
		at(two, "result", "nextCursor", NULL)));
	json_decref(one);
	json_decref(two);
}

/* ---- C1, L6: what fails and what is called off ---- */

static void test_C1_a_model_that_is_down_is_32010(void **state)
{
	json_t *v;

	(void)state;
	reset();
	fake_models.embed = ST_UNAVAILABLE;
	v = ask("\"query\":\"x\"");
	assert_int_equal(json_integer_value(at(v, "error", "code", NULL)), -32010);
	json_decref(v);
	expect_ids("\"query\":\"x\",\"strict\":false", "a#0 b#0 d#0 ", "not available");
	expect_ids("\"query\":\"x\",\"mode\":\"sparse\"", "a#0 b#0 d#0 ", NULL);
	fake_models.remote = ST_TIMEOUT;
	v = ask("\"query\":\"x\",\"mode\":\"sparse\",\"rerank\":{\"method\":\"llm\"}");
	assert_int_equal(json_integer_value(at(v, "error", "code", NULL)), -32010);
	json_decref(v);
	fake.fail = FAKE_OPEN;
	v = ask("\"query\":\"x\"");
	assert_int_equal(json_integer_value(at(v, "error", "code", NULL)), -32010);
	json_decref(v);
}

static void *run(void *job)
{
	rpc_job_run_here(job, NULL, NULL);
	return NULL;
}

/* Cancels it after 30 ms: the code, if its worker was free 50 ms later. */
static int cancel_midway(const char *params)
{
	struct rpc_job *job = job_of(params);
	uint64_t told;
	pthread_t worker;
	json_t *v;
	int code;

	assert_int_equal(pthread_create(&worker, NULL, run, job), 0);
	clock_sleep_ms(30);
	told = clock_mono_ms();
	rpc_job_cancel(job);
	pthread_join(worker, NULL);
	assert_true(clock_mono_ms() - told < 50);
	v = answer_of(job);
	code = (int)json_integer_value(at(v, "error", "code", NULL));
	json_decref(v);
	rpc_job_unref(job);
	return code;
}

static void test_L6_cancel_in_mid_rerank_frees_the_worker(void **state)
{
	(void)state;
	reset();
	fake_models.slow = true;
	assert_int_equal(cancel_midway("\"query\":\"x\",\"mode\":\"sparse\","
				       "\"rerank\":{\"method\":\"cross-encoder\"}"),
		-32006);
	assert_int_equal(cancel_midway("\"query\":\"x\",\"mode\":\"hybrid\""), -32006);
#ifdef RCPD_FAULT_POINTS
	reset();
	assert_true(fault_add("retrieve.rerank=stall:5000:1"));
	assert_int_equal(cancel_midway("\"query\":\"x\",\"rerank\":{\"method\":\"colbert\"}"),
		-32006);
#endif
	assert_int_equal(fake.opened, fake.closed);
}

/* L7: its own deadline is -32014 wherever it is caught. */
static void test_L7_a_deadline_in_mid_rerank(void **state)
{
	json_t *v;

	(void)state;
	reset();
	fake_models.slow = true;
	v = ask("\"query\":\"x\",\"mode\":\"sparse\",\"rerank\":{\"method\":\"llm\"},"
		"\"_meta\":{\"deadlineMs\":40}");
	assert_int_equal(json_integer_value(at(v, "error", "code", NULL)), -32014);
	json_decref(v);
}

static void test_allocation_failures(void **state)
{
	bool passed = false;
	size_t whole = 0;

	(void)state;
	reset();
	for (long n = 0; n < 600 && !passed; n++) {
		struct rpc_job *job;
		json_t *v;

		mem_fail_after(n);
		job = job_of(BASE ",\"includeVectors\":true,\"strict\":false");
		if (job)
			rpc_job_run_here(job, NULL, NULL);
		passed = mem_fail_after(-1) <= n;
		v = answer_of(job);
		if (v && at(v, "result", NULL, NULL))
			whole++;
		assert_true(!passed || whole);
		json_decref(v);
		rpc_job_unref(job);
		assert_int_equal(fake.opened, fake.closed);
	}
	assert_true(passed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_C1_malformed_options_name_their_path),
		cmocka_unit_test(test_C1_D40_options_that_are_not_offered),
		cmocka_unit_test(test_R2_a_vector_offers_the_modes),
		cmocka_unit_test(test_R3_D23_the_funnel),
		cmocka_unit_test(test_R4_defaults_of_fusion),
		cmocka_unit_test(test_R12_what_an_answer_carries),
		cmocka_unit_test(test_R10_D39_a_cursor_binds_every_option),
		cmocka_unit_test(test_R9_the_same_question_has_the_same_hits),
		cmocka_unit_test(test_C1_a_model_that_is_down_is_32010),
		cmocka_unit_test(test_L6_cancel_in_mid_rerank_frees_the_worker),
		cmocka_unit_test(test_L7_a_deadline_in_mid_rerank),
		cmocka_unit_test(test_allocation_failures),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
