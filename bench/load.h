/*
 * bench/load.h: the load generator's options and its three modes, one file each.
 * All print key=value lines to stdout for bench/http to read, and return the exit
 * status: 0, or 1 when something was not as it should be.
 */
#ifndef RCPD_BENCH_LOAD_H
#define RCPD_BENCH_LOAD_H

#include <stdbool.h>
#include <stddef.h>

#include "client.h"

struct load_options {
	struct target target;
	struct request request;
	unsigned connections;
	unsigned warmup_ms, duration_ms;
	bool close_each;    /* a new connection for every request */
	bool stream;        /* hold: the answer never ends, its headers are enough */
	const char *expect; /* text that every answer must hold; NULL: not looked at */
};

/* Closed loop: every connection has one request in flight. */
int load_run(const struct load_options *o);
/* Opens connections and keeps them until stdin ends: what does one cost at rest? */
int load_hold(const struct load_options *o);
/* Reads SSE answers one after the other and times their frames. */
int load_frames(const struct load_options *o);

#endif
