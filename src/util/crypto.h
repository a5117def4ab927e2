/* crypto.h: digests, random bytes and comparison, by OpenSSL (its only user). */
#ifndef RCPD_UTIL_CRYPTO_H
#define RCPD_UTIL_CRYPTO_H

#include <stdbool.h>
#include <stddef.h>

#include "util/status.h"

#define CRYPTO_SHA256_LEN 32

/* Fills out with n unpredictable bytes; ST_INTERNAL if the system has none. */
enum status crypto_random(void *out, size_t n) RCPD_MUST_CHECK;
/* SHA-256 (FIPS 180-4) of n bytes. ST_INTERNAL if the provider is missing. */
enum status crypto_sha256(const void *p, size_t n,
	unsigned char out[CRYPTO_SHA256_LEN]) RCPD_MUST_CHECK;
/* HMAC-SHA256 (RFC 2104) of n bytes. ST_INTERNAL as above. */
enum status crypto_hmac_sha256(const void *key, size_t key_len, const void *p, size_t n,
	unsigned char out[CRYPTO_SHA256_LEN]) RCPD_MUST_CHECK;
/* Equal in constant time. */
bool crypto_equal(const void *a, const void *b, size_t n);
/* Lower-case hexadecimal of n bytes; out holds 2n + 1. */
void crypto_hex(const void *p, size_t n, char *out);
/* 2 * n random hex digits and a NUL. */
enum status crypto_random_hex(size_t n, char *out) RCPD_MUST_CHECK;

#endif
