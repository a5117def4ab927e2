/*
 * test_serve.c: RCP/1 over two descriptors: order, ends, slow and absent readers.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "peer.h"
#include "util/clock.h"
#include "util/gauge.h"

#define INIT                                                                                       \
	"{\"jsonrpc\":\"2.0\",\"id\":\"i\",\"method\":\"initialize\","                             \
	"\"params\":{\"protocolVersion\":1}}\n"
#define PING(id) "{\"jsonrpc\":\"2.0\",\"id\":" #id ",\"method\":\"ping\"}\n"
#define NAP(id, ms)                                                                                \
	"{\"jsonrpc\":\"2.0\",\"id\":" #id                                                         \
	",\"method\":\"nap\","                                                                     \
	"\"params\":{\"ms\":" #ms "}}\n"
#define BIG(id, n)                                                                                 \
	"{\"jsonrpc\":\"2.0\",\"id\":" #id                                                         \
	",\"method\":\"big\","                                                                     \
	"\"params\":{\"bytes\":" #n "}}\n"
#define CANCEL(rid)                                                                                \
	"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancel\","                                \
	"\"params\":{\"id\":" #rid "}}\n"
#define SHUTDOWN(id) "{\"jsonrpc\":\"2.0\",\"id\":" #id ",\"method\":\"shutdown\"}\n"

static struct peer peer;

static void start(bool sockets)
{
	peer_init(&peer, sockets, 2, 16);
	peer_start(&peer);
	peer_send(&peer, INIT);
	assert_non_null(strstr(peer_line(&peer), "\"id\":\"i\",\"result\":"));
}

static void close_to(void)
{
	if (peer.to == peer.from) {
		shutdown(peer.to, SHUT_WR);
	} else {
		close(peer.to);
		peer.to = -1;
	}
}

static void assert_next(const char *want)
{
	const char *line = peer_line(&peer);

	if (!line)
		fail_msg("the output ended where '%s' was due", want);
	if (!strstr(line, want))
		fail_msg("got '%.200s', not '%s'", line, want);
}

static void assert_end(int rc)
{
	const char *line = peer_line(&peer);

	if (line)
		fail_msg("a line after the end: '%.200s'", line);
	assert_int_equal(peer_join(&peer), rc);
}

/* REQ: S1: many messages in one write, one in many writes, blank lines, CRLF. */
static void test_framing(void **state)
{
	static const char one[] = PING(3);

	(void)state;
	start(true);
	peer_send(&peer, PING(1) "\n\r\n  \n" PING(2) "{\"jsonrpc\":\"2.0\",\"id\":9,"
			 "\"method\":\"ping\"}\r\n");
	assert_next("\"id\":1,\"result\"");
	assert_next("\"id\":2,\"result\"");
	assert_next("\"id\":9,\"result\"");
	for (size_t i = 0; i < sizeof(one) - 1; i++) {
		char piece[2] = { one[i], '\0' };

		peer_send(&peer, piece);
		clock_sleep_ms(1);
	}
	assert_next("\"id\":3,\"result\"");
	peer_send(&peer, "nonsense\n[]\n" PING(4));
	assert_next("\"id\":null,\"error\":{\"code\":-32700");
	assert_next("\"id\":null,\"error\":{\"code\":-32600");
	assert_next("\"id\":4,\"result\"");
	close_to();
	assert_end(0);
	peer_release(&peer);
}

/* REQ: S1: a line over the limit gets one error and the next line is served. */
static void test_giant_line(void **state)
{
	char *giant = malloc(200001);

	(void)state;
	assert_non_null(giant);
	memset(giant, 'x', 200000);
	giant[200000] = '\0';
	start(false);
	peer_send(&peer, giant);
	assert_next("\"id\":null,\"error\":{\"code\":-32013");
	peer_send(&peer, giant);
	peer_send(&peer, "\n" PING(1));
	assert_next("\"id\":1,\"result\"");
	close_to();
	assert_end(0);
	peer_release(&peer);
	free(giant);
}

/* REQ: S1, S3: the last line counts without its newline; EOF ends with 0. */
static void test_eof_without_newline(void **state)
{
	(void)state;
	start(false);
	peer_send(&peer, "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"ping\"}");
	close_to();
	assert_next("\"id\":5,\"result\"");
	assert_end(0);
	peer_release(&peer);
}

/* REQ: S3: what is in flight at EOF is finished and answered. */
static void test_eof_finishes_in_flight(void **state)
{
	(void)state;
	start(true);
	peer_send(&peer, NAP(1, 150) NAP(2, 100) NAP(3, 0));
	close_to();
	for (int i = 0; i < 3; i++)
		assert_next("\"result\":{\"slept\":");
	assert_end(0);
	peer_release(&peer);
}

/* What takes too long at the end is cancelled, and answered so. */
static void test_eof_cancels_in_the_end(void **state)
{
	uint64_t began = clock_mono_ms();

	(void)state;
	peer_init(&peer, false, 1, 16);
	peer.cfg.eof_ms = 100;
	peer_start(&peer);
	peer_send(&peer, INIT NAP(1, 20000) NAP(2, 20000));
	close_to();
	assert_next("\"id\":\"i\"");
	assert_next("\"error\":{\"code\":-32006");
	assert_next("\"error\":{\"code\":-32006");
	assert_end(0);
	assert_true(clock_mono_ms() - began < 5000);
	peer_release(&peer);
}

/* REQ: S3: a reader that left ends it quietly, whatever is still running. */
static void test_reader_gone(void **state)
{
	uint64_t began = clock_mono_ms();

	(void)state;
	start(false);
	peer_send(&peer, NAP(1, 20000));
	clock_sleep_ms(30);
	close(peer.from);
	peer.from = -1;
	peer_send(&peer, PING(2));
	assert_int_equal(peer_join(&peer), 0);
	assert_true(clock_mono_ms() - began < 5000);
	peer_release(&peer);
}

/* REQ: M7: a slow request never blocks a ping sent after it. */
static void test_slow_does_not_block(void **state)
{
	(void)state;
	start(true);
	peer_send(&peer, NAP(1, 300) NAP(2, 300) NAP(3, 300) PING(4));
	assert_next("\"id\":4,\"result\"");
	for (int i = 0; i < 3; i++)
		assert_next("\"slept\":300");
	close_to();
	assert_end(0);
	peer_release(&peer);
}

/* REQ: M7, L1: nothing overtakes initialize, and before it nothing is served. */
static void test_initialize_first(void **state)
{
	(void)state;
	peer_init(&peer, false, 2, 16);
	peer_start(&peer);
	peer_send(&peer, NAP(1, 0) INIT NAP(2, 0));
	assert_next("\"id\":1,\"error\":{\"code\":-32001");
	assert_next("\"id\":\"i\",\"result\"");
	assert_next("\"id\":2,\"result\"");
	close_to();
	assert_end(0);
	peer_release(&peer);
}

/* REQ: L6: a cancel right behind its request finds it, running or waiting. */
static void test_cancel(void **state)
{
	(void)state;
	peer_init(&peer, true, 1, 16);
	peer_start(&peer);
	peer_send(&peer, INIT NAP(1, 20000) NAP(2, 20000) CANCEL(2) CANCEL(1) CANCEL(77));
	assert_next("\"id\":\"i\"");
	assert_next("\"error\":{\"code\":-32006");
	assert_next("\"error\":{\"code\":-32006");
	close_to();
	assert_end(0);
	peer_release(&peer);
}

/* REQ: S4: in-flight first, then the answer to shutdown, then nothing. */
static void test_shutdown_is_last(void **state)
{
	(void)state;
	start(false);
	peer_send(&peer, NAP(1, 200) SHUTDOWN(2) PING(3) NAP(4, 0));
	assert_next("\"id\":1,\"result\"");
	assert_next("\"id\":2,\"result\":{}");
	assert_end(0);
	peer_release(&peer);
}

/* REQ: S4, M14: a shutdown inside a batch, before or behind what is slow. */
static void test_shutdown_in_batch(void **state)
{
	static const char *const batches[] = {
		"[{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"shutdown\"},{\"jsonrpc\":\"2.0\","
		"\"id\":6,\"method\":\"nap\",\"params\":{\"ms\":50}}]\n",
		"[{\"jsonrpc\":\"2.0\",\"id\":6,\"method\":\"nap\",\"params\":{\"ms\":50}},"
		"{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"shutdown\"}]\n",
	};

	(void)state;
	for (int i = 0; i < 2; i++) {
		start(true);
		peer_send(&peer, NAP(1, 150));
		peer_send(&peer, batches[i]);
		assert_next("\"id\":1,\"result\"");
		assert_next("\"id\":5,\"result\":{}");
		assert_end(0);
		peer_release(&peer);
	}
}

/* The stop finishes what is in flight and reads no more. */
static void test_stop(void **state)
{
	(void)state;
	start(false);
	peer_send(&peer, NAP(1, 200));
	clock_sleep_ms(50);
	assert_int_equal(write(peer.stop[1], "x", 1), 1);
	assert_next("\"id\":1,\"result\"");
	assert_end(0);
	peer_release(&peer);
}

/* While draining after EOF a stop shortens the wait. */
static void test_stop_while_draining(void **state)
{
	uint64_t began = clock_mono_ms();

	(void)state;
	peer_init(&peer, false, 2, 16);
	peer.cfg.eof_ms = 20000;
	peer.cfg.drain_ms = 100;
	peer_start(&peer);
	peer_send(&peer, INIT NAP(1, 20000));
	close_to();
	assert_next("\"id\":\"i\"");
	clock_sleep_ms(50);
	assert_int_equal(write(peer.stop[1], "x", 1), 1);
	assert_next("\"error\":{\"code\":-32006");
	assert_end(0);
	assert_true(clock_mono_ms() - began < 5000);
	peer_release(&peer);
}

/* REQ: S5, T6, O1: frames come before the answer they belong to, as lines. */
static void test_frames(void **state)
{
	(void)state;
	start(true);
	peer_send(&peer,
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"chatty\",\"params\":{\"_meta\":"
		"{\"progressToken\":\"t\",\"logLevel\":\"info\"}}}\n");
	assert_next("\"notifications/progress\"");
	assert_next("\"notifications/log\"");
	assert_next("\"notifications/progress\"");
	assert_next("\"id\":1,\"result\":{}");
	peer_send(&peer, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"chatty\"}\n");
	assert_next("\"id\":2,\"result\":{}");
	close_to();
	assert_end(0);
	peer_release(&peer);
}

/* REQ: M5: notifications have no answer. */
static void test_notifications(void **state)
{
	(void)state;
	start(true);
	peer_send(&peer,
		"{\"jsonrpc\":\"2.0\",\"method\":\"nap\",\"params\":{\"ms\":0}}\n"
		"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/else\"}\n" PING(1));
	assert_next("\"id\":1,\"result\"");
	close_to();
	assert_end(0);
	peer_release(&peer);
}

/* More requests than may be in flight: reading pauses, none is refused or lost. */
static void test_backpressure(void **state)
{
	bool seen[100] = { false };

	(void)state;
	peer_init(&peer, true, 2, 3);
	peer_start(&peer);
	peer_send(&peer, INIT);
	for (int i = 0; i < 100; i++) {
		char text[100];

		snprintf(text, sizeof(text),
			"{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"nap\","
			"\"params\":{\"ms\":1}}\n",
			i);
		peer_send(&peer, text);
	}
	close_to();
	assert_next("\"id\":\"i\"");
	for (int i = 0; i < 100; i++) {
		const char *line = peer_line(&peer);
		int id = -1;

		assert_non_null(line);
		assert_int_equal(sscanf(line, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\"", &id), 1);
		assert_false(seen[id]);
		seen[id] = true;
	}
	assert_end(0);
	peer_release(&peer);
}

/* REQ: M15: the bytes of what is in flight are bounded as well as its number. */
static void test_backpressure_by_bytes(void **state)
{
	(void)state;
	peer_init(&peer, true, 2, 50);
	peer.cfg.max_bytes = 100;
	peer_start(&peer);
	peer_send(&peer, INIT);
	assert_next("\"id\":\"i\"");
	for (int i = 0; i < 6; i++)
		peer_send(&peer,
			"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"nap\","
			"\"params\":{\"ms\":200}}\n");
	clock_sleep_ms(100);
	assert_in_range(gauge_get(GAUGE_INFLIGHT), 1, 2); /* 60 bytes each */
	close_to();
	for (int i = 0; i < 6; i++)
		assert_next("\"slept\":200");
	assert_end(0);
	peer_release(&peer);
}

static void send_bigs(int n)
{
	for (int i = 0; i < n; i++)
		peer_send(&peer, BIG(7, 100000));
}

/* Answers far larger than a pipe, to a host that reads late. */
static void test_slow_reader(void **state)
{
	(void)state;
	for (int sockets = 0; sockets < 2; sockets++) {
		start(sockets);
		send_bigs(10);
		clock_sleep_ms(300);
		for (int i = 0; i < 10; i++) {
			const char *line = peer_line(&peer);

			assert_non_null(line);
			assert_true(strlen(line) > 100000);
			assert_string_equal(line + strlen(line) - 5, "xx\"}}");
		}
		close_to();
		assert_end(0);
		peer_release(&peer);
	}
}

/* The same over a descriptor that does not block. */
static void test_nonblocking(void **state)
{
	(void)state;
	peer_init(&peer, true, 2, 16);
	fcntl(peer.out, F_SETFL, O_NONBLOCK);
	peer_start(&peer);
	peer_send(&peer, INIT);
	assert_next("\"id\":\"i\"");
	send_bigs(10);
	clock_sleep_ms(100);
	for (int i = 0; i < 10; i++)
		assert_next("\"text\":\"xxx");
	close_to();
	assert_end(0);
	peer_release(&peer);
}

/* A host that never reads cannot keep the process from stopping. */
static void test_stop_with_blocked_output(void **state)
{
	uint64_t began = clock_mono_ms();

	(void)state;
	peer_init(&peer, false, 2, 16);
	peer.cfg.drain_ms = 300;
	peer_start(&peer);
	peer_send(&peer, INIT);
	send_bigs(5);
	clock_sleep_ms(100);
	assert_int_equal(write(peer.stop[1], "x", 1), 1);
	assert_int_equal(peer_join(&peer), 1);
	assert_true(clock_mono_ms() - began < 5000);
	peer_release(&peer);
}

static void on_signal(int sig)
{
	(void)sig;
}

/* Signals that interrupt reads, writes and polls lose nothing. */
static void test_eintr(void **state)
{
	struct sigaction sa = { .sa_handler = on_signal }; /* no SA_RESTART */

	(void)state;
	sigaction(SIGUSR1, &sa, NULL);
	start(true);
	for (int i = 0; i < 300; i++) {
		peer_send(&peer, PING(1) NAP(2, 0));
		pthread_kill(peer.thread, SIGUSR1);
		for (int k = 0; k < 2; k++) {
			assert_next("\"result\"");
			pthread_kill(peer.thread, SIGUSR1);
		}
	}
	close_to();
	assert_end(0);
	peer_release(&peer);
}

static void assert_file_holds(int fd, const char *want)
{
	char text[8192] = { 0 };

	assert_true(pread(fd, text, sizeof(text) - 1, 0) > 0);
	if (!strstr(text, want))
		fail_msg("'%s' is not in '%s'", want, text);
}

/* Files for both ends. */
static void test_files(void **state)
{
	static const char text[] = INIT NAP(1, 20) PING(2);
	char in[] = P_tmpdir "/rcpd-stdio-XXXXXX", out[] = P_tmpdir "/rcpd-stdio-XXXXXX";
	int in_fd = mkstemp(in), out_fd = mkstemp(out);

	(void)state;
	assert_true(in_fd >= 0 && out_fd >= 0);
	assert_int_equal(write(in_fd, text, sizeof(text) - 1), sizeof(text) - 1);
	assert_int_equal(lseek(in_fd, 0, SEEK_SET), 0);
	peer_init(&peer, false, 2, 16);
	peer.cfg.in_fd = in_fd;
	peer.cfg.out_fd = out_fd;
	peer_start(&peer);
	assert_int_equal(peer_join(&peer), 0);
	assert_file_holds(out_fd, "\"id\":1,\"result\":{\"slept\":20}");
	assert_file_holds(out_fd, "\"id\":2,\"result\"");
	peer_release(&peer);
	close(in_fd);
	close(out_fd);
	unlink(in);
	unlink(out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_framing),
		cmocka_unit_test(test_giant_line),
		cmocka_unit_test(test_eof_without_newline),
		cmocka_unit_test(test_eof_finishes_in_flight),
		cmocka_unit_test(test_eof_cancels_in_the_end),
		cmocka_unit_test(test_reader_gone),
		cmocka_unit_test(test_slow_does_not_block),
		cmocka_unit_test(test_initialize_first),
		cmocka_unit_test(test_cancel),
		cmocka_unit_test(test_shutdown_is_last),
		cmocka_unit_test(test_shutdown_in_batch),
		cmocka_unit_test(test_stop),
		cmocka_unit_test(test_stop_while_draining),
		cmocka_unit_test(test_frames),
		cmocka_unit_test(test_notifications),
		cmocka_unit_test(test_backpressure),
		cmocka_unit_test(test_backpressure_by_bytes),
		cmocka_unit_test(test_slow_reader),
		cmocka_unit_test(test_nonblocking),
		cmocka_unit_test(test_stop_with_blocked_output),
		cmocka_unit_test(test_eintr),
		cmocka_unit_test(test_files),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
