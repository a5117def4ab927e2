/*
 * status.h: what a function that can fail returns, and what it says about it.
 *
 * A function returns ST_OK (0) or a negative `enum status`. Where a person or a
 * client needs to know more, it also fills a `struct error`, owned by the
 * caller, untouched on success. Codes live in this bottom layer so that no
 * folder has to reach upward for them; rpc/error.c maps them to JSON-RPC codes.
 */
#ifndef RCPD_UTIL_STATUS_H
#define RCPD_UTIL_STATUS_H

#include <stddef.h>

#define RCPD_MUST_CHECK __attribute__((warn_unused_result))
#define RCPD_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))

enum status {
	ST_OK = 0,
	ST_INVALID = -1,     /* the input is malformed; error.field names where */
	ST_NOMEM = -2,       /* out of memory; nothing was changed */
	ST_CANCELLED = -3,   /* the caller asked to stop */
	ST_TIMEOUT = -4,     /* a deadline passed */
	ST_UNAVAILABLE = -5, /* a backend cannot answer now; a retry may succeed */
	ST_FULL = -6,        /* no room: disk full or queue full; a retry may succeed */
	ST_NOT_FOUND = -7,
	ST_CONFLICT = -8,  /* the write contradicts what is stored */
	ST_TOO_LARGE = -9, /* above a limit of ours */
	ST_CORRUPT = -10,  /* stored data is damaged */
	ST_FUTURE = -11,   /* stored data was written by a newer version */
	ST_LOCKED = -12,   /* another process holds it */
	ST_IO = -13,       /* the operating system refused; detail has errno's text */
	ST_GONE = -14,     /* was there once, will not come back */
	ST_INTERNAL = -15, /* a bug */
};

/* message is fit for a client, detail for the log only. */
struct error {
	enum status code;
	char field[160];   /* path of the offending parameter, "" when none */
	char message[256]; /* what could not be done and why, no final full stop */
	char detail[256];  /* internals (errno, SQLite text), never sent to clients */
};

/* A short lower-case name such as "not found". Never NULL; static storage. */
const char *status_name(enum status st);

/*
 * Fills *e (may be NULL) with code, no field, and a formatted message; returns
 * code, so that `return error_set(e, ST_IO, "cannot open '%s'", path);` works.
 * error_field also sets the field path; error_detail adds to a filled error.
 * Truncates at the arrays' ends on a UTF-8 boundary. Thread-safe for distinct e.
 */
enum status error_set(struct error *e, enum status code, const char *fmt, ...) RCPD_PRINTF(3, 4);
enum status error_field(struct error *e, enum status code, const char *field, const char *fmt, ...)
	RCPD_PRINTF(4, 5);
void error_detail(struct error *e, const char *fmt, ...) RCPD_PRINTF(2, 3);

/*
 * clang's analyser looks at one file at a time, so it would follow paths on which
 * these return ST_OK. They never do.
 */
#ifdef __clang_analyzer__
#define error_set(e, code, ...) ((void)(error_set)(e, code, __VA_ARGS__), (code))
#define error_field(e, code, ...) ((void)(error_field)(e, code, __VA_ARGS__), (code))
#endif

#endif
