/*
 * fault.h: named points where a test can make the server stall or fail.
 *
 * The points are compiled in only with -Dfault_points=true (meson option) and do
 * nothing unless the environment variable RCPD_FAULTS is set when the process
 * starts: a comma-separated list of name=action[:argument[:times]] with actions
 *   stall:MS   wait that long (in 5 ms steps, ending early when stop() is true)
 *   fail[:N]   make fault_hit return true
 *   kill[:N]   raise SIGKILL
 * N (default 1) is the hit that is the first to fire; times (default: for ever) is how
 * often the point fires from there on. Examples:
 *   RCPD_FAULTS=retrieve.recall=stall:400,store.commit=fail::1
 *   RCPD_FAULTS=lexical.merge=kill:3
 */
#ifndef RCPD_UTIL_FAULT_H
#define RCPD_UTIL_FAULT_H

#include <stdbool.h>

/* Reads RCPD_FAULTS, before threads start; returns false and says why on stderr if it
 * cannot be parsed. */
bool fault_setup(void);
#ifdef RCPD_FAULT_POINTS
/* Adds the points of such a list to those there are, one thread at a time. */
bool fault_add(const char *list);
#endif
/* True when the point named must fail. stop (may be NULL) ends a stall early. */
#ifdef RCPD_FAULT_POINTS
bool fault_hit(const char *name, bool (*stop)(void *arg), void *arg);
#else
static inline bool fault_hit(const char *name, bool (*stop)(void *arg), void *arg)
{
	(void)name, (void)stop, (void)arg;
	return false;
}
#endif

#endif
