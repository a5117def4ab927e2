/*
 * test_crash.c: the process is killed, at random instants and at named points, hundreds
 * of times on the same corpus. Whoever opens it next finds all that was answered, of
 * what was under way a whole call or nothing, an index that equals a fresh one, and a
 * database that is whole. (REQ: X7, IDX-02, IDX-03, IDX-04)
 *
 *   parent ──fork──▶ child: open ─▶ check ─▶ calls, each told on a pipe ─▶ dies
 *      ◀── model ◀── acknowledged ◀──────────────────┘
 *
 * RCPD_TEST_LONG=N: N cycles of random kills instead of 25 (and N hits a point, if more
 * than 50).
 */
#include "durable.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../unit.h"

#include "util/clock.h"
#include "util/fault.h"
#include "util/log.h"

#define CYCLES 25
#define HITS 50
#define MOST_CALLS 3000 /* without a hit: then it is no point of this path */
#define PATIENCE_MS 60000

/* What a child tells. */
struct message {
	enum { ACKNOWLEDGED, APPLIED, SKIPPED, CHECKED } what;
	int writer, call;
	uint64_t version;
};

struct crash {
	char dir[DURABLE_PATH], fresh[DURABLE_PATH + 8];
	struct model model;
	enum expected expected;
	bool strict; /* nothing but calls meets the fault points */
	int report;  /* the child's end of the pipe */
	unsigned acknowledged, checked;
};

static unsigned long_run(unsigned usual)
{
	const char *env = getenv("RCPD_TEST_LONG");
	unsigned n = env ? (unsigned)strtoul(env, NULL, 10) : 0;

	return n > usual ? n : usual;
}

/* ---- in the child ---- */

static void tell(int report, int what, int writer, int call, uint64_t version)
{
	struct message m;

	memset(&m, 0, sizeof(m));
	m.what = what;
	m.writer = writer;
	m.call = call;
	m.version = version;
	require(write(report, &m, sizeof(m)) == sizeof(m), "pipe");
}

static void tell_resolved(void *arg, int writer, int call, bool applied, uint64_t version)
{
	struct crash *c = arg;

	tell(c->report, applied ? APPLIED : SKIPPED, writer, call, version);
}

static void check(struct crash *c, struct engine *en)
{
	struct engine *fresh;

	durable_check_rows(c->dir);
	durable_check(en, &c->model, c->expected, tell_resolved, c);
	durable_check_index(en, &c->model, c->fresh, &fresh);
	if (!c->strict) /* closing writes segments */
		engine_close(fresh);
	tell(c->report, CHECKED, 0, 0, 0);
}

static void make_call(struct crash *c, struct engine *en, int writer)
{
	int call = c->model.writer[writer].next++;
	struct engine_commit commit;
	struct error e;

	require(durable_call(en, writer, call, &commit, &e) == ST_OK, "%s (%s)", e.message,
		e.detail);
	tell(c->report, ACKNOWLEDGED, writer, call, commit.version);
}

/* ---- in the parent ---- */

static void take_message(struct crash *c, const struct message *m)
{
	switch (m->what) {
	case ACKNOWLEDGED:
		assert_int_equal(m->call, c->model.writer[m->writer].next);
		model_apply(&c->model, m->writer, m->call, m->version);
		c->acknowledged++;
		c->model.under_way = (m->writer + 1) % WRITERS;
		break;
	case APPLIED:
		model_apply(&c->model, m->writer, m->call, m->version);
		break;
	case SKIPPED:
		model_skip(&c->model, m->writer, m->call);
		break;
	case CHECKED:
		c->model.under_way = 0; /* if it makes calls, that writer begins */
		c->checked++;
		break;
	}
}

/* Runs a child, kills it after kill_ms (0: it dies by itself) and takes what it told.
 * Returns its wait status. */
static int run_child(struct crash *c, void (*body)(struct crash *c, const char *arg),
	const char *arg, unsigned kill_ms)
{
	uint64_t deadline = clock_mono_ms() + PATIENCE_MS;
	struct message m;
	int ends[2], status = 0;
	pid_t pid;

	assert_int_equal(pipe(ends), 0);
	fcntl(ends[1], F_SETPIPE_SZ, 1 << 20); /* else it may have to wait for us */
	fflush(NULL);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		close(ends[0]);
		c->report = ends[1];
		body(c, arg);
		_exit(0);
	}
	close(ends[1]);
	if (kill_ms > 0) {
		clock_sleep_ms(kill_ms);
		kill(pid, SIGKILL);
	}
	/* A pipe that has ended: the child is dead. */
	while (read(ends[0], &m, sizeof(m)) == sizeof(m)) {
		take_message(c, &m);
		if (clock_mono_ms() > deadline)
			kill(pid, SIGABRT);
	}
	close(ends[0]);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return status;
}

static void begin(struct crash *c)
{
	memset(c, 0, sizeof(*c));
	log_setup(LOG_FORMAT_TEXT, LOG_OFF);
	durable_make_dir(c->dir);
	snprintf(c->fresh, sizeof(c->fresh), "%s/fresh", c->dir);
	model_init(&c->model);
}

/* ---- random instants ---- */

struct thread {
	struct crash *c;
	struct engine *en;
	int writer;
	unsigned calls;
};

static void *write_calls(void *arg)
{
	struct thread *t = arg;

	for (unsigned i = 0; i < t->calls; i++)
		make_call(t->c, t->en, t->writer);
	return NULL;
}

/* All writers at once, again and again; now and then the corpus is closed and opened,
 * so that those are interrupted too. */
static void write_for_ever(struct crash *c, const char *arg)
{
	struct thread t[WRITERS];
	pthread_t id[WRITERS];

	(void)arg;
	for (unsigned round = 0;; round++) {
		struct engine *en = durable_open_whole(c->dir);

		for (int w = 0; w < WRITERS; w++) {
			t[w] = (struct thread){ c, en, w, 10 + round * 20 % 70 };
			require(pthread_create(&id[w], NULL, write_calls, &t[w]) == 0, "thread");
		}
		for (int w = 0; w < WRITERS; w++)
			pthread_join(id[w], NULL);
		engine_close(en);
	}
}

static void check_and_leave(struct crash *c, const char *arg)
{
	struct engine *en = durable_open_whole(c->dir);

	check(c, en);
	if (!arg)
		engine_close(en);
	_exit(0); /* with arg: as a killed process leaves it */
}

static void check_now(struct crash *c, bool leave_open)
{
	unsigned before = c->checked;
	int status = run_child(c, check_and_leave, leave_open ? "open" : NULL, 0);

	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
	assert_int_equal(c->checked, before + 1);
}

static void test_random_kills(void **state)
{
	unsigned cycles = long_run(CYCLES), seed = (unsigned)time(NULL), cycle;
	struct crash c;

	(void)state;
	begin(&c);
	srandom(seed);
	/* More where all is so slow that little was written before most kills. */
	for (cycle = 0; cycle < cycles || (c.acknowledged < cycles * 5 && cycle < cycles * 4);
		cycle++) {
		/* The first ones while the corpus is being made. */
		unsigned ms = cycle < 6 ? 1 + cycle * 2 : 2 + (unsigned)random() % 90;
		int status = run_child(&c, write_for_ever, NULL, ms);

		if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
			fail_msg("seed %u, cycle %u: ended with %#x", seed, cycle, status);
		check_now(&c, cycle & 1);
	}
	print_message("%u kills, %u calls acknowledged\n", cycle, c.acknowledged);
	assert_true(c.acknowledged >= cycles * 5);
	durable_remove(c.dir);
}

/* ---- named points ---- */

#ifdef RCPD_FAULT_POINTS

/* One call after the other until one of them, or the keeper meanwhile, meets the point. */
static void write_until_hit(struct crash *c, const char *fault)
{
	struct engine *en;

	/* Strictly: sweeps pass the same points as calls do. There are none as long as no
	 * segment gets to disk. */
	if (c->strict)
		require(fault_add("lexical.segment.write=stall:599999"), "fault");
	en = durable_open_whole(c->dir);
	check(c, en);
	require(fault_add(fault), "%s", fault);
	for (unsigned n = 0; n < MOST_CALLS; n++)
		make_call(c, en, (int)(n % WRITERS));
	durable_bad(__FILE__, __LINE__, fault, "never met");
}

struct point {
	const char *name;
	enum expected expected; /* of the call that met it, or was under way meanwhile */
	unsigned spread;        /* the first, second … spread-th hit kills */
};

static void hit(const struct point *p)
{
	unsigned hits = 0, cycles = long_run(HITS);
	uint64_t since = clock_mono_ms();
	struct crash c;
	char fault[64];

	begin(&c);
	c.strict = p->expected != EITHER;
	for (unsigned cycle = 0; cycle < cycles; cycle++) {
		int status;

		snprintf(fault, sizeof(fault), "%s=kill:%u", p->name, 1 + cycle % p->spread);
		status = run_child(&c, write_until_hit, fault, 0);
		/* Nobody else sends this signal. */
		if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
			fail_msg("%s, cycle %u: ended with %#x", fault, cycle, status);
		hits++;
		c.expected = p->expected;
	}
	c.strict = false;
	check_now(&c, false);
	assert_true(hits >= HITS);
	assert_int_equal(c.checked, cycles + 1);
	print_message("%s: %u hits, %u calls acknowledged, %llu ms\n", p->name, hits,
		c.acknowledged, (unsigned long long)(clock_mono_ms() - since));
	durable_remove(c.dir);
}

/* REQ: named fault points: in the transaction, between commit and answer, in a merge, in
 * the replacement of the segment list. Each is hit at least 50 times. */
static void test_points(void **state)
{
	static const struct point points[] = {
		{ "store.begin", ABSENT, 5 },
		{ "store.put", ABSENT, 9 },
		{ "store.commit", ABSENT, 5 },
		{ "store.committed", PRESENT, 5 },
		{ "engine.answer", PRESENT, 5 },
		{ "lexical.merge", EITHER, 3 },
		{ "lexical.segment.write", EITHER, 37 },
		{ "lexical.segment.rename", EITHER, 5 },
		{ "lexical.list.replace", EITHER, 5 },
		{ "store.sweep", EITHER, 6 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++)
		hit(&points[i]);
}

#endif

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_random_kills),
#ifdef RCPD_FAULT_POINTS
		cmocka_unit_test(test_points),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
