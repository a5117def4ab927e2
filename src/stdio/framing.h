/*
 * stdio/framing.h: bytes into lines. Pure: no descriptors, no protocol, so that
 * tests and fuzzers can feed it any cut of any input.
 */
#ifndef RCPD_STDIO_FRAMING_H
#define RCPD_STDIO_FRAMING_H

#include <stdbool.h>
#include <stddef.h>

#include "util/strbuf.h"

enum line_event {
	LINE_NONE,     /* all input is used up, no line is complete */
	LINE_MESSAGE,  /* a line that is not blank */
	LINE_TOO_LONG, /* a line passed the limit; the rest of it is dropped */
	LINE_NOMEM,    /* a line could not be held; the rest of it is dropped */
};

struct line_splitter {
	struct strbuf line; /* what there is of the line so far, at most max + 1 bytes */
	size_t max;         /* bytes of a line, its end not counted */
	bool skipping;      /* inside a line that is dropped */
};

void line_splitter_init(struct line_splitter *ls, size_t max);
void line_splitter_release(struct line_splitter *ls);
/*
 * Takes bytes from *p (of *n) up to the end of the next line that matters and
 * advances both; call it again until LINE_NONE. On LINE_MESSAGE the line, without
 * its "\n" or "\r\n", is moved to *ret_line, an inited buffer that the caller
 * releases or hands on.
 */
enum line_event line_splitter_feed(struct line_splitter *ls, const char **p, size_t *n,
	struct strbuf *ret_line);
/* At the end of input: the last line where it had no newline. */
enum line_event line_splitter_finish(struct line_splitter *ls, struct strbuf *ret_line);

#endif
