/*
 * engine/filter/cache.h: what trees said about blocks, by the tree's own bytes.
 *
 * A result is immutable and counted: the cache holds one reference, whoever uses it
 * another. Of a block it knows "none", "all" or a page with a bit a key; pages are
 * shared by results that follow one another. A block is named by its number and how
 * many entries it ever had: that names what a tree says of it, whatever was forgotten
 * and compacted since.
 */
#ifndef RCPD_ENGINE_FILTER_CACHE_H
#define RCPD_ENGINE_FILTER_CACHE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/bytes.h"

struct flt_page {
	_Atomic uint32_t refs;
	uint64_t bits[1024];
};

struct flt_block_result {
	int64_t no;
	uint32_t born;
	uint32_t count;        /* bits set */
	struct flt_page *page; /* NULL: count says whether none or all born */
};

struct flt_result {
	_Atomic uint32_t refs;
	struct bytes key; /* behind the blocks */
	uint64_t hash;
	size_t bytes;
	/* The cache's, under its mutex: neighbours by use and in the bucket. */
	struct flt_result *newer, *older, *next;
	size_t count, room;
	struct flt_block_result blocks[]; /* by number */
};

/* A new result with room for n blocks, not in the cache. NULL when out of memory. */
struct flt_result *flt_result_new(struct bytes key, size_t n);
void flt_result_unref(struct flt_result *r); /* NULL is fine */
/* NULL if r is NULL or does not know the block. */
const struct flt_block_result *flt_result_find(const struct flt_result *r, int64_t no,
	uint32_t born);
/* Appends; takes over the reference to b's page. */
void flt_result_add(struct flt_result *r, struct flt_block_result b);
struct flt_page *flt_page_new(void); /* zeroed; NULL when out of memory */
struct flt_page *flt_page_ref(struct flt_page *p);

struct flt_cache {
	pthread_mutex_t mutex; /* all of the below */
	size_t max, bytes;
	struct flt_result **buckets; /* bucket_mask + 1, never grown */
	size_t bucket_mask;
	struct flt_result *newest, *oldest;
	uint64_t hits, misses; /* lookups: everything known; something missing */
};

/* False when out of memory. */
bool flt_cache_init(struct flt_cache *c, size_t max_bytes);
void flt_cache_release(struct flt_cache *c);
/* The result of that key; new reference; NULL if none. */
struct flt_result *flt_cache_get(struct flt_cache *c, struct bytes key);
/* Keeps r (its own reference to it) unless a result that knows a later block is there
 * already. May drop others, or r itself if it is too large. */
void flt_cache_put(struct flt_cache *c, struct flt_result *r);
/* Counts an evaluation. */
void flt_cache_count(struct flt_cache *c, bool hit);

#endif
