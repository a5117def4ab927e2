/*
 * gate.c: a counted lock around a stack. The wait is cut into short pieces because
 * a cancelled request or a passed deadline signals nobody's condition variable.
 */
#include "engine/store/gate.h"

#include "util/clock.h"
#include "util/mem.h"

#define WAIT_MS 10

static bool make_locks(struct gate *g)
{
	pthread_condattr_t attr;
	bool made;

	if (pthread_condattr_init(&attr))
		return false;
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	made = pthread_cond_init(&g->freed, &attr) == 0;
	pthread_condattr_destroy(&attr);
	if (made && pthread_mutex_init(&g->lock, NULL)) {
		pthread_cond_destroy(&g->freed);
		made = false;
	}
	return made;
}

enum status gate_init(struct gate *g, size_t capacity, struct error *e)
{
	*g = (struct gate){ .capacity = capacity };
	g->items = mem_array(capacity, sizeof g->items[0]);
	if (g->items)
		g->ready = make_locks(g);
	if (!g->ready) {
		gate_release(g);
		return error_set(e, ST_NOMEM, "out of memory");
	}
	return ST_OK;
}

void gate_release(struct gate *g)
{
	if (g->ready) {
		pthread_cond_destroy(&g->freed);
		pthread_mutex_destroy(&g->lock);
	}
	mem_free(g->items);
	*g = (struct gate){ .items = NULL };
}

void gate_put(struct gate *g, void *item)
{
	pthread_mutex_lock(&g->lock);
	g->items[g->count++] = item;
	pthread_cond_signal(&g->freed);
	pthread_mutex_unlock(&g->lock);
}

static void wait_a_little(struct gate *g)
{
	struct timespec until;

	clock_in(WAIT_MS, &until);
	pthread_cond_timedwait(&g->freed, &g->lock, &until);
}

enum status gate_take(struct gate *g, const struct engine_stop *stop, void **ret, struct error *e)
{
	bool stopped = stop && stop->fn && stop->fn(stop->arg);

	pthread_mutex_lock(&g->lock);
	while (!stopped && g->count == 0) {
		wait_a_little(g);
		/* Not under the lock: stop is a caller's and may take its time. */
		pthread_mutex_unlock(&g->lock);
		stopped = stop && stop->fn && stop->fn(stop->arg);
		pthread_mutex_lock(&g->lock);
	}
	if (!stopped)
		*ret = g->items[--g->count];
	else if (g->count > 0)
		pthread_cond_signal(&g->freed); /* the wake-up may have been meant for it */
	pthread_mutex_unlock(&g->lock);
	return stopped ? error_set(e, ST_CANCELLED, "cancelled") : ST_OK;
}
