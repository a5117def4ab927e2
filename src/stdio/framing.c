/*
 * stdio/framing.c: splits a stream of bytes into lines (S1). "\n" and "\r\n" end
 * a line; blank lines vanish; a line over the limit is told once, as soon as it
 * passes it, and then skipped to its end without being kept, so that memory stays
 * within the limit however long it is.
 */
#include "stdio/framing.h"

#include <string.h>

void line_splitter_init(struct line_splitter *ls, size_t max)
{
	strbuf_init(&ls->line);
	ls->max = max;
	ls->skipping = false;
}

void line_splitter_release(struct line_splitter *ls)
{
	strbuf_release(&ls->line);
}

/* Adds to the line. One byte over the limit is kept, since it may be the '\r' of
 * a line that just fits. */
static enum line_event line_append(struct line_splitter *ls, const char *p, size_t n)
{
	enum line_event ev = LINE_NONE;

	if (ls->line.len > ls->max || n > ls->max + 1 - ls->line.len)
		ev = n == 0 ? LINE_NONE : LINE_TOO_LONG;
	else
		strbuf_add(&ls->line, p, n);
	if (ev == LINE_NONE && !strbuf_ok(&ls->line))
		ev = LINE_NOMEM;
	if (ev != LINE_NONE)
		strbuf_release(&ls->line);
	return ev;
}

static bool line_blank(const struct strbuf *line)
{
	for (size_t i = 0; i < line->len; i++)
		if (line->data[i] != ' ' && line->data[i] != '\t' && line->data[i] != '\r')
			return false;
	return true;
}

/* The line has ended: hands it over, or finds that it is blank or just too long. */
static enum line_event line_end(struct line_splitter *ls, struct strbuf *ret_line)
{
	struct strbuf *line = &ls->line;

	if (line->len > 0 && line->data[line->len - 1] == '\r')
		line->data[--line->len] = '\0';
	if (line->len > ls->max) {
		strbuf_release(line);
		return LINE_TOO_LONG;
	}
	if (line_blank(line)) {
		strbuf_reset(line);
		return LINE_NONE;
	}
	*ret_line = *line;
	strbuf_init(line);
	return LINE_MESSAGE;
}

enum line_event line_splitter_feed(struct line_splitter *ls, const char **p, size_t *n,
	struct strbuf *ret_line)
{
	while (*n > 0) {
		const char *start = *p, *nl = memchr(start, '\n', *n);
		size_t take = nl ? (size_t)(nl - start) : *n;
		enum line_event ev = LINE_NONE;

		*p += take + (nl ? 1 : 0);
		*n -= take + (nl ? 1 : 0);
		if (!ls->skipping)
			ev = line_append(ls, start, take);
		if (ev != LINE_NONE) {
			ls->skipping = nl == NULL;
			return ev;
		}
		if (nl && ls->skipping)
			ls->skipping = false;
		else if (nl)
			ev = line_end(ls, ret_line);
		if (ev != LINE_NONE)
			return ev;
	}
	return LINE_NONE;
}

enum line_event line_splitter_finish(struct line_splitter *ls, struct strbuf *ret_line)
{
	if (ls->skipping) {
		ls->skipping = false;
		return LINE_NONE;
	}
	return line_end(ls, ret_line);
}
