/*
 * frames.c: times the frames of event streams. Always printed: from the request's
 * first byte to the first and to the last frame, and the longest gap between two
 * frames of one answer (a server that held frames back would show no gap where a
 * stage was made to stall). Where a frame carries "ns=<monotonic time>" (the probe
 * bench_sse writes it when the worker sends the frame), also from there to here:
 * both processes read the same clock, so that is the way from worker to socket to
 * reader.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "hist.h"
#include "load.h"
#include "util/clock.h"

struct frames {
	struct hist first, final, gap, travel;
	uint64_t answers, frames, errors;
	/* the answer being read */
	uint64_t start, prev;
	uint64_t seen; /* frames of it */
	uint64_t worst_gap;
	size_t line_len;
	char last;       /* the byte before */
	char line[4096]; /* the start of the frame, for its stamp */
};

static void frame_stamp(struct frames *f, uint64_t at)
{
	static const char key[] = "ns=";

	f->line[f->line_len] = '\0';
	const char *p = strstr(f->line, key);
	if (!p)
		return;
	uint64_t sent = strtoull(p + sizeof(key) - 1, NULL, 10);
	if (sent && sent <= at)
		hist_add(&f->travel, at - sent);
}

static void frame_end(struct frames *f, uint64_t at)
{
	bool data = f->line_len >= 5 && strncmp(f->line, "data:", 5) == 0;

	frame_stamp(f, at);
	f->line_len = 0;
	if (!data) /* a comment that keeps the stream alive */
		return;
	if (f->seen++ == 0)
		hist_add(&f->first, at - f->start);
	else if (at - f->prev > f->worst_gap)
		f->worst_gap = at - f->prev;
	f->prev = at;
}

/* A frame ends with an empty line; our server sends one data line a frame. */
static void take_bytes(void *arg, const char *p, size_t n, uint64_t at)
{
	struct frames *f = arg;

	for (size_t i = 0; i < n; i++) {
		if (p[i] == '\n' && f->last == '\n') {
			frame_end(f, at);
			f->last = '\0';
			continue;
		}
		if (f->line_len < sizeof(f->line) - 1)
			f->line[f->line_len++] = p[i];
		f->last = p[i];
	}
}

/* One request on an open connection; false: it did not come to its end. */
static bool frames_one(struct frames *f, struct client *c, const struct load_options *o)
{
	f->seen = 0;
	f->worst_gap = 0;
	f->line_len = 0;
	f->last = '\0';
	enum client_event e = client_begin(c, &o->request);
	f->start = c->start;
	while (e == CLIENT_WAIT || e == CLIENT_WRITE) {
		struct pollfd p = { .fd = c->fd,
			.events = (short)(e == CLIENT_WRITE ? POLLOUT : POLLIN) };
		if (poll(&p, 1, 10000) != 1)
			return false;
		e = e == CLIENT_WRITE ? client_flush(c, &o->request)
				      : client_read(c, take_bytes, f);
	}
	if (e != CLIENT_DONE || c->answer.status != 200 || f->seen == 0)
		return false;
	hist_add(&f->final, f->prev - f->start);
	hist_add(&f->gap, f->worst_gap);
	f->answers++;
	f->frames += f->seen;
	return true;
}

static void frames_print(const struct frames *f)
{
	printf("answers=%llu\n", (unsigned long long)f->answers);
	printf("frames=%llu\n", (unsigned long long)f->frames);
	printf("errors=%llu\n", (unsigned long long)f->errors);
	hist_print(&f->first, "first");
	hist_print(&f->final, "final");
	hist_print(&f->gap, "gap");
	if (f->travel.count)
		hist_print(&f->travel, "travel");
}

int load_frames(const struct load_options *o)
{
	struct frames *f = calloc(1, sizeof(*f)); /* too big for a stack */
	struct client c = { .fd = -1 };
	uint64_t until = clock_mono_ns() + (uint64_t)o->duration_ms * 1000000U;

	if (!f)
		return 2;
	while (clock_mono_ns() < until && f->errors < 10) {
		if (c.fd < 0 && !client_connect(&c, &o->target)) {
			f->errors++;
			continue;
		}
		bool ok = frames_one(f, &c, o);
		f->errors += !ok;
		if (!ok || o->close_each || c.answer.close)
			client_close(&c);
	}
	client_close(&c);
	frames_print(f);
	int rc = f->errors || !f->answers ? 1 : 0;
	free(f);
	return rc;
}
