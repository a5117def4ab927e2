/* clock.h: time. Deadlines use the monotonic clock only; wall time is for people
 * and for dates in documents. */
#ifndef RCPD_UTIL_CLOCK_H
#define RCPD_UTIL_CLOCK_H

#include <stddef.h>
#include <stdint.h>
#include <time.h>

uint64_t clock_mono_ns(void);
static inline uint64_t clock_mono_ms(void)
{
	return clock_mono_ns() / 1000000U;
}
int64_t clock_wall_ms(void); /* since the Unix epoch, UTC */
/* RFC 3339 in UTC with milliseconds, e.g. 2026-01-02T03:04:05.678Z; buf holds 32. */
void clock_rfc3339(int64_t wall_ms, char *buf, size_t size);
/* The monotonic clock in so many milliseconds, as pthread_cond_timedwait wants it from a
 * condition that waits by that clock. */
void clock_in(unsigned ms, struct timespec *ret);
/* Sleeps the whole time, through EINTR. */
void clock_sleep_ms(unsigned ms);

#endif
