/*
 * conn.c: open sockets: who is at the other end, how many they have, how long they
 * have been silent. A record is made when libmicrohttpd reports the connection and
 * freed when it reports its end, which is before it closes the descriptor; between
 * the two the record is found by descriptor and generation, never by a pointer
 * kept in an event.
 */
#include <arpa/inet.h>
#include <string.h>
#include <sys/socket.h>

#include "http/private.h"
#include "util/clock.h"
#include "util/gauge.h"
#include "util/mem.h"

#define LOOK_AFTER_NS 100000000ULL

/* Textual address; a mapped IPv4 one is written as IPv4. */
static void peer_text(const struct sockaddr *addr, char *buf, size_t size)
{
	const struct sockaddr_in6 *in6 = (const struct sockaddr_in6 *)(const void *)addr;
	const struct sockaddr_in *in4 = (const struct sockaddr_in *)(const void *)addr;
	const char *done = NULL;

	if (addr->sa_family == AF_INET)
		done = inet_ntop(AF_INET, &in4->sin_addr, buf, (socklen_t)size);
	else if (addr->sa_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&in6->sin6_addr))
		done = inet_ntop(AF_INET, &in6->sin6_addr.s6_addr[12], buf, (socklen_t)size);
	else if (addr->sa_family == AF_INET6)
		done = inet_ntop(AF_INET6, &in6->sin6_addr, buf, (socklen_t)size);
	if (!done)
		buf[0] = '\0';
}

static void conn_identify(struct conn *conn, const struct sockaddr *addr)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);

	conn->uid = -1;
	if (addr && addr->sa_family != AF_UNIX)
		peer_text(addr, conn->peer, sizeof(conn->peer));
	else if (getsockopt(conn->fd, SOL_SOCKET, SO_PEERCRED, &cred, &len) == 0)
		conn->uid = (long)cred.uid;
}

/* Makes room for fd in the table. */
static bool table_grow(struct io *io, int fd)
{
	size_t need = (size_t)fd + 1, len = io->by_fd_len ? io->by_fd_len : 64;
	struct conn **grown;

	if (need <= io->by_fd_len)
		return true;
	while (len < need)
		len *= 2;
	grown = mem_resize(io->by_fd, len * sizeof(struct conn *));
	if (!grown)
		return false;
	memset(grown + io->by_fd_len, 0, (len - io->by_fd_len) * sizeof(struct conn *));
	io->by_fd = grown;
	io->by_fd_len = len;
	return true;
}

static void conn_link(struct io *io, struct conn *conn)
{
	conn->generation = ++io->next_generation;
	if (conn->generation == 0)
		conn->generation = ++io->next_generation;
	conn->next = io->conns;
	if (io->conns)
		io->conns->prev = conn;
	io->conns = conn;
	io->by_fd[conn->fd] = conn;
	io->conn_count++;
	gauge_add(GAUGE_CONNECTIONS, 1);
}

/* NULL when out of memory or over the address's limit. */
static struct conn *conn_new(struct io *io, int fd, const struct sockaddr *addr)
{
	struct conn *conn = table_grow(io, fd) ? mem_zero(sizeof(*conn)) : NULL;

	if (!conn)
		return NULL;
	conn->io = io;
	conn->fd = fd;
	conn->idle_since_ns = clock_mono_ns();
	conn_identify(conn, addr);
	/* Two threads may both have found room: the second one loses here. */
	if (addr && peer_key(addr, &conn->key)) {
		conn->counted = peers_enter(&io->http->peers, &conn->key);
		if (!conn->counted) {
			mem_free(conn);
			return NULL;
		}
	}
	return conn;
}

/* Newer libmicrohttpd lends the same union for every question, so each answer is
 * read before the next is asked. */
static int connection_fd(struct MHD_Connection *mhd)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CONNECTION_FD);

	return info ? info->connect_fd : -1;
}

static const struct sockaddr *connection_peer(struct MHD_Connection *mhd)
{
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(mhd, MHD_CONNECTION_INFO_CLIENT_ADDRESS);

	return info ? info->client_addr : NULL;
}

static void conn_open(struct io *io, struct MHD_Connection *mhd, void **socket_context)
{
	int fd = connection_fd(mhd);
	struct conn *conn = NULL;

	if (fd >= 0) {
		conn = conn_new(io, fd, connection_peer(mhd));
		if (conn)
			conn_link(io, conn);
		else /* it cannot be refused here; this makes it end at once */
			(void)shutdown(fd, SHUT_RDWR);
	}
	*socket_context = conn;
}

static void conn_close(struct conn *conn)
{
	struct io *io = conn->io;

	/* Normally long gone; libmicrohttpd skips the completion callback where it
	 * runs out of epoll memory. */
	if (conn->ex)
		exchange_end(conn->ex);
	watch_remove(conn);
	if (conn->counted)
		peers_leave(&io->http->peers, &conn->key);
	if (conn->prev)
		conn->prev->next = conn->next;
	else
		io->conns = conn->next;
	if (conn->next)
		conn->next->prev = conn->prev;
	io->by_fd[conn->fd] = NULL;
	io->conn_count--;
	gauge_add(GAUGE_CONNECTIONS, -1);
	mem_free(conn);
}

void conn_notify(void *cls, struct MHD_Connection *mhd, void **socket_context,
	enum MHD_ConnectionNotificationCode code)
{
	struct io *io = cls;

	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		conn_open(io, mhd, socket_context);
	} else if (*socket_context) {
		conn_close(*socket_context);
		*socket_context = NULL;
	}
}

static bool older(uint64_t now_ns, uint64_t since_ns, unsigned seconds)
{
	return seconds && now_ns > since_ns && now_ns - since_ns > seconds * 1000000000ULL;
}

/*
 * The client closed its side and nothing is left to read. libmicrohttpd takes a
 * short read for the last one, so it misses a FIN that came with the bytes before
 * it, and would wait for its timeout.
 */
static bool conn_is_finished(const struct conn *conn)
{
	char byte;

	return recv(conn->fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

/* Whether a connection without a request is to be closed. One look for a missed
 * FIN is enough for each idle time, once what came has been read: a later one is
 * news to libmicrohttpd. */
static bool idle_is_over(struct conn *conn, uint64_t now_ns)
{
	bool look = !conn->looked && now_ns > conn->idle_since_ns + LOOK_AFTER_NS;

	conn->looked |= look;
	return older(now_ns, conn->idle_since_ns, conn->io->http->cfg.idle_timeout_s) ||
		(look && conn_is_finished(conn));
}

/*
 * Twice a second, over all connections of this thread. libmicrohttpd's timeout
 * restarts with every byte, so a client that sends one now and then would stay for
 * ever; these limits count from the start. Waiting requests are exempt: their
 * deadline is the dispatcher's. Answers must move. A shutdown of the socket makes
 * libmicrohttpd close it in its next turn.
 */
void conn_sweep(struct io *io, uint64_t now_ns)
{
	struct conn *conn;

	for (conn = io->conns; conn; conn = conn->next) {
		struct exchange *ex = conn->ex;
		bool over = false;

		if (!ex)
			over = idle_is_over(conn, now_ns);
		else if (ex->phase == PHASE_NEW || ex->phase == PHASE_BODY)
			over = older(now_ns, ex->started_ns, io->http->cfg.body_timeout_s) ||
				conn_is_finished(conn) || stall_body(ex);
		else if (ex->streaming)
			sse_sweep(ex, now_ns);
		else if (ex->phase == PHASE_REPLIED)
			over = stall_answer(ex, now_ns);
		if (over)
			(void)shutdown(conn->fd, SHUT_RDWR);
	}
}
