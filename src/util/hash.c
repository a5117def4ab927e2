/*
 * hash.c: SipHash-2-4 after the paper of Aumasson and Bernstein (2012): a keyed
 * hash that clients cannot aim collisions at.
 */
#include "util/hash.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "util/crypto.h"

static unsigned char process_key[16];
static pthread_once_t key_once = PTHREAD_ONCE_INIT;

static void draw_key(void)
{
	/* Without random bytes nothing else of the server would work either. */
	if (crypto_random(process_key, sizeof(process_key)))
		abort();
}

static uint64_t load64(const unsigned char *p)
{
	uint64_t v = 0;

	for (int i = 7; i >= 0; i--)
		v = v << 8 | p[i];
	return v;
}

static uint64_t rotl(uint64_t x, unsigned b)
{
	return x << b | x >> (64 - b);
}

static void round_sip(uint64_t v[4])
{
	v[0] += v[1];
	v[1] = rotl(v[1], 13) ^ v[0];
	v[0] = rotl(v[0], 32);
	v[2] += v[3];
	v[3] = rotl(v[3], 16) ^ v[2];
	v[0] += v[3];
	v[3] = rotl(v[3], 21) ^ v[0];
	v[2] += v[1];
	v[1] = rotl(v[1], 17) ^ v[2];
	v[2] = rotl(v[2], 32);
}

uint64_t hash_siphash24(const void *p, size_t n, const unsigned char key[16])
{
	const unsigned char *in = p;
	uint64_t k0 = load64(key), k1 = load64(key + 8);
	uint64_t v[4] = { k0 ^ 0x736f6d6570736575U, k1 ^ 0x646f72616e646f6dU,
		k0 ^ 0x6c7967656e657261U, k1 ^ 0x7465646279746573U };
	unsigned char tail[8] = { 0 };
	size_t whole = n / 8;

	for (size_t i = 0; i <= whole; i++) {
		uint64_t m;

		if (i < whole) {
			m = load64(in + 8 * i);
		} else {
			if (n % 8)
				memcpy(tail, in + 8 * whole, n % 8);
			tail[7] = (unsigned char)n;
			m = load64(tail);
		}
		v[3] ^= m;
		round_sip(v);
		round_sip(v);
		v[0] ^= m;
	}
	v[2] ^= 0xff;
	for (int i = 0; i < 4; i++)
		round_sip(v);
	return v[0] ^ v[1] ^ v[2] ^ v[3];
}

uint64_t hash_bytes(const void *p, size_t n)
{
	pthread_once(&key_once, draw_key);
	return hash_siphash24(p, n, process_key);
}
