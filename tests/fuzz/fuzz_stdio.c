/*
 * fuzz_stdio.c: any bytes on the standard input, in any pieces. The first byte says
 * how they are cut. Twice: through the line splitter alone, which must find just
 * the lines that a plain split finds, however the bytes arrive; and through
 * stdio_serve with two workers, where every line that wants an answer gets one.
 * REQ: S1 S3 S4 S5 M7 L7.
 */
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "check.h"
#include "fuzz.h"
#include "stdio/framing.h"
#include "stdio/stdio.h"
#include "table.h"

#define LINE_LIMIT 200U
#define LINES_MAX 256U
#define PIECES_MAX 64U
#define INPUT_MAX 16384U

struct line {
	const char *text; /* NULL: too long */
	size_t len;
};

struct lines {
	struct line v[LINES_MAX];
	size_t n;
};

/* What S1 says, in the plainest way. */
static void lines_add(struct lines *ls, const char *p, size_t n)
{
	if (n > 0 && p[n - 1] == '\r')
		n--;
	bool blank = true;
	for (size_t i = 0; i < n; i++)
		blank = blank && (p[i] == ' ' || p[i] == '\t' || p[i] == '\r');
	if (n > LINE_LIMIT)
		ls->v[ls->n++] = (struct line){ NULL, 0 };
	else if (!blank)
		ls->v[ls->n++] = (struct line){ p, n };
}

static void lines_split(struct lines *ls, const char *p, size_t n)
{
	ls->n = 0;
	while (n > 0 && ls->n < LINES_MAX) {
		const char *nl = memchr(p, '\n', n);
		size_t len = nl ? (size_t)(nl - p) : n;
		lines_add(ls, p, len);
		p += len + (nl != NULL);
		n -= len + (nl != NULL);
	}
}

/* ---- the splitter ---- */

static void check_event(const struct lines *ls, size_t *at, enum line_event ev, struct strbuf *got)
{
	if (ev == LINE_NONE)
		return;
	FUZZ_CHECK(*at < ls->n);
	const struct line *want = &ls->v[(*at)++];
	FUZZ_CHECK(ev == (want->text ? LINE_MESSAGE : LINE_TOO_LONG));
	if (ev == LINE_MESSAGE)
		FUZZ_CHECK(got->len == want->len && memcmp(got->data, want->text, want->len) == 0);
	strbuf_release(got);
}

static void try_splitter(const struct lines *ls, const char *text, size_t len, size_t step)
{
	struct line_splitter sp;
	struct strbuf got = STRBUF_INIT;
	size_t at = 0;
	enum line_event ev;

	line_splitter_init(&sp, LINE_LIMIT);
	while (len > 0) {
		size_t n = step < len ? step : len;
		const char *p = text;
		text += n;
		len -= n;
		do {
			ev = line_splitter_feed(&sp, &p, &n, &got);
			check_event(ls, &at, ev, &got);
		} while (ev != LINE_NONE);
		FUZZ_CHECK(n == 0 && sp.line.len <= LINE_LIMIT + 1);
	}
	check_event(ls, &at, line_splitter_finish(&sp, &got), &got);
	FUZZ_CHECK(at == ls->n);
	line_splitter_release(&sp);
}

/* ---- the server ---- */

/* A socket that holds the input in pieces, one for each read, and then ends. */
static int make_input(const char *text, size_t len, size_t step)
{
	int fd[2];

	FUZZ_CHECK(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd) == 0);
	for (unsigned i = 0; len > 0; i++) {
		size_t n = i < PIECES_MAX && step < len ? step : len;
		FUZZ_CHECK(send(fd[1], text, n, MSG_NOSIGNAL) == (ssize_t)n);
		text += n;
		len -= n;
	}
	(void)close(fd[1]);
	return fd[0];
}

/* An id that is answered must have been sent. */
static void check_sent(const struct lines *ls, const json_t *id)
{
	size_t found = 0;

	for (size_t i = 0; i < ls->n && !found; i++) {
		json_t *m = ls->v[i].text ? check_parse(ls->v[i].text, ls->v[i].len, NULL) : NULL;
		found += json_equal(json_object_get(m, "id"), id) != 0;
		json_decref(m);
	}
	for (size_t i = 0; i < ls->n && !found; i++) {
		bool lossy = true;
		json_t *m = ls->v[i].text ? check_parse(ls->v[i].text, ls->v[i].len, &lossy) : NULL;
		const json_t *sent = json_object_get(m, "id");
		/* Where some number was too big for an integer, reals are compared. */
		found += json_equal(sent, id) != 0 || (json_is_number(sent) && json_is_number(id));
		json_decref(m);
	}
	FUZZ_CHECK(found);
}

/* Returns how many answers a line of output is: 1, or 0 for a notification. */
static size_t check_output_line(const struct lines *ls, const char *p, size_t n)
{
	bool lossy = false;
	json_t *v = check_parse(p, n, &lossy), *m;
	size_t answers = 1, i;

	FUZZ_CHECK(v);
	if (json_is_array(v)) {
		FUZZ_CHECK(json_array_size(v) > 0);
		json_array_foreach(v, i, m)(void) check_response(m);
	} else if (json_object_get(v, "method")) {
		check_notification(v);
		answers = 0;
	} else {
		(void)check_response(v);
		if (!json_is_null(json_object_get(v, "id")))
			check_sent(ls, json_object_get(v, "id"));
	}
	json_decref(v);
	return answers;
}

static size_t check_output(const struct lines *ls, int fd)
{
	off_t size = lseek(fd, 0, SEEK_END);
	size_t n = (size_t)size, answers = 0;
	char *text = malloc(n + 1), *p = text;

	FUZZ_CHECK(text && size >= 0 && pread(fd, text, n, 0) == size);
	while (n > 0) {
		char *nl = memchr(p, '\n', n);
		FUZZ_CHECK(nl);
		answers += check_output_line(ls, p, (size_t)(nl - p));
		n -= (size_t)(nl - p) + 1;
		p = nl + 1;
	}
	free(text);
	return answers;
}

/* How many of the lines must be answered; a shutdown ends it before the rest. */
static size_t answers_due(const struct lines *ls)
{
	size_t due = 0;

	for (size_t i = 0; i < ls->n; i++) {
		const struct line *l = &ls->v[i];
		bool lossy = false;
		json_t *m = l->text ? check_parse(l->text, l->len, &lossy) : NULL;
		if (l->text && memmem(l->text, l->len, "shut", 4))
			i = ls->n;
		else if (!json_is_array(m))
			due += check_due(m, false) == CHECK_DUE_YES;
		json_decref(m);
	}
	return due;
}

static void try_serve(const struct lines *ls, const char *text, size_t len, size_t step)
{
	struct rpc *rpc = table_rpc(RPC_SESSIONS_PROCESS);
	struct pool *pool;
	const struct stdio_config cfg = { .in_fd = make_input(text, len, step),
		.out_fd = memfd_create("fuzz_stdio", MFD_CLOEXEC),
		.stop_fd = -1,
		.max_line = LINE_LIMIT,
		.max_in_flight = 4,
		.drain_ms = 10000 };

	FUZZ_CHECK(cfg.out_fd >= 0 && pool_new(2, 8, &pool, NULL) == ST_OK);
	FUZZ_CHECK(stdio_serve(&cfg, rpc, pool) == 0);
	pool_free(pool);
	rpc_free(rpc);
	size_t answers = check_output(ls, cfg.out_fd);
	FUZZ_CHECK(answers <= ls->n && answers >= answers_due(ls));
	(void)close(cfg.in_fd);
	(void)close(cfg.out_fd);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lines *ls = malloc(sizeof(*ls));

	FUZZ_CHECK(ls);
	if (size > 1 && size <= INPUT_MAX) {
		const char *text = (const char *)data + 1;
		size_t step = 1 + data[0] % 48U;
		lines_split(ls, text, size - 1);
		if (ls->n < LINES_MAX) {
			try_splitter(ls, text, size - 1, step);
			try_serve(ls, text, size - 1, step);
		}
	}
	free(ls);
	return 0;
}
