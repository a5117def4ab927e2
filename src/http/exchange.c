/*
 * exchange.c: the life of one request.
 *
 *   request line ─▶ headers ─▶ body ─▶ complete ─▶ answered at once ─▶ end
 *                                        └▶ suspended: a worker has it ─▶┘
 *
 * It is made in libmicrohttpd's log callback, which alone sees the raw target, and
 * ends in the completion callback. Two references may outlive that: the one a
 * worker holds until its done callback returned, and the one of a stream's
 * response. A worker may finish between rpc_job_submit and the suspension; one
 * lock and one flag make sure that a resume happens exactly once, and only to a
 * suspended connection.
 */
#include <string.h>
#include <sys/socket.h>

#include "http/private.h"
#include "util/clock.h"
#include "util/gauge.h"
#include "util/mem.h"

void *exchange_new(void *cls, const char *target, struct MHD_Connection *mhd)
{
	struct io *io = cls;
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct conn *conn = info ? info->socket_context : NULL;
	size_t len = target ? strlen(target) : 0;
	struct exchange *ex;

	if (!conn || conn->ex)
		return NULL;
	ex = mem_alloc(sizeof(*ex) + len + 1);
	if (!ex)
		return NULL;
	memset(ex, 0, sizeof(*ex));
	if (len)
		memcpy(ex->target, target, len);
	ex->target[len] = '\0';
	ex->target_len = len;
	atomic_init(&ex->refs, 1);
	pthread_mutex_init(&ex->lock, NULL);
	ex->io = io;
	ex->conn = conn;
	ex->mhd = mhd;
	ex->fd = conn->fd;
	ex->started_ns = clock_mono_ns();
	strbuf_init(&ex->body);
	strbuf_init(&ex->queue);
	strbuf_init(&ex->final);
	conn->ex = ex;
	io->exchanges++;
	gauge_add(GAUGE_EXCHANGES, 1);
	return ex;
}

void exchange_drop_job(struct exchange *ex)
{
	rpc_job_unref(ex->job);
	ex->job = NULL;
}

void exchange_unref(struct exchange *ex)
{
	if (atomic_fetch_sub(&ex->refs, 1) != 1)
		return;
	/* Parsed, then the client left: the refusal takes it out of the table of
	 * requests in flight, where a worker's run would have. */
	if (ex->job && !ex->submitted && !rpc_job_answered(ex->job))
		rpc_job_refuse(ex->job, RPC_CANCELLED, "the client left", 0);
	rpc_job_unref(ex->job);
	strbuf_release(&ex->body);
	strbuf_release(&ex->queue);
	strbuf_release(&ex->final);
	pthread_mutex_destroy(&ex->lock);
	mem_free(ex);
	gauge_add(GAUGE_EXCHANGES, -1);
}

/* The connection is about to go on without this request, or to close. After this
 * no other thread touches libmicrohttpd for it. */
void exchange_end(struct exchange *ex)
{
	struct conn *conn = ex->conn;

	if (!conn)
		return;
	pthread_mutex_lock(&ex->lock);
	ex->mhd = NULL;
	ex->suspended = false;
	atomic_store(&ex->gone, true);
	pthread_mutex_unlock(&ex->lock);
	if (ex->job)
		rpc_job_cancel(ex->job); /* does nothing to a finished one */
	if (ex->early)
		linger_add(ex->io, conn->fd);
	if (ex->streaming)
		gauge_add(GAUGE_STREAMS, -1);
	body_uncharge(ex);
	answer_uncharge(ex);
	conn->ex = NULL;
	conn->idle_since_ns = clock_mono_ns();
	conn->looked = false;
	ex->conn = NULL;
	ex->io->exchanges--;
	exchange_unref(ex);
}

void exchange_completed(void *cls, struct MHD_Connection *mhd, void **req_cls,
	enum MHD_RequestTerminationCode code)
{
	/* Every abort is reported as the same code; it tells nothing. */
	(void)cls, (void)mhd, (void)code;
	if (*req_cls) {
		stall_release(*req_cls);
		exchange_end(*req_cls);
	}
	*req_cls = NULL;
}

/* libmicrohttpd 0.9.75 makes no wake-up channel for a daemon that others run, so
 * the loop is woken by us. The io lives: it outlives every exchange not ended. */
void exchange_resume_locked(struct exchange *ex)
{
	if (!ex->suspended || !ex->mhd)
		return;
	ex->suspended = false;
	ex->moved_ns = clock_mono_ns();
	MHD_resume_connection(ex->mhd);
	io_wake(ex->io);
}

void exchange_abandon(struct exchange *ex)
{
	pthread_mutex_lock(&ex->lock);
	atomic_store(&ex->gone, true);
	/* A suspended one closes as its callback says so; one that is being
	 * written to closes as its socket fails. */
	if (ex->suspended)
		exchange_resume_locked(ex);
	else if (ex->mhd)
		(void)shutdown(ex->fd, SHUT_RDWR);
	pthread_mutex_unlock(&ex->lock);
	if (ex->job)
		rpc_job_cancel(ex->job);
}

enum MHD_Result exchange_wait(struct exchange *ex)
{
	bool ready;

	watch_arm(ex->conn);
	pthread_mutex_lock(&ex->lock);
	ready = ex->done || atomic_load(&ex->gone);
	if (!ready) {
		ex->suspended = true;
		MHD_suspend_connection(ex->mhd);
	}
	pthread_mutex_unlock(&ex->lock);
	return ready ? call_continue(ex) : MHD_YES;
}

/* First call for a request: the headers are there. */
static enum MHD_Result exchange_begin(struct exchange *ex, const char *url, const char *method,
	const char *version)
{
	request_check(ex, url, method, version);
	ex->phase = PHASE_BODY;
	return body_begin(ex);
}

/*
 * Trailer fields are read like header lines, but where they ended is not told: an
 * empty name before 1.0 ends them early, and the rest would run as a request. So
 * nothing is read after a request that had any.
 */
static bool has_trailers(const struct exchange *ex)
{
	return ex->headers.chunked && ex->io->http->old_mhd &&
		MHD_get_connection_values(ex->mhd, MHD_FOOTER_KIND, NULL, NULL) > 0;
}

/* The request is complete. */
static enum MHD_Result exchange_finish(struct exchange *ex)
{
	if (has_trailers(ex))
		ex->close = ex->early = true;
	if (ex->refusal.status)
		return reply_refusal(ex);
	return ex->route ? ex->route->answer(ex) : reply_preflight(ex);
}

enum MHD_Result exchange_step(void *cls, struct MHD_Connection *mhd, const char *url,
	const char *method, const char *version, const char *data, size_t *size, void **req_cls)
{
	struct exchange *ex = *req_cls;
	size_t len = *size;

	(void)cls, (void)mhd;
	if (!ex)
		return MHD_NO; /* out of memory when the request line came */
	switch (ex->phase) {
	case PHASE_NEW:
		return exchange_begin(ex, url, method, version);
	case PHASE_BODY:
		if (len == 0)
			return exchange_finish(ex);
		*size = 0;
		return body_append(ex, data, len);
	case PHASE_PARSING:
	case PHASE_RUNNING:
		return call_continue(ex);
	case PHASE_REPLIED:
		break;
	}
	return MHD_YES;
}
