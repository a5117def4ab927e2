/* server/system.h: what is asked of the operating system before anything starts. */
#ifndef RCPD_SERVER_SYSTEM_H
#define RCPD_SERVER_SYSTEM_H

#include <stdint.h>

#include "config/config.h"
#include "util/status.h"

/*
 * Opens /dev/null for standard descriptors that are closed; before anything else
 * is opened. Without it the corpus could become descriptor 1 or 2, and answers or
 * log lines would be written into it. Returns a mask with bit fd set for each
 * that was closed, or -1.
 */
int system_fill_descriptors(void);
/* Makes the folder and its parents (0700) if missing; checks that it can be written. */
enum status system_make_folder(const char *path, struct error *e);
/* The process that holds the data folder, as its lock file says; 0: it does not. */
long system_lock_owner(const char *path);
/*
 * Raises the limit of open files as far as it goes; returns how many of the
 * connections that the configuration wants it allows. Logs it if that is fewer: as
 * a warning if somebody asked for that number.
 */
uint64_t system_fit_connections(const struct config *c);

#endif
