/*
 * engine/store/gate.h: hands out connections, one thread each; whoever finds none
 * waits, and gives up when told to stop.
 */
#ifndef RCPD_ENGINE_STORE_GATE_H
#define RCPD_ENGINE_STORE_GATE_H

#include <pthread.h>

#include "engine/engine.h"

struct gate {
	pthread_mutex_t lock; /* guards count and what items points to */
	pthread_cond_t freed;
	void **items; /* free ones, a stack: the warmest cache goes out first */
	size_t count, capacity;
	bool ready; /* lock and freed are made */
};

/* Makes an empty gate for up to capacity things. */
enum status gate_init(struct gate *g, size_t capacity, struct error *e);
void gate_release(struct gate *g); /* a zeroed gate is fine */
/* Puts a thing in, or back; never more than capacity of them. */
void gate_put(struct gate *g, void *item);
/* Takes one out; asks stop (may be NULL) first and about every 10 ms. */
enum status gate_take(struct gate *g, const struct engine_stop *stop, void **ret, struct error *e);

#endif
