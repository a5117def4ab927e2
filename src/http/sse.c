/*
 * sse.c: event streams. The worker appends frames to the exchange's queue; the
 * response's reader, called by libmicrohttpd on the I/O thread, hands them out and
 * suspends the connection when there are none. Both hold the exchange's lock, so a
 * frame is either seen by the reader before it suspends, or finds the connection
 * suspended and resumes it. A reader that returned 0 without suspending would be
 * called again at once, and spin.
 *
 * The final frame is not queued: it is read in place from the job's reply, whose
 * size the queue's bound therefore does not concern; answer.c counts it. Headers leave as soon as the
 * response is queued; no opening comment is needed for that.
 */
#include <string.h>
#include <sys/socket.h>

#include "http/private.h"
#include "util/clock.h"
#include "util/gauge.h"

#define SSE_BLOCK 1024 /* bytes libmicrohttpd asks for at a time over HTTP/1.0 */
#define FRAME_HEAD "data: "
#define FRAME_TAIL "\n\n"

static size_t queued_bytes(const struct exchange *ex)
{
	return ex->queue.len - ex->queue_pos;
}

/* Gives up on a reader that does not keep up. Lock held. */
static void sse_cut_locked(struct exchange *ex)
{
	ex->overrun = true;
	if (ex->suspended)
		exchange_resume_locked(ex);
	else if (ex->mhd)
		(void)shutdown(ex->fd, SHUT_RDWR);
}

/*
 * The limit bounds what waits behind a reader, not a frame. One that is larger is
 * taken when nothing waits, and is not counted then; while something waits it is
 * left out, for it is news of progress, and a reader that keeps up is not cut for
 * our frame's size. So at most one such frame and queue_max are held.
 */
static bool sse_queue_locked(struct exchange *ex, const char *json, size_t len)
{
	size_t frame = len + sizeof(FRAME_HEAD) - 1 + sizeof(FRAME_TAIL) - 1;
	size_t counted = queued_bytes(ex) - ex->queue_free;

	if (frame > ex->queue_max) {
		if (queued_bytes(ex) > 0)
			return true;
		ex->queue_free = frame;
	} else if (counted > ex->queue_max - frame) {
		return false;
	}
	strbuf_adds(&ex->queue, FRAME_HEAD);
	strbuf_add(&ex->queue, json, len);
	strbuf_adds(&ex->queue, FRAME_TAIL);
	return strbuf_ok(&ex->queue);
}

/* On the worker. */
static int sse_send(void *arg, const char *json, size_t len)
{
	struct exchange *ex = arg;
	int result = -1;

	pthread_mutex_lock(&ex->lock);
	if (!atomic_load(&ex->gone) && !ex->overrun) {
		if (sse_queue_locked(ex, json, len)) {
			exchange_resume_locked(ex);
			result = 0;
		} else {
			sse_cut_locked(ex);
		}
	}
	pthread_mutex_unlock(&ex->lock);
	return result;
}

const struct rpc_stream_ops sse_ops = { .send = sse_send, .logs = false };

static size_t take_queued(struct exchange *ex, char *buf, size_t max)
{
	size_t n = queued_bytes(ex);

	if (n > max)
		n = max;
	if (n == 0)
		return 0;
	memcpy(buf, ex->queue.data + ex->queue_pos, n);
	ex->queue_pos += n;
	ex->queue_free -= n < ex->queue_free ? n : ex->queue_free;
	/* Empty again; otherwise the sent half is dropped once it is the larger. */
	if (ex->queue_pos == ex->queue.len) {
		strbuf_reset(&ex->queue);
		ex->queue_pos = 0;
	} else if (ex->queue_pos > ex->queue.len / 2) {
		memmove(ex->queue.data, ex->queue.data + ex->queue_pos, queued_bytes(ex));
		ex->queue.len -= ex->queue_pos;
		ex->queue_pos = 0;
	}
	return n;
}

/* Copies what of `part`, which starts at `start` of the final frame, is due. */
static void take_part(struct exchange *ex, const char *part, size_t len, size_t start, char *buf,
	size_t max, size_t *n)
{
	size_t from, count;

	if (ex->final_pos >= start + len || *n == max)
		return;
	from = ex->final_pos - start;
	count = len - from < max - *n ? len - from : max - *n;
	memcpy(buf + *n, part + from, count);
	*n += count;
	ex->final_pos += count;
}

/* The reply outlives its job, which may hold as much again. */
static void final_open(struct exchange *ex)
{
	struct rpc_reply *reply = rpc_job_reply(ex->job);

	ex->final = reply->body;
	strbuf_init(&reply->body);
	exchange_drop_job(ex);
}

static size_t take_final(struct exchange *ex, char *buf, size_t max)
{
	const struct strbuf *body = &ex->final;
	const size_t head = sizeof(FRAME_HEAD) - 1, tail = sizeof(FRAME_TAIL) - 1;
	size_t n = 0;

	if (ex->job)
		final_open(ex);
	if (body->len == 0)
		return 0; /* no memory for it: the stream just ends */
	take_part(ex, FRAME_HEAD, head, 0, buf, max, &n);
	take_part(ex, body->data, body->len, head, buf, max, &n);
	take_part(ex, FRAME_TAIL, tail, head + body->len, buf, max, &n);
	return n;
}

/* On the I/O thread; see the top for the protocol with sse_send. */
static ssize_t sse_read(void *arg, uint64_t pos, char *buf, size_t max)
{
	struct exchange *ex = arg;
	ssize_t result = MHD_CONTENT_READER_END_WITH_ERROR;
	size_t n;

	(void)pos;
	pthread_mutex_lock(&ex->lock);
	if (ex->mhd && !atomic_load(&ex->gone) && !ex->overrun) {
		n = take_queued(ex, buf, max);
		if (n == 0 && ex->done)
			n = take_final(ex, buf, max);
		if (n > 0) {
			ex->moved_ns = clock_mono_ns();
			result = (ssize_t)n;
		} else if (ex->done) {
			result = MHD_CONTENT_READER_END_OF_STREAM;
		} else {
			ex->suspended = true;
			MHD_suspend_connection(ex->mhd);
			result = 0;
		}
	}
	pthread_mutex_unlock(&ex->lock);
	return result;
}

static void sse_freed(void *arg)
{
	exchange_unref(arg);
}

enum MHD_Result sse_start(struct exchange *ex)
{
	struct MHD_Response *response;

	atomic_fetch_add(&ex->refs, 1); /* the response's */
	response = MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, SSE_BLOCK, sse_read, ex,
		sse_freed);
	if (!response) {
		exchange_unref(ex);
		return MHD_NO; /* the completion callback cancels the job */
	}
	if (MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "text/event-stream") !=
			MHD_YES ||
		MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL,
			"no-cache, no-transform") != MHD_YES ||
		MHD_add_response_header(response, "X-Accel-Buffering", "no") != MHD_YES) {
		MHD_destroy_response(response);
		return MHD_NO;
	}
	watch_arm(ex->conn);
	ex->streaming = true;
	pthread_mutex_lock(&ex->lock);
	ex->moved_ns = clock_mono_ns();
	pthread_mutex_unlock(&ex->lock);
	gauge_add(GAUGE_STREAMS, 1);
	return reply_queue(ex, MHD_HTTP_OK, response);
}

void sse_sweep(struct exchange *ex, uint64_t now_ns)
{
	const struct http_config *cfg = &ex->io->http->cfg;
	uint64_t silent;
	bool stalled = false;

	pthread_mutex_lock(&ex->lock);
	silent = now_ns > ex->moved_ns ? now_ns - ex->moved_ns : 0;
	if (ex->suspended && cfg->heartbeat_s && silent >= cfg->heartbeat_s * 1000000000ULL) {
		strbuf_adds(&ex->queue, ":\n\n");
		exchange_resume_locked(ex);
	} else if (!ex->suspended && ex->mhd) {
		/* Not waiting for the worker, so waiting for the client. */
		stalled = stall_answer(ex, now_ns);
	}
	pthread_mutex_unlock(&ex->lock);
	if (stalled)
		exchange_abandon(ex);
}
