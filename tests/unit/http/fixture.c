/* fixture.c: see fixture.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "rpc/lifecycle.h"
#include "util/clock.h"
#include "util/gauge.h"

struct fixture fixture;

struct numbers {
	struct rpc_int ms, n, size;
	struct bytes text;
};

static const struct rpc_param number_table[] = {
	{ .name = "ms",
		.type = RPC_P_INT,
		.min = 0,
		.max = 60000,
		.offset = offsetof(struct numbers, ms) },
	{ .name = "n",
		.type = RPC_P_INT,
		.min = 0,
		.max = 1 << 20,
		.offset = offsetof(struct numbers, n) },
	{ .name = "size",
		.type = RPC_P_INT,
		.min = 0,
		.max = 1 << 26,
		.offset = offsetof(struct numbers, size) },
	{ .name = "text",
		.type = RPC_P_STRING,
		.min = 0,
		.max = 1 << 26,
		.offset = offsetof(struct numbers, text) },
};

static bool nap(struct rpc_call *call, int64_t ms)
{
	uint64_t end = clock_mono_ms() + (uint64_t)ms;

	while (clock_mono_ms() < end) {
		if (rpc_call_should_stop(call)) {
			atomic_fetch_add(&fixture.naps_stopped, 1);
			return false;
		}
		clock_sleep_ms(2);
	}
	return true;
}

static enum rpc_code number_answer(struct json_writer *out, int64_t n)
{
	jw_object(out);
	jw_kv_int(out, "n", n);
	jw_end(out);
	return RPC_OK;
}

static enum rpc_code run_echo(struct rpc_call *call, const void *params, struct json_writer *out)
{
	const struct numbers *p = params;

	(void)call;
	return number_answer(out, (int64_t)p->text.len);
}

static enum rpc_code run_nap(struct rpc_call *call, const void *params, struct json_writer *out)
{
	const struct numbers *p = params;

	if (!nap(call, p->ms.v))
		return rpc_call_stopped(call);
	return number_answer(out, p->ms.v);
}

/* Hears no cancel. */
static enum rpc_code run_deaf(struct rpc_call *call, const void *params, struct json_writer *out)
{
	const struct numbers *p = params;

	clock_sleep_ms((unsigned)p->ms.v);
	rpc_call_progress(call, 0.5, "recall", NULL, NULL, 0);
	return number_answer(out, p->ms.v);
}

static enum rpc_code run_steps(struct rpc_call *call, const void *params, struct json_writer *out)
{
	const struct numbers *p = params;
	size_t len = (size_t)p->size.v + 20;
	char *partial = arena_alloc(rpc_call_arena(call), len + 1);
	size_t n;

	if (!partial)
		return rpc_error_set(rpc_call_error(call), RPC_UNAVAILABLE, "out of memory");
	memset(partial, 'x', len);
	memcpy(partial, "{\"hits\":[],\"p\":\"", 16);
	n = 16 + (size_t)p->size.v;
	memcpy(partial + n, "\"}", 3);
	for (int64_t i = 0; i < p->n.v; i++) {
		rpc_call_progress(call, (double)i / (double)p->n.v, "recall", NULL, partial, n + 2);
		if (!nap(call, p->ms.v))
			return rpc_call_stopped(call);
	}
	return number_answer(out, p->n.v);
}

static enum rpc_code run_big(struct rpc_call *call, const void *params, struct json_writer *out)
{
	const struct numbers *p = params;
	char *text = arena_alloc(rpc_call_arena(call), (size_t)p->size.v + 1);

	if (!text)
		return rpc_error_set(rpc_call_error(call), RPC_UNAVAILABLE, "out of memory");
	memset(text, 'x', (size_t)p->size.v);
	jw_object(out);
	jw_kv_bytes(out, "text", (struct bytes){ text, (size_t)p->size.v });
	jw_end(out);
	return RPC_OK;
}

static const struct rpc_method methods[] = {
	{ .name = "ping",
		.run = rpc_ping,
		.params = rpc_ping_table,
		.param_count = RPC_PING_PARAMS,
		.params_size = sizeof(struct rpc_ping_params),
		.flags = RPC_M_OPEN | RPC_M_INLINE | RPC_M_OWN_META },
	{ .name = "echo",
		.run = run_echo,
		.params = number_table,
		.param_count = 4,
		.params_size = sizeof(struct numbers) },
	{ .name = "index/add",
		.run = run_echo,
		.params = number_table,
		.param_count = 4,
		.params_size = sizeof(struct numbers),
		.right = RPC_WRITE },
	{ .name = "nap",
		.run = run_nap,
		.params = number_table,
		.param_count = 4,
		.params_size = sizeof(struct numbers) },
	{ .name = "steps",
		.run = run_steps,
		.params = number_table,
		.param_count = 4,
		.params_size = sizeof(struct numbers),
		.flags = RPC_M_STREAMS },
	{ .name = "deaf",
		.run = run_deaf,
		.params = number_table,
		.param_count = 4,
		.params_size = sizeof(struct numbers),
		.flags = RPC_M_STREAMS },
	{ .name = "big",
		.run = run_big,
		.params = number_table,
		.param_count = 4,
		.params_size = sizeof(struct numbers),
		.flags = RPC_M_STREAMS },
};

static bool gate(void *arg, const char *address, long uid, const char *authorization,
	struct rpc_caller *ret)
{
	struct fixture *f = arg;

	atomic_fetch_add(&f->gate_calls, 1);
	atomic_store(&f->last_uid, uid);
	atomic_store(&f->had_address, address && strcmp(address, "127.0.0.1") == 0);
	if (atomic_load(&f->locked) && (!authorization || strcmp(authorization, "Bearer key") != 0))
		return false;
	snprintf(ret->identity, sizeof(ret->identity), "addr:%s", address ? address : "-");
	ret->authenticated = true;
	ret->rights = RPC_READ | RPC_WRITE;
	return true;
}

static bool ready(void *arg)
{
	return !atomic_load(&((struct fixture *)arg)->unready);
}

void fixture_reset(void)
{
	static const char *const origins[] = { "https://app.example", NULL };

	memset(&fixture, 0, sizeof(fixture));
	fixture.workers = 4;
	fixture.queue = 128;
	fixture.cfg = (struct http_config){
		.listen = "127.0.0.1:0",
		.base = "/rcp",
		.threads = 2,
		.max_connections = 400,
		.connection_memory = 16384,
		.max_body = 1 << 20,
		.max_body_total = 16 << 20,
		.max_drain = 1 << 20,
		.max_stream_queue = 256 << 10,
		.idle_timeout_s = 30,
		.body_timeout_s = 30,
		.write_timeout_s = 30,
		.heartbeat_s = 30,
		.origins = origins,
		.server_name = "rcpd",
		.server_version = "1.2.3",
		.inline_body = 16384,
	};
}

void fixture_start(void)
{
	struct rpc_config rc = {
		.methods = methods,
		.method_count = sizeof(methods) / sizeof(methods[0]),
		.capabilities_json = "{\"streaming\":true}",
		.server_name = "rcpd",
		.server_version = "1.2.3",
		.conformance = "L0",
		.sessions = RPC_SESSIONS_STATELESS,
		.limits = { .max_depth = 64,
			.max_values = 1000000,
			.max_string = 16 << 20,
			.max_batch = 100,
			.max_sessions = 100,
			.session_ttl_s = 60,
			.deadline_ms = 20000 },
	};
	struct http_hooks hooks = { .gate = gate,
		.gate_arg = &fixture,
		.ready = ready,
		.ready_arg = &fixture };
	struct error e = { 0 };

	assert_int_equal(rpc_new(&rc, &fixture.rpc, &e), ST_OK);
	assert_int_equal(pool_new(fixture.workers, fixture.queue, &fixture.pool, &e), ST_OK);
	hooks.rpc = fixture.rpc;
	hooks.pool = fixture.pool;
	if (http_start(&fixture.cfg, &hooks, &fixture.http, &e) != ST_OK)
		fail_msg("%s", e.message);
}

void fixture_stop(void)
{
	http_stop(fixture.http);
	rpc_cancel_all(fixture.rpc);
	pool_free(fixture.pool);
	rpc_free(fixture.rpc);
	fixture.http = NULL;
	for (int g = 0; g < GAUGE_COUNT; g++)
		if (gauge_get(g) != 0)
			fail_msg("left behind: %s %lld", gauge_name(g), (long long)gauge_get(g));
}

uint16_t fixture_port(void)
{
	unsigned port = 0;

	assert_int_equal(sscanf(http_url(fixture.http), "http://127.0.0.1:%u/rcp", &port), 1);
	return (uint16_t)port;
}

bool gauge_reaches(int gauge, int64_t v, int ms)
{
	uint64_t end = clock_mono_ms() + (uint64_t)ms;

	while (gauge_get(gauge) != v) {
		if (clock_mono_ms() > end)
			return false;
		clock_sleep_ms(2);
	}
	return true;
}

int setup_default(void **state)
{
	(void)state;
	fixture_reset();
	fixture_start();
	return 0;
}

int teardown(void **state)
{
	(void)state;
	fixture_stop();
	return 0;
}

bool old_library(void)
{
	return strncmp(MHD_get_version(), "0.", 2) == 0;
}
