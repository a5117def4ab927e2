/*
 * scripted.h: a model server for tests of models/remote: hands out the answers that a
 * test lists, one for each request, the last one for ever, and keeps the last request.
 */
#ifndef TEST_MODELS_SCRIPTED_H
#define TEST_MODELS_SCRIPTED_H

#include <pthread.h>

#include "../net/peer.h"
#include "models/remote.h"

struct step {
	int status;          /* 0: closes without an answer; -1: hangs */
	const char *headers; /* NULL: a JSON content type */
	const char *body;
};

struct scripted {
	struct peer *peer;
	const struct step *steps;
	size_t n;
	pthread_mutex_t lock;
	char body[65536]; /* of the last request */
	char authorization[200];
	struct net *net;
	struct remote *remote;
};

/* Starts the server and opens a remote to it; options without url. */
void scripted_open(struct scripted *s, const struct step *steps, size_t n,
	const struct remote_options *opt);
void scripted_close(struct scripted *s);
/* A new server where one was stopped. */
void scripted_restart(struct scripted *s, unsigned port);
/* The last request's body. */
const char *scripted_body(struct scripted *s);

/* What most tests want: embeds in two dimensions, three texts a batch, no retries. */
struct remote_options scripted_options(enum remote_shape shape);

#endif
