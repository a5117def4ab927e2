/*
 * test_listen.c: listening addresses, and unix paths that others use.
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
#include <sys/un.h>
#include <unistd.h>

#include "http/listen.h"
#include "util/mem.h"

static void addresses_that_cannot_be_read_are_named(void **state)
{
	static const char *const bad[] = { "", "8077", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x",
		"127.0.0.1:65536", "127.0.0.1:123456789", "127.0.0.1:80x", "example.org:80",
		"::1:80", "[::1]", "[::1]80", "[::1:80", "[127.0.0.1]:80", "[]:80", ":80",
		"unix:", "1.2.3.4:-1", "[::g]:1" };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct listener l = { .fd = 77 };
		struct error e = { 0 };

		assert_int_equal(listen_parse(bad[i], &l, &e), ST_INVALID);
		assert_non_null(strstr(e.message, "cannot listen on"));
		assert_int_equal(l.fd, 77); /* untouched */
	}
}

static void assert_url(const char *text, const char *url)
{
	struct listener l;
	struct error e = { 0 };
	char *made;

	assert_int_equal(listen_parse(text, &l, &e), ST_OK);
	made = listen_url(&l, "/rcp");
	assert_string_equal(made, url);
	mem_free(made);
}

static void addresses_become_urls(void **state)
{
	(void)state;
	assert_url("127.0.0.1:8077", "http://127.0.0.1:8077/rcp");
	assert_url("localhost:80", "http://127.0.0.1:80/rcp");
	assert_url("[::1]:9", "http://[::1]:9/rcp");
	assert_url("0.0.0.0:0", "http://0.0.0.0:0/rcp");
	assert_url("unix:/run/rcpd/http", "unix:/run/rcpd/http");
}

static void a_long_unix_path_is_refused(void **state)
{
	struct listener l;
	struct error e = { 0 };
	char text[256] = "unix:/";

	(void)state;
	memset(text + 6, 'a', sizeof(text) - 7);
	assert_int_equal(listen_parse(text, &l, &e), ST_INVALID);
}

static void port_zero_finds_a_free_one(void **state)
{
	struct listener l, again;
	struct error e = { 0 };
	char *url;
	char text[64];
	int port = 0;

	(void)state;
	assert_int_equal(listen_parse("127.0.0.1:0", &l, &e), ST_OK);
	assert_int_equal(listen_open(&l, &e), ST_OK);
	assert_true(fcntl(l.fd, F_GETFL) & O_NONBLOCK);
	assert_true(fcntl(l.fd, F_GETFD) & FD_CLOEXEC);
	url = listen_url(&l, "/");
	assert_int_equal(sscanf(url, "http://127.0.0.1:%d/", &port), 1);
	assert_true(port > 0);
	snprintf(text, sizeof(text), "127.0.0.1:%d", port);
	assert_int_equal(listen_parse(text, &again, &e), ST_OK);
	assert_int_equal(listen_open(&again, &e), ST_LOCKED);
	assert_int_equal(again.fd, -1);
	mem_free(url);
	listen_close(&l);
}

static void unix_spec(const char *dir, struct listener *l, char *path, size_t size)
{
	struct error e = { 0 };
	char text[160];

	snprintf(path, size, "%s/s", dir);
	snprintf(text, sizeof(text), "unix:%s", path);
	assert_int_equal(listen_parse(text, l, &e), ST_OK);
}

static void a_unix_path_is_shared_with_nobody(void **state)
{
	char dir[] = "/tmp/rcpd-listen-XXXXXX", path[128];
	struct listener l, other;
	struct error e = { 0 };
	struct sockaddr_un dead = { .sun_family = AF_UNIX };
	int fd;

	(void)state;
	assert_non_null(mkdtemp(dir));
	unix_spec(dir, &l, path, sizeof(path));
	/* A socket whose server died is replaced. */
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_true(strlen(path) < sizeof(dead.sun_path));
	memcpy(dead.sun_path, path, strlen(path) + 1);
	assert_int_equal(bind(fd, (const struct sockaddr *)&dead, sizeof(dead)), 0);
	close(fd);
	assert_int_equal(listen_open(&l, &e), ST_OK);
	/* One that lives is left alone, and still serves afterwards. */
	unix_spec(dir, &other, path, sizeof(path));
	assert_int_equal(listen_open(&other, &e), ST_LOCKED);
	fd = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(connect(fd, (const struct sockaddr *)&dead, sizeof(dead)), 0);
	close(fd);
	/* What stands there now is another's: not unlinked. */
	assert_int_equal(unlink(path), 0);
	fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	close(fd);
	listen_close(&l);
	assert_int_equal(access(path, F_OK), 0);
	assert_int_equal(listen_open(&other, &e), ST_INVALID);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(listen_open(&other, &e), ST_OK);
	listen_close(&other);
	assert_int_not_equal(access(path, F_OK), 0);
	assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_that_cannot_be_read_are_named),
		cmocka_unit_test(addresses_become_urls),
		cmocka_unit_test(a_long_unix_path_is_refused),
		cmocka_unit_test(port_zero_finds_a_free_one),
		cmocka_unit_test(a_unix_path_is_shared_with_nobody),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
