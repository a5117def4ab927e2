/* The list that pages walk through, over a fake engine (REQ: R1, R3, R6, R7, R10, F4,
 * RET-05, RET-06, D35, D39). */
#include "../unit.h"

#include <math.h>
#include <string.h>

#include "util/mem.h"
#include "walk.h"

#define DAY 86400000

static struct engine_filter any_filter;

static struct retrieve_request request(size_t k, size_t candidate_k, size_t max)
{
	return (struct retrieve_request){ .query = bytes_of("x"),
		.k = k,
		.candidate_k = candidate_k,
		.max_candidates = max,
		.want_text = true };
}

static const struct fake_chunk seven[] = {
	{ .id = "e", .score = 1 },
	{ .id = "a", .score = 2 },
	{ .id = "c", .chunk = 1, .score = 2 },
	{ .id = "c", .chunk = 0, .score = 2 },
	{ .id = "b", .score = 2 },
	{ .id = "d", .score = 1.5 },
	{ .id = "f", .score = 0 },
};

static void test_R10_pages_hold_each_hit_once(void **state)
{
	char out[200];

	(void)state;
	fake_reset(seven, 7);
	for (size_t candidate_k = 2; candidate_k < 9; candidate_k++) {
		walk_all(request(2, candidate_k, 100), out, sizeof(out));
		assert_string_equal(out, "a#0 b#0 | c#0 c#1 | d#0 e#0 ");
	}
	walk_all(request(4, 4, 100), out, sizeof(out));
	assert_string_equal(out, "a#0 b#0 c#0 c#1 | d#0 e#0 ");
	walk_all(request(6, 6, 100), out, sizeof(out)); /* no empty page at the end */
	assert_string_equal(out, "a#0 b#0 c#0 c#1 d#0 e#0 ");
	walk_all(request(2, 2, 5), out, sizeof(out)); /* pages end at max_candidates */
	assert_string_equal(out, "a#0 b#0 | c#0 c#1 | d#0 ");
}

static void test_R3_how_deep_recall_goes(void **state)
{
	struct retrieve_request req = request(2, 4, 6);
	static const size_t depth[] = { 4, 4, 5, 6, 6, 6, 6 };
	struct retrieve_result res;

	(void)state;
	fake_reset(seven, 7);
	for (req.offset = 0; req.offset < 7; req.offset++) {
		res = walk_page(&req, NULL, 0);
		assert_int_equal(fake.last_k, depth[req.offset]);
		assert_true(res.candidates <= 6);
	}
	req = request(2, 3, 100);
	assert_int_equal(walk_page(&req, NULL, 0).candidates, 3);
	req = request(3, 3, 100); /* the fourth only tells of the next page */
	res = walk_page(&req, NULL, 0);
	assert_int_equal(res.candidates, 3);
	assert_true(res.more);
	req = request(2, 2, 100);
	req.offset = 2;
	assert_int_equal(walk_page(&req, NULL, 0).candidates, 4);
	req.offset = SIZE_MAX;
	res = walk_page(&req, NULL, 0);
	assert_int_equal(res.n, 0);
	assert_false(res.more);
}

static void test_R6_min_score_ends_the_list(void **state)
{
	struct retrieve_request req = request(2, 10, 100);
	char out[200];

	(void)state;
	fake_reset(seven, 7);
	req.has_min_score = true;
	req.min_score = 1.5; /* the bound itself stays */
	walk_all(req, out, sizeof(out));
	assert_string_equal(out, "a#0 b#0 | c#0 c#1 | d#0 ");
	req.min_score = 2;
	walk_all(req, out, sizeof(out));
	assert_string_equal(out, "a#0 b#0 | c#0 c#1 ");
	req.min_score = 2.5;
	walk_all(req, out, sizeof(out));
	assert_string_equal(out, "");
}

/* ---- documents ---- */

/* 20 chunks of one document lie before everything else. */
#define ONE(i)                                                                                     \
	{                                                                                          \
		.id = "m", .chunk = (i), .score = 9 - 0.01 * (i)                                   \
	}
static const struct fake_chunk crowd[] = { ONE(3), ONE(1), ONE(2), ONE(0), ONE(4), ONE(5), ONE(6),
	ONE(7), ONE(8), ONE(9), ONE(10), ONE(11), ONE(12), ONE(13), ONE(14), ONE(15), ONE(16),
	ONE(17), ONE(18), ONE(19), { .id = "z", .chunk = 2, .score = 4 },
	{ .id = "z", .chunk = 1, .score = 3 }, { .id = "b", .chunk = 7, .score = 4 },
	{ .id = "a", .chunk = 1, .score = 1 } };
#define CROWD (sizeof(crowd) / sizeof(crowd[0]))

static void test_R7_a_document_is_as_good_as_its_best_chunk(void **state)
{
	struct retrieve_request req = request(2, 3, 100);
	struct retrieve_result res;
	char out[200];

	(void)state;
	fake_reset(crowd, CROWD);
	req.unit = RETRIEVE_DOCUMENT;
	res = walk_page(&req, out, sizeof(out));
	assert_string_equal(out, "m#0 b#7 ");
	assert_true(res.more);
	assert_true(res.hits[0].score == 9 && res.hits[1].score == 4);
	assert_memory_equal(res.hits[0].record.text.data, "whole text", 11);
	assert_int_equal(fake.recalls, 4); /* 3, 6, 12, 24 chunks */
	assert_int_equal(fake.last_k, 24);
	walk_all(req, out, sizeof(out));
	assert_string_equal(out, "m#0 b#7 | z#2 a#1 ");
	fake.recalls = 0;
	req.candidate_k = 30; /* more than there are: asked once */
	req.k = 10;
	walk_page(&req, NULL, 0);
	assert_int_equal(fake.recalls, 1);
	req = request(2, 3, 100);
	req.unit = RETRIEVE_DOCUMENT;
	req.max_candidates = 22; /* the best 22 chunks are of three documents */
	walk_all(req, out, sizeof(out));
	assert_string_equal(out, "m#0 b#7 | z#2 ");
	req.max_candidates = 5;
	walk_all(req, out, sizeof(out));
	assert_string_equal(out, "m#0 ");
}

/* ---- the filter ---- */

static const struct fake_chunk filtered[] = {
	{ .id = "w", .score = 3 },
	{ .id = "v", .score = 2, .passes = true },
	{ .id = "t", .chunk = 0, .passes = true },
	{ .id = "t", .chunk = 1, .score = 5, .passes = true },
	{ .id = "s", .chunk = 0, .passes = true },
	{ .id = "s", .chunk = 1, .passes = true },
	{ .id = "s", .chunk = 2, .passes = true },
	{ .id = "s", .chunk = 3, .passes = true },
	{ .id = "x", .passes = true },
	{ .id = "y", .passes = true },
	{ .id = "r" },
};

static void test_F4_RET_05_k_hits_when_k_pass(void **state)
{
	struct retrieve_request req = request(4, 10, 100);
	struct retrieve_result res;
	char out[200];

	(void)state;
	fake_reset(filtered, sizeof(filtered) / sizeof(filtered[0]));
	req.filter = &any_filter;
	res = walk_page(&req, out, sizeof(out));
	assert_string_equal(out, "t#1 v#0 s#0 s#1 ");
	assert_false(res.more);
	assert_true(walk_noted(&res, "only pass the filter"));
	assert_true(res.hits[2].score == 0 && res.hits[1].score == 2);
	req.k = 9;
	walk_page(&req, out, sizeof(out));
	assert_string_equal(out, "t#1 v#0 s#0 s#1 s#2 s#3 t#0 x#0 y#0 ");
	req.k = 2; /* enough share a word */
	res = walk_page(&req, out, sizeof(out));
	assert_string_equal(out, "t#1 v#0 ");
	assert_int_equal(res.note_count, 0);
	req.k = 1; /* and fill no page behind the first */
	walk_all(req, out, sizeof(out));
	assert_string_equal(out, "t#1 | v#0 ");
}

static void test_F4_documents_that_pass_fill_up(void **state)
{
	struct retrieve_request req = request(4, 10, 100);
	struct retrieve_result res;
	char out[200];

	(void)state;
	fake_reset(filtered, sizeof(filtered) / sizeof(filtered[0]));
	req.filter = &any_filter;
	req.unit = RETRIEVE_DOCUMENT;
	res = walk_page(&req, out, sizeof(out));
	assert_string_equal(out, "t#1 v#0 s#0 x#0 ");
	assert_false(res.more);
	req.k = 3;
	res = walk_page(&req, out, sizeof(out));
	assert_string_equal(out, "t#1 v#0 s#0 ");
	assert_false(res.more);
	fake.lists = 0;
	req.k = 5;
	req.candidate_k = 5;
	walk_page(&req, out, sizeof(out));
	assert_string_equal(out, "t#1 v#0 s#0 x#0 y#0 ");
	assert_int_equal(fake.lists, 1);
	req.k = 10; /* fewer pass */
	walk_page(&req, out, sizeof(out));
	assert_string_equal(out, "t#1 v#0 s#0 x#0 y#0 ");
}

static void test_F4_no_more_than_k_fill_up(void **state)
{
	static const struct fake_chunk same[] = { { .id = "a", .passes = true },
		{ .id = "b", .passes = true }, { .id = "c", .passes = true },
		{ .id = "d", .passes = true }, { .id = "e", .passes = true } };
	struct retrieve_request req = request(3, 3, 10);
	char out[200];

	(void)state;
	fake_reset(same, 5);
	req.filter = &any_filter;
	for (int unit = RETRIEVE_CHUNK; unit <= RETRIEVE_DOCUMENT; unit++) {
		req.unit = (enum retrieve_unit)unit;
		walk_all(req, out, sizeof(out));
		assert_string_equal(out, "a#0 b#0 c#0 ");
	}
}

/* One document's chunks alone are more than the first round lists. */
static void test_F4_a_long_document_hides_none(void **state)
{
	static struct fake_chunk many[103];
	struct retrieve_request req = request(3, 3, 10);
	char out[200];

	(void)state;
	for (uint32_t i = 0; i < 103; i++)
		many[i] = (struct fake_chunk){ .id = i < 101 ? "a" : (i == 101 ? "b" : "c"),
			.chunk = i < 101 ? i : 0,
			.passes = true };
	fake_reset(many, 103);
	req.filter = &any_filter;
	req.unit = RETRIEVE_DOCUMENT;
	walk_page(&req, out, sizeof(out));
	assert_string_equal(out, "a#0 b#0 c#0 ");
	assert_int_equal(fake.lists, 6); /* 6, 12, 24, 48, 96, 192 chunks */
}

static void test_F4_min_score_keeps_out_what_only_passes(void **state)
{
	struct retrieve_request req = request(4, 10, 100);
	char out[200];

	(void)state;
	fake_reset(filtered, sizeof(filtered) / sizeof(filtered[0]));
	req.filter = &any_filter;
	req.has_min_score = true;
	req.min_score = 0.001;
	walk_page(&req, out, sizeof(out));
	assert_string_equal(out, "t#1 v#0 ");
	assert_int_equal(fake.lists, 0);
	req.min_score = 0;
	walk_page(&req, out, sizeof(out));
	assert_string_equal(out, "t#1 v#0 s#0 s#1 ");
}

static void test_D33_no_words_no_hits_even_with_a_filter(void **state)
{
	struct retrieve_request req = request(4, 10, 100);
	struct retrieve_result res;

	(void)state;
	fake_reset(filtered, sizeof(filtered) / sizeof(filtered[0]));
	req.filter = &any_filter;
	fake.words = 0;
	res = walk_page(&req, NULL, 0);
	assert_int_equal(res.n + res.candidates, 0);
	assert_true(walk_noted(&res, "has no words"));
	fake.only_stop_words = true;
	res = walk_page(&req, NULL, 0);
	assert_true(walk_noted(&res, "only function words"));
	fake.words = 1;
	fake.truncated = true;
	res = walk_page(&req, NULL, 0);
	assert_true(walk_noted(&res, "first 512 words"));
}

/* ---- recency ---- */

static const struct fake_chunk dated[] = {
	{ .id = "now", .score = 4, .dated = true, .when = 10 * (int64_t)DAY },
	{ .id = "old", .score = 10, .dated = true, .when = 8 * (int64_t)DAY },
	{ .id = "future", .score = 3, .dated = true, .when = 400 * (int64_t)DAY },
	{ .id = "none", .score = 2 },
	{ .id = "eldest", .score = 8, .dated = true, .when = 7 * (int64_t)DAY },
	{ .id = "fresh", .score = 1.9, .dated = true, .when = 10 * (int64_t)DAY },
};

static void test_R6_recency_decays_by_the_views_time(void **state)
{
	struct retrieve_request req = request(10, 10, 100);
	struct retrieve_result res;
	char out[200];

	(void)state;
	fake_reset(dated, 6);
	fake.time_ms = 10 * (int64_t)DAY;
	req.has_recency = true;
	req.half_life_days = 1;
	res = walk_page(&req, out, sizeof(out));
	assert_string_equal(out, "now#0 future#0 old#0 none#0 fresh#0 eldest#0 ");
	assert_true(res.hits[1].score == 3 && res.hits[3].score == 2);
	assert_true(fabs(res.hits[2].score - 2.5) < 1e-12 && res.hits[2].candidate.score == 10);
	assert_true(fabs(res.hits[5].score - 1) < 1e-12);
	req.has_min_score = true;
	req.min_score = 1.95; /* on final scores */
	walk_page(&req, out, sizeof(out));
	assert_string_equal(out, "now#0 future#0 old#0 none#0 ");
	req.has_min_score = false;
	req.candidate_k = req.k = 5; /* the five best by words alone */
	walk_page(&req, out, sizeof(out));
	assert_string_equal(out, "now#0 future#0 old#0 none#0 eldest#0 ");
}

static void test_R10_recency_has_one_list_for_all_pages(void **state)
{
	struct retrieve_request req = request(2, 5, 100);
	char out[200];

	(void)state;
	fake_reset(dated, 6);
	fake.time_ms = 10 * (int64_t)DAY;
	req.has_recency = true;
	req.half_life_days = 1;
	walk_all(req, out, sizeof(out));
	assert_string_equal(out, "now#0 future#0 | old#0 none#0 | eldest#0 ");
}

static void test_R6_recency_of_documents_comes_after_grouping(void **state)
{
	static const struct fake_chunk parts[] = {
		{ .id = "a", .chunk = 0, .score = 8, .dated = true, .when = 8 * (int64_t)DAY },
		{ .id = "a", .chunk = 1, .score = 7, .dated = true, .when = 8 * (int64_t)DAY },
		{ .id = "b", .chunk = 3, .score = 3 },
		{ .id = "c", .chunk = 0, .score = 2.5 },
	};
	struct retrieve_request req = request(2, 2, 100);
	char out[200];

	(void)state;
	fake_reset(parts, 4);
	fake.time_ms = 10 * (int64_t)DAY;
	req.has_recency = true;
	req.half_life_days = 1;
	req.unit = RETRIEVE_DOCUMENT;
	walk_all(req, out, sizeof(out)); /* the two best documents, though of three chunks */
	assert_string_equal(out, "b#3 a#0 ");
}

/* A page must not see fewer documents than the next one. */
static void test_R10_recency_of_documents_has_one_list(void **state)
{
	static const struct fake_chunk parts[] = {
		{ .id = "a", .chunk = 0, .score = 8, .dated = true, .when = 8 * (int64_t)DAY },
		{ .id = "a", .chunk = 1, .score = 7, .dated = true, .when = 8 * (int64_t)DAY },
		{ .id = "b", .score = 5, .dated = true, .when = 9 * (int64_t)DAY },
		{ .id = "c", .score = 4 },
		{ .id = "d", .score = 3.5 },
	};
	struct retrieve_request req = request(1, 3, 100);
	char out[200];

	(void)state;
	fake_reset(parts, 5);
	fake.time_ms = 10 * (int64_t)DAY;
	req.has_recency = true;
	req.half_life_days = 1;
	req.unit = RETRIEVE_DOCUMENT;
	walk_all(req, out, sizeof(out));
	assert_string_equal(out, "c#0 | b#0 | a#0 ");
}

/* ---- the token budget ---- */

static const struct fake_chunk texts[] = {
	{ .id = "a", .score = 5, .text = "one two three four five six", .passes = true },
	{ .id = "b", .score = 4, .text = "one two three four five six", .passes = true },
	{ .id = "c",
		.score = 3,
		.text = "a much longer text than all of the others, so that it goes beyond the "
			"budget of a page whatever page that may be, in each and every test here",
		.passes = true },
	{ .id = "d", .score = 2, .text = "one two", .passes = true },
	{ .id = "e", .score = 0, .text = "one two three", .passes = true },
};

static size_t tokens(const char *text)
{
	return text_tokens(bytes_of(text));
}

static void test_R7_the_budget_holds_whole_hits(void **state)
{
	struct retrieve_request req = request(10, 10, 100);
	size_t six = tokens(texts[0].text);
	struct retrieve_result res;
	char out[200];

	(void)state;
	fake_reset(texts, 4);
	for (int want_text = 0; want_text < 2; want_text++) {
		req.want_text = want_text;
		req.token_budget = 2 * six;
		res = walk_page(&req, out, sizeof(out));
		assert_string_equal(out, "a#0 b#0 ");
		assert_int_equal(res.tokens, 2 * six);
		assert_true(res.more && res.next_offset == 2);
		assert_int_equal(res.hits[0].record.text.data != NULL, want_text);
		req.token_budget = 2 * six - 1;
		res = walk_page(&req, out, sizeof(out));
		assert_string_equal(out, "a#0 ");
		assert_int_equal(res.tokens, six);
	}
	req.token_budget = 100000;
	res = walk_page(&req, out, sizeof(out));
	assert_string_equal(out, "a#0 b#0 c#0 d#0 ");
	assert_false(res.more);
	req.token_budget = 0;
	assert_int_equal(walk_page(&req, NULL, 0).tokens, 0);
}

static void test_R7_the_budget_counts_whole_documents(void **state)
{
	struct retrieve_request req = request(1, 10, 100);

	(void)state;
	fake_reset(texts, 4);
	req.unit = RETRIEVE_DOCUMENT;
	req.token_budget = 1000;
	for (int want_text = 0; want_text < 2; want_text++) {
		req.want_text = want_text;
		assert_int_equal(walk_page(&req, NULL, 0).tokens,
			tokens("whole one two three four five six"));
	}
}

static void test_R7_pages_pass_over_a_hit_that_never_fits(void **state)
{
	struct retrieve_request req = request(10, 10, 100);
	struct retrieve_result res;
	char out[200];

	(void)state;
	fake_reset(texts, 4);
	req.token_budget = tokens(texts[0].text);
	assert_true(req.token_budget < tokens(texts[2].text));
	walk_all(req, out, sizeof(out));
	assert_string_equal(out, "a#0 | b#0 | | d#0 ");
	req.offset = 2;
	res = walk_page(&req, NULL, 0);
	assert_int_equal(res.n + res.tokens, 0);
	assert_true(walk_noted(&res, "more tokens than tokenBudget"));
	req.token_budget = 1;
	req.offset = 3;
	res = walk_page(&req, NULL, 0);
	assert_int_equal(res.n, 0);
	assert_false(res.more);
}

/* What only passes the filter is part of the list: a budget loses none of it. */
static void test_R7_F4_the_budget_and_the_filter(void **state)
{
	struct retrieve_request req = request(5, 10, 100);
	char out[200];

	(void)state;
	fake_reset(texts, 5);
	req.filter = &any_filter;
	req.token_budget = tokens(texts[0].text);
	walk_all(req, out, sizeof(out));
	assert_string_equal(out, "a#0 | b#0 | | d#0 e#0 ");
}

/* ---- views and failures ---- */

static void test_D35_D39_which_state_is_read(void **state)
{
	struct retrieve_request req = request(2, 2, 100);
	struct retrieve_result res;
	struct error e;

	(void)state;
	fake_reset(seven, 7);
	fake.kept = 3;
	req.index_version = bytes_of("0123456789abcdef-3");
	assert_int_equal(walk_page(&req, NULL, 0).version, 3);
	req.index_version = bytes_of("0123456789abcdef-4");
	assert_int_equal(walk_try(&req, &res, &e), ST_GONE);
	req.index_version = bytes_of("0123456789abcdee-3");
	assert_int_equal(walk_try(&req, &res, &e), ST_GONE);
	req.index_version = bytes_of("3");
	assert_int_equal(walk_try(&req, &res, &e), ST_INVALID);
	assert_string_equal(e.field, "indexVersion");
	req.index_version = BYTES_NONE;
	req.has_cursor = true;
	req.cursor_version = 3;
	res = walk_page(&req, NULL, 0);
	assert_string_equal(res.index_version, "0123456789abcdef-3");
	req.cursor_version = 4;
	assert_int_equal(walk_try(&req, &res, &e), ST_NOT_FOUND);
	assert_int_equal(fake.opened, fake.closed);
	assert_int_equal(fake.keeps, 2);
}

static void test_errors_pass_and_keep_nothing(void **state)
{
	struct retrieve_request req = request(5, 5, 100);
	struct retrieve_result res;
	struct error e;

	(void)state;
	for (enum fake_call call = FAKE_OPEN; call <= FAKE_FETCH; call++) {
		fake_reset(filtered, sizeof(filtered) / sizeof(filtered[0]));
		fake.fail = call;
		req.filter = &any_filter;
		req.has_cursor = call == FAKE_OPEN_AT;
		req.cursor_version = 5;
		req.unit = RETRIEVE_CHUNK;
		assert_int_equal(walk_try(&req, &res, &e), ST_IO);
		req.unit = RETRIEVE_DOCUMENT;
		req.token_budget = 100;
		req.want_text = false;
		assert_int_equal(walk_try(&req, &res, &e), ST_IO);
		assert_int_equal(fake.opened, fake.closed);
		assert_int_equal(fake.keeps, 0);
	}
}

static void walk_memory(const struct retrieve_request *req)
{
	bool passed = false;

	for (long n = 0; n < 200 && !passed; n++) {
		struct retrieve_result res;
		struct error e;
		enum status st;

		arena_release(&walk_arena);
		mem_fail_after(n);
		st = walk_try(req, &res, &e);
		passed = mem_fail_after(-1) <= n;
		if (st && st != ST_NOMEM)
			fail_msg("allocation %ld: %s: %s", n, status_name(st), e.message);
		assert_true(!passed || st == ST_OK);
		assert_int_equal(fake.opened, fake.closed);
	}
	assert_true(passed);
}

/* Long lists, so that the arena asks for memory at many places. */
static void test_allocation_failures(void **state)
{
	static struct fake_chunk many[3000];
	struct retrieve_request req = request(1000, 1000, 4000);

	(void)state;
	for (uint32_t i = 0; i < 3000; i++)
		many[i] = (struct fake_chunk){ .id = i % 2 ? "odd" : "even",
			.chunk = i,
			.score = i < 500 ? i : 0,
			.passes = true };
	fake_reset(many, 3000);
	req.filter = &any_filter;
	walk_memory(&req);
	req.unit = RETRIEVE_DOCUMENT;
	walk_memory(&req);
	req.want_text = false;
	req.token_budget = 10;
	walk_memory(&req);
}

static int release(void **state)
{
	(void)state;
	arena_release(&walk_arena);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_R10_pages_hold_each_hit_once),
		cmocka_unit_test(test_R3_how_deep_recall_goes),
		cmocka_unit_test(test_R6_min_score_ends_the_list),
		cmocka_unit_test(test_R7_a_document_is_as_good_as_its_best_chunk),
		cmocka_unit_test(test_F4_RET_05_k_hits_when_k_pass),
		cmocka_unit_test(test_F4_documents_that_pass_fill_up),
		cmocka_unit_test(test_F4_no_more_than_k_fill_up),
		cmocka_unit_test(test_F4_a_long_document_hides_none),
		cmocka_unit_test(test_F4_min_score_keeps_out_what_only_passes),
		cmocka_unit_test(test_D33_no_words_no_hits_even_with_a_filter),
		cmocka_unit_test(test_R6_recency_decays_by_the_views_time),
		cmocka_unit_test(test_R10_recency_has_one_list_for_all_pages),
		cmocka_unit_test(test_R6_recency_of_documents_comes_after_grouping),
		cmocka_unit_test(test_R10_recency_of_documents_has_one_list),
		cmocka_unit_test(test_R7_the_budget_holds_whole_hits),
		cmocka_unit_test(test_R7_the_budget_counts_whole_documents),
		cmocka_unit_test(test_R7_pages_pass_over_a_hit_that_never_fits),
		cmocka_unit_test(test_R7_F4_the_budget_and_the_filter),
		cmocka_unit_test(test_D35_D39_which_state_is_read),
		cmocka_unit_test(test_errors_pass_and_keep_nothing),
		cmocka_unit_test(test_allocation_failures),
	};

	return cmocka_run_group_tests(tests, NULL, release);
}
