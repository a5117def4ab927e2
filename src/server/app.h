/*
 * server/app.h: one running rcpd: everything wired together.
 *
 *   app.c     builds the parts in their order, runs one mode, takes them apart
 *   models.c  opens the models that the configuration names
 *   corpus.c  opens the corpus as the configuration wants it
 *   serve.c   the two modes: HTTP with its drain, and stdio
 *   reload.c  SIGHUP
 */
#ifndef RCPD_SERVER_APP_H
#define RCPD_SERVER_APP_H

#include <pthread.h>
#include <stdatomic.h>

#include "config/config.h"
#include "engine/engine.h"
#include "http/http.h"
#include "methods/methods.h"
#include "pipeline/gate.h"
#include "pipeline/jobs.h"
#include "rpc/rpc.h"
#include "server/models.h"
#include "server/options.h"
#include "server/signals.h"
#include "util/pool.h"

struct app {
	const struct options *options;
	/* As read at the start. What needs a restart keeps these values, and parts
	 * borrow its strings, so it lives to the end. */
	struct config *config;
	struct methods methods; /* what handlers work on */
	struct app_models *models;
	struct ingest_gate *gate; /* between index/add and a change of vectors */
	struct engine *engine;
	struct jobs *jobs; /* fits and re-embeddings */
	struct signals *signals;

	pthread_mutex_t lock;  /* guards the pointers below against the signals' thread */
	struct config *loaded; /* what SIGHUP read last; NULL: config */
	struct pool *pool;
	struct rpc *rpc;

	atomic_uint grace_ms; /* shutdown_grace, changed by a reload */
	atomic_bool draining;
	atomic_bool announced; /* the service manager was told READY=1 */
	char status[128];      /* the text with it; written before announced is set */
};

/* Runs to the end; returns an exit code. config is taken. */
int app_run(const struct options *options, struct config *config);

/* Serves until told to stop, and drains. Return an exit code. */
int serve_http(struct app *app);
int serve_stdio(struct app *app);

/* Reads the configuration again; on the signals' thread. */
void reload_config(struct app *app);

/* "rcpd: message" (and detail) on stderr, for what ends the process. */
void app_complain(const struct error *e);

#endif
