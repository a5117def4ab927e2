/* The pool: each task once, bounded, stale tasks leave the queue early. */
#include "../unit.h"

#include <stdatomic.h>

#include "util/clock.h"
#include "util/pool.h"

struct work {
	struct pool_task task;
	atomic_int runs;
	atomic_bool stale;
	unsigned sleep_ms;
};

static void run(struct pool_task *t)
{
	struct work *w = (struct work *)t;

	if (w->sleep_ms)
		clock_sleep_ms(w->sleep_ms);
	atomic_fetch_add(&w->runs, 1);
}

static bool stale(const struct pool_task *t, uint64_t now_ns)
{
	(void)now_ns;
	return atomic_load(&((const struct work *)t)->stale);
}

static void prepare(struct work *w, unsigned sleep_ms)
{
	*w = (struct work){ .task = { .run = run, .stale = stale }, .sleep_ms = sleep_ms };
}

static void test_each_task_runs_once(void **state)
{
	static struct work w[500];
	struct pool *p;

	(void)state;
	assert_int_equal(pool_new(4, 1000, &p, NULL), ST_OK);
	for (size_t i = 0; i < 500; i++) {
		prepare(&w[i], 0);
		assert_int_equal(pool_submit(p, &w[i].task), ST_OK);
	}
	assert_true(pool_drain(p, 5000));
	pool_free(p);
	for (size_t i = 0; i < 500; i++)
		assert_int_equal(atomic_load(&w[i].runs), 1);
}

static void test_full_queue_refuses(void **state)
{
	struct work slow, a, b, c;
	struct pool *p;

	(void)state;
	prepare(&slow, 100);
	prepare(&a, 0);
	prepare(&b, 0);
	prepare(&c, 0);
	assert_int_equal(pool_new(1, 2, &p, NULL), ST_OK);
	assert_int_equal(pool_submit(p, &slow.task), ST_OK);
	while (pool_busy(p) == 0)
		clock_sleep_ms(1);
	assert_int_equal(pool_submit(p, &a.task), ST_OK);
	assert_int_equal(pool_submit(p, &b.task), ST_OK);
	assert_int_equal(pool_submit(p, &c.task), ST_FULL);
	assert_int_equal(pool_depth(p), 2);
	assert_int_equal(pool_submit_wait(p, &c.task, 5), ST_FULL);
	assert_int_equal(pool_submit_wait(p, &c.task, 5000), ST_OK);
	pool_free(p); /* runs what waits */
	assert_int_equal(atomic_load(&c.runs), 1);
}

/* A cancelled request is answered while every worker is busy (REQ: L6). */
static void test_stale_task_overtakes(void **state)
{
	struct work slow, waiting;
	struct pool *p;
	uint64_t began;

	(void)state;
	prepare(&slow, 600);
	prepare(&waiting, 0);
	assert_int_equal(pool_new(1, 8, &p, NULL), ST_OK);
	assert_int_equal(pool_submit(p, &slow.task), ST_OK);
	while (pool_busy(p) == 0)
		clock_sleep_ms(1);
	assert_int_equal(pool_submit(p, &waiting.task), ST_OK);
	began = clock_mono_ms();
	atomic_store(&waiting.stale, true);
	while (atomic_load(&waiting.runs) == 0 && clock_mono_ms() - began < 5000)
		clock_sleep_ms(1);
	assert_int_equal(atomic_load(&waiting.runs), 1);
	assert_int_equal(atomic_load(&slow.runs), 0);
	assert_false(pool_drain(p, 1));
	pool_free(p);
	assert_int_equal(atomic_load(&waiting.runs), 1);
	assert_int_equal(atomic_load(&slow.runs), 1);
}

/* However many slow tasks wait, others find a worker. */
static void test_slow_tasks_leave_workers_free(void **state)
{
	struct work slow[6], quick;
	struct pool *p;

	(void)state;
	assert_int_equal(pool_new(4, 100, &p, NULL), ST_OK);
	for (int i = 0; i < 6; i++) {
		prepare(&slow[i], 300);
		slow[i].task.slow = true;
		assert_int_equal(pool_submit(p, &slow[i].task), ST_OK);
	}
	while (pool_busy(p) < 2)
		clock_sleep_ms(1);
	prepare(&quick, 0);
	assert_int_equal(pool_submit(p, &quick.task), ST_OK);
	clock_sleep_ms(100);
	assert_int_equal(atomic_load(&quick.runs), 1);
	assert_int_equal(pool_busy(p), 2);
	pool_free(p); /* at the end all run, with every worker */
	for (int i = 0; i < 6; i++)
		assert_int_equal(atomic_load(&slow[i].runs), 1);
}

static void test_bad_sizes(void **state)
{
	struct pool *p = NULL;
	struct error e;

	(void)state;
	assert_int_equal(pool_new(0, 1, &p, &e), ST_INVALID);
	assert_int_equal(pool_new(1, 0, &p, &e), ST_INVALID);
	assert_null(p);
	pool_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_task_runs_once),
		cmocka_unit_test(test_full_queue_refuses),
		cmocka_unit_test(test_stale_task_overtakes),
		cmocka_unit_test(test_slow_tasks_leave_workers_free),
		cmocka_unit_test(test_bad_sizes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
