/* clock.c: clocks by clock_gettime(2). */
#include "util/clock.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

uint64_t clock_mono_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000U + (uint64_t)ts.tv_nsec;
}

int64_t clock_wall_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

void clock_rfc3339(int64_t wall_ms, char *buf, size_t size)
{
	int64_t ms = wall_ms % 1000;
	time_t s;
	struct tm tm;
	char date[24];

	if (ms < 0)
		ms += 1000;
	s = (time_t)((wall_ms - ms) / 1000);
	if (!gmtime_r(&s, &tm) || !strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm))
		date[0] = '\0';
	snprintf(buf, size, "%s.%03dZ", date, (int)ms);
}

void clock_sleep_ms(unsigned ms)
{
	struct timespec left = { ms / 1000, (long)(ms % 1000) * 1000000 };

	while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR)
		;
}

void clock_in(unsigned ms, struct timespec *ret)
{
	clock_gettime(CLOCK_MONOTONIC, ret);
	ret->tv_sec += (time_t)(ms / 1000U);
	ret->tv_nsec += (long)(ms % 1000U) * 1000000L;
	if (ret->tv_nsec >= 1000000000L) {
		ret->tv_nsec -= 1000000000L;
		ret->tv_sec++;
	}
}
