/*
 * models/remote_private.h: what the files of a remote share.
 *
 *   remote_embed ─┐                    ┌▶ breaker, attempts, backoff  ─▶ net_call
 *   remote_rerank ┼▶ request as JSON ──▶ remote_exchange
 *   …_sparse     ─┘                    └▶ answer as JSON ─▶ checked into plain numbers
 */
#ifndef RCPD_MODELS_REMOTE_PRIVATE_H
#define RCPD_MODELS_REMOTE_PRIVATE_H

#include <jansson.h>
#include <pthread.h>

#include "models/remote.h"

#define REMOTE_MAX_DEPTH 32      /* of the JSON of an answer */
#define REMOTE_BACKOFF_MS 100    /* ceiling of the first wait; doubles at each attempt */
#define REMOTE_BACKOFF_MAX 5000  /* ms; the greatest ceiling */
#define REMOTE_MAX_WAIT_MS 30000 /* a server that asks for a longer wait is given up */
/* The breaker opens after so many failed attempts one behind the other, lets nobody
 * through for the pause, and then one alone, whose success closes it. */
#define REMOTE_BREAKER_FAILURES 5
#define REMOTE_BREAKER_PAUSE_MS 10000

struct remote_breaker {
	unsigned failures; /* one behind the other */
	uint64_t until_ms; /* open until then; 0: closed */
	bool probing;      /* the one attempt after the pause is under way */
	unsigned pause_ms;
};

/* A model that goes on failing is a line in the log so often. */
#define REMOTE_TELL_MS 30000

enum remote_outcome { REMOTE_WORKED, REMOTE_FAILED, REMOTE_UNKNOWN };

/* False: open. True: go on, and tell how it ended by remote_breaker_leave, with the same
 * probe. Callers hold a lock. */
bool remote_breaker_enter(struct remote_breaker *b, uint64_t now_ms, bool *probe);
void remote_breaker_leave(struct remote_breaker *b, bool probe, enum remote_outcome how,
	uint64_t now_ms);

/* Vectors by the SHA-256 of their texts; the one unused longest makes room. */
struct remote_cache;
enum status remote_cache_new(size_t entries, size_t dimension, struct remote_cache **ret,
	struct error *e);
void remote_cache_free(struct remote_cache *c); /* NULL is fine */
/* Any thread. False: not there. */
bool remote_cache_get(struct remote_cache *c, const unsigned char *key, float *out);
/* Kept if there is memory for it. */
void remote_cache_put(struct remote_cache *c, const unsigned char *key, const float *vector);

struct remote {
	struct net *net;
	struct remote_options opt; /* strings are its own */
	char *url, *model, *identity;
	char *authorization; /* "Bearer …"; NULL: none */
	struct remote_cache *cache;
	pthread_mutex_t lock; /* over what follows */
	struct remote_breaker breaker;
	struct remote_stats stats;
	bool failing;     /* as the log knows it */
	uint64_t told_ms; /* when the log was told last */
};

/* What errors call it: "embedding model", "reranker" and so on. */
const char *remote_noun(const struct remote *r);

/* "Bearer …" of a key file; *ret is the caller's. ST_INVALID (mode, content), ST_IO,
 * ST_NOT_FOUND, ST_NOMEM. */
enum status remote_key_read(const char *path, char **ret, struct error *e);
void remote_key_free(char *key); /* wipes it; NULL is fine */

/* Takes what it wants from an answer, all or nothing. NULL: it did; else what is wrong
 * with the answer, for the log, or REMOTE_NOMEM. */
typedef const char *remote_reader(const json_t *answer, void *arg);
extern const char REMOTE_NOMEM[];

/*
 * Sends a request and has the answer read, with retries. request: owned, NULL is
 * ST_NOMEM. max_answer: bytes.
 */
enum status remote_exchange(struct remote *r, json_t *request, size_t max_answer,
	const struct remote_call *call, remote_reader *read, void *arg, struct error *e);

/* A text as it is sent: cut to max_text, and not empty, which some servers refuse. */
struct bytes remote_text(const struct remote *r, struct bytes text);
/* ST_INVALID unless all are valid UTF-8, without which there is no JSON. */
enum status remote_check_texts(const struct bytes *texts, size_t n, struct error *e);
/* Texts, checked, as an array of strings; NULL when out of memory. */
json_t *remote_texts(const struct remote *r, const struct bytes *texts, size_t n);
/* A new object with the member "model", if there is one. */
json_t *remote_request(const struct remote *r);
/* Adds a member; value is owned and may be NULL. False, and *o gone, if that failed. */
bool remote_member(json_t **o, const char *key, json_t *value);

/* A finite number; false otherwise. */
bool remote_number(const json_t *v, double *ret);
/* The whole number of 0 to max - 1. */
bool remote_index(const json_t *v, uint64_t max, uint64_t *ret);

/* The grades in a chat model's answer: 0..1, n of them. False: not just that. */
bool remote_grades_parse(struct bytes text, size_t n, double *out);
/* A chat request that asks for them. */
json_t *remote_chat_request(const struct remote *r, struct bytes query,
	const struct bytes *passages, size_t n);

#endif
