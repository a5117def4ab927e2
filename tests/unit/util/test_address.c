/* Listening addresses: one spelling for the configuration and the socket. */
#include "../unit.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/un.h>

#include "util/address.h"

static void test_forms(void **state)
{
	struct address a;

	(void)state;
	assert_int_equal(address_parse("127.0.0.1:8077", &a, NULL), ST_OK);
	assert_int_equal(ntohs(((struct sockaddr_in *)&a.addr)->sin_port), 8077);
	assert_true(address_is_local(&a));
	assert_int_equal(address_parse("localhost:0", &a, NULL), ST_OK);
	assert_int_equal(((struct sockaddr_in *)&a.addr)->sin_addr.s_addr, htonl(0x7f000001));
	assert_int_equal(address_parse("[::1]:65535", &a, NULL), ST_OK);
	assert_true(address_is_local(&a));
	assert_int_equal(address_parse("unix:/run/x.sock", &a, NULL), ST_OK);
	assert_string_equal(((struct sockaddr_un *)&a.addr)->sun_path, "/run/x.sock");
	assert_true(address_is_local(&a));
	assert_int_equal(address_parse("0.0.0.0:1", &a, NULL), ST_OK);
	assert_false(address_is_local(&a));
	assert_int_equal(address_parse("[::]:1", &a, NULL), ST_OK);
	assert_false(address_is_local(&a));
}

static void test_refused(void **state)
{
	static const char *const bad[] = { "", ":", "8077", "127.0.0.1",
		"127.0.0.1:", "127.0.0.1:65536", "127.0.0.1:-1", "127.0.0.1:80x",
		"127.0.0.1:000080", "::1:80", "[::1]", "[::1]80", "[127.0.0.1]:80",
		"example.org:80", "256.0.0.1:80", "unix:", "[::1:80", "127.0.0.1:1:2" };
	char long_path[300] = "unix:/";

	(void)state;
	memset(long_path + 6, 'x', sizeof(long_path) - 7);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct address a;
		struct error e;

		if (address_parse(bad[i], &a, &e) != ST_INVALID || !e.message[0])
			fail_msg("'%s' was taken", bad[i]);
	}
	assert_int_equal(address_parse(long_path, &(struct address){ .len = 0 }, NULL), ST_INVALID);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_forms),
		cmocka_unit_test(test_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
