/*
 * server/system.c: standard descriptors, the data folder and the limit of open
 * files.
 */
#include "server/system.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/log.h"
#include "util/mem.h"

/*
 * Descriptors kept for all that is no connection: some for logs, signals, sockets and
 * the writer; for a worker its reader of the corpus (database, log, temporary files);
 * for an I/O thread its two epolls, its wake-up and what it just accepted.
 */
#define RESERVED_FDS 64
#define RESERVED_FDS_WORKER 8
#define RESERVED_FDS_IO 16
#define FEWEST_CONNECTIONS 16

int system_fill_descriptors(void)
{
	int closed = 0;

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++) {
		if (fcntl(fd, F_GETFD) >= 0 || errno != EBADF)
			continue;
		/* The lowest free one, and those below are taken: it is fd. */
		if (open("/dev/null", O_RDWR) != fd)
			return -1;
		closed |= 1 << fd;
	}
	return closed;
}

/* mkdir for each part of path, which is changed and restored on the way. */
static int make_parts(char *path)
{
	for (char *p = path + 1; *p; p++) {
		if (*p != '/')
			continue;
		*p = '\0';
		if (mkdir(path, 0700) != 0 && errno != EEXIST)
			return -1;
		*p = '/';
	}
	return mkdir(path, 0700) == 0 || errno == EEXIST ? 0 : -1;
}

enum status system_make_folder(const char *path, struct error *e)
{
	char *copy;
	struct stat st;
	int rc, err;

	if (stat(path, &st) == 0) {
		if (!S_ISDIR(st.st_mode))
			return error_set(e, ST_IO,
				"the data folder '%.120s' is no folder; name another with --data",
				path);
		if (faccessat(AT_FDCWD, path, R_OK | W_OK | X_OK, AT_EACCESS) == 0)
			return ST_OK;
		return error_set(e, ST_IO,
			"cannot write to the data folder '%.120s': %s; name another with --data",
			path, strerror(errno));
	}
	copy = mem_strdup(path);
	if (!copy)
		return error_set(e, ST_NOMEM, "out of memory");
	rc = make_parts(copy);
	err = errno;
	mem_free(copy);
	if (rc == 0)
		return ST_OK;
	return error_set(e, ST_IO,
		"cannot make the data folder '%.120s': %s; name another with --data", path,
		strerror(err));
}

long system_lock_owner(const char *path)
{
	int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC), fd;
	char text[24] = "";
	ssize_t n = -1;

	if (folder < 0)
		return 0;
	fd = openat(folder, "lock", O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	if (fd >= 0) {
		n = read(fd, text, sizeof(text) - 1);
		close(fd);
	}
	close(folder);
	return n > 0 && text[0] > '0' && text[0] <= '9' ? strtol(text, NULL, 10) : 0;
}

uint64_t system_fit_connections(const struct config *c)
{
	uint64_t wanted = c->max_connections, allowed;
	uint64_t reserved =
		RESERVED_FDS + c->workers * RESERVED_FDS_WORKER + c->io_threads * RESERVED_FDS_IO;
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim) != 0)
		return wanted;
	if (lim.rlim_cur < lim.rlim_max) {
		struct rlimit more = { lim.rlim_max, lim.rlim_max };

		if (setrlimit(RLIMIT_NOFILE, &more) == 0)
			lim = more;
	}
	if (lim.rlim_cur == RLIM_INFINITY || lim.rlim_cur >= wanted + reserved)
		return wanted;
	allowed = lim.rlim_cur > reserved + FEWEST_CONNECTIONS ? lim.rlim_cur - reserved
							       : FEWEST_CONNECTIONS;
	if (allowed > wanted)
		allowed = wanted;
	log_event(c->max_connections_set ? LOG_WARNING : LOG_INFO,
		"max_connections lowered: the limit of open files is too small",
		LOG_U("wanted", wanted), LOG_U("allowed", allowed),
		LOG_U("open_files", lim.rlim_cur));
	return allowed;
}
