/* engine/store/lock.h: one process at a time in a data folder. */
#ifndef RCPD_ENGINE_STORE_LOCK_H
#define RCPD_ENGINE_STORE_LOCK_H

#include "util/status.h"

struct folder_lock {
	int folder, file; /* descriptors, -1: none */
};

#define FOLDER_UNLOCKED ((struct folder_lock){ -1, -1 })

/* Locks the folder itself and the file "lock" in it, until unlock_folder or the end
 * of the process. ST_LOCKED, ST_IO. */
enum status lock_folder(const char *dir, struct folder_lock *ret, struct error *e);
void unlock_folder(struct folder_lock *lock); /* FOLDER_UNLOCKED is fine */

#endif
