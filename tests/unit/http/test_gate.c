/*
 * test_gate.c: headers, Host, Origin, content type, addresses.
 * REQ: T10, HTTP-05, SEC-01, SEC-02.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <netinet/in.h>
#include <string.h>

#include "http/gate.h"
#include "http/peers.h"
#include "util/mem.h"

static const char *const names[] = { "search.example", "10.0.0.7", NULL };

static void hosts_are_ours_or_refused(void **state)
{
	static const char *const good[] = { "127.0.0.1", "127.0.0.1:8080", "127.9.8.7", "localhost",
		"localhost:9", "LOCALHOST.", "localhost.:80", "[::1]", "[::1]:8080",
		"[0:0:0:0:0:0:0:1]", "search.example", "Search.Example:443", "search.example.",
		"10.0.0.7:1" };
	static const char *const bad[] = { "", "evil.example", "127.0.0.1.evil.example", "127.1",
		"localhost.evil", "xlocalhost", "localhost:80:80", "localhost:http", "[::1",
		"[::1]x", "[::2]", "::1", "[127.0.0.1]", "localhost..", ".", "[]", ":80",
		"127.0.0.1@evil.example", "localhost/", "10.0.0.8", "128.0.0.1", "[localhost]" };

	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++)
		if (!host_allowed(good[i], names))
			fail_msg("refused: '%s'", good[i]);
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		if (host_allowed(bad[i], names))
			fail_msg("taken: '%s'", bad[i]);
	assert_false(host_allowed("search.example", NULL));
	assert_true(host_allowed("localhost", NULL));
}

static void origins_match_exactly(void **state)
{
	static const char *const origins[] = { "https://app.example", NULL };

	(void)state;
	assert_true(origin_allowed("https://app.example", origins));
	assert_false(origin_allowed("https://app.example:443", origins));
	assert_false(origin_allowed("http://app.example", origins));
	assert_false(origin_allowed("https://app.example.evil", origins));
	assert_false(origin_allowed("null", origins));
	assert_false(origin_allowed("", origins));
	assert_false(origin_allowed("https://app.example", NULL));
}

static void content_types(void **state)
{
	(void)state;
	assert_true(content_is_json("application/json"));
	assert_true(content_is_json("Application/JSON; charset=utf-8"));
	assert_true(content_is_json("application/json ;x"));
	assert_false(content_is_json(NULL));
	assert_false(content_is_json(""));
	assert_false(content_is_json("text/plain"));
	assert_false(content_is_json("application/jsonp"));
	assert_false(content_is_json("application/json, text/plain"));
	assert_true(encoding_is_plain(NULL));
	assert_true(encoding_is_plain("Identity"));
	assert_false(encoding_is_plain("gzip"));
}

struct header {
	const char *name, *value;
};
struct framing_case {
	struct header headers[4];
	bool http10;
	bool refused;
	bool chunked;
	uint64_t length;
};

static const struct framing_case framings[] = {
	{ .headers = { { "Host", "a" } } },
	{ .headers = { { NULL, NULL } }, .refused = true },
	{ .headers = { { NULL, NULL } }, .http10 = true },
	{ .headers = { { "Host", "a" }, { "HOST", "a" } }, .refused = true },
	{ .headers = { { "Host", "a" }, { "Host", "a" } }, .http10 = true, .refused = true },
	{ .headers = { { "Host", "a" }, { "Content-Length", "12" } }, .length = 12 },
	{ .headers = { { "Host", "a" }, { "content-length", "00012" } }, .length = 12 },
	{ .headers = { { "Host", "a" }, { "Content-Length", "99999999999999999999999" } },
		.length = UINT64_MAX },
	{ .headers = { { "Host", "a" }, { "Content-Length", "18446744073709551615" } },
		.length = UINT64_MAX },
	{ .headers = { { "Host", "a" }, { "Content-Length", "" } }, .refused = true },
	{ .headers = { { "Host", "a" }, { "Content-Length", "+1" } }, .refused = true },
	{ .headers = { { "Host", "a" }, { "Content-Length", "-1" } }, .refused = true },
	{ .headers = { { "Host", "a" }, { "Content-Length", "1, 1" } }, .refused = true },
	{ .headers = { { "Host", "a" }, { "Content-Length", "0x10" } }, .refused = true },
	{ .headers = { { "Host", "a" }, { "Content-Length", "99999999999999999999999x" } },
		.refused = true },
	{ .headers = { { "Host", "a" }, { "Content-Length", "3" }, { "Content-Length", "3" } },
		.refused = true },
	{ .headers = { { "Host", "a" }, { "Transfer-Encoding", "chunked" } }, .chunked = true },
	{ .headers = { { "Host", "a" }, { "Transfer-Encoding", "Chunked" } }, .chunked = true },
	{ .headers = { { "Host", "a" }, { "Transfer-Encoding", "gzip, chunked" } },
		.refused = true },
	{ .headers = { { "Host", "a" }, { "Transfer-Encoding", "identity" } }, .refused = true },
	{ .headers = { { "Host", "a" }, { "Transfer-Encoding", "" } }, .refused = true },
	{ .headers = { { "Host", "a" }, { "Transfer-Encoding", "chunked" },
		  { "Transfer-Encoding", "chunked" } },
		.refused = true },
	{ .headers = { { "Host", "a" }, { "Transfer-Encoding", "chunked" },
		  { "Content-Length", "3" } },
		.refused = true },
	{ .headers = { { "Transfer-Encoding", "chunked" } }, .http10 = true, .refused = true },
	{ .headers = { { "Host", "a" }, { "Content-Length ", "3" } }, .refused = true },
	{ .headers = { { "Host", "a" }, { "X(Y)", "3" } }, .refused = true },
	{ .headers = { { "Host", "a" }, { "", "3" } }, .refused = true },
	{ .headers = { { "Host", "a" }, { "Authorization", "x" }, { "authorization", "y" } },
		.refused = true },
	{ .headers = { { "Host", "a" }, { "Origin", "x" }, { "Origin", "y" } }, .refused = true },
	{ .headers = { { "Host", "a" }, { "Accept", "x" }, { "Accept", "y" } } },
	{ .headers = { { "Host", "a" }, { "X-Any", NULL }, { "X-Any", "y" } } },
};

static void two_framings_are_never_one(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(framings) / sizeof(framings[0]); i++) {
		const struct framing_case *c = &framings[i];
		struct headers h;
		const char *why;

		headers_init(&h);
		for (size_t j = 0; j < 4 && c->headers[j].name; j++)
			headers_add(&h, c->headers[j].name, c->headers[j].value);
		why = framing_check(&h, c->http10);
		if ((why != NULL) != c->refused)
			fail_msg("case %zu: %s", i, why ? why : "was taken");
		if (why)
			continue;
		assert_int_equal(h.chunked, c->chunked);
		assert_true(h.length == c->length);
		assert_int_equal(headers_have_body(&h), c->chunked || c->length);
	}
}

static struct sockaddr_storage address(const char *text)
{
	struct sockaddr_storage ss;
	struct sockaddr_in *in4 = (struct sockaddr_in *)&ss;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&ss;

	memset(&ss, 0, sizeof(ss));
	if (inet_pton(AF_INET, text, &in4->sin_addr) == 1) {
		in4->sin_family = AF_INET;
	} else {
		assert_int_equal(inet_pton(AF_INET6, text, &in6->sin6_addr), 1);
		in6->sin6_family = AF_INET6;
	}
	return ss;
}

static bool key_of(const char *text, struct peer_key *ret)
{
	struct sockaddr_storage ss = address(text);

	return peer_key((const struct sockaddr *)&ss, ret);
}

/* REQ: T11, HTTP-04: a limit an address, from which a proxy's loopback is exempt. */
static void addresses_have_a_limit(void **state)
{
	struct peers peers;
	struct peer_key a, b;

	(void)state;
	assert_false(key_of("127.0.0.1", &a));
	assert_false(key_of("::1", &a));
	assert_false(key_of("::ffff:127.0.0.9", &a));
	assert_true(key_of("::ffff:192.0.2.1", &b));
	assert_true(key_of("192.0.2.1", &a));
	assert_memory_equal(&a, &b, sizeof(a)); /* the same client either way */
	assert_true(key_of("2001:db8::1", &b));
	peers_init(&peers, 2);
	assert_true(peers_room(&peers, &a));
	assert_true(peers_enter(&peers, &a));
	assert_true(peers_enter(&peers, &a));
	assert_false(peers_room(&peers, &a));
	assert_false(peers_enter(&peers, &a));
	assert_true(peers_enter(&peers, &b));
	peers_leave(&peers, &a);
	assert_true(peers_enter(&peers, &a));
	peers_leave(&peers, &a);
	peers_leave(&peers, &a);
	peers_leave(&peers, &b);
	(void)mem_fail_after(0);
	assert_false(peers_enter(&peers, &a));
	(void)mem_fail_after(-1);
	assert_true(peers_enter(&peers, &a));
	peers_release(&peers); /* with an entry left: freed too */
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(hosts_are_ours_or_refused),
		cmocka_unit_test(origins_match_exactly),
		cmocka_unit_test(content_types),
		cmocka_unit_test(two_framings_are_never_one),
		cmocka_unit_test(addresses_have_a_limit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
