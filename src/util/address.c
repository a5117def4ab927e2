/* address.c: numeric addresses by inet_pton(3); no resolver, no surprises. */
#include "util/address.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdint.h>
#include <string.h>
#include <sys/un.h>

static bool port_parse(const char *p, in_port_t *ret)
{
	unsigned port = 0;
	size_t n;

	for (n = 0; p[n] >= '0' && p[n] <= '9' && n < 5; n++)
		port = port * 10 + (unsigned)(p[n] - '0');
	if (n == 0 || p[n] != '\0' || port > 65535)
		return false;
	*ret = htons((uint16_t)port);
	return true;
}

static enum status unix_parse(const char *path, struct address *ret, struct error *e)
{
	struct sockaddr_un *un = (struct sockaddr_un *)&ret->addr;
	size_t len = strlen(path);

	if (len == 0 || len >= sizeof(un->sun_path))
		return error_set(e, ST_INVALID, "the socket path must have 1 to %zu bytes, not %zu",
			sizeof(un->sun_path) - 1, len);
	un->sun_family = AF_UNIX;
	memcpy(un->sun_path, path, len + 1);
	ret->len = (socklen_t)sizeof(*un);
	return ST_OK;
}

/* Splits "HOST:PORT" or "[HOST]:PORT"; NULL if it is neither. Returns the port. */
static const char *host_split(const char *text, char *host, size_t size)
{
	bool bracket = *text == '[';
	const char *start = text + bracket;
	const char *end = strchr(start, bracket ? ']' : ':');
	const char *port = end ? end + 1 + bracket : NULL;

	if (!end || (bracket && end[1] != ':') || (!bracket && strchr(port, ':')) ||
		(size_t)(end - start) >= size)
		return NULL;
	memcpy(host, start, (size_t)(end - start));
	host[end - start] = '\0';
	return port;
}

/* Fills in the host; where the port goes, or NULL if it is no address. */
static in_port_t *inet_parse(const char *host, bool bracket, struct address *ret)
{
	struct sockaddr_in *in4 = (struct sockaddr_in *)&ret->addr;
	struct sockaddr_in6 *in6 = (struct sockaddr_in6 *)&ret->addr;

	if (bracket) {
		if (inet_pton(AF_INET6, host, &in6->sin6_addr) != 1)
			return NULL;
		in6->sin6_family = AF_INET6;
		ret->len = (socklen_t)sizeof(*in6);
		return &in6->sin6_port;
	}
	if (inet_pton(AF_INET, strcmp(host, "localhost") == 0 ? "127.0.0.1" : host,
		    &in4->sin_addr) != 1)
		return NULL;
	in4->sin_family = AF_INET;
	ret->len = (socklen_t)sizeof(*in4);
	return &in4->sin_port;
}

enum status address_parse(const char *text, struct address *ret, struct error *e)
{
	struct address a = { .len = 0 };
	char host[INET6_ADDRSTRLEN];
	const char *port;
	in_port_t *slot;
	enum status st;

	if (strncmp(text, "unix:", 5) == 0) {
		st = unix_parse(text + 5, &a, e);
		if (!st)
			*ret = a;
		return st;
	}
	port = host_split(text, host, sizeof(host));
	slot = port ? inet_parse(host, *text == '[', &a) : NULL;
	if (!slot)
		return error_set(e, ST_INVALID, "it must be " ADDRESS_FORMS);
	if (!port_parse(port, slot))
		return error_set(e, ST_INVALID, "it has no port of 0 to 65535");
	*ret = a;
	return ST_OK;
}

bool address_is_local(const struct address *a)
{
	const struct sockaddr_in *in4 = (const struct sockaddr_in *)&a->addr;
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&a->addr;

	if (a->addr.ss_family == AF_INET)
		return ntohl(in4->sin_addr.s_addr) >> 24 == 127;
	if (a->addr.ss_family == AF_INET6)
		return IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr);
	return a->addr.ss_family == AF_UNIX;
}
