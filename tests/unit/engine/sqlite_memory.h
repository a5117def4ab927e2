/* sqlite_memory.h: SQLite's own allocator with a switch in front, as mem_fail_after. */
#ifndef RCPD_TESTS_ENGINE_SQLITE_MEMORY_H
#define RCPD_TESTS_ENGINE_SQLITE_MEMORY_H

#include <stdbool.h>

/* Before SQLite is used. */
void sqlite_memory_install(void);
/* Of this thread: the next n allocations pass, later ones fail; below 0 all pass. Returns
 * whether any has failed since the last call. */
bool sqlite_memory_fail(long n);
/* The same without a change. */
bool sqlite_memory_failed(void);

#endif
