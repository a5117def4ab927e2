/*
 * run.c: the closed loop. Every connection sends its next request when its last
 * answer is whole, so the offered load follows the server; what a stalled server
 * leaves unanswered at the end counts with its age, or a stall would show only as
 * missing samples.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include "hist.h"
#include "load.h"
#include "util/clock.h"

#define BODY_KEPT 4096U /* bytes of an answer that --expect looks at */

struct slot {
	struct client client;
	bool writing; /* registered for EPOLLOUT */
	size_t body_len;
	char *body; /* NULL unless --expect */
};

struct run {
	const struct load_options *o;
	struct slot *slots;
	int ep;
	uint64_t from, until;                /* samples count between these */
	uint64_t total, done, errors, wrong; /* total: the warm-up too */
	struct hist hist;
};

static void slot_watch(struct run *r, struct slot *s, bool writing, int op)
{
	struct epoll_event ev = { .events = writing ? EPOLLIN | EPOLLOUT : EPOLLIN, .data.ptr = s };

	s->writing = writing;
	if (epoll_ctl(r->ep, op, s->client.fd, &ev) != 0) {
		perror("bench_load: epoll_ctl");
		exit(2);
	}
}

/* Connects and begins; a refused connection counts as an error and is tried again
 * by the main loop. */
static void slot_open(struct run *r, struct slot *s)
{
	if (!client_connect(&s->client, &r->o->target)) {
		r->errors++;
		return;
	}
	s->body_len = 0;
	enum client_event e = client_begin(&s->client, &r->o->request);
	if (e == CLIENT_FAILED) {
		r->errors++;
		client_close(&s->client);
		return;
	}
	slot_watch(r, s, e == CLIENT_WRITE, EPOLL_CTL_ADD);
}

static void slot_failed(struct run *r, struct slot *s)
{
	r->errors++;
	client_close(&s->client);
	slot_open(r, s);
}

static bool slot_right(const struct run *r, const struct slot *s)
{
	size_t n = s->body_len < BODY_KEPT ? s->body_len : BODY_KEPT;

	if (s->client.answer.status != 200)
		return false;
	return !s->body || memmem(s->body, n, r->o->expect, strlen(r->o->expect)) != NULL;
}

static void slot_done(struct run *r, struct slot *s)
{
	uint64_t now = clock_mono_ns();

	r->total++;
	if (now >= r->from && now < r->until) {
		r->done++;
		hist_add(&r->hist, now - s->client.start);
	}
	if (!slot_right(r, s))
		r->wrong++;
	s->body_len = 0;
	if (r->o->close_each || s->client.answer.close) {
		client_close(&s->client);
		slot_open(r, s);
		return;
	}
	enum client_event e = client_begin(&s->client, &r->o->request);
	if (e == CLIENT_FAILED)
		slot_failed(r, s);
	else if (e == CLIENT_WRITE)
		slot_watch(r, s, true, EPOLL_CTL_MOD);
}

static void keep_body(void *arg, const char *p, size_t n, uint64_t at)
{
	struct slot *s = arg;

	(void)at;
	if (s->body_len < BODY_KEPT) {
		size_t room = BODY_KEPT - s->body_len;
		memcpy(s->body + s->body_len, p, n < room ? n : room);
	}
	s->body_len += n;
}

static void slot_event(struct run *r, struct slot *s, uint32_t events)
{
	enum client_event e = CLIENT_WAIT;

	if (s->writing && events & (EPOLLOUT | EPOLLERR | EPOLLHUP)) {
		e = client_flush(&s->client, &r->o->request);
		if (e == CLIENT_WAIT)
			slot_watch(r, s, false, EPOLL_CTL_MOD);
	}
	if (e == CLIENT_WAIT && events & (EPOLLIN | EPOLLERR | EPOLLHUP))
		e = client_read(&s->client, s->body ? keep_body : NULL, s);
	if (e == CLIENT_DONE)
		slot_done(r, s);
	else if (e == CLIENT_FAILED)
		slot_failed(r, s);
}

static void run_loop(struct run *r)
{
	struct epoll_event events[256];
	uint64_t now;

	while ((now = clock_mono_ns()) < r->until) {
		int n = epoll_wait(r->ep, events, 256, 50);
		for (int i = 0; i < n; i++)
			slot_event(r, events[i].data.ptr, events[i].events);
		for (unsigned i = 0; n == 0 && i < r->o->connections; i++)
			if (r->slots[i].client.fd < 0)
				slot_open(r, &r->slots[i]);
	}
}

/* What was not answered counts with the age it has now. Returns how many. */
static uint64_t run_unanswered(struct run *r)
{
	uint64_t now = clock_mono_ns(), n = 0;

	for (unsigned i = 0; i < r->o->connections; i++) {
		uint64_t age = now - r->slots[i].client.start;
		if (r->slots[i].client.fd >= 0 && age > r->hist.max) {
			hist_add(&r->hist, age);
			n++;
		}
	}
	return n;
}

static void run_print(struct run *r)
{
	double seconds = (double)r->o->duration_ms / 1e3;
	struct rusage ru;
	uint64_t late = run_unanswered(r);

	(void)getrusage(RUSAGE_SELF, &ru);
	printf("total=%llu\n", (unsigned long long)r->total);
	printf("requests=%llu\n", (unsigned long long)r->done);
	printf("requests_per_s=%.0f\n", (double)r->done / seconds);
	hist_print(&r->hist, "latency");
	printf("late=%llu\n", (unsigned long long)late);
	printf("errors=%llu\n", (unsigned long long)r->errors);
	printf("wrong=%llu\n", (unsigned long long)r->wrong);
	printf("client_cpu_ms=%.1f\n",
		(double)(ru.ru_utime.tv_sec + ru.ru_stime.tv_sec) * 1e3 +
			(double)(ru.ru_utime.tv_usec + ru.ru_stime.tv_usec) / 1e3);
}

static void run_free(struct run *r)
{
	for (unsigned i = 0; r->slots && i < r->o->connections; i++) {
		client_close(&r->slots[i].client);
		free(r->slots[i].body);
	}
	free(r->slots);
	(void)close(r->ep);
	free(r);
}

int load_run(const struct load_options *o)
{
	struct run *r = calloc(1, sizeof(*r)); /* the histogram is too big for a stack */
	uint64_t now = clock_mono_ns();

	if (!r)
		return 2;
	r->o = o;
	r->ep = epoll_create1(EPOLL_CLOEXEC);
	r->slots = calloc(o->connections, sizeof(*r->slots));
	if (r->ep < 0 || !r->slots) {
		run_free(r);
		return 2;
	}
	r->from = now + (uint64_t)o->warmup_ms * 1000000U;
	r->until = r->from + (uint64_t)o->duration_ms * 1000000U;
	for (unsigned i = 0; i < o->connections; i++) {
		r->slots[i].body = o->expect ? malloc(BODY_KEPT) : NULL;
		slot_open(r, &r->slots[i]);
	}
	run_loop(r);
	run_print(r);
	int rc = r->errors || r->wrong ? 1 : 0;
	run_free(r);
	return rc;
}
