/* server/dump.h: the state of the process in the log (SIGUSR1). */
#ifndef RCPD_SERVER_DUMP_H
#define RCPD_SERVER_DUMP_H

#include "util/pool.h"

/* Logs every gauge by name, the pool, open descriptors and threads. pool may be
 * NULL while there is none. */
void dump_state(struct pool *pool);

#endif
