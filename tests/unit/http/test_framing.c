/*
 * test_framing.c: requests that others may frame differently: one answer, a closed
 * connection, and what followed is never run. REQ: HTTP-05, T11
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "fixture.h"
#include "wire.h"

#define START "POST /rcp HTTP/1.1\r\n"
#define HOST "Host: localhost\r\n"
#define TYPE "Content-Type: application/json\r\n"
#define HEAD START HOST TYPE
#define LENGTH "Content-Length: 40\r\n" /* PING's */
#define HIDDEN "GET /healthz HTTP/1.1\r\n" HOST "X-Hidden: 1\r\n\r\n"

struct raw {
	const char *bytes;
	size_t len;
};

#define RAW(text)                                                                                  \
	{                                                                                          \
		text, sizeof(text) - 1                                                             \
	}

/* Sends it all; the one answer has that status, and is the last. */
static void assert_one_answer(const struct raw *raw, int status, size_t i)
{
	struct wire w;
	struct answer a;

	wire_open(&w);
	wire_send(&w, raw->bytes, raw->len);
	a = wire_answer(&w, false);
	if (a.status != status || !wire_ends(&w, 2000))
		fail_msg("%zu: %d, then '%s' after '%s'", i, a.status,
			w.in.len ? w.in.data : "no end", raw->bytes);
	assert_string_equal(answer_header(&a, "Connection"), "close");
	answer_release(&a);
	wire_close(&w);
}

static void misread_header_lines_are_refused(void **state)
{
	static const struct raw misread[] = {
		RAW(HEAD "Content-Length: 40\r\n x\r\n\r\n" HIDDEN),
		RAW(HEAD "Content-Length: 4\r\n 0\r\n\r\n" PING HIDDEN),
		RAW(HEAD "Content-Length:\r\n 40\r\n\r\n" PING HIDDEN),
		RAW(HEAD "Transfer-Encoding: chunked\r\n x\r\n\r\n" HIDDEN),
		RAW(HEAD "Transfer-Encoding:\r\n chunked\r\n\r\n" HIDDEN),
		RAW(HEAD "Transfer: chunked\r\n -Encoding\r\n\r\n0\r\n\r\n" HIDDEN),
		RAW(HEAD "Content: 40\r\n -Length\r\n\r\n" PING HIDDEN),
		RAW(HEAD LENGTH "X: a\r\n\tb\r\n\r\n" PING HIDDEN),
		RAW(START "Ho: localhost\r\n st\r\n" TYPE LENGTH "\r\n" PING HIDDEN),
		RAW(HEAD "Origin: http://evil\r\n x\r\n" LENGTH "\r\n" PING HIDDEN),
		RAW(HEAD LENGTH ": x\r\nY: z\r\n\r\n" PING HIDDEN),
		RAW(HEAD LENGTH ":\r\nY: z\r\n\r\n" PING HIDDEN),
		RAW(HEAD ": x\r\n" HIDDEN),
		RAW(START ": x\r\n" HOST TYPE LENGTH "\r\n" PING HIDDEN),
		RAW(HEAD "Content-Length: 40\0"
			 "9\r\n\r\n" PING HIDDEN),
		RAW(HEAD "Content-Length: 40\0\r\n\r\n" PING HIDDEN),
		RAW(HEAD "Transfer-Encoding: chunked\0, gzip\r\n\r\n0\r\n\r\n" HIDDEN),
		RAW(START "Host: localhost\0.evil.example\r\n" TYPE LENGTH "\r\n" PING HIDDEN),
		RAW(HEAD "X: a\rContent-Length: 5\r\n" LENGTH "\r\n" PING HIDDEN),
		RAW(HEAD "X: a\r\r\n" LENGTH "\r\n" PING HIDDEN),
		RAW(HEAD LENGTH "X: a\n\r\n" PING HIDDEN),
		RAW(HEAD LENGTH "\n" PING HIDDEN),
		RAW(HEAD "Transfer-Encoding: chunked \r\n\r\n0\r\n\r\n" HIDDEN),
		RAW("GET /healthz?a=b HTTP/1.1\r\n" HOST "X: y\r\n z\r\n\r\n" HIDDEN),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(misread) / sizeof(misread[0]); i++)
		assert_one_answer(&misread[i], 400, i);
}

/* What is no message ends the connection: whoever sent it may have meant something
 * else by the bytes behind it. */
static void nothing_follows_what_is_no_message(void **state)
{
	static const struct raw no_message[] = {
		RAW(HEAD "\r\n" HIDDEN),
		RAW(HEAD "Content-Length: 2\r\n\r\n{]" HIDDEN),
		RAW(HEAD "Content-Length: 2\r\n\r\n17" HIDDEN),
		RAW(HEAD "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" HIDDEN),
	};

	(void)state;
	for (size_t i = 0; i < sizeof(no_message) / sizeof(no_message[0]); i++)
		assert_one_answer(&no_message[i], 400, i);
}

/* Before 1.0 an empty name ends the trailers early, so where they ended is not known
 * and nothing is read behind any. From 1.0 on the library reads well-formed ones
 * right, and what follows is a request of its own. */
static void nothing_follows_trailers(void **state)
{
	static const struct raw trailers[] = {
		RAW(HEAD "Transfer-Encoding: chunked\r\n\r\n28\r\n" PING
			 "\r\n0\r\nA: b\r\n\r\n" HIDDEN),
		RAW(HEAD "Transfer-Encoding: chunked\r\n\r\n28\r\n" PING
			 "\r\n0\r\n: x\r\n\r\n" HIDDEN),
		RAW(HEAD "Transfer-Encoding: chunked\r\n\r\n28\r\n" PING
			 "\r\n0\r\nA: b\r\n: x\r\n" HIDDEN),
	};

	struct answer a;
	struct wire w;

	(void)state;
	if (old_library()) {
		for (size_t i = 0; i < sizeof(trailers) / sizeof(trailers[0]); i++)
			assert_one_answer(&trailers[i], 200, i);
		return;
	}
	wire_open(&w);
	wire_send(&w, trailers[0].bytes, trailers[0].len);
	for (int i = 0; i < 2; i++) {
		a = wire_answer(&w, false);
		assert_int_equal(a.status, 200);
		answer_release(&a);
	}
	wire_close(&w);
	for (size_t i = 1; i < sizeof(trailers) / sizeof(trailers[0]); i++) {
		wire_open(&w);
		wire_send(&w, trailers[i].bytes, trailers[i].len);
		assert_false(wire_until(&w, "\"status\":\"ok\"", 500));
		wire_close(&w);
	}
}

/* Optional white space, an empty value, a query, blank lines before, long headers
 * that come in pieces: nothing of that is misread, and the connection stays. */
static void unusual_headers_are_fine(void **state)
{
	static const char *const fine[] = {
		START "Host: localhost \t\r\nContent-Type: application/json  \r\n" LENGTH
		      "\r\n" PING,
		START "Host:localhost\r\nContent-Type:\tapplication/json\r\n" LENGTH
		      "X:\r\nY: \r\n\r\n" PING,
		"\r\nPOST /rcp/ping?a=b&c=%20&d HTTP/1.1\r\n" HOST TYPE LENGTH "\r\n" PING,
		HEAD "Cookie: a=b; c=d\r\nExpect: \r\n" LENGTH "\r\n" PING,
	};
	struct strbuf big = STRBUF_INIT;
	struct answer a;
	struct wire w;

	(void)state;
	wire_open(&w);
	for (size_t i = 0; i < sizeof(fine) / sizeof(fine[0]); i++) {
		wire_sends(&w, fine[i]);
		a = wire_answer(&w, false);
		if (a.status != 200)
			fail_msg("%zu: %d %s", i, a.status, a.body.data);
		answer_release(&a);
	}
	if (old_library()) { /* later ones refuse a second empty line or blank */
		wire_sends(&w, "\r\n\r\nPOST  /rcp/ping HTTP/1.1\r\n" HOST TYPE LENGTH "\r\n" PING);
		a = wire_answer(&w, false);
		assert_int_equal(a.status, 200);
		answer_release(&a);
	}
	strbuf_adds(&big, HEAD);
	for (int i = 0; i < 60; i++)
		strbuf_addf(&big, "X-Header-%d: %0150d\r\n", i, i);
	strbuf_adds(&big, LENGTH "\r\n" PING);
	for (size_t piece = 89; piece < 12000; piece = piece * 3 + 1) {
		for (size_t at = 0; at < big.len; at += piece)
			wire_send(&w, big.data + at, big.len - at < piece ? big.len - at : piece);
		a = wire_answer(&w, false);
		assert_int_equal(a.status, 200);
		answer_release(&a);
	}
	strbuf_release(&big);
	wire_close(&w);
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup_default, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(misread_header_lines_are_refused),
		T(nothing_follows_what_is_no_message),
		T(nothing_follows_trailers),
		T(unusual_headers_are_fine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
