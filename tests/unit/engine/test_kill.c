/*
 * test_kill.c: the process dies at any moment; whoever opens the corpus next finds
 * all that was answered, and of the rest whole calls or nothing. (REQ: X7, IDX-02)
 *
 * A child writes call after call and reports each on a pipe once it is answered.
 */
#include "corpus.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/fault.h"

#define CYCLES 12
#define DOCUMENTS_A_CALL 3

static void name_document(char *buf, size_t size, unsigned call, unsigned i)
{
	snprintf(buf, size, "call%u-%u", call, i);
}

/* Adds call number n: three documents; every fifth call deletes the one before. */
static enum status make_call(struct engine *en, unsigned n)
{
	struct engine_document docs[DOCUMENTS_A_CALL];
	struct bytes ids[DOCUMENTS_A_CALL];
	char names[DOCUMENTS_A_CALL][32], text[64];
	bool deletes = n % 5 == 4;
	struct engine_commit commit;
	struct arena arena;
	enum status st;

	snprintf(text, sizeof text, "common text of call%u", n);
	for (unsigned i = 0; i < DOCUMENTS_A_CALL; i++) {
		name_document(names[i], sizeof names[i], deletes ? n - 1 : n, i);
		docs[i] = document(names[i], text);
		ids[i] = docs[i].id;
	}
	arena_init(&arena, 0);
	if (deletes)
		st = engine_delete(en, ids, DOCUMENTS_A_CALL, NULL, &commit, NULL);
	else
		st = engine_add(en, docs, DOCUMENTS_A_CALL, NULL, NULL, &arena, &commit, NULL);
	arena_release(&arena);
	return st;
}

static void write_until_killed(const char *dir, unsigned first, int report)
{
	struct engine_options opt = { .dir = dir, .readers = 1, .max_fields = 16 };
	struct engine *en;

	if (engine_open(&opt, &en, NULL))
		_exit(1);
	for (unsigned n = first;; n++)
		if (make_call(en, n) || write(report, &n, sizeof n) != sizeof n)
			_exit(2);
}

/* Lets a child write for a while and kills it; returns the number of the first
 * call that was not reported. */
static unsigned run_child(const struct corpus *c, unsigned first, unsigned ms)
{
	unsigned n, next = first;
	int ends[2], status;
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		close(ends[0]);
		write_until_killed(c->dir, first, ends[1]);
	}
	close(ends[1]);
	clock_sleep_ms(ms);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	while (read(ends[0], &n, sizeof n) == sizeof n) {
		assert_int_equal(n, next);
		next++;
	}
	close(ends[0]);
	return next;
}

/* How many of a call's documents are there. */
static unsigned count_documents(struct corpus *c, unsigned call)
{
	unsigned found = 0;
	char name[32];

	for (unsigned i = 0; i < DOCUMENTS_A_CALL; i++) {
		name_document(name, sizeof name, call, i);
		found += corpus_text(c, name).data != NULL;
	}
	return found;
}

/* All calls below next were answered. Returns the first call that is not there:
 * the one in flight may have got through. */
static unsigned check_calls(struct corpus *c, unsigned next)
{
	unsigned version = (unsigned)corpus_stats(c).version, documents = 0;

	assert_true(version == next || version == next + 1);
	for (unsigned n = 0; n <= next + 1; n++) {
		bool there = n < version && n % 5 != 4 && !(n % 5 == 3 && n + 1 < version);

		assert_int_equal(count_documents(c, n), there ? DOCUMENTS_A_CALL : 0);
		documents += there ? DOCUMENTS_A_CALL : 0;
	}
	assert_int_equal(corpus_stats(c).documents, documents);
	return version;
}

static void test_kill(void **state)
{
	struct corpus c;
	unsigned next = 0;

	(void)state;
	corpus_make_dir(&c);
	for (unsigned cycle = 0; cycle < CYCLES; cycle++) {
		/* The first ones may die while the file is being made. */
		next = run_child(&c, next, cycle < 4 ? 1 + cycle * 3 : 20 + cycle * 7);
		corpus_open(&c);
		next = check_calls(&c, next);
		corpus_clear(&c);
		corpus_close(&c);
		corpus_check(&c);
	}
	assert_true(next > 20);
	corpus_remove_dir(&c);
}

#ifdef RCPD_FAULT_POINTS
/* Makes one call in a child with the faults given; returns how the child ended:
 * the call's status as a positive number, or 1000 if it was killed. */
static int call_with_fault(const struct corpus *c, const char *faults, unsigned n)
{
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0) {
		struct engine_options opt = { .dir = c->dir, .readers = 1, .max_fields = 16 };
		struct engine *en;
		enum status st;

		setenv("RCPD_FAULTS", faults, 1);
		if (!fault_setup() || engine_open(&opt, &en, NULL))
			_exit(200);
		st = make_call(en, n);
		if (st && make_call(en, n)) /* it was to fail once */
			_exit(201);
		engine_close(en);
		_exit(-(int)st);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000;
}

/* Death just before the commit leaves nothing, just after it all. */
static void test_kill_at_commit(void **state)
{
	static const struct {
		const char *faults;
		int end;
		unsigned documents;
	} cases[] = {
		{ "store.begin=kill", 1000, 0 },
		{ "store.commit=kill", 1000, 0 },
		{ "store.committed=kill", 1000, DOCUMENTS_A_CALL },
		{ "engine.answer=kill", 1000, DOCUMENTS_A_CALL },
		{ "store.begin=fail::1", -ST_IO, DOCUMENTS_A_CALL },
		{ "store.commit=fail::1", -ST_IO, DOCUMENTS_A_CALL },
		{ "store.committed=fail::1", 0, DOCUMENTS_A_CALL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct corpus c;

		corpus_make_dir(&c);
		assert_int_equal(call_with_fault(&c, cases[i].faults, 0), cases[i].end);
		corpus_open(&c);
		assert_int_equal(corpus_stats(&c).documents, cases[i].documents);
		assert_int_equal(corpus_stats(&c).version, cases[i].documents ? 1 : 0);
		corpus_close(&c);
		corpus_check(&c);
		corpus_remove_dir(&c);
	}
}

/* Opens the corpus and waits for the keeper to sweep, which the fault point ends. */
static void sweep_until_killed(const struct corpus *c)
{
	struct engine_options opt = { .dir = c->dir, .readers = 1, .max_fields = 16 };
	struct engine *en;

	setenv("RCPD_FAULTS", "store.sweep=kill", 1);
	if (!fault_setup() || engine_open(&opt, &en, NULL))
		_exit(200);
	clock_sleep_ms(20000);
	_exit(201);
}

/* REQ: IDX-02: background work may die at any moment too. */
static void test_kill_in_sweep(void **state)
{
	struct corpus c;
	int status;
	pid_t pid;

	(void)state;
	corpus_make_dir(&c);
	corpus_open(&c);
	for (unsigned i = 0; i < 10; i++)
		corpus_add(&c, i % 2 ? "a" : "b", i < 8 ? "old text" : "new text");
	corpus_close(&c);
	fflush(NULL);
	pid = fork();
	if (pid == 0)
		sweep_until_killed(&c);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	corpus_check(&c);
	corpus_open(&c);
	assert_string_equal(corpus_search(&c, "new", 10), "a b");
	assert_string_equal(corpus_search(&c, "old", 10), "");
	assert_int_equal(corpus_stats(&c).version, 10);
	corpus_close(&c);
	corpus_check(&c);
	corpus_remove_dir(&c);
}

static bool stop_at(void *arg)
{
	return clock_mono_ms() >= *(uint64_t *)arg;
}

/* In a child: an add that stalls at the fault point given is told to stop. */
static int stop_during(const struct corpus *c, const char *faults)
{
	struct engine_document doc = document("a", "alpha");
	struct engine_options opt = { .dir = c->dir, .readers = 1, .max_fields = 16 };
	uint64_t until = 0;
	struct engine_stop stop = { stop_at, &until };
	struct engine_candidate *found;
	struct engine_commit commit;
	struct engine_view *v;
	struct engine *en;
	struct engine_query q;
	struct arena arena;
	enum status st;
	size_t n;

	setenv("RCPD_FAULTS", faults, 1);
	arena_init(&arena, 0);
	if (!fault_setup() || engine_open(&opt, &en, NULL))
		return 200;
	until = clock_mono_ms() + (strstr(faults, "recall") ? 60000 : 50);
	st = engine_add(en, &doc, 1, NULL, &stop, &arena, &commit, NULL);
	if (!st) {
		until = clock_mono_ms() + 50;
		st = engine_view_open(en, &stop, &v, NULL);
		if (!st) {
			st = engine_analyze(v, BYTES("alpha"), &arena, &q, NULL);
			if (!st)
				st = engine_recall(v, &q, 5, NULL, &arena, &found, &n, NULL);
			engine_view_close(v);
		}
	}
	arena_release(&arena);
	engine_close(en);
	return -(int)st;
}

/* REQ: L6, T7: told to stop in the last moment before the commit, nothing is
 * written; and a search that hangs is left at once. */
static void test_stop_in_stall(void **state)
{
	static const char *const faults[] = { "store.begin=stall:60000", "store.commit=stall:60000",
		"engine.recall=stall:60000" };

	(void)state;
	for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
		uint64_t begin = clock_mono_ms();
		struct corpus c;
		int status;
		pid_t pid;

		corpus_make_dir(&c);
		fflush(NULL);
		pid = fork();
		if (pid == 0)
			_exit(stop_during(&c, faults[i]));
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_true(WIFEXITED(status));
		assert_int_equal(WEXITSTATUS(status), -ST_CANCELLED);
		assert_true(clock_mono_ms() < begin + 20000);
		corpus_open(&c);
		assert_int_equal(corpus_stats(&c).documents, i < 2 ? 0 : 1);
		corpus_close(&c);
		corpus_remove_dir(&c);
	}
}
#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kill),
#ifdef RCPD_FAULT_POINTS
		cmocka_unit_test(test_kill_at_commit),
		cmocka_unit_test(test_kill_in_sweep),
		cmocka_unit_test(test_stop_in_stall),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
