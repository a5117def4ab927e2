/*
 * admit.c: new connections. We accept them ourselves and hand them to the thread's
 * daemon. Why not leave that to libmicrohttpd: once accept fails for want of
 * descriptors it stops listening until one of its own connections ends, which
 * behind a proxy that keeps its connections may be never; and with none open it
 * spins. Its per-address limit is one a daemon and counts loopback.
 *
 * All threads wait on the one listening socket; whoever is free takes. At its
 * share of the connection limit a thread just does not look: who comes waits in
 * the kernel's queue.
 */
#include <errno.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http/private.h"
#include "util/clock.h"

#define ADMIT_TURN 8         /* a turn, so that the open ones get theirs */
#define PAUSE_NS 50000000ULL /* after a failure that another try will not mend */

static unsigned connection_share(const struct http_config *cfg)
{
	return cfg->max_connections / cfg->threads + (cfg->max_connections % cfg->threads != 0);
}

bool admit_wanted(const struct io *io, uint64_t now_ns)
{
	return !io->closed && io->conn_count + io->arriving < connection_share(&io->http->cfg) &&
		now_ns >= io->pause_until_ns;
}

/* The client gave up first, or another thread was faster. */
static bool is_passing(int err)
{
	return err == EAGAIN || err == EWOULDBLOCK || err == EINTR || err == ECONNABORTED ||
		err == EPROTO || err == ENETDOWN || err == EHOSTUNREACH;
}

static bool admit_one(struct io *io)
{
	struct sockaddr_storage addr;
	socklen_t len = sizeof(addr);
	struct peer_key key;
	int fd = accept4(io->http->listener.fd, (struct sockaddr *)&addr, &len,
		SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0) {
		if (!is_passing(errno))
			io->pause_until_ns = clock_mono_ns() + PAUSE_NS;
		return false;
	}
	if (peer_key((const struct sockaddr *)&addr, &key) && !peers_room(&io->http->peers, &key)) {
		close(fd);
		return true;
	}
	/* Closes fd if it fails. Opens the connection at once or in the next run,
	 * depending on its version; after that run nothing is arriving any more. */
	if (MHD_add_connection(io->daemon, fd, (const struct sockaddr *)&addr, len) == MHD_YES)
		io->arriving++;
	return true;
}

void admit_run(struct io *io)
{
	unsigned i;

	for (i = 0; i < ADMIT_TURN && admit_wanted(io, UINT64_MAX) && admit_one(io); i++)
		;
}
