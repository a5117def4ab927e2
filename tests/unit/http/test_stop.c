/*
 * test_stop.c: draining and stopping, with everything in flight. REQ: SSE-03, D14.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <stdlib.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fixture.h"
#include "util/clock.h"
#include "util/gauge.h"
#include "wire.h"

#define SSE "Accept: text/event-stream\r\n"
#define LONG_NAP                                                                                   \
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"steps\",\"params\":{\"ms\":15000,\"n\":1}}"

/* 50 suspended, half of them streams, most still queued: every one is answered
 * (cancelled) or cut, and nothing hangs. */
static void fifty_suspended_at_stop(void **state)
{
	struct wire w[50];
	uint64_t start;
	int finals = 0;

	(void)state;
	fixture_reset();
	fixture_start();
	for (int i = 0; i < 50; i++) {
		wire_open(&w[i]);
		wire_post(&w[i], "/rcp", i % 2 ? SSE : "", LONG_NAP);
	}
	assert_true(gauge_reaches(GAUGE_INFLIGHT, 50, 3000));
	assert_true(gauge_reaches(GAUGE_STREAMS, 25, 3000));
	start = clock_mono_ms();
	fixture_stop();
	assert_true(clock_mono_ms() - start < 3000);
	for (int i = 0; i < 50; i++) {
		while (wire_fill(&w[i], 1000) > 0)
			;
		if (w[i].in.len && strstr(w[i].in.data, "-32006"))
			finals++;
		wire_close(&w[i]);
	}
	assert_int_equal(finals, 50);
}

/* Workers that do not end: stop does not wait for them, and what they do later
 * touches nothing that is gone. */
static void workers_may_outlive_the_server(void **state)
{
	struct wire w[8];
	struct http *http;
	uint64_t start;

	(void)state;
	fixture_reset();
	fixture.workers = 1;
	fixture_start();
	for (int i = 0; i < 8; i++) {
		wire_open(&w[i]);
		wire_post(&w[i], "/rcp", i % 2 ? SSE : "",
			"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"deaf\",\"params\":{\"ms\":1500}}");
	}
	assert_true(gauge_reaches(GAUGE_INFLIGHT, 8, 3000));
	start = clock_mono_ms();
	http = fixture.http;
	fixture.http = NULL;
	http_stop(http);
	assert_true(clock_mono_ms() - start < 1400);
	assert_true(gauge_get(GAUGE_EXCHANGES) > 0); /* the worker's */
	assert_int_equal(gauge_get(GAUGE_CONNECTIONS), 0);
	fixture_stop();
	for (int i = 0; i < 8; i++)
		wire_close(&w[i]);
}

static void bodies_in_mid_air_at_stop(void **state)
{
	struct wire w[10];

	(void)state;
	fixture_reset();
	fixture_start();
	for (int i = 0; i < 10; i++) {
		wire_open(&w[i]);
		wire_sends(&w[i],
			i % 2 ? "POST /rcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
				"application/json\r\nContent-Length: 1000\r\n\r\n{\"a\":"
			      : "POST /rcp HTTP/1.1\r\nHost:");
	}
	assert_true(gauge_reaches(GAUGE_EXCHANGES, 10, 3000));
	fixture_stop();
	for (int i = 0; i < 10; i++)
		wire_close(&w[i]);
}

static bool accepts(uint16_t port)
{
	struct sockaddr_in in4 = { .sin_family = AF_INET, .sin_port = htons(port) };
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	bool ok;

	in4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	ok = connect(fd, (const struct sockaddr *)&in4, sizeof(in4)) == 0;
	close(fd);
	return ok;
}

/* REQ: D14 */
static void draining_refuses_new_work_and_finishes_old(void **state)
{
	struct wire idle, busy;
	struct answer a;
	uint16_t port;

	(void)state;
	fixture_reset();
	fixture_start();
	port = fixture_port();
	wire_open(&idle);
	wire_open(&busy);
	wire_post(&idle, "/rcp/ping", "", PING);
	a = wire_answer(&idle, false);
	assert_int_equal(a.status, 200);
	answer_release(&a);
	wire_post(&busy, "/rcp", "",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"nap\",\"params\":{\"ms\":600}}");
	assert_true(gauge_reaches(GAUGE_INFLIGHT, 1, 2000));
	assert_true(accepts(port));
	http_drain(fixture.http);
	http_drain(fixture.http); /* twice is fine */
	assert_false(accepts(port));
	wire_sends(&idle, "GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n");
	a = wire_answer(&idle, false);
	assert_int_equal(a.status, 503);
	assert_string_equal(answer_header(&a, "Connection"), "close");
	assert_true(wire_ends(&idle, 2000));
	answer_release(&a);
	a = wire_answer(&busy, false);
	assert_int_equal(a.status, 200);
	assert_non_null(strstr(a.body.data, "\"n\":600"));
	answer_release(&a);
	wire_close(&idle);
	wire_close(&busy);
	fixture_stop();
}

static void a_post_while_draining_is_503(void **state)
{
	struct wire w;
	struct answer a;

	(void)state;
	fixture_reset();
	fixture_start();
	wire_open(&w);
	wire_post(&w, "/rcp/ping", "", PING);
	a = wire_answer(&w, false);
	answer_release(&a);
	http_drain(fixture.http);
	wire_post(&w, "/rcp/ping", "", PING);
	a = wire_answer(&w, false);
	assert_int_equal(a.status, 503);
	assert_non_null(strstr(a.body.data, "-32010"));
	assert_non_null(answer_header(&a, "Retry-After"));
	assert_string_equal(answer_header(&a, "Connection"), "close");
	answer_release(&a);
	wire_close(&w);
	fixture_stop();
}

static void stopping_nothing_is_fine(void **state)
{
	(void)state;
	http_stop(NULL);
	fixture_reset();
	fixture_start();
	fixture_stop();
	fixture_reset();
	fixture.cfg.threads = 4;
	fixture_start();
	fixture_stop();
}

/* Starting fails cleanly, and says why. */
static void what_cannot_start_says_why(void **state)
{
	static const struct {
		const char *listen, *base;
		unsigned threads;
		enum status st;
	} bad[] = {
		{ "nowhere", "/rcp", 1, ST_INVALID },
		{ "192.0.2.77:1", "/rcp", 1, ST_IO },
		{ "127.0.0.1:0", "rcp", 1, ST_INVALID },
		{ "127.0.0.1:0", "/rcp", 0, ST_INVALID },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct http_hooks hooks = { 0 };
		struct http *http = NULL;
		struct error e = { 0 };

		fixture_reset();
		fixture.cfg.listen = bad[i].listen;
		fixture.cfg.base = bad[i].base;
		fixture.cfg.threads = bad[i].threads;
		assert_int_equal(http_start(&fixture.cfg, &hooks, &http, &e), bad[i].st);
		assert_null(http);
		assert_true(e.message[0]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(fifty_suspended_at_stop),
		cmocka_unit_test(workers_may_outlive_the_server),
		cmocka_unit_test(bodies_in_mid_air_at_stop),
		cmocka_unit_test(draining_refuses_new_work_and_finishes_old),
		cmocka_unit_test(a_post_while_draining_is_503),
		cmocka_unit_test(stopping_nothing_is_fine),
		cmocka_unit_test(what_cannot_start_says_why),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
