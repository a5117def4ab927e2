/* test_trim.c: the write-ahead log stays short while views overlap. */
#include "corpus.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>

#include "engine/store/trim.h"
#include "util/clock.h"

#define READERS 3
#define TEXT_BYTES ((size_t)1024 * 1024)
#define COMMIT_BYTES (TEXT_BYTES + 256 * 1024) /* what replacing the text adds to the log */
#define COMMITS 120                            /* more than three times TRIM_LOG_BYTES */

static uint64_t log_bytes(const struct corpus *c)
{
	struct stat sb;
	char path[600];

	corpus_path(c, "rcpd.db-wal", path, sizeof path);
	assert_int_equal(stat(path, &sb), 0);
	return (uint64_t)sb.st_size;
}

/*
 * Replaces the one large document by dots and slashes in turn: no words, so that this
 * is quick, and all different, or SQLite writes what changed alone.
 */
static void replace(struct corpus *c, char *text, const struct engine_stop *stop)
{
	struct engine_document doc = { .id = BYTES("same"), .text = { text, TEXT_BYTES } };
	struct engine_commit commit;

	memset(text, text[0] ^ 1, TEXT_BYTES);
	if (engine_add(c->engine, &doc, 1, NULL, stop, &c->arena, &commit, &c->error))
		fail_msg("%s (%s)", c->error.message, c->error.detail);
	corpus_clear(c);
}

static char *make_text(void)
{
	char *text = malloc(TEXT_BYTES);

	memset(text, '.', TEXT_BYTES);
	return text;
}

struct reader {
	struct engine *engine;
	unsigned number;
	pthread_t thread;
	atomic_uint *failures, *views, *commits;
	atomic_bool *done;
};

static bool shows_its_commit(struct engine_view *v)
{
	struct engine_record record;
	struct arena arena;
	bool good;

	arena_init(&arena, 0);
	good = !engine_get(v, BYTES("same"), &arena, &record, NULL) &&
		record.text.len == TEXT_BYTES &&
		record.text.data[TEXT_BYTES / 2] == (engine_view_version(v) % 2 ? '/' : '.');
	arena_release(&arena);
	return good;
}

/* Waits for n commits, or 200 ms when writers are made to wait. */
static void pass_commits(struct reader *r, unsigned n)
{
	uint64_t until = clock_mono_ms() + 200;
	unsigned first = *r->commits;

	while (*r->commits - first < n && clock_mono_ms() < until && !*r->done)
		clock_sleep_ms(1);
}

/* Views of six commits each, two apart, so that there is always an old snapshot. */
static void *read_all_along(void *arg)
{
	struct reader *r = arg;

	pass_commits(r, r->number * 2);
	while (!*r->done) {
		struct engine_view *v;
		bool good;

		if (engine_view_open(r->engine, NULL, &v, NULL)) {
			(*r->failures)++;
			continue;
		}
		(*r->views)++;
		good = shows_its_commit(v); /* a connection's snapshot from here on */
		pass_commits(r, 6);
		if (!good || !shows_its_commit(v))
			(*r->failures)++;
		engine_view_close(v);
	}
	return NULL;
}

/* REQ: IDX-05: without help SQLite would never start its log over here. */
static void test_overlapping_views(void **state)
{
	struct corpus *c = *state;
	struct reader readers[READERS];
	atomic_uint failures = 0, views = 0, commits = 0;
	atomic_bool done = false;
	uint64_t longest = 0;
	char *text = make_text();

	replace(c, text, NULL);
	for (unsigned i = 0; i < READERS; i++) {
		readers[i] = (struct reader){ .engine = c->engine,
			.number = i,
			.failures = &failures,
			.views = &views,
			.commits = &commits,
			.done = &done };
		assert_int_equal(pthread_create(&readers[i].thread, NULL, read_all_along,
					 &readers[i]),
			0);
	}
	for (unsigned i = 0; i < COMMITS; i++) {
		uint64_t now;

		replace(c, text, NULL);
		commits++;
		now = log_bytes(c);
		longest = now > longest ? now : longest;
	}
	done = true;
	for (unsigned i = 0; i < READERS; i++)
		pthread_join(readers[i].thread, NULL);
	free(text);
	assert_int_equal(failures, 0);
	assert_true(views > READERS);
	assert_true(longest > TRIM_LOG_BYTES / 2); /* or nothing was tried */
	if (longest > TRIM_LOG_BYTES + COMMIT_BYTES)
		fail_msg("the log grew to %llu bytes", (unsigned long long)longest);
}

static bool stop_at(void *arg)
{
	return clock_mono_ms() >= *(uint64_t *)arg;
}

/* Commits until the next one makes the log too long. */
static void fill_log(struct corpus *c, char *text, uint64_t bound)
{
	while (log_bytes(c) + TEXT_BYTES <= bound)
		replace(c, text, NULL);
}

/* REQ: IDX-05: a view that stays makes writers wait once, for less than a second, and
 * no longer than the call may last; views open meanwhile; later the log is cut. */
static void test_view_that_stays(void **state)
{
	struct corpus *c = *state;
	struct engine_view *old;
	uint64_t begin, until, took, waits = 0;
	struct engine_stop stop = { stop_at, &until };
	char *text = make_text();

	replace(c, text, NULL);
	old = corpus_view(c);
	assert_true(shows_its_commit(old)); /* which takes a snapshot */
	fill_log(c, text, TRIM_LOG_BYTES);
	begin = clock_mono_ms();
	until = begin + 300;
	while (log_bytes(c) <= TRIM_LOG_BYTES)
		replace(c, text, &stop); /* a commit all the same */
	took = clock_mono_ms() - begin;
	assert_true(took >= 290 && took < 5000);
	for (unsigned i = 0; i < 50; i++) {
		begin = clock_mono_ms();
		replace(c, text, NULL);
		took = clock_mono_ms() - begin;
		assert_true(took < 5000);
		waits += took >= 790;
	}
	assert_true(waits >= 1 && waits < 10);
	assert_int_equal(engine_view_version(old), 1);
	assert_true(shows_its_commit(old));
	engine_view_close(old);
	for (unsigned i = 0; i < 40; i++)
		replace(c, text, NULL);
	assert_true(log_bytes(c) <= TRIM_LOG_BYTES + COMMIT_BYTES);
	free(text);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, corpus_setup, corpus_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_overlapping_views),
		TEST(test_view_that_stays),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
