/*
 * config/check_model.c: rules of the section [model]: the form of addresses and paths,
 * and what a model over HTTP needs besides its kind. Keys of a model that is "none" are
 * not looked at, so that one can be switched off by that key alone.
 */
#include "config/internal.h"

#include <string.h>

/* A file or folder; what people write as in a shell would be searched for as it stands. */
static enum status check_path(const char *name, const char *path,
	const struct config_origin *origins, struct error *e)
{
	const char *where = config_where(origins, name);

	if (path[0] == '~')
		return error_set(e, ST_INVALID,
			"%s: %s cannot be '%.60s': only shells know '~'; write the whole path",
			where, name, path);
	if (path[0] == '"' || path[0] == '\'' || strstr(path, " #"))
		return error_set(e, ST_INVALID, "%s: %s cannot be '%.60s'%s", where, name, path,
			config_text_hint(path));
	return ST_OK;
}

/* One model over HTTP: its kind and the keys that go with it. */
struct remote_keys {
	const char *kind_key, *kind;
	const char *url_key, *url;
	const char *model_key, *model;
	const char *file_key, *file;
};

static enum status check_url(const struct config *c, const struct remote_keys *k,
	const struct config_origin *origins, struct error *e)
{
	bool plain = strncmp(k->url, "http://", 7) == 0;
	size_t skip = plain ? 7 : 8;

	if (k->url[0] == '\0')
		return error_set(e, ST_INVALID,
			"%s: %s is %s, and %s does not say where that is; set it to the whole "
			"address of the endpoint",
			config_where(origins, k->kind_key), k->kind_key, k->kind, k->url_key);
	if ((!plain && strncmp(k->url, "https://", 8) != 0) || k->url[skip] == '\0' ||
		k->url[skip] == '/' || strpbrk(k->url, " \t\"'"))
		return error_set(e, ST_INVALID,
			"%s: %s cannot be '%.60s'; it must be a whole address that begins with "
			"http:// or https://",
			config_where(origins, k->url_key), k->url_key, k->url);
	if (plain && !c->model_plain_http)
		return error_set(e, ST_INVALID,
			"%s: %s cannot be '%.60s', because model_plain_http is no; use https://",
			config_where(origins, k->url_key), k->url_key, k->url);
	return ST_OK;
}

/* The shapes that serve one model to an address name none. */
static bool kind_names_model(const char *kind)
{
	return strcmp(kind, "tei") != 0;
}

static enum status check_remote(const struct config *c, const struct remote_keys *k,
	const struct config_origin *origins, struct error *e)
{
	enum status st;

	if (strcmp(k->kind, "none") == 0)
		return ST_OK;
	st = check_url(c, k, origins, e);
	if (st == ST_OK && kind_names_model(k->kind) && k->model[0] == '\0')
		st = error_set(e, ST_INVALID,
			"%s: %s is %s, which serves several models; %s must name one",
			config_where(origins, k->kind_key), k->kind_key, k->kind, k->model_key);
	return st == ST_OK ? check_path(k->file_key, k->file, origins, e) : st;
}

static enum status check_remotes(const struct config *c, const struct config_origin *origins,
	struct error *e)
{
	const struct remote_keys all[] = {
		{ "embedder", c->embedder, "embedder_url", c->embedder_url, "embedder_model",
			c->embedder_model, "embedder_key_file", c->embedder_key_file },
		{ "sparse", c->sparse, "sparse_url", c->sparse_url, "sparse_model", c->sparse_model,
			"sparse_key_file", c->sparse_key_file },
		{ "reranker", c->reranker, "reranker_url", c->reranker_url, "reranker_model",
			c->reranker_model, "reranker_key_file", c->reranker_key_file },
		{ "llm", c->llm, "llm_url", c->llm_url, "llm_model", c->llm_model, "llm_key_file",
			c->llm_key_file },
	};
	size_t first = strcmp(c->embedder, "external") == 0; /* that one is not called */
	enum status st = ST_OK;

	for (size_t i = first; st == ST_OK && i < sizeof(all) / sizeof(all[0]); i++)
		st = check_remote(c, &all[i], origins, e);
	return st;
}

enum status config_check_model(const struct config *c, const struct config_origin *origins,
	struct error *e)
{
	enum status st;

	if (c->model[0] == '\0')
		return error_set(e, ST_INVALID,
			"%s: model is empty; it must be builtin, none or a folder",
			config_where(origins, "model"));
	st = check_path("model", c->model, origins, e);
	if (st == ST_OK)
		st = check_path("model_ca_file", c->model_ca_file, origins, e);
	if (st == ST_OK)
		st = check_remotes(c, origins, e);
	if (st == ST_OK && strcmp(c->embedder, "none") != 0 && c->embedder_dimension == 0)
		st = error_set(e, ST_INVALID,
			"%s: embedder is %s, and embedder_dimension does not say how many numbers "
			"its vectors have",
			config_where(origins, "embedder"), c->embedder);
	return st;
}
