/* The sparse pipeline over a real corpus (REQ: R1, R6, D33, D35, L6). */
#include "../unit.h"

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

/* The test's meta is the date itself. */
static bool meta_date(void *arg, struct bytes meta, struct bytes field, int64_t *ret_ms)
{
	(void)arg;
	if (field.len != 1 || meta.len < 3 || meta.data[0] != '"')
		return false;
	*ret_ms = strtoll(meta.data + 1, NULL, 10);
	return true;
}

static enum status run(const struct retrieve_request *req, struct seen *seen,
	struct retrieve_result *res, struct error *e)
{
	struct retrieve_hooks hooks = { seen, stop, on_stage, meta_date };

	return retrieve_run(engine, req, &hooks, &arena, res, e);
}

static void add(const char *id, const char *text, const char *meta)
{
	struct engine_document d = { .id = bytes_of(id),
		.text = bytes_of(text),
		.meta = bytes_of(meta) };
	struct engine_once once = { .key = BYTES_NONE };
	struct engine_stop never = { stop, &(struct seen){ .stop_at = 0 } };
	struct engine_commit c;
	struct error e;

	assert_int_equal(engine_add(engine, &d, 1, &once, &never, &arena, &c, &e), ST_OK);
}

static int setup(void **state)
{
	struct engine_options opt = { .dir = dir, .readers = 1 };
	struct error e;

	(void)state;
	assert_non_null(mkdtemp(dir));
	assert_int_equal(engine_open(&opt, &engine, &e), ST_OK);
	add("old", "the red fox", "\"0\"");
	add("new", "the red fox", "\"86400000\"");
	add("none", "the red fox", NULL);
	add("other", "a blue whale", NULL);
	return 0;
}

static int teardown(void **state)
{
	char cmd[200];

	(void)state;
	engine_close(engine);
	arena_release(&arena);
	for (int i = 0; i < 4; i++) {
		static const char *const files[] = { "rcpd.db", "rcpd.db-wal", "rcpd.db-shm",
			"lock" };

		snprintf(cmd, sizeof(cmd), "%s/%s", dir, files[i]);
		unlink(cmd);
	}
	return rmdir(dir);
}

static void test_stages_and_ties(void **state)
{
	struct retrieve_request req = { .query = bytes_of("red fox"),
		.k = 2,
		.candidate_k = 100,
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

static void test_R6_recency_and_min_score(void **state)
{
	struct retrieve_request req = { .query = bytes_of("red fox"),
		.k = 10,
		.candidate_k = 100,
		.recency_field = bytes_of("d"),
		.half_life_days = 1,
		.now_ms = 86400000 };
	struct seen seen = { .stop_at = 0 };
	struct retrieve_result res;
	struct error e;
	double full;

	(void)state;
	assert_int_equal(run(&req, &seen, &res, &e), ST_OK);
	assert_int_equal(res.n, 3);
	full = res.hits[0].candidate.score;
	assert_memory_equal(res.hits[2].candidate.doc_id.data, "old", 3);
	assert_true(fabs(res.hits[2].score - full / 2) < 1e-12);
	assert_true(res.hits[1].score == full);
	req.has_min_score = true;
	req.min_score = full * 0.75;
	assert_int_equal(run(&req, &seen, &res, &e), ST_OK);
	assert_int_equal(res.n, 2);
}

static void test_D33_nothing_to_look_for(void **state)
{
	static const char *const empty[] = { "", "   ", "\n", "!!!", "the of and", "\xE2\x80\x8B" };

	(void)state;
	for (size_t i = 0; i < sizeof(empty) / sizeof(empty[0]); i++) {
		struct retrieve_request req = { .query = bytes_of(empty[i]),
			.k = 5,
			.candidate_k = 5 };
		struct seen seen = { .stop_at = 0 };
		struct retrieve_result res;
		struct error e;

		assert_int_equal(run(&req, &seen, &res, &e), ST_OK);
		assert_int_equal(res.n, 0);
		assert_int_equal(res.note_count, 1);
	}
}

static void test_D35_pinned_versions(void **state)
{
	struct retrieve_request req = { .query = bytes_of("fox"), .k = 1, .candidate_k = 1 };
	struct seen seen = { .stop_at = 0 };
	struct retrieve_result res;
	char version[VERSION_MAX];
	struct error e;

	(void)state;
	assert_int_equal(run(&req, &seen, &res, &e), ST_OK);
	snprintf(version, sizeof(version), "%s", res.index_version);
	req.index_version = bytes_of(version);
	assert_int_equal(run(&req, &seen, &res, &e), ST_OK);
	req.index_version = bytes_of("0123456789abcdef-4");
	assert_int_equal(run(&req, &seen, &res, &e), ST_GONE);
	req.index_version = bytes_of("latest");
	assert_int_equal(run(&req, &seen, &res, &e), ST_INVALID);
	assert_string_equal(e.field, "indexVersion");
}

static void test_L6_stop_at_every_stage(void **state)
{
	(void)state;
	for (int at = 1; at <= 3; at++) {
		struct retrieve_request req = { .query = bytes_of("fox"),
			.k = 1,
			.candidate_k = 1 };
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
		cmocka_unit_test(test_D35_pinned_versions),
		cmocka_unit_test(test_L6_stop_at_every_stage),
		cmocka_unit_test(test_allocation_failures),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
