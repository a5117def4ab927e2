/* gauge.c: one relaxed atomic a gauge; readers see each exactly, not all at once. */
#include "util/gauge.h"

#include <stdatomic.h>

static _Atomic int64_t gauges[GAUGE_COUNT];

static const char *const names[GAUGE_COUNT] = {
	[GAUGE_REQUESTS] = "requests",
	[GAUGE_INFLIGHT] = "inflight",
	[GAUGE_CONNECTIONS] = "connections",
	[GAUGE_EXCHANGES] = "exchanges",
	[GAUGE_STREAMS] = "streams",
	[GAUGE_BODY_BYTES] = "body_bytes",
	[GAUGE_VIEWS] = "views",
};

void gauge_add(enum gauge g, int64_t n)
{
	atomic_fetch_add_explicit(&gauges[g], n, memory_order_relaxed);
}

int64_t gauge_get(enum gauge g)
{
	return atomic_load_explicit(&gauges[g], memory_order_relaxed);
}

const char *gauge_name(enum gauge g)
{
	return names[g];
}
