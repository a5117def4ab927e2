/*
 * bench/client.h: one HTTP/1.1 client connection that never blocks, and what it
 * understands of an answer: status, Content-Length or chunks, and the body.
 *
 *   client_connect ─▶ client_flush (until sent) ─▶ client_read ─▶ done? ─▶ client_next
 */
#ifndef RCPD_BENCH_CLIENT_H
#define RCPD_BENCH_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

enum answer_state {
	ANSWER_HEAD, /* status line and headers */
	ANSWER_BODY, /* `left` bytes to come */
	ANSWER_CHUNK_SIZE,
	ANSWER_CHUNK,     /* `left` bytes of this chunk to come */
	ANSWER_CHUNK_END, /* the line end after a chunk */
	ANSWER_TRAILER,
	ANSWER_DONE,
	ANSWER_BAD,
};

struct answer {
	enum answer_state state;
	int status;
	bool close;
	uint64_t left;
	size_t line_len; /* of the chunk size or trailer line being read */
	size_t head_len;
	char head[2048];
};

/* Gets the body piece by piece; at is when the bytes were read (monotonic ns). */
typedef void body_sink(void *arg, const char *p, size_t n, uint64_t at);

struct target {
	struct sockaddr_storage addr;
	socklen_t addr_len;
	char host[128]; /* for the Host header */
};

/* The request, the same for all; owned by whoever made it. */
struct request {
	char *data;
	size_t len;
};

struct client {
	int fd; /* -1: closed */
	size_t sent;
	uint64_t start; /* when the request was begun; the first one of a connection: its connect */
	bool fresh;     /* nothing was sent on this connection yet */
	struct answer answer;
};

enum client_event { CLIENT_WAIT, CLIENT_WRITE, CLIENT_DONE, CLIENT_FAILED };

/* "HOST:PORT" (IPv4 in digits) or "unix:PATH"; false: not understood. */
bool target_parse(const char *text, struct target *ret);
/* A POST of body with Content-Type application/json; extra holds further header
 * lines, each with its CRLF, or "". Exits when out of memory. */
void request_make(const struct target *t, const char *path, const char *body, size_t body_len,
	const char *extra, struct request *ret);
void request_release(struct request *r);

/* Opens a socket and begins to connect; false: cannot. */
bool client_connect(struct client *c, const struct target *t);
/* Begins the request on an open connection. */
enum client_event client_begin(struct client *c, const struct request *r);
/* Goes on writing: CLIENT_WRITE wants EPOLLOUT, CLIENT_WAIT waits for the answer. */
enum client_event client_flush(struct client *c, const struct request *r);
/* Reads what is there. */
enum client_event client_read(struct client *c, body_sink *sink, void *arg);
/* Closes with a reset, so that no TIME_WAIT uses up the ports of the machine. */
void client_close(struct client *c);

#endif
