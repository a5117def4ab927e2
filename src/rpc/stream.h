/*
 * rpc/stream.h: what a running request may send before its response. http/sse.c
 * and stdio/ implement it; the dispatcher writes whole frames to it.
 */
#ifndef RCPD_RPC_STREAM_H
#define RCPD_RPC_STREAM_H

#include <stdbool.h>
#include <stddef.h>

struct rpc_stream_ops {
	/*
	 * Queues one JSON-RPC notification (compact JSON, no newline, valid until
	 * the call returns). Called on the worker that runs the request, before
	 * the job's done callback. Returns 0, or -1 when the reader is gone or
	 * does not keep up: the dispatcher then cancels the request.
	 */
	int (*send)(void *arg, const char *json, size_t len);
	bool logs; /* notifications/log may travel here (stdio only, S5) */
};

#endif
