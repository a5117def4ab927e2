/*
 * lines.c: see lines.h. One pass over what the header checks read anyway; nothing
 * is looked at that does not belong to a NUL-terminated text handed to us, but for
 * the bytes right behind one, and those only while everything was in place so far.
 */
#include "http/lines.h"

#include <string.h>

static const char *line_end(struct lines *l, const char *text_end)
{
	l->broken |= text_end[0] != '\0' || text_end[1] != '\0';
	return text_end + 2;
}

void lines_init(struct lines *l, const char *eol)
{
	l->broken = false;
	l->next = line_end(l, eol);
}

const char *lines_add(struct lines *l, const char *name, const char *value)
{
	const char *p, *end = strchrnul(value, '\r');

	l->broken |= name != l->next || *end != '\0'; /* a CR alone is no line's end */
	if (l->broken)
		return end + strlen(end);
	p = name + strlen(name) + 1;
	p += strspn(p, " \t");
	l->broken = p != value;
	if (!l->broken)
		l->next = line_end(l, end);
	return end;
}

bool lines_finish(const struct lines *l, const char *end)
{
	return !l->broken && l->next[0] == '\0' && l->next[1] == '\0' && l->next + 2 == end;
}
