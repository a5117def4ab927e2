/* Reranking over a fake engine and fake models (REQ: R3, R5, R6, R10, R12, T6, L6, C1,
 * D23): order, scores, pages, failures, and how soon it stops. */
#include "../unit.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fake_models.h"
#include "util/clock.h"
#include "util/fault.h"
#include "util/mem.h"
#include "walk.h"

static struct retrieve_request request(enum retrieve_reranker reranker, size_t k, size_t top_n)
{
	const struct models *models = fake_models_reset();

	return (struct retrieve_request){ .query = bytes_of("x"),
		.models = models,
		.mode = RETRIEVE_SPARSE,
		.fusion = { RETRIEVE_CONVEX, 0.5, 60, 1, 1 },
		.k = k,
		.candidate_k = 100,
		.max_candidates = 1000,
		.reranker = reranker,
		.top_n = top_n };
}

/* The text is what a reranker says of it. */
static const struct fake_chunk five[] = {
	{ .id = "a", .score = 4, .text = "0.1", .passes = true },
	{ .id = "b", .score = 2, .text = "0.9 or so", .passes = true },
	{ .id = "c", .score = 2, .text = "0.9", .passes = true },
	{ .id = "d", .score = 1, .text = "0.5", .passes = true },
	{ .id = "e", .score = 0.5, .text = "5", .passes = true },
};

static void test_R5_a_remote_model_has_the_last_word(void **state)
{
	struct retrieve_request req = request(RETRIEVE_CROSS_ENCODER, 4, 4);
	struct retrieve_result res;
	char out[100];

	(void)state;
	fake_reset(five, 5);
	res = walk_page(&req, out, sizeof(out));
	assert_string_equal(out, "b#0 c#0 d#0 a#0 ");
	assert_true(res.hits[0].score == 0.9 && res.hits[0].scores.rerank == 0.9);
	assert_true(res.hits[0].scores.sparse == 2);
	assert_int_equal(res.reranked, 4);
	assert_false(res.more); /* what is behind topN is no candidate any more */
	assert_int_equal(fake_models.remote_calls, 1);
	req = request(RETRIEVE_LLM, 1, 5);
	walk_page(&req, out, sizeof(out));
	assert_string_equal(out, "e#0 ");
}

static void test_R5_colbert_is_weighed_against_recall(void **state)
{
	const double share = RETRIEVE_COLBERT_SHARE;
	struct retrieve_request req = request(RETRIEVE_COLBERT, 4, 4);
	struct retrieve_result res;

	(void)state;
	fake_reset(five, 5);
	res = walk_page(&req, NULL, 0);
	assert_int_equal(res.n, 4);
	for (size_t i = 0; i < res.n; i++) {
		const struct fake_chunk *c = &fake.chunks[res.hits[i].candidate.key];
		double late = strtod(c->text, NULL);

		assert_true(res.hits[i].scores.rerank == late);
		assert_true(fabs(res.hits[i].score - (share * late + (1 - share) * c->score / 4)) <
			1e-12);
		assert_true(i == 0 || res.hits[i].score <= res.hits[i - 1].score);
	}
	assert_int_equal(fake_models.judged, 4);
	fake.space = true; /* what convex fusion gave is taken as it is */
	req.mode = RETRIEVE_HYBRID;
	req.fusion.alpha = 0.2;
	res = walk_page(&req, NULL, 0);
	for (size_t i = 0; i < res.n; i++) {
		const struct fake_chunk *c = &fake.chunks[res.hits[i].candidate.key];
		double late = strtod(c->text, NULL);

		assert_true(fabs(res.hits[i].score -
				    (share * late + (1 - share) * 0.8 * c->score / 4)) < 1e-12);
	}
	req.candidate_k = 4;
	req.filter = &(struct engine_filter){ .kind = ENGINE_AND };
	fake_reset(five, 0); /* and nothing is divided by nothing */
	assert_int_equal(walk_page(&req, NULL, 0).n, 0);
}

static void test_R10_pages_end_with_top_n(void **state)
{
	struct retrieve_request req = request(RETRIEVE_CROSS_ENCODER, 2, 5);
	char out[100];

	(void)state;
	fake_reset(five, 5);
	walk_all(req, out, sizeof(out));
	assert_string_equal(out, "e#0 b#0 | c#0 d#0 | a#0 ");
	req.top_n = 3;
	walk_all(req, out, sizeof(out));
	assert_string_equal(out, "b#0 c#0 | a#0 ");
	req.candidate_k = 2;
	req.top_n = 2;
	walk_all(req, out, sizeof(out));
	assert_string_equal(out, "b#0 a#0 ");
}

static void test_R5_documents_are_judged_by_their_best_chunk(void **state)
{
	static const struct fake_chunk two[] = {
		{ .id = "m", .chunk = 0, .score = 1, .text = "9" },
		{ .id = "m", .chunk = 1, .score = 3, .text = "2" },
		{ .id = "z", .chunk = 0, .score = 2, .text = "4" },
	};
	struct retrieve_request req = request(RETRIEVE_CROSS_ENCODER, 2, 2);
	char out[100];

	(void)state;
	fake_reset(two, 3);
	req.unit = RETRIEVE_DOCUMENT;
	walk_page(&req, out, sizeof(out));
	assert_string_equal(out, "z#0 m#1 ");
}

/* Some models give negative scores: age and what only passes the filter stay below. */
static void test_R6_negative_scores(void **state)
{
	static const struct fake_chunk chunks[] = {
		{ .id = "a", .score = 3, .text = "-2", .passes = true },
		{ .id = "b", .score = 2, .text = "-1", .passes = true, .dated = true, .when = 0 },
		{ .id = "c", .text = "x", .passes = true },
	};
	struct engine_filter any = { .kind = ENGINE_AND };
	struct retrieve_request req = request(RETRIEVE_CROSS_ENCODER, 3, 3);
	struct retrieve_result res;
	char out[100];

	(void)state;
	fake_reset(chunks, 3);
	fake.time_ms = 86400000;
	req.filter = &any;
	req.has_recency = true;
	req.half_life_days = 1;
	res = walk_page(&req, out, sizeof(out));
	assert_string_equal(out, "b#0 a#0 c#0 ");
	assert_true(res.hits[0].score == -1.5 && res.hits[0].scores.rerank == -1);
	assert_true(res.hits[2].score == -2);
	req.has_min_score = true;
	req.min_score = -1.7;
	walk_page(&req, out, sizeof(out));
	assert_string_equal(out, "b#0 "); /* what was cut does not come back */
}

static void test_R5_passages_are_cut(void **state)
{
	static char long_text[100001];
	const struct fake_chunk one = { .id = "a", .score = 1, .text = long_text };
	struct retrieve_request req = request(RETRIEVE_COLBERT, 1, 1);

	(void)state;
	memset(long_text, '1', 100000);
	for (int i = 0; i < 100000; i += 2)
		memcpy(long_text + i, "\xC3\xA9", 2);
	fake_reset(&one, 1);
	walk_page(&req, NULL, 0);
	assert_int_equal(fake_models.longest, 32768);
	memcpy(long_text, "x\xE2\x82\xAC", 4); /* now characters end at odd places */
	walk_page(&req, NULL, 0);
	assert_int_equal(fake_models.longest, 32768);
}

/* ---- what is seen meanwhile, and how it ends early ---- */

struct seen {
	char stages[300];
	double last;
	int calls, stop_after; /* questions answered with no; < 0: always */
	uint64_t stop_at_ms;   /* 0: never */
	uint64_t told_ms;      /* when it first said stop */
};

static bool stop(void *arg)
{
	struct seen *s = arg;
	bool now = (s->stop_after >= 0 && s->calls++ >= s->stop_after) ||
		(s->stop_at_ms && clock_mono_ms() >= s->stop_at_ms);

	if (now && !s->told_ms)
		s->told_ms = clock_mono_ms();
	return now;
}

static void on_stage(void *arg, const char *name, double progress, const struct retrieve_hit *hits,
	size_t n)
{
	struct seen *s = arg;
	size_t at = strlen(s->stages);

	assert_true(progress >= s->last && progress <= 1);
	s->last = progress;
	snprintf(s->stages + at, sizeof(s->stages) - at, "%s:%.*s ", name,
		n ? (int)hits[0].candidate.doc_id.len : 1, n ? hits[0].candidate.doc_id.data : "-");
}

static enum status run(const struct retrieve_request *req, struct seen *seen, struct error *e)
{
	const struct retrieve_hooks hooks = { seen, stop, on_stage };
	struct retrieve_result res;

	arena_release(&walk_arena);
	return retrieve_run(NULL, req, &hooks, &walk_arena, &res, e);
}

static void test_T6_candidates_come_before_the_rerank(void **state)
{
	struct retrieve_request req = request(RETRIEVE_CROSS_ENCODER, 2, 5);
	struct seen seen = { .stop_after = -1 };
	struct error e;

	(void)state;
	fake_reset(five, 5);
	fake.space = true;
	req.mode = RETRIEVE_HYBRID;
	req.has_mmr = true;
	req.lambda = 1;
	assert_int_equal(run(&req, &seen, &e), ST_OK);
	assert_string_equal(seen.stages,
		"transform:- recall:- fuse:- rerank:a diversify:e pack:e ");
}

/* L6: whoever stops it at any moment gets ST_CANCELLED, and it ends right there. */
static void test_L6_stop_between_passages(void **state)
{
	bool whole = false;

	(void)state;
	for (int after = 0; !whole; after++) {
		for (int which = RETRIEVE_COLBERT; which <= RETRIEVE_CROSS_ENCODER; which++) {
			struct retrieve_request req = request((enum retrieve_reranker)which, 2, 5);
			struct seen seen = { .stop_after = after };
			struct error e;
			enum status st;

			fake_reset(five, 5);
			fake.space = true;
			req.mode = RETRIEVE_HYBRID;
			req.has_mmr = true;
			st = run(&req, &seen, &e);
			whole = !seen.told_ms;
			assert_int_equal(st, whole ? ST_OK : ST_CANCELLED);
			assert_int_equal(fake.opened, fake.closed);
			assert_true(whole || seen.calls <= after + 2);
		}
		assert_true(after < 100);
	}
}

static void test_L6_a_slow_model_is_left_at_once(void **state)
{
	(void)state;
	for (int i = 0; i < 2; i++) {
		struct retrieve_request req = request(RETRIEVE_CROSS_ENCODER, 2, 5);
		struct seen seen = { .stop_after = -1, .stop_at_ms = clock_mono_ms() + 30 };
		struct error e;

		fake_reset(five, 5);
		fake.space = true;
		fake_models.slow = true;
		if (i == 1) { /* the embedder is the slow one */
			req.reranker = RETRIEVE_NO_RERANKER;
			req.mode = RETRIEVE_HYBRID;
		}
		assert_int_equal(run(&req, &seen, &e), ST_CANCELLED);
		assert_true(clock_mono_ms() - seen.told_ms < 50);
	}
}

#ifdef RCPD_FAULT_POINTS
static void test_L6_a_stall_in_the_midst_ends_at_once(void **state)
{
	struct retrieve_request req = request(RETRIEVE_COLBERT, 2, 5);
	struct seen seen = { .stop_after = -1, .stop_at_ms = clock_mono_ms() + 30 };
	struct error e;

	(void)state;
	assert_true(fault_add("retrieve.rerank.passage=stall:5000:1"));
	fake_reset(five, 5);
	assert_int_equal(run(&req, &seen, &e), ST_CANCELLED);
	assert_true(clock_mono_ms() - seen.told_ms < 50);
	assert_int_equal(fake_models.judged, 1);
}

/* The stage itself fails: as a model that is down. */
static void test_C1_a_stage_that_fails(void **state)
{
	static const char *const points[] = { "retrieve.fuse", "retrieve.rerank",
		"retrieve.rerank.passage", "retrieve.diversify" };
	char fault[80];

	(void)state;
	for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++) {
		struct retrieve_request req = request(RETRIEVE_COLBERT, 2, 5);
		struct seen seen = { .stop_after = -1 };
		struct error e;

		snprintf(fault, sizeof(fault), "%s=fail:1:1", points[i]);
		assert_true(fault_add(fault));
		fake_reset(five, 5);
		fake.space = true;
		req.mode = RETRIEVE_HYBRID;
		req.has_mmr = true;
		assert_int_equal(run(&req, &seen, &e), ST_UNAVAILABLE);
		assert_int_equal(fake.opened, fake.closed);
	}
}
#endif

static void test_C1_a_reranker_that_is_down(void **state)
{
	struct retrieve_request req = request(RETRIEVE_CROSS_ENCODER, 5, 5);
	struct retrieve_result res;
	struct error e;
	char out[100];

	(void)state;
	fake_reset(five, 5);
	fake_models.remote = ST_UNAVAILABLE;
	assert_int_equal(walk_try(&req, &res, &e), ST_UNAVAILABLE);
	fake_models.remote = ST_TIMEOUT;
	assert_int_equal(walk_try(&req, &res, &e), ST_UNAVAILABLE);
	req.lenient = true;
	res = walk_page(&req, out, sizeof(out));
	assert_string_equal(out, "a#0 b#0 c#0 d#0 e#0 ");
	assert_true(walk_noted(&res, "reranker is not available"));
	assert_int_equal(res.reranked, 0);
	fake_models.remote = ST_NOMEM;
	assert_int_equal(walk_try(&req, &res, &e), ST_NOMEM);
	fake_models.remote = ST_OK;
	fake.fail = FAKE_FETCH;
	assert_int_equal(walk_try(&req, &res, &e), ST_IO);
	req.reranker = RETRIEVE_COLBERT;
	assert_int_equal(walk_try(&req, &res, &e), ST_IO);
}

static void test_nothing_to_rerank(void **state)
{
	struct retrieve_request req = request(RETRIEVE_CROSS_ENCODER, 5, 5);

	(void)state;
	fake_reset(five, 0);
	req.has_mmr = true;
	assert_int_equal(walk_page(&req, NULL, 0).n, 0);
	assert_int_equal(fake_models.remote_calls, 0);
}

static void test_allocation_failures(void **state)
{
	(void)state;
	for (int which = RETRIEVE_COLBERT; which <= RETRIEVE_CROSS_ENCODER; which++) {
		bool passed = false;

		for (long n = 0; n < 300 && !passed; n++) {
			struct retrieve_request req = request((enum retrieve_reranker)which, 2, 4);
			struct retrieve_result res;
			struct error e;
			enum status st;

			fake_reset(five, 5);
			fake.space = true;
			req.has_mmr = true;
			arena_release(&walk_arena);
			mem_fail_after(n);
			st = walk_try(&req, &res, &e);
			passed = mem_fail_after(-1) <= n;
			assert_true(st == ST_NOMEM || (passed && st == ST_OK));
			assert_int_equal(fake.opened, fake.closed);
		}
		assert_true(passed);
	}
}

static int teardown(void **state)
{
	(void)state;
	arena_release(&walk_arena);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_R5_a_remote_model_has_the_last_word),
		cmocka_unit_test(test_R5_colbert_is_weighed_against_recall),
		cmocka_unit_test(test_R10_pages_end_with_top_n),
		cmocka_unit_test(test_R5_documents_are_judged_by_their_best_chunk),
		cmocka_unit_test(test_R6_negative_scores),
		cmocka_unit_test(test_R5_passages_are_cut),
		cmocka_unit_test(test_T6_candidates_come_before_the_rerank),
		cmocka_unit_test(test_L6_stop_between_passages),
		cmocka_unit_test(test_L6_a_slow_model_is_left_at_once),
		cmocka_unit_test(test_C1_a_reranker_that_is_down),
		cmocka_unit_test(test_nothing_to_rerank),
		cmocka_unit_test(test_allocation_failures),
#ifdef RCPD_FAULT_POINTS
		cmocka_unit_test(test_L6_a_stall_in_the_midst_ends_at_once),
		cmocka_unit_test(test_C1_a_stage_that_fails),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, teardown);
}
