/*
 * hold.c: opens connections one after the other, sends one request on each, and
 * keeps them: idle keep-alive connections after their answer, or event streams
 * whose headers have come. bench/http reads the server's memory meanwhile.
 */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "load.h"

#define HOLD_WAIT_MS 5000

/* Waits until the answer is whole, or (streams) its headers are there. */
static bool hold_one(struct client *c, const struct load_options *o)
{
	if (!client_connect(c, &o->target))
		return false;
	enum client_event e = client_begin(c, &o->request);
	for (;;) {
		struct pollfd p = { .fd = c->fd,
			.events = (short)(e == CLIENT_WRITE ? POLLOUT : POLLIN) };
		if (e == CLIENT_FAILED || poll(&p, 1, HOLD_WAIT_MS) != 1)
			return false;
		e = e == CLIENT_WRITE ? client_flush(c, &o->request) : client_read(c, NULL, NULL);
		if (e == CLIENT_DONE)
			return !o->stream && c->answer.status == 200;
		if (e == CLIENT_WAIT && o->stream && c->answer.state != ANSWER_HEAD)
			return c->answer.status == 200;
	}
}

int load_hold(const struct load_options *o)
{
	struct client *clients = calloc(o->connections, sizeof(*clients));
	unsigned held = 0;
	char ch;

	if (!clients)
		return 2;
	for (unsigned i = 0; i < o->connections; i++)
		clients[i].fd = -1;
	while (held < o->connections && hold_one(&clients[held], o))
		held++;
	printf("held=%u\n", held);
	(void)fflush(stdout);
	while (read(STDIN_FILENO, &ch, 1) > 0)
		;
	for (unsigned i = 0; i < o->connections; i++)
		client_close(&clients[i]);
	free(clients);
	return held == o->connections ? 0 : 1;
}
