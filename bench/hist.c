/*
 * hist.c: the histogram behind every latency that the benchmark prints. A bucket
 * is found from the position of the highest bit and the six bits after it.
 */
#include "hist.h"

#include <stdio.h>

static unsigned bucket_of(uint64_t ns)
{
	if (ns < HIST_PARTS)
		return (unsigned)ns;
	unsigned high = 63U - (unsigned)__builtin_clzll(ns); /* >= 6 */
	unsigned part = (unsigned)(ns >> (high - 6U)) & (HIST_PARTS - 1U);
	unsigned i = (high - 5U) * HIST_PARTS + part;
	return i < HIST_BUCKETS ? i : HIST_BUCKETS - 1U;
}

/* The middle of a bucket. */
static uint64_t bucket_value(unsigned i)
{
	if (i < HIST_PARTS)
		return i;
	unsigned shift = i / HIST_PARTS - 1U;
	uint64_t low = (uint64_t)(HIST_PARTS + i % HIST_PARTS) << shift;
	return low + ((uint64_t)1 << shift) / 2U;
}

void hist_add(struct hist *h, uint64_t ns)
{
	h->bucket[bucket_of(ns)]++;
	h->count++;
	if (ns > h->max)
		h->max = ns;
}

uint64_t hist_quantile(const struct hist *h, double q)
{
	uint64_t want = (uint64_t)((double)h->count * q);
	uint64_t seen = 0;

	if (h->count == 0)
		return 0;
	for (unsigned i = 0; i < HIST_BUCKETS; i++) {
		seen += h->bucket[i];
		if (seen > want) {
			uint64_t v = bucket_value(i);
			return v < h->max ? v : h->max;
		}
	}
	return h->max;
}

void hist_print(const struct hist *h, const char *name)
{
	printf("%s_count=%llu\n", name, (unsigned long long)h->count);
	printf("%s_p50_us=%.1f\n", name, (double)hist_quantile(h, 0.50) / 1e3);
	printf("%s_p90_us=%.1f\n", name, (double)hist_quantile(h, 0.90) / 1e3);
	printf("%s_p99_us=%.1f\n", name, (double)hist_quantile(h, 0.99) / 1e3);
	printf("%s_max_us=%.1f\n", name, (double)h->max / 1e3);
}
