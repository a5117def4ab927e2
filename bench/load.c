/*
 * load.c: the load generator of bench/http: one thread, epoll, N connections.
 * Its own cost is small against a server's (it parses just the answer's length),
 * but on a machine with few cores it is part of what is measured: compare servers
 * with each other, not with other people's figures.
 */
#include "load.h"

#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

static const char usage[] =
	"usage: bench_load [options] run|hold|frames\n"
	"  --connect HOST:PORT|unix:PATH   the server\n"
	"  --path PATH                     request target, e.g. /rcp/ping\n"
	"  --body FILE                     request body\n"
	"  --connections N                 default 1\n"
	"  --warmup MS --duration MS       default 200 and 1000\n"
	"  --close                         a new connection for every request\n"
	"  --sse                           ask for an event stream\n"
	"  --expect TEXT                   every answer must hold this text\n"
	"run: closed loop, prints requests/s, latency and errors\n"
	"hold: opens all, prints held=N, keeps them until stdin ends\n"
	"frames: event streams one after the other, prints when their frames came\n";

static void fail(const char *what, const char *value)
{
	(void)fprintf(stderr, "bench_load: %s: %s\n%s", what, value, usage);
	exit(2);
}

static unsigned number(const char *text)
{
	char *end;
	unsigned long v = strtoul(text, &end, 10);

	if (end == text || *end || v > 100000000UL)
		fail("not a number", text);
	return (unsigned)v;
}

static char *read_file(const char *path, size_t *ret_len)
{
	FILE *f = fopen(path, "rb");
	size_t len = 0, cap = 1 << 16, n;
	char *data = malloc(cap);

	if (!f || !data)
		fail("cannot read", path);
	while ((n = fread(data + len, 1, cap - len, f)) > 0) {
		len += n;
		if (len == cap && !(data = realloc(data, cap *= 2)))
			fail("out of memory for", path);
	}
	(void)fclose(f);
	*ret_len = len;
	return data;
}

struct texts {
	const char *connect, *path, *body, *mode;
	bool sse;
};

static void options_read(int argc, char **argv, struct load_options *o, struct texts *t)
{
	static const struct option table[] = { { "connect", 1, NULL, 'c' },
		{ "path", 1, NULL, 'p' }, { "body", 1, NULL, 'b' }, { "connections", 1, NULL, 'n' },
		{ "warmup", 1, NULL, 'w' }, { "duration", 1, NULL, 'd' }, { "close", 0, NULL, 'x' },
		{ "sse", 0, NULL, 's' }, { "expect", 1, NULL, 'e' }, { NULL, 0, NULL, 0 } };
	int ch;

	while ((ch = getopt_long(argc, argv, "", table, NULL)) != -1) {
		switch (ch) {
		case 'c':
			t->connect = optarg;
			break;
		case 'p':
			t->path = optarg;
			break;
		case 'b':
			t->body = optarg;
			break;
		case 'n':
			o->connections = number(optarg);
			break;
		case 'w':
			o->warmup_ms = number(optarg);
			break;
		case 'd':
			o->duration_ms = number(optarg);
			break;
		case 'x':
			o->close_each = true;
			break;
		case 's':
			t->sse = true;
			break;
		case 'e':
			o->expect = optarg;
			break;
		default:
			fail("unknown option", "see the usage");
		}
	}
	if (optind + 1 != argc || !t->connect || !t->path || !t->body)
		fail("missing", "--connect, --path, --body or the mode");
	t->mode = argv[optind];
}

/* As many descriptors as the system allows without asking anybody. */
static void raise_file_limit(void)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim) == 0) {
		lim.rlim_cur = lim.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &lim);
	}
}

int main(int argc, char **argv)
{
	struct load_options o = { .connections = 1, .warmup_ms = 200, .duration_ms = 1000 };
	struct texts t = { NULL, NULL, NULL, NULL, false };
	char extra[128];
	size_t body_len;
	int rc = 2;

	options_read(argc, argv, &o, &t);
	raise_file_limit();
	(void)signal(SIGPIPE, SIG_IGN);
	if (!target_parse(t.connect, &o.target))
		fail("not an address", t.connect);
	if (o.connections == 0)
		fail("no connections", "0");
	char *body = read_file(t.body, &body_len);
	(void)snprintf(extra, sizeof(extra), "%s%s", t.sse ? "Accept: text/event-stream\r\n" : "",
		o.close_each ? "Connection: close\r\n" : "");
	o.stream = t.sse;
	request_make(&o.target, t.path, body, body_len, extra, &o.request);
	if (strcmp(t.mode, "run") == 0)
		rc = load_run(&o);
	else if (strcmp(t.mode, "hold") == 0)
		rc = load_hold(&o);
	else if (strcmp(t.mode, "frames") == 0)
		rc = load_frames(&o);
	else
		fail("unknown mode", t.mode);
	request_release(&o.request);
	free(body);
	return rc;
}
