/* engine/store/lock.h: one process at a time in a data folder. */
#ifndef RCPD_ENGINE_STORE_LOCK_H
#define RCPD_ENGINE_STORE_LOCK_H

#include "util/status.h"

/* Locks the file "lock" in dir. *ret_fd holds the lock until it is closed, also by
 * the end of the process. ST_LOCKED, ST_IO. */
enum status lock_folder(const char *dir, int *ret_fd, struct error *e);

#endif
