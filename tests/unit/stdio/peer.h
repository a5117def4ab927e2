/*
 * peer.h: a stdio server in a thread, with a method table made for tests, and the
 * host's side of it.
 *
 *   nap {ms}      on a worker; gives {"slept":ms} or stops when told
 *   big {bytes}   on a worker; an answer of that size
 *   chatty {}     on a worker; two progress frames and one log frame, then {}
 */
#ifndef TEST_STDIO_PEER_H
#define TEST_STDIO_PEER_H

#include <stdbool.h>
#include <stddef.h>

#include "stdio/stdio.h"

struct peer {
	int to, from; /* the host's ends */
	int in, out;  /* the server's ends */
	int stop[2];  /* a pipe; writing to stop[1] stops the server */
	struct stdio_config cfg;
	struct rpc *rpc;
	struct pool *pool;
	pthread_t thread;
	bool running;
	int rc;
	char buf[1 << 20];
	size_t len;
};

/* Fills p with defaults and a pair of pipes (sockets: one socket pair). */
void peer_init(struct peer *p, bool sockets, unsigned workers, size_t queue);
void peer_start(struct peer *p);
void peer_send(struct peer *p, const char *text);
/* The next line without its newline, or NULL at the end; fails after 10 seconds. */
const char *peer_line(struct peer *p);
/* Waits for the server to return, at most 10 seconds, and gives its code. */
int peer_join(struct peer *p);
void peer_release(struct peer *p); /* joins first, if it runs */

#endif
