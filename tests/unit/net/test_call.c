/*
 * test_call.c: net_call against a server on loopback that answers well and badly: what
 * is sent, what is read, limits, deadlines, calling off, redirects, reuse.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../unit.h"
#include "net/net.h"
#include "peer.h"
#include "util/clock.h"
#include "util/mem.h"

static const struct net_policy open_policy = { .private_hosts = true, .plain_http = true };

static struct net *net_of(const struct net_policy *policy)
{
	struct net *n = NULL;
	struct error e = { .code = ST_OK };

	assert_int_equal(net_new(policy, &n, &e), ST_OK);
	return n;
}

static struct net_request get(const char *url)
{
	return (struct net_request){ .url = url,
		.max_body = 65536,
		.deadline_ms = clock_mono_ms() + 5000 };
}

/* One call with a net of its own. */
static enum status call_once(const struct net_policy *policy, const struct net_request *req,
	struct net_response *ret, struct error *e)
{
	struct net *n = net_of(policy);
	enum status st = net_call(n, req, ret, e);

	net_free(n);
	return st;
}

static void expect_body(const struct net_response *r, const char *body)
{
	assert_int_equal(r->body.len, strlen(body));
	assert_memory_equal(r->body.data ? r->body.data : "", body, strlen(body));
}

/* ---- what is sent and read ---- */

static void header_copy(const struct peer_request *q, const char *name, char *out, size_t size)
{
	const char *value = peer_header(q, name);

	(void)snprintf(out, size, "%s", value ? value : "-");
}

static bool on_echo(const struct peer_request *q, void *arg)
{
	char body[2048];
	char line[200], auth[200], type[200];

	(void)arg;
	(void)snprintf(line, sizeof(line), "%.*s", (int)strcspn(q->head, "\r"), q->head);
	header_copy(q, "Content-Type", type, sizeof(type));
	header_copy(q, "Authorization", auth, sizeof(auth));
	(void)snprintf(body, sizeof(body), "%s|%s|%s|%s|%s|%s", line, type, auth,
		peer_header(q, "Expect") ? "expect" : "-",
		peer_header(q, "Accept-Encoding") ? "encoding" : "-", q->body);
	return peer_answer(q->fd, 201, "Content-Type: text/plain; x=1\r\nRetry-After: 7\r\n", body);
}

static void test_sends_and_reads(void **state)
{
	struct peer *p = peer_start(on_echo, NULL);
	struct net *n = net_of(&open_policy);
	const struct net_header headers[] = { { "Content-Type", "application/json" },
		{ "Authorization", "Bearer k" } };
	struct net_request req = get(peer_url(p, "/a?b=c"));
	struct net_response r;
	struct error e;

	(void)state;
	assert_int_equal(net_call(n, &req, &r, &e), ST_OK);
	assert_int_equal(r.status, 201);
	assert_string_equal(r.content_type, "text/plain; x=1");
	assert_int_equal(r.retry_after_s, 7);
	expect_body(&r, "GET /a?b=c HTTP/1.1|-|-|-|-|");
	net_response_release(&r);

	req.body = bytes_of("{\"x\":1}");
	req.headers = headers;
	req.header_count = 2;
	assert_int_equal(net_call(n, &req, &r, &e), ST_OK);
	expect_body(&r, "POST /a?b=c HTTP/1.1|application/json|Bearer k|-|-|{\"x\":1}");
	net_response_release(&r);

	req.method = "PUT";
	assert_int_equal(net_call(n, &req, &r, &e), ST_OK);
	expect_body(&r, "PUT /a?b=c HTTP/1.1|application/json|Bearer k|-|-|{\"x\":1}");
	net_response_release(&r);
	/* One connection did for all. */
	assert_int_equal(peer_connections(p), 1);
	net_free(n);
	peer_stop(p);
}

static void test_bad_requests(void **state)
{
	static const char *const urls[] = { "", "127.0.0.1", "/x", "ftp://127.0.0.1/",
		"file:///etc", "http://", "http://u@127.0.0.1/", "http://u:p@127.0.0.1/",
		"http://127.0.0.1:99999/", "http://127.0.0.1/a b", "http://127.0.0.1/\r\nX: y",
		"gopher://127.0.0.1/", "http://[::1/", "data:,x" };
	static const struct net_header bad[] = { { "X", "a\r\nY: b" }, { "X: y", "z" },
		{ "", "z" } };
	struct net_response r;
	struct error e;
	char long_url[9000] = "http://127.0.0.1/";

	(void)state;
	for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++) {
		struct net_request req = get(urls[i]);
		e.message[0] = '\0';
		assert_int_equal(call_once(&open_policy, &req, &r, &e), ST_INVALID);
		assert_true(e.message[0]);
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		struct net_request req = get("http://127.0.0.1:1/");
		req.headers = &bad[i];
		req.header_count = 1;
		assert_int_equal(call_once(&open_policy, &req, &r, &e), ST_INVALID);
	}
	memset(long_url + strlen(long_url), 'a', sizeof(long_url) - 1 - strlen(long_url));
	long_url[sizeof(long_url) - 1] = '\0';
	struct net_request req = get(long_url);
	assert_int_equal(call_once(&open_policy, &req, &r, &e), ST_INVALID);
	req = get("http://127.0.0.1:1/");
	req.method = "GET / HTTP/1.1\r\nX:";
	assert_int_equal(call_once(&open_policy, &req, &r, &e), ST_INVALID);
}

static void test_url_host(void **state)
{
	static const struct {
		const char *url, *host;
	} rows[] = { { "https://Api.Example.COM/v1/x", "api.example.com" },
		{ "https://api.example.com:443/", "api.example.com" },
		{ "http://api.example.com:443/", "api.example.com:443" },
		{ "http://10.0.0.1:8080", "10.0.0.1:8080" }, { "http://[::1]:80/", "[::1]" } };
	struct net *n = net_of(&open_policy);
	struct error e;
	char host[300];

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		assert_int_equal(net_url_host(n, rows[i].url, host, sizeof(host), &e), ST_OK);
		assert_string_equal(host, rows[i].host);
	}
	assert_int_equal(net_url_host(n, rows[0].url, host, 5, &e), ST_INVALID);
	net_free(n);
}

/* ---- the policy ---- */

static void test_private_addresses(void **state)
{
	struct peer *p = peer_start(on_echo, NULL);
	static const char *const hosts[] = { "127.0.0.1", "localhost", "2130706433", "0x7f.1",
		"0.0.0.0", "0", "[::1]", "[::ffff:127.0.0.1]", "[::]", "127.1" };
	const struct net_policy policy = { .plain_http = true };
	struct net_response r;
	struct error e;
	char url[100];

	(void)state;
	for (size_t i = 0; i < sizeof(hosts) / sizeof(hosts[0]); i++) {
		(void)snprintf(url, sizeof(url), "http://%s:%u/", hosts[i], peer_port(p));
		struct net_request req = get(url);
		enum status st = call_once(&policy, &req, &r, &e);
		if (st != ST_INVALID)
			print_error("%s: %s\n", url, e.message);
		assert_int_equal(st, ST_INVALID);
	}
	assert_int_equal(peer_connections(p), 0);
	peer_stop(p);
}

static void test_plain_http_refused(void **state)
{
	const struct net_policy policy = { .private_hosts = true };
	struct net_request req = get("http://127.0.0.1:1/");
	struct net_response r;
	struct error e;

	(void)state;
	assert_int_equal(call_once(&policy, &req, &r, &e), ST_INVALID);
	assert_non_null(strstr(e.message, "https://"));
}

static void test_no_proxy_from_the_environment(void **state)
{
	struct peer *p = peer_start(on_echo, NULL);
	struct net_request req = get(peer_url(p, "/"));
	struct net_response r;
	struct error e;

	(void)state;
	assert_int_equal(setenv("http_proxy", "http://127.0.0.1:1", 1), 0);
	assert_int_equal(setenv("ALL_PROXY", "http://127.0.0.1:1", 1), 0);
	assert_int_equal(call_once(&open_policy, &req, &r, &e), ST_OK);
	net_response_release(&r);
	assert_int_equal(unsetenv("http_proxy"), 0);
	assert_int_equal(unsetenv("ALL_PROXY"), 0);
	peer_stop(p);
}

/* ---- redirects ---- */

struct redirect {
	int status;
	char to[200]; /* with the number of the request, if there is a %u in it */
	char seen[8][100];
};

static bool on_redirect(const struct peer_request *q, void *arg)
{
	struct redirect *rd = arg;
	char headers[300];

	if (q->number < 8)
		(void)snprintf(rd->seen[q->number], sizeof(rd->seen[0]), "%.*s %s %s",
			(int)strcspn(q->head, " "), q->head,
			peer_header(q, "Authorization") ? "key" : "-", q->body);
	if (strstr(q->head, " /end "))
		return peer_answer(q->fd, 200, "", "end");
	(void)snprintf(headers, sizeof(headers), "Location: %s\r\n", rd->to);
	return peer_answer(q->fd, rd->status, headers, "moved");
}

/* Posts "b" with a key to a server that redirects; returns the status. */
static enum status redirect_run(struct redirect *rd, unsigned allowed, const char *to_host,
	const char *path, struct net_response *r, struct error *e)
{
	struct peer *p = peer_start(on_redirect, rd);
	const struct net_policy policy = { .private_hosts = true,
		.plain_http = true,
		.redirects = allowed };
	const struct net_header key = { "Authorization", "Bearer secret" };
	struct net_request req = get(peer_url(p, "/"));
	enum status st;

	if (to_host)
		(void)snprintf(rd->to, sizeof(rd->to), "http://%s:%u%s", to_host, peer_port(p),
			path);
	req.body = bytes_of("b");
	req.headers = &key;
	req.header_count = 1;
	st = call_once(&policy, &req, r, e);
	peer_stop(p);
	return st;
}

static void test_redirects(void **state)
{
	static const struct {
		int status;
		const char *host, *second;
	} rows[] = { { 307, "127.0.0.1", "POST key b" }, { 308, "127.0.0.1", "POST key b" },
		{ 301, "127.0.0.1", "GET key " }, { 302, "127.0.0.1", "GET key " },
		{ 303, "127.0.0.1", "GET key " }, { 307, "localhost", "POST - b" },
		{ 302, "localhost", "GET - " } };
	struct net_response r;
	struct error e;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct redirect rd = { .status = rows[i].status };
		assert_int_equal(redirect_run(&rd, 3, rows[i].host, "/end", &r, &e), ST_OK);
		assert_int_equal(r.status, 200);
		expect_body(&r, "end");
		net_response_release(&r);
		assert_string_equal(rd.seen[0], "POST key b");
		assert_string_equal(rd.seen[1], rows[i].second);
	}
}

static void test_redirects_have_an_end(void **state)
{
	struct redirect rd = { .status = 307 };
	struct net_response r;
	struct error e;

	(void)state;
	/* Not followed: the answer is the redirect. */
	assert_int_equal(redirect_run(&rd, 0, "127.0.0.1", "/end", &r, &e), ST_OK);
	assert_int_equal(r.status, 307);
	expect_body(&r, "moved");
	net_response_release(&r);
	assert_string_equal(rd.seen[1], "");
	/* A loop: as many as allowed. */
	memset(&rd.seen, 0, sizeof(rd.seen));
	assert_int_equal(redirect_run(&rd, 3, "127.0.0.1", "/", &r, &e), ST_OK);
	assert_int_equal(r.status, 307);
	net_response_release(&r);
	assert_string_equal(rd.seen[3], "POST key b");
	assert_string_equal(rd.seen[4], "");
}

static void test_redirects_elsewhere(void **state)
{
	static const char *const to[] = { "ftp://127.0.0.1/", "file:///etc/passwd",
		"http://u:p@127.0.0.1/", "gopher://x/" };
	struct net_response r;
	struct error e;

	(void)state;
	for (size_t i = 0; i < sizeof(to) / sizeof(to[0]); i++) {
		struct redirect rd = { .status = 302 };
		(void)snprintf(rd.to, sizeof(rd.to), "%s", to[i]);
		assert_int_equal(redirect_run(&rd, 3, NULL, NULL, &r, &e), ST_INVALID);
	}
}

/* ---- servers that misbehave ---- */

enum manner {
	HANG,
	HANG_AFTER_HEAD,
	HANG_IN_BODY,
	DRIP,
	CUT,
	CUT_CHUNK,
	CLOSE,
	GARBAGE,
	LONG_BODY,
	LONG_CHUNKED,
	MANY_HEADERS,
	LONG_HEADER,
	INTERIM,
	CHUNKED,
};

static void drip(int fd)
{
	(void)peer_sends(fd, "HTTP/1.1 200 X\r\nContent-Length: 900\r\n\r\n");
	for (int i = 0; i < 800 && peer_sends(fd, "x"); i++)
		clock_sleep_ms(5);
}

static void send_many(int fd, const char *first, const char *each, unsigned n)
{
	bool ok = peer_sends(fd, first);

	for (unsigned i = 0; ok && i < n; i++)
		ok = peer_sends(fd, each);
}

static bool on_misbehave(const struct peer_request *q, void *arg)
{
	static const struct {
		const char *text;
		bool wait;
	} fixed[] = { [HANG] = { "", true },
		[HANG_AFTER_HEAD] = { "HTTP/1.1 200 X\r\nContent-Length: 5\r\n\r\n", true },
		[HANG_IN_BODY] = { "HTTP/1.1 200 X\r\nContent-Length: 5\r\n\r\nab", true },
		[CUT] = { "HTTP/1.1 200 X\r\nContent-Length: 5\r\n\r\nab", false },
		[CUT_CHUNK] = { "HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nab",
			false },
		[CLOSE] = { "", false },
		[GARBAGE] = { "SSH-2.0-x\r\n\r\n", false },
		[LONG_BODY] = { "HTTP/1.1 200 X\r\nContent-Length: 99999999999\r\n\r\nab", true },
		[CHUNKED] = { "HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n"
			      "3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n",
			false } };
	char line[1001];

	memset(line, 'a', sizeof(line) - 1);
	line[sizeof(line) - 1] = '\0';
	switch (*(enum manner *)arg) {
	case DRIP:
		drip(q->fd);
		return false;
	case MANY_HEADERS:
		send_many(q->fd, "HTTP/1.1 200 X\r\n", "X: y\r\n", 5000);
		return false;
	case LONG_HEADER:
		send_many(q->fd, "HTTP/1.1 200 X\r\nX: ", line, 300);
		return false;
	case LONG_CHUNKED:
		send_many(q->fd, "HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n",
			"5\r\nabcde\r\n", 1000000);
		return false;
	case INTERIM:
		send_many(q->fd, "", "HTTP/1.1 100 Continue\r\nX: y\r\n\r\n", 1000000);
		return false;
	default:
		(void)peer_sends(q->fd, fixed[*(enum manner *)arg].text);
		if (fixed[*(enum manner *)arg].wait)
			peer_wait_closed(q->fd);
		return false;
	}
}

static enum status misbehave(enum manner m, uint64_t ms, struct net_response *r)
{
	struct peer *p = peer_start(on_misbehave, &m);
	struct net_request req = get(peer_url(p, "/"));
	struct error e;
	enum status st;

	req.deadline_ms = clock_mono_ms() + ms;
	req.max_body = 1000;
	st = call_once(&open_policy, &req, r, &e);
	peer_stop(p);
	return st;
}

static void test_misbehaving_servers(void **state)
{
	static const struct {
		enum manner m;
		enum status st;
	} rows[] = { { CUT, ST_UNAVAILABLE }, { CUT_CHUNK, ST_UNAVAILABLE },
		{ CLOSE, ST_UNAVAILABLE }, { GARBAGE, ST_UNAVAILABLE }, { LONG_BODY, ST_TOO_LARGE },
		{ LONG_CHUNKED, ST_TOO_LARGE }, { MANY_HEADERS, ST_TOO_LARGE },
		{ INTERIM, ST_TOO_LARGE } };
	struct net_response r;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		enum status st = misbehave(rows[i].m, 5000, &r);
		if (st != rows[i].st)
			print_error("manner %d: %s\n", (int)rows[i].m, status_name(st));
		assert_int_equal(st, rows[i].st);
	}
	/* Here libcurl's own limit may come first. */
	enum status st = misbehave(LONG_HEADER, 5000, &r);
	assert_true(st == ST_TOO_LARGE || st == ST_NOMEM || st == ST_UNAVAILABLE);
	assert_int_equal(misbehave(CHUNKED, 5000, &r), ST_OK);
	expect_body(&r, "abcde");
	net_response_release(&r);
}

static void test_deadline(void **state)
{
	static const enum manner rows[] = { HANG, HANG_AFTER_HEAD, HANG_IN_BODY, DRIP };
	struct net_response r;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		uint64_t start = clock_mono_ms(), took;
		assert_int_equal(misbehave(rows[i], 120, &r), ST_TIMEOUT);
		took = clock_mono_ms() - start;
		assert_in_range(took, 119, 1000);
	}
	assert_int_equal(misbehave(CHUNKED, 0, &r), ST_TIMEOUT);
}

static bool stop_later(void *arg)
{
	return clock_mono_ms() >= *(uint64_t *)arg;
}

static void test_stop(void **state)
{
	enum manner m = HANG;
	struct peer *p = peer_start(on_misbehave, &m);
	struct net_request req = get(peer_url(p, "/"));
	struct net_response r;
	struct error e;
	uint64_t at = clock_mono_ms() + 100;

	(void)state;
	req.stop = stop_later;
	req.stop_arg = &at;
	assert_int_equal(call_once(&open_policy, &req, &r, &e), ST_CANCELLED);
	assert_in_range(clock_mono_ms() - at, 0, 500);
	peer_stop(p);
}

static void test_nobody_there(void **state)
{
	struct peer *p = peer_start(on_echo, NULL);
	char url[100];
	struct net_response r;
	struct error e = { .code = ST_OK };

	(void)state;
	(void)snprintf(url, sizeof(url), "%s", peer_url(p, "/"));
	peer_stop(p);
	struct net_request req = get(url);
	assert_int_equal(call_once(&open_policy, &req, &r, &e), ST_UNAVAILABLE);
	assert_true(e.detail[0]);
	assert_null(strstr(e.message, "127.0.0.1"));
	req = get("http://nowhere.invalid/");
	assert_int_equal(call_once(&open_policy, &req, &r, &e), ST_UNAVAILABLE);
}

static bool on_sized(const struct peer_request *q, void *arg)
{
	(void)arg;
	return peer_answer(q->fd, 200, "", "0123456789");
}

static void test_body_limit_is_exact(void **state)
{
	struct peer *p = peer_start(on_sized, NULL);
	struct net_request req = get(peer_url(p, "/"));
	struct net_response r;
	struct error e;

	(void)state;
	req.max_body = 10;
	assert_int_equal(call_once(&open_policy, &req, &r, &e), ST_OK);
	expect_body(&r, "0123456789");
	net_response_release(&r);
	req.max_body = 9;
	assert_int_equal(call_once(&open_policy, &req, &r, &e), ST_TOO_LARGE);
	peer_stop(p);
}

/* ---- pieces ---- */

struct taken {
	size_t len, enough;
};

static bool take(void *arg, struct bytes data)
{
	struct taken *t = arg;

	t->len += data.len;
	return t->len < t->enough;
}

static bool on_stream(const struct peer_request *q, void *arg)
{
	bool ok = peer_sends(q->fd, "HTTP/1.1 200 X\r\nTransfer-Encoding: chunked\r\n\r\n");

	(void)arg;
	for (int i = 0; ok && i < 200; i++) {
		ok = peer_sends(q->fd, "5\r\nabcde\r\n");
		clock_sleep_ms(1);
	}
	return ok && peer_sends(q->fd, "0\r\n\r\n");
}

static void test_pieces(void **state)
{
	struct peer *p = peer_start(on_stream, NULL);
	struct net_request req = get(peer_url(p, "/"));
	struct taken t = { 0, 100000 };
	struct net_response r;
	struct error e;

	(void)state;
	req.piece = take;
	req.piece_arg = &t;
	assert_int_equal(call_once(&open_policy, &req, &r, &e), ST_OK);
	assert_int_equal(t.len, 1000);
	assert_int_equal(r.body.len, 0);
	net_response_release(&r);
	/* Ended half way. */
	t = (struct taken){ 0, 100 };
	assert_int_equal(call_once(&open_policy, &req, &r, &e), ST_OK);
	assert_in_range(t.len, 100, 999);
	net_response_release(&r);
	peer_stop(p);
}

/* ---- many at once, and no memory ---- */

struct crowd {
	struct net *n;
	const char *url;
	int wrong;
};

static void *crowd_member(void *arg)
{
	struct crowd *c = arg;
	struct error e;

	for (int i = 0; i < 20; i++) {
		char body[20];
		struct net_request req = get(c->url);
		struct net_response r;
		(void)snprintf(body, sizeof(body), "<%d>", i);
		req.body = bytes_of(body);
		if (net_call(c->n, &req, &r, &e) != ST_OK || !strstr(r.body.data, body))
			__atomic_fetch_add(&c->wrong, 1, __ATOMIC_RELAXED);
		else
			net_response_release(&r);
	}
	return NULL;
}

static void test_threads(void **state)
{
	struct peer *p = peer_start(on_echo, NULL);
	struct net *n = net_of(&open_policy);
	struct crowd c = { n, peer_url(p, "/"), 0 };
	pthread_t threads[8];

	(void)state;
	for (int i = 0; i < 8; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, crowd_member, &c), 0);
	for (int i = 0; i < 8; i++)
		assert_int_equal(pthread_join(threads[i], NULL), 0);
	assert_int_equal(c.wrong, 0);
	/* No more connections than calls at once. */
	assert_in_range(peer_connections(p), 1, 8);
	net_free(n);
	peer_stop(p);
}

static void test_out_of_memory(void **state)
{
	struct peer *p = peer_start(on_echo, NULL);
	const struct net_header key = { "Authorization", "Bearer secret" };
	enum status st = ST_NOMEM;
	long i;

	(void)state;
	for (i = 0; i < 2000 && st != ST_OK; i++) {
		struct net_request req = get(peer_url(p, "/"));
		struct net *n = NULL;
		struct net_response r;
		struct error e;
		req.headers = &key;
		req.header_count = 1;
		req.body = bytes_of("b");
		(void)mem_fail_after(i);
		st = net_new(&open_policy, &n, &e);
		if (!st)
			st = net_call(n, &req, &r, &e);
		(void)mem_fail_after(-1);
		assert_true(
			st == ST_OK || st == ST_NOMEM || st == ST_UNAVAILABLE || st == ST_INVALID);
		if (!st)
			net_response_release(&r);
		net_free(n);
	}
	assert_int_equal(st, ST_OK);
	assert_true(i > 10);
	peer_stop(p);
}

static void test_ca_file_must_be_there(void **state)
{
	const struct net_policy policy = { .ca_file = "/nonexistent/ca.pem" };
	struct net *n = NULL;
	struct error e;

	(void)state;
	assert_int_equal(net_new(&policy, &n, &e), ST_NOT_FOUND);
	assert_null(n);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sends_and_reads),
		cmocka_unit_test(test_bad_requests),
		cmocka_unit_test(test_url_host),
		cmocka_unit_test(test_private_addresses),
		cmocka_unit_test(test_plain_http_refused),
		cmocka_unit_test(test_no_proxy_from_the_environment),
		cmocka_unit_test(test_redirects),
		cmocka_unit_test(test_redirects_have_an_end),
		cmocka_unit_test(test_redirects_elsewhere),
		cmocka_unit_test(test_misbehaving_servers),
		cmocka_unit_test(test_deadline),
		cmocka_unit_test(test_stop),
		cmocka_unit_test(test_nobody_there),
		cmocka_unit_test(test_body_limit_is_exact),
		cmocka_unit_test(test_pieces),
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_out_of_memory),
		cmocka_unit_test(test_ca_file_must_be_there),
	};

	(void)signal(SIGPIPE, SIG_IGN);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
