/*
 * sse.c: bench_sse, the probe for the way of a frame. It serves one streaming
 * method ("retrieve", so that the load generator needs no other path) through the
 * server's own rpc/ and http/, and writes the monotonic time into each frame's
 * message at the moment the worker hands it over. The reader compares that with
 * its own clock when the bytes arrive: worker to socket to reader, without any
 * change to the protocol or the server. A request with "hold":true keeps its
 * stream open and silent, for measuring beside many others.
 *
 *   bench_sse [--frames N] [--gap-ms MS] [--threads N] [--workers N]
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "http/http.h"
#include "rpc/rpc.h"
#include "util/clock.h"
#include "util/log.h"

struct probe {
	unsigned frames, gap_ms, threads, workers;
};

struct probe_params {
	unsigned char hold; /* enum rpc_tristate */
};

static const struct rpc_param params_table[] = { { .name = "hold",
	.type = RPC_P_BOOL,
	.offset = offsetof(struct probe_params, hold),
	.summary = "send nothing until the client leaves" } };

static enum rpc_code run_frames(struct rpc_call *call, const void *params, struct json_writer *out)
{
	const struct probe *p = rpc_call_methods_arg(call);
	const struct probe_params *asked = params;
	char message[64];

	while (asked->hold == RPC_TRUE && !rpc_call_should_stop(call))
		clock_sleep_ms(500);
	for (unsigned i = 0; i < p->frames && !rpc_call_should_stop(call); i++) {
		clock_sleep_ms(p->gap_ms);
		(void)snprintf(message, sizeof(message), "ns=%llu",
			(unsigned long long)clock_mono_ns());
		rpc_call_progress(call, (double)i / p->frames, "recall", message, NULL, 0);
	}
	jw_object(out);
	jw_end(out);
	return RPC_OK;
}

static const struct rpc_method methods[] = { { .name = "retrieve",
	.summary = "sends frames that say when they were sent",
	.run = run_frames,
	.params = params_table,
	.param_count = 1,
	.params_size = sizeof(struct probe_params),
	.right = RPC_READ,
	.flags = RPC_M_STREAMS } };

static bool let_in(void *arg, const char *address, long uid, const char *authorization,
	struct rpc_caller *ret)
{
	(void)arg, (void)address, (void)uid, (void)authorization;
	(void)snprintf(ret->identity, sizeof(ret->identity), "bench");
	ret->rights = RPC_READ;
	return true;
}

static bool is_ready(void *arg)
{
	(void)arg;
	return true;
}

static void fail(const char *what, const struct error *e)
{
	(void)fprintf(stderr, "bench_sse: %s: %s\n", what, e->message);
	exit(1);
}

static struct rpc *make_rpc(struct probe *p)
{
	const struct rpc_config cfg = { .methods = methods,
		.method_count = 1,
		.methods_arg = p,
		.capabilities_json = "{\"streaming\":true}",
		.server_name = "bench_sse",
		.server_version = RCPD_VERSION,
		.conformance = "L0",
		.limits = { .max_depth = 64,
			.max_values = 1000,
			.max_string = 1 << 20,
			.max_batch = 10,
			.max_sessions = 100,
			.session_ttl_s = 3600,
			.deadline_ms = 600000 } };
	struct error e;
	struct rpc *rpc;

	if (rpc_new(&cfg, &rpc, &e) != ST_OK)
		fail("rpc", &e);
	return rpc;
}

static struct http *make_http(struct rpc *rpc, struct pool *pool, unsigned threads)
{
	const struct http_config cfg = { .listen = "127.0.0.1:0",
		.base = "/rcp",
		.threads = threads,
		.max_connections = 20000,
		.connection_memory = 16384,
		.max_body = 1 << 20,
		.max_body_total = 64 << 20,
		.max_drain = 1 << 20,
		.max_stream_queue = 1 << 20,
		.idle_timeout_s = 60,
		.body_timeout_s = 60,
		.write_timeout_s = 30,
		.heartbeat_s = 15,
		.server_name = "bench_sse",
		.server_version = RCPD_VERSION,
		.inline_body = 4096 };
	const struct http_hooks hooks = { .rpc = rpc,
		.pool = pool,
		.gate = let_in,
		.ready = is_ready };
	struct error e;
	struct http *http;

	if (http_start(&cfg, &hooks, &http, &e) != ST_OK)
		fail("http", &e);
	return http;
}

static void read_options(int argc, char **argv, struct probe *p)
{
	for (int i = 1; i + 1 < argc; i += 2) {
		unsigned v = (unsigned)strtoul(argv[i + 1], NULL, 10);
		if (strcmp(argv[i], "--frames") == 0)
			p->frames = v;
		else if (strcmp(argv[i], "--gap-ms") == 0)
			p->gap_ms = v;
		else if (strcmp(argv[i], "--threads") == 0)
			p->threads = v;
		else if (strcmp(argv[i], "--workers") == 0)
			p->workers = v;
	}
}

int main(int argc, char **argv)
{
	struct probe p = { .frames = 20, .gap_ms = 1, .threads = 2, .workers = 4 };
	struct pool *pool;
	struct error e;
	sigset_t stop;
	int sig;

	read_options(argc, argv, &p);
	log_setup(LOG_FORMAT_TEXT, LOG_WARNING);
	(void)sigemptyset(&stop);
	(void)sigaddset(&stop, SIGTERM);
	(void)sigaddset(&stop, SIGINT);
	(void)sigprocmask(SIG_BLOCK, &stop, NULL);
	(void)signal(SIGPIPE, SIG_IGN);
	struct rpc *rpc = make_rpc(&p);
	if (pool_new(p.workers, 4096, &pool, &e) != ST_OK)
		fail("pool", &e);
	struct http *http = make_http(rpc, pool, p.threads);
	(void)fprintf(stderr, "listening on %s\n", http_url(http));
	(void)sigwait(&stop, &sig);
	rpc_cancel_all(rpc);
	http_stop(http);
	pool_free(pool);
	rpc_free(rpc);
	return 0;
}
