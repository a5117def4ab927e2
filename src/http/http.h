/*
 * http/http.h: RCP/1 over HTTP on libmicrohttpd (its only user). Bytes of a POST
 * go to rpc/, whose answer goes back; nothing here knows a method.
 *
 * Threads: a few I/O threads of ours, each with its own MHD daemon on the shared
 * listening socket, driven by MHD_run. See docs/ARCHITECTURE.md for why.
 */
#ifndef RCPD_HTTP_HTTP_H
#define RCPD_HTTP_HTTP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "rpc/rpc.h"
#include "util/pool.h"
#include "util/status.h"

struct http;

struct http_config {
	const char *listen; /* "ADDR:PORT", "[V6]:PORT" or "unix:PATH"; port 0: any free one */
	const char *base;   /* base path, "/rcp" */
	unsigned threads;   /* I/O threads, >= 1 */
	unsigned max_connections;
	unsigned max_per_address;   /* 0: no limit; loopback and unix peers are not counted */
	size_t connection_memory;   /* MHD's pool for headers and buffers, bytes */
	size_t max_body;            /* bytes of a request body */
	size_t max_body_total;      /* bytes of all bodies in memory */
	size_t max_drain;           /* bytes read and dropped past max_body before answering */
	size_t max_stream_queue;    /* bytes queued on one SSE stream before its reader is cut */
	unsigned idle_timeout_s;    /* keep-alive, headers and bodies that do not move */
	unsigned body_timeout_s;    /* a whole request, first to last byte */
	unsigned write_timeout_s;   /* a reader that stops reading */
	unsigned heartbeat_s;       /* comment line on a silent SSE stream */
	const char *const *hosts;   /* accepted besides loopback; NULL-terminated; NULL: none */
	const char *const *origins; /* CORS origins allowed; NULL-terminated; NULL: none */
	const char *server_name, *server_version; /* for /healthz */
	size_t inline_body; /* bodies up to this are parsed on the I/O thread */
};

/*
 * T9: the gate in front of everything. Fills *ret and returns true, or returns
 * false: then the request is answered 401 (D13). address is textual ("127.0.0.1")
 * or NULL on a unix socket; uid is -1 unless the peer is a unix socket.
 */
typedef bool http_gate(void *arg, const char *address, long uid, const char *authorization,
	struct rpc_caller *ret);

struct http_hooks {
	struct rpc *rpc;
	struct pool *pool;
	http_gate *gate;
	void *gate_arg;
	bool (*ready)(void *arg); /* /readyz; must not block */
	void *ready_arg;
};

/* Binds, starts the I/O threads. cfg and hooks are copied; the strings in cfg are borrowed. */
enum status http_start(const struct http_config *cfg, const struct http_hooks *hooks,
	struct http **ret, struct error *e);
/* What was bound: "http://127.0.0.1:8077/rcp" or "unix:/path". Lives as long as h. */
const char *http_url(const struct http *h);
/* Stops accepting; what comes on open connections is answered 503 (draining). */
void http_drain(struct http *h);
/* Closes all and frees: resumes every suspended connection first. Every job must
 * be done or cancelled soon; waits for none of them. NULL is fine. */
void http_stop(struct http *h);

#endif
