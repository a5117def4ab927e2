/* http/listen.h: where to listen, as text, as an address, as a socket. */
#ifndef RCPD_HTTP_LISTEN_H
#define RCPD_HTTP_LISTEN_H

#include <stdbool.h>
#include <sys/socket.h>
#include <sys/stat.h>

#include "util/address.h"
#include "util/status.h"

struct listener {
	struct address address;
	int fd;     /* -1 while closed */
	bool bound; /* a unix path was made by us: dev and ino say which */
	dev_t dev;
	ino_t ino;
};

/* "ADDR:PORT" with a numeric address or localhost, "[V6]:PORT", "unix:PATH". Fills
 * *ret with fd -1. */
enum status listen_parse(const char *text, struct listener *ret, struct error *e);
/*
 * Binds and listens, non-blocking and close-on-exec. A unix path where nobody
 * listens any more is replaced; one in use, or one that is no socket, is ST_LOCKED
 * or ST_INVALID. Port 0 is replaced by the one bound, in l->address.
 */
enum status listen_open(struct listener *l, struct error *e);
/* Closes, and unlinks the unix path if it is still the one bound. */
void listen_close(struct listener *l);
/* "http://127.0.0.1:8077/rcp" or "unix:/path": new text, or NULL (out of memory). */
char *listen_url(const struct listener *l, const char *base);

#endif
