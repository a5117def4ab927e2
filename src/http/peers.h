/* http/peers.h: connections counted by client address (T11, HTTP-04). */
#ifndef RCPD_HTTP_PEERS_H
#define RCPD_HTTP_PEERS_H

#include <pthread.h>
#include <stdbool.h>
#include <sys/socket.h>

#define PEER_BUCKETS 1024

/* An address as 16 bytes: IPv6, or IPv4 mapped into it. */
struct peer_key {
	unsigned char b[16];
};

struct peer_entry;
struct peers {
	unsigned max; /* connections an address may have; 0: no limit */
	pthread_mutex_t lock;
	struct peer_entry *buckets[PEER_BUCKETS]; /* under lock */
};

void peers_init(struct peers *p, unsigned max);
void peers_release(struct peers *p);
/* False for unix sockets and loopback, which are not counted: nginx sits there. */
bool peer_key(const struct sockaddr *addr, struct peer_key *ret);
/* Whether the address has room for one more. */
bool peers_room(struct peers *p, const struct peer_key *key);
/* Counts one in; false (nothing counted) when there is no room or no memory. */
bool peers_enter(struct peers *p, const struct peer_key *key);
void peers_leave(struct peers *p, const struct peer_key *key);

#endif
