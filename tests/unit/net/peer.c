/* peer.c: see peer.h. */
#include "peer.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

#define CONNECTIONS 512
#define REQUEST_MAX (4U << 20)

struct peer {
	int fd;
	unsigned port;
	peer_handler *handler;
	void *arg;
	pthread_t acceptor;
	pthread_mutex_t lock; /* over what follows */
	pthread_t threads[CONNECTIONS];
	int fds[CONNECTIONS]; /* -1: closed */
	unsigned connections, requests;
};

struct connection {
	struct peer *p;
	unsigned at;
	int fd;
};

static void must(bool what, const char *name)
{
	if (!what) {
		(void)fprintf(stderr, "peer: %s failed\n", name);
		abort();
	}
}

bool peer_send(int fd, const void *data, size_t n)
{
	const char *p = data;

	while (n > 0) {
		ssize_t sent = send(fd, p, n, MSG_NOSIGNAL);
		if (sent <= 0)
			return false;
		p += sent;
		n -= (size_t)sent;
	}
	return true;
}

bool peer_sends(int fd, const char *text)
{
	return peer_send(fd, text, strlen(text));
}

bool peer_answer(int fd, int status, const char *headers, const char *body)
{
	char head[1024];
	int n = snprintf(head, sizeof(head), "HTTP/1.1 %d X\r\nContent-Length: %zu\r\n%s\r\n",
		status, strlen(body), headers);

	must(n > 0 && (size_t)n < sizeof(head), "an answer's head");
	return peer_send(fd, head, (size_t)n) && peer_sends(fd, body);
}

void peer_wait_closed(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLRDHUP };

	(void)poll(&p, 1, 5000);
}

const char *peer_header(const struct peer_request *q, const char *name)
{
	static _Thread_local char value[1024];
	size_t len = strlen(name);

	for (const char *line = strstr(q->head, "\r\n"); line; line = strstr(line + 2, "\r\n")) {
		const char *p = line + 2;
		if (strncasecmp(p, name, len) != 0 || p[len] != ':')
			continue;
		p += len + 1;
		p += *p == ' ';
		(void)snprintf(value, sizeof(value), "%.*s", (int)strcspn(p, "\r"), p);
		return value;
	}
	return NULL;
}

/* Reads one request into buf; false at the end of the connection. */
static bool request_read(int fd, char *buf, size_t *have, struct peer_request *q, size_t *used)
{
	char *end;
	size_t length = 0;
	ssize_t n;

	for (;;) {
		buf[*have] = '\0';
		end = strstr(buf, "\r\n\r\n");
		if (end) {
			const char *field = strcasestr(buf, "\r\ncontent-length:");
			if (field && field < end)
				length = strtoul(field + 17, NULL, 10);
			if (*have >= (size_t)(end + 4 - buf) + length)
				break;
		}
		must(*have < REQUEST_MAX - 1, "room for a request");
		n = recv(fd, buf + *have, REQUEST_MAX - 1 - *have, 0);
		if (n <= 0)
			return false;
		*have += (size_t)n;
	}
	end[2] = '\0';
	q->head = buf;
	q->body = end + 4;
	q->body_len = length;
	*used = (size_t)(end + 4 - buf) + length;
	return true;
}

static void *serve(void *arg)
{
	struct connection c = *(struct connection *)arg;
	char *buf = malloc(REQUEST_MAX);
	size_t have = 0, used = 0;
	struct peer_request q = { .fd = c.fd };
	bool more = true;

	free(arg);
	must(buf != NULL, "malloc");
	while (more && request_read(c.fd, buf, &have, &q, &used)) {
		(void)pthread_mutex_lock(&c.p->lock);
		q.number = c.p->requests++;
		(void)pthread_mutex_unlock(&c.p->lock);
		more = c.p->handler(&q, c.p->arg);
		memmove(buf, buf + used, have - used);
		have -= used;
	}
	free(buf);
	(void)pthread_mutex_lock(&c.p->lock);
	c.p->fds[c.at] = -1;
	(void)close(c.fd);
	(void)pthread_mutex_unlock(&c.p->lock);
	return NULL;
}

static void *accept_all(void *arg)
{
	struct peer *p = arg;
	int fd, on = 1;

	while ((fd = accept4(p->fd, NULL, NULL, SOCK_CLOEXEC)) >= 0) {
		(void)setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
		struct connection *c = malloc(sizeof(*c));
		must(c != NULL, "malloc");
		(void)pthread_mutex_lock(&p->lock);
		must(p->connections < CONNECTIONS, "room for a connection");
		*c = (struct connection){ p, p->connections, fd };
		p->fds[p->connections] = fd;
		must(pthread_create(&p->threads[p->connections], NULL, serve, c) == 0, "a thread");
		p->connections++;
		(void)pthread_mutex_unlock(&p->lock);
	}
	return NULL;
}

struct peer *peer_start_at(unsigned port, peer_handler *handler, void *arg)
{
	struct peer *p = calloc(1, sizeof(*p));
	struct sockaddr_in a = { .sin_family = AF_INET,
		.sin_port = htons((uint16_t)port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(a);
	int on = 1;

	must(p != NULL, "calloc");
	p->handler = handler;
	p->arg = arg;
	(void)pthread_mutex_init(&p->lock, NULL);
	p->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	must(setsockopt(p->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0, "setsockopt");
	must(bind(p->fd, (struct sockaddr *)&a, len) == 0, "bind");
	must(listen(p->fd, 64) == 0, "listen");
	must(getsockname(p->fd, (struct sockaddr *)&a, &len) == 0, "getsockname");
	p->port = ntohs(a.sin_port);
	must(pthread_create(&p->acceptor, NULL, accept_all, p) == 0, "a thread");
	return p;
}

struct peer *peer_start(peer_handler *handler, void *arg)
{
	return peer_start_at(0, handler, arg);
}

void peer_stop(struct peer *p)
{
	(void)shutdown(p->fd, SHUT_RDWR);
	(void)pthread_join(p->acceptor, NULL);
	(void)close(p->fd);
	(void)pthread_mutex_lock(&p->lock);
	for (unsigned i = 0; i < p->connections; i++)
		if (p->fds[i] >= 0)
			(void)shutdown(p->fds[i], SHUT_RDWR);
	(void)pthread_mutex_unlock(&p->lock);
	for (unsigned i = 0; i < p->connections; i++)
		(void)pthread_join(p->threads[i], NULL);
	(void)pthread_mutex_destroy(&p->lock);
	free(p);
}

unsigned peer_port(const struct peer *p)
{
	return p->port;
}

const char *peer_url(const struct peer *p, const char *path)
{
	static _Thread_local char url[256];

	(void)snprintf(url, sizeof(url), "http://127.0.0.1:%u%s", p->port, path);
	return url;
}

static unsigned counter(struct peer *p, const unsigned *which)
{
	unsigned n;

	(void)pthread_mutex_lock(&p->lock);
	n = *which;
	(void)pthread_mutex_unlock(&p->lock);
	return n;
}

unsigned peer_connections(struct peer *p)
{
	return counter(p, &p->connections);
}

unsigned peer_requests(struct peer *p)
{
	return counter(p, &p->requests);
}
