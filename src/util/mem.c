/*
 * mem.c: malloc with a switch. The failure counter is per thread, so that a test
 * which walks through the failures of one call does not disturb the workers.
 */
#include "util/mem.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local long fail_after = -1;
static _Thread_local long made;

static bool allowed(void)
{
	made++;
	if (fail_after < 0)
		return true;
	if (fail_after == 0)
		return false;
	fail_after--;
	return true;
}

void *mem_alloc(size_t size)
{
	return allowed() ? malloc(size ? size : 1) : NULL;
}

void *mem_zero(size_t size)
{
	return allowed() ? calloc(1, size ? size : 1) : NULL;
}

void *mem_array(size_t n, size_t size)
{
	/* calloc checks the product. */
	return allowed() ? calloc(n ? n : 1, size ? size : 1) : NULL;
}

void *mem_resize(void *p, size_t size)
{
	return allowed() ? realloc(p, size ? size : 1) : NULL;
}

void mem_free(void *p)
{
	free(p);
}

char *mem_dup(const void *p, size_t n)
{
	char *copy = n < SIZE_MAX ? mem_alloc(n + 1) : NULL;

	if (!copy)
		return NULL;
	if (n)
		memcpy(copy, p, n);
	copy[n] = '\0';
	return copy;
}

char *mem_strdup(const char *s)
{
	return mem_dup(s, strlen(s));
}

long mem_fail_after(long n)
{
	long before = made;

	fail_after = n;
	made = 0;
	return before;
}
