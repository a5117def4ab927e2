/* methods/cursor.c: a page's place into text and back. */
#include "methods/cursor.h"

#include <string.h>

#include "util/crypto.h"

#define FORMAT 1
#define MAC_LEN 18
#define SIGNED_LEN (1 + 2 * 8 + CURSOR_DIGEST_LEN)
#define RAW_LEN (SIGNED_LEN + MAC_LEN)

_Static_assert(RAW_LEN % 3 == 0 && RAW_LEN / 3 * 4 == CURSOR_LEN, "no spare bits");

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

static void put64(unsigned char *p, uint64_t v)
{
	for (int i = 0; i < 8; i++)
		p[i] = (unsigned char)(v >> (56 - 8 * i));
}

static uint64_t get64(const unsigned char *p)
{
	uint64_t v = 0;

	for (int i = 0; i < 8; i++)
		v = v << 8 | p[i];
	return v;
}

static void encode(const unsigned char raw[RAW_LEN], char out[CURSOR_LEN + 1])
{
	for (size_t i = 0; i < RAW_LEN / 3; i++) {
		uint32_t v = (uint32_t)raw[3 * i] << 16 | (uint32_t)raw[3 * i + 1] << 8 |
			raw[3 * i + 2];

		for (size_t j = 0; j < 4; j++)
			out[4 * i + j] = digits[v >> (18 - 6 * j) & 63];
	}
	out[CURSOR_LEN] = '\0';
}

static bool decode(struct bytes text, unsigned char raw[RAW_LEN])
{
	if (text.len != CURSOR_LEN)
		return false;
	for (size_t i = 0; i < RAW_LEN / 3; i++) {
		uint32_t v = 0;

		for (size_t j = 0; j < 4; j++) {
			const char *at = memchr(digits, text.data[4 * i + j], sizeof(digits) - 1);

			if (!at)
				return false;
			v = v << 6 | (uint32_t)(at - digits);
		}
		raw[3 * i] = (unsigned char)(v >> 16);
		raw[3 * i + 1] = (unsigned char)(v >> 8);
		raw[3 * i + 2] = (unsigned char)v;
	}
	return true;
}

enum status cursor_write(const struct cursor *c, const unsigned char secret[CURSOR_SECRET_LEN],
	char out[CURSOR_LEN + 1])
{
	unsigned char raw[RAW_LEN], mac[CRYPTO_SHA256_LEN];

	raw[0] = FORMAT;
	put64(raw + 1, c->commit);
	put64(raw + 9, c->offset);
	memcpy(raw + 17, c->digest, CURSOR_DIGEST_LEN);
	if (crypto_hmac_sha256(secret, CURSOR_SECRET_LEN, raw, SIGNED_LEN, mac))
		return ST_INTERNAL;
	memcpy(raw + SIGNED_LEN, mac, MAC_LEN);
	encode(raw, out);
	return ST_OK;
}

enum status cursor_read(struct bytes text, const unsigned char secret[CURSOR_SECRET_LEN],
	struct cursor *ret)
{
	unsigned char raw[RAW_LEN], mac[CRYPTO_SHA256_LEN];

	if (!decode(text, raw))
		return ST_INVALID;
	if (crypto_hmac_sha256(secret, CURSOR_SECRET_LEN, raw, SIGNED_LEN, mac))
		return ST_INTERNAL;
	if (!crypto_equal(raw + SIGNED_LEN, mac, MAC_LEN) || raw[0] != FORMAT)
		return ST_INVALID;
	ret->commit = get64(raw + 1);
	ret->offset = get64(raw + 9);
	memcpy(ret->digest, raw + 17, CURSOR_DIGEST_LEN);
	return ST_OK;
}
