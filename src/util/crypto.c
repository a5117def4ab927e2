/* crypto.c: the only user of OpenSSL. */
#include "util/crypto.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>

enum status crypto_random(void *out, size_t n)
{
	return n <= 1 << 20 && RAND_bytes(out, (int)n) == 1 ? ST_OK : ST_INTERNAL;
}

enum status crypto_sha256(const void *p, size_t n, unsigned char out[CRYPTO_SHA256_LEN])
{
	unsigned len = 0;

	if (EVP_Digest(p, n, out, &len, EVP_sha256(), NULL) != 1 || len != CRYPTO_SHA256_LEN)
		return ST_INTERNAL;
	return ST_OK;
}

enum status crypto_hmac_sha256(const void *key, size_t key_len, const void *p, size_t n,
	unsigned char out[CRYPTO_SHA256_LEN])
{
	unsigned len = 0;

	if (key_len > 1 << 20 || !HMAC(EVP_sha256(), key, (int)key_len, p, n, out, &len) ||
		len != CRYPTO_SHA256_LEN)
		return ST_INTERNAL;
	return ST_OK;
}

bool crypto_equal(const void *a, const void *b, size_t n)
{
	return CRYPTO_memcmp(a, b, n) == 0;
}

void crypto_hex(const void *p, size_t n, char *out)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *u = p;

	for (size_t i = 0; i < n; i++) {
		out[2 * i] = digits[u[i] >> 4];
		out[2 * i + 1] = digits[u[i] & 15];
	}
	out[2 * n] = '\0';
}

enum status crypto_random_hex(size_t n, char *out)
{
	unsigned char raw[64];

	if (n > sizeof(raw) || crypto_random(raw, n))
		return ST_INTERNAL;
	crypto_hex(raw, n, out);
	return ST_OK;
}
