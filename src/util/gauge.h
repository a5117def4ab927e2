/*
 * gauge.h: counters of what is alive, so that a test (and SIGUSR1, and later
 * /metrics) can see that nothing was left behind. Atomic; cost: one relaxed add.
 */
#ifndef RCPD_UTIL_GAUGE_H
#define RCPD_UTIL_GAUGE_H

#include <stdint.h>

enum gauge {
	GAUGE_REQUESTS,    /* rpc jobs not yet freed */
	GAUGE_INFLIGHT,    /* rpc jobs being worked on or waiting for a worker */
	GAUGE_CONNECTIONS, /* open HTTP connections */
	GAUGE_EXCHANGES,   /* HTTP requests not yet completed */
	GAUGE_STREAMS,     /* open SSE streams */
	GAUGE_BODY_BYTES,  /* request bodies held in memory */
	GAUGE_VIEWS,       /* open engine views */
	GAUGE_COUNT
};

void gauge_add(enum gauge g, int64_t n);
int64_t gauge_get(enum gauge g);
const char *gauge_name(enum gauge g); /* "requests", … */

#endif
