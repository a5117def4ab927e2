/*
 * watch.c: notices who hung up. A suspended connection is out of libmicrohttpd's
 * sight, so its descriptor stands in an epoll of ours for EPOLLRDHUP, one shot. An
 * event carries descriptor and generation; a stale one finds nobody. A half-close
 * counts as gone: proxies turn it into a full close anyway, and D17 says that a
 * dropped connection always cancels.
 *
 * Once armed, a registration stays armed until it fires, so a kept-alive
 * connection costs one epoll_ctl for all its requests.
 */
#include <sys/epoll.h>

#include "http/private.h"

#define WATCH_BATCH 64

void watch_arm(struct conn *conn)
{
	struct epoll_event ev = {
		.events = EPOLLRDHUP | EPOLLONESHOT,
		.data.u64 = (uint64_t)conn->generation << 32 | (uint32_t)conn->fd,
	};
	int op = conn->watch_added ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;

	if (conn->watch_armed)
		return;
	/* Without it (no kernel memory) the request still ends at its deadline. */
	if (epoll_ctl(conn->io->watch_fd, op, conn->fd, &ev) == 0) {
		conn->watch_added = true;
		conn->watch_armed = true;
	}
}

/* Before the descriptor is closed: a duplicate of it may linger on, and epoll
 * watches what the descriptor stands for. */
void watch_remove(struct conn *conn)
{
	if (conn->watch_added)
		(void)epoll_ctl(conn->io->watch_fd, EPOLL_CTL_DEL, conn->fd, NULL);
	conn->watch_added = conn->watch_armed = false;
}

static void watch_fired(struct io *io, int fd, uint32_t generation)
{
	struct conn *conn = (size_t)fd < io->by_fd_len ? io->by_fd[fd] : NULL;
	struct exchange *ex;

	if (!conn || conn->generation != generation)
		return;
	conn->watch_armed = false;
	ex = conn->ex;
	/* A buffered answer on its way is still worth sending to a half-closed
	 * client; libmicrohttpd notices by itself if nobody takes it. */
	if (ex && (ex->phase == PHASE_PARSING || ex->phase == PHASE_RUNNING || ex->streaming))
		exchange_abandon(ex);
}

void watch_run(struct io *io)
{
	struct epoll_event events[WATCH_BATCH];
	int i, n = epoll_wait(io->watch_fd, events, WATCH_BATCH, 0);

	for (i = 0; i < n; i++) {
		uint64_t tag = events[i].data.u64;
		uint32_t generation = (uint32_t)(tag >> 32);
		int fd = (int)(uint32_t)tag;

		if (generation == 0)
			linger_ready(io, fd);
		else
			watch_fired(io, fd, generation);
	}
}
