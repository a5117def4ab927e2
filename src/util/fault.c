/*
 * fault.c: the table of fault points asked for by RCPD_FAULTS. It only grows,
 * published by its length; what is in it changes by the hit counters alone.
 */
#include "util/fault.h"

#ifndef RCPD_FAULT_POINTS

bool fault_setup(void)
{
	return true;
}

#else

#include <errno.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/clock.h"
#include "util/log.h"

#define MAX_POINTS 16
#define STALL_STEP_MS 5

struct point {
	char name[48];
	enum { STALL, FAIL, KILL } action;
	unsigned ms;
	_Atomic long pass; /* hits that do not fire yet */
	_Atomic long left; /* how often it still fires; < 0: for ever */
};

static struct point points[MAX_POINTS];
static _Atomic size_t point_count;

static bool parse_number(const char *s, long *ret)
{
	char *end;

	errno = 0;
	*ret = strtol(s, &end, 10);
	return *s && !*end && !errno && *ret >= 0;
}

/* One name=action[:argument[:times]]; text is cut up in place. */
static bool parse_point(char *text, struct point *p)
{
	char *action = strchr(text, '=');
	char *argument, *times = NULL;
	long n = 0, left = -1;

	if (!action || action == text || (size_t)(action - text) >= sizeof(p->name))
		return false;
	*action++ = '\0';
	argument = strchr(action, ':');
	if (argument) {
		*argument++ = '\0';
		times = strchr(argument, ':');
		if (times)
			*times++ = '\0';
	}
	if (argument && *argument && !parse_number(argument, &n))
		return false;
	if (times && !parse_number(times, &left))
		return false;
	if (strcmp(action, "stall") == 0 && n > 0 && n < 600000)
		p->action = STALL;
	else if (strcmp(action, "fail") == 0)
		p->action = FAIL;
	else if (strcmp(action, "kill") == 0)
		p->action = KILL;
	else
		return false;
	memcpy(p->name, text, strlen(text) + 1); /* its length was checked above */
	p->ms = (unsigned)n;
	atomic_store(&p->pass, p->action == STALL || n == 0 ? 0 : n - 1);
	atomic_store(&p->left, left);
	return true;
}

bool fault_add(const char *list)
{
	size_t n = atomic_load(&point_count);
	char copy[1024];
	char *next = copy;

	if ((size_t)snprintf(copy, sizeof(copy), "%s", list) >= sizeof(copy)) {
		fprintf(stderr, "rcpd: RCPD_FAULTS is too long\n");
		return false;
	}
	while (next) {
		char *item = next;

		next = strchr(item, ',');
		if (next)
			*next++ = '\0';
		if (n == MAX_POINTS || !parse_point(item, &points[n])) {
			fprintf(stderr, "rcpd: RCPD_FAULTS: cannot read '%s'\n", item);
			return false;
		}
		n++;
	}
	atomic_store(&point_count, n);
	log_event(LOG_WARNING, "fault points are on", LOG_S("points", list));
	return true;
}

bool fault_setup(void)
{
	const char *env = getenv("RCPD_FAULTS");

	atomic_store(&point_count, 0);
	return !env || !*env || fault_add(env);
}

/* Takes one from a count that is not 0; false at 0. */
static bool take_one(_Atomic long *count)
{
	long left = atomic_load(count);

	while (left > 0)
		if (atomic_compare_exchange_weak(count, &left, left - 1))
			return true;
	return left < 0;
}

/* Takes one of the point's firings; false before the first and after the last. */
static bool take(struct point *p)
{
	return !take_one(&p->pass) && take_one(&p->left);
}

static void stall(unsigned ms, bool (*stop)(void *arg), void *arg)
{
	uint64_t until = clock_mono_ms() + ms;

	while (clock_mono_ms() < until && !(stop && stop(arg)))
		clock_sleep_ms(STALL_STEP_MS);
}

bool fault_hit(const char *name, bool (*stop)(void *arg), void *arg)
{
	size_t n = atomic_load_explicit(&point_count, memory_order_acquire);
	bool fail = false;

	for (size_t i = 0; i < n; i++) {
		struct point *p = &points[i];

		if (strcmp(p->name, name) != 0 || !take(p))
			continue;
		switch (p->action) {
		case STALL:
			stall(p->ms, stop, arg);
			break;
		case FAIL:
			fail = true;
			break;
		case KILL:
			raise(SIGKILL);
			break;
		}
	}
	return fail;
}

#endif
