/*
 * peers.c: a table of client addresses with their open connections. We keep it
 * ourselves because libmicrohttpd's own limit is one a daemon, counts loopback and
 * so would lock out everybody behind a proxy. An entry lives while its address has
 * a connection, so the table is bounded by the connection limit; clients choose
 * the keys, so the hash is keyed.
 */
#include "http/peers.h"

#include <netinet/in.h>
#include <string.h>

#include "util/hash.h"
#include "util/mem.h"

struct peer_entry {
	struct peer_entry *next;
	struct peer_key key;
	unsigned count;
};

void peers_init(struct peers *p, unsigned max)
{
	memset(p, 0, sizeof(*p));
	p->max = max;
	pthread_mutex_init(&p->lock, NULL);
}

void peers_release(struct peers *p)
{
	size_t i;

	for (i = 0; i < PEER_BUCKETS; i++) {
		while (p->buckets[i]) {
			struct peer_entry *entry = p->buckets[i];

			p->buckets[i] = entry->next;
			mem_free(entry);
		}
	}
	pthread_mutex_destroy(&p->lock);
}

bool peer_key(const struct sockaddr *addr, struct peer_key *ret)
{
	static const unsigned char mapped[12] = { [10] = 0xff, [11] = 0xff };
	struct peer_key key;

	if (addr->sa_family == AF_INET) {
		memcpy(key.b, mapped, sizeof(mapped));
		memcpy(key.b + 12, &((const struct sockaddr_in *)(const void *)addr)->sin_addr, 4);
	} else if (addr->sa_family == AF_INET6) {
		memcpy(key.b, &((const struct sockaddr_in6 *)(const void *)addr)->sin6_addr, 16);
		if (memcmp(key.b, &in6addr_loopback, 16) == 0)
			return false;
	} else {
		return false;
	}
	if (memcmp(key.b, mapped, sizeof(mapped)) == 0 && key.b[12] == 127)
		return false;
	*ret = key;
	return true;
}

static struct peer_entry **peer_find(struct peers *p, const struct peer_key *key)
{
	struct peer_entry **at = &p->buckets[hash_bytes(key->b, sizeof(key->b)) % PEER_BUCKETS];

	while (*at && memcmp((*at)->key.b, key->b, sizeof(key->b)) != 0)
		at = &(*at)->next;
	return at;
}

bool peers_room(struct peers *p, const struct peer_key *key)
{
	struct peer_entry *entry;
	bool room;

	if (p->max == 0)
		return true;
	pthread_mutex_lock(&p->lock);
	entry = *peer_find(p, key);
	room = !entry || entry->count < p->max;
	pthread_mutex_unlock(&p->lock);
	return room;
}

bool peers_enter(struct peers *p, const struct peer_key *key)
{
	struct peer_entry **at;
	bool entered = false;

	if (p->max == 0)
		return true;
	pthread_mutex_lock(&p->lock);
	at = peer_find(p, key);
	if (!*at) {
		*at = mem_zero(sizeof(**at));
		if (*at)
			(*at)->key = *key;
	}
	if (*at && (*at)->count < p->max) {
		(*at)->count++;
		entered = true;
	}
	pthread_mutex_unlock(&p->lock);
	return entered;
}

void peers_leave(struct peers *p, const struct peer_key *key)
{
	struct peer_entry **at, *entry;

	if (p->max == 0)
		return;
	pthread_mutex_lock(&p->lock);
	at = peer_find(p, key);
	entry = *at;
	if (entry && --entry->count == 0) {
		*at = entry->next;
		mem_free(entry);
	}
	pthread_mutex_unlock(&p->lock);
}
