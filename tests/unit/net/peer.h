/*
 * peer.h: an HTTP server for tests, on a port of loopback, that does just what a test
 * tells it to: its handler writes the bytes of the answer itself. A thread for each
 * connection; an optional TLS layer is the tests' own business (tls.h).
 */
#ifndef TEST_NET_PEER_H
#define TEST_NET_PEER_H

#include <stdbool.h>
#include <stddef.h>

struct peer;

struct peer_request {
	int fd;
	unsigned number;  /* of all requests to this peer, from 0 */
	const char *head; /* request line and headers, NUL-terminated */
	const char *body; /* NUL-terminated too */
	size_t body_len;
};

/* Answers one request; false closes the connection. */
typedef bool peer_handler(const struct peer_request *q, void *arg);

struct peer *peer_start(peer_handler *handler, void *arg);
/* The same on a given port (one that peer_port told before), as a server that comes back. */
struct peer *peer_start_at(unsigned port, peer_handler *handler, void *arg);
void peer_stop(struct peer *p);
unsigned peer_port(const struct peer *p);
/* "http://127.0.0.1:PORT/path"; static storage of the thread. */
const char *peer_url(const struct peer *p, const char *path);
unsigned peer_connections(struct peer *p);
unsigned peer_requests(struct peer *p);

/* False when the client no longer reads. */
bool peer_send(int fd, const void *data, size_t n);
bool peer_sends(int fd, const char *text);
/* A whole answer with a length; headers: further lines, each with its CR LF, or "". */
bool peer_answer(int fd, int status, const char *headers, const char *body);
/* Waits until the client closes, or 5 s. */
void peer_wait_closed(int fd);
/* The value of a header line of the request; NULL: none. Static storage of the thread. */
const char *peer_header(const struct peer_request *q, const char *name);

#endif
