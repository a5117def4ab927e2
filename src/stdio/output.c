/*
 * stdio/output.c: writes whole lines under one mutex (S5: frames never mix).
 *
 * A write(2) that blocks could not be ended by a signal that another thread
 * takes, and O_NONBLOCK is out of the question: it would change the terminal or
 * pipe for every process that shares it. So each write follows a poll that found
 * room and is at most PIPE_BUF long, which a pipe or socket with room takes
 * without blocking; while there is none, the poll watches for the end as well.
 */
#include "stdio/output.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "util/clock.h"

#define SLICE_MS 200 /* a blocked writer looks this often whether it must give up */

int output_init(struct output *o, int fd, int stop_fd, unsigned stop_ms)
{
	if (pthread_mutex_init(&o->lock, NULL) != 0)
		return -1;
	o->fd = fd;
	o->stop_fd = stop_fd;
	o->stop_ms = stop_ms;
	atomic_init(&o->state, OUTPUT_FINE);
	atomic_init(&o->give_up_ns, 0);
	return 0;
}

void output_release(struct output *o)
{
	pthread_mutex_destroy(&o->lock);
}

enum output_state output_state(struct output *o)
{
	return (enum output_state)atomic_load(&o->state);
}

void output_give_up_in(struct output *o, unsigned ms)
{
	uint64_t end = clock_mono_ns() + (uint64_t)ms * 1000000U;
	uint64_t old = atomic_load(&o->give_up_ns);

	while ((old == 0 || end < old) && !atomic_compare_exchange_weak(&o->give_up_ns, &old, end))
		;
}

/* Waits until the descriptor takes bytes or has an error to tell. False: time to
 * give up. */
static bool output_wait(struct output *o)
{
	for (;;) {
		uint64_t end = atomic_load(&o->give_up_ns);
		struct pollfd fds[2] = { { .fd = o->fd, .events = POLLOUT },
			{ .fd = end ? -1 : o->stop_fd, .events = POLLIN } };
		int n = poll(fds, 2, SLICE_MS);

		if (n < 0 && errno != EINTR)
			return false;
		if (n > 0 && fds[0].revents)
			return true;
		if (n > 0 && fds[1].revents)
			output_give_up_in(o, o->stop_ms);
		if (end && clock_mono_ns() >= end)
			return false;
	}
}

/* Under lock. */
static int output_write(struct output *o, const char *p, size_t len)
{
	while (len > 0) {
		ssize_t n;

		if (!output_wait(o)) {
			atomic_store(&o->state, OUTPUT_FAILED);
			return -1;
		}
		n = write(o->fd, p, len < PIPE_BUF ? len : PIPE_BUF);
		if (n < 0 && (errno == EINTR || errno == EAGAIN || errno == EWOULDBLOCK))
			continue;
		if (n < 0) {
			bool gone = errno == EPIPE || errno == ECONNRESET;

			atomic_store(&o->state, gone ? OUTPUT_GONE : OUTPUT_FAILED);
			return -1;
		}
		p += n;
		len -= (size_t)n;
	}
	return 0;
}

/* A short line leaves in one write. Under lock. */
static int output_write_line(struct output *o, const char *json, size_t len)
{
	char line[PIPE_BUF];

	if (output_state(o) != OUTPUT_FINE)
		return -1;
	if (len < sizeof(line)) {
		memcpy(line, json, len);
		line[len] = '\n';
		return output_write(o, line, len + 1);
	}
	if (output_write(o, json, len) != 0)
		return -1;
	return output_write(o, "\n", 1);
}

int output_line(struct output *o, const char *json, size_t len)
{
	int rc;

	pthread_mutex_lock(&o->lock);
	rc = output_write_line(o, json, len);
	pthread_mutex_unlock(&o->lock);
	return rc;
}
