/*
 * pipeline/gate.h: keeps writers out of the last round of a change of vectors.
 *
 * Vectors that are stored are made before their documents are written. Between the two
 * another space must not take over, or the document would be in it without a vector. So
 * who writes is in the gate from the question which space is active until the commit;
 * any number may be. Who changes the space closes the gate for its last round, and is not
 * kept waiting by writers that come later.
 */
#ifndef RCPD_PIPELINE_GATE_H
#define RCPD_PIPELINE_GATE_H

#include "engine/engine.h"

struct ingest_gate;

/* ST_NOMEM. */
enum status ingest_gate_new(struct ingest_gate **ret, struct error *e);
void ingest_gate_free(struct ingest_gate *g); /* nobody is in it; NULL is fine */
/* Waits while it is closed. stop is asked now and then (NULL: never): ST_CANCELLED. */
enum status ingest_gate_enter(struct ingest_gate *g, const struct engine_stop *stop,
	struct error *e);
void ingest_gate_leave(struct ingest_gate *g);
/* Waits until nobody is in it; one at a time. As enter. */
enum status ingest_gate_close(struct ingest_gate *g, const struct engine_stop *stop,
	struct error *e);
void ingest_gate_open(struct ingest_gate *g);

#endif
