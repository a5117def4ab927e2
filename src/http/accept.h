/*
 * http/accept.h: does the client want an event stream? (T4, D16)
 *
 * All Accept headers of a request are added one after the other; the answer is
 * asked for once at the end. Pure: no libmicrohttpd, no allocation.
 */
#ifndef RCPD_HTTP_ACCEPT_H
#define RCPD_HTTP_ACCEPT_H

#include <stdbool.h>

/* Weights in thousandths; -1: that type was not named. */
struct accept {
	int sse;
	int json;
};

#define ACCEPT_INIT                                                                                \
	{                                                                                          \
		-1, -1                                                                             \
	}

/* Adds the value of one Accept header. Ranges that cannot be parsed are skipped. */
void accept_add(struct accept *a, const char *value);
/* text/event-stream was named with a weight above 0 and not below that of
 * application/json. Wildcards never ask for a stream. */
bool accept_wants_sse(const struct accept *a);

#endif
