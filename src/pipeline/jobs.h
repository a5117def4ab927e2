/*
 * pipeline/jobs.h: background work that needs both models and engine, on one thread of
 * its own at low priority: fitting the corpus's own space anew when the corpus has grown,
 * and moving a corpus to another model. Queries and writes never wait for it but for the
 * moment of a switch.
 */
#ifndef RCPD_PIPELINE_JOBS_H
#define RCPD_PIPELINE_JOBS_H

#include "engine/dense.h"
#include "pipeline/gate.h"
#include "pipeline/models.h"

struct jobs;

struct jobs_options {
	struct engine *engine; /* borrowed, as the others */
	const struct models *models;
	struct ingest_gate *gate; /* closed for the last round of stored vectors */
	bool fit;                 /* fit the corpus's space when it pays */
	double growth;        /* chunks now over chunks then, from which it is fitted anew; 0: 2 */
	unsigned quiet_ms;    /* a fit waits until nothing was written for so long… */
	unsigned patience_ms; /* …but not longer than this */
	unsigned look_ms;     /* between looks; 0: 1000 */
	size_t batch;         /* chunks that are sent to a remote model at once */
};

enum status jobs_start(const struct jobs_options *opt, struct jobs **ret, struct error *e);
/* Ends what runs, waits for it. What a re-embedding has done so far is kept. */
void jobs_stop(struct jobs *j); /* NULL is fine */

enum jobs_kind { JOBS_IDLE, JOBS_FIT, JOBS_REEMBED };

struct jobs_status {
	enum jobs_kind running;
	bool wanted;       /* a re-embedding was asked for and has not begun or ended */
	bool fit_due;      /* the corpus has grown enough for a fit, which waits for it to rest */
	double done;       /* 0..1 of what runs */
	uint64_t fits;     /* done since the start */
	uint64_t moves;    /* re-embeddings done since the start */
	char failure[256]; /* of the last job; "" if it went well */
};
/* As things are now; looks at the corpus. Any thread. */
void jobs_status(struct jobs *j, struct jobs_status *ret);

/*
 * Asks for the corpus to be moved to the model that the configuration names (see
 * models_encoder). It goes on in the background, also when the caller is gone; what was
 * done before an end or a crash is not done again. ST_CONFLICT: the corpus has that
 * model already; ST_INVALID: no model is configured, or
 * vectors come from clients. Asking again while it runs is
 * no error. Any thread.
 */
enum status jobs_reembed(struct jobs *j, struct error *e);
/* Wakes the thread: there may be reason for a fit. */
void jobs_poke(struct jobs *j);

#endif
