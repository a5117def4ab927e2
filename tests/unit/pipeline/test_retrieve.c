/* The sparse pipeline over a real corpus (REQ: R1, R6, R7, R9, R10, F4, D33, D35, D39, L6).
 * What pages hold is tested to the letter over a fake engine, in test_pages.c. */
#include "../unit.h"

#include <ftw.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pipeline/retrieve.h"
#include "util/mem.h"

static char dir[] = "/tmp/rcpd-pipeline-XXXXXX";
static struct engine *engine;
static struct arena arena;

struct seen {
	char stages[200];
	int stop_at; /* stop when so many stages were entered; 0: never */
	int entered;
};

static bool stop(void *arg)
{
	const struct seen *s = arg;

	return s->stop_at && s->entered >= s->stop_at;
}

static void on_stage(void *arg, const char *name, double progress, const struct retrieve_hit *hits,
	size_t n)
{
	struct seen *s = arg;
	size_t at = strlen(s->stages);

	(void)hits;
	s->entered++;
	snprintf(s->stages + at, sizeof(s->stages) - at, "%s:%.1f:%zu ", name, progress, n);
}

static enum status run(const struct retrieve_request *req, struct seen *seen,
	struct retrieve_result *res, struct error *e)
{
	struct retrieve_hooks hooks = { seen, stop, on_stage };

	return retrieve_run(engine, req, &hooks, &arena, res, e);
}

/* Age in days before 2024-01-11; < 0: no date. */
static void add(const char *id, const char *text, int age)
{
	char date[32];
	struct engine_value v = { .field = bytes_of("d"), .kind = ENGINE_V_STRING };
	struct engine_document d = { .id = bytes_of(id),
		.text = bytes_of(text),
		.values = &v,
		.value_count = age >= 0 };
	struct engine_stop never = { stop, &(struct seen){ .stop_at = 0 } };
	struct engine_commit c;
	struct error e;

	snprintf(date, sizeof(date), "2024-01-%02dT00:00:00Z", 11 - age);
	v.s = bytes_of(date);
	if (engine_add(engine, &d, 1, NULL, &never, &arena, &c, &e))
		fail_msg("%s", e.message);
}

static int setup(void **state)
{
	static const struct engine_declared declared = { { "d", 1 }, ENGINE_DATE };
	struct engine_options opt = { .dir = dir,
		.readers = 1,
		.language = TEXT_LANG_EN,
		.snapshot_ttl_s = 60,
		.max_snapshots = 8,
		.max_fields = 8,
		.declared = &declared,
		.declared_count = 1 };
	struct error e;

	(void)state;
	assert_non_null(mkdtemp(dir));
	if (engine_open(&opt, &engine, &e))
		fail_msg("%s", e.message);
	add("old", "the red fox", 10);
	add("new", "the red fox", 9);
	add("none", "the red fox", -1);
	add("other", "a blue whale", -1);
	return 0;
}

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
	(void)st, (void)kind, (void)at;
	return remove(path);
}

static int teardown(void **state)
{
	(void)state;
	engine_close(engine);
	arena_release(&arena);
	return nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void test_stages_and_ties(void **state)
{
	struct retrieve_request req = { .query = bytes_of("red fox"),
		.k = 2,
		.candidate_k = 100,
		.max_candidates = 100,
		.want_text = true };
	struct seen seen = { .stop_at = 0 };
	struct retrieve_result res;
	struct error e;

	(void)state;
	assert_int_equal(run(&req, &seen, &res, &e), ST_OK);
	assert_string_equal(seen.stages, "transform:0.0:0 recall:0.1:0 pack:0.8:2 ");
	assert_int_equal(res.candidates, 3);
	assert_int_equal(res.n, 2);
	assert_memory_equal(res.hits[0].record.text.data, "the red fox", 11);
	assert_memory_equal(res.hits[0].candidate.doc_id.data, "new", 3); /* equal scores: by id */
	assert_memory_equal(res.hits[1].candidate.doc_id.data, "none", 4);
}

/* Age counts from the last commit, which was just now: only ratios are known. */
static void test_R6_recency_and_min_score(void **state)
{
	struct retrieve_request req = { .query = bytes_of("red fox"),
		.k = 10,
		.candidate_k = 100,
		.max_candidates = 100,
		.has_recency = true,
		.half_life_days = 1000 };
	struct seen seen = { .stop_at = 0 };
	struct retrieve_result res;
	struct error e;
	double full;

	(void)state;
	assert_true(engine_field_find(engine, bytes_of("d"), &req.recency_field));
	assert_int_equal(run(&req, &seen, &res, &e), ST_OK);
	assert_int_equal(res.n, 3);
	full = res.hits[0].score;
	assert_memory_equal(res.hits[0].candidate.doc_id.data, "none", 4);
	assert_memory_equal(res.hits[2].candidate.doc_id.data, "old", 3);
	assert_true(res.hits[1].score < full && res.hits[1].candidate.score == full);
	assert_true(fabs(res.hits[2].score / res.hits[1].score - exp2(-0.001)) < 1e-9);
	req.has_min_score = true;
	req.min_score = res.hits[1].score;
	assert_int_equal(run(&req, &seen, &res, &e), ST_OK);
	assert_int_equal(res.n, 2);
}

static void test_F4_fills_up_by_id(void **state)
{
	struct engine_scalar yes = { .i = 1 };
	struct engine_filter filter = { .kind = ENGINE_LEAF,
		.op = ENGINE_EXISTS,
		.values = &yes,
		.value_count = 1 };
	struct retrieve_request req = { .query = bytes_of("whale"),
		.k = 2,
		.candidate_k = 2,
		.max_candidates = 100,
		.filter = &filter };
	struct seen seen = { .stop_at = 0 };
	struct retrieve_result res;
	struct error e;

	(void)state;
	assert_true(engine_field_find(engine, bytes_of("d"), &filter.field));
	for (int unit = RETRIEVE_CHUNK; unit <= RETRIEVE_DOCUMENT; unit++) {
		req.unit = unit;
		assert_int_equal(run(&req, &seen, &res, &e), ST_OK);
		assert_int_equal(res.n, 2);
		assert_memory_equal(res.hits[0].candidate.doc_id.data, "new", 3);
		assert_memory_equal(res.hits[1].candidate.doc_id.data, "old", 3);
		assert_true(res.hits[0].score == 0 && !res.more);
	}
}

static void test_D33_nothing_to_look_for(void **state)
{
	static const char *const empty[] = { "", "   ", "\n", "!!!", "the of and", "\xE2\x80\x8B" };

	(void)state;
	for (size_t i = 0; i < sizeof(empty) / sizeof(empty[0]); i++) {
		struct retrieve_request req = { .query = bytes_of(empty[i]),
			.k = 5,
			.candidate_k = 5,
			.max_candidates = 5 };
		struct seen seen = { .stop_at = 0 };
		struct retrieve_result res;
		struct error e;

		assert_int_equal(run(&req, &seen, &res, &e), ST_OK);
		assert_int_equal(res.n, 0);
		assert_int_equal(res.note_count, 1);
	}
}

static void test_R9_R10_D35_a_kept_state_is_served_again(void **state)
{
	struct retrieve_request req = { .query = bytes_of("fox"),
		.k = 2,
		.candidate_k = 2,
		.max_candidates = 100,
		.want_text = true };
	struct seen seen = { .stop_at = 0 };
	struct retrieve_result first, res;
	char version[VERSION_MAX];
	struct error e;

	(void)state;
	assert_int_equal(run(&req, &seen, &first, &e), ST_OK);
	assert_true(first.more && first.next_offset == 2);
	snprintf(version, sizeof(version), "%s", first.index_version);
	add("another", "fox fox fox", -1);
	req.has_cursor = true;
	req.cursor_version = first.version;
	req.offset = first.next_offset;
	assert_int_equal(run(&req, &seen, &res, &e), ST_OK);
	assert_int_equal(res.n, 1);
	assert_memory_equal(res.hits[0].candidate.doc_id.data, "old", 3);
	assert_false(res.more);
	req.has_cursor = false;
	req.offset = 0;
	req.index_version = bytes_of(version);
	assert_int_equal(run(&req, &seen, &res, &e), ST_OK);
	assert_string_equal(res.index_version, version);
	assert_true(res.hits[0].score == first.hits[0].score);
	req.index_version = BYTES_NONE;
	assert_int_equal(run(&req, &seen, &res, &e), ST_OK);
	assert_memory_equal(res.hits[0].candidate.doc_id.data, "another", 7);
}

static void test_D35_D39_versions_that_never_were(void **state)
{
	struct retrieve_request req = { .query = bytes_of("fox"),
		.k = 1,
		.candidate_k = 1,
		.max_candidates = 1,
		.index_version = bytes_of("0123456789abcdef-4") };
	struct seen seen = { .stop_at = 0 };
	struct retrieve_result res;
	struct error e;

	(void)state;
	assert_int_equal(run(&req, &seen, &res, &e), ST_GONE);
	req.index_version = bytes_of("latest");
	assert_int_equal(run(&req, &seen, &res, &e), ST_INVALID);
	assert_string_equal(e.field, "indexVersion");
	req.index_version = BYTES_NONE;
	req.has_cursor = true;
	req.cursor_version = 1000000;
	assert_int_equal(run(&req, &seen, &res, &e), ST_NOT_FOUND);
}

static void test_L6_stop_at_every_stage(void **state)
{
	(void)state;
	for (int at = 1; at <= 3; at++) {
		struct retrieve_request req = { .query = bytes_of("fox"),
			.k = 1,
			.candidate_k = 1,
			.max_candidates = 10 };
		struct seen seen = { .stop_at = at };
		struct retrieve_result res;
		struct error e;

		assert_int_equal(run(&req, &seen, &res, &e), ST_CANCELLED);
		assert_int_equal(seen.entered, at);
	}
}

static void test_allocation_failures(void **state)
{
	bool passed = false;

	(void)state;
	for (long n = 0; n < 200 && !passed; n++) {
		struct retrieve_request req = { .query = bytes_of("red fox"),
			.k = 3,
			.candidate_k = 3,
			.max_candidates = 10,
			.want_text = true };
		struct seen seen = { .stop_at = 0 };
		struct retrieve_result res;
		struct error e;
		enum status st;

		arena_release(&arena);
		mem_fail_after(n);
		st = run(&req, &seen, &res, &e);
		passed = mem_fail_after(-1) <= n;
		if (st && st != ST_NOMEM)
			fail_msg("allocation %ld: %s: %s", n, status_name(st), e.message);
		assert_true(!passed || st == ST_OK);
	}
	assert_true(passed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_stages_and_ties),
		cmocka_unit_test(test_R6_recency_and_min_score),
		cmocka_unit_test(test_D33_nothing_to_look_for),
		cmocka_unit_test(test_F4_fills_up_by_id),
		cmocka_unit_test(test_R9_R10_D35_a_kept_state_is_served_again),
		cmocka_unit_test(test_D35_D39_versions_that_never_were),
		cmocka_unit_test(test_L6_stop_at_every_stage),
		cmocka_unit_test(test_allocation_failures),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
