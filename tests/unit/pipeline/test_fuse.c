/* Dense and hybrid lists over a fake engine and fake models (REQ: R1, R2, R3, R4, R8,
 * R10, R12, F4, RET-04, RET-05, RET-06, D33, D42). */
#include "../unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fake_models.h"
#include "util/mem.h"
#include "walk.h"

static struct engine_filter any_filter;

static struct retrieve_request request(enum retrieve_mode mode, size_t k)
{
	const struct models *models = fake_models_reset();

	return (struct retrieve_request){ .query = bytes_of("x"),
		.models = models,
		.mode = mode,
		.fusion = { RETRIEVE_CONVEX, 0.5, 60, 1, 1 },
		.k = k,
		.candidate_k = 100,
		.max_candidates = 100,
		.want_text = true };
}

static void reset(const struct fake_chunk *chunks, size_t n)
{
	fake_reset(chunks, n);
	fake.space = true;
}

/* a: words alone; b: both; c: vector alone; d: a vector that points away. */
static const struct fake_chunk four[] = {
	{ .id = "a", .score = 4, .passes = true },
	{ .id = "b", .score = 2, .vector = { 0.8F, 0.6F }, .passes = true },
	{ .id = "c", .vector = { 1, 0 }, .passes = true },
	{ .id = "d", .score = 1, .vector = { -1, 0 }, .passes = true },
	{ .id = "e", .passes = true },
};

static const struct retrieve_hit *find(const struct retrieve_result *res, const char *id)
{
	for (size_t i = 0; i < res->n; i++)
		if (bytes_eq(res->hits[i].candidate.doc_id, bytes_of(id)))
			return &res->hits[i];
	fail_msg("no hit %s", id);
	return NULL;
}

static void expect_score(const struct retrieve_result *res, const char *id, double want)
{
	double got = find(res, id)->score;

	if (!(fabs(got - want) < 1e-6))
		fail_msg("%s has %.9f, not %.9f", id, got, want);
}

static void test_R4_convex_from_zero_to_the_best(void **state)
{
	struct retrieve_request req = request(RETRIEVE_HYBRID, 10);
	struct retrieve_result res;
	char out[100];

	(void)state;
	reset(four, 5);
	req.fusion.alpha = 0.25;
	res = walk_page(&req, out, sizeof(out));
	assert_string_equal(out, "a#0 b#0 c#0 d#0 ");
	expect_score(&res, "a", 0.75);
	expect_score(&res, "b", 0.25 * 0.8 + 0.75 * 0.5);
	expect_score(&res, "c", 0.25);
	expect_score(&res, "d", 0.75 * 0.25);
	req.fusion.alpha = 1;
	res = walk_page(&req, out, sizeof(out));
	assert_string_equal(out, "c#0 b#0 a#0 d#0 "); /* a and d: both 0, by id */
	expect_score(&res, "d", 0);
	req.fusion.alpha = 0;
	walk_page(&req, out, sizeof(out));
	assert_string_equal(out, "a#0 b#0 d#0 c#0 ");
}

static void test_R12_each_side_is_told(void **state)
{
	struct retrieve_request req = request(RETRIEVE_HYBRID, 10);
	struct retrieve_result res;

	(void)state;
	reset(four, 5);
	res = walk_page(&req, NULL, 0);
	assert_true(isnan(find(&res, "a")->scores.dense));
	assert_true(find(&res, "a")->scores.sparse == 4);
	assert_true(find(&res, "c")->scores.sparse == 0);
	assert_true(find(&res, "d")->scores.dense == -1);
	assert_true(isnan(find(&res, "d")->scores.rerank));
	req = request(RETRIEVE_DENSE, 10);
	res = walk_page(&req, NULL, 0);
	assert_true(isnan(find(&res, "b")->scores.sparse));
	req = request(RETRIEVE_SPARSE, 10);
	res = walk_page(&req, NULL, 0);
	assert_true(isnan(find(&res, "b")->scores.dense));
}

/* All pages: their hits, how many, none twice, scores that never rise. */
static void walk_once(struct retrieve_request req, char *out, size_t size, size_t *ret_n)
{
	bool used[60] = { false };
	double last = INFINITY;
	struct retrieve_result res;

	out[0] = '\0';
	do {
		res = walk_page(&req, NULL, 0);
		for (size_t i = 0; i < res.n; i++) {
			assert_true(res.hits[i].score <= last);
			last = res.hits[i].score;
			assert_false(used[res.hits[i].candidate.key]);
			used[res.hits[i].candidate.key] = true;
			snprintf(out + strlen(out), size - strlen(out), "%d ",
				(int)res.hits[i].candidate.key);
			(*ret_n)++;
		}
		req.offset = res.next_offset;
	} while (res.more);
}

/* What one side's cut leaves out gets that side's score all the same. */
static void test_R4_scores_do_not_depend_on_the_cut(void **state)
{
	struct retrieve_request req = request(RETRIEVE_HYBRID, 1);
	struct retrieve_result res;
	char out[100];

	(void)state;
	reset(four, 5);
	req.candidate_k = 1; /* recall: a, and c; b is in neither list */
	res = walk_page(&req, out, sizeof(out));
	assert_string_equal(out, "a#0 ");
	expect_score(&res, "a", 0.5);
	assert_int_equal(res.candidates, 1);
	req.candidate_k = 2;
	req.k = 2;
	res = walk_page(&req, out, sizeof(out));
	assert_string_equal(out, "b#0 a#0 "); /* as with all candidates */
	expect_score(&res, "b", 0.5 * 0.8 + 0.5 * 0.5);
}

/* Pages go on behind the candidates: each hit once, whatever is found deeper down. */
static void test_R10_RET_06_pages_behind_the_candidates(void **state)
{
	static struct fake_chunk many[60];
	static char ids[60][4], whole[2000], out[2000];
	uint64_t seed = 7;

	(void)state;
	for (size_t i = 0; i < 60; i++) {
		double angle = (double)((seed >> 33) % 20) * 0.2;

		seed = seed * 6364136223846793005U + 1442695040888963407U;
		snprintf(ids[i], sizeof(ids[i]), "%zu", i % 23);
		many[i] = (struct fake_chunk){ .id = ids[i],
			.chunk = (uint32_t)i,
			.score = (double)((seed >> 40) % 9),
			.vector = { (float)cos(angle), (float)sin(angle) } };
		seed = seed * 6364136223846793005U + 1442695040888963407U;
	}
	reset(many, 60);
	for (int mode = RETRIEVE_DENSE; mode <= RETRIEVE_HYBRID; mode++)
		for (int unit = RETRIEVE_CHUNK; unit <= RETRIEVE_DOCUMENT; unit++)
			for (int method = RETRIEVE_CONVEX; method <= RETRIEVE_WEIGHTED; method++)
				for (size_t k = 1; k <= 5; k++) {
					struct retrieve_request req =
						request((enum retrieve_mode)mode, k);
					size_t n = 0;

					req.unit = (enum retrieve_unit)unit;
					req.fusion.method = (enum retrieve_fuse)method;
					req.candidate_k = 5;
					walk_once(req, out, sizeof(out), &n);
					assert_int_equal(n, unit == RETRIEVE_CHUNK ? 60 : 23);
					if (k > 1 && unit == RETRIEVE_CHUNK)
						assert_string_equal(out, whole);
					snprintf(whole, sizeof(whole), "%s", out);
				}
}

static void test_R4_rrf_counts_ranks(void **state)
{
	struct retrieve_request req = request(RETRIEVE_HYBRID, 10);
	struct retrieve_result res;
	char out[100];

	(void)state;
	reset(four, 5);
	req.fusion.method = RETRIEVE_RRF;
	res = walk_page(&req, out, sizeof(out));
	assert_string_equal(out, "b#0 d#0 a#0 c#0 ");
	expect_score(&res, "a", 1.0 / 61);
	expect_score(&res, "b", 1.0 / 62 + 1.0 / 62);
	expect_score(&res, "c", 1.0 / 61);
	expect_score(&res, "d", 1.0 / 63 + 1.0 / 63);
	req.fusion.rrf_k = 0;
	req.fusion.dense = 3;
	res = walk_page(&req, out, sizeof(out));
	assert_string_equal(out, "c#0 b#0 d#0 a#0 ");
	expect_score(&res, "c", 3);
	expect_score(&res, "b", 1.5 + 0.5);
}

/* R4: equal scores: the greater sum of weights, then the smaller id. */
static void test_R4_ties(void **state)
{
	static const struct fake_chunk equal[] = {
		{ .id = "a", .vector = { 1, 0 } },
		{ .id = "b", .score = 2 },
		{ .id = "c", .score = 2, .chunk = 1 },
		{ .id = "c", .score = 2, .chunk = 0 },
	};
	struct retrieve_request req = request(RETRIEVE_HYBRID, 10);
	char out[100];

	(void)state;
	reset(equal, 4);
	for (int i = 0; i < 2; i++) {
		walk_page(&req, out, sizeof(out));
		assert_string_equal(out, "a#0 b#0 c#0 c#1 ");
		req.k = 3; /* and pages break it nowhere */
		walk_all(req, out, sizeof(out));
		assert_string_equal(out, "a#0 b#0 c#0 | c#1 ");
		req.k = 10;
	}
	req.fusion = (struct retrieve_fusion){ RETRIEVE_RRF, 0, 60, 1, 1 };
	reset(equal, 2);
	walk_page(&req, out, sizeof(out));
	assert_string_equal(out, "a#0 b#0 ");
	/* 2 / (1 + 1) and 1 / (1 + 0): one score, two weights */
	req.fusion = (struct retrieve_fusion){ RETRIEVE_WEIGHTED, 0, 60, 1, 1 };
	walk_page(&req, out, sizeof(out));
	assert_string_equal(out, "a#0 b#0 ");
}

static void test_R4_weighted_is_min_max(void **state)
{
	struct retrieve_request req = request(RETRIEVE_HYBRID, 10);
	struct retrieve_result res;

	(void)state;
	reset(four, 4);
	req.fusion = (struct retrieve_fusion){ RETRIEVE_WEIGHTED, 0, 60, 2, 1 };
	res = walk_page(&req, NULL, 0);
	expect_score(&res, "a", 1);
	expect_score(&res, "b", 2 * 0.8 + 0.5);
	expect_score(&res, "c", 2);
	expect_score(&res, "d", 0.25);
	reset(four + 2, 1); /* one hit is the best of its side, and nothing of the other */
	res = walk_page(&req, NULL, 0);
	expect_score(&res, "c", 2);
	reset(four, 1);
	res = walk_page(&req, NULL, 0);
	expect_score(&res, "a", 1);
}

static void test_R2_dense_is_the_order_of_cosines(void **state)
{
	struct retrieve_request req = request(RETRIEVE_DENSE, 2);
	struct retrieve_result res;
	char out[100];

	(void)state;
	reset(four, 5);
	walk_all(req, out, sizeof(out));
	assert_string_equal(out, "c#0 b#0 | d#0 ");
	req.k = 3;
	res = walk_page(&req, NULL, 0);
	expect_score(&res, "b", 0.8);
	expect_score(&res, "d", 0); /* no score is below the floor */
	assert_int_equal(fake.recalls, 0);
}

static void test_F4_RET_05_a_filter_fills_up_in_every_mode(void **state)
{
	char out[100];

	(void)state;
	for (int mode = RETRIEVE_SPARSE; mode <= RETRIEVE_HYBRID; mode++) {
		struct retrieve_request req = request((enum retrieve_mode)mode, 5);
		struct retrieve_result res;

		reset(four, 5);
		req.filter = &any_filter;
		for (int unit = RETRIEVE_CHUNK; unit <= RETRIEVE_DOCUMENT; unit++) {
			req.unit = (enum retrieve_unit)unit;
			res = walk_page(&req, out, sizeof(out));
			assert_int_equal(res.n, 5);
			for (size_t i = 1; i < res.n; i++)
				assert_true(res.hits[i].score <= res.hits[i - 1].score);
			expect_score(&res, "e", 0);
		}
	}
}

/* 30 chunks of one document hide another: more are asked for until there are k. */
static void test_R7_documents_of_both_sides(void **state)
{
	struct fake_chunk many[31];
	struct retrieve_request req = request(RETRIEVE_HYBRID, 2);
	struct retrieve_result res;
	char out[100];

	(void)state;
	for (uint32_t i = 0; i < 30; i++)
		many[i] = (struct fake_chunk){ .id = "m",
			.chunk = i,
			.score = 9 - 0.01 * i,
			.vector = { 1, 0 } };
	many[30] = (struct fake_chunk){ .id = "z", .chunk = 4, .score = 1, .vector = { 0, 1 } };
	reset(many, 31);
	req.unit = RETRIEVE_DOCUMENT;
	req.candidate_k = 2;
	res = walk_page(&req, out, sizeof(out));
	assert_string_equal(out, "m#0 z#4 ");
	assert_int_equal(fake.nears, 5); /* 2, 4, 8, 16, 32 */
	assert_false(res.more);
}

/* ---- which mode, whose vector ---- */

static void test_R2_the_default_mode(void **state)
{
	static const float own[2] = { 0, 1 };
	struct retrieve_request req = request(RETRIEVE_AUTO, 10);
	struct retrieve_result res;

	(void)state;
	reset(four, 5);
	assert_int_equal(walk_page(&req, NULL, 0).n, 4);
	fake_models.speaker = MODELS_REMOTE;
	assert_int_equal(walk_page(&req, NULL, 0).n, 4);
	fake_models.speaker = MODELS_CLIENT;
	res = walk_page(&req, NULL, 0);
	assert_int_equal(res.n, 3); /* sparse, in its own scale */
	expect_score(&res, "a", 4);
	req.vector = own;
	req.dimension = 2;
	assert_int_equal(walk_page(&req, NULL, 0).n, 4);
	assert_int_equal(fake_models.embeds, 2);
	req.vector = NULL;
	fake_models.speaker = MODELS_NOBODY;
	assert_int_equal(walk_page(&req, NULL, 0).n, 3);
	req.models = NULL;
	assert_int_equal(walk_page(&req, NULL, 0).n, 3);
}

static void test_R2_the_clients_vector(void **state)
{
	static const float own[2] = { 0, 1 };
	struct retrieve_request req = request(RETRIEVE_DENSE, 10);
	struct retrieve_result res;
	struct error e;
	char out[100];

	(void)state;
	reset(four, 5);
	fake_models.speaker = MODELS_CLIENT;
	assert_int_equal(walk_try(&req, &res, &e), ST_INVALID);
	assert_string_equal(e.field, "x-rcpd-vector");
	req.mode = RETRIEVE_HYBRID;
	res = walk_page(&req, NULL, 0);
	assert_true(walk_noted(&res, "sparse alone"));
	req.mode = RETRIEVE_DENSE;
	req.vector = own;
	req.dimension = 2;
	walk_page(&req, out, sizeof(out));
	assert_string_equal(out, "b#0 c#0 d#0 ");
	fake.words = 0; /* D33 is about queries that say nothing */
	walk_page(&req, out, sizeof(out));
	assert_string_equal(out, "b#0 c#0 d#0 ");
	fake.words = 1;
	req.dimension = 3;
	assert_int_equal(walk_try(&req, &res, &e), ST_INVALID);
	assert_string_equal(e.field, "x-rcpd-vector");
	fake.space = false;
	req.mode = RETRIEVE_AUTO;
	res = walk_page(&req, NULL, 0);
	assert_true(walk_noted(&res, "x-rcpd-vector was not used"));
	assert_int_equal(fake_models.embeds, 0);
}

static void test_R2_words_that_the_model_does_not_know(void **state)
{
	struct retrieve_request req = request(RETRIEVE_HYBRID, 10);
	struct retrieve_result res;
	char out[100];

	(void)state;
	reset(four, 5);
	fake_models.embed = ST_INVALID;
	res = walk_page(&req, out, sizeof(out));
	assert_string_equal(out, "a#0 b#0 d#0 ");
	expect_score(&res, "a", 0.5); /* still in the scale of hybrid */
	assert_int_equal(res.note_count, 1);
	req.mode = RETRIEVE_DENSE;
	res = walk_page(&req, out, sizeof(out));
	assert_string_equal(out, "");
	assert_int_equal(res.note_count, 1);
}

static void test_C1_a_model_that_is_down(void **state)
{
	struct retrieve_request req = request(RETRIEVE_HYBRID, 10);
	struct retrieve_result res;
	struct error e;

	(void)state;
	reset(four, 5);
	fake_models.embed = ST_UNAVAILABLE;
	assert_int_equal(walk_try(&req, &res, &e), ST_UNAVAILABLE);
	fake_models.embed = ST_TIMEOUT; /* the model's own time, not the request's */
	assert_int_equal(walk_try(&req, &res, &e), ST_UNAVAILABLE);
	req.lenient = true;
	res = walk_page(&req, NULL, 0);
	assert_int_equal(res.n, 3);
	assert_true(walk_noted(&res, "not available"));
	req.mode = RETRIEVE_DENSE; /* nothing to fall back on */
	assert_int_equal(walk_try(&req, &res, &e), ST_UNAVAILABLE);
	fake_models.embed = ST_NOMEM;
	req.mode = RETRIEVE_HYBRID;
	assert_int_equal(walk_try(&req, &res, &e), ST_NOMEM);
}

/* A pinned state may have a space that nobody speaks for any more. */
static void test_R2_a_space_of_somebody_else(void **state)
{
	struct retrieve_request req = request(RETRIEVE_HYBRID, 10);
	struct retrieve_result res;
	struct error e;

	(void)state;
	reset(four, 5);
	fake_models.speaker = MODELS_NOBODY;
	assert_int_equal(walk_try(&req, &res, &e), ST_UNAVAILABLE);
	assert_non_null(strstr(e.message, "reembed"));
	req.lenient = true;
	res = walk_page(&req, NULL, 0);
	assert_true(walk_noted(&res, "no vectors for queries"));
	req.lenient = false;
	req.models = NULL;
	assert_int_equal(walk_try(&req, &res, &e), ST_UNAVAILABLE);
}

static void test_D33_no_words_in_any_mode(void **state)
{
	(void)state;
	for (int mode = RETRIEVE_AUTO; mode <= RETRIEVE_HYBRID; mode++) {
		struct retrieve_request req = request((enum retrieve_mode)mode, 10);
		struct retrieve_result res;

		reset(four, 5);
		fake.words = 0;
		req.filter = &any_filter;
		res = walk_page(&req, NULL, 0);
		assert_int_equal(res.n, 0);
		assert_true(res.note_count > 0);
		assert_int_equal(fake_models.embeds, 0); /* nobody is asked for nothing */
	}
}

static void test_R8_vectors_of_the_hits(void **state)
{
	struct retrieve_request req = request(RETRIEVE_HYBRID, 10);
	struct retrieve_result res;

	(void)state;
	reset(four, 5);
	fake.fit = 7;
	req.want_vectors = true;
	res = walk_page(&req, NULL, 0);
	assert_int_equal(res.dimension, 2);
	assert_int_equal(res.model_fit, 7); /* D42 */
	assert_null(find(&res, "a")->vector);
	assert_true(find(&res, "d")->vector[0] == -1);
	fake.space = false;
	fake_models.speaker = MODELS_NOBODY;
	req.mode = RETRIEVE_AUTO;
	res = walk_page(&req, NULL, 0);
	assert_null(find(&res, "d")->vector);
	assert_true(walk_noted(&res, "has no vectors"));
}

static void test_errors_pass(void **state)
{
	static const enum fake_call calls[] = { FAKE_NEAR, FAKE_COSINES, FAKE_BM25, FAKE_RECALL };

	(void)state;
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		struct retrieve_request req = request(RETRIEVE_HYBRID, 10);
		struct retrieve_result res;
		struct error e;

		reset(four, 5);
		fake.fail = calls[i];
		assert_int_equal(walk_try(&req, &res, &e), ST_IO);
		assert_int_equal(fake.opened, fake.closed);
		assert_int_equal(fake.keeps, 0);
	}
}

static void test_allocation_failures(void **state)
{
	bool passed = false;

	(void)state;
	for (long n = 0; n < 200 && !passed; n++) {
		struct retrieve_request req = request(RETRIEVE_HYBRID, 3);
		struct retrieve_result res;
		struct error e;
		enum status st;

		reset(four, 5);
		req.unit = RETRIEVE_DOCUMENT;
		req.filter = &any_filter;
		req.want_vectors = true;
		arena_release(&walk_arena);
		mem_fail_after(n);
		st = walk_try(&req, &res, &e);
		passed = mem_fail_after(-1) <= n;
		assert_true(st == ST_NOMEM || (passed && st == ST_OK));
		assert_int_equal(fake.opened, fake.closed);
	}
	assert_true(passed);
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
		cmocka_unit_test(test_R4_convex_from_zero_to_the_best),
		cmocka_unit_test(test_R12_each_side_is_told),
		cmocka_unit_test(test_R4_scores_do_not_depend_on_the_cut),
		cmocka_unit_test(test_R10_RET_06_pages_behind_the_candidates),
		cmocka_unit_test(test_R4_rrf_counts_ranks),
		cmocka_unit_test(test_R4_ties),
		cmocka_unit_test(test_R4_weighted_is_min_max),
		cmocka_unit_test(test_R2_dense_is_the_order_of_cosines),
		cmocka_unit_test(test_F4_RET_05_a_filter_fills_up_in_every_mode),
		cmocka_unit_test(test_R7_documents_of_both_sides),
		cmocka_unit_test(test_R2_the_default_mode),
		cmocka_unit_test(test_R2_the_clients_vector),
		cmocka_unit_test(test_R2_words_that_the_model_does_not_know),
		cmocka_unit_test(test_C1_a_model_that_is_down),
		cmocka_unit_test(test_R2_a_space_of_somebody_else),
		cmocka_unit_test(test_D33_no_words_in_any_mode),
		cmocka_unit_test(test_R8_vectors_of_the_hits),
		cmocka_unit_test(test_errors_pass),
		cmocka_unit_test(test_allocation_failures),
	};

	return cmocka_run_group_tests(tests, NULL, teardown);
}
