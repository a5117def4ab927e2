/*
 * test_requests.c: paths, verbs, headers, refusals and CORS against a running
 * server, byte by byte.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "wire.h"

static void assert_has(const struct answer *a, const char *text)
{
	if (!strstr(a->body.data, text))
		fail_msg("'%s' is not in: %s", text, a->body.data);
}

/* Every answer but 204 has a length and says that it is JSON. REQ: D21, HTTP-10, T2 */
static void assert_json(const struct answer *a, int status)
{
	assert_int_equal(a->status, status);
	assert_false(a->chunked);
	assert_string_equal(answer_header(a, "Content-Type"), "application/json");
	assert_int_equal(strtoul(answer_header(a, "Content-Length"), NULL, 10), a->body.len);
}

static void expect_post(const char *path, const char *body, int status, const char *text)
{
	struct answer a = post_once(path, "", body);

	if (status == 204) {
		assert_int_equal(a.status, 204);
		assert_int_equal(a.body.len, 0);
	} else {
		assert_json(&a, status);
		assert_has(&a, text);
	}
	answer_release(&a);
}

/* REQ: T1, T2, T3, D6, D7, D8, D10, HTTP-07 */
static void methods_live_under_the_base(void **state)
{
	static const char add[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"index/add\"}";

	(void)state;
	expect_post("/rcp/ping", PING, 200, "\"result\"");
	expect_post("/rcp", PING, 200, "\"result\"");
	expect_post("/rcp/", PING, 200, "\"result\"");
	expect_post("/rcp/ping/", PING, 200, "\"result\"");
	expect_post("/rcp/ping?a=b&c", PING, 200, "\"result\"");
	expect_post("/rcp?x", PING, 200, "\"result\"");
	expect_post("/rcp/index/add", add, 200, "\"result\"");
	expect_post("/rcp/index%2Fadd", add, 200, "\"result\"");
	expect_post("/rcp/index%2fadd/", add, 200, "\"result\"");
	expect_post("/rcp/PING", PING, 200, "-32600");
	expect_post("/rcp/index/add", PING, 200, "-32600");
	expect_post("/rcp//ping", PING, 200, "-32600");
	expect_post("/rcp/nope", "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"nope\"}", 200,
		"-32004");
	expect_post("/rcp/ping", "{\"jsonrpc\":\"2.0\",\"method\":\"ping\"}", 204, "");
	expect_post("/rcp", "[{\"jsonrpc\":\"2.0\",\"method\":\"x\"}]", 204, "");
	expect_post("/rcp/ping", "{", 400, "-32700");
	expect_post("/rcp/ping", "7", 400, "-32600");
	expect_post("/rcp/ping", "", 400, "-32700");
	expect_post("/rcpx/ping", PING, 404, "\"id\":null");
	expect_post("/other", PING, 404, "-32015");
	expect_post("/RCP/ping", PING, 404, "-32015");
}

static void expect_raw(const char *request, int status, const char *text)
{
	struct answer a = raw_once(request);

	if (a.status != status)
		fail_msg("%d for: %.60s", a.status, request);
	assert_json(&a, status);
	assert_has(&a, text);
	answer_release(&a);
}

/*
 * 400, then the end, and nothing else: no second answer. Newer versions of
 * libmicrohttpd refuse much of this before we see it, in HTML of their own.
 */
static void expect_bad(const char *request)
{
	struct answer a = raw_once(request);

	if (a.status != 400)
		fail_msg("%d for: %.60s", a.status, request);
	if (answer_header(&a, "Content-Type")) {
		assert_json(&a, 400);
		assert_has(&a, "-32600");
	} else {
		assert_true(strncmp(MHD_get_version(), "0.", 2) != 0);
	}
	assert_string_equal(answer_header(&a, "Connection"), "close");
	assert_true(a.closed);
	answer_release(&a);
}

#define HEAD(line) line " HTTP/1.1\r\nHost: localhost\r\n"
#define JSON "Content-Type: application/json\r\n"

/* Exactly one answer, and what follows is never taken for a request. REQ: HTTP-05 */
static void two_framings_close_the_connection(void **state)
{
	static const char *const bad[] = {
		HEAD("POST /rcp/ping") JSON
		"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n"
		"1\r\n{\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
		HEAD("POST /rcp/ping") JSON
		"Content-Length: 4\r\nContent-Length: 4\r\n\r\n"
		"{}{}GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
		HEAD("POST /rcp/ping") JSON
		"Content-Length: 4\r\nContent-Length: 40\r\n\r\n"
		"{}{}GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
		HEAD("POST /rcp/ping") JSON
		"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\n\r\n",
		HEAD("POST /rcp/ping") JSON
		"Content-Length : 42\r\n\r\nGET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
		"POST /rcp/ping HTTP/1.0\r\n" JSON
		"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET /healthz HTTP/1.0\r\n\r\n",
		"POST /rcp/ping HTTP/1.1\r\n" JSON "Content-Length: 2\r\n\r\n{}",
		"POST /rcp/ping HTTP/1.1\r\nHost: localhost\r\nHost: localhost\r\n" JSON
		"Content-Length: 2\r\n\r\n{}",
		"GET /healthz HTTP/1.1\r\n\r\nGET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		expect_bad(bad[i]);
}

/* REQ: HTTP-06, D11 */
static void odd_targets_are_refused(void **state)
{
	static const char *const bad[] = { "/rcp/ping%00evil", "/rcp/ping%0d%0aX:1",
		"/rcp/%E0%A4%A", "/rcp/%", "http://localhost/rcp/ping", "localhost:80",
		"/rcp/\xC3\xA9", "/rcp/a b", "/rcp/ping#x" };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct strbuf sb = STRBUF_INIT;

		strbuf_addf(&sb,
			"POST %s HTTP/1.1\r\nHost: localhost\r\n" JSON
			"Content-Length: %zu\r\n\r\n" PING,
			bad[i], strlen(PING));
		expect_bad(sb.data);
		strbuf_release(&sb);
	}
}

/* libmicrohttpd 0.9.75 would see /healthz; newer ones refuse it themselves. */
static void a_raw_nul_does_not_cut_the_target(void **state)
{
	static const char request[] = "GET /healthz\0evil HTTP/1.1\r\nHost: localhost\r\n\r\n";
	struct wire w;
	struct answer a;

	(void)state;
	wire_open(&w);
	wire_send(&w, request, sizeof(request) - 1);
	a = wire_answer(&w, false);
	assert_true(a.status == 400 || a.status == 0);
	assert_true(wire_ends(&w, 2000));
	answer_release(&a);
	wire_close(&w);
}

/* REQ: D15, T11 (gzip), SEC-01 */
static void other_contents_are_415(void **state)
{
	(void)state;
	expect_raw(HEAD("POST /rcp/ping") "Content-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}",
		415, "-32600");
	expect_raw(HEAD("POST /rcp/ping") "Content-Length: 2\r\n\r\n{}", 415, "-32600");
	expect_raw(HEAD("POST /rcp/ping") "Content-Type: application/x-www-form-urlencoded\r\n"
		"Content-Length: 2\r\n\r\n{}", 415, "-32600");
	expect_raw(HEAD("POST /rcp/ping") JSON
		"Content-Encoding: gzip\r\nContent-Length: 2\r\n\r\n{}",
		415, "-32600");
	expect_raw(HEAD("POST /rcp/ping") "Content-Type: Application/JSON; charset=utf-8\r\n"
		"Content-Encoding: identity\r\nContent-Length: 44\r\n\r\n"
		"{\"jsonrpc\":\"2.0\", \"id\":1 , \"method\":\"ping\" } ", 200, "\"result\"");
}

static void expect_verb(const char *request, const char *allow)
{
	struct answer a = raw_once(request);

	assert_json(&a, 405);
	assert_string_equal(answer_header(&a, "Allow"), allow);
	answer_release(&a);
}

/* REQ: D15, T2, T11 (HEAD) */
static void verbs_are_told(void **state)
{
	struct wire w;
	struct answer a;

	(void)state;
	expect_verb(HEAD("GET /rcp/ping") "\r\n", "POST, OPTIONS");
	expect_verb(HEAD("DELETE /rcp") "\r\n", "POST, OPTIONS");
	expect_verb(HEAD("BREW /rcp/x") "\r\n", "POST, OPTIONS");
	expect_verb(HEAD("OPTIONS /rcp/x") "\r\n", "POST, OPTIONS");
	expect_verb(HEAD("POST /healthz") "Content-Length: 2\r\n\r\n{}", "GET, HEAD, OPTIONS");
	wire_open(&w);
	wire_sends(&w, HEAD("HEAD /healthz") "\r\n");
	a = wire_answer(&w, true);
	assert_int_equal(a.status, 200);
	assert_true(strtoul(answer_header(&a, "Content-Length"), NULL, 10) > 10);
	answer_release(&a);
	/* No body came: the next answer starts right there. */
	wire_post(&w, "/rcp/ping", "", PING);
	a = wire_answer(&w, false);
	assert_json(&a, 200);
	answer_release(&a);
	wire_close(&w);
}

static void health_ready_and_about(void **state)
{
	(void)state;
	expect_raw(HEAD("GET /healthz") "\r\n", 200, "\"status\":\"ok\"");
	expect_raw(HEAD("GET /healthz?x=1") "\r\n", 200, "\"version\":\"1.2.3\"");
	expect_raw(HEAD("GET /readyz") "\r\n", 200, "\"status\":\"ready\"");
	expect_raw(HEAD("GET /") "\r\n", 200, "\"base\":\"/rcp\"");
	expect_raw("GET / HTTP/1.0\r\n\r\n", 200, "\"base\":\"/rcp\"");
	expect_raw(HEAD("GET /metricsz") "\r\n", 404, "-32015");
	atomic_store(&fixture.unready, true);
	expect_raw(HEAD("GET /readyz") "\r\n", 503, "-32010");
	expect_raw(HEAD("GET /healthz") "\r\n", 200, "\"status\":\"ok\"");
}

static void expect_host(const char *host, int status)
{
	struct strbuf sb = STRBUF_INIT;

	strbuf_addf(&sb, "GET /healthz HTTP/1.1\r\nHost: %s\r\n\r\n", host);
	expect_raw(sb.data, status, status == 200 ? "ok" : "-32012");
	strbuf_release(&sb);
}

/* REQ: SEC-02, D21 */
static void foreign_hosts_are_403(void **state)
{
	(void)state;
	expect_host("127.0.0.1", 200);
	expect_host("127.0.0.1:8080", 200);
	expect_host("localhost:9", 200);
	expect_host("LOCALHOST.", 200);
	expect_host("[::1]:8080", 200);
	expect_host("evil.example", 403);
	expect_host("127.0.0.1.evil.example", 403);
	expect_host("", 403);
}

static void assert_cors(const struct answer *a)
{
	assert_string_equal(answer_header(a, "Access-Control-Allow-Origin"), "https://app.example");
	assert_string_equal(answer_header(a, "Vary"), "Origin");
	assert_string_equal(answer_header(a, "Access-Control-Expose-Headers"),
		"WWW-Authenticate, Retry-After, RCP-Session");
}

/* REQ: T10, SEC-01, SEC-03 */
static void only_listed_origins_call(void **state)
{
	struct answer a;

	(void)state;
	a = post_once("/rcp/ping", "Origin: https://evil.example\r\n", PING);
	assert_json(&a, 403);
	assert_null(answer_header(&a, "Access-Control-Allow-Origin"));
	answer_release(&a);
	a = post_once("/rcp/ping", "Origin: null\r\n", PING);
	assert_json(&a, 403);
	answer_release(&a);
	a = post_once("/rcp/ping", "Origin: https://app.example\r\n", PING);
	assert_json(&a, 200);
	assert_cors(&a);
	answer_release(&a);
	atomic_store(&fixture.locked, true);
	a = post_once("/rcp/ping", "Origin: https://app.example\r\n", PING);
	assert_json(&a, 401);
	assert_cors(&a);
	answer_release(&a);
	a = raw_once(HEAD("OPTIONS /rcp/retrieve") "Origin: https://app.example\r\n"
		"Access-Control-Request-Method: POST\r\n"
		"Access-Control-Request-Headers: authorization,content-type,rcp-session\r\n\r\n");
	assert_int_equal(a.status, 204);
	assert_cors(&a);
	assert_non_null(strstr(answer_header(&a, "Access-Control-Allow-Methods"), "POST"));
	assert_string_equal(answer_header(&a, "Access-Control-Allow-Headers"),
		"authorization, content-type, rcp-session, traceparent");
	assert_non_null(answer_header(&a, "Access-Control-Max-Age"));
	answer_release(&a);
	a = raw_once(HEAD("OPTIONS /rcp/retrieve") "Origin: https://evil.example\r\n"
		"Access-Control-Request-Method: POST\r\n\r\n");
	assert_json(&a, 403);
	assert_null(answer_header(&a, "Access-Control-Allow-Origin"));
	answer_release(&a);
}

/* The same answer for every message, before anything is looked at. REQ: T9, D13, SEC-04 */
static void strangers_learn_nothing(void **state)
{
	static const char *const bodies[] = { PING, "{", "[]",
		"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"nope\"}",
		"{\"jsonrpc\":\"2.0\",\"method\":\"ping\"}" };
	struct strbuf first = STRBUF_INIT;
	struct answer a;

	(void)state;
	atomic_store(&fixture.locked, true);
	for (size_t i = 0; i < sizeof(bodies) / sizeof(bodies[0]); i++) {
		a = post_once("/rcp/ping", "", bodies[i]);
		assert_json(&a, 401);
		assert_string_equal(answer_header(&a, "WWW-Authenticate"), "Bearer");
		assert_has(&a, "-32012");
		assert_has(&a, "\"id\":null");
		if (i == 0)
			strbuf_add(&first, a.body.data, a.body.len);
		assert_string_equal(a.body.data, first.data);
		answer_release(&a);
	}
	strbuf_release(&first);
	expect_raw(HEAD("GET /rcp/ping") "\r\n", 401, "-32012");
	expect_raw(HEAD("POST /rcp/ping") "Content-Length: 2\r\n\r\n{}", 401, "-32012");
	a = post_once("/rcp/ping", "Authorization: Bearer key\r\n", PING);
	assert_json(&a, 200);
	answer_release(&a);
	assert_true(atomic_load(&fixture.had_address));
	assert_int_equal(atomic_load(&fixture.last_uid), -1);
}

/* REQ: T11, HTTP-10 */
static void old_clients_and_keep_alive(void **state)
{
	struct wire w;
	struct answer a;
	struct strbuf sb = STRBUF_INIT;

	(void)state;
	strbuf_addf(&sb, "POST /rcp/ping HTTP/1.0\r\n" JSON "Content-Length: %zu\r\n\r\n" PING,
		strlen(PING));
	a = raw_once(sb.data);
	assert_json(&a, 200);
	assert_true(a.closed);
	answer_release(&a);
	strbuf_release(&sb);
	wire_open(&w);
	wire_post(&w, "/rcp/ping", "Connection: close\r\n", PING);
	a = wire_answer(&w, false);
	assert_json(&a, 200);
	assert_true(wire_ends(&w, 2000));
	answer_release(&a);
	wire_close(&w);
	wire_open(&w);
	for (int i = 0; i < 50; i++) {
		wire_post(&w, i % 2 ? "/rcp/ping" : "/rcp/nope", "", PING);
		a = wire_answer(&w, false);
		assert_json(&a, 200);
		answer_release(&a);
	}
	wire_close(&w);
}

/* Answers come in the order of the requests, whoever computes them. REQ: T11 */
static void pipelined_requests_are_answered_in_order(void **state)
{
	struct wire w;

	(void)state;
	wire_open(&w);
	for (int i = 0; i < 20; i++) {
		struct strbuf sb = STRBUF_INIT;

		strbuf_addf(&sb, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"%s\"}", i,
			i % 2 ? "ping" : "echo");
		wire_post(&w, "/rcp", "", sb.data);
		strbuf_release(&sb);
	}
	for (int i = 0; i < 20; i++) {
		struct answer a = wire_answer(&w, false);
		char id[32];

		snprintf(id, sizeof(id), "\"id\":%d,", i);
		assert_json(&a, 200);
		assert_has(&a, id);
		answer_release(&a);
	}
	wire_close(&w);
}

/*
 * What libmicrohttpd refuses by itself, before it asks us, ends the connection, and
 * what follows is not run. (0.9.75 writes its head twice for a Content-Length that
 * is no number, so only the status and the end are looked at.)
 */
static void broken_requests_end(void **state)
{
	static const char *const bad[] = { "\x16\x03\x01\x02\r\n\r\n", "GET\r\n\r\n",
		"GET / HTTP/9.9\r\n\r\n", HEAD("POST /rcp") "no colon\r\n\r\n",
		HEAD("POST /rcp") JSON "Content-Length: x\r\n\r\n",
		HEAD("POST /rcp") JSON "Content-Length: 99999999999999999999999\r\n\r\n" };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct wire w;
		int n;

		wire_open(&w);
		wire_sends(&w, bad[i]);
		(void)wire_try_send(&w, HEAD("GET /healthz") "\r\n", 40);
		while ((n = wire_fill(&w, 2000)) > 0)
			;
		assert_int_equal(n, 0);
		if (w.in.len) {
			int status = (int)strtol(w.in.data + 9, NULL, 10);

			assert_true(status == 400 || status == 413 || status == 505);
			assert_null(strstr(w.in.data, "\"ok\""));
		}
		wire_close(&w);
	}
}

#define T(f) cmocka_unit_test_setup_teardown(f, setup_default, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(methods_live_under_the_base),
		T(two_framings_close_the_connection),
		T(odd_targets_are_refused),
		T(a_raw_nul_does_not_cut_the_target),
		T(other_contents_are_415),
		T(verbs_are_told),
		T(health_ready_and_about),
		T(foreign_hosts_are_403),
		T(only_listed_origins_call),
		T(strangers_learn_nothing),
		T(old_clients_and_keep_alive),
		T(pipelined_requests_are_answered_in_order),
		T(broken_requests_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
