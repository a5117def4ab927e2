/*
 * faulty_io.c: a disk that fails, fills up or is slow, for a process that is started with
 * LD_PRELOAD. $FAULTY_IO names a file with the rules of faulty_io.h; without it every call
 * goes through.
 *
 * $FAULTY_SYNCED, "FOLDER=OTHER": whenever a file in FOLDER has been synced its content is
 * copied to OTHER before the call returns. So OTHER is what a power failure leaves in the
 * worst case: nothing that was not synced. (Renames and removals count at once: entries
 * of folders are not looked at.)
 *
 * Only files are looked at: a call on a descriptor without a path that begins with a
 * slash (a socket, a pipe) always goes through.
 */
#include "faulty_io.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static struct faulty_io *shared; /* NULL: there are no rules */

/* What comes after us. Looked up at each call: it is cheap beside a disk, and works
 * before constructors have run. ISO C has no cast from an object's address to a
 * function's. */
#define NEXT(name) (*(__typeof__(&name) *)(void *)&(void *){ next_symbol(#name) })

static void *next_symbol(const char *name)
{
	void *found = dlsym(RTLD_NEXT, name);

	if (!found)
		abort();
	return found;
}

__attribute__((constructor)) static void load_rules(void)
{
	const char *path = getenv("FAULTY_IO");
	void *p = MAP_FAILED;
	struct stat sb;
	int fd;

	if (!path || !*path)
		return;
	fd = NEXT(open)(path, O_RDWR | O_CLOEXEC);
	if (fd >= 0 && fstat(fd, &sb) == 0 && sb.st_size >= (off_t)sizeof(*shared))
		p = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED || ((struct faulty_io *)p)->magic != FAULTY_MAGIC) {
		static const char why[] = "faulty_io: $FAULTY_IO cannot be used\n";

		(void)!NEXT(write)(2, why, sizeof(why) - 1);
		_exit(127);
	}
	close(fd);
	shared = p;
	__atomic_fetch_add(&shared->loaded, 1, __ATOMIC_SEQ_CST);
}

static bool draw(struct faulty_rule *r)
{
	uint64_t x;

	if (r->per_million == 0)
		return true;
	x = __atomic_add_fetch(&r->seed, UINT64_C(0x9E3779B97F4A7C15), __ATOMIC_SEQ_CST);
	x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
	x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
	return (x ^ x >> 31) % 1000000 < r->per_million;
}

static bool fires(struct faulty_rule *r, enum faulty_call call, const char *path)
{
	uint64_t seen, fired;

	if (!__atomic_load_n(&r->active, __ATOMIC_ACQUIRE) || !(r->calls & (uint32_t)call) ||
		!strstr(path, r->pattern))
		return false;
	seen = __atomic_fetch_add(&r->seen, 1, __ATOMIC_SEQ_CST);
	if (seen < r->after || !draw(r))
		return false;
	fired = __atomic_fetch_add(&r->fired, 1, __ATOMIC_SEQ_CST);
	if (r->times == 0 || fired < r->times)
		return true;
	__atomic_fetch_sub(&r->fired, 1, __ATOMIC_SEQ_CST);
	return false;
}

static void delay(uint32_t ms)
{
	struct timespec left = { ms / 1000, (long)(ms % 1000) * 1000000 };

	while (ms > 0 && nanosleep(&left, &left) != 0)
		;
}

/* True: the call fails, errno is set. *ret_short: it is to write half. */
static bool fault(enum faulty_call call, const char *path, bool *ret_short)
{
	int before = errno;

	*ret_short = false;
	for (size_t i = 0; shared && i < FAULTY_RULES; i++) {
		struct faulty_rule *r = &shared->rules[i];

		if (!fires(r, call, path))
			continue;
		delay(r->delay_ms);
		*ret_short |= r->shorten != 0;
		if (r->error) {
			errno = (int)r->error;
			return true;
		}
	}
	errno = before;
	return false;
}

static bool path_of(int fd, char path[PATH_MAX])
{
	char link[40];
	int before = errno;
	ssize_t n;

	snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
	n = readlink(link, path, PATH_MAX - 1);
	errno = before;
	if (n <= 0 || path[0] != '/')
		return false;
	path[n] = '\0';
	return true;
}

static bool fault_fd(enum faulty_call call, int fd, bool *ret_short)
{
	char path[PATH_MAX];

	*ret_short = false;
	return shared && path_of(fd, path) && fault(call, path, ret_short);
}

static size_t half(size_t n, bool shorten)
{
	return shorten && n > 1 ? n / 2 : n;
}

/* ---- what was synced ---- */

/* Where the copy of a file is, followed by suffix; false for files elsewhere. */
static bool synced_path(const char *path, const char *suffix, char ret[PATH_MAX])
{
	const char *env = getenv("FAULTY_SYNCED");
	const char *other = env ? strchr(env, '=') : NULL;
	size_t n = other ? (size_t)(other - env) : 0;

	return n > 0 && strncmp(path, env, n) == 0 && path[n] == '/' &&
		snprintf(ret, PATH_MAX, "%s%s%s", other + 1, path + n, suffix) < PATH_MAX;
}

static void fail_synced(const char *path)
{
	fprintf(stderr, "faulty_io: cannot copy %s\n", path);
	abort();
}

/* The folders that a copy lies in. Where one cannot be made, the copy cannot either. */
static void make_folders(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		(void)mkdir(path, 0700);
		*slash = '/';
	}
}

/* All at once, so that a kill leaves the copy of before or of now. */
static void copy_synced(int fd)
{
	char path[PATH_MAX], part[PATH_MAX], to[PATH_MAX], buf[65536];
	struct stat sb;
	int in, out;
	ssize_t n;

	if (!path_of(fd, path) || !synced_path(path, "", to) || !synced_path(path, ".part", part) ||
		fstat(fd, &sb) != 0 || !S_ISREG(sb.st_mode))
		return;
	make_folders(part);
	in = NEXT(open)(path, O_RDONLY | O_CLOEXEC);
	out = NEXT(open)(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (in < 0 || out < 0)
		fail_synced(path);
	while ((n = read(in, buf, sizeof(buf))) > 0)
		if (NEXT(write)(out, buf, (size_t)n) != n)
			fail_synced(path);
	close(in);
	close(out);
	if (NEXT(rename)(part, to) != 0)
		fail_synced(path);
}

static void rename_synced(const char *from, const char *to)
{
	char a[PATH_MAX], b[PATH_MAX];

	if (synced_path(from, "", a) && synced_path(to, "", b) && NEXT(rename)(a, b) != 0)
		fail_synced(from);
}

/* ---- writing ---- */

ssize_t write(int fd, const void *p, size_t n)
{
	bool shorten;

	if (fault_fd(FAULTY_WRITE, fd, &shorten))
		return -1;
	return NEXT(write)(fd, p, half(n, shorten));
}

ssize_t pwrite(int fd, const void *p, size_t n, off_t at)
{
	bool shorten;

	if (fault_fd(FAULTY_WRITE, fd, &shorten))
		return -1;
	return NEXT(pwrite)(fd, p, half(n, shorten), at);
}

ssize_t pwrite64(int fd, const void *p, size_t n, off64_t at)
{
	bool shorten;

	if (fault_fd(FAULTY_WRITE, fd, &shorten))
		return -1;
	return NEXT(pwrite64)(fd, p, half(n, shorten), at);
}

/* A short one writes the first piece alone. */
ssize_t writev(int fd, const struct iovec *v, int n)
{
	bool shorten;

	if (fault_fd(FAULTY_WRITE, fd, &shorten))
		return -1;
	return NEXT(writev)(fd, v, shorten && n > 1 ? 1 : n);
}

/* ---- the file as a whole ---- */

int fsync(int fd)
{
	bool shorten;
	int rc;

	if (fault_fd(FAULTY_FSYNC, fd, &shorten))
		return -1;
	rc = NEXT(fsync)(fd);
	if (rc == 0)
		copy_synced(fd);
	return rc;
}

int fdatasync(int fd)
{
	bool shorten;
	int rc;

	if (fault_fd(FAULTY_FSYNC, fd, &shorten))
		return -1;
	rc = NEXT(fdatasync)(fd);
	if (rc == 0)
		copy_synced(fd);
	return rc;
}

int ftruncate(int fd, off_t size)
{
	bool shorten;

	return fault_fd(FAULTY_TRUNCATE, fd, &shorten) ? -1 : NEXT(ftruncate)(fd, size);
}

int ftruncate64(int fd, off64_t size)
{
	bool shorten;

	return fault_fd(FAULTY_TRUNCATE, fd, &shorten) ? -1 : NEXT(ftruncate64)(fd, size);
}

/* Gives its error as its result. */
int posix_fallocate(int fd, off_t at, off_t n)
{
	bool shorten;

	return fault_fd(FAULTY_TRUNCATE, fd, &shorten) ? errno : NEXT(posix_fallocate)(fd, at, n);
}

int rename(const char *from, const char *to)
{
	bool shorten;
	int rc;

	if (fault(FAULTY_RENAME, to, &shorten))
		return -1;
	rc = NEXT(rename)(from, to);
	if (rc == 0)
		rename_synced(from, to);
	return rc;
}

int unlink(const char *path)
{
	char copy[PATH_MAX];
	int rc = NEXT(unlink)(path);

	if (rc == 0 && synced_path(path, "", copy))
		(void)NEXT(unlink)(copy); /* it may never have been synced */
	return rc;
}

/* ---- opening ---- */

static bool fault_open(const char *path, int flags)
{
	bool writes = (flags & O_ACCMODE) != O_RDONLY || flags & O_CREAT, shorten;

	return fault(writes ? FAULTY_OPEN : FAULTY_OPEN_READ, path, &shorten);
}

static mode_t mode_of(int flags, va_list ap)
{
	return flags & O_CREAT || (flags & O_TMPFILE) == O_TMPFILE ? va_arg(ap, mode_t) : 0;
}

int open(const char *path, int flags, ...)
{
	va_list ap;
	mode_t mode;

	va_start(ap, flags);
	mode = mode_of(flags, ap);
	va_end(ap);
	return fault_open(path, flags) ? -1 : NEXT(open)(path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
	va_list ap;
	mode_t mode;

	va_start(ap, flags);
	mode = mode_of(flags, ap);
	va_end(ap);
	return fault_open(path, flags) ? -1 : NEXT(open64)(path, flags, mode);
}
