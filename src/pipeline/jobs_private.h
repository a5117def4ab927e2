/* pipeline/jobs_private.h: what the background jobs share. */
#ifndef RCPD_PIPELINE_JOBS_PRIVATE_H
#define RCPD_PIPELINE_JOBS_PRIVATE_H

#include <pthread.h>

#include "pipeline/jobs.h"

struct jobs {
	struct jobs_options opt;
	pthread_t thread;
	pthread_mutex_t lock; /* guards what follows, up to the next comment */
	pthread_cond_t wake;
	bool stop; /* also read without */
	bool poked;
	struct jobs_status status;
	struct engine_build *build; /* the running one */
	/* The thread's alone. */
	uint64_t seen_version, changed_ms, due_ms;
};

/* In the shapes that engine and models ask for; arg is the jobs. */
bool jobs_stopped(void *arg);
void jobs_report(void *arg, double done);
/* The build that a stop has to halt; NULL: none. */
void jobs_hold(struct jobs *j, struct engine_build *b);

/* Fits the corpus's space on a sample and projects all documents anew (fit.c). */
enum status fit_run(struct jobs *j, struct error *e);
/* Gives every document a vector of the configured model (reembed.c). */
enum status reembed_run(struct jobs *j, struct error *e);

#endif
