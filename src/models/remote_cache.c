/*
 * remote_cache.c: a bounded map with eviction of the least recently used. Entries stand
 * in one array and are linked by their places: in a chain of their bucket, and in one
 * list by their last use.
 *
 *   recent ⇄ … ⇄ oldest        buckets[h] → entry → entry → NONE
 */
#include <string.h>

#include "models/remote_private.h"
#include "util/crypto.h"
#include "util/hash.h"
#include "util/mem.h"

#define NONE UINT32_MAX

struct entry {
	unsigned char key[CRYPTO_SHA256_LEN];
	float *vector;
	uint32_t chain; /* next in the bucket */
	uint32_t newer, older;
};

struct remote_cache {
	pthread_mutex_t lock;
	struct entry *entries;
	uint32_t *buckets;
	uint32_t bucket_mask;
	uint32_t n, max;
	uint32_t recent, oldest;
	size_t dimension;
};

enum status remote_cache_new(size_t entries, size_t dimension, struct remote_cache **ret,
	struct error *e)
{
	struct remote_cache *c;
	uint32_t buckets = 16;

	if (entries > 1U << 24)
		return error_field(e, ST_INVALID, "cache",
			"a cache must not keep more than 2^24 vectors");
	while (buckets < entries)
		buckets *= 2;
	c = mem_zero(sizeof(*c));
	if (!c)
		return error_set(e, ST_NOMEM, "out of memory");
	(void)pthread_mutex_init(&c->lock, NULL);
	c->entries = mem_array(entries, sizeof(*c->entries));
	c->buckets = mem_array(buckets, sizeof(*c->buckets));
	if (!c->entries || !c->buckets) {
		remote_cache_free(c);
		return error_set(e, ST_NOMEM, "out of memory");
	}
	memset(c->buckets, 0xff, buckets * sizeof(*c->buckets));
	c->bucket_mask = buckets - 1;
	c->max = (uint32_t)entries;
	c->recent = c->oldest = NONE;
	c->dimension = dimension;
	*ret = c;
	return ST_OK;
}

void remote_cache_free(struct remote_cache *c)
{
	if (!c)
		return;
	for (uint32_t i = 0; c->entries && i < c->n; i++)
		mem_free(c->entries[i].vector);
	mem_free(c->entries);
	mem_free(c->buckets);
	(void)pthread_mutex_destroy(&c->lock);
	mem_free(c);
}

/* Clients choose the texts, so the bucket must not be one they can foresee. */
static uint32_t *bucket_of(struct remote_cache *c, const unsigned char *key)
{
	return &c->buckets[hash_bytes(key, CRYPTO_SHA256_LEN) & c->bucket_mask];
}

static uint32_t find(struct remote_cache *c, const unsigned char *key)
{
	uint32_t i = *bucket_of(c, key);

	while (i != NONE && memcmp(c->entries[i].key, key, CRYPTO_SHA256_LEN) != 0)
		i = c->entries[i].chain;
	return i;
}

static void use_unlink(struct remote_cache *c, uint32_t i)
{
	struct entry *x = &c->entries[i];

	if (x->newer == NONE)
		c->recent = x->older;
	else
		c->entries[x->newer].older = x->older;
	if (x->older == NONE)
		c->oldest = x->newer;
	else
		c->entries[x->older].newer = x->newer;
}

static void use_first(struct remote_cache *c, uint32_t i)
{
	c->entries[i].newer = NONE;
	c->entries[i].older = c->recent;
	if (c->recent == NONE)
		c->oldest = i;
	else
		c->entries[c->recent].newer = i;
	c->recent = i;
}

bool remote_cache_get(struct remote_cache *c, const unsigned char *key, float *out)
{
	uint32_t i;

	(void)pthread_mutex_lock(&c->lock);
	i = find(c, key);
	if (i != NONE) {
		memcpy(out, c->entries[i].vector, c->dimension * sizeof(*out));
		use_unlink(c, i);
		use_first(c, i);
	}
	(void)pthread_mutex_unlock(&c->lock);
	return i != NONE;
}

/* A place for a new entry, in no chain and no list; NONE when out of memory. */
static uint32_t place(struct remote_cache *c)
{
	uint32_t i, *at;

	if (c->n < c->max) {
		c->entries[c->n].vector = mem_array(c->dimension, sizeof(float));
		return c->entries[c->n].vector ? c->n++ : NONE;
	}
	i = c->oldest;
	use_unlink(c, i);
	for (at = bucket_of(c, c->entries[i].key); *at != i; at = &c->entries[*at].chain)
		;
	*at = c->entries[i].chain;
	return i;
}

void remote_cache_put(struct remote_cache *c, const unsigned char *key, const float *vector)
{
	uint32_t i, *bucket;

	(void)pthread_mutex_lock(&c->lock);
	i = find(c, key);
	if (i == NONE)
		i = place(c);
	else
		i = NONE; /* another thread was faster */
	if (i != NONE) {
		bucket = bucket_of(c, key);
		memcpy(c->entries[i].key, key, CRYPTO_SHA256_LEN);
		memcpy(c->entries[i].vector, vector, c->dimension * sizeof(*vector));
		c->entries[i].chain = *bucket;
		*bucket = i;
		use_first(c, i);
	}
	(void)pthread_mutex_unlock(&c->lock);
}
