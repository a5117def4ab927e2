/* Maximal marginal relevance over a fake engine, beside the formula written out (REQ: R1,
 * R5, R9, R10). */
#include "../unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fake_models.h"
#include "walk.h"

#define MANY 40

static char ids[MANY][8];
static struct fake_chunk chunks[MANY];

static struct retrieve_request request(double lambda, size_t k)
{
	const struct models *models = fake_models_reset();

	return (struct retrieve_request){ .query = bytes_of("x"),
		.models = models,
		.mode = RETRIEVE_SPARSE,
		.k = k,
		.candidate_k = 100,
		.max_candidates = 100,
		.has_mmr = true,
		.lambda = lambda };
}

static uint64_t draw(uint64_t *seed)
{
	*seed = *seed * 6364136223846793005U + 1442695040888963407U;
	return *seed >> 33;
}

/* Some without a vector, some alike, some with equal scores. */
static void draw_chunks(uint64_t seed)
{
	for (size_t i = 0; i < MANY; i++) {
		double angle = (double)(draw(&seed) % 12) * 0.5;
		bool vector = draw(&seed) % 8 != 0;

		snprintf(ids[i], sizeof(ids[i]), "%zu", i);
		chunks[i] = (struct fake_chunk){ .id = ids[i],
			.score = 1 + (double)(draw(&seed) % 10),
			.passes = true };
		if (vector) {
			chunks[i].vector[0] = (float)cos(angle);
			chunks[i].vector[1] = (float)sin(angle);
		}
	}
	fake_reset(chunks, MANY);
	fake.space = true;
}

static double similarity(size_t a, size_t b)
{
	const float *x = chunks[a].vector, *y = chunks[b].vector;
	double c = (double)x[0] * (double)y[0] + (double)x[1] * (double)y[1];

	return fmin(1, fmax(0, c));
}

/* The objective of Carbonell and Goldstein for one candidate, cosines below 0 as 0. */
static double objective(double lambda, double best, size_t at, const size_t *taken, size_t n)
{
	double near = 0;

	for (size_t i = 0; i < n; i++)
		near = fmax(near, similarity(at, taken[i]));
	return lambda * chunks[at].score / best - (1 - lambda) * near;
}

/* Whoever is taken is a best one of those that are left, and says so by its score. */
static void check(const struct retrieve_result *res, double lambda)
{
	size_t taken[MANY];
	bool used[MANY] = { false };
	double best = 0;

	for (size_t i = 0; i < MANY; i++)
		best = fmax(best, chunks[i].score);
	for (size_t n = 0; n < res->n; n++) {
		size_t mine = (size_t)res->hits[n].candidate.key;
		double own = objective(lambda, best, mine, taken, n);

		for (size_t i = 0; i < MANY; i++)
			assert_true(used[i] || objective(lambda, best, i, taken, n) <= own + 1e-9);
		assert_false(used[mine]);
		assert_true(fabs(res->hits[n].score - (own + 1 - lambda)) < 1e-9);
		assert_true(res->hits[n].score >= 0 && res->hits[n].score <= 1 + 1e-12);
		assert_true(n == 0 || res->hits[n].score <= res->hits[n - 1].score);
		assert_true(res->hits[n].scores.sparse == chunks[mine].score);
		used[mine] = true;
		taken[n] = mine;
	}
}

static void test_R5_each_hit_is_the_best_that_is_left(void **state)
{
	static const double lambdas[] = { 0, 0.3, 0.5, 0.9, 1 };

	(void)state;
	for (uint64_t seed = 1; seed < 20; seed++) {
		draw_chunks(seed);
		for (size_t i = 0; i < sizeof(lambdas) / sizeof(lambdas[0]); i++) {
			struct retrieve_request req = request(lambdas[i], MANY);
			struct retrieve_result res = walk_page(&req, NULL, 0);

			assert_int_equal(res.n, MANY);
			check(&res, lambdas[i]);
		}
	}
}

static void test_R9_R10_pages_are_one_list(void **state)
{
	char whole[600], paged[600], again[600];
	size_t n = 0;

	(void)state;
	for (uint64_t seed = 1; seed < 10; seed++) {
		struct retrieve_request req = request(0.4, MANY);

		draw_chunks(seed);
		walk_all(req, whole, sizeof(whole));
		req.k = 7;
		walk_all(req, paged, sizeof(paged));
		walk_all(req, again, sizeof(again));
		assert_string_equal(paged, again);
		n = 0;
		for (size_t i = 0; paged[i]; i++)
			if (paged[i] != '|')
				paged[n++] = paged[i];
			else
				i++; /* the blank after it */
		paged[n] = '\0';
		assert_string_equal(paged, whole);
	}
}

/* Three of a kind and one other: relevance alone keeps them together, novelty does not. */
static void test_R5_lambda(void **state)
{
	static const struct fake_chunk four[] = {
		{ .id = "a", .score = 10, .vector = { 1, 0 } },
		{ .id = "b", .score = 9, .vector = { 1, 0 } },
		{ .id = "c", .score = 8, .vector = { 1, 0 } },
		{ .id = "d", .score = 7, .vector = { 0, 1 } },
	};
	struct retrieve_request req = request(1, 10);
	char out[100];

	(void)state;
	fake_reset(four, 4);
	fake.space = true;
	walk_page(&req, out, sizeof(out));
	assert_string_equal(out, "a#0 b#0 c#0 d#0 ");
	req.lambda = 0.5;
	walk_page(&req, out, sizeof(out));
	assert_string_equal(out, "a#0 d#0 b#0 c#0 ");
	req.has_min_score = true;
	req.min_score = 7.5; /* of what was found, before MMR */
	walk_page(&req, out, sizeof(out));
	assert_string_equal(out, "a#0 b#0 c#0 ");
}

static void test_R5_a_corpus_without_vectors(void **state)
{
	struct retrieve_request req = request(0.1, MANY);
	struct retrieve_result res;
	double last = 100;

	(void)state;
	draw_chunks(3);
	fake.space = false;
	res = walk_page(&req, NULL, 0);
	assert_true(walk_noted(&res, "mmr cannot tell"));
	for (size_t i = 0; i < res.n; i++) {
		assert_true(res.hits[i].scores.sparse <= last);
		last = res.hits[i].scores.sparse;
	}
}

static void test_F4_what_passes_comes_behind(void **state)
{
	static const struct fake_chunk three[] = {
		{ .id = "a", .score = 10, .vector = { 1, 0 }, .passes = true },
		{ .id = "b", .score = 9, .vector = { 1, 0 }, .passes = true },
		{ .id = "c", .vector = { 0, 1 }, .passes = true },
	};
	struct engine_filter any = { .kind = ENGINE_AND };
	struct retrieve_request req = request(0, 3);
	struct retrieve_result res;
	char out[100];

	(void)state;
	fake_reset(three, 3);
	fake.space = true;
	req.filter = &any;
	res = walk_page(&req, out, sizeof(out));
	assert_string_equal(out, "a#0 b#0 c#0 ");
	assert_true(res.hits[1].score == 0 && res.hits[2].score == 0);
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
		cmocka_unit_test(test_R5_each_hit_is_the_best_that_is_left),
		cmocka_unit_test(test_R9_R10_pages_are_one_list),
		cmocka_unit_test(test_R5_lambda),
		cmocka_unit_test(test_R5_a_corpus_without_vectors),
		cmocka_unit_test(test_F4_what_passes_comes_behind),
	};

	return cmocka_run_group_tests(tests, NULL, teardown);
}
