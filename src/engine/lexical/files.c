/* files.c: writing whole files; interrupted calls go on, every error is reported. */
#include "engine/lexical/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum status lex_file_error(struct error *e, const char *what, const char *path)
{
	int number = errno;
	bool full = number == ENOSPC || number == EDQUOT || number == EFBIG;
	char text[128];

	error_set(e, full ? ST_FULL : ST_IO, "cannot %s the index", what);
	error_detail(e, "%s: %s", path, strerror_r(number, text, sizeof(text)));
	return full ? ST_FULL : ST_IO;
}

enum status lex_file_create(const char *path, int *ret_fd, struct error *e)
{
	int fd;

	/* Whatever stands there is not written through: a link, a pipe. */
	(void)unlink(path);
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return lex_file_error(e, "write", path);
	*ret_fd = fd;
	return ST_OK;
}

enum status lex_file_write(int fd, const char *path, const void *p, size_t n, struct error *e)
{
	const char *next = p;

	while (n > 0) {
		ssize_t done = write(fd, next, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return lex_file_error(e, "write", path);
		next += done;
		n -= (size_t)done;
	}
	return ST_OK;
}

static enum status sync_folder(const char *dir, struct error *e)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	enum status st = ST_OK;

	if (fd < 0 || fsync(fd) != 0)
		st = lex_file_error(e, "write", dir);
	if (fd >= 0)
		close(fd);
	return st;
}

enum status lex_file_publish(int fd, const char *tmp, const char *path, const char *dir,
	struct error *e)
{
	if (fsync(fd) != 0)
		return lex_file_error(e, "write", tmp);
	if (rename(tmp, path) != 0)
		return lex_file_error(e, "replace a file of", path);
	return sync_folder(dir, e);
}
