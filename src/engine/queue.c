/*
 * queue.c: group commit. Writers line up; the first one that finds nobody leading leads:
 * it takes who waits, runs them all in one transaction and wakes them. Those who come
 * meanwhile are the next group. So while the disk syncs one group the next one gathers,
 * and a lone writer waits for nobody.
 *
 * A waiting call is asked for its stop about every 10 ms, as in store/gate.c, and
 * leaves the line if it has not been taken.
 */
#include "engine/private.h"

#include "util/clock.h"
#include "util/mem.h"

#define MAX_OPS 64         /* of a group */
#define MAX_DOCUMENTS 4000 /* of a group of more than one */
#define WAIT_MS 10

enum status queue_init(struct queue *q, struct error *e)
{
	pthread_condattr_t attr;

	*q = (struct queue){ .first = NULL };
	if (pthread_condattr_init(&attr))
		return engine_no_memory(e);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	q->ready = pthread_cond_init(&q->changed, &attr) == 0;
	pthread_condattr_destroy(&attr);
	if (q->ready && pthread_mutex_init(&q->lock, NULL)) {
		pthread_cond_destroy(&q->changed);
		q->ready = false;
	}
	return q->ready ? ST_OK : engine_no_memory(e);
}

void queue_release(struct queue *q)
{
	if (!q->ready)
		return;
	pthread_cond_destroy(&q->changed);
	pthread_mutex_destroy(&q->lock);
	q->ready = false;
}

static void append(struct queue *q, struct op *op)
{
	op->next = NULL;
	if (q->last)
		q->last->next = op;
	else
		q->first = op;
	q->last = op;
}

static void withdraw(struct queue *q, struct op *op)
{
	struct op *before = NULL;

	for (struct op *o = q->first; o != op; o = o->next)
		before = o;
	if (before)
		before->next = op->next;
	else
		q->first = op->next;
	if (q->last == op)
		q->last = before;
}

/* A filter looks at the state before the group, and may find much; a change of the space
 * of vectors is for all who come after it. */
static bool goes_alone(const struct op *op)
{
	return op->kind == OP_DELETE_WHERE || op->kind == OP_CALL;
}

/* Cuts the next group off the line; it is not empty. */
static struct op *take_group(struct queue *q)
{
	struct op *group = q->first, *end = group;
	size_t ops = 1, documents = group->add.n + group->id_count;

	group->taken = true;
	while (end->next && ops < MAX_OPS && !goes_alone(group) && !goes_alone(end->next)) {
		documents += end->next->add.n + end->next->id_count;
		if (documents > MAX_DOCUMENTS)
			break;
		end = end->next;
		end->taken = true;
		ops++;
	}
	q->first = end->next;
	if (!q->first)
		q->last = NULL;
	end->next = NULL;
	return group;
}

/* Under the lock, which is let go of meanwhile. */
static void lead(struct engine *en)
{
	struct queue *q = &en->queue;
	struct op *group = take_group(q);

	q->leading = true;
	pthread_mutex_unlock(&q->lock);
	group_run(en, group);
	pthread_mutex_lock(&q->lock);
	while (group) {
		struct op *next = group->next; /* done ones are their owners' again */

		group->done = true;
		group = next;
	}
	q->leading = false;
	pthread_cond_broadcast(&q->changed);
}

static void wait_a_little(struct queue *q)
{
	struct timespec until;

	clock_in(WAIT_MS, &until);
	pthread_cond_timedwait(&q->changed, &q->lock, &until);
}

/* Under the lock: one step towards op being done. */
static void step(struct engine *en, struct op *op)
{
	struct queue *q = &en->queue;
	bool stopped;

	if (!q->leading) {
		lead(en);
		return;
	}
	wait_a_little(q);
	if (op->done || op->taken)
		return;
	pthread_mutex_unlock(&q->lock); /* stop is a caller's and may take its time */
	stopped = engine_stopped(op->stop);
	pthread_mutex_lock(&q->lock);
	if (stopped && !op->taken) {
		withdraw(q, op);
		op->st = error_set(&op->error, ST_CANCELLED, "cancelled");
		op->done = true;
	}
}

enum status queue_run(struct engine *en, struct op *op, struct error *e)
{
	struct queue *q = &en->queue;

	pthread_mutex_lock(&q->lock);
	append(q, op);
	while (!op->done)
		step(en, op);
	pthread_mutex_unlock(&q->lock);
	mem_free(op->buried);
	if (op->st && e)
		*e = op->error;
	return op->st;
}
