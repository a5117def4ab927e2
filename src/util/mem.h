/*
 * mem.h: allocation that tests can make fail.
 *
 * All of our own code allocates here; server/ hands the same functions to
 * Jansson and SQLite keeps its own. In a test, mem_fail_after(n) lets n
 * allocations of this thread pass and fails every later one, so that a loop over
 * n walks through each error path of an operation (see tests/unit).
 */
#ifndef RCPD_UTIL_MEM_H
#define RCPD_UTIL_MEM_H

#include <stddef.h>

/* As malloc, calloc, realloc, free. Return NULL when out of memory or when told
 * to fail. mem_array checks n * size for overflow and returns zeroed memory. */
void *mem_alloc(size_t size) __attribute__((malloc));
void *mem_zero(size_t size) __attribute__((malloc));
void *mem_array(size_t n, size_t size) __attribute__((malloc));
void *mem_resize(void *p, size_t size);
void mem_free(void *p);
/* Returns a new NUL-terminated copy of n bytes, or NULL. */
char *mem_dup(const void *p, size_t n);
char *mem_strdup(const char *s);

/* Test hook, per thread: pass n allocations, then fail; n < 0 stops failing.
 * Returns how many allocations were made since the last call. */
long mem_fail_after(long n);

#endif
