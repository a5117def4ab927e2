/*
 * log.h: what the server tells its operator.
 *
 * One event per call: a level, a short constant message and typed fields.
 *
 *   log_event(LOG_INFO, "document added", LOG_U("count", n), LOG_S("id", s));
 *
 * On a terminal it prints text (colours unless NO_COLOR), under journald a line
 * with a "<N>" priority prefix and key=value fields, otherwise one JSON object a
 * line. Query and document text never go in (O2); ids and counts may. Libraries
 * below server/ return errors instead of logging; those that run on their own
 * (I/O threads, background work) log once. Thread-safe; one write(2) a line.
 */
#ifndef RCPD_UTIL_LOG_H
#define RCPD_UTIL_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum log_level { LOG_DEBUG, LOG_INFO, LOG_NOTICE, LOG_WARNING, LOG_ERROR, LOG_OFF };
enum log_format { LOG_FORMAT_AUTO, LOG_FORMAT_TEXT, LOG_FORMAT_JSON, LOG_FORMAT_JOURNAL };

struct log_field {
	const char *key; /* NULL ends the list */
	enum { LOG_F_STR, LOG_F_U64, LOG_F_I64, LOG_F_F64, LOG_F_BOOL } kind;
	union {
		const char *s; /* NULL prints as null */
		uint64_t u;
		int64_t i;
		double f;
		bool b;
	};
};

#define LOG_S(k, v) ((struct log_field){ .key = (k), .kind = LOG_F_STR, .s = (v) })
#define LOG_U(k, v) ((struct log_field){ .key = (k), .kind = LOG_F_U64, .u = (v) })
#define LOG_I(k, v) ((struct log_field){ .key = (k), .kind = LOG_F_I64, .i = (v) })
#define LOG_F(k, v) ((struct log_field){ .key = (k), .kind = LOG_F_F64, .f = (v) })
#define LOG_B(k, v) ((struct log_field){ .key = (k), .kind = LOG_F_BOOL, .b = (v) })

/* Set before threads start; level may be changed at any time (SIGHUP). */
void log_setup(enum log_format format, enum log_level level);
void log_set_level(enum log_level level);
bool log_enabled(enum log_level level);
/* Returns the level named (debug info notice warning error off), or -1. */
int log_level_parse(const char *name);
const char *log_level_name(enum log_level level);
void log_fields(enum log_level level, const char *message, const struct log_field *fields);

#define log_event(level, ...)                                                                      \
	do {                                                                                       \
		if (log_enabled(level))                                                            \
			log_event_(level, __VA_ARGS__, (struct log_field){ .key = NULL });         \
	} while (0)
#define log_event_(level, message, ...)                                                            \
	log_fields(level, message, (const struct log_field[]){ __VA_ARGS__ })

#endif
