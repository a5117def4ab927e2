/* stdio/stdio.h: RCP/1 as lines of JSON on two descriptors (S1-S5). */
#ifndef RCPD_STDIO_STDIO_H
#define RCPD_STDIO_STDIO_H

#include <stdbool.h>
#include <stddef.h>

#include "rpc/rpc.h"
#include "util/pool.h"

struct stdio_config {
	int in_fd, out_fd;    /* borrowed */
	int stop_fd;          /* readable: stop reading (signal); -1: none; never read from */
	size_t max_line;      /* bytes of one message */
	size_t max_bytes;     /* of requests in flight before reading pauses; 0: no limit */
	size_t max_in_flight; /* requests taken before reading pauses; at most what the
	                        * pool holds, or requests are refused before it pauses */
	unsigned drain_ms;    /* after stop_fd: how long in-flight requests may take */
	unsigned eof_ms;      /* the same after EOF or shutdown; 0: drain_ms */
};

/*
 * Serves until EOF, shutdown, stop_fd or a closed reader. All in-flight requests
 * are answered first (S3); those that take too long are cancelled, and answered
 * so. Returns 0: clean end, a reader that left included; 1: the output is broken.
 * SIGPIPE must be ignored. When it returns, no job calls back any more, but
 * workers may still drop their last references: free the pool before the rpc.
 */
int stdio_serve(const struct stdio_config *cfg, struct rpc *rpc, struct pool *pool);

#endif
