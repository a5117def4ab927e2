/*
 * sse.c: the parser of event streams (WHATWG HTML, 9.2.6). Only the data of events is
 * kept: names, ids and retry times are read over. Bytes are taken as they come; each is
 * looked at once.
 */
#include <string.h>

#include "net/net.h"

#define BOM "\xef\xbb\xbf"

void net_sse_init(struct net_sse *s)
{
	*s = (struct net_sse){ .line = STRBUF_INIT, .data = STRBUF_INIT };
}

void net_sse_release(struct net_sse *s)
{
	strbuf_release(&s->line);
	strbuf_release(&s->data);
	net_sse_init(s);
}

/* The value of a line if its field is "data"; false: another field or a comment. */
static bool data_of(struct bytes line, struct bytes *ret)
{
	if (line.len < 4 || memcmp(line.data, "data", 4) != 0)
		return false;
	if (line.len > 4 && line.data[4] != ':')
		return false;
	size_t skip = line.len == 4 ? 4 : 5;
	if (line.len > skip && line.data[skip] == ' ')
		skip++;
	*ret = (struct bytes){ line.data + skip, line.len - skip };
	return true;
}

/* Each data line is kept with a line feed behind it; the last one goes when the event is
 * handed out. So "no data" and "one empty line" differ, as they must. */
static enum status line_end(struct net_sse *s, size_t max,
	bool (*event)(void *arg, struct bytes data), void *arg, bool *go_on, struct error *e)
{
	struct bytes line = { s->line.data ? s->line.data : "", s->line.len }, value;

	if (!s->started && line.len >= 3 && memcmp(line.data, BOM, 3) == 0)
		line = (struct bytes){ line.data + 3, line.len - 3 };
	s->started = true;
	if (line.len == 0 && s->data.len > 0) {
		*go_on = event(arg, (struct bytes){ s->data.data, s->data.len - 1 });
		strbuf_reset(&s->data);
	} else if (data_of(line, &value)) {
		if (s->data.len > max || value.len > max - s->data.len)
			return error_set(e, ST_TOO_LARGE, "an event of the stream is too large");
		strbuf_add(&s->data, value.data, value.len);
		strbuf_addc(&s->data, '\n');
	}
	strbuf_reset(&s->line);
	return strbuf_ok(&s->data) ? ST_OK : error_set(e, ST_NOMEM, "out of memory");
}

static enum status line_grow(struct net_sse *s, const char *p, size_t n, size_t max,
	struct error *e)
{
	/* "data: " and a byte order mark may stand before the largest event. */
	size_t limit = max < SIZE_MAX - 16 ? max + 16 : SIZE_MAX;

	if (n > limit - (s->line.len < limit ? s->line.len : limit))
		return error_set(e, ST_TOO_LARGE, "an event of the stream is too large");
	strbuf_add(&s->line, p, n);
	return strbuf_ok(&s->line) ? ST_OK : error_set(e, ST_NOMEM, "out of memory");
}

enum status net_sse_feed(struct net_sse *s, struct bytes piece, size_t max,
	bool (*event)(void *arg, struct bytes data), void *arg, struct error *e)
{
	const char *p = piece.data, *end = p + piece.len;
	bool go_on = true;
	enum status st = ST_OK;

	while (p < end && go_on && !st) {
		const char *start = p;
		if (s->skip_lf && *p == '\n')
			start = ++p;
		s->skip_lf = false;
		while (p < end && *p != '\r' && *p != '\n')
			p++;
		st = line_grow(s, start, (size_t)(p - start), max, e);
		if (st || p == end)
			break;
		s->skip_lf = *p++ == '\r';
		st = line_end(s, max, event, arg, &go_on, e);
	}
	return st || go_on ? st : error_set(e, ST_CANCELLED, "the stream is not wanted any more");
}
