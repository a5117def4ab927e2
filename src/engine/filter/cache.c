/*
 * cache.c: results by key, least recently used first out. The mutex is held for a few
 * pointers at a time; results are made and freed outside it.
 */
#include "engine/filter/cache.h"

#include "util/hash.h"
#include "util/mem.h"

#define BUCKETS 1024U
/* A result may take this part of the cache at most. */
#define LARGEST_SHARE 4U

struct flt_page *flt_page_new(void)
{
	struct flt_page *p = mem_zero(sizeof(*p));

	if (p)
		atomic_init(&p->refs, 1);
	return p;
}

struct flt_page *flt_page_ref(struct flt_page *p)
{
	if (p)
		atomic_fetch_add_explicit(&p->refs, 1, memory_order_relaxed);
	return p;
}

static void page_unref(struct flt_page *p)
{
	if (p && atomic_fetch_sub_explicit(&p->refs, 1, memory_order_acq_rel) == 1)
		mem_free(p);
}

struct flt_result *flt_result_new(struct bytes key, size_t n)
{
	size_t fixed = sizeof(struct flt_result) + n * sizeof(struct flt_block_result);
	struct flt_result *r = mem_zero(fixed + key.len);
	char *copy = (char *)r + fixed;

	if (!r)
		return NULL;
	memcpy(copy, key.data, key.len);
	atomic_init(&r->refs, 1);
	r->key = (struct bytes){ copy, key.len };
	r->hash = hash_bytes(key.data, key.len);
	r->bytes = fixed + key.len;
	r->room = n;
	return r;
}

void flt_result_unref(struct flt_result *r)
{
	if (!r || atomic_fetch_sub_explicit(&r->refs, 1, memory_order_acq_rel) > 1)
		return;
	for (size_t i = 0; i < r->count; i++)
		page_unref(r->blocks[i].page);
	mem_free(r);
}

const struct flt_block_result *flt_result_find(const struct flt_result *r, int64_t no,
	uint32_t born)
{
	size_t low = 0, high = r ? r->count : 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (r->blocks[middle].no < no)
			low = middle + 1;
		else
			high = middle;
	}
	if (!r || low == r->count || r->blocks[low].no != no || r->blocks[low].born != born)
		return NULL;
	return &r->blocks[low];
}

void flt_result_add(struct flt_result *r, struct flt_block_result b)
{
	r->blocks[r->count++] = b;
	r->bytes += b.page ? sizeof(*b.page) : 0;
}

bool flt_cache_init(struct flt_cache *c, size_t max_bytes)
{
	*c = (struct flt_cache){ .max = max_bytes, .bucket_mask = BUCKETS - 1 };
	c->buckets = mem_array(BUCKETS, sizeof(struct flt_result *));
	if (!c->buckets)
		return false;
	if (pthread_mutex_init(&c->mutex, NULL) == 0)
		return true;
	mem_free(c->buckets);
	return false;
}

void flt_cache_release(struct flt_cache *c)
{
	struct flt_result *r = c->newest;

	while (r) {
		struct flt_result *older = r->older;
		flt_result_unref(r);
		r = older;
	}
	mem_free(c->buckets);
	(void)pthread_mutex_destroy(&c->mutex);
}

static struct flt_result *find(struct flt_cache *c, struct bytes key, uint64_t hash)
{
	struct flt_result *r = c->buckets[hash & c->bucket_mask];

	while (r && (r->hash != hash || !bytes_eq(r->key, key)))
		r = r->next;
	return r;
}

static void unlink_use(struct flt_cache *c, struct flt_result *r)
{
	*(r->newer ? &r->newer->older : &c->newest) = r->older;
	*(r->older ? &r->older->newer : &c->oldest) = r->newer;
}

static void link_newest(struct flt_cache *c, struct flt_result *r)
{
	r->newer = NULL;
	r->older = c->newest;
	*(c->newest ? &c->newest->newer : &c->oldest) = r;
	c->newest = r;
}

/* Takes r out and puts it before `out`, the list of what is to be let go. */
static struct flt_result *drop(struct flt_cache *c, struct flt_result *r, struct flt_result *out)
{
	struct flt_result **at = &c->buckets[r->hash & c->bucket_mask];

	while (*at != r)
		at = &(*at)->next;
	*at = r->next;
	unlink_use(c, r);
	c->bytes -= r->bytes;
	r->next = out;
	return r;
}

struct flt_result *flt_cache_get(struct flt_cache *c, struct bytes key)
{
	uint64_t hash = hash_bytes(key.data, key.len);
	struct flt_result *r;

	(void)pthread_mutex_lock(&c->mutex);
	r = find(c, key, hash);
	if (r) {
		unlink_use(c, r);
		link_newest(c, r);
		atomic_fetch_add_explicit(&r->refs, 1, memory_order_relaxed);
	}
	(void)pthread_mutex_unlock(&c->mutex);
	return r;
}

/* Whether a knows a later block than b, or more of the same. Both know one. */
static bool is_later(const struct flt_result *a, const struct flt_result *b)
{
	const struct flt_block_result *x = &a->blocks[a->count - 1];
	const struct flt_block_result *y = &b->blocks[b->count - 1];

	return x->no > y->no || (x->no == y->no && x->born > y->born);
}

void flt_cache_put(struct flt_cache *c, struct flt_result *r)
{
	struct flt_result *there, *out = NULL;

	if (r->bytes > c->max / LARGEST_SHARE)
		return;
	(void)pthread_mutex_lock(&c->mutex);
	there = find(c, r->key, r->hash);
	if (!there || !is_later(there, r)) {
		if (there)
			out = drop(c, there, out);
		while (c->bytes + r->bytes > c->max)
			out = drop(c, c->oldest, out);
		r->next = c->buckets[r->hash & c->bucket_mask];
		c->buckets[r->hash & c->bucket_mask] = r;
		link_newest(c, r);
		c->bytes += r->bytes;
		atomic_fetch_add_explicit(&r->refs, 1, memory_order_relaxed);
	}
	(void)pthread_mutex_unlock(&c->mutex);
	while (out) {
		struct flt_result *next = out->next;
		flt_result_unref(out);
		out = next;
	}
}

void flt_cache_count(struct flt_cache *c, bool hit)
{
	(void)pthread_mutex_lock(&c->mutex);
	*(hit ? &c->hits : &c->misses) += 1;
	(void)pthread_mutex_unlock(&c->mutex);
}
