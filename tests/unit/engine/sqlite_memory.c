/* sqlite_memory.c: see sqlite_memory.h. */
#include "sqlite_memory.h"

#include <sqlite3.h>
#include <stdlib.h>

static sqlite3_mem_methods plain;
static _Thread_local long left = -1; /* below 0: never fail */
static _Thread_local bool failed;

static bool may(void)
{
	if (left < 0)
		return true;
	if (left > 0) {
		left--;
		return true;
	}
	failed = true;
	return false;
}

static void *failing_malloc(int n)
{
	return may() ? plain.xMalloc(n) : NULL;
}

static void *failing_realloc(void *p, int n)
{
	return may() ? plain.xRealloc(p, n) : NULL;
}

void sqlite_memory_install(void)
{
	sqlite3_mem_methods mine;

	if (sqlite3_config(SQLITE_CONFIG_GETMALLOC, &plain) != SQLITE_OK)
		abort();
	mine = plain;
	mine.xMalloc = failing_malloc;
	mine.xRealloc = failing_realloc;
	if (sqlite3_config(SQLITE_CONFIG_MALLOC, &mine) != SQLITE_OK)
		abort();
}

bool sqlite_memory_fail(long n)
{
	bool before = failed;

	left = n;
	failed = false;
	return before;
}

bool sqlite_memory_failed(void)
{
	return failed;
}
