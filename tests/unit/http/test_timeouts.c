/*
 * test_timeouts.c: clients that are slow, silent, or only half there.
 * REQ: T11, HTTP-04.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>
#include <sys/socket.h>

#include "fixture.h"
#include "util/clock.h"
#include "util/gauge.h"
#include "wire.h"

#define HEAD "POST /rcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"

static int setup_short(void **state)
{
	(void)state;
	fixture_reset();
	fixture.cfg.idle_timeout_s = 1;
	fixture.cfg.body_timeout_s = 2;
	fixture.cfg.max_connections = 20;
	fixture_start();
	return 0;
}

/* More sockets than the limit, all of them useless; soon there is room again. */
static void silent_clients_hold_no_slot(void **state)
{
	struct wire w[30];
	struct answer a;
	uint64_t start = clock_mono_ms();

	(void)state;
	for (int i = 0; i < 30; i++) {
		wire_open(&w[i]);
		if (i % 3 == 1)
			wire_sends(&w[i], "POST /rcp HTTP/1.1\r\nHos");
		if (i % 3 == 2)
			wire_post(&w[i], "/rcp/ping", "", PING);
	}
	a = post_once("/rcp/ping", "", PING);
	assert_int_equal(a.status, 200);
	answer_release(&a);
	assert_true(clock_mono_ms() - start < 8000);
	assert_true(gauge_get(GAUGE_CONNECTIONS) <= 20);
	for (int i = 0; i < 30; i++)
		wire_close(&w[i]);
	assert_true(gauge_reaches(GAUGE_CONNECTIONS, 0, 5000));
}

/* A byte now and then keeps nobody in: the limits count from the start. */
static void dribbling_is_cut(void **state)
{
	static const char *const heads[] = { "", HEAD, HEAD "Content-Length: 1000\r\n\r\n" };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct wire w;
		uint64_t start = clock_mono_ms();

		wire_open(&w);
		wire_sends(&w, heads[i]);
		while (wire_try_send(&w, "x", 1) && clock_mono_ms() - start < 6000)
			clock_sleep_ms(100);
		assert_true(clock_mono_ms() - start < 4500);
		wire_close(&w);
	}
	assert_true(gauge_reaches(GAUGE_EXCHANGES, 0, 2000));
}

/* A request that waits for its answer is not idle. */
static void waiting_for_an_answer_is_not_idle(void **state)
{
	struct answer a = post_once("/rcp", "",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"nap\",\"params\":{\"ms\":3000}}");

	(void)state;
	assert_int_equal(a.status, 200);
	assert_non_null(strstr(a.body.data, "\"n\":3000"));
	answer_release(&a);
}

/* A client that sends half a request, or a whole one, and its FIN in one go. */
static void half_closed_clients_are_let_go(void **state)
{
	static const char *const sends[] = { "", "POST /rc", HEAD,
		HEAD "Content-Length: 9\r\n\r\n{",
		"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n" };

	(void)state;
	fixture_reset();
	fixture_start();
	for (size_t i = 0; i < 5; i++) {
		struct wire w;
		uint64_t start = clock_mono_ms();

		wire_open(&w);
		wire_sends(&w, sends[i]);
		assert_int_equal(shutdown(w.fd, SHUT_WR), 0);
		while (wire_fill(&w, 5000) > 0)
			;
		assert_true(clock_mono_ms() - start < 2000);
		if (i == 4) /* the answer comes all the same */
			assert_non_null(strstr(w.in.data, "\"ok\""));
		else
			assert_int_equal(w.in.len, 0);
		wire_close(&w);
	}
	assert_true(gauge_reaches(GAUGE_CONNECTIONS, 0, 2000));
	fixture_stop();
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup_short, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(silent_clients_hold_no_slot),
		T(dribbling_is_cut),
		T(waiting_for_an_answer_is_not_idle),
		cmocka_unit_test(half_closed_clients_are_let_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
