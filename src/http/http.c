/*
 * http.c: starting, draining and stopping the HTTP side. The work is done by the
 * I/O threads of io.c; this file only owns what they share.
 */
#include "http/http.h"

#include <string.h>

#include "http/private.h"
#include "util/mem.h"

static void http_free(struct http *h)
{
	listen_close(&h->listener);
	peers_release(&h->peers);
	pthread_cond_destroy(&h->drain_cond);
	pthread_mutex_destroy(&h->drain_lock);
	mem_free(h->url);
	mem_free(h->ios);
	mem_free(h);
}

static void http_init(struct http *h, const struct http_config *cfg, const struct http_hooks *hooks)
{
	h->cfg = *cfg;
	h->hooks = *hooks;
	h->listener.fd = -1;
	h->base = cfg->base;
	h->base_len = strlen(cfg->base);
	/* "/rcp/" means "/rcp", "/" means everything. */
	while (h->base_len && h->base[h->base_len - 1] == '/')
		h->base_len--;
	snprintf(h->elsewhere, sizeof(h->elsewhere), "nothing is at this path; RCP/1 is at %.128s",
		cfg->base);
	h->old_mhd = strncmp(MHD_get_version(), "0.", 2) == 0;
	peers_init(&h->peers, cfg->max_per_address);
	pthread_mutex_init(&h->drain_lock, NULL);
	pthread_cond_init(&h->drain_cond, NULL);
}

static enum status config_check(const struct http_config *cfg, struct error *e)
{
	if (cfg->threads == 0 || cfg->max_connections == 0)
		return error_set(e, ST_INVALID,
			"at least one I/O thread and one connection are needed");
	if (!cfg->base || cfg->base[0] != '/')
		return error_set(e, ST_INVALID, "the base path must start with a slash");
	return ST_OK;
}

static enum status http_open(struct http *h, struct error *e)
{
	enum status st = listen_parse(h->cfg.listen, &h->listener, e);

	if (st == ST_OK)
		st = listen_open(&h->listener, e);
	if (st != ST_OK)
		return st;
	h->url = listen_url(&h->listener, h->cfg.base);
	h->ios = mem_array(h->cfg.threads, sizeof(*h->ios));
	if (!h->url || !h->ios)
		return error_set(e, ST_NOMEM, "out of memory");
	return ST_OK;
}

enum status http_start(const struct http_config *cfg, const struct http_hooks *hooks,
	struct http **ret, struct error *e)
{
	struct http *h;
	enum status st = config_check(cfg, e);
	unsigned i;

	if (st != ST_OK)
		return st;
	h = mem_zero(sizeof(*h));
	if (!h)
		return error_set(e, ST_NOMEM, "out of memory");
	http_init(h, cfg, hooks);
	st = http_open(h, e);
	for (i = 0; st == ST_OK && i < cfg->threads; i++) {
		st = io_start(&h->ios[i], h, e);
		if (st == ST_OK)
			h->io_count++;
	}
	if (st != ST_OK) {
		http_stop(h);
		return st;
	}
	*ret = h;
	return ST_OK;
}

const char *http_url(const struct http *h)
{
	return h->url;
}

/* Returns once no thread accepts any more, so that a caller may start the next
 * server on the same address. */
void http_drain(struct http *h)
{
	unsigned i;

	if (atomic_exchange(&h->draining, true))
		return;
	for (i = 0; i < h->io_count; i++)
		io_wake(&h->ios[i]);
	pthread_mutex_lock(&h->drain_lock);
	while (h->accepting > 0)
		pthread_cond_wait(&h->drain_cond, &h->drain_lock);
	pthread_mutex_unlock(&h->drain_lock);
	listen_close(&h->listener);
}

void http_stop(struct http *h)
{
	unsigned i;

	if (!h)
		return;
	http_drain(h);
	atomic_store(&h->stopping, true);
	for (i = 0; i < h->io_count; i++)
		io_wake(&h->ios[i]);
	for (i = 0; i < h->io_count; i++)
		io_join(&h->ios[i]);
	http_free(h);
}
