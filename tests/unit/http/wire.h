/* wire.h: a client that speaks HTTP byte by byte, so that tests see the wire. */
#ifndef TEST_HTTP_WIRE_H
#define TEST_HTTP_WIRE_H

#include <stdbool.h>
#include <stddef.h>

#include "util/strbuf.h"

/* One response, as it came. */
struct answer {
	int status;           /* 0: the connection closed without one */
	struct strbuf head;   /* status line and headers */
	struct strbuf body;   /* decoded */
	bool chunked, closed; /* closed: the server closed after it */
};

struct wire {
	int fd;
	struct strbuf in; /* received, not yet consumed */
};

void wire_open(struct wire *w);
void wire_close(struct wire *w);
void wire_reset(struct wire *w); /* closes with RST */
void wire_send(struct wire *w, const void *p, size_t n);
void wire_sends(struct wire *w, const char *s);
/* False when the peer no longer takes it. */
bool wire_try_send(struct wire *w, const void *p, size_t n);
/* Reads what comes within ms; returns bytes, 0 at the end, -1 on time-out. */
int wire_fill(struct wire *w, int ms);
/* Reads until `text` was received (true) or ms passed or the end came. */
bool wire_until(struct wire *w, const char *text, int ms);
/* True if the server closes within ms, sending nothing more. */
bool wire_ends(struct wire *w, int ms);
/* Reads one response, body included; no_body: to HEAD. Release it. */
struct answer wire_answer(struct wire *w, bool no_body);
void answer_release(struct answer *a);
/* The value of a response header, or NULL; static storage. */
const char *answer_header(const struct answer *a, const char *name);

/* One POST of body to path with a length, and more header lines. */
void wire_post(struct wire *w, const char *path, const char *headers, const char *body);
/* wire_open, wire_post, wire_answer, wire_close. */
struct answer post_once(const char *path, const char *headers, const char *body);
/* Any raw request, one answer; checks that the server then says nothing more. */
struct answer raw_once(const char *request);

#endif
