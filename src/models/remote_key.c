/*
 * remote_key.c: the secret of a remote, from a file that nobody else can read. The rule
 * is PostgreSQL's for private keys: no access for group and others, except that root's
 * file may be readable by a group.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "models/remote_private.h"
#include "util/mem.h"

#define KEY_MAX 8192 /* bytes */
#define SCHEME "Bearer "

static enum status io_error(struct error *e, const char *path)
{
	int code = errno;

	error_field(e, code == ENOENT ? ST_NOT_FOUND : ST_IO, "key_file",
		"the key file '%s' cannot be read", path);
	error_detail(e, "%s", strerror(code));
	return code == ENOENT ? ST_NOT_FOUND : ST_IO;
}

static enum status mode_check(int fd, const char *path, struct error *e)
{
	struct stat st;
	mode_t refused;

	if (fstat(fd, &st) != 0)
		return io_error(e, path);
	if (!S_ISREG(st.st_mode))
		return error_field(e, ST_INVALID, "key_file", "the key file '%s' is not a file",
			path);
	refused = st.st_uid == 0 ? S_IWGRP | S_IXGRP | S_IRWXO : S_IRWXG | S_IRWXO;
	if (st.st_mode & refused)
		return error_field(e, ST_INVALID, "key_file",
			"the key file '%s' has group or world access; its mode must be 0600%s",
			path, st.st_uid == 0 ? " (root's own: 0640)" : "");
	return ST_OK;
}

/* Cuts white space off the end. What is left goes into a header, so it must be visible
 * ASCII. */
static enum status key_check(char *key, size_t len, const char *path, struct error *e)
{
	while (len > 0 && strchr(" \t\r\n", key[len - 1]))
		key[--len] = '\0';
	for (size_t i = 0; i < len; i++)
		if (key[i] <= ' ' || key[i] > '~')
			len = 0;
	if (len == 0 || len > KEY_MAX)
		return error_field(e, ST_INVALID, "key_file",
			"the key file '%s' must hold one line of 1 to %d visible ASCII characters",
			path, KEY_MAX);
	return ST_OK;
}

static enum status key_fill(int fd, const char *path, char *buf, size_t size, struct error *e)
{
	size_t len = 0;
	ssize_t n;

	do {
		n = read(fd, buf + len, size - 1 - len);
		if (n > 0)
			len += (size_t)n;
	} while ((n > 0 && len < size - 1) || (n < 0 && errno == EINTR));
	if (n < 0)
		return io_error(e, path);
	buf[len] = '\0';
	return key_check(buf, len, path, e);
}

enum status remote_key_read(const char *path, char **ret, struct error *e)
{
	/* Room for a line end and, beyond the limit, for one byte that shows it was passed. */
	char buf[sizeof(SCHEME) - 1 + KEY_MAX + 4] = SCHEME;
	const size_t scheme = sizeof(SCHEME) - 1;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	enum status st;

	if (fd < 0)
		return io_error(e, path);
	st = mode_check(fd, path, e);
	if (!st)
		st = key_fill(fd, path, buf + scheme, sizeof(buf) - scheme, e);
	(void)close(fd);
	if (!st) {
		*ret = mem_strdup(buf);
		if (!*ret)
			st = error_set(e, ST_NOMEM, "out of memory");
	}
	explicit_bzero(buf, sizeof(buf));
	return st;
}

void remote_key_free(char *key)
{
	if (key)
		explicit_bzero(key, strlen(key));
	mem_free(key);
}
