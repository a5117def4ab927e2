/*
 * stdio/stdio.c: serves one peer over two descriptors.
 *
 *   in_fd ──▶ reader (the calling thread): split, parse, answer what is cheap
 *                │ the rest                              │
 *                ▼                                       ▼
 *              pool ──▶ worker: run ──▶ done ──▶ output (a mutex, whole lines)
 *
 * Parsing on the reader keeps order where it matters: initialize is done before
 * the next line is looked at, and a cancel finds the request before it (M7, L6).
 * Everything slow is a worker's, so that a ping behind a slow retrieve is
 * answered at once.
 *
 * Backpressure: with max_in_flight requests or max_bytes of them out, nothing is
 * read until one ends.
 * No lock is held while waiting for that, and workers never wait for the reader,
 * so only a peer that does not read its answers can stop the flow, and that wait
 * ends with stop_fd or the times of the config.
 */
#include "stdio/stdio.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "stdio/framing.h"
#include "stdio/output.h"
#include "util/clock.h"
#include "util/mem.h"

#define READ_BYTES 65536
#define SUBMIT_WAIT_MS 1000 /* for a pool that others fill too */
#define FLUSH_MS 1000       /* for cancelled requests to be answered */
#define CANCEL_EVERY_MS 100

static const char nomem_reply[] =
	"{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32010,"
	"\"message\":\"out of memory\",\"data\":{\"retryable\":true}}}";

enum ending { SERVING, END_INPUT, END_SHUTDOWN, END_STOP, END_OUTPUT };

struct serve {
	const struct stdio_config *cfg;
	struct rpc *rpc;
	struct pool *pool;
	struct output out;
	int wake_fd; /* eventfd: a request ended */

	pthread_mutex_t lock; /* guards in_flight, bytes and last */
	size_t in_flight;
	size_t bytes;         /* of the messages in flight */
	struct rpc_job *last; /* a shutdown: answered after all others (S4) */

	/* The reader's own. */
	struct line_splitter lines;
	const char *pos; /* read, not split yet */
	size_t left;
	bool eof;
	enum ending ending;
	char buf[READ_BYTES];
};

static void serve_reply(struct serve *s, struct rpc_job *job)
{
	struct rpc_reply *reply = rpc_job_reply(job);

	if (reply->kind == RPC_REPLY_NONE)
		return;
	if (strbuf_ok(&reply->body) && reply->body.len > 0)
		output_line(&s->out, reply->body.data, reply->body.len);
	else
		output_line(&s->out, nomem_reply, strlen(nomem_reply));
}

static int serve_send(void *arg, const char *json, size_t len)
{
	struct serve *s = arg;

	return output_line(&s->out, json, len);
}

static const struct rpc_stream_ops serve_ops = { .send = serve_send, .logs = true };

/* By the reader only. Notices a shutdown that a worker came across, too. */
static size_t serve_in_flight(struct serve *s, size_t *ret_bytes)
{
	size_t n;

	pthread_mutex_lock(&s->lock);
	n = s->in_flight;
	*ret_bytes = s->bytes;
	if (s->last && s->ending == SERVING)
		s->ending = END_SHUTDOWN;
	pthread_mutex_unlock(&s->lock);
	return n;
}

/*
 * Counts a request in (n = 1) or out (n = -1). The wake-up is written under the lock: whoever then sees
 * the count at 0 under it knows that s is no longer touched, and may free it.
 */
static void serve_count(struct serve *s, int n, size_t bytes)
{
	uint64_t one = 1;
	ssize_t wrote = 0;

	pthread_mutex_lock(&s->lock);
	s->in_flight += (size_t)(ptrdiff_t)n;
	s->bytes += n > 0 ? bytes : (size_t)0 - bytes;
	if (n < 0)
		wrote = write(s->wake_fd, &one, sizeof(one));
	pthread_mutex_unlock(&s->lock);
	(void)wrote; /* cannot fail but by a full counter, which wakes as well */
}

/* Keeps the job, with its reference, as the last to answer; false if another is. */
static bool serve_keep_last(struct serve *s, struct rpc_job *job)
{
	bool kept;

	pthread_mutex_lock(&s->lock);
	kept = s->last == NULL;
	if (kept)
		s->last = job;
	pthread_mutex_unlock(&s->lock);
	return kept;
}

/* The job kept, which is the caller's then, or NULL. */
static struct rpc_job *serve_take_last(struct serve *s)
{
	struct rpc_job *job;

	pthread_mutex_lock(&s->lock);
	job = s->last;
	s->last = NULL;
	pthread_mutex_unlock(&s->lock);
	return job;
}

/* On the worker. A shutdown gets here inside a batch only. */
static void serve_done(struct rpc_job *job, void *arg)
{
	struct serve *s = arg;
	size_t bytes = rpc_job_bytes(job);

	if (!rpc_job_is_shutdown(job) || !serve_keep_last(s, job)) {
		serve_reply(s, job);
		rpc_job_unref(job);
	}
	serve_count(s, -1, bytes);
}

/* Takes the reference. */
static void serve_submit(struct serve *s, struct rpc_job *job)
{
	enum status st;

	serve_count(s, 1, rpc_job_bytes(job));
	st = rpc_job_submit(job, s->pool, SUBMIT_WAIT_MS, &serve_ops, s, serve_done, s);
	if (st != ST_OK)
		serve_done(job, s); /* its reply is the refusal */
}

/* Takes the line. */
static void serve_message(struct serve *s, struct strbuf *line)
{
	struct rpc_input in = {
		.transport = RPC_OVER_STDIO,
		.body = *line,
		.caller = { .identity = "stdio",
			.authenticated = true,
			.rights = RPC_READ | RPC_WRITE | RPC_ADMIN },
		.progress = true,
	};
	struct rpc_job *job = rpc_job_new(s->rpc, &in);

	strbuf_init(line);
	if (!job) {
		strbuf_release(&in.body);
		output_line(&s->out, nomem_reply, strlen(nomem_reply));
		return;
	}
	rpc_job_parse(job);
	if (rpc_job_is_shutdown(job) && serve_keep_last(s, job)) {
		s->ending = END_SHUTDOWN;
	} else if (rpc_job_answered(job)) {
		serve_reply(s, job);
		rpc_job_unref(job);
	} else {
		serve_submit(s, job);
	}
}

static void serve_too_long(struct serve *s)
{
	struct strbuf sb = STRBUF_INIT;
	struct rpc_error err = { 0 };

	rpc_error_set(&err, RPC_TOO_LARGE, "the line is longer than %zu bytes", s->cfg->max_line);
	err.retryable = -1;
	rpc_error_write(&sb, NULL, 0, &err);
	if (strbuf_ok(&sb))
		output_line(&s->out, sb.data, sb.len);
	else
		output_line(&s->out, nomem_reply, strlen(nomem_reply));
	strbuf_release(&sb);
}

static void serve_line(struct serve *s, enum line_event ev, struct strbuf *line)
{
	switch (ev) {
	case LINE_NONE:
		break;
	case LINE_MESSAGE:
		serve_message(s, line);
		break;
	case LINE_TOO_LONG:
		serve_too_long(s);
		break;
	case LINE_NOMEM:
		output_line(&s->out, nomem_reply, strlen(nomem_reply));
		break;
	}
}

/* in_fd has something, or has ended. */
static void serve_read(struct serve *s)
{
	ssize_t n = read(s->cfg->in_fd, s->buf, sizeof(s->buf));

	if (n > 0) {
		s->pos = s->buf;
		s->left = (size_t)n;
	} else if (n == 0 || (errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK)) {
		s->eof = true; /* a broken input has nothing more to say either */
	}
}

/* Waits up to timeout_ms (-1: for ever) for input (if wanted), the stop or the
 * end of a request. True if there is input. */
static bool serve_wait(struct serve *s, bool want_input, bool want_stop, int timeout_ms)
{
	struct pollfd fds[3] = { { .fd = want_input ? s->cfg->in_fd : -1, .events = POLLIN },
		{ .fd = want_stop ? s->cfg->stop_fd : -1, .events = POLLIN },
		{ .fd = s->wake_fd, .events = POLLIN } };
	uint64_t count;
	ssize_t got = 0;

	if (poll(fds, 3, timeout_ms) <= 0)
		return false;
	if (fds[2].revents)
		got = read(s->wake_fd, &count, sizeof(count));
	(void)got;
	if (fds[1].revents)
		s->ending = END_STOP;
	return fds[0].revents != 0;
}

static bool serve_has_room(struct serve *s)
{
	size_t max = s->cfg->max_in_flight ? s->cfg->max_in_flight : 1;
	size_t bytes, n = serve_in_flight(s, &bytes);

	return n < max && (!s->cfg->max_bytes || bytes < s->cfg->max_bytes);
}

/* One step: a line that is there already, else wait for more. */
static void serve_step(struct serve *s)
{
	bool room = serve_has_room(s);
	struct strbuf line = STRBUF_INIT;

	if (s->ending != SERVING)
		return;
	if (output_state(&s->out) != OUTPUT_FINE) {
		s->ending = END_OUTPUT;
	} else if (room && s->left > 0) {
		serve_line(s, line_splitter_feed(&s->lines, &s->pos, &s->left, &line), &line);
	} else if (room && s->eof) {
		s->ending = END_INPUT;
		serve_line(s, line_splitter_finish(&s->lines, &line), &line);
	} else if (serve_wait(s, room, true, -1) && s->ending == SERVING) {
		serve_read(s);
	}
	strbuf_release(&line);
}

/*
 * Waits for what is in flight; cancels it when its time is over, or at once when
 * nobody is left to read. Ends only when every request has called back, since
 * they hold s: a handler stops soon after it is cancelled.
 */
static void serve_drain(struct serve *s)
{
	unsigned eof_ms = s->cfg->eof_ms ? s->cfg->eof_ms : s->cfg->drain_ms;
	unsigned ms = s->ending == END_STOP ? s->cfg->drain_ms : eof_ms;
	uint64_t end = clock_mono_ms() + ms;
	size_t bytes;

	output_give_up_in(&s->out, ms + FLUSH_MS);
	while (serve_in_flight(s, &bytes) > 0) {
		bool stopping = s->ending == END_STOP;
		uint64_t now = clock_mono_ms();
		bool over = now >= end || output_state(&s->out) != OUTPUT_FINE;
		uint64_t left = over ? CANCEL_EVERY_MS : end - now;

		if (over)
			rpc_cancel_all(s->rpc);
		serve_wait(s, false, !stopping, left < 1000 ? (int)left : 1000);
		if (!stopping && s->ending == END_STOP && now + s->cfg->drain_ms < end) {
			end = now + s->cfg->drain_ms;
			output_give_up_in(&s->out, s->cfg->drain_ms + FLUSH_MS);
		}
	}
}

/* The answer to shutdown comes after all others and is the last line (S4). */
static void serve_last(struct serve *s)
{
	struct rpc_job *job = serve_take_last(s);

	if (job && !rpc_job_answered(job)) { /* a batch that holds one */
		serve_submit(s, job);
		serve_drain(s);
		job = serve_take_last(s);
	}
	if (job) {
		serve_reply(s, job);
		rpc_job_unref(job);
	}
}

static int serve_run(struct serve *s)
{
	while (s->ending == SERVING)
		serve_step(s);
	serve_drain(s);
	serve_last(s);
	return output_state(&s->out) == OUTPUT_FAILED ? 1 : 0;
}

/* Returns what serve_run returns; 1 when there is nothing to serve with. */
static int serve_with_fds(struct serve *s)
{
	int rc;

	s->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (s->wake_fd < 0)
		return 1;
	if (output_init(&s->out, s->cfg->out_fd, s->cfg->stop_fd, s->cfg->drain_ms) != 0) {
		close(s->wake_fd);
		return 1;
	}
	line_splitter_init(&s->lines, s->cfg->max_line);
	rc = serve_run(s);
	line_splitter_release(&s->lines);
	output_release(&s->out);
	close(s->wake_fd);
	return rc;
}

int stdio_serve(const struct stdio_config *cfg, struct rpc *rpc, struct pool *pool)
{
	struct serve *s = mem_zero(sizeof(*s));
	int rc = 1;

	if (!s)
		return 1;
	s->cfg = cfg;
	s->rpc = rpc;
	s->pool = pool;
	if (pthread_mutex_init(&s->lock, NULL) == 0) {
		rc = serve_with_fds(s);
		pthread_mutex_destroy(&s->lock);
	}
	mem_free(s);
	return rc;
}
