/* wire.c: see wire.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <arpa/inet.h>
#include <cmocka.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fixture.h"
#include "util/clock.h"
#include "wire.h"

#define ANSWER_MS 10000

void wire_open(struct wire *w)
{
	struct sockaddr_in in4 = { .sin_family = AF_INET, .sin_port = htons(fixture_port()) };
	int on = 1;

	in4.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	strbuf_init(&w->in);
	w->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(w->fd >= 0);
	assert_int_equal(connect(w->fd, (const struct sockaddr *)&in4, sizeof(in4)), 0);
	setsockopt(w->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

void wire_close(struct wire *w)
{
	if (w->fd >= 0)
		close(w->fd);
	w->fd = -1;
	strbuf_release(&w->in);
}

void wire_reset(struct wire *w)
{
	struct linger hard = { .l_onoff = 1, .l_linger = 0 };

	setsockopt(w->fd, SOL_SOCKET, SO_LINGER, &hard, sizeof(hard));
	wire_close(w);
}

bool wire_try_send(struct wire *w, const void *p, size_t n)
{
	const char *at = p;

	while (n > 0) {
		ssize_t sent = send(w->fd, at, n, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			return false;
		at += sent;
		n -= (size_t)sent;
	}
	return true;
}

void wire_send(struct wire *w, const void *p, size_t n)
{
	assert_true(wire_try_send(w, p, n));
}

void wire_sends(struct wire *w, const char *s)
{
	wire_send(w, s, strlen(s));
}

int wire_fill(struct wire *w, int ms)
{
	struct pollfd pfd = { .fd = w->fd, .events = POLLIN };
	char buf[65536];
	ssize_t n;

	if (poll(&pfd, 1, ms) <= 0)
		return -1;
	n = recv(w->fd, buf, sizeof(buf), 0);
	if (n <= 0)
		return 0;
	strbuf_add(&w->in, buf, (size_t)n);
	return (int)n;
}

static int left_ms(uint64_t end_ms)
{
	uint64_t now = clock_mono_ms();

	return end_ms > now ? (int)(end_ms - now) : 0;
}

bool wire_until(struct wire *w, const char *text, int ms)
{
	uint64_t end = clock_mono_ms() + (uint64_t)ms;

	for (;;) {
		if (w->in.len && memmem(w->in.data, w->in.len, text, strlen(text)))
			return true;
		if (wire_fill(w, left_ms(end)) <= 0)
			return false;
	}
}

bool wire_ends(struct wire *w, int ms)
{
	return w->in.len == 0 && wire_fill(w, ms) == 0;
}

static void consume(struct wire *w, size_t n)
{
	memmove(w->in.data, w->in.data + n, w->in.len - n + 1);
	w->in.len -= n;
}

/* At least n bytes are there; false at the end. */
static bool need(struct wire *w, size_t n)
{
	while (w->in.len < n)
		if (wire_fill(w, ANSWER_MS) <= 0)
			return false;
	return true;
}

static void take(struct wire *w, struct strbuf *to, size_t n)
{
	assert_true(need(w, n));
	strbuf_add(to, w->in.data, n);
	consume(w, n);
}

static void take_chunks(struct wire *w, struct strbuf *body)
{
	for (;;) {
		size_t size;
		char *end;

		assert_true(wire_until(w, "\r\n", ANSWER_MS));
		size = strtoul(w->in.data, &end, 16);
		assert_int_equal(*end, '\r');
		consume(w, (size_t)(end - w->in.data) + 2);
		take(w, body, size);
		assert_true(need(w, 2));
		assert_memory_equal(w->in.data, "\r\n", 2);
		consume(w, 2);
		if (size == 0)
			return;
	}
}

const char *answer_header(const struct answer *a, const char *name)
{
	static char value[512];
	const char *line = a->head.data;
	size_t len = strlen(name);

	while ((line = strstr(line, "\r\n"))) {
		line += 2;
		if (strncasecmp(line, name, len) == 0 && line[len] == ':') {
			size_t n;

			line += len + 1;
			line += strspn(line, " ");
			n = strcspn(line, "\r");
			assert_true(n < sizeof(value));
			memcpy(value, line, n);
			value[n] = '\0';
			return value;
		}
	}
	return NULL;
}

static void take_body(struct wire *w, struct answer *a)
{
	const char *length = answer_header(a, "Content-Length");

	if (length) {
		take(w, &a->body, strtoul(length, NULL, 10));
	} else if (answer_header(a, "Transfer-Encoding")) {
		a->chunked = true;
		take_chunks(w, &a->body);
	} else if (a->status != 204) {
		while (wire_fill(w, ANSWER_MS) > 0)
			;
		take(w, &a->body, w->in.len);
	}
}

struct answer wire_answer(struct wire *w, bool no_body)
{
	struct answer a = { .head = STRBUF_INIT, .body = STRBUF_INIT };
	const char *end;

	if (!wire_until(w, "\r\n\r\n", ANSWER_MS))
		return a;
	end = strstr(w->in.data, "\r\n\r\n");
	take(w, &a.head, (size_t)(end - w->in.data) + 4);
	assert_memory_equal(a.head.data, "HTTP/1.", 7);
	a.status = (int)strtol(a.head.data + 9, NULL, 10);
	if (!no_body)
		take_body(w, &a);
	strbuf_add(&a.body, "", 0);
	return a;
}

void answer_release(struct answer *a)
{
	strbuf_release(&a->head);
	strbuf_release(&a->body);
}

void wire_post(struct wire *w, const char *path, const char *headers, const char *body)
{
	struct strbuf sb = STRBUF_INIT;

	strbuf_addf(&sb,
		"POST %s HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
		"Content-Length: %zu\r\n%s\r\n%s",
		path, strlen(body), headers, body);
	wire_send(w, sb.data, sb.len);
	strbuf_release(&sb);
}

struct answer post_once(const char *path, const char *headers, const char *body)
{
	struct wire w;
	struct answer a;

	wire_open(&w);
	wire_post(&w, path, headers, body);
	a = wire_answer(&w, false);
	wire_close(&w);
	return a;
}

struct answer raw_once(const char *request)
{
	struct wire w;
	struct answer a;

	wire_open(&w);
	wire_sends(&w, request);
	a = wire_answer(&w, false);
	a.closed = wire_ends(&w, 300);
	assert_int_equal(w.in.len, 0);
	wire_close(&w);
	return a;
}
