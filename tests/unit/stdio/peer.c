/* peer.c: see peer.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "peer.h"
#include "rpc/lifecycle.h"
#include "util/clock.h"
#include "util/gauge.h"

struct number_params {
	struct rpc_int n;
};

static const struct rpc_param nap_table[] = {
	{ .name = "ms",
		.type = RPC_P_INT,
		.flags = RPC_P_REQUIRED,
		.min = 0,
		.max = 60000,
		.offset = offsetof(struct number_params, n) },
};
static const struct rpc_param big_table[] = {
	{ .name = "bytes",
		.type = RPC_P_INT,
		.flags = RPC_P_REQUIRED,
		.min = 0,
		.max = 1 << 20,
		.offset = offsetof(struct number_params, n) },
};

static enum rpc_code run_nap(struct rpc_call *call, const void *params, struct json_writer *out)
{
	const struct number_params *p = params;
	uint64_t end = clock_mono_ms() + (uint64_t)p->n.v;

	while (clock_mono_ms() < end) {
		if (rpc_call_should_stop(call))
			return rpc_call_stopped(call);
		clock_sleep_ms(2);
	}
	jw_object(out);
	jw_kv_int(out, "slept", p->n.v);
	jw_end(out);
	return RPC_OK;
}

static enum rpc_code run_big(struct rpc_call *call, const void *params, struct json_writer *out)
{
	const struct number_params *p = params;
	struct arena *arena = rpc_call_arena(call);
	char *text = arena_alloc(arena, (size_t)p->n.v + 1);

	if (!text)
		return rpc_error_set(rpc_call_error(call), RPC_UNAVAILABLE, "out of memory");
	memset(text, 'x', (size_t)p->n.v);
	jw_object(out);
	jw_kv_bytes(out, "text", (struct bytes){ text, (size_t)p->n.v });
	jw_end(out);
	return RPC_OK;
}

static enum rpc_code run_chatty(struct rpc_call *call, const void *params, struct json_writer *out)
{
	(void)params;
	rpc_call_progress(call, 0.25, "recall", NULL, NULL, 0);
	rpc_call_log(call, LOG_INFO, "test", "half way");
	rpc_call_progress(call, 0.75, "pack", NULL, NULL, 0);
	jw_object(out);
	jw_end(out);
	return RPC_OK;
}

static const struct rpc_method methods[] = {
	{ .name = "initialize",
		.run = rpc_initialize,
		.params = rpc_initialize_table,
		.param_count = 3,
		.params_size = sizeof(struct rpc_initialize_params),
		.flags = RPC_M_OPEN | RPC_M_INLINE | RPC_M_OWN_META },
	{ .name = "ping",
		.run = rpc_ping,
		.params = rpc_ping_table,
		.param_count = 1,
		.params_size = sizeof(struct rpc_ping_params),
		.flags = RPC_M_OPEN | RPC_M_INLINE },
	{ .name = "shutdown",
		.run = rpc_shutdown,
		.flags = RPC_M_OPEN | RPC_M_INLINE | RPC_M_OWN_META },
	{ .name = "nap",
		.run = run_nap,
		.params = nap_table,
		.param_count = 1,
		.params_size = sizeof(struct number_params),
		.right = RPC_READ },
	{ .name = "big",
		.run = run_big,
		.params = big_table,
		.param_count = 1,
		.params_size = sizeof(struct number_params),
		.right = RPC_READ },
	{ .name = "chatty", .run = run_chatty, .right = RPC_READ, .flags = RPC_M_STREAMS },
};

static void rpc_make(struct peer *p)
{
	struct rpc_config rc = {
		.methods = methods,
		.method_count = sizeof(methods) / sizeof(methods[0]),
		.capabilities_json = "{}",
		.server_name = "peer",
		.server_version = "0",
		.conformance = "L0",
		.sessions = RPC_SESSIONS_PROCESS,
		.limits = { .max_depth = 64,
			.max_values = 1000,
			.max_string = 1 << 20,
			.max_batch = 10,
			.max_sessions = 1,
			.session_ttl_s = 1,
			.deadline_ms = 25000 },
	};

	assert_int_equal(rpc_new(&rc, &p->rpc, NULL), ST_OK);
}

static void fds_make(struct peer *p, bool sockets)
{
	int a[2], b[2];

	if (sockets) {
		assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, a), 0);
		p->to = p->from = a[0];
		p->in = p->out = a[1];
		return;
	}
	assert_int_equal(pipe(a), 0);
	assert_int_equal(pipe(b), 0);
	p->in = a[0];
	p->to = a[1];
	p->from = b[0];
	p->out = b[1];
}

void peer_init(struct peer *p, bool sockets, unsigned workers, size_t queue)
{
	signal(SIGPIPE, SIG_IGN);
	memset(p, 0, sizeof(*p));
	fds_make(p, sockets);
	assert_int_equal(pipe(p->stop), 0);
	rpc_make(p);
	assert_int_equal(pool_new(workers, queue, &p->pool, NULL), ST_OK);
	p->cfg = (struct stdio_config){ .in_fd = p->in,
		.out_fd = p->out,
		.stop_fd = p->stop[0],
		.max_line = 4096,
		.max_in_flight = queue,
		.drain_ms = 5000 };
}

static void *serve_thread(void *arg)
{
	struct peer *p = arg;

	p->rc = stdio_serve(&p->cfg, p->rpc, p->pool);
	/* As the end of the process would. */
	if (p->out != p->in)
		close(p->out);
	else
		shutdown(p->out, SHUT_WR);
	return NULL;
}

void peer_start(struct peer *p)
{
	assert_int_equal(pthread_create(&p->thread, NULL, serve_thread, p), 0);
	p->running = true;
}

void peer_send(struct peer *p, const char *text)
{
	size_t len = strlen(text);

	while (len > 0) {
		ssize_t n = write(p->to, text, len);

		assert_true(n > 0);
		text += n;
		len -= (size_t)n;
	}
}

const char *peer_line(struct peer *p)
{
	static char line[1 << 20];

	for (;;) {
		char *nl = memchr(p->buf, '\n', p->len);
		struct pollfd fd = { .fd = p->from, .events = POLLIN };
		ssize_t n;

		if (nl) {
			size_t len = (size_t)(nl - p->buf);

			memcpy(line, p->buf, len);
			line[len] = '\0';
			p->len -= len + 1;
			memmove(p->buf, nl + 1, p->len);
			return line;
		}
		if (poll(&fd, 1, 10000) != 1)
			fail_msg("no line within 10 seconds");
		n = read(p->from, p->buf + p->len, sizeof(p->buf) - p->len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			assert_int_equal(p->len, 0); /* never half a line */
			return NULL;
		}
		p->len += (size_t)n;
	}
}

int peer_join(struct peer *p)
{
	struct timespec end;

	clock_gettime(CLOCK_REALTIME, &end);
	end.tv_sec += 10;
	assert_int_equal(pthread_timedjoin_np(p->thread, NULL, &end), 0);
	p->running = false;
	return p->rc;
}

void peer_release(struct peer *p)
{
	if (p->running)
		peer_join(p);
	pool_free(p->pool);
	assert_int_equal(gauge_get(GAUGE_REQUESTS), 0);
	assert_int_equal(gauge_get(GAUGE_INFLIGHT), 0);
	rpc_free(p->rpc);
	close(p->in);
	if (p->to >= 0)
		close(p->to);
	if (p->from != p->to && p->from >= 0)
		close(p->from);
	close(p->stop[0]);
	close(p->stop[1]);
}
