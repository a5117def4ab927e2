/*
 * bench/ref.h: what the two reference programs share: libmicrohttpd driven just as
 * our server drives it (two daemons on one listening socket, each run by a thread
 * of ours with MHD_run on its epoll descriptor), a body buffer for each request,
 * and nothing else. What the server costs beyond them is its own.
 */
#ifndef RCPD_BENCH_REF_H
#define RCPD_BENCH_REF_H

#include <stddef.h>

#define REF_ANSWERS 8

/* One --answer PATH=FILE of the command line. */
struct ref_answer {
	const char *path;
	char *data;
	size_t len;
	size_t number; /* from 0, below REF_ANSWERS */
};

/*
 * Makes the answer to one request body. *ret_len bytes are returned; they are
 * malloc'ed when *ret_owned is 1 (then freed by libmicrohttpd), else they live as
 * long as the program. NULL: answered 400.
 */
typedef char *ref_reply(struct ref_answer *a, const char *body, size_t len, size_t *ret_len,
	int *ret_owned);

/*
 * Usage: PROGRAM --listen PORT --answer PATH=FILE...; port 0 picks a free one.
 * Prints "listening on 127.0.0.1:PORT" to stderr and serves until it is killed.
 * prepare (may be NULL) is called once for each answer; nonzero ends the program.
 */
int ref_main(int argc, char **argv, int (*prepare)(struct ref_answer *a), ref_reply *reply);

#endif
