/* server/system.h: what is asked of the operating system before anything starts. */
#ifndef RCPD_SERVER_SYSTEM_H
#define RCPD_SERVER_SYSTEM_H

#include <stdint.h>

#include "util/status.h"

/* Makes the folder and its parents (0700) if missing. */
enum status system_make_folder(const char *path, struct error *e);
/*
 * Raises the limit of open files as far as it goes; returns how many connections
 * of those wanted it allows, logging a warning if that is fewer.
 */
uint64_t system_fit_connections(uint64_t wanted);

#endif
