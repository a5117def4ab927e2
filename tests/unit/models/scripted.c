/* scripted.c: see scripted.h. */
#include "scripted.h"

#include <stdio.h>
#include <string.h>

#include "../unit.h"

static bool on_request(const struct peer_request *q, void *arg)
{
	struct scripted *s = arg;
	const struct step *step = &s->steps[q->number < s->n ? q->number : s->n - 1];
	const char *key = peer_header(q, "Authorization");

	(void)pthread_mutex_lock(&s->lock);
	(void)snprintf(s->body, sizeof(s->body), "%s", q->body);
	(void)snprintf(s->authorization, sizeof(s->authorization), "%s", key ? key : "");
	(void)pthread_mutex_unlock(&s->lock);
	if (step->status == -1)
		peer_wait_closed(q->fd);
	if (step->status <= 0)
		return false;
	return peer_answer(q->fd, step->status,
		step->headers ? step->headers : "Content-Type: application/json\r\n", step->body);
}

void scripted_open(struct scripted *s, const struct step *steps, size_t n,
	const struct remote_options *opt)
{
	const struct net_policy policy = { .private_hosts = true, .plain_http = true };
	struct remote_options o = *opt;
	struct error e;

	memset(s, 0, sizeof(*s));
	s->steps = steps;
	s->n = n;
	(void)pthread_mutex_init(&s->lock, NULL);
	s->peer = peer_start(on_request, s);
	o.url = peer_url(s->peer, "/v1");
	assert_int_equal(net_new(&policy, &s->net, &e), ST_OK);
	assert_int_equal(remote_open(s->net, &o, &s->remote, &e), ST_OK);
}

void scripted_restart(struct scripted *s, unsigned port)
{
	s->peer = peer_start_at(port, on_request, s);
}

void scripted_close(struct scripted *s)
{
	remote_close(s->remote);
	net_free(s->net);
	peer_stop(s->peer);
	(void)pthread_mutex_destroy(&s->lock);
}

const char *scripted_body(struct scripted *s)
{
	static char body[sizeof(s->body)];

	(void)pthread_mutex_lock(&s->lock);
	memcpy(body, s->body, sizeof(body));
	(void)pthread_mutex_unlock(&s->lock);
	return body;
}

struct remote_options scripted_options(enum remote_shape shape)
{
	return (struct remote_options){ .shape = shape,
		.model = "m",
		.key_file = "",
		.dimension = 2,
		.batch = 3,
		.max_text = 1000,
		.timeout_ms = 2000 };
}
