/* hash.h: SipHash-2-4 (Aumasson and Bernstein, 2012) with a process-wide random
 * key, for tables whose keys clients choose. */
#ifndef RCPD_UTIL_HASH_H
#define RCPD_UTIL_HASH_H

#include <stddef.h>
#include <stdint.h>

/* The 64-bit hash of n bytes under the process's key (drawn at the first call). */
uint64_t hash_bytes(const void *p, size_t n);
/* The same under a given key, for test vectors. */
uint64_t hash_siphash24(const void *p, size_t n, const unsigned char key[16]);

#endif
