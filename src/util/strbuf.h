/*
 * strbuf.h: a growing byte string.
 *
 * data is NUL-terminated whenever it is not NULL (the NUL is not counted), may
 * hold NUL bytes, and moves when it grows. A failed allocation or a passed limit
 * makes the buffer sticky-failed: later appends do nothing, so that a writer
 * checks strbuf_ok once at its end instead of after each call.
 */
#ifndef RCPD_UTIL_STRBUF_H
#define RCPD_UTIL_STRBUF_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/status.h"

struct strbuf {
	char *data;
	size_t len;
	size_t cap;
	size_t max;  /* largest length allowed; 0: none */
	bool failed; /* an append was lost */
};

#define STRBUF_INIT                                                                                \
	{                                                                                          \
		NULL, 0, 0, 0, false                                                               \
	}

void strbuf_init(struct strbuf *sb);
void strbuf_release(struct strbuf *sb); /* frees, and inits again */
void strbuf_reset(struct strbuf *sb);   /* keeps the memory, forgets content and failure */
bool strbuf_ok(const struct strbuf *sb);
/* Makes room for `extra` more bytes; false (and failed) if that cannot be. */
bool strbuf_grow(struct strbuf *sb, size_t extra);
void strbuf_add(struct strbuf *sb, const void *p, size_t n);
void strbuf_adds(struct strbuf *sb, const char *s);
void strbuf_addc(struct strbuf *sb, char c);
void strbuf_addf(struct strbuf *sb, const char *fmt, ...) RCPD_PRINTF(2, 3);
void strbuf_vaddf(struct strbuf *sb, const char *fmt, va_list ap) RCPD_PRINTF(2, 0);
void strbuf_addu(struct strbuf *sb, uint64_t v); /* decimal */
/* Hands the memory to the caller (mem_free it) and inits sb; NULL if empty or failed. */
char *strbuf_detach(struct strbuf *sb, size_t *ret_len);

#endif
