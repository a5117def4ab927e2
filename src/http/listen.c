/*
 * listen.c: the one listening socket that all I/O threads share. We make it
 * ourselves, because libmicrohttpd would make one a daemon and knows no unix
 * paths.
 */
#include "http/listen.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/un.h>
#include <unistd.h>

#include "util/mem.h"
#include "util/strbuf.h"

#define LISTEN_BACKLOG 1024

enum status listen_parse(const char *text, struct listener *ret, struct error *e)
{
	struct listener l = { .fd = -1 };
	struct error why;
	enum status st = address_parse(text, &l.address, &why);

	if (st)
		return error_set(e, st, "cannot listen on '%s': %s", text, why.message);
	*ret = l;
	return ST_OK;
}

static enum status system_error(struct error *e, const char *what)
{
	int err = errno;

	return error_set(e, err == EADDRINUSE ? ST_LOCKED : ST_IO, "cannot %s: %s", what,
		strerror(err));
}

/* Removes the path if it is a socket on which nobody listens. A live server keeps
 * its path, and so does whatever is no socket at all. */
static enum status unix_clear(const struct sockaddr_un *un, struct error *e)
{
	struct stat sb;
	int fd, err;

	if (lstat(un->sun_path, &sb) != 0)
		return errno == ENOENT ? ST_OK : system_error(e, "look at the socket path");
	if (!S_ISSOCK(sb.st_mode))
		return error_set(e, ST_INVALID,
			"cannot listen on 'unix:%s': it exists and is no socket", un->sun_path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return system_error(e, "make a socket");
	err = connect(fd, (const struct sockaddr *)un, sizeof(*un)) == 0 ? 0 : errno;
	close(fd);
	if (err != ECONNREFUSED)
		return error_set(e, ST_LOCKED, "cannot listen on 'unix:%s': another process does",
			un->sun_path);
	if (unlink(un->sun_path) != 0 && errno != ENOENT)
		return system_error(e, "remove the old socket");
	return ST_OK;
}

static void unix_remember(struct listener *l)
{
	const struct sockaddr_un *un = (const struct sockaddr_un *)&l->address.addr;
	struct stat sb;

	if (lstat(un->sun_path, &sb) != 0)
		return;
	l->bound = true;
	l->dev = sb.st_dev;
	l->ino = sb.st_ino;
}

static enum status bind_error(const struct listener *l, int why, struct error *e)
{
	char *url = listen_url(l, "");

	error_set(e, why == EADDRINUSE ? ST_LOCKED : ST_IO, "cannot listen on %s: %s",
		url ? url : "the address", strerror(why));
	mem_free(url);
	return e->code;
}

enum status listen_open(struct listener *l, struct error *e)
{
	bool is_unix = l->address.addr.ss_family == AF_UNIX;
	int on = 1;
	enum status st;

	if (is_unix) {
		st = unix_clear((const struct sockaddr_un *)&l->address.addr, e);
		if (st != ST_OK)
			return st;
	}
	l->fd = socket(l->address.addr.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (l->fd < 0)
		return system_error(e, "make a socket");
	/* Without it a restart would wait for the old connections' TIME_WAIT. */
	if (!is_unix)
		(void)setsockopt(l->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
	if (bind(l->fd, (const struct sockaddr *)&l->address.addr, l->address.len) != 0) {
		st = bind_error(l, errno, e);
		listen_close(l);
		return st;
	}
	if (is_unix)
		unix_remember(l);
	if (listen(l->fd, LISTEN_BACKLOG) != 0) {
		st = system_error(e, "listen");
		listen_close(l);
		return st;
	}
	if (!is_unix) {
		l->address.len = (socklen_t)sizeof(l->address.addr);
		if (getsockname(l->fd, (struct sockaddr *)&l->address.addr, &l->address.len) != 0) {
			st = system_error(e, "read the bound address");
			listen_close(l);
			return st;
		}
	}
	return ST_OK;
}

void listen_close(struct listener *l)
{
	const struct sockaddr_un *un = (const struct sockaddr_un *)&l->address.addr;
	struct stat sb;

	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
	if (l->bound && lstat(un->sun_path, &sb) == 0 && sb.st_dev == l->dev && sb.st_ino == l->ino)
		(void)unlink(un->sun_path);
	l->bound = false;
}

char *listen_url(const struct listener *l, const char *base)
{
	const struct sockaddr_in *in4 = (const struct sockaddr_in *)&l->address.addr;
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)&l->address.addr;
	const struct sockaddr_un *un = (const struct sockaddr_un *)&l->address.addr;
	struct strbuf sb = STRBUF_INIT;
	char text[INET6_ADDRSTRLEN] = "";
	char *url;

	if (l->address.addr.ss_family == AF_UNIX) {
		strbuf_addf(&sb, "unix:%s", un->sun_path);
	} else if (l->address.addr.ss_family == AF_INET) {
		(void)inet_ntop(AF_INET, &in4->sin_addr, text, sizeof(text));
		strbuf_addf(&sb, "http://%s:%u%s", text, (unsigned)ntohs(in4->sin_port), base);
	} else {
		(void)inet_ntop(AF_INET6, &in6->sin6_addr, text, sizeof(text));
		strbuf_addf(&sb, "http://[%s]:%u%s", text, (unsigned)ntohs(in6->sin6_port), base);
	}
	url = strbuf_detach(&sb, NULL);
	strbuf_release(&sb);
	return url;
}
