/*
 * server/models.c: from the section [model] of the configuration to struct models.
 */
#include "server/models.h"

#include <string.h>

#include "server/options.h"
#include "util/mem.h"

struct app_models {
	struct models models;
	struct static_model *table;
	struct net *net; /* NULL: nothing is remote */
	struct arena arena;
	struct engine_encoder encoder;
	bool has_encoder;
};

/* A key's name before what a lower layer says, as that knows no configuration. */
static enum status blame(const char *key, enum status st, struct error *e)
{
	struct error why = *e;

	error_set(e, st, "%s: %s", key, why.message);
	if (why.detail[0])
		error_detail(e, "%s", why.detail);
	return st;
}

static enum status open_table(const struct config *c, struct app_models *m, struct error *e)
{
	enum status st;

	if (strcmp(c->model, "none") == 0)
		return ST_OK;
	if (strcmp(c->model, "builtin") == 0)
		st = static_model_builtin(&m->table, e);
	else
		st = static_model_open(c->model, &m->table, e);
	if (st)
		return blame("model", st, e);
	m->models.table = m->table;
	m->models.colbert = true; /* docs/QUALITY.md: it improves on hybrid alone */
	return ST_OK;
}

static enum status open_net(const struct config *c, struct app_models *m, struct error *e)
{
	const struct net_policy policy = {
		.redirects = (unsigned)c->model_redirects,
		.private_hosts = c->model_private_hosts,
		.plain_http = c->model_plain_http,
		.ca_file = c->model_ca_file[0] ? c->model_ca_file : NULL,
	};
	enum status st;

	if (m->net)
		return ST_OK;
	st = net_new(&policy, &m->net, e);
	return st ? blame("model", st, e) : ST_OK;
}

/* One model over HTTP, by its keys. */
struct remote_keys {
	const char *key, *use; /* "embedder", and what remote_shape_parse calls it */
	const char *kind, *url, *model, *key_file;
	size_t dimension, batch, cache;
};

static enum status open_remote(const struct config *c, struct app_models *m,
	const struct remote_keys *k, struct remote **ret, struct error *e)
{
	struct remote_options opt = { .url = k->url,
		.model = k->model,
		.key_file = k->key_file,
		.dimension = k->dimension,
		.batch = k->batch,
		.max_text = c->model_max_text,
		.timeout_ms = (unsigned)c->model_timeout_ms,
		.retries = (unsigned)c->model_retries,
		.cache = k->cache };
	enum status st;

	if (strcmp(k->kind, "none") == 0)
		return ST_OK;
	if (!remote_shape_parse(k->kind, k->use, &opt.shape))
		return error_set(e, ST_INVALID, "%s cannot be %s", k->key, k->kind);
	st = open_net(c, m, e);
	if (st)
		return st;
	st = remote_open(m->net, &opt, ret, e);
	return st ? blame(k->key, st, e) : ST_OK;
}

static enum status open_embedder(const struct config *c, struct app_models *m, struct error *e)
{
	const struct remote_keys keys = { "embedder", "embed", c->embedder, c->embedder_url,
		c->embedder_model, c->embedder_key_file, c->embedder_dimension, c->embedder_batch,
		c->model_cache };

	if (strcmp(c->embedder, "external") == 0) {
		m->models.external_dimension = c->embedder_dimension;
		return ST_OK;
	}
	m->models.embedder_dimension = c->embedder_dimension;
	return open_remote(c, m, &keys, &m->models.embedder, e);
}

#define REMOTE_BATCH 32 /* texts in one call of what is no embedder */

static enum status open_others(const struct config *c, struct app_models *m, struct error *e)
{
	const struct remote_keys sparse = { "sparse", "sparse", c->sparse, c->sparse_url,
		c->sparse_model, c->sparse_key_file, 0, REMOTE_BATCH, 0 };
	const struct remote_keys reranker = { "reranker", "rerank", c->reranker, c->reranker_url,
		c->reranker_model, c->reranker_key_file, 0, REMOTE_BATCH, 0 };
	const struct remote_keys llm = { "llm", "chat", c->llm, c->llm_url, c->llm_model,
		c->llm_key_file, 0, REMOTE_BATCH, 0 };
	enum status st = open_remote(c, m, &sparse, &m->models.sparse, e);

	if (!st)
		st = open_remote(c, m, &reranker, &m->models.cross_encoder, e);
	if (!st)
		st = open_remote(c, m, &llm, &m->models.llm, e);
	return st;
}

enum status app_models_open(const struct config *c, struct app_models **ret, struct error *e)
{
	struct app_models *m = mem_zero(sizeof(*m));
	enum status st;

	if (!m)
		return error_set(e, ST_NOMEM, "out of memory");
	arena_init(&m->arena, 0);
	st = open_table(c, m, e);
	if (!st)
		st = open_embedder(c, m, e);
	if (!st)
		st = open_others(c, m, e);
	if (!st) {
		m->has_encoder = models_encoder(&m->models, &m->arena, &m->encoder);
		if (!m->has_encoder && m->table) /* it has a first space, but for want of memory */
			st = error_set(e, ST_NOMEM, "out of memory");
	}
	if (st) {
		app_models_close(m);
		return st;
	}
	*ret = m;
	return ST_OK;
}

int app_models_exit(const struct error *e)
{
	return e->code == ST_NOMEM || e->code == ST_INTERNAL ? EXIT_FAILED : EXIT_USAGE;
}

void app_models_close(struct app_models *m)
{
	if (!m)
		return;
	remote_close(m->models.embedder);
	remote_close(m->models.sparse);
	remote_close(m->models.cross_encoder);
	remote_close(m->models.llm);
	net_free(m->net);
	static_model_close(m->table);
	arena_release(&m->arena);
	mem_free(m);
}

const struct models *app_models_get(const struct app_models *m)
{
	return &m->models;
}

const struct engine_encoder *app_models_encoder(const struct app_models *m)
{
	return m->has_encoder ? &m->encoder : NULL;
}
