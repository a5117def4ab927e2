/*
 * net/private.h: what the files of this folder share: the pool of connections, the check
 * of addresses and the parts of a URL.
 */
#ifndef RCPD_NET_PRIVATE_H
#define RCPD_NET_PRIVATE_H

#include <curl/curl.h>
#include <pthread.h>
#include <sys/socket.h>

#include "net/net.h"

#define NET_MAX_HOST 255          /* of a name in DNS */
#define NET_MAX_URL 8192          /* bytes */
#define NET_MAX_HEADERS 256       /* lines of one answer, its interim answers included */
#define NET_MAX_HEADER_SIZE 65536 /* bytes of them all */

/* Where a URL leads. Two are the same origin if all three are equal. */
struct net_origin {
	char scheme[8];
	char host[NET_MAX_HOST + 3]; /* lower case; [..] around an IPv6 address */
	char port[8];                /* never empty */
	bool default_port;
};

/*
 * A transfer and its one connection, used by one call at a time. libcurl keeps the
 * connection in the multi handle; a slot that last spoke to the wanted origin is taken
 * first, so the connection is found again.
 */
struct net_slot {
	struct net_slot *next; /* in the list of idle ones, last used first */
	CURLM *multi;
	CURL *easy;
	struct net_origin origin;
};

struct net {
	struct net_policy policy;
	char *ca_file; /* what policy.ca_file points to */
	pthread_mutex_t lock;
	struct net_slot *idle; /* under lock, as is the number */
	size_t idle_count;
};

/* Takes an idle slot or makes one; NULL: out of memory. */
struct net_slot *net_slot_take(struct net *n, const struct net_origin *origin);
/* keep: its connection may be used again. Else it is closed. */
void net_slot_give(struct net *n, struct net_slot *s, bool keep);

/* Whether an address belongs to the public network. Unknown families do not. */
bool net_address_public(const struct sockaddr *sa);

/*
 * Reads the URL and checks it as far as that goes without looking up its host: scheme,
 * length, no user or password in it. ST_INVALID, ST_NOMEM.
 */
enum status net_origin_of(const struct net *n, const char *url, struct net_origin *ret,
	struct error *e);
bool net_origin_equal(const struct net_origin *a, const struct net_origin *b);

/* One request and its answer; a call has one for each redirect that it follows. */
struct net_hop {
	struct net *n;
	const struct net_request *req;
	struct net_response *ret;
	struct net_slot *slot;
	const char *url;
	const char *method;
	struct bytes body;
	bool trusted; /* still at the origin that the caller named: gets all headers */
	bool follow;  /* the body of a redirect is nobody's */

	/* Written by the callbacks of libcurl. */
	size_t body_read;
	size_t header_lines, header_bytes;
	bool forbidden; /* an address was refused by the policy */
	bool too_large, nomem, stopped, late;
	bool ended; /* by req->piece */
	char text[CURL_ERROR_SIZE];
};

/* Whether an HTTP status is a redirect that says where to. */
bool net_is_redirect(long status);
/* Sends the request and reads the answer into hop->ret (but for what libcurl knows of
 * the finished transfer). Statuses as net_call. */
enum status net_hop_run(struct net_hop *h, struct error *e);

#endif
