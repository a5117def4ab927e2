/*
 * server/app.c: builds the parts bottom up, runs one mode and takes the parts
 * apart in the other direction:
 *
 *   log, models, signals ─▶ engine ─▶ jobs ─▶ rpc (over methods) ─▶ pool ─▶ http or stdio
 *
 * Signals come before what may take long and go last, so that a second SIGTERM ends a
 * process whose start (a long migration) or end hangs. The first one only asks: whoever
 * waits for it looks after the start.
 */
#include "server/app.h"

#include <jansson.h>
#include <string.h>

#include "server/corpus.h"
#include "server/dump.h"
#include "server/notify.h"
#include "util/fault.h"
#include "util/log.h"
#include "util/mem.h"

#define MAX_VALUES 250000 /* members and elements in one message: some 32 MB parsed */

void app_complain(const struct error *e)
{
	if (e->detail[0])
		fprintf(stderr, "rcpd: %s (%s)\n", e->message, e->detail);
	else
		fprintf(stderr, "rcpd: %s\n", e->message);
}

/* The place of value among choices, which stand in the order of the enum it is
 * cast to; the configuration has checked that it is among them. */
static int choice_index(const char *const *choices, size_t n, const char *value)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(choices[i], value) == 0)
			return (int)i;
	return 0;
}

static enum log_format format_of(const struct config *c)
{
	static const char *const names[] = { [LOG_FORMAT_AUTO] = "auto",
		[LOG_FORMAT_TEXT] = "text",
		[LOG_FORMAT_JSON] = "json",
		[LOG_FORMAT_JOURNAL] = "journal" };

	return (enum log_format)choice_index(names, 4, c->log_format);
}

static enum rpc_session_mode sessions_of(const struct app *app)
{
	static const char *const names[] = { [RPC_SESSIONS_STATELESS] = "stateless",
		[RPC_SESSIONS_TOKEN] = "token",
		[RPC_SESSIONS_STRICT] = "strict" };

	if (app->options->stdio)
		return RPC_SESSIONS_PROCESS;
	return (enum rpc_session_mode)choice_index(names, 3, app->config->sessions);
}

/* ---- what signals do; on their thread ---- */

static void on_stop(void *arg)
{
	struct app *app = arg;

	atomic_store(&app->draining, true);
	log_event(LOG_NOTICE, "stopping", LOG_U("grace_ms", atomic_load(&app->grace_ms)));
	if (!app->options->stdio)
		notify_stopping();
}

static void on_reload(void *arg)
{
	reload_config(arg);
}

static void on_dump(void *arg)
{
	struct app *app = arg;

	pthread_mutex_lock(&app->lock);
	dump_state(app->pool);
	pthread_mutex_unlock(&app->lock);
}

/* ---- the parts ---- */

static enum status begin_signals(struct app *app, struct error *e)
{
	struct signals_hooks hooks = { on_stop, on_reload, on_dump, app };

	return signals_new(&hooks, &app->signals, e);
}

#define QUIET_MS 2000     /* without writes, before the corpus's space is fitted… */
#define PATIENCE_MS 60000 /* …or anyway */

static enum status begin_jobs(struct app *app, struct error *e)
{
	const struct config *c = app->config;
	struct jobs_options opt = { .engine = app->engine,
		.models = app_models_get(app->models),
		.gate = app->gate,
		.fit = c->fit,
		.growth = c->fit_growth,
		.quiet_ms = QUIET_MS,
		.patience_ms = PATIENCE_MS };

	return jobs_start(&opt, &app->jobs, e);
}

static enum status begin_rpc(struct app *app, struct error *e)
{
	const struct config *c = app->config;
	struct rpc_config cfg = {
		.methods_arg = &app->methods,
		.capabilities = methods_capabilities,
		.epoch = methods_epoch,
		.server_name = "rcpd",
		.server_version = RCPD_VERSION,
		.sessions = sessions_of(app),
		.limits = { .max_depth = c->max_depth,
			.max_values = MAX_VALUES,
			.max_string = c->max_body,
			.max_batch = c->max_batch,
			.max_sessions = c->max_sessions,
			.session_ttl_s = (uint32_t)c->session_ttl,
			.deadline_ms = (uint32_t)c->deadline_ms },
	};
	struct rpc *rpc = NULL;
	enum status st;

	app->methods = (struct methods){ .engine = app->engine,
		.models = app_models_get(app->models),
		.gate = app->gate,
		.jobs = app->jobs,
		.read_only = c->read_only,
		.logs = app->options->stdio,
		.max_k = c->max_k,
		.max_candidates = c->max_candidates,
		.max_documents = c->max_documents,
		.max_inputs = c->embed_batch,
		.max_passages = c->max_rerank,
		.chunk_target = c->chunk_tokens,
		.chunk_overlap = c->chunk_overlap };
	cfg.methods = methods_table(&cfg.method_count);
	cfg.conformance = methods_conformance(&app->methods);
	st = rpc_new(&cfg, &rpc, e);
	pthread_mutex_lock(&app->lock);
	app->rpc = rpc;
	if (rpc && app->loaded) /* a reload came before there was anything to tell */
		rpc_set_deadline(rpc, (uint32_t)app->loaded->deadline_ms);
	pthread_mutex_unlock(&app->lock);
	return st;
}

static enum status begin_pool(struct app *app, struct error *e)
{
	struct pool *pool = NULL;
	enum status st = pool_new((unsigned)app->config->workers, app->config->queue, &pool, e);

	pthread_mutex_lock(&app->lock);
	app->pool = pool;
	pthread_mutex_unlock(&app->lock);
	return st;
}

static enum status app_begin(struct app *app, struct error *e)
{
	enum status st = begin_signals(app, e);

	if (st == ST_OK)
		st = ingest_gate_new(&app->gate, e);
	if (st == ST_OK)
		st = corpus_open(app->config, app->models, &app->engine, e);
	if (st == ST_OK)
		st = begin_jobs(app, e);
	if (st == ST_OK)
		st = begin_rpc(app, e);
	if (st == ST_OK)
		st = begin_pool(app, e);
	return st;
}

/* Jobs refer to the rpc until the pool's threads are joined, so it outlives it. */
static void app_end(struct app *app)
{
	struct pool *pool;
	struct rpc *rpc;

	pthread_mutex_lock(&app->lock);
	pool = app->pool;
	rpc = app->rpc;
	app->pool = NULL;
	app->rpc = NULL;
	pthread_mutex_unlock(&app->lock);
	pool_free(pool);
	rpc_free(rpc);
	jobs_stop(app->jobs);
	engine_close(app->engine);
	ingest_gate_free(app->gate);
	app_models_close(app->models);
	signals_free(app->signals);
	config_free(app->loaded);
	config_free(app->config);
}

static void warn_unknown_variable(const char *name, void *arg)
{
	(void)arg;
	log_event(LOG_WARNING, "a variable of the environment names no setting",
		LOG_S("variable", name));
}

/* Process-wide settings, made once and before there are threads. */
static void process_setup(const struct config *c)
{
	log_setup(format_of(c), (enum log_level)log_level_parse(c->log_level));
	json_set_alloc_funcs(mem_alloc, mem_free);
	json_object_seed(0);
	signals_block();
	config_environment_unknown(warn_unknown_variable, NULL);
}

int app_run(const struct options *options, struct config *config)
{
	struct app app = { .options = options, .config = config };
	struct error e = { 0 };
	int rc = EXIT_FAILED;

	if (pthread_mutex_init(&app.lock, NULL) != 0) {
		config_free(config);
		return EXIT_FAILED;
	}
	atomic_init(&app.grace_ms, (unsigned)config->shutdown_grace * 1000U);
	atomic_init(&app.draining, false);
	atomic_init(&app.announced, false);
	process_setup(config);
	if (!fault_setup()) {
		rc = EXIT_USAGE;
	} else if (app_models_open(config, &app.models, &e) != ST_OK) {
		rc = app_models_exit(&e);
		app_complain(&e);
	} else if (app_begin(&app, &e) != ST_OK) {
		app_complain(&e);
	} else {
		rc = options->stdio ? serve_stdio(&app) : serve_http(&app);
		log_event(LOG_INFO, "stopped", LOG_I("status", rc));
	}
	app_end(&app);
	pthread_mutex_destroy(&app.lock);
	return rc;
}
