/*
 * pipeline/gate.c: a lock of two sides whose waiting can be called off, which is why it
 * is not a pthread_rwlock_t.
 */
#include "pipeline/gate.h"

#include <pthread.h>
#include <stdbool.h>

#include "util/clock.h"
#include "util/mem.h"

#define WAIT_MS 50 /* between two questions whether to go on waiting */

struct ingest_gate {
	pthread_mutex_t lock;
	pthread_cond_t changed; /* waits by the monotonic clock */
	unsigned inside;        /* writers */
	bool closed;            /* or somebody waits for the last writer to leave */
};

static bool make_locks(struct ingest_gate *g)
{
	pthread_condattr_t attr;
	bool made = false;

	if (pthread_mutex_init(&g->lock, NULL))
		return false;
	if (!pthread_condattr_init(&attr)) {
		made = !pthread_condattr_setclock(&attr, CLOCK_MONOTONIC) &&
			!pthread_cond_init(&g->changed, &attr);
		pthread_condattr_destroy(&attr);
	}
	if (!made)
		pthread_mutex_destroy(&g->lock);
	return made;
}

enum status ingest_gate_new(struct ingest_gate **ret, struct error *e)
{
	struct ingest_gate *g = mem_zero(sizeof(*g));

	if (!g || !make_locks(g)) {
		mem_free(g);
		return error_set(e, ST_NOMEM, "out of memory");
	}
	*ret = g;
	return ST_OK;
}

void ingest_gate_free(struct ingest_gate *g)
{
	if (!g)
		return;
	pthread_cond_destroy(&g->changed);
	pthread_mutex_destroy(&g->lock);
	mem_free(g);
}

static bool stopped(const struct engine_stop *stop)
{
	return stop && stop->fn && stop->fn(stop->arg);
}

/* Under the lock, which is let go meanwhile. stop->fn may take long: it is asked outside. */
static bool wait_or_stop(struct ingest_gate *g, const struct engine_stop *stop)
{
	struct timespec until;
	bool stop_now;

	clock_in(WAIT_MS, &until);
	pthread_cond_timedwait(&g->changed, &g->lock, &until);
	pthread_mutex_unlock(&g->lock);
	stop_now = stopped(stop);
	pthread_mutex_lock(&g->lock);
	return stop_now;
}

enum status ingest_gate_enter(struct ingest_gate *g, const struct engine_stop *stop,
	struct error *e)
{
	bool gave_up = false;

	pthread_mutex_lock(&g->lock);
	while (g->closed && !gave_up)
		gave_up = wait_or_stop(g, stop);
	if (!gave_up)
		g->inside++;
	pthread_mutex_unlock(&g->lock);
	return gave_up ? error_set(e, ST_CANCELLED, "cancelled") : ST_OK;
}

void ingest_gate_leave(struct ingest_gate *g)
{
	pthread_mutex_lock(&g->lock);
	g->inside--;
	pthread_cond_broadcast(&g->changed);
	pthread_mutex_unlock(&g->lock);
}

enum status ingest_gate_close(struct ingest_gate *g, const struct engine_stop *stop,
	struct error *e)
{
	bool gave_up = false;

	pthread_mutex_lock(&g->lock);
	while (g->closed && !gave_up)
		gave_up = wait_or_stop(g, stop);
	if (!gave_up) {
		g->closed = true; /* from here on nobody enters */
		while (g->inside && !gave_up)
			gave_up = wait_or_stop(g, stop);
		if (gave_up) {
			g->closed = false;
			pthread_cond_broadcast(&g->changed);
		}
	}
	pthread_mutex_unlock(&g->lock);
	return gave_up ? error_set(e, ST_CANCELLED, "cancelled") : ST_OK;
}

void ingest_gate_open(struct ingest_gate *g)
{
	pthread_mutex_lock(&g->lock);
	g->closed = false;
	pthread_cond_broadcast(&g->changed);
	pthread_mutex_unlock(&g->lock);
}
