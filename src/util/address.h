/*
 * address.h: where a server listens, from text. One parser for the configuration's
 * check and for the socket that is then bound, so that they cannot disagree.
 */
#ifndef RCPD_UTIL_ADDRESS_H
#define RCPD_UTIL_ADDRESS_H

#include <stdbool.h>
#include <sys/socket.h>

#include "util/status.h"

#define ADDRESS_FORMS "ADDR:PORT with a numeric address, [V6]:PORT or unix:PATH"

struct address {
	struct sockaddr_storage addr;
	socklen_t len;
};

/*
 * Reads "127.0.0.1:8077", "localhost:8077" (the same: names are not looked up),
 * "[::1]:8077" or "unix:/path". ST_INVALID with a message that says what is wrong
 * with it, fit to stand behind "cannot listen on '…': ".
 */
enum status address_parse(const char *text, struct address *ret, struct error *e);
/* A unix socket or a loopback address: reached from this machine only. */
bool address_is_local(const struct address *a);

#endif
