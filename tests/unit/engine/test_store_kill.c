/*
 * test_store_kill.c: the process dies within a transaction: whoever opens the corpus next
 * finds every commit that was answered, and nothing of the rest. (REQ: X7, IDX-02)
 */
#include "store_rows.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/fault.h"

/* Three calls, of which the second is undone; in the third the old document dies. */
static enum status make_group(struct store_write *w, struct error *e)
{
	static const char *const ids[] = { "one", "two", "three" };
	struct store_keys keys;
	enum status st = ST_OK;

	for (size_t i = 0; !st && i < 3; i++) {
		struct store_document doc = rows_document(ids[i], ids[i]);

		st = store_write_savepoint(w, e);
		if (!st && i == 2)
			st = store_write_bury(w, BYTES("old"), &keys, e);
		if (!st)
			st = store_write_put(w, &doc, &keys, e);
		if (!st)
			st = i == 1 ? store_write_undo(w, e) : store_write_release(w, e);
	}
	return st;
}

static void note_swept(void *arg, int64_t first_chunk, uint64_t chunks)
{
	(void)arg, (void)first_chunk, (void)chunks;
}

/* The group, committed if wanted, then a sweep of what died in it. */
static enum status write_once(struct store *s, bool commit)
{
	struct store_totals totals;
	struct store_write *w;
	bool more;
	enum status st = store_write_begin(s, NULL, &w, NULL);

	if (st)
		return st;
	st = make_group(w, NULL);
	if (!commit)
		_exit(st ? 202 : 77); /* without a word */
	if (st) {
		store_write_abort(w);
		return st;
	}
	st = store_write_commit(w, &totals, NULL);
	if (!st)
		st = store_write_begin(s, NULL, &w, NULL);
	if (st)
		return st;
	st = store_write_sweep(w, totals.version, 10, note_swept, NULL, &more, NULL);
	if (!st)
		return store_write_commit(w, &totals, NULL);
	store_write_abort(w);
	return st;
}

/* In a child, with the faults given; how it ended: a status as a positive number, 77 if it
 * left without committing, 1000 if it was killed. */
static int write_in_child(const struct rows *r, const char *faults, bool commit)
{
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		struct store *s;
		enum status st;

		setenv("RCPD_FAULTS", faults, 1);
		if (!fault_setup() || store_open(r->dir, 1, &s, NULL))
			_exit(200);
		st = write_once(s, commit);
		store_close(s);
		_exit(-(int)st);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
}

static void make_corpus(struct rows *r)
{
	rows_make_dir(r);
	rows_open(r);
	rows_put(r, "old", "of before");
	rows_close(r);
}

static void expect_group(struct rows *r, bool there, bool swept)
{
	struct store_totals t;

	rows_open(r);
	t = rows_totals(r);
	assert_int_equal(t.version, there ? 2 : 1);
	assert_int_equal(t.documents, there ? 2 : 1);
	assert_int_equal(t.languages[TEXT_LANG_EN], there ? 2 : 1);
	assert_int_equal(rows_text(r, "one", 2).data != NULL, there);
	assert_int_equal(rows_text(r, "three", 2).data != NULL, there);
	assert_null(rows_text(r, "two", 2).data);
	assert_int_equal(rows_text(r, "old", 2).data != NULL, !there);
	assert_int_equal(rows_text(r, "old", 1).data != NULL, !swept);
	assert_int_equal(rows_put(r, "next", "x").document, there ? 4 : 2);
	rows_close(r);
	rows_check(r);
	rows_remove_dir(r);
}

static void test_leaving_without_commit(void **state)
{
	struct rows r;

	(void)state;
	make_corpus(&r);
	for (unsigned i = 0; i < 3; i++)
		assert_int_equal(write_in_child(&r, "", false), 77);
	expect_group(&r, false, false);
}

#ifdef RCPD_FAULT_POINTS
/* Death or failure at each of the points: before the commit nothing, after it all. */
static void test_at_each_point(void **state)
{
	static const struct {
		const char *faults;
		int end;
		bool there, swept;
	} cases[] = {
		{ "store.begin=kill", 1000, false, false },
		{ "store.put=kill", 1000, false, false },
		{ "store.commit=kill", 1000, false, false },
		{ "store.committed=kill", 1000, true, false },
		{ "store.sweep=kill", 1000, true, false },
		{ "store.begin=fail::1", -ST_IO, false, false },
		{ "store.put=fail::1", -ST_IO, false, false },
		{ "store.commit=fail::1", -ST_IO, false, false },
		{ "store.committed=fail::1", 0, true, true },
		{ "store.sweep=fail::1", -ST_IO, true, false },
		{ "", 0, true, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct rows r;

		make_corpus(&r);
		assert_int_equal(write_in_child(&r, cases[i].faults, true), cases[i].end);
		expect_group(&r, cases[i].there, cases[i].swept);
	}
}

static bool stop_at(void *arg)
{
	return clock_mono_ms() >= *(uint64_t *)arg;
}

/* In a child: a write that stalls at the fault point is told to stop. */
static int stop_during(const struct rows *r, const char *faults)
{
	struct store_document doc = rows_document("a", "alpha");
	uint64_t until = UINT64_MAX;
	struct engine_stop stop = { stop_at, &until };
	struct store_totals totals;
	struct store_keys keys;
	struct store_write *w;
	struct store *s;
	enum status st;

	setenv("RCPD_FAULTS", faults, 1);
	if (!fault_setup() || store_open(r->dir, 1, &s, NULL))
		return 200;
	until = clock_mono_ms() + 50;
	st = store_write_begin(s, &stop, &w, NULL);
	if (!st)
		st = store_write_put(w, &doc, &keys, NULL);
	if (st)
		return -(int)st;
	st = store_write_commit(w, &totals, NULL);
	store_close(s);
	return -(int)st;
}

/* REQ: L6, T7: told to stop in the last moment before the commit, nothing is written. */
static void test_stop_in_stall(void **state)
{
	static const char *const faults[] = { "store.begin=stall:60000", "store.put=stall:60000",
		"store.commit=stall:60000" };

	(void)state;
	for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
		uint64_t begin = clock_mono_ms();
		struct rows r;
		int status;
		pid_t pid;

		make_corpus(&r);
		fflush(NULL);
		pid = fork();
		if (pid == 0)
			_exit(stop_during(&r, faults[i]));
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), -ST_CANCELLED);
		assert_true(clock_mono_ms() < begin + 20000);
		expect_group(&r, false, false);
	}
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_leaving_without_commit),
#ifdef RCPD_FAULT_POINTS
		cmocka_unit_test(test_at_each_point),
		cmocka_unit_test(test_stop_in_stall),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
