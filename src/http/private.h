/*
 * http/private.h: the structures that the files of this folder share.
 *
 *   http ──▶ io (a thread) ──▶ conn (a socket) ──▶ exchange (a request)
 *              │ MHD daemon     │ peer, timers     │ body, job, reply
 *              │ hang-up epoll  └ fd, generation   └ counted: a worker may
 *              └ list of conns                       outlive its client
 *
 * Who touches what: io and conn belong to their I/O thread alone (all callbacks of
 * a daemon run on the thread that calls MHD_run). An exchange is the I/O thread's
 * too, but for the fields under its lock, which workers share. Locks are taken in
 * this order: libmicrohttpd's response lock, exchange lock, libmicrohttpd's
 * suspend lock; no callback of ours runs under the last.
 */
#ifndef RCPD_HTTP_PRIVATE_H
#define RCPD_HTTP_PRIVATE_H

#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>

#include "http/gate.h"
#include "http/http.h"
#include "http/listen.h"
#include "http/peers.h"
#include "util/pool.h"
#include "util/strbuf.h"

#define LINGER_MAX 64 /* connections an I/O thread drains after an early answer */

struct http {
	struct http_config cfg;
	struct http_hooks hooks;
	struct listener listener;
	struct peers peers;
	char *url;
	const char *base; /* without a final slash; "" for the root */
	size_t base_len;
	char elsewhere[192];        /* the text of a 404, which names the base */
	bool old_mhd;               /* before 1.0: a raw NUL in the target is ours to find */
	atomic_size_t body_bytes;   /* of bodies beyond inline_body */
	atomic_size_t answer_bytes; /* of answers beyond inline_body, not yet sent */
	atomic_bool draining;
	atomic_bool stopping;
	unsigned io_count;
	struct io *ios;
	/* Under drain_lock: I/O threads that still accept. */
	pthread_mutex_t drain_lock;
	pthread_cond_t drain_cond;
	unsigned accepting;
};

struct linger_slot {
	int fd; /* -1: free */
	uint64_t until_ns;
	size_t left; /* bytes it may still send */
};

struct io {
	struct http *http;
	struct MHD_Daemon *daemon;
	pthread_t thread;
	bool started;
	int mhd_fd;              /* the daemon's epoll; borrowed */
	int watch_fd;            /* our epoll: who hung up, who lingers */
	int wake_fd;             /* eventfd: something was resumed, drain or stop asked for */
	bool closed;             /* takes no new connections any more */
	uint64_t pause_until_ns; /* takes none before */
	struct conn *conns;
	unsigned conn_count;
	unsigned arriving;   /* handed to the daemon, not yet opened by it */
	unsigned exchanges;  /* not yet completed */
	struct conn **by_fd; /* conns by descriptor */
	size_t by_fd_len;
	uint32_t next_generation;
	uint64_t next_sweep_ns;
	unsigned lingering;
	struct linger_slot lingers[LINGER_MAX];
};

struct conn {
	struct io *io;
	struct conn *prev, *next;
	int fd;
	uint32_t generation;         /* never 0, which marks a lingering descriptor */
	char peer[INET6_ADDRSTRLEN]; /* "" on a unix socket */
	long uid;                    /* -1 unless a unix socket */
	bool counted;                /* in peers, under key */
	struct peer_key key;
	bool watch_added, watch_armed;
	uint64_t idle_since_ns; /* accepted, or the last request completed */
	bool looked;            /* for a FIN, since then */
	struct exchange *ex;    /* the request in progress, or NULL */
};

enum phase {
	PHASE_NEW,     /* request line seen */
	PHASE_BODY,    /* headers checked, body on its way */
	PHASE_PARSING, /* a worker parses a large message */
	PHASE_RUNNING, /* a worker has it */
	PHASE_REPLIED, /* a response is queued; a stream may still be written */
};

/* An answer that does not come from the dispatcher. status 0: none. */
struct refusal {
	unsigned status;
	enum rpc_code code;
	const char *message; /* constant text, or the server's own */
	const char *allow;   /* 405 */
	uint32_t retry_after_s;
};

/* A large message on its way to a worker to be parsed. */
struct parse_task {
	struct pool_task task;
	struct exchange *ex;
};

struct exchange {
	atomic_uint refs;
	struct io *io;     /* I/O thread only */
	struct conn *conn; /* I/O thread only; NULL once completed */
	const struct route *route;
	enum phase phase;
	struct headers headers;
	struct refusal refusal;
	struct rpc_caller caller;
	const char *method; /* decoded, within target; NULL: none in the path */
	bool head;          /* HEAD: libmicrohttpd leaves the body out */
	bool http10;
	bool cors;  /* an allowed Origin asked */
	bool close; /* close after the answer */
	bool early; /* bytes of the client's may be left unread: linger */
	bool wants_sse;
	bool dropping;  /* read and drop what comes */
	bool streaming; /* the answer is an event stream */
	size_t dropped;
	size_t received; /* body bytes, dropped ones included */
	struct strbuf body;
	size_t charged; /* bytes of the budget held */
	uint64_t started_ns;
	struct rpc_job *job;
	bool submitted; /* the job went to a worker */
	struct parse_task parse;
	/* stall.c's: what the last sweep saw. */
	bool watched;
	int seen_bytes;
	size_t seen_received;
	unsigned stuck;   /* sweeps without a move */
	atomic_bool gone; /* the client left, or we gave up on it */

	pthread_mutex_t lock;
	/* Under lock from here to the stream's fields. */
	struct MHD_Connection *mhd; /* NULL once completed */
	int fd;                     /* open while mhd is set */
	bool suspended;
	bool done;    /* the job's reply is ready, or parsing is over */
	bool overrun; /* the reader does not keep up */
	struct strbuf queue;
	size_t queue_pos; /* sent so far */
	size_t queue_max;
	size_t queue_free;   /* of a large frame at the queue's head: not counted */
	struct strbuf final; /* the reply, once it is its turn */
	size_t final_pos;    /* bytes of the final frame sent */
	size_t answer_charged;
	uint64_t moved_ns; /* the last time a byte moved or a wait ended */

	size_t target_len;
	char target[]; /* as it came, then decoded in place */
};

/* One row a resource. Later issues add rows (metrics, rest, manifest). */
struct route {
	const char *path; /* exact decoded path; NULL: everything under the base */
	const char *allow;
	bool post;  /* POST with a JSON body; otherwise GET and HEAD */
	bool gated; /* the gate is asked first (T9) */
	enum MHD_Result (*answer)(struct exchange *ex);
};

/* io.c */
enum status io_start(struct io *io, struct http *http, struct error *e);
void io_wake(struct io *io);
void io_join(struct io *io); /* after stopping was set and io_wake */

/* admit.c: whether to look for new connections now, and taking them. */
bool admit_wanted(const struct io *io, uint64_t now_ns);
void admit_run(struct io *io);

/* conn.c: libmicrohttpd's callback about connections, and the timers. */
void conn_notify(void *cls, struct MHD_Connection *mhd, void **socket_context,
	enum MHD_ConnectionNotificationCode code);
void conn_sweep(struct io *io, uint64_t now_ns);

/* exchange.c: the life of a request. */
void *exchange_new(void *cls, const char *target, struct MHD_Connection *mhd);
enum MHD_Result exchange_step(void *cls, struct MHD_Connection *mhd, const char *url,
	const char *method, const char *version, const char *data, size_t *size, void **req_cls);
void exchange_completed(void *cls, struct MHD_Connection *mhd, void **req_cls,
	enum MHD_RequestTerminationCode code);
void exchange_end(struct exchange *ex);     /* idempotent; I/O thread */
void exchange_abandon(struct exchange *ex); /* cancel, and let libmicrohttpd close */
void exchange_unref(struct exchange *ex);
/* The job is answered, and its answer taken. */
void exchange_drop_job(struct exchange *ex);
/* Suspends unless the job is done already; then answers. */
enum MHD_Result exchange_wait(struct exchange *ex);
/* Ends a suspension. Lock held. */
void exchange_resume_locked(struct exchange *ex);

/* request.c: checks at the headers. Sets ex->refusal where one fails. */
void request_check(struct exchange *ex, const char *url, const char *method, const char *version);

/* body.c */
enum MHD_Result body_begin(struct exchange *ex);
enum MHD_Result body_append(struct exchange *ex, const char *data, size_t len);
void body_uncharge(struct exchange *ex);

/* answer.c */
/* The job's reply is ready: counts it, or puts a refusal in its place. Lock held. */
void answer_charge_locked(struct exchange *ex);
void answer_uncharge(struct exchange *ex);

/* stall.c: asked by the sweep. */
bool stall_body(struct exchange *ex); /* libmicrohttpd cannot go on reading it */
/* The client does not read. Lock held where it streams. */
bool stall_answer(struct exchange *ex, uint64_t now_ns);
void stall_release(struct exchange *ex); /* at the completion callback */

/* route.c */
const struct route *route_find(struct exchange *ex);

/* call.c: POST to the dispatcher. */
enum MHD_Result call_answer(struct exchange *ex);
enum MHD_Result call_continue(struct exchange *ex); /* after a suspension */

/* health.c */
enum MHD_Result about_answer(struct exchange *ex);
enum MHD_Result health_answer(struct exchange *ex);
enum MHD_Result ready_answer(struct exchange *ex);

/* reply.c */
void refuse(struct exchange *ex, unsigned status, enum rpc_code code, const char *message);
enum MHD_Result reply_refusal(struct exchange *ex);
enum MHD_Result reply_preflight(struct exchange *ex);
/* Takes body (inited again). */
enum MHD_Result reply_json(struct exchange *ex, unsigned status, struct strbuf *body);
enum MHD_Result reply_rpc(struct exchange *ex);
/* Adds what every answer carries, queues it and drops our reference. */
enum MHD_Result reply_queue(struct exchange *ex, unsigned status, struct MHD_Response *response);

/* sse.c */
extern const struct rpc_stream_ops sse_ops;
enum MHD_Result sse_start(struct exchange *ex);
/* Heartbeat, and readers that stopped reading. Streaming exchanges only. */
void sse_sweep(struct exchange *ex, uint64_t now_ns);

/* watch.c */
void watch_arm(struct conn *conn);
void watch_remove(struct conn *conn);
void watch_run(struct io *io);

/* linger.c */
void linger_add(struct io *io, int fd);
void linger_ready(struct io *io, int fd);
void linger_sweep(struct io *io, uint64_t now_ns); /* UINT64_MAX: close all */

#endif
