/*
 * pool.h: a bounded queue with worker threads behind it.
 *
 * A task is embedded in what it works on; the pool never allocates for it. Each
 * submitted task's run is called exactly once, on a worker, or on the sweeper
 * thread when its `stale` says so while it still waits (cancelled, deadline
 * passed, client gone): run must then notice by itself and answer quickly. So a
 * full queue of slow work never keeps a cancelled request from its answer.
 */
#ifndef RCPD_UTIL_POOL_H
#define RCPD_UTIL_POOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/status.h"

struct pool_task {
	struct pool_task *next; /* the pool's while queued */
	void (*run)(struct pool_task *task);
	/* NULL: never. now_ns is the monotonic clock; called under the pool's lock. */
	bool (*stale)(const struct pool_task *task, uint64_t now_ns);
	/* It may wait long for something that only one can have (writes for the
	 * disk): at most half of the workers run such tasks at a time. */
	bool slow;
};

struct pool;

/* Starts `threads` workers (>= 1) and one sweeper; at most `capacity` tasks wait. */
enum status pool_new(unsigned threads, size_t capacity, struct pool **ret, struct error *e);
/* ST_OK, or ST_FULL (the task is not taken), or ST_UNAVAILABLE once stopping. */
enum status pool_submit(struct pool *p, struct pool_task *task) RCPD_MUST_CHECK;
/* Waits for room up to timeout_ms; otherwise as pool_submit. */
enum status pool_submit_wait(struct pool *p, struct pool_task *task,
	unsigned timeout_ms) RCPD_MUST_CHECK;
size_t pool_depth(struct pool *p); /* waiting */
size_t pool_busy(struct pool *p);  /* running */
/* Waits until nothing waits or runs, at most timeout_ms; true if that came. */
bool pool_drain(struct pool *p, unsigned timeout_ms);
/* Runs what is queued, joins the threads and frees. p may be NULL. */
void pool_free(struct pool *p);

#endif
