/*
 * pool.c: a linked queue under one mutex, workers on one condition, and a sweeper
 * that walks the queue every 10 ms for tasks gone stale. The walk is O(waiting),
 * some 10 ns a task, under the lock; the queue's bound is the bound of that too.
 *
 * lock guards: head, tail, waiting, running, slow_running, stopping. A worker takes a
 * task under it and runs it without.
 */
#include "util/pool.h"

#include <errno.h>
#include <pthread.h>
#include <time.h>

#include "util/clock.h"
#include "util/mem.h"

#define SWEEP_MS 10

struct pool {
	pthread_mutex_t lock;
	pthread_cond_t work;  /* a task waits, or stopping */
	pthread_cond_t idle;  /* nothing waits or runs, or room was made */
	pthread_cond_t sweep; /* wakes the sweeper: first task queued, or stopping */
	struct pool_task *head, *tail;
	size_t waiting, running, capacity;
	size_t slow_running, slow_limit;
	bool stopping;
	unsigned started; /* workers to join */
	pthread_t sweeper;
	bool has_sweeper;
	pthread_t threads[];
};

static void deadline_in(struct timespec *ts, unsigned ms)
{
	clock_gettime(CLOCK_MONOTONIC, ts);
	ts->tv_sec += ms / 1000;
	ts->tv_nsec += (long)(ms % 1000) * 1000000;
	if (ts->tv_nsec >= 1000000000) {
		ts->tv_sec++;
		ts->tv_nsec -= 1000000000;
	}
}

/* Under lock: takes the task after prev (NULL: the head) out of the queue. */
static struct pool_task *unlink_after(struct pool *p, struct pool_task *prev)
{
	struct pool_task *task = prev ? prev->next : p->head;

	if (prev)
		prev->next = task->next;
	else
		p->head = task->next;
	if (p->tail == task)
		p->tail = prev;
	task->next = NULL;
	p->waiting--;
	p->running++;
	p->slow_running += task->slow;
	return task;
}

/* Under lock: the first task that may run now; NULL when there is none. */
static struct pool_task *take_next(struct pool *p)
{
	bool all = p->slow_running < p->slow_limit || p->stopping;
	struct pool_task *prev = NULL;

	for (struct pool_task *t = p->head; t; prev = t, t = t->next)
		if (all || !t->slow)
			return unlink_after(p, prev);
	return NULL;
}

/* Under lock on entry and exit; runs the task without it. */
static void run_unlocked(struct pool *p, struct pool_task *task)
{
	bool slow = task->slow;

	pthread_mutex_unlock(&p->lock);
	task->run(task); /* the task may be freed in here */
	pthread_mutex_lock(&p->lock);
	p->running--;
	p->slow_running -= slow;
	if (slow) /* another slow one may have been passed over */
		pthread_cond_signal(&p->work);
	pthread_cond_broadcast(&p->idle);
}

static void *worker_main(void *arg)
{
	struct pool *p = arg;
	struct pool_task *task;

	pthread_mutex_lock(&p->lock);
	for (;;) {
		while (!(task = take_next(p)) && !p->stopping)
			pthread_cond_wait(&p->work, &p->lock);
		if (!task)
			break;
		run_unlocked(p, task);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

/* Under lock: the first stale task, taken out of the queue; NULL when there is none. */
static struct pool_task *take_stale(struct pool *p)
{
	struct pool_task *prev = NULL;
	uint64_t now_ns = clock_mono_ns();

	for (struct pool_task *t = p->head; t; prev = t, t = t->next)
		if (t->stale && t->stale(t, now_ns))
			return unlink_after(p, prev);
	return NULL;
}

static void *sweeper_main(void *arg)
{
	struct pool *p = arg;

	pthread_mutex_lock(&p->lock);
	while (!p->stopping) {
		struct pool_task *stale = take_stale(p);
		struct timespec until;

		if (stale) {
			run_unlocked(p, stale);
			continue;
		}
		if (!p->head) {
			pthread_cond_wait(&p->sweep, &p->lock);
			continue;
		}
		deadline_in(&until, SWEEP_MS);
		pthread_cond_timedwait(&p->sweep, &p->lock, &until);
	}
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

static void init_sync(struct pool *p)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->work, &attr);
	pthread_cond_init(&p->idle, &attr);
	pthread_cond_init(&p->sweep, &attr);
	pthread_condattr_destroy(&attr);
}

enum status pool_new(unsigned threads, size_t capacity, struct pool **ret, struct error *e)
{
	struct pool *p;

	if (threads == 0 || threads > 1024 || capacity == 0)
		return error_set(e, ST_INVALID,
			"a pool needs 1 to 1024 threads and room for a task");
	p = mem_zero(sizeof(*p) + threads * sizeof(p->threads[0]));
	if (!p)
		return error_set(e, ST_NOMEM, "out of memory");
	init_sync(p);
	p->capacity = capacity;
	p->slow_limit = (threads + 1) / 2;
	p->has_sweeper = pthread_create(&p->sweeper, NULL, sweeper_main, p) == 0;
	while (p->has_sweeper && p->started < threads &&
		pthread_create(&p->threads[p->started], NULL, worker_main, p) == 0)
		p->started++;
	if (p->started < threads) {
		pool_free(p);
		return error_set(e, ST_UNAVAILABLE, "cannot start %u worker threads", threads);
	}
	*ret = p;
	return ST_OK;
}

/* Under lock. */
static enum status enqueue(struct pool *p, struct pool_task *task)
{
	if (p->stopping)
		return ST_UNAVAILABLE;
	if (p->waiting >= p->capacity)
		return ST_FULL;
	task->next = NULL;
	if (p->tail)
		p->tail->next = task;
	else
		p->head = task;
	p->tail = task;
	if (p->waiting++ == 0)
		pthread_cond_signal(&p->sweep);
	pthread_cond_signal(&p->work);
	return ST_OK;
}

enum status pool_submit(struct pool *p, struct pool_task *task)
{
	enum status st;

	pthread_mutex_lock(&p->lock);
	st = enqueue(p, task);
	pthread_mutex_unlock(&p->lock);
	return st;
}

enum status pool_submit_wait(struct pool *p, struct pool_task *task, unsigned timeout_ms)
{
	struct timespec until;
	enum status st;

	deadline_in(&until, timeout_ms);
	pthread_mutex_lock(&p->lock);
	while ((st = enqueue(p, task)) == ST_FULL)
		if (pthread_cond_timedwait(&p->idle, &p->lock, &until) == ETIMEDOUT)
			break;
	pthread_mutex_unlock(&p->lock);
	return st;
}

size_t pool_depth(struct pool *p)
{
	size_t n;

	pthread_mutex_lock(&p->lock);
	n = p->waiting;
	pthread_mutex_unlock(&p->lock);
	return n;
}

size_t pool_busy(struct pool *p)
{
	size_t n;

	pthread_mutex_lock(&p->lock);
	n = p->running;
	pthread_mutex_unlock(&p->lock);
	return n;
}

bool pool_drain(struct pool *p, unsigned timeout_ms)
{
	struct timespec until;
	bool empty;

	deadline_in(&until, timeout_ms);
	pthread_mutex_lock(&p->lock);
	while (p->waiting || p->running)
		if (pthread_cond_timedwait(&p->idle, &p->lock, &until) == ETIMEDOUT)
			break;
	empty = !p->waiting && !p->running;
	pthread_mutex_unlock(&p->lock);
	return empty;
}

void pool_free(struct pool *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->stopping = true;
	pthread_cond_broadcast(&p->work);
	pthread_cond_broadcast(&p->sweep);
	pthread_cond_broadcast(&p->idle);
	pthread_mutex_unlock(&p->lock);
	if (p->has_sweeper)
		pthread_join(p->sweeper, NULL);
	for (unsigned i = 0; i < p->started; i++)
		pthread_join(p->threads[i], NULL);
	pthread_cond_destroy(&p->work);
	pthread_cond_destroy(&p->idle);
	pthread_cond_destroy(&p->sweep);
	pthread_mutex_destroy(&p->lock);
	mem_free(p);
}
