/* The gate between writers and a change of vectors: who waits for whom, and giving up. */
#include "../unit.h"

#include <pthread.h>
#include <stdatomic.h>

#include "pipeline/gate.h"
#include "util/clock.h"
#include "util/mem.h"

static struct ingest_gate *gate;
static atomic_int inside, most, closes, broken;

static bool no(void *arg)
{
	(void)arg;
	return false;
}

static bool yes(void *arg)
{
	atomic_fetch_add((atomic_int *)arg, 1);
	return true;
}

static const struct engine_stop never = { no, NULL };

static int setup(void **state)
{
	struct error e;

	(void)state;
	return ingest_gate_new(&gate, &e);
}

static int teardown(void **state)
{
	(void)state;
	ingest_gate_free(gate);
	return 0;
}

static void test_writers_share_it(void **state)
{
	struct error e;

	(void)state;
	assert_int_equal(ingest_gate_enter(gate, &never, &e), ST_OK);
	assert_int_equal(ingest_gate_enter(gate, NULL, &e), ST_OK);
	ingest_gate_leave(gate);
	ingest_gate_leave(gate);
	assert_int_equal(ingest_gate_close(gate, &never, &e), ST_OK);
	ingest_gate_open(gate);
	assert_int_equal(ingest_gate_enter(gate, &never, &e), ST_OK);
	ingest_gate_leave(gate);
}

/* Who gives up has changed nothing. */
static void test_waiting_can_be_called_off(void **state)
{
	atomic_int asked = 0;
	const struct engine_stop stop = { yes, &asked };
	struct error e;

	(void)state;
	assert_int_equal(ingest_gate_enter(gate, &never, &e), ST_OK);
	assert_int_equal(ingest_gate_close(gate, &stop, &e), ST_CANCELLED);
	assert_int_equal(asked, 1);
	assert_int_equal(ingest_gate_enter(gate, &never, &e), ST_OK); /* not left closed */
	ingest_gate_leave(gate);
	ingest_gate_leave(gate);
	assert_int_equal(ingest_gate_close(gate, NULL, &e), ST_OK);
	assert_int_equal(ingest_gate_enter(gate, &stop, &e), ST_CANCELLED);
	assert_int_equal(ingest_gate_close(gate, &stop, &e), ST_CANCELLED);
	assert_int_equal(asked, 3);
	ingest_gate_open(gate);
	assert_int_equal(ingest_gate_enter(gate, &stop, &e), ST_OK); /* nothing to wait for */
	ingest_gate_leave(gate);
}

static void *write_often(void *arg)
{
	(void)arg;
	for (int i = 0; i < 2000; i++) {
		struct error e;
		int now;

		if (ingest_gate_enter(gate, &never, &e))
			return NULL;
		now = atomic_fetch_add(&inside, 1) + 1;
		if (now > atomic_load(&most))
			atomic_store(&most, now);
		if (atomic_load(&closes) % 2)
			atomic_fetch_add(&broken, 1);
		atomic_fetch_sub(&inside, 1);
		ingest_gate_leave(gate);
	}
	return NULL;
}

/* A closer gets in although writers come without a pause, and is alone then. */
static void test_closing_among_writers(void **state)
{
	pthread_t writers[3];
	struct error e;

	(void)state;
	for (int i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&writers[i], NULL, write_often, NULL), 0);
	for (int i = 0; i < 20; i++) {
		assert_int_equal(ingest_gate_close(gate, NULL, &e), ST_OK);
		assert_int_equal(atomic_load(&inside), 0);
		atomic_fetch_add(&closes, 1);
		clock_sleep_ms(1);
		assert_int_equal(atomic_load(&inside), 0);
		atomic_fetch_add(&closes, 1);
		ingest_gate_open(gate);
	}
	for (int i = 0; i < 3; i++)
		pthread_join(writers[i], NULL);
	assert_int_equal(atomic_load(&broken), 0);
	assert_true(atomic_load(&most) >= 1);
}

static void test_no_memory(void **state)
{
	struct ingest_gate *g = NULL;
	struct error e;

	(void)state;
	mem_fail_after(0);
	assert_int_equal(ingest_gate_new(&g, &e), ST_NOMEM);
	mem_fail_after(-1);
	assert_null(g);
	ingest_gate_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_writers_share_it),
		cmocka_unit_test(test_waiting_can_be_called_off),
		cmocka_unit_test(test_closing_among_writers),
		cmocka_unit_test(test_no_memory),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
