/*
 * server/signals.h: signals, taken by one thread of their own and turned into
 * calls, so that nothing ever runs inside a signal handler.
 *
 *   SIGTERM, SIGINT   the first: stop_fd becomes readable, on_stop is called;
 *                     the second: the process leaves at once with 1
 *   SIGHUP            on_reload
 *   SIGUSR1           on_dump
 *   SIGPIPE           ignored
 */
#ifndef RCPD_SERVER_SIGNALS_H
#define RCPD_SERVER_SIGNALS_H

#include "util/status.h"

struct signals;

/* Called on the signals' thread, one at a time. */
struct signals_hooks {
	void (*on_stop)(void *arg);
	void (*on_reload)(void *arg);
	void (*on_dump)(void *arg);
	void *arg;
};

/* Blocks the signals for this thread and those it will make: call it while there
 * is one thread only. */
void signals_block(void);
/* Starts the thread; signals that came since signals_block are taken then. hooks
 * are copied. */
enum status signals_new(const struct signals_hooks *hooks, struct signals **ret, struct error *e);
/* Readable from the first SIGTERM on, for ever. The signals' own: do not read. */
int signals_stop_fd(const struct signals *s);
void signals_free(struct signals *s); /* joins the thread; NULL is fine */

#endif
