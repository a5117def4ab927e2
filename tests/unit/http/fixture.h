/*
 * fixture.h: a server on a free port with a small method table:
 *
 *   ping            answered on the I/O thread
 *   echo {text?}    on a worker, at once; answers {"n": length}
 *   nap {ms}        on a worker; stops early when told to
 *   deaf {ms}       streams; hears no cancel
 *   steps {ms,n,size?}  streams n progress frames, ms apart
 *   big {size}      answers size bytes
 */
#ifndef TEST_HTTP_FIXTURE_H
#define TEST_HTTP_FIXTURE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "http/http.h"

struct fixture {
	struct http_config cfg; /* change before fixture_start */
	unsigned workers;
	size_t queue;
	struct rpc *rpc;
	struct pool *pool;
	struct http *http;
	atomic_bool locked; /* the gate lets nobody in */
	atomic_bool unready;
	atomic_int naps_stopped; /* handlers that ended because they were told to */
	atomic_int gate_calls;
	atomic_long last_uid; /* what the gate was told */
	atomic_bool had_address;
};

extern struct fixture fixture;

/* Puts fixture back to its defaults; then change cfg, then start. */
void fixture_reset(void);
void fixture_start(void);
/* Stops everything and checks that nothing was left behind. */
void fixture_stop(void);
uint16_t fixture_port(void);
/* Waits up to ms for a gauge to reach v. */
bool gauge_reaches(int gauge, int64_t v, int ms);

/* Setup and teardown with the defaults. */
int setup_default(void **state);
int teardown(void **state);

#define PING "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}"

/* libmicrohttpd before 1.0 (Debian 12), which reads some requests differently. */
bool old_library(void);

#endif
