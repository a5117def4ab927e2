/*
 * http/lines.h: whether libmicrohttpd read the header lines as they came.
 *
 * Before 1.0 it parses in place: it writes NULs over the colon and the line's end
 * and keeps pointers. A line that it read differently from how others would read
 * it therefore leaves a gap, or text that stands elsewhere:
 *
 *   HTTP/1.1␀␀ name ␀ blanks value ␀␀ name ␀ blanks value ␀␀ ␀␀
 *            └ first                └ the next name         └ end
 *
 * A folded line, a NUL in a value, an empty name (which ends the section there), a
 * line ended by LF alone: each breaks the row. What stays out of sight is a last
 * line of a colon, or a NUL, and a bare LF, as ":\n" and "\r\n" leave the same
 * bytes.
 */
#ifndef RCPD_HTTP_LINES_H
#define RCPD_HTTP_LINES_H

#include <stdbool.h>

struct lines {
	const char *next; /* where the next name, or the end, must stand */
	bool broken;
};

/* eol: the end of the request line's text. */
void lines_init(struct lines *l, const char *eol);
/* Adds one header; returns the end of value's text. */
const char *lines_add(struct lines *l, const char *name, const char *value);
/* True when all was in place; end: behind the empty line. */
bool lines_finish(const struct lines *l, const char *end);

#endif
