/*
 * server/dump.c: one log line with everything that must fall back to where it was
 * once the work is done: tests compare two of them to find what was left behind.
 */
#include "server/dump.h"

#include <dirent.h>

#include "util/gauge.h"
#include "util/log.h"

/* Entries of a folder without "." and "..", or -1. */
static int64_t entries_count(const char *path)
{
	DIR *dir = opendir(path);
	int64_t n = 0;

	if (!dir)
		return -1;
	for (struct dirent *d = readdir(dir); d; d = readdir(dir))
		n += d->d_name[0] != '.';
	closedir(dir);
	return n;
}

void dump_state(struct pool *pool)
{
	struct log_field fields[GAUGE_COUNT + 5];
	int64_t fds = entries_count("/proc/self/fd");
	size_t n = 0;

	for (int g = 0; g < GAUGE_COUNT; g++)
		fields[n++] = LOG_I(gauge_name((enum gauge)g), gauge_get((enum gauge)g));
	fields[n++] = LOG_U("pool_waiting", pool ? pool_depth(pool) : 0);
	fields[n++] = LOG_U("pool_running", pool ? pool_busy(pool) : 0);
	fields[n++] = LOG_I("fds", fds > 0 ? fds - 1 : fds); /* without the folder read here */
	fields[n++] = LOG_I("threads", entries_count("/proc/self/task"));
	fields[n] = (struct log_field){ .key = NULL };
	if (log_enabled(LOG_NOTICE))
		log_fields(LOG_NOTICE, "state", fields);
}
