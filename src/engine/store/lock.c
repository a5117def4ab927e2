/*
 * lock.c: flock(2) on the data folder and on a file in it. A lock hangs on what was
 * opened, so that the kernel drops it however the process ends, and a second engine
 * in the same process is kept out as well.
 *
 * The folder's own lock is the one that counts: a file can be deleted or replaced
 * while we run, and the next one to come would lock the new one. The file's is for
 * file systems that lock files only. The file stays behind; it holds the number of
 * the process, for people.
 */
#include "engine/store/lock.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

static enum status refuse(const char *dir, int why, struct error *e)
{
	if (why == EWOULDBLOCK)
		return error_set(e, ST_LOCKED, "the data folder '%s' is in use by another process",
			dir);
	error_set(e, ST_IO, "cannot lock the data folder '%s'", dir);
	error_detail(e, "%s", strerrordesc_np(why) ? strerrordesc_np(why) : "unknown error");
	return ST_IO;
}

/* Some network file systems lock files open for writing only; the file serves there. */
static bool cannot_lock_folders(int why)
{
	return why == EBADF || why == EINVAL || why == EOPNOTSUPP;
}

/* 0 or an errno; what it opened is in *lock either way. */
static int take_both(const char *dir, struct folder_lock *lock)
{
	lock->folder = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (lock->folder < 0)
		return errno;
	if (flock(lock->folder, LOCK_EX | LOCK_NB) && !cannot_lock_folders(errno))
		return errno;
	lock->file = openat(lock->folder, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (lock->file < 0 || flock(lock->file, LOCK_EX | LOCK_NB))
		return errno;
	return 0;
}

enum status lock_folder(const char *dir, struct folder_lock *ret, struct error *e)
{
	struct folder_lock lock = FOLDER_UNLOCKED;
	int why = take_both(dir, &lock);

	if (why) {
		unlock_folder(&lock);
		return refuse(dir, why, e);
	}
	/* A disk too full for the note is no reason to stay out. */
	if (ftruncate(lock.file, 0) == 0)
		(void)(dprintf(lock.file, "%ld\n", (long)getpid()) < 0);
	*ret = lock;
	return ST_OK;
}

void unlock_folder(struct folder_lock *lock)
{
	if (lock->file >= 0)
		close(lock->file);
	if (lock->folder >= 0)
		close(lock->folder);
	*lock = FOLDER_UNLOCKED;
}
