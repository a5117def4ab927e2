/*
 * server/reload.c: SIGHUP. The file, the environment and the flags are read again
 * as at the start. A configuration with a mistake changes nothing. Of a good one
 * some keys take effect now; every other change is named in the log, each time
 * until a restart, since the process does not do what its file says.
 */
#include "server/app.h"

#include "server/corpus.h"
#include "server/notify.h"
#include "util/log.h"

static void log_taken(const struct config_key *key, void *arg)
{
	(void)arg;
	if (key->reloadable)
		log_event(LOG_NOTICE, "setting changed", LOG_S("key", key->name));
}

static void log_waiting(const struct config_key *key, void *arg)
{
	(void)arg;
	if (!key->reloadable)
		log_event(LOG_WARNING, "setting changed, but needs a restart",
			LOG_S("key", key->name));
}

/* Under app->lock. Every key that keys.c calls reloadable is acted on here. */
static void reload_apply(struct app *app, struct config *new)
{
	const struct config *old = app->loaded ? app->loaded : app->config;

	/* The quieter of two levels must not swallow the report. */
	config_diff(old, new, log_taken, NULL);
	config_diff(app->config, new, log_waiting, NULL);
	log_set_level((enum log_level)log_level_parse(new->log_level));
	atomic_store(&app->grace_ms, (unsigned)new->shutdown_grace * 1000U);
	if (app->rpc)
		rpc_set_deadline(app->rpc, (uint32_t) new->deadline_ms);
	config_free(app->loaded);
	app->loaded = new;
}

void reload_config(struct app *app)
{
	struct config *new = NULL;
	struct error e = { 0 };
	/* READY=1 must not be said before it is true, nor for stdio at all. */
	bool announced = atomic_load(&app->announced) && !atomic_load(&app->draining);

	if (announced)
		notify_reloading();
	if (config_load(app->options->config, app->options->overrides, app->options->override_count,
		    &new, &e) != ST_OK ||
		corpus_check(new, &e) != ST_OK) {
		config_free(new);
		log_event(LOG_ERROR, "the configuration was not reloaded; the old one stays",
			LOG_S("reason", e.message));
	} else {
		pthread_mutex_lock(&app->lock);
		reload_apply(app, new);
		pthread_mutex_unlock(&app->lock);
		log_event(LOG_NOTICE, "configuration reloaded");
	}
	if (announced)
		notify_ready(app->status);
}
