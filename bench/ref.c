/*
 * ref.c: the frame of the reference programs. See ref.h for why it is shaped like
 * the server's I/O threads. One process serves until a signal ends it, so nothing
 * is torn down.
 */
#include "ref.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#define REF_THREADS 2
#define REF_BODY 8192

struct ref {
	ref_reply *reply;
	size_t count;
	struct ref_answer answers[REF_ANSWERS];
};

struct ref_request {
	size_t len;
	char body[REF_BODY];
};

static struct ref_answer *answer_find(struct ref *ref, const char *url)
{
	for (size_t i = 0; i < ref->count; i++)
		if (strcmp(ref->answers[i].path, url) == 0)
			return &ref->answers[i];
	return NULL;
}

static enum MHD_Result send_reply(struct MHD_Connection *c, struct ref *ref, const char *url,
	const struct ref_request *q)
{
	struct ref_answer *a = answer_find(ref, url);
	int owned = 0;
	size_t len = 0;
	char *text = a ? ref->reply(a, q->body, q->len, &len, &owned) : NULL;
	unsigned status = text ? MHD_HTTP_OK : a ? MHD_HTTP_BAD_REQUEST : MHD_HTTP_NOT_FOUND;
	struct MHD_Response *r = MHD_create_response_from_buffer(len, text,
		owned ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_PERSISTENT);

	if (!r)
		return MHD_NO;
	(void)MHD_add_response_header(r, "Content-Type", "application/json");
	enum MHD_Result rc = MHD_queue_response(c, status, r);
	MHD_destroy_response(r);
	return rc;
}

static enum MHD_Result on_request(void *arg, struct MHD_Connection *c, const char *url,
	const char *method, const char *version, const char *data, size_t *size, void **own)
{
	struct ref_request *q = *own;

	(void)version;
	if (!q) {
		if (strcmp(method, "POST") != 0 || !(q = malloc(sizeof(*q))))
			return MHD_NO;
		q->len = 0;
		*own = q;
		return MHD_YES;
	}
	if (*size) {
		if (*size > sizeof(q->body) - q->len)
			return MHD_NO;
		memcpy(q->body + q->len, data, *size);
		q->len += *size;
		*size = 0;
		return MHD_YES;
	}
	return send_reply(c, arg, url, q);
}

static void on_completed(void *arg, struct MHD_Connection *c, void **own,
	enum MHD_RequestTerminationCode code)
{
	(void)arg, (void)c, (void)code;
	free(*own);
	*own = NULL;
}

/* One I/O thread: waits on the daemon's epoll descriptor, then lets it work. */
static void *io_thread(void *arg)
{
	struct MHD_Daemon *d = arg;
	const union MHD_DaemonInfo *info = MHD_get_daemon_info(d, MHD_DAEMON_INFO_EPOLL_FD);
	struct epoll_event ev;
	int ep = epoll_create1(EPOLL_CLOEXEC);

	ev.events = EPOLLIN;
	ev.data.u64 = 0;
	if (ep < 0 || !info || epoll_ctl(ep, EPOLL_CTL_ADD, info->epoll_fd, &ev) != 0)
		exit(1);
	for (;;) {
		MHD_UNSIGNED_LONG_LONG ms;
		int wait = -1;
		if (MHD_get_timeout(d, &ms) == MHD_YES)
			wait = ms > 1000 ? 1000 : (int)ms;
		(void)epoll_wait(ep, &ev, 1, wait);
		(void)MHD_run(d);
	}
	return NULL;
}

static int listen_on(unsigned port, unsigned *ret_port)
{
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = htons((uint16_t)port) };
	socklen_t len = sizeof(in);
	const int one = 1;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) != 0 ||
		bind(fd, (struct sockaddr *)&in, sizeof(in)) != 0 || listen(fd, 1024) != 0 ||
		getsockname(fd, (struct sockaddr *)&in, &len) != 0) {
		perror("listen");
		exit(1);
	}
	*ret_port = ntohs(in.sin_port);
	return fd;
}

static void answer_load(struct ref *ref, char *spec)
{
	struct ref_answer *a = &ref->answers[ref->count];
	char *eq = strchr(spec, '=');
	FILE *f = eq ? fopen(eq + 1, "rb") : NULL;

	if (!f || ref->count == REF_ANSWERS || !(a->data = malloc(1 << 20))) {
		(void)fprintf(stderr, "cannot use --answer %s\n", spec);
		exit(2);
	}
	*eq = '\0';
	a->path = spec;
	a->number = ref->count;
	a->len = fread(a->data, 1, 1 << 20, f);
	(void)fclose(f);
	ref->count++;
}

static void serve(struct ref *ref, unsigned port)
{
	int fd = listen_on(port, &port);
	pthread_t thread[REF_THREADS];

	for (int i = 0; i < REF_THREADS; i++) {
		struct MHD_Daemon *d = MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, on_request,
			ref, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, 10000U,
			MHD_OPTION_NOTIFY_COMPLETED, on_completed, NULL, MHD_OPTION_END);
		if (!d || pthread_create(&thread[i], NULL, io_thread, d) != 0) {
			(void)fputs("cannot start libmicrohttpd\n", stderr);
			exit(1);
		}
	}
	(void)fprintf(stderr, "listening on 127.0.0.1:%u\n", port);
	for (int i = 0; i < REF_THREADS; i++)
		(void)pthread_join(thread[i], NULL);
}

int ref_main(int argc, char **argv, int (*prepare)(struct ref_answer *a), ref_reply *reply)
{
	static struct ref ref;
	struct rlimit lim;
	unsigned port = 0;

	for (int i = 1; i + 1 < argc; i += 2) {
		if (strcmp(argv[i], "--listen") == 0)
			port = (unsigned)strtoul(argv[i + 1], NULL, 10);
		else if (strcmp(argv[i], "--answer") == 0)
			answer_load(&ref, argv[i + 1]);
	}
	for (size_t i = 0; i < ref.count; i++)
		if (prepare && prepare(&ref.answers[i]) != 0)
			return 2;
	ref.reply = reply;
	(void)signal(SIGPIPE, SIG_IGN);
	if (getrlimit(RLIMIT_NOFILE, &lim) == 0) {
		lim.rlim_cur = lim.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &lim);
	}
	serve(&ref, port);
	return 0;
}
