/*
 * lock.c: flock(2) on a file beside the database. The lock hangs on the open file,
 * so that the kernel drops it however the process ends, and a second engine in the
 * same process is kept out as well. The file stays behind; only the lock counts.
 * It holds the number of the process, for people.
 */
#include "engine/store/lock.h"

#include <errno.h>
#include <fcntl.h>
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

static int open_lock(const char *dir)
{
	int folder = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int fd, why;

	if (folder < 0)
		return -1;
	fd = openat(folder, "lock", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	why = errno;
	close(folder);
	errno = why;
	return fd;
}

enum status lock_folder(const char *dir, int *ret_fd, struct error *e)
{
	int fd = open_lock(dir), why = 0;

	if (fd < 0)
		return refuse(dir, errno, e);
	if (flock(fd, LOCK_EX | LOCK_NB)) {
		why = errno;
		close(fd);
		return refuse(dir, why, e);
	}
	/* A disk too full for the note is no reason to stay out. */
	if (ftruncate(fd, 0) == 0)
		(void)(dprintf(fd, "%ld\n", (long)getpid()) < 0);
	*ret_fd = fd;
	return ST_OK;
}
