/*
 * fault.c: the table of fault points asked for by RCPD_FAULTS. It is read once,
 * before threads start; afterwards only the hit counters change.
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
	_Atomic long left; /* how often it still fires; < 0: for ever */
};

static struct point points[MAX_POINTS];
static size_t point_count;

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
	atomic_store(&p->left, left);
	return true;
}

bool fault_setup(void)
{
	const char *env = getenv("RCPD_FAULTS");
	char copy[1024];
	char *next = copy;

	point_count = 0;
	if (!env || !*env)
		return true;
	if ((size_t)snprintf(copy, sizeof(copy), "%s", env) >= sizeof(copy))
		next = NULL;
	while (next) {
		char *item = next;

		next = strchr(item, ',');
		if (next)
			*next++ = '\0';
		if (point_count == MAX_POINTS || !parse_point(item, &points[point_count])) {
			fprintf(stderr, "rcpd: RCPD_FAULTS: cannot read '%s'\n", item);
			return false;
		}
		point_count++;
	}
	if (!point_count) {
		fprintf(stderr, "rcpd: RCPD_FAULTS is too long\n");
		return false;
	}
	log_event(LOG_WARNING, "fault points are on", LOG_S("points", env));
	return true;
}

/* Takes one of the point's firings; false when they are used up. */
static bool take(struct point *p)
{
	long left = atomic_load(&p->left);

	while (left > 0)
		if (atomic_compare_exchange_weak(&p->left, &left, left - 1))
			return true;
	return left < 0;
}

static void stall(unsigned ms, bool (*stop)(void *arg), void *arg)
{
	uint64_t until = clock_mono_ms() + ms;

	while (clock_mono_ms() < until && !(stop && stop(arg)))
		clock_sleep_ms(STALL_STEP_MS);
}

bool fault_hit(const char *name, bool (*stop)(void *arg), void *arg)
{
	bool fail = false;

	for (size_t i = 0; i < point_count; i++) {
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
