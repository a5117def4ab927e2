/*
 * io.c: one I/O thread: a libmicrohttpd daemon without a thread of its own, run by
 * ours. Why not its internal epoll thread: with exactly 128 connections ready it
 * waits again before it handles them, and stalls. The loop waits on four
 * descriptors: the daemon's epoll, our hang-up epoll, the listening socket, and an
 * eventfd that others write to: workers that resumed a connection, drain and stop.
 *
 * The daemon is started without an error log: it would have a line for each client
 * that vanishes.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "http/private.h"
#include "util/clock.h"
#include "util/mem.h"

#define SWEEP_NS 500000000ULL
#define STOP_GRACE_NS 500000000ULL
#define STOP_LIMIT_NS 2000000000ULL

/* The target is decoded by path.c, once; here it stays as it is. */
static size_t leave_escaped(void *cls, struct MHD_Connection *mhd, char *text)
{
	(void)cls, (void)mhd;
	return strlen(text);
}

static enum status io_start_daemon(struct io *io, struct error *e)
{
	const struct http_config *cfg = &io->http->cfg;
	const union MHD_DaemonInfo *info;
	/* Newer ones mend a target with a space in it by a redirect, unless strict;
	 * 0.9.75 would refuse more of what we answer with JSON. */
	int strict = io->http->old_mhd ? 0 : 1;

	io->daemon = MHD_start_daemon(MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME |
			MHD_USE_NO_LISTEN_SOCKET,
		0, NULL, NULL, exchange_step, io, MHD_OPTION_CONNECTION_LIMIT, cfg->max_connections,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, cfg->connection_memory,
		MHD_OPTION_CONNECTION_TIMEOUT, cfg->idle_timeout_s, MHD_OPTION_URI_LOG_CALLBACK,
		exchange_new, io, MHD_OPTION_UNESCAPE_CALLBACK, leave_escaped, io,
		MHD_OPTION_STRICT_FOR_CLIENT, strict, MHD_OPTION_NOTIFY_COMPLETED,
		exchange_completed, io, MHD_OPTION_NOTIFY_CONNECTION, conn_notify, io,
		MHD_OPTION_END);
	if (!io->daemon)
		return error_set(e, ST_IO, "cannot start an HTTP daemon");
	info = MHD_get_daemon_info(io->daemon, MHD_DAEMON_INFO_EPOLL_FD);
	if (!info)
		return error_set(e, ST_IO, "the HTTP library has no epoll support");
	io->mhd_fd = info->epoll_fd;
	return ST_OK;
}

/* Takes no more connections, and says so to http_drain. */
static void io_close(struct io *io)
{
	struct http *h = io->http;

	if (io->closed)
		return;
	io->closed = true;
	pthread_mutex_lock(&h->drain_lock);
	h->accepting--;
	pthread_cond_signal(&h->drain_cond);
	pthread_mutex_unlock(&h->drain_lock);
}

static uint64_t ms_until(uint64_t then_ns, uint64_t now_ns)
{
	return then_ns > now_ns ? (then_ns - now_ns + 999999) / 1000000 : 0;
}

/* How long poll may wait, in milliseconds. */
static int io_timeout(struct io *io, uint64_t now_ns)
{
	MHD_UNSIGNED_LONG_LONG mhd_ms = 0;
	uint64_t wait_ms = 60000, sweep_ms, pause_ms;

	if (MHD_get_timeout(io->daemon, &mhd_ms) == MHD_YES && mhd_ms < wait_ms)
		wait_ms = mhd_ms;
	sweep_ms = ms_until(io->next_sweep_ns, now_ns);
	if ((io->conns || io->lingering) && sweep_ms < wait_ms)
		wait_ms = sweep_ms;
	pause_ms = ms_until(io->pause_until_ns, now_ns);
	if (pause_ms > 0 && pause_ms < wait_ms)
		wait_ms = pause_ms;
	return (int)wait_ms;
}

static void io_sweep(struct io *io, uint64_t now_ns)
{
	if (now_ns < io->next_sweep_ns)
		return;
	io->next_sweep_ns = now_ns + SWEEP_NS;
	conn_sweep(io, now_ns);
	if (io->lingering)
		linger_sweep(io, now_ns);
}

/* One turn of the loop. */
static void io_turn(struct io *io, int max_wait_ms)
{
	uint64_t now_ns = clock_mono_ns(), count;
	int timeout = io_timeout(io, now_ns);
	struct pollfd fds[4] = {
		{ .fd = io->wake_fd, .events = POLLIN },
		{ .fd = io->watch_fd, .events = POLLIN },
		{ .fd = io->mhd_fd, .events = POLLIN },
		{ .fd = admit_wanted(io, now_ns) ? io->http->listener.fd : -1, .events = POLLIN },
	};

	if (max_wait_ms >= 0 && timeout > max_wait_ms)
		timeout = max_wait_ms;
	(void)poll(fds, 4, timeout);
	if (fds[0].revents)
		(void)!read(io->wake_fd, &count, sizeof(count));
	if (atomic_load(&io->http->draining))
		io_close(io);
	else if (fds[3].revents)
		admit_run(io);
	if (fds[1].revents)
		watch_run(io);
	io_sweep(io, clock_mono_ns());
	(void)MHD_run(io->daemon);
	io->arriving = 0;
}

static void io_run_until(struct io *io, uint64_t until_ns)
{
	while (io->exchanges && clock_mono_ns() < until_ns)
		io_turn(io, 20);
}

/*
 * The end: what runs is cancelled and gets a moment to say so; what is left then
 * is given up. A suspended connection must never meet MHD_stop_daemon, so all are
 * resumed and none may suspend again (exchange_wait and the stream reader see
 * `gone`).
 */
static void io_finish(struct io *io)
{
	struct conn *conn;

	for (conn = io->conns; conn; conn = conn->next)
		if (conn->ex && conn->ex->job)
			rpc_job_cancel(conn->ex->job);
	io_run_until(io, clock_mono_ns() + STOP_GRACE_NS);
	for (conn = io->conns; conn; conn = conn->next)
		if (conn->ex)
			exchange_abandon(conn->ex);
	io_run_until(io, clock_mono_ns() + STOP_LIMIT_NS);
	MHD_stop_daemon(io->daemon);
	io->daemon = NULL;
	linger_sweep(io, UINT64_MAX);
}

static void *io_main(void *arg)
{
	struct io *io = arg;

	while (!atomic_load(&io->http->stopping))
		io_turn(io, -1);
	io_close(io);
	io_finish(io);
	return NULL;
}

static void io_release(struct io *io)
{
	if (io->daemon)
		MHD_stop_daemon(io->daemon);
	if (io->watch_fd >= 0)
		close(io->watch_fd);
	if (io->wake_fd >= 0)
		close(io->wake_fd);
	mem_free(io->by_fd);
	io->by_fd = NULL;
}

/* Signals are the main thread's. */
static int io_start_thread(struct io *io)
{
	sigset_t all, old;
	int err;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &old);
	err = pthread_create(&io->thread, NULL, io_main, io);
	pthread_sigmask(SIG_SETMASK, &old, NULL);
	return err;
}

enum status io_start(struct io *io, struct http *http, struct error *e)
{
	enum status st;
	unsigned i;
	int err;

	io->http = http;
	for (i = 0; i < LINGER_MAX; i++)
		io->lingers[i].fd = -1;
	io->watch_fd = epoll_create1(EPOLL_CLOEXEC);
	io->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (io->watch_fd < 0 || io->wake_fd < 0) {
		st = error_set(e, ST_IO, "cannot make an I/O thread's descriptors: %s",
			strerror(errno));
		io_release(io);
		return st;
	}
	st = io_start_daemon(io, e);
	if (st != ST_OK) {
		io_release(io);
		return st;
	}
	pthread_mutex_lock(&http->drain_lock);
	http->accepting++;
	pthread_mutex_unlock(&http->drain_lock);
	err = io_start_thread(io);
	if (err) {
		pthread_mutex_lock(&http->drain_lock);
		http->accepting--;
		pthread_mutex_unlock(&http->drain_lock);
		io_release(io);
		return error_set(e, ST_IO, "cannot start an I/O thread: %s", strerror(err));
	}
	return ST_OK;
}

void io_wake(struct io *io)
{
	uint64_t one = 1;

	(void)!write(io->wake_fd, &one, sizeof(one));
}

void io_join(struct io *io)
{
	pthread_join(io->thread, NULL);
	io_release(io);
}
