/*
 * test_readers.c: clients that read slowly, or not at all, and what their answers
 * cost meanwhile. REQ: T4, T7, T11, L7, K1
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "fixture.h"
#include "util/clock.h"
#include "util/gauge.h"
#include "wire.h"

#define SSE "Accept: text/event-stream\r\n"
#define MIB (1U << 20)
#define BIG(id, size)                                                                              \
	"{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"big\",\"params\":{\"size\":" size "}}"
#define STEPS(ms, n, size)                                                                         \
	"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"steps\",\"params\":{\"ms\":" ms ",\"n\":" n    \
	",\"size\":" size ",\"_meta\":{\"progressToken\":\"t\"}}}"

/* A client whose system takes little from the wire at a time. */
static void narrow_open(struct wire *w)
{
	int bytes = 8192;

	wire_open(w);
	assert_int_equal(setsockopt(w->fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof(bytes)), 0);
}

static int setup_hasty(void **state)
{
	(void)state;
	fixture_reset();
	fixture.cfg.write_timeout_s = 1;
	fixture_start();
	return 0;
}

/* One frame larger than what may wait: a reader that keeps up loses at most that
 * frame, and never the response. REQ: T4, L7 */
static void a_large_frame_does_not_cut_its_reader(void **state)
{
	static const char *const steps[] = { STEPS("50", "3", "600000"), STEPS("0", "20", "600000"),
		STEPS("0", "1", "3000000") };
	int least[] = { 3, 1, 1 };

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct answer a = post_once("/rcp/steps", SSE, steps[i]);
		const char *at = a.body.data;
		int frames = 0;

		for (; (at = strstr(at, "notifications/progress")); at++)
			frames++;
		assert_true(frames >= least[i]);
		assert_non_null(strstr(a.body.data, "\"id\":1,\"result\""));
		assert_string_equal(a.body.data + a.body.len - 2, "\n\n");
		answer_release(&a);
	}
}

/* Steady at a tenth of a megabyte a second, far longer than write_timeout. */
static void a_slow_reader_is_not_cut(void **state)
{
	static const char *const accepts[] = { SSE, "" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct wire w;
		char piece[10240];
		uint64_t end = clock_mono_ms() + 5000;

		narrow_open(&w);
		wire_post(&w, "/rcp/big", accepts[i], BIG("1", "20000000"));
		while (clock_mono_ms() < end) {
			assert_true(recv(w.fd, piece, sizeof(piece), 0) > 0);
			clock_sleep_ms(100);
		}
		assert_int_equal(gauge_get(GAUGE_EXCHANGES), 1);
		wire_close(&w);
		assert_true(gauge_reaches(GAUGE_EXCHANGES, 0, 5000));
	}
}

/* Event stream or not. REQ: T11, K1 */
static void a_reader_that_stopped_is_cut(void **state)
{
	static const char *const accepts[] = { SSE, "" };

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		struct wire w;
		uint64_t start;

		narrow_open(&w);
		wire_post(&w, "/rcp/big", accepts[i], BIG("1", "20000000"));
		assert_true(wire_until(&w, "\"text\"", 5000));
		start = clock_mono_ms();
		assert_true(gauge_reaches(GAUGE_CONNECTIONS, 0, 5000));
		assert_true(clock_mono_ms() - start >= 900);
		wire_close(&w);
	}
}

/* A request whose answer took a while is still held to idle_timeout by the library
 * on the same connection. */
static void the_next_request_has_its_timeout(void **state)
{
	struct wire w;
	struct answer a;

	(void)state;
	fixture_reset();
	fixture.cfg.idle_timeout_s = 1;
	fixture_start();
	wire_open(&w);
	wire_post(&w, "/rcp/big", "", BIG("1", "20000000"));
	clock_sleep_ms(1600); /* swept, and not cut: write_timeout is 30 s here */
	a = wire_answer(&w, false);
	assert_int_equal(a.status, 200);
	assert_true(a.body.len > 20000000);
	answer_release(&a);
	wire_sends(&w,
		"POST /rcp HTTP/1.1\r\nHost: localhost\r\n"
		"Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{");
	assert_true(wire_ends(&w, 4000));
	wire_close(&w);
	fixture_stop();
}

/* Large answers that wait for their readers are bounded all together; who comes too
 * late is told to come back, small ones pass. REQ: K1, D14 */
static void unread_answers_have_a_budget(void **state)
{
	static const char *const accepts[] = { "", SSE };

	(void)state;
	fixture_reset();
	fixture.cfg.max_body_total = 40 * MIB;
	fixture_start();
	for (int i = 0; i < 2; i++) {
		struct wire held[3];
		struct answer a;

		for (int j = 0; j < 3; j++) { /* 16 MiB of memory each */
			narrow_open(&held[j]);
			wire_post(&held[j], "/rcp/big", "", BIG("1", "16000000"));
			if (j < 2)
				assert_true(wire_until(&held[j], "\"text\"", 10000));
		}
		assert_true(wire_until(&held[2], "-32010", 10000));
		a = post_once("/rcp/big", accepts[i], BIG("\"a\\\",b\"", "16000000"));
		assert_int_equal(a.status, i ? 200 : 503);
		assert_non_null(
			strstr(a.body.data, "\"id\":\"a\\\",b\",\"error\":{\"code\":-32010"));
		if (!i)
			assert_string_equal(answer_header(&a, "Retry-After"), "1");
		else
			assert_string_equal(a.body.data + a.body.len - 2, "\n\n");
		answer_release(&a);
		a = post_once("/rcp/big", accepts[i], BIG("2", "10000"));
		assert_non_null(strstr(a.body.data, "\"id\":2,\"result\""));
		answer_release(&a);
		for (int j = 0; j < 3; j++)
			wire_close(&held[j]);
		assert_true(gauge_reaches(GAUGE_CONNECTIONS, 0, 5000));
		/* One alone passes, were it larger than all of the budget. */
		a = post_once("/rcp/big", accepts[i], BIG("3", "60000000"));
		assert_int_equal(a.status, 200);
		assert_true(a.body.len > 60000000);
		answer_release(&a);
	}
	fixture_stop();
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup_hasty, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_large_frame_does_not_cut_its_reader,
			setup_default, teardown),
		T(a_slow_reader_is_not_cut),
		T(a_reader_that_stopped_is_cut),
		cmocka_unit_test(the_next_request_has_its_timeout),
		cmocka_unit_test(unread_answers_have_a_budget),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
