/*
 * bench/hist.h: a histogram of times in nanoseconds, fixed memory.
 *
 * Each power of two is cut in 64 equal parts, so a quantile is wrong by at most
 * 1.6 %. The largest value is kept exactly.
 */
#ifndef RCPD_BENCH_HIST_H
#define RCPD_BENCH_HIST_H

#include <stdint.h>

#define HIST_PARTS 64U
#define HIST_BUCKETS (HIST_PARTS * 48U)

struct hist {
	uint64_t count, max;
	uint64_t bucket[HIST_BUCKETS];
};

void hist_add(struct hist *h, uint64_t ns);
/* The value below which the part q (0..1) of all lies; 0 when empty. */
uint64_t hist_quantile(const struct hist *h, double q);
/* Prints NAME_p50_us=…, p90, p99, max and NAME_count, a line each. */
void hist_print(const struct hist *h, const char *name);

#endif
