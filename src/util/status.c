/*
 * status.c: names of status codes and the filling of struct error. Nothing here
 * allocates, so an error can always be told.
 */
#include "util/status.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "util/utf8.h"

const char *status_name(enum status st)
{
	switch (st) {
	case ST_OK:
		return "ok";
	case ST_INVALID:
		return "invalid";
	case ST_NOMEM:
		return "out of memory";
	case ST_CANCELLED:
		return "cancelled";
	case ST_TIMEOUT:
		return "timed out";
	case ST_UNAVAILABLE:
		return "unavailable";
	case ST_FULL:
		return "full";
	case ST_NOT_FOUND:
		return "not found";
	case ST_CONFLICT:
		return "conflict";
	case ST_TOO_LARGE:
		return "too large";
	case ST_CORRUPT:
		return "corrupt";
	case ST_FUTURE:
		return "made by a newer version";
	case ST_LOCKED:
		return "locked";
	case ST_IO:
		return "input/output error";
	case ST_GONE:
		return "gone";
	case ST_INTERNAL:
		return "internal error";
	}
	return "unknown status";
}

/* Formats into a fixed array; a cut text ends on a whole character. */
static void format_into(char *dst, size_t size, const char *fmt, va_list ap) RCPD_PRINTF(3, 0);
static void format_into(char *dst, size_t size, const char *fmt, va_list ap)
{
	int n = vsnprintf(dst, size, fmt, ap);

	if (n < 0)
		dst[0] = '\0';
	else if ((size_t)n >= size)
		dst[utf8_floor(dst, size - 1, size - 1)] = '\0';
}

enum status(error_set)(struct error *e, enum status code, const char *fmt, ...)
{
	va_list ap;

	if (!e)
		return code;
	e->code = code;
	e->field[0] = e->detail[0] = '\0';
	va_start(ap, fmt);
	format_into(e->message, sizeof(e->message), fmt, ap);
	va_end(ap);
	return code;
}

enum status(error_field)(struct error *e, enum status code, const char *field, const char *fmt, ...)
{
	size_t n;
	va_list ap;

	if (!e)
		return code;
	e->code = code;
	e->detail[0] = '\0';
	n = strlen(field);
	if (n >= sizeof(e->field))
		n = utf8_floor(field, n, sizeof(e->field) - 1);
	memcpy(e->field, field, n);
	e->field[n] = '\0';
	va_start(ap, fmt);
	format_into(e->message, sizeof(e->message), fmt, ap);
	va_end(ap);
	return code;
}

void error_detail(struct error *e, const char *fmt, ...)
{
	va_list ap;

	if (!e)
		return;
	va_start(ap, fmt);
	format_into(e->detail, sizeof(e->detail), fmt, ap);
	va_end(ap);
}
