/*
 * client.c: the client side of HTTP/1.1, as much as a benchmark of one known
 * server needs: no redirects, no compression, no pipelining. Everything is
 * non-blocking; the caller owns the epoll loop.
 */
#include "client.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/un.h>
#include <unistd.h>

#include "util/clock.h"

static bool target_parse_unix(const char *path, struct target *ret)
{
	struct sockaddr_un *un = (struct sockaddr_un *)&ret->addr;
	size_t n = strlen(path);

	if (n == 0 || n >= sizeof(un->sun_path))
		return false;
	un->sun_family = AF_UNIX;
	memcpy(un->sun_path, path, n + 1);
	ret->addr_len = (socklen_t)sizeof(*un);
	(void)snprintf(ret->host, sizeof(ret->host), "localhost");
	return true;
}

bool target_parse(const char *text, struct target *ret)
{
	struct sockaddr_in *in = (struct sockaddr_in *)&ret->addr;
	const char *colon = strrchr(text, ':');
	char host[64], *end;

	memset(ret, 0, sizeof(*ret));
	if (strncmp(text, "unix:", 5) == 0)
		return target_parse_unix(text + 5, ret);
	if (!colon || (size_t)(colon - text) >= sizeof(host))
		return false;
	memcpy(host, text, (size_t)(colon - text));
	host[colon - text] = '\0';
	unsigned long port = strtoul(colon + 1, &end, 10);
	if (*end || port == 0 || port > 65535 || inet_pton(AF_INET, host, &in->sin_addr) != 1)
		return false;
	in->sin_family = AF_INET;
	in->sin_port = htons((uint16_t)port);
	ret->addr_len = (socklen_t)sizeof(*in);
	(void)snprintf(ret->host, sizeof(ret->host), "%s", text);
	return true;
}

void request_make(const struct target *t, const char *path, const char *body, size_t body_len,
	const char *extra, struct request *ret)
{
	size_t room = body_len + strlen(path) + strlen(extra) + sizeof(t->host) + 256;
	char *p = malloc(room);

	if (!p) {
		(void)fputs("bench: out of memory\n", stderr);
		exit(2);
	}
	int n = snprintf(p, room,
		"POST %s HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\n"
		"Content-Length: %zu\r\n%s\r\n",
		path, t->host, body_len, extra);
	memcpy(p + n, body, body_len);
	ret->data = p;
	ret->len = (size_t)n + body_len;
}

void request_release(struct request *r)
{
	free(r->data);
	r->data = NULL;
}

/* ---- answers ---- */

/* The value of a header line, or NULL; name in lower case with its colon. */
static const char *header_value(const char *head, const char *name)
{
	size_t n = strlen(name);

	for (const char *p = strstr(head, "\r\n"); p; p = strstr(p, "\r\n")) {
		p += 2;
		if (strncasecmp(p, name, n) == 0)
			return p + n + strspn(p + n, " ");
	}
	return NULL;
}

/* head is whole and ends with its empty line. */
static void answer_head(struct answer *a)
{
	const char *length, *te, *conn;

	a->head[a->head_len] = '\0';
	a->state = ANSWER_BAD;
	if (strncmp(a->head, "HTTP/1.", 7) != 0 || a->head_len < 13)
		return;
	a->status = (int)strtol(a->head + 9, NULL, 10);
	conn = header_value(a->head, "connection:");
	a->close = conn && strncasecmp(conn, "close", 5) == 0;
	te = header_value(a->head, "transfer-encoding:");
	length = header_value(a->head, "content-length:");
	if (te && strncasecmp(te, "chunked", 7) == 0) {
		a->state = ANSWER_CHUNK_SIZE;
		a->left = 0;
		a->line_len = 0;
	} else if (length) {
		a->left = strtoull(length, NULL, 10);
		a->state = a->left ? ANSWER_BODY : ANSWER_DONE;
	} else if (a->status == 204) {
		a->state = ANSWER_DONE;
	}
}

/* Takes header bytes up to and with the empty line; returns how many. */
static size_t answer_feed_head(struct answer *a, const char *p, size_t n)
{
	size_t had = a->head_len;
	size_t room = sizeof(a->head) - 1 - had;
	size_t take = n < room ? n : room;

	memcpy(a->head + had, p, take);
	a->head_len += take;
	size_t from = had > 3 ? had - 3 : 0;
	const char *end = memmem(a->head + from, a->head_len - from, "\r\n\r\n", 4);
	if (!end) {
		if (a->head_len == sizeof(a->head) - 1)
			a->state = ANSWER_BAD;
		return take;
	}
	size_t whole = (size_t)(end - a->head) + 4;
	a->head_len = whole;
	answer_head(a);
	return whole - had;
}

/* One byte of the lines between chunks. */
static void answer_feed_line(struct answer *a, char ch)
{
	if (a->state == ANSWER_CHUNK_SIZE && ch != '\r' && ch != '\n') {
		const char digits[] = "0123456789abcdef";
		const char *d = ch ? strchr(digits, ch >= 'A' && ch <= 'F' ? ch + 32 : ch) : NULL;
		if (!d || a->left >> 56)
			a->state = ANSWER_BAD;
		else
			a->left = a->left * 16 + (uint64_t)(d - digits);
	}
	if (ch != '\n') {
		a->line_len += ch != '\r';
		return;
	}
	if (a->state == ANSWER_CHUNK_SIZE)
		a->state = a->left ? ANSWER_CHUNK : ANSWER_TRAILER;
	else if (a->state == ANSWER_CHUNK_END)
		a->state = ANSWER_CHUNK_SIZE;
	else if (a->state == ANSWER_TRAILER && a->line_len == 0)
		a->state = ANSWER_DONE;
	a->line_len = 0;
}

static size_t answer_feed_body(struct answer *a, const char *p, size_t n, body_sink *sink,
	void *arg, uint64_t at)
{
	size_t take = a->left < n ? (size_t)a->left : n;

	if (sink)
		sink(arg, p, take, at);
	a->left -= take;
	if (a->left == 0)
		a->state = a->state == ANSWER_CHUNK ? ANSWER_CHUNK_END : ANSWER_DONE;
	return take;
}

static void answer_feed(struct answer *a, const char *p, size_t n, body_sink *sink, void *arg,
	uint64_t at)
{
	size_t i = 0;

	while (i < n && a->state != ANSWER_BAD) {
		switch (a->state) {
		case ANSWER_HEAD:
			i += answer_feed_head(a, p + i, n - i);
			break;
		case ANSWER_BODY:
		case ANSWER_CHUNK:
			i += answer_feed_body(a, p + i, n - i, sink, arg, at);
			break;
		case ANSWER_DONE: /* bytes nobody asked for */
			a->state = ANSWER_BAD;
			break;
		default:
			answer_feed_line(a, p[i++]);
			break;
		}
	}
}

/* ---- connections ---- */

bool client_connect(struct client *c, const struct target *t)
{
	const int one = 1;
	const struct linger reset = { 1, 0 };
	int fd = socket(t->addr.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	c->fd = fd;
	c->fresh = true;
	c->start = clock_mono_ns();
	if (fd < 0)
		return false;
	if (t->addr.ss_family == AF_INET) {
		(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
		(void)setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
	}
	if (connect(fd, (const struct sockaddr *)&t->addr, t->addr_len) != 0 &&
		errno != EINPROGRESS) {
		client_close(c);
		return false;
	}
	return true;
}

enum client_event client_begin(struct client *c, const struct request *r)
{
	c->sent = 0;
	if (!c->fresh)
		c->start = clock_mono_ns();
	c->fresh = false;
	c->answer.state = ANSWER_HEAD;
	c->answer.head_len = 0;
	return client_flush(c, r);
}

enum client_event client_flush(struct client *c, const struct request *r)
{
	while (c->sent < r->len) {
		ssize_t n = send(c->fd, r->data + c->sent, r->len - c->sent, MSG_NOSIGNAL);
		if (n > 0)
			c->sent += (size_t)n;
		else if (errno == EAGAIN || errno == ENOTCONN)
			return CLIENT_WRITE;
		else if (errno != EINTR)
			return CLIENT_FAILED;
	}
	return CLIENT_WAIT;
}

enum client_event client_read(struct client *c, body_sink *sink, void *arg)
{
	char buf[65536];

	for (;;) {
		ssize_t n = recv(c->fd, buf, sizeof(buf), 0);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? CLIENT_WAIT : CLIENT_FAILED;
		if (n == 0)
			return CLIENT_FAILED;
		answer_feed(&c->answer, buf, (size_t)n, sink, arg, sink ? clock_mono_ns() : 0);
		if (c->answer.state == ANSWER_DONE)
			return CLIENT_DONE;
		if (c->answer.state == ANSWER_BAD)
			return CLIENT_FAILED;
		if ((size_t)n < sizeof(buf))
			return CLIENT_WAIT;
	}
}

void client_close(struct client *c)
{
	if (c->fd >= 0)
		(void)close(c->fd);
	c->fd = -1;
}
