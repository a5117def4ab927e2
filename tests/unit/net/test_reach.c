/* test_reach.c: which addresses count as public, at the edges of every range. */
#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/un.h>

#include "../unit.h"
#include "net/private.h"

static bool is_public(const char *text)
{
	struct sockaddr_in in4 = { .sin_family = AF_INET };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };

	if (inet_pton(AF_INET, text, &in4.sin_addr) == 1)
		return net_address_public((struct sockaddr *)&in4);
	assert_int_equal(inet_pton(AF_INET6, text, &in6.sin6_addr), 1);
	return net_address_public((struct sockaddr *)&in6);
}

static void test_private(void **state)
{
	static const char *const rows[] = { "0.0.0.0", "0.255.255.255", "10.0.0.0",
		"10.255.255.255", "100.64.0.0", "100.127.255.255", "127.0.0.1", "127.255.255.255",
		"169.254.0.0", "169.254.169.254", "169.254.255.255", "172.16.0.0", "172.31.255.255",
		"192.0.0.8", "192.0.2.1", "192.88.99.1", "192.168.0.0", "192.168.255.255",
		"198.18.0.0", "198.19.255.255", "198.51.100.7", "203.0.113.7", "224.0.0.1",
		"239.255.255.255", "240.0.0.1", "255.255.255.255", "::", "::1", "::ffff:127.0.0.1",
		"::ffff:10.1.2.3", "::ffff:0.0.0.0", "::127.0.0.1", "64:ff9b::a00:1",
		"64:ff9b:1::808:808", "100::1", "2002:7f00:1::", "2002:c0a8:101::1", "2001::1",
		"2001:1ff:ffff::", "2001:db8::1", "3fff::1", "3fff:fff::", "fc00::1", "fdff::1",
		"fe80::1", "febf::1", "fec0::1", "ff02::1", "4000::1", "1fff::1", "5f00::1" };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (is_public(rows[i]))
			print_error("%s\n", rows[i]);
		assert_false(is_public(rows[i]));
	}
}

static void test_public(void **state)
{
	static const char *const rows[] = { "1.0.0.0", "9.255.255.255", "11.0.0.0",
		"100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0", "169.253.255.255",
		"169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.0", "192.0.3.0",
		"192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255",
		"8.8.8.8", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1", "2001:200::1",
		"2001:4860:4860::8888", "2001:db7::1", "2001:db9::1", "2003::1", "2606:4700::1",
		"3ffe::1", "3fff:1000::1" };
	struct sockaddr_un un = { .sun_family = AF_UNIX };

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (!is_public(rows[i]))
			print_error("%s\n", rows[i]);
		assert_true(is_public(rows[i]));
	}
	assert_false(net_address_public((struct sockaddr *)&un));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_private),
		cmocka_unit_test(test_public),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
