/*
 * test_streams.c: event streams: framing, forms, hang-ups, slow readers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include "fixture.h"
#include "util/clock.h"
#include "util/gauge.h"
#include "wire.h"

#define SSE "Accept: text/event-stream\r\n"
#define STEPS(id, ms, n, meta)                                                                     \
	"{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"steps\",\"params\":{\"ms\":" ms           \
	",\"n\":" n meta "}}"
#define TOKEN ",\"_meta\":{\"progressToken\":\"t\"}"

static void assert_stream_head(struct wire *w)
{
	struct answer a = { .head = STRBUF_INIT };

	assert_true(wire_until(w, "\r\n\r\n", 2000));
	strbuf_adds(&a.head, w->in.data);
	assert_memory_equal(a.head.data, "HTTP/1.1 200", 12);
	assert_string_equal(answer_header(&a, "Content-Type"), "text/event-stream");
	assert_non_null(strstr(answer_header(&a, "Cache-Control"), "no-cache"));
	assert_string_equal(answer_header(&a, "X-Accel-Buffering"), "no");
	answer_release(&a);
}

static unsigned count(const char *hay, const char *needle)
{
	unsigned n = 0;

	while ((hay = strstr(hay, needle))) {
		n++;
		hay += strlen(needle);
	}
	return n;
}

/* Frames are single data lines, the response comes last, then the end. REQ: T4, T6 */
static void frames_then_the_response(void **state)
{
	struct answer a = post_once("/rcp/steps", SSE, STEPS("7.0", "1", "3", TOKEN));

	(void)state;
	assert_int_equal(a.status, 200);
	assert_true(a.chunked);
	assert_int_equal(count(a.body.data, "data: "), 4);
	assert_int_equal(count(a.body.data, "\n\n"), 4);
	assert_int_equal(count(a.body.data, "\n"), 8);
	assert_int_equal(count(a.body.data, "notifications/progress"), 3);
	assert_int_equal(count(a.body.data, "\"id\":7.0"), 1);
	assert_string_equal(a.body.data + a.body.len - 3, "}\n\n");
	assert_non_null(strstr(strstr(a.body.data, "\"id\":7.0"), "\"result\""));
	answer_release(&a);
	/* Nobody asked for progress: the final frame alone. */
	a = post_once("/rcp/steps", SSE, STEPS("1", "1", "3", ""));
	assert_int_equal(count(a.body.data, "data: "), 1);
	answer_release(&a);
}

/* Each frame, and the head before it, is there while the worker still works.
 * REQ: T4, SSE-01 */
static void frames_leave_at_once(void **state)
{
	struct wire w;
	uint64_t start;

	(void)state;
	wire_open(&w);
	start = clock_mono_ms();
	wire_post(&w, "/rcp/steps", SSE, STEPS("1", "300", "2", TOKEN));
	assert_stream_head(&w);
	assert_true(wire_until(&w, "notifications/progress", 200));
	assert_true(clock_mono_ms() - start < 250);
	assert_true(wire_until(&w, "\"progress\":0.5", 400));
	assert_true(clock_mono_ms() - start < 550);
	assert_true(wire_until(&w, "0\r\n\r\n", 600));
	wire_close(&w);
	/* Headers do not wait for a first frame. */
	wire_open(&w);
	wire_post(&w, "/rcp/steps", SSE, STEPS("1", "300", "1", ""));
	start = clock_mono_ms();
	assert_stream_head(&w);
	assert_true(clock_mono_ms() - start < 200);
	assert_true(wire_until(&w, "0\r\n\r\n", 600));
	/* And the connection can be used again. */
	strbuf_reset(&w.in);
	wire_post(&w, "/rcp/steps", SSE, STEPS("1", "1", "1", ""));
	assert_stream_head(&w);
	wire_close(&w);
}

/* REQ: T4, T5, D16, SSE-04 */
static void everything_else_is_plain_json(void **state)
{
	static const struct {
		const char *headers, *body;
		int status;
	} plain[] = {
		{ "", STEPS("1", "1", "2", TOKEN), 200 },
		{ "Accept: */*\r\n", STEPS("1", "1", "2", TOKEN), 200 },
		{ "Accept: text/event-stream;q=0\r\n", STEPS("1", "1", "2", TOKEN), 200 },
		{ SSE, PING, 200 },
		{ SSE, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"echo\"}", 200 },
		{ SSE, "[" STEPS("1", "1", "2", TOKEN) "]", 200 },
		{ SSE, STEPS("1", "-1", "2", TOKEN), 200 }, /* bad params: before the start */
		{ SSE, STEPS("true", "1", "2", TOKEN), 200 },
		{ SSE, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"nope\"}", 200 },
		{ SSE, "{", 400 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(plain) / sizeof(plain[0]); i++) {
		struct answer a = post_once("/rcp", plain[i].headers, plain[i].body);

		assert_int_equal(a.status, plain[i].status);
		assert_string_equal(answer_header(&a, "Content-Type"), "application/json");
		assert_non_null(answer_header(&a, "Content-Length"));
		assert_null(strstr(a.body.data, "data: "));
		answer_release(&a);
	}
}

/* A body too large for the I/O thread follows the same rule. */
static void large_requests_stream_too(void **state)
{
	struct strbuf body = STRBUF_INIT;
	struct answer a;

	(void)state;
	strbuf_adds(&body,
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"steps\",\"params\":{\"ms\":1,\"n\":2,");
	strbuf_adds(&body, "\"_meta\":{\"progressToken\":1},\"text\":\"");
	for (int i = 0; i < 50000; i++)
		strbuf_addc(&body, 'a');
	strbuf_adds(&body, "\"}}");
	a = post_once("/rcp/steps", SSE, body.data);
	assert_string_equal(answer_header(&a, "Content-Type"), "text/event-stream");
	assert_int_equal(count(a.body.data, "data: "), 3);
	answer_release(&a);
	a = post_once("/rcp/echo", SSE, body.data); /* wrong path: an error before the start */
	assert_string_equal(answer_header(&a, "Content-Type"), "application/json");
	answer_release(&a);
	body.data[body.len - 1] = ' ';
	a = post_once("/rcp/steps", SSE, body.data);
	assert_int_equal(a.status, 400);
	answer_release(&a);
	strbuf_release(&body);
}

/* HTTP/1.0 has no chunks: the end of the stream is the end of the connection. */
static void streams_over_http10(void **state)
{
	static const char body[] = STEPS("1", "5", "3", TOKEN);
	struct strbuf sb = STRBUF_INIT;
	struct answer a;

	(void)state;
	strbuf_addf(&sb,
		"POST /rcp/steps HTTP/1.0\r\nContent-Type: application/json\r\n" SSE
		"Content-Length: %zu\r\n\r\n%s",
		strlen(body), body);
	a = raw_once(sb.data);
	assert_false(a.chunked);
	assert_int_equal(count(a.body.data, "data: "), 4);
	answer_release(&a);
	strbuf_release(&sb);
}

/* A final frame larger than any buffer, streamed and buffered. */
static void large_results_arrive_whole(void **state)
{
	static const char body[] =
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"big\",\"params\":{\"size\":3000000}}";
	struct answer a = post_once("/rcp/big", SSE, body);

	(void)state;
	assert_true(a.chunked);
	assert_true(a.body.len > 3000000);
	assert_memory_equal(a.body.data, "data: {\"jsonrpc\"", 16);
	assert_string_equal(a.body.data + a.body.len - 6, "x\"}}\n\n");
	answer_release(&a);
	a = post_once("/rcp/big", "", body);
	assert_false(a.chunked);
	assert_true(a.body.len > 3000000);
	answer_release(&a);
}

/* REQ: SSE-05 */
static void silent_streams_have_a_heartbeat(void **state)
{
	struct wire w;

	(void)state;
	fixture_reset();
	fixture.cfg.heartbeat_s = 1;
	fixture_start();
	wire_open(&w);
	wire_post(&w, "/rcp/steps", SSE, STEPS("1", "3500", "1", ""));
	assert_stream_head(&w);
	assert_true(wire_until(&w, "0\r\n\r\n", 5000));
	assert_in_range(count(w.in.data, "\r\n:\n\n\r\n"), 2, 3);
	assert_int_equal(count(w.in.data, "data: "), 1);
	wire_close(&w);
	fixture_stop();
}

static void leave(struct wire *w, int how)
{
	if (how == 0) {
		wire_close(w);
	} else if (how == 1) {
		wire_reset(w);
	} else { /* a half-close counts as gone: D17 */
		assert_int_equal(shutdown(w->fd, SHUT_WR), 0);
		assert_true(wire_until(w, "no such thing", 1000) == false);
		wire_close(w);
	}
}

/* Work stops and its slot is free again, whatever way the client went, streaming
 * or waiting. REQ: T7, D17, SSE-02 */
static void hanging_up_cancels(void **state)
{
	(void)state;
	for (int how = 0; how < 6; how++) {
		int stopped = atomic_load(&fixture.naps_stopped);
		struct wire w;
		uint64_t start;

		wire_open(&w);
		if (how % 2)
			wire_post(&w, "/rcp/steps", SSE, STEPS("1", "20000", "2", TOKEN));
		else
			wire_post(&w, "/rcp", "",
				"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"nap\","
				"\"params\":{\"ms\":15000}}");
		assert_true(gauge_reaches(GAUGE_INFLIGHT, 1, 2000));
		clock_sleep_ms(30);
		start = clock_mono_ms();
		leave(&w, how / 2);
		assert_true(gauge_reaches(GAUGE_INFLIGHT, 0, 2000));
		assert_true(gauge_reaches(GAUGE_CONNECTIONS, 0, 2000));
		assert_true(gauge_reaches(GAUGE_EXCHANGES, 0, 2000));
		assert_true(clock_mono_ms() - start < 2000);
		assert_int_equal(atomic_load(&fixture.naps_stopped), stopped + 1);
	}
	assert_int_equal(gauge_get(GAUGE_STREAMS), 0);
}

/* Clients that leave while a worker parses their message: whatever the moment, the
 * request is out of the table of those in flight before its memory is freed. */
static void hanging_up_while_parsing(void **state)
{
	struct strbuf body = STRBUF_INIT;
	struct answer a;

	(void)state;
	strbuf_adds(&body, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"steps\",");
	strbuf_adds(&body, "\"params\":{\"ms\":1,\"n\":1,\"x\":[0");
	for (int i = 0; i < 200000; i++)
		strbuf_adds(&body, ",1");
	strbuf_adds(&body, "]}}");
	for (int i = 0; i < 60; i++) {
		struct wire w;

		wire_open(&w);
		wire_post(&w, "/rcp/steps", SSE, body.data);
		assert_true(gauge_reaches(GAUGE_REQUESTS, 1, 2000));
		clock_sleep_ms((unsigned)i % 20);
		wire_reset(&w);
		assert_true(gauge_reaches(GAUGE_EXCHANGES, 0, 2000));
		a = post_once("/rcp", "", STEPS("1", "0", "1", ""));
		assert_int_equal(a.status, 200);
		answer_release(&a);
		assert_true(gauge_reaches(GAUGE_REQUESTS, 0, 2000));
	}
	strbuf_release(&body);
}

/* 100 at once, most of them still waiting for a worker. REQ: SSE-02 */
static void a_hundred_hang_up(void **state)
{
	struct wire w[100];
	struct answer a;

	(void)state;
	for (int i = 0; i < 100; i++) {
		wire_open(&w[i]);
		wire_post(&w[i], "/rcp/steps", SSE, STEPS("1", "15000", "1", TOKEN));
	}
	assert_true(gauge_reaches(GAUGE_STREAMS, 100, 3000));
	for (int i = 0; i < 100; i++)
		i % 2 ? wire_close(&w[i]) : wire_reset(&w[i]);
	assert_true(gauge_reaches(GAUGE_INFLIGHT, 0, 3000));
	assert_true(gauge_reaches(GAUGE_CONNECTIONS, 0, 3000));
	a = post_once("/rcp/echo", "", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"echo\"}");
	assert_int_equal(a.status, 200);
	answer_release(&a);
}

/* The queue behind a reader that does not read is bounded, and so is its stay. */
static void a_reader_that_does_not_read_is_cut(void **state)
{
	int stopped = atomic_load(&fixture.naps_stopped);
	struct wire w;

	(void)state;
	wire_open(&w);
	wire_post(&w, "/rcp/steps", SSE,
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"steps\",\"params\":{\"ms\":1,\"n\":100000,"
		"\"size\":60000" TOKEN "}}");
	assert_true(gauge_reaches(GAUGE_STREAMS, 1, 2000));
	assert_true(gauge_reaches(GAUGE_STREAMS, 0, 10000));
	assert_true(gauge_reaches(GAUGE_INFLIGHT, 0, 2000));
	assert_int_equal(atomic_load(&fixture.naps_stopped), stopped + 1);
	wire_close(&w);
}

static void a_stalled_reader_is_timed_out(void **state)
{
	struct wire w;
	uint64_t start;

	(void)state;
	fixture_reset();
	fixture.cfg.write_timeout_s = 1;
	fixture_start();
	wire_open(&w);
	wire_post(&w, "/rcp/big", SSE,
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"big\",\"params\":{\"size\":20000000}}");
	assert_true(gauge_reaches(GAUGE_STREAMS, 1, 2000));
	start = clock_mono_ms();
	assert_true(gauge_reaches(GAUGE_CONNECTIONS, 0, 6000));
	assert_true(clock_mono_ms() - start >= 900);
	wire_close(&w);
	fixture_stop();
}

/* Workers that end before, while or after the connection is suspended. REQ: SSE-03 */
static void quick_workers_race_the_suspension(void **state)
{
	struct wire w;

	(void)state;
	wire_open(&w);
	for (int i = 0; i < 1000; i++) {
		struct answer a;

		wire_post(&w, "/rcp", i % 2 ? SSE : "",
			i % 3 ? STEPS("1", "0", "2", TOKEN)
			      : "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"echo\"}");
		a = wire_answer(&w, false);
		assert_int_equal(a.status, 200);
		assert_non_null(strstr(a.body.data, "\"n\":"));
		answer_release(&a);
	}
	wire_close(&w);
}

/* A full queue is told before a stream starts, as plain JSON. REQ: D14 */
static void a_full_queue_is_503(void **state)
{
	struct wire w[8];
	struct answer a;

	(void)state;
	fixture_reset();
	fixture.workers = 1;
	fixture.queue = 4;
	fixture_start();
	for (int i = 0; i < 5; i++) {
		wire_open(&w[i]);
		wire_post(&w[i], "/rcp/steps", SSE, STEPS("1", "15000", "1", ""));
		assert_true(gauge_reaches(GAUGE_INFLIGHT, i + 1, 2000));
		clock_sleep_ms(20);
	}
	a = post_once("/rcp/steps", SSE, STEPS("5", "1", "1", TOKEN));
	assert_int_equal(a.status, 503);
	assert_string_equal(answer_header(&a, "Retry-After"), "1");
	assert_string_equal(answer_header(&a, "Content-Type"), "application/json");
	assert_non_null(strstr(a.body.data, "-32010"));
	answer_release(&a);
	/* Ping and health do not care. */
	a = post_once("/rcp/ping", "", PING);
	assert_int_equal(a.status, 200);
	answer_release(&a);
	for (int i = 0; i < 5; i++)
		wire_close(&w[i]);
	assert_true(gauge_reaches(GAUGE_INFLIGHT, 0, 3000));
	fixture_stop();
}

/* Waiting streams cost no CPU. */
static void waiting_does_not_spin(void **state)
{
	struct wire w;
	struct rusage before, after;
	int64_t us;

	(void)state;
	wire_open(&w);
	wire_post(&w, "/rcp/steps", SSE, STEPS("1", "1000", "1", ""));
	assert_stream_head(&w);
	getrusage(RUSAGE_SELF, &before);
	clock_sleep_ms(800);
	getrusage(RUSAGE_SELF, &after);
	us = (after.ru_utime.tv_sec - before.ru_utime.tv_sec + after.ru_stime.tv_sec -
		     before.ru_stime.tv_sec) *
			1000000 +
		after.ru_utime.tv_usec - before.ru_utime.tv_usec + after.ru_stime.tv_usec -
		before.ru_stime.tv_usec;
	assert_true(us < 300000);
	wire_close(&w);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup_default, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(frames_then_the_response),
		T(frames_leave_at_once),
		T(everything_else_is_plain_json),
		T(large_requests_stream_too),
		T(streams_over_http10),
		T(large_results_arrive_whole),
		cmocka_unit_test(silent_streams_have_a_heartbeat),
		T(hanging_up_cancels),
		T(hanging_up_while_parsing),
		T(a_hundred_hang_up),
		T(a_reader_that_does_not_read_is_cut),
		cmocka_unit_test(a_stalled_reader_is_timed_out),
		T(quick_workers_race_the_suspension),
		cmocka_unit_test(a_full_queue_is_503),
		T(waiting_does_not_spin),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
