/* server/system.h: what is asked of the operating system before anything starts. */
#ifndef RCPD_SERVER_SYSTEM_H
#define RCPD_SERVER_SYSTEM_H

#include <stdint.h>

#include "util/status.h"

/*
 * Opens /dev/null for standard descriptors that are closed; before anything else
 * is opened. Without it the corpus could become descriptor 1 or 2, and answers or
 * log lines would be written into it. Returns a mask with bit fd set for each
 * that was closed, or -1.
 */
int system_fill_descriptors(void);
/* Makes the folder and its parents (0700) if missing. */
enum status system_make_folder(const char *path, struct error *e);
/*
 * Raises the limit of open files as far as it goes; returns how many connections
 * of those wanted it allows, logging a warning if that is fewer.
 */
uint64_t system_fit_connections(uint64_t wanted);

#endif
