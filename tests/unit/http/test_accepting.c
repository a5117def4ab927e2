/*
 * test_accepting.c: many connections, none left to accept with, and unix sockets.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "fixture.h"
#include "util/clock.h"
#include "util/gauge.h"
#include "wire.h"

/* libmicrohttpd's own loop stalls when exactly 128 connections are ready; ours must
 * not, on one thread or two. */
static void no_cliff_at_128(void **state)
{
	static const int counts[] = { 127, 128, 129, 255, 256, 257 };
	static struct wire w[257];

	(void)state;
	for (unsigned threads = 1; threads <= 2; threads++) {
		fixture_reset();
		fixture.cfg.threads = threads;
		fixture.cfg.max_connections = 600;
		fixture_start();
		for (size_t c = 0; c < 6; c++) {
			uint64_t start = clock_mono_ms();

			for (int i = 0; i < counts[c]; i++)
				wire_open(&w[i]);
			for (int round = 0; round < 5; round++) {
				for (int i = 0; i < counts[c]; i++)
					wire_post(&w[i], "/rcp/ping", "", PING);
				for (int i = 0; i < counts[c]; i++) {
					struct answer a = wire_answer(&w[i], false);

					assert_int_equal(a.status, 200);
					answer_release(&a);
				}
			}
			for (int i = 0; i < counts[c]; i++)
				wire_close(&w[i]);
			assert_true(clock_mono_ms() - start < 5000);
		}
		assert_true(gauge_reaches(GAUGE_CONNECTIONS, 0, 3000));
		fixture_stop();
	}
}

/* The limit holds, and who waits gets in at once as others go. */
static void the_connection_limit_holds(void **state)
{
	struct wire w[12];
	uint64_t start;

	(void)state;
	fixture_reset();
	fixture.cfg.max_connections = 8;
	fixture_start();
	for (int round = 0; round < 20; round++) {
		for (int i = 0; i < 12; i++) {
			wire_open(&w[i]);
			wire_post(&w[i], "/rcp/ping", "", PING);
		}
		assert_true(gauge_reaches(GAUGE_CONNECTIONS, 8, 2000));
		start = clock_mono_ms();
		for (int i = 0; i < 12; i++) {
			struct answer a = wire_answer(&w[i], false);

			assert_int_equal(a.status, 200);
			answer_release(&a);
			wire_close(&w[i]);
		}
		assert_true(clock_mono_ms() - start < 1000);
		assert_true(gauge_reaches(GAUGE_CONNECTIONS, 0, 3000));
	}
	fixture_stop();
}

static int64_t cpu_us(void)
{
	struct rusage ru;

	getrusage(RUSAGE_SELF, &ru);
	return (int64_t)(ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) * 1000000 + ru.ru_utime.tv_usec +
		ru.ru_stime.tv_usec;
}

/* Takes every descriptor there is but `leave`; returns how many. */
static int take_descriptors(int *fds, int max, int leave)
{
	int n = 0;

	while (n < max && (fds[n] = open("/dev/null", O_RDONLY | O_CLOEXEC)) >= 0)
		n++;
	for (int i = 0; i < leave; i++)
		close(fds[--n]);
	return n;
}

/* Nothing left to accept with: no core spins, and service comes back. */
static void running_out_of_descriptors(void **state)
{
	static int fds[4096];
	struct rlimit old, low;
	struct wire w;
	struct answer a;
	int64_t before;
	int n;

	(void)state;
	fixture_reset();
	fixture_start();
	getrlimit(RLIMIT_NOFILE, &old);
	low = old;
	low.rlim_cur = 200;
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &low), 0);
	n = take_descriptors(fds, 4096, 1);
	wire_open(&w); /* the last one; the server has none for it */
	wire_post(&w, "/rcp/ping", "", PING);
	before = cpu_us();
	clock_sleep_ms(1000);
	assert_true(cpu_us() - before < 300000);
	while (n > 0)
		close(fds[--n]);
	a = wire_answer(&w, false);
	assert_int_equal(a.status, 200);
	answer_release(&a);
	wire_close(&w);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &old), 0);
	fixture_stop();
}

static void unix_connect(struct wire *w, const char *path)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };

	assert_true(strlen(path) < sizeof(un.sun_path));
	memcpy(un.sun_path, path, strlen(path) + 1);
	strbuf_init(&w->in);
	w->fd = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(connect(w->fd, (const struct sockaddr *)&un, sizeof(un)), 0);
}

/* REQ: D17: the peer's uid is its identity. */
static void unix_sockets_know_their_peer(void **state)
{
	char dir[] = "/tmp/rcpd-http-XXXXXX", path[64], spec[80];
	struct wire w;
	struct answer a;

	(void)state;
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/http", dir);
	snprintf(spec, sizeof(spec), "unix:%s", path);
	fixture_reset();
	fixture.cfg.listen = spec;
	fixture.cfg.max_per_address = 1; /* not for unix peers */
	fixture_start();
	assert_string_equal(http_url(fixture.http), spec);
	for (int i = 0; i < 3; i++) {
		struct wire other;

		unix_connect(&w, path);
		unix_connect(&other, path);
		wire_post(&w, "/rcp", i == 2 ? "Accept: text/event-stream\r\n" : "",
			i ? "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"steps\"}" : PING);
		a = wire_answer(&w, false);
		assert_int_equal(a.status, 200);
		assert_non_null(strstr(a.body.data, "\"result\""));
		assert_int_equal(atomic_load(&fixture.last_uid), getuid());
		assert_false(atomic_load(&fixture.had_address));
		answer_release(&a);
		wire_close(&w);
		wire_close(&other);
	}
	fixture_stop();
	assert_int_not_equal(access(path, F_OK), 0);
	assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_cliff_at_128),
		cmocka_unit_test(the_connection_limit_holds),
		cmocka_unit_test(running_out_of_descriptors),
		cmocka_unit_test(unix_sockets_know_their_peer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
