/* stdio/stdio.h: RCP/1 as lines of JSON on two descriptors (S1-S5). */
#ifndef RCPD_STDIO_STDIO_H
#define RCPD_STDIO_STDIO_H

#include <stdbool.h>
#include <stddef.h>

#include "rpc/rpc.h"
#include "util/pool.h"

struct stdio_config {
	int in_fd, out_fd;     /* borrowed */
	int stop_fd;           /* readable: stop reading (signal); -1: none */
	size_t max_line;       /* bytes of one message */
	size_t max_in_flight;  /* requests taken before reading pauses */
	unsigned drain_ms;     /* how long in-flight requests may take at the end */
};

/*
 * Serves until EOF, shutdown, stop_fd or a closed reader. All in-flight requests
 * are answered first (S3). Returns 0: clean end; 1: the output is broken.
 */
int stdio_serve(const struct stdio_config *cfg, struct rpc *rpc, struct pool *pool);

#endif
