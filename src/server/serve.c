/*
 * server/serve.c: the two ways to serve, each to its end.
 *
 * The end over HTTP: refuse what comes (503) and let what runs finish, at most
 * shutdown_grace long; then cancel the rest and give it a moment to be answered;
 * then close. An exchange counts as running until its last byte is with the
 * kernel, so nobody loses an answer that was ready.
 */
#include "server/app.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <unistd.h>

#include "server/notify.h"
#include "server/system.h"
#include "server/words.h"
#include "stdio/stdio.h"
#include "util/clock.h"
#include "util/gauge.h"
#include "util/log.h"
#include "util/mem.h"

/* Bodies up to this are parsed on the I/O thread: well under a millisecond. */
#define INLINE_BODY 16384
#define CANCEL_MS 2000 /* for cancelled requests to be answered */

/*
 * T9: the gate. Nobody can prove more than being a local user yet, so everyone is
 * let in with all rights, and config/ refuses to listen anywhere but on loopback
 * or a unix socket.
 */
static bool gate_open(void *arg, const char *address, long uid, const char *authorization,
	struct rpc_caller *ret)
{
	(void)arg;
	(void)authorization;
	if (uid >= 0)
		snprintf(ret->identity, sizeof(ret->identity), "uid:%ld", uid);
	else
		snprintf(ret->identity, sizeof(ret->identity), "addr:%.100s",
			address ? address : "unknown");
	/* A proxy's uid stands for many clients: it names, it proves nothing (D17). */
	ret->authenticated = false;
	ret->rights = RPC_READ | RPC_WRITE | RPC_ADMIN;
	return true;
}

static bool app_ready(void *arg)
{
	const struct app *app = arg;

	return !atomic_load(&app->draining);
}

static enum status http_begin(struct app *app, char **hosts, char **origins, struct http **ret,
	struct error *e)
{
	const struct config *c = app->config;
	struct http_config cfg = {
		.listen = c->listen,
		.base = c->base_path,
		.threads = (unsigned)c->io_threads,
		.max_connections = (unsigned)system_fit_connections(c),
		.max_per_address = (unsigned)c->max_per_address,
		.connection_memory = c->connection_memory,
		.max_body = c->max_body,
		.max_body_total = c->max_body_total,
		.max_drain = c->max_drain,
		.max_stream_queue = c->max_stream_queue,
		.idle_timeout_s = (unsigned)c->idle_timeout,
		.body_timeout_s = (unsigned)c->body_timeout,
		.write_timeout_s = (unsigned)c->write_timeout,
		.heartbeat_s = (unsigned)c->heartbeat,
		.hosts = (const char *const *)hosts,
		.origins = (const char *const *)origins,
		.server_name = "rcpd",
		.server_version = RCPD_VERSION,
		.inline_body = INLINE_BODY,
	};
	struct http_hooks hooks = {
		.rpc = app->rpc,
		.pool = app->pool,
		.gate = gate_open,
		.ready = app_ready,
		.ready_arg = app,
	};

	if (!hosts || !origins)
		return error_set(e, ST_NOMEM, "out of memory");
	return http_start(&cfg, &hooks, ret, e);
}

/* Waits until no request runs and no exchange is open; false: not within ms. */
static bool app_quiet_within(struct app *app, unsigned ms)
{
	uint64_t end = clock_mono_ms() + ms;

	for (;;) {
		uint64_t now = clock_mono_ms();
		unsigned left = now < end ? (unsigned)(end - now) : 0;

		if (pool_drain(app->pool, left < 100 ? left : 100) &&
			gauge_get(GAUGE_EXCHANGES) == 0)
			return true;
		if (left == 0)
			return false;
		clock_sleep_ms(2);
	}
}

static void http_end(struct app *app, struct http *http)
{
	unsigned grace = atomic_load(&app->grace_ms);

	http_drain(http);
	if (!app_quiet_within(app, grace)) {
		log_event(LOG_WARNING, "cancelling what did not finish in time",
			LOG_U("grace_ms", grace), LOG_I("exchanges", gauge_get(GAUGE_EXCHANGES)),
			LOG_I("inflight", gauge_get(GAUGE_INFLIGHT)));
		rpc_cancel_all(app->rpc);
		app_quiet_within(app, CANCEL_MS);
	}
	http_stop(http);
}

/* Says what is served: a corpus of no documents is often the wrong folder. */
static void log_ready(struct app *app, const char *event, const char *url)
{
	struct engine_stats stats = { 0 };
	struct engine_view *view = NULL;
	struct log_field fields[7];
	bool counted;
	size_t n = 0;

	if (!log_enabled(LOG_INFO))
		return;
	counted = engine_view_open(app->engine, &(struct engine_stop){ 0 }, &view, NULL) == ST_OK &&
		engine_view_stats(view, &stats, NULL) == ST_OK;
	engine_view_close(view);
	fields[n++] = LOG_S("version", RCPD_VERSION);
	if (url)
		fields[n++] = LOG_S("url", url);
	fields[n++] = LOG_S("data", app->config->data);
	if (counted) {
		fields[n++] = LOG_U("documents", stats.documents);
		fields[n++] = LOG_U("corpus_version", stats.version);
	}
	fields[n] = (struct log_field){ .key = NULL };
	log_fields(LOG_INFO, event, fields);
}

static void wait_for_stop(struct app *app)
{
	struct pollfd fd = { .fd = signals_stop_fd(app->signals), .events = POLLIN };

	while (poll(&fd, 1, -1) < 0 && errno == EINTR)
		;
}

int serve_http(struct app *app)
{
	char **hosts = words_split(app->config->hosts);
	char **origins = words_split(app->config->origins);
	struct http *http = NULL;
	struct error e = { 0 };
	int rc = EXIT_DONE;

	if (http_begin(app, hosts, origins, &http, &e) == ST_OK) {
		snprintf(app->status, sizeof(app->status), "listening on %.100s", http_url(http));
		log_ready(app, "ready", http_url(http));
		/* People and tests wait for this line, whatever the form of the log. */
		dprintf(STDERR_FILENO, "rcpd: %s\n", app->status);
		notify_ready(app->status);
		atomic_store(&app->announced, true);
		wait_for_stop(app);
		http_end(app, http);
	} else {
		app_complain(&e);
		rc = EXIT_FAILED;
	}
	mem_free(hosts);
	mem_free(origins);
	return rc;
}

int serve_stdio(struct app *app)
{
	unsigned grace = atomic_load(&app->grace_ms);
	unsigned deadline = (unsigned)app->config->deadline_ms;
	struct stdio_config cfg = {
		.in_fd = STDIN_FILENO,
		.out_fd = STDOUT_FILENO,
		.stop_fd = signals_stop_fd(app->signals),
		.max_line = app->config->max_body,
		.max_in_flight = app->config->queue,
		.max_bytes = app->config->max_body_total,
		.drain_ms = grace,
		/* At the end of input requests end by their own deadline (S3). */
		.eof_ms = deadline + grace,
	};

	log_ready(app, "serving stdio", NULL);
	return stdio_serve(&cfg, app->rpc, app->pool) == 0 ? EXIT_DONE : EXIT_FAILED;
}
