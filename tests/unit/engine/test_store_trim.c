/* test_store_trim.c: the write-ahead log stays short while readers overlap; readers and
 * writers of many threads. */
#include "store_rows.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <sys/stat.h>

#include "engine/store/trim.h"
#include "util/clock.h"

#define READERS 3 /* as many as rows_open makes */
#define TEXT_BYTES ((size_t)1024 * 1024)
#define COMMIT_BYTES (3 * TEXT_BYTES) /* what replacing the text adds to the log, at most */
#define COMMITS 80                    /* more than twice TRIM_LOG_BYTES */

static uint64_t log_bytes(const struct rows *r)
{
	struct stat sb;
	char path[600];

	rows_path(r, "rcpd.db-wal", path, sizeof path);
	assert_int_equal(stat(path, &sb), 0);
	return (uint64_t)sb.st_size;
}

static void ignore_swept(void *arg, int64_t first_chunk, uint64_t chunks)
{
	(void)arg, (void)first_chunk, (void)chunks;
}

/*
 * Replaces the one large document by dots and slashes in turn, all different, or SQLite
 * writes what changed alone; sweeps what died before.
 */
static void replace(struct rows *r, char *text, const struct engine_stop *stop)
{
	struct store_document doc;
	bool more;

	memset(text, text[0] ^ 1, TEXT_BYTES);
	doc = rows_document("same", text);
	OK(r, store_write_begin(r->store, stop, &r->write, &r->error));
	store_write_stop(r->write, NULL);
	OK(r,
		store_write_sweep(r->write, store_write_version(r->write) - 1, 9, ignore_swept,
			NULL, &more, &r->error));
	rows_bury(r, "same");
	rows_put_document(r, &doc);
	store_write_stop(r->write, stop);
	rows_commit(r);
}

static char *make_text(void)
{
	char *text = malloc(TEXT_BYTES + 1);

	memset(text, '.', TEXT_BYTES);
	text[TEXT_BYTES] = 0;
	return text;
}

struct reader {
	struct store *store;
	unsigned number;
	pthread_t thread;
	atomic_uint *failures, *snapshots, *commits;
	atomic_bool *done;
};

/* Waits for n commits, or 200 ms when writers are made to wait. */
static void pass_commits(struct reader *r, unsigned n)
{
	uint64_t until = clock_mono_ms() + 200;
	unsigned first = *r->commits;

	while (*r->commits - first < n && clock_mono_ms() < until && !*r->done)
		clock_sleep_ms(1);
}

/* A snapshot that six commits pass by: it shows its own all the time. */
static bool read_snapshot(struct reader *r)
{
	struct store_reader *reader;
	struct store_totals t;
	struct engine_record rec;
	struct arena arena;
	bool good;

	if (store_reader_open(r->store, NULL, &reader, NULL))
		return false;
	arena_init(&arena, 0);
	good = !store_read_totals(reader, &t, NULL);
	pass_commits(r, 6);
	good = good && !store_get(reader, BYTES("same"), t.version, &arena, &rec, NULL) &&
		rec.text.len == TEXT_BYTES &&
		rec.text.data[TEXT_BYTES / 2] == (t.version % 2 ? '/' : '.');
	arena_release(&arena);
	store_reader_close(reader);
	return good;
}

/* Two commits apart, so that there is always an old one. */
static void *read_all_along(void *arg)
{
	struct reader *r = arg;

	pass_commits(r, r->number * 2);
	while (!*r->done) {
		(*r->snapshots)++;
		if (!read_snapshot(r))
			(*r->failures)++;
	}
	return NULL;
}

/* REQ: IDX-05: without help SQLite would never start its log over here. */
static void test_overlapping_readers(void **state)
{
	struct rows *r = *state;
	struct reader readers[READERS];
	atomic_uint failures = 0, snapshots = 0, commits = 0;
	atomic_bool done = false;
	uint64_t longest = 0;
	char *text = make_text();

	replace(r, text, NULL);
	for (unsigned i = 0; i < READERS; i++) {
		readers[i] = (struct reader){ .store = r->store,
			.number = i,
			.failures = &failures,
			.snapshots = &snapshots,
			.commits = &commits,
			.done = &done };
		assert_int_equal(pthread_create(&readers[i].thread, NULL, read_all_along,
					 &readers[i]),
			0);
	}
	for (unsigned i = 0; i < COMMITS; i++) {
		uint64_t now;

		replace(r, text, NULL);
		commits++;
		now = log_bytes(r);
		longest = now > longest ? now : longest;
	}
	done = true;
	for (unsigned i = 0; i < READERS; i++)
		pthread_join(readers[i].thread, NULL);
	free(text);
	assert_int_equal(failures, 0);
	assert_true(snapshots > READERS);
	assert_true(longest > TRIM_LOG_BYTES / 2); /* or nothing was tried */
	if (longest > TRIM_LOG_BYTES + COMMIT_BYTES)
		fail_msg("the log grew to %llu bytes", (unsigned long long)longest);
}

static bool stop_at(void *arg)
{
	return clock_mono_ms() >= *(uint64_t *)arg;
}

/* REQ: IDX-05: a reader that stays makes writers wait once, for less than a second, and
 * no longer than the call may last; later the log is cut. */
static void test_reader_that_stays(void **state)
{
	struct rows *r = *state;
	struct store_reader *old;
	struct store_totals t;
	uint64_t begin, until, took, waits = 0;
	struct engine_stop stop = { stop_at, &until };
	char *text = make_text();

	replace(r, text, NULL);
	OK(r, store_reader_open(r->store, NULL, &old, &r->error));
	OK(r, store_read_totals(old, &t, &r->error));
	while (log_bytes(r) + COMMIT_BYTES <= TRIM_LOG_BYTES)
		replace(r, text, NULL);
	do { /* the last of these makes it too long, and waits as long as it may */
		begin = clock_mono_ms();
		until = begin + 300;
		replace(r, text, &stop); /* a commit all the same */
		took = clock_mono_ms() - begin;
	} while (log_bytes(r) <= TRIM_LOG_BYTES);
	assert_true(took >= 290 && took < 5000);
	for (unsigned i = 0; i < 40; i++) {
		begin = clock_mono_ms();
		replace(r, text, NULL);
		took = clock_mono_ms() - begin;
		assert_true(took < 5000);
		waits += took >= 790;
	}
	assert_true(waits >= 1 && waits < 10);
	store_reader_close(old);
	for (unsigned i = 0; i < 40; i++)
		replace(r, text, NULL);
	assert_true(log_bytes(r) <= TRIM_LOG_BYTES + COMMIT_BYTES);
	free(text);
}

#define WRITERS 3
#define EACH 40

struct writer {
	struct store *store;
	unsigned number;
	pthread_t thread;
	atomic_uint *failures;
};

static enum status add_one(struct store *s, unsigned writer, unsigned i)
{
	struct store_chunk chunk = { 0, 4, 0, 4, BYTES_NONE };
	struct store_document doc = { .text = BYTES("text"), .chunks = &chunk, .chunk_count = 1 };
	struct store_totals totals;
	struct store_keys keys;
	struct store_write *w;
	char id[32];
	enum status st = store_write_begin(s, NULL, &w, NULL);

	if (st)
		return st;
	snprintf(id, sizeof id, "%u-%u", writer, i);
	doc.id = bytes_of(id);
	st = store_write_put(w, &doc, &keys, NULL);
	if (!st)
		return store_write_commit(w, &totals, NULL);
	store_write_abort(w);
	return st;
}

static void *write_some(void *arg)
{
	struct writer *w = arg;

	for (unsigned i = 0; i < EACH; i++)
		if (add_one(w->store, w->number, i))
			(*w->failures)++;
	return NULL;
}

/* More threads than connections: all get their turn, and totals never contradict the
 * version. */
static void test_many_threads(void **state)
{
	struct rows *r = *state;
	struct writer writers[WRITERS];
	atomic_uint failures = 0;
	struct store_totals t;

	for (unsigned i = 0; i < WRITERS; i++) {
		writers[i] =
			(struct writer){ .store = r->store, .number = i, .failures = &failures };
		assert_int_equal(pthread_create(&writers[i].thread, NULL, write_some, &writers[i]),
			0);
	}
	do {
		t = rows_totals(r);
		assert_int_equal(t.version, t.documents);
		assert_int_equal(t.languages[TEXT_LANG_NONE], t.documents);
	} while (t.version < WRITERS * EACH && failures == 0);
	for (unsigned i = 0; i < WRITERS; i++)
		pthread_join(writers[i].thread, NULL);
	assert_int_equal(failures, 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, rows_setup, rows_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_overlapping_readers),
		TEST(test_reader_that_stays),
		TEST(test_many_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
