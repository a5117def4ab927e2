/*
 * stall.c: requests that stopped moving, found by the sweep, as libmicrohttpd does
 * not find them by itself.
 *
 * A chunk-size line longer than the connection's memory: it waits for the end of
 * the line and has no room to read it, so its loop spins without looking at the
 * socket. Bytes that wait there, always as many, tell.
 *
 * A client that does not read its answer. The kernel says that there is room again
 * only once a third of the send buffer is free, which a slow reader of a large
 * buffer may need a minute for; so what counts is whether the bytes not yet
 * acknowledged change. That is a look at each answer in progress twice a second;
 * one that is over before the first look costs nothing.
 */
#include <linux/sockios.h>
#include <sys/ioctl.h>

#include "http/private.h"

#define STUCK_SWEEPS 2

bool stall_body(struct exchange *ex)
{
	int waiting = 0;
	bool moved;

	if (!ex->headers.chunked || ioctl(ex->fd, FIONREAD, &waiting) != 0)
		return false;
	moved = waiting == 0 || waiting != ex->seen_bytes || ex->received != ex->seen_received;
	ex->seen_bytes = waiting;
	ex->seen_received = ex->received;
	ex->stuck = moved ? 0 : ex->stuck + 1;
	return ex->stuck >= STUCK_SWEEPS;
}

/* From the first look on: libmicrohttpd's own timeout waits for room in the socket,
 * which comes too late for a slow reader. It gets it back with the next request. */
static void take_over(struct exchange *ex)
{
	(void)MHD_set_connection_option(ex->mhd, MHD_CONNECTION_OPTION_TIMEOUT, 0U);
	ex->watched = true;
	ex->seen_bytes = -1;
}

bool stall_answer(struct exchange *ex, uint64_t now_ns)
{
	uint64_t limit_ns = ex->io->http->cfg.write_timeout_s * 1000000000ULL;
	int unsent = 0;

	if (!limit_ns)
		return false;
	if (!ex->watched)
		take_over(ex);
	if (ioctl(ex->fd, SIOCOUTQ, &unsent) != 0)
		unsent = 0;
	if (unsent != ex->seen_bytes || now_ns < ex->moved_ns)
		ex->moved_ns = now_ns;
	ex->seen_bytes = unsent;
	return now_ns - ex->moved_ns > limit_ns;
}

void stall_release(struct exchange *ex)
{
	if (ex->watched && ex->mhd)
		(void)MHD_set_connection_option(ex->mhd, MHD_CONNECTION_OPTION_TIMEOUT,
			ex->io->http->cfg.idle_timeout_s);
	ex->watched = false;
}
