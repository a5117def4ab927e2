/*
 * models/remote.h: models behind HTTP: embedders, sparse embedders, rerankers and chat,
 * in the shapes that the common servers speak. Batches, retries with backoff and jitter
 * within the deadline, a circuit breaker, a bounded cache of vectors; connections are
 * reused (net/net.h). What a server answers is checked to the last number: count,
 * order, dimension, finite, not all zero.
 *
 * A remote may be used from any number of threads.
 */
#ifndef RCPD_MODELS_REMOTE_H
#define RCPD_MODELS_REMOTE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/net.h"
#include "util/arena.h"
#include "util/bytes.h"
#include "util/status.h"

enum remote_shape {
	REMOTE_OPENAI_EMBED,  /* POST {model, input} → data[].embedding, by index */
	REMOTE_TEI_EMBED,     /* POST {inputs} → [[…]] */
	REMOTE_OLLAMA_EMBED,  /* POST {model, input} → embeddings */
	REMOTE_COHERE_EMBED,  /* POST {model, texts, input_type, embedding_types} */
	REMOTE_TEI_SPARSE,    /* POST {inputs} → [[{index, value}]] */
	REMOTE_TEI_RERANK,    /* POST {query, texts} → [{index, score}] */
	REMOTE_COHERE_RERANK, /* POST {model, query, documents} → results[] */
	REMOTE_JINA_RERANK,   /* the same without Cohere's differences */
	REMOTE_OPENAI_CHAT,   /* POST {model, messages} → choices[0].message.content */
};
/* "openai", "tei", "ollama", "cohere", "jina" with what it is for ("embed", "sparse",
 * "rerank", "chat"). False: there is no such shape. */
bool remote_shape_parse(const char *name, const char *use, enum remote_shape *ret);

struct remote_options {
	enum remote_shape shape;
	const char *url;      /* the whole address of the endpoint */
	const char *model;    /* its name at the server; "" where the shape wants none */
	const char *key_file; /* file with the bearer token; "" for none; read at each start */
	size_t dimension;     /* embedders: what every vector must have */
	size_t batch;         /* texts in one call, >= 1 */
	size_t max_text;      /* bytes of one text that are sent; longer ones are cut */
	unsigned timeout_ms;  /* of one attempt */
	unsigned retries;     /* further attempts after the first */
	size_t cache;         /* vectors of queries that are kept; 0: none */
};

struct remote;
/* net is borrowed. ST_INVALID names the option; ST_IO, ST_NOT_FOUND (key_file). */
enum status remote_open(struct net *net, const struct remote_options *opt, struct remote **ret,
	struct error *e);
void remote_close(struct remote *r); /* NULL is fine */
/* "MODEL@host" or so: names the model, not the secret. */
const char *remote_identity(const struct remote *r);

/* Until when a call may take, and whether anybody still wants it (NULL: always). */
struct remote_call {
	uint64_t deadline_ms; /* clock_mono_ms; 0: the timeouts alone */
	bool (*stop)(void *arg);
	void *arg;
};

/*
 * All of these: ST_UNAVAILABLE when the server cannot be reached, fails, answers
 * nonsense, or its breaker is open (message fit for a client, without address);
 * ST_TIMEOUT, ST_CANCELLED, ST_NOMEM; ST_INVALID for a text that is not UTF-8. Nothing
 * partial is returned.
 */
/* out: n rows of dimension floats. query: for models that tell queries from documents,
 * and cached. */
enum status remote_embed(struct remote *r, const struct bytes *texts, size_t n, bool query,
	const struct remote_call *call, float *out, struct error *e);

struct remote_sparse {
	uint32_t *indices; /* ascending, unique */
	float *values;
	size_t n;
};
enum status remote_embed_sparse(struct remote *r, const struct bytes *texts, size_t n,
	const struct remote_call *call, struct arena *arena, struct remote_sparse *ret,
	struct error *e);
/* One score a passage. With a chat shape the model is asked for a grade of 0 to 10 of
 * each passage, in batches; passages are data to it, and an answer that is not the
 * wanted list of numbers is ST_UNAVAILABLE. */
enum status remote_rerank(struct remote *r, struct bytes query, const struct bytes *passages,
	size_t n, const struct remote_call *call, double *out, struct error *e);

struct remote_stats {
	uint64_t calls, failures, retries, cache_hits, cache_misses;
	bool open; /* the breaker */
};
void remote_stats(struct remote *r, struct remote_stats *ret);

#endif
