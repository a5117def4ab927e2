/*
 * rpc/session.c: a chained hash table whose entries also form a list from the most
 * to the least recently used.
 *
 *   buckets[h] ─▶ session ─▶ session          newest ◀─▶ … ◀─▶ oldest
 *
 * lock guards everything. Keys come from tokens and identities, hashed with the
 * process's key.
 */
#include "rpc/session.h"

#include <pthread.h>
#include <string.h>

#include "util/clock.h"
#include "util/hash.h"
#include "util/mem.h"

#define BUCKETS 1024U
#define OWNER_SHARE 4 /* one owner may hold a fourth of the table */

struct session {
	struct session *chain;
	struct session *newer, *older;
	uint64_t expires_ms;
	uint64_t owner; /* hash of the identity */
	struct session_info info;
	char key[];
};

struct sessions {
	pthread_mutex_t lock;
	struct session *buckets[BUCKETS];
	struct session *newest, *oldest;
	size_t count, max;
	size_t owned[BUCKETS]; /* sessions by hash of owner: an upper bound for each */
	uint64_t ttl_ms;
};

enum status sessions_new(size_t max, uint32_t ttl_s, struct sessions **ret)
{
	struct sessions *s = mem_zero(sizeof(*s));

	if (!s)
		return ST_NOMEM;
	pthread_mutex_init(&s->lock, NULL);
	s->max = max ? max : 1;
	s->ttl_ms = (uint64_t)ttl_s * 1000;
	*ret = s;
	return ST_OK;
}

void sessions_free(struct sessions *s)
{
	if (!s)
		return;
	while (s->newest) {
		struct session *older = s->newest->older;

		mem_free(s->newest);
		s->newest = older;
	}
	pthread_mutex_destroy(&s->lock);
	mem_free(s);
}

static struct session **slot_of(struct sessions *s, const char *key)
{
	struct session **at = &s->buckets[hash_bytes(key, strlen(key)) % BUCKETS];

	while (*at && strcmp((*at)->key, key) != 0)
		at = &(*at)->chain;
	return at;
}

static void list_remove(struct sessions *s, struct session *e)
{
	if (e->newer)
		e->newer->older = e->older;
	else
		s->newest = e->older;
	if (e->older)
		e->older->newer = e->newer;
	else
		s->oldest = e->newer;
}

static void list_push(struct sessions *s, struct session *e)
{
	e->newer = NULL;
	e->older = s->newest;
	if (s->newest)
		s->newest->newer = e;
	else
		s->oldest = e;
	s->newest = e;
}

static void drop(struct sessions *s, struct session **slot)
{
	struct session *e = *slot;

	*slot = e->chain;
	list_remove(s, e);
	s->count--;
	s->owned[e->owner % BUCKETS]--;
	mem_free(e);
}

static void renew(struct sessions *s, struct session *e)
{
	e->expires_ms = s->ttl_ms ? clock_mono_ms() + s->ttl_ms : UINT64_MAX;
	list_remove(s, e);
	list_push(s, e);
}

/* The live entry of key; one that has expired is dropped on the way. */
static struct session *find_live(struct sessions *s, const char *key)
{
	struct session **slot = slot_of(s, key);

	if (*slot && (*slot)->expires_ms <= clock_mono_ms()) {
		drop(s, slot);
		return NULL;
	}
	return *slot;
}

bool sessions_find(struct sessions *s, const char *key, struct session_info *ret)
{
	struct session *e;

	pthread_mutex_lock(&s->lock);
	e = find_live(s, key);
	if (e) {
		renew(s, e);
		*ret = e->info;
	}
	pthread_mutex_unlock(&s->lock);
	return e != NULL;
}

/* Makes room for one more of this owner: among its own if it holds its share,
 * otherwise the session unused for longest, whoever holds it. */
static void make_room(struct sessions *s, uint64_t owner)
{
	size_t share = s->max / OWNER_SHARE ? s->max / OWNER_SHARE : 1;
	struct session *e = NULL;

	if (s->owned[owner % BUCKETS] >= share) {
		e = s->oldest;
		while (e && e->owner != owner)
			e = e->newer;
	}
	if (!e && s->count >= s->max)
		e = s->oldest;
	if (e)
		drop(s, slot_of(s, e->key));
}

static struct session *session_new(const char *key, uint64_t owner, const struct session_info *info)
{
	size_t len = strlen(key);
	struct session *e = mem_zero(sizeof(*e) + len + 1);

	if (!e)
		return NULL;
	memcpy(e->key, key, len + 1);
	e->owner = owner;
	e->info = *info;
	return e;
}

enum status sessions_start(struct sessions *s, const char *key, const char *owner,
	const struct session_info *info)
{
	uint64_t owner_hash = hash_bytes(owner, strlen(owner));
	struct session *e = session_new(key, owner_hash, info);
	struct session **slot;
	enum status st = e ? ST_OK : ST_NOMEM;

	pthread_mutex_lock(&s->lock);
	if (!st && find_live(s, key))
		st = ST_CONFLICT;
	if (!st) {
		make_room(s, owner_hash);
		slot = slot_of(s, key);
		*slot = e;
		list_push(s, e);
		s->count++;
		s->owned[owner_hash % BUCKETS]++;
		renew(s, e);
		e = NULL;
	}
	pthread_mutex_unlock(&s->lock);
	mem_free(e);
	return st;
}

void sessions_end(struct sessions *s, const char *key)
{
	struct session **slot;

	pthread_mutex_lock(&s->lock);
	slot = slot_of(s, key);
	if (*slot)
		drop(s, slot);
	pthread_mutex_unlock(&s->lock);
}

size_t sessions_count(struct sessions *s)
{
	size_t n;

	pthread_mutex_lock(&s->lock);
	n = s->count;
	pthread_mutex_unlock(&s->lock);
	return n;
}
