/*
 * net/net.h: outgoing HTTP, over libcurl. Connections are pooled and reused; every call
 * has a deadline, a limit on what it reads, and can be called off. Which addresses may
 * be reached is decided here: redirects are not followed and private addresses refused
 * unless the policy says otherwise. Addresses are checked when a socket is opened, so
 * neither a name that changes its address nor a redirect gets around it; no proxy is
 * used, and credentials never leave the origin (scheme, host, port) that was called.
 *
 * A net may be used from any number of threads. The process must ignore SIGPIPE: TLS
 * writes to sockets whose peer has gone.
 */
#ifndef RCPD_NET_NET_H
#define RCPD_NET_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/bytes.h"
#include "util/status.h"
#include "util/strbuf.h"

struct net;

struct net_policy {
	unsigned redirects;  /* followed at most; 0: none */
	bool private_hosts;  /* loopback, link-local and private addresses may be reached */
	bool plain_http;     /* else https alone */
	const char *ca_file; /* NULL: the system's certificates */
	size_t connections;  /* kept open in the pool; 0: 16 */
	unsigned connect_ms; /* 0: 5000 */
};

enum status net_new(const struct net_policy *policy, struct net **ret, struct error *e);
void net_free(struct net *n); /* nobody is in a call any more; NULL is fine */
/* "host" or "host:port" of an address, checked as far as that goes without looking it
 * up: scheme, no user or password in it. ST_INVALID, ST_NOMEM. */
enum status net_url_host(const struct net *n, const char *url, char *ret, size_t size,
	struct error *e);

struct net_header {
	const char *name, *value;
};

struct net_request {
	const char *method; /* NULL: GET, or POST with a body */
	const char *url;
	const struct net_header *headers;
	size_t header_count;
	struct bytes body;       /* NONE: none */
	size_t max_body;         /* bytes of the answer that are read; more is ST_TOO_LARGE */
	uint64_t deadline_ms;    /* clock_mono_ms */
	bool (*stop)(void *arg); /* asked at least every 10 ms; NULL: never */
	void *stop_arg;
	/* Called with pieces of the body as they come (event streams); false ends the call.
	 * NULL, or a status other than 2xx: the body is gathered in the response. A call
	 * that was ended so is ST_OK. */
	bool (*piece)(void *arg, struct bytes data);
	void *piece_arg;
};

struct net_response {
	int status; /* of HTTP */
	struct strbuf body;
	char content_type[128];
	unsigned retry_after_s; /* of the header Retry-After; 0: none */
};

/* ST_UNAVAILABLE: no answer (could not connect, cut off, bad TLS); ST_TIMEOUT,
 * ST_CANCELLED, ST_TOO_LARGE, ST_INVALID (address or a host that the policy forbids),
 * ST_NOMEM. Any HTTP status is ST_OK. */
enum status net_call(struct net *n, const struct net_request *req, struct net_response *ret,
	struct error *e);
void net_response_release(struct net_response *r);

/* Splits an event stream (text/event-stream, WHATWG) into the data of its events. */
struct net_sse {
	struct strbuf line, data;
	bool skip_lf; /* the line feed of a CR LF is still to come */
	bool started; /* past the first line, where a byte order mark may stand */
};
void net_sse_init(struct net_sse *s);
void net_sse_release(struct net_sse *s);
/* event is called for each whole event; false from it ends, with ST_CANCELLED. max: bytes
 * of one event, above which ST_TOO_LARGE. After an error the stream is of no more use. */
enum status net_sse_feed(struct net_sse *s, struct bytes piece, size_t max,
	bool (*event)(void *arg, struct bytes data), void *arg, struct error *e);

#endif
