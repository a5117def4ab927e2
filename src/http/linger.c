/*
 * linger.c: closing so that the last answer is read. An answer given before the
 * body was read (413, 401 to a large upload) leaves unread bytes in the socket; to
 * close it then makes the kernel send a reset, which may overtake the answer on
 * its way. So a duplicate of the descriptor stays open for a moment, its writing
 * side shut by libmicrohttpd, and what still comes is dropped, within bounds of
 * time, bytes and number.
 */
#include <errno.h>
#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http/private.h"
#include "util/clock.h"

#define LINGER_NS 3000000000ULL
#define LINGER_BYTES (256U << 20)
#define LINGER_TURN 16 /* reads a turn, so that others get theirs */

static void linger_close(struct io *io, struct linger_slot *l)
{
	(void)epoll_ctl(io->watch_fd, EPOLL_CTL_DEL, l->fd, NULL);
	close(l->fd);
	l->fd = -1;
	io->lingering--;
}

void linger_add(struct io *io, int fd)
{
	struct epoll_event ev = { .events = EPOLLIN | EPOLLRDHUP };
	unsigned i;
	int copy;

	for (i = 0; i < LINGER_MAX && io->lingers[i].fd >= 0; i++)
		;
	if (i == LINGER_MAX)
		return;
	copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (copy < 0)
		return;
	ev.data.u64 = (uint32_t)copy; /* generation 0 */
	if (epoll_ctl(io->watch_fd, EPOLL_CTL_ADD, copy, &ev) != 0) {
		close(copy);
		return;
	}
	(void)shutdown(copy, SHUT_WR);
	io->lingers[i] = (struct linger_slot){ .fd = copy,
		.until_ns = clock_mono_ns() + LINGER_NS,
		.left = LINGER_BYTES };
	io->lingering++;
}

static struct linger_slot *linger_find(struct io *io, int fd)
{
	unsigned i;

	for (i = 0; i < LINGER_MAX; i++)
		if (io->lingers[i].fd == fd)
			return &io->lingers[i];
	return NULL;
}

void linger_ready(struct io *io, int fd)
{
	char drop[16384];
	struct linger_slot *l = linger_find(io, fd);
	unsigned i;

	for (i = 0; l && i < LINGER_TURN; i++) {
		ssize_t n = recv(l->fd, drop, sizeof(drop), MSG_DONTWAIT);

		if (n > 0 && (size_t)n < l->left) {
			l->left -= (size_t)n;
			continue;
		}
		/* Nothing now: wait for more. The end, an error, too much: close. */
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return;
		linger_close(io, l);
		return;
	}
}

void linger_sweep(struct io *io, uint64_t now_ns)
{
	unsigned i;

	for (i = 0; i < LINGER_MAX; i++)
		if (io->lingers[i].fd >= 0 && now_ns >= io->lingers[i].until_ns)
			linger_close(io, &io->lingers[i]);
}
