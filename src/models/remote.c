/* remote.c: opening and closing of a remote, its name and its counters. */
#include "models/remote.h"

#include <string.h>

#include "models/remote_private.h"
#include "util/clock.h"
#include "util/mem.h"

static const struct shape {
	const char *name, *use, *noun;
	bool model; /* wants to be told which one */
} shapes[] = {
	[REMOTE_OPENAI_EMBED] = { "openai", "embed", "embedding model", true },
	[REMOTE_TEI_EMBED] = { "tei", "embed", "embedding model", false },
	[REMOTE_OLLAMA_EMBED] = { "ollama", "embed", "embedding model", true },
	[REMOTE_COHERE_EMBED] = { "cohere", "embed", "embedding model", true },
	[REMOTE_TEI_SPARSE] = { "tei", "sparse", "sparse embedding model", false },
	[REMOTE_TEI_RERANK] = { "tei", "rerank", "reranker", false },
	[REMOTE_COHERE_RERANK] = { "cohere", "rerank", "reranker", true },
	[REMOTE_JINA_RERANK] = { "jina", "rerank", "reranker", true },
	[REMOTE_OPENAI_CHAT] = { "openai", "chat", "language model", true },
};

bool remote_shape_parse(const char *name, const char *use, enum remote_shape *ret)
{
	for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++)
		if (strcmp(shapes[i].name, name) == 0 && strcmp(shapes[i].use, use) == 0) {
			*ret = (enum remote_shape)i;
			return true;
		}
	return false;
}

const char *remote_noun(const struct remote *r)
{
	return shapes[r->opt.shape].noun;
}

static bool embeds(enum remote_shape shape)
{
	return strcmp(shapes[shape].use, "embed") == 0;
}

static enum status options_check(const struct remote_options *o, struct error *e)
{
	if ((size_t)o->shape >= sizeof(shapes) / sizeof(shapes[0]))
		return error_field(e, ST_INVALID, "shape", "there is no such shape");
	if (shapes[o->shape].model && !o->model[0])
		return error_field(e, ST_INVALID, "model", "the shape '%s' needs a model's name",
			shapes[o->shape].name);
	if (embeds(o->shape) && (o->dimension < 1 || o->dimension > 65536))
		return error_field(e, ST_INVALID, "dimension", "it must be 1 to 65536");
	if (o->batch < 1 || o->batch > 4096)
		return error_field(e, ST_INVALID, "batch", "it must be 1 to 4096");
	if (o->max_text < 1)
		return error_field(e, ST_INVALID, "max_text", "it must be at least 1");
	if (o->timeout_ms < 1)
		return error_field(e, ST_INVALID, "timeout", "it must be at least 1 ms");
	return ST_OK;
}

/* The path is left out: the same model behind another one makes the same vectors. */
static enum status identity_make(struct remote *r, struct error *e)
{
	const char *model = r->model[0] ? r->model : shapes[r->opt.shape].name;
	char host[300];
	struct error why = { .code = ST_OK };
	struct strbuf sb = STRBUF_INIT;
	enum status st = net_url_host(r->net, r->url, host, sizeof(host), &why);

	if (st)
		return error_field(e, st, "url", "%s", why.message);
	strbuf_addf(&sb, "%s@%s", model, host);
	r->identity = strbuf_detach(&sb, NULL);
	return r->identity ? ST_OK : error_set(e, ST_NOMEM, "out of memory");
}

static enum status remote_fill(struct remote *r, const struct remote_options *opt, struct error *e)
{
	enum status st;

	r->url = mem_strdup(opt->url);
	r->model = mem_strdup(opt->model);
	if (!r->url || !r->model)
		return error_set(e, ST_NOMEM, "out of memory");
	r->opt.url = r->url;
	r->opt.model = r->model;
	r->opt.key_file = NULL;
	st = identity_make(r, e);
	if (!st && opt->key_file && opt->key_file[0])
		st = remote_key_read(opt->key_file, &r->authorization, e);
	if (!st && embeds(opt->shape) && opt->cache)
		st = remote_cache_new(opt->cache, opt->dimension, &r->cache, e);
	return st;
}

enum status remote_open(struct net *net, const struct remote_options *opt, struct remote **ret,
	struct error *e)
{
	struct remote *r;
	enum status st = options_check(opt, e);

	if (st)
		return st;
	r = mem_zero(sizeof(*r));
	if (!r)
		return error_set(e, ST_NOMEM, "out of memory");
	(void)pthread_mutex_init(&r->lock, NULL);
	r->net = net;
	r->opt = *opt;
	r->breaker.pause_ms = REMOTE_BREAKER_PAUSE_MS;
	st = remote_fill(r, opt, e);
	if (st)
		remote_close(r);
	else
		*ret = r;
	return st;
}

void remote_close(struct remote *r)
{
	if (!r)
		return;
	remote_cache_free(r->cache);
	remote_key_free(r->authorization);
	mem_free(r->identity);
	mem_free(r->model);
	mem_free(r->url);
	(void)pthread_mutex_destroy(&r->lock);
	mem_free(r);
}

const char *remote_identity(const struct remote *r)
{
	return r->identity;
}

void remote_stats(struct remote *r, struct remote_stats *ret)
{
	(void)pthread_mutex_lock(&r->lock);
	*ret = r->stats;
	ret->open = r->breaker.until_ms != 0;
	(void)pthread_mutex_unlock(&r->lock);
}
