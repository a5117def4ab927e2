/*
 * log.c: one line an event, formatted into a bounded buffer and written with a
 * single write(2), so that lines of several threads never mix. Values are
 * escaped: nothing a client sends can forge a line or move a terminal's cursor.
 */
#include "util/log.h"

#include <inttypes.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/clock.h"
#include "util/utf8.h"

#define LINE_MAX_BYTES 4096

static _Atomic int threshold = LOG_INFO;
static _Atomic int chosen_format = LOG_FORMAT_TEXT;
static _Atomic bool colours;

static const char *const level_names[] = { "debug", "info", "notice", "warning", "error", "off" };
static const char *const level_colours[] = { "\033[2m", "", "\033[36m", "\033[33m", "\033[31m" };
/* syslog priorities for the journal: debug 7, info 6, notice 5, warning 4, error 3 */
static const int priorities[] = { 7, 6, 5, 4, 3 };

struct line {
	char text[LINE_MAX_BYTES];
	size_t len;
};

/* Appends; what does not fit is cut (two bytes are kept for the line's end). */
static void put(struct line *l, const char *s, size_t n)
{
	size_t room = sizeof(l->text) - 2 - l->len;

	if (n > room)
		n = room;
	memcpy(l->text + l->len, s, n);
	l->len += n;
}

static void puts_line(struct line *l, const char *s)
{
	put(l, s, strlen(s));
}

/* A string value as the inside of a JSON string; also fit for a terminal. */
static void put_escaped(struct line *l, const char *s)
{
	size_t n = strlen(s);

	while (n) {
		size_t len;
		uint32_t cp = utf8_decode(s, n, &len);
		char esc[16];

		if (cp == '"' || cp == '\\') {
			esc[0] = '\\';
			esc[1] = (char)cp;
			put(l, esc, 2);
		} else if (cp < 0x20 || (cp >= 0x7F && cp < 0xA0) || (cp == 0xFFFD && len == 1)) {
			snprintf(esc, sizeof(esc), "\\u%04x", (unsigned)cp);
			puts_line(l, esc);
		} else {
			put(l, s, len);
		}
		s += len;
		n -= len;
	}
}

static void put_value(struct line *l, const struct log_field *f, bool quote)
{
	char num[40];

	switch (f->kind) {
	case LOG_F_STR:
		if (!f->s) {
			puts_line(l, "null");
			return;
		}
		if (quote || strpbrk(f->s, " \"=\\\t\n") || !*f->s) {
			put(l, "\"", 1);
			put_escaped(l, f->s);
			put(l, "\"", 1);
		} else {
			put_escaped(l, f->s);
		}
		return;
	case LOG_F_U64:
		snprintf(num, sizeof(num), "%" PRIu64, f->u);
		break;
	case LOG_F_I64:
		snprintf(num, sizeof(num), "%" PRId64, f->i);
		break;
	case LOG_F_F64:
		if (isfinite(f->f))
			snprintf(num, sizeof(num), "%.6g", f->f);
		else
			snprintf(num, sizeof(num), "null");
		break;
	case LOG_F_BOOL:
		snprintf(num, sizeof(num), "%s", f->b ? "true" : "false");
		break;
	default:
		return;
	}
	puts_line(l, num);
}

static void format_json(struct line *l, enum log_level level, const char *message,
	const struct log_field *f)
{
	char when[32];

	clock_rfc3339(clock_wall_ms(), when, sizeof(when));
	puts_line(l, "{\"time\":\"");
	puts_line(l, when);
	puts_line(l, "\",\"level\":\"");
	puts_line(l, level_names[level]);
	puts_line(l, "\",\"message\":\"");
	put_escaped(l, message);
	puts_line(l, "\"");
	for (; f->key; f++) {
		size_t before = l->len;

		puts_line(l, ",\"");
		put_escaped(l, f->key);
		puts_line(l, "\":");
		put_value(l, f, true);
		/* A field that does not fit whole is left out, so that the line parses. */
		if (l->len >= sizeof(l->text) - 4) {
			l->len = before;
			break;
		}
	}
	put(l, "}", 1);
}

static void format_text(struct line *l, enum log_level level, const char *message,
	const struct log_field *f, bool journal)
{
	char head[48];
	bool colour = !journal && atomic_load(&colours);

	if (journal) {
		snprintf(head, sizeof(head), "<%d>", priorities[level]);
		puts_line(l, head);
	} else {
		clock_rfc3339(clock_wall_ms(), head, sizeof(head));
		puts_line(l, head);
		puts_line(l, colour ? level_colours[level] : "");
		snprintf(head, sizeof(head), " %-7s ", level_names[level]);
		puts_line(l, head);
		puts_line(l, colour && *level_colours[level] ? "\033[0m" : "");
	}
	put_escaped(l, message);
	for (; f->key; f++) {
		put(l, " ", 1);
		puts_line(l, f->key);
		put(l, "=", 1);
		put_value(l, f, false);
	}
}

/* Under systemd, JOURNAL_STREAM names the device and inode of our stderr. */
static bool stderr_is_journal(void)
{
	const char *env = getenv("JOURNAL_STREAM");
	char mine[64];
	struct stat st;

	if (!env || fstat(STDERR_FILENO, &st))
		return false;
	snprintf(mine, sizeof(mine), "%ju:%ju", (uintmax_t)st.st_dev, (uintmax_t)st.st_ino);
	return strcmp(env, mine) == 0;
}

void log_setup(enum log_format format, enum log_level level)
{
	bool tty = isatty(STDERR_FILENO);
	const char *no_color = getenv("NO_COLOR");

	if (format == LOG_FORMAT_AUTO)
		format = stderr_is_journal() ? LOG_FORMAT_JOURNAL
			: tty                ? LOG_FORMAT_TEXT
					     : LOG_FORMAT_JSON;
	atomic_store(&chosen_format, (int)format);
	atomic_store(&colours, tty && !(no_color && *no_color));
	log_set_level(level);
}

void log_set_level(enum log_level level)
{
	atomic_store(&threshold, (int)level);
}

bool log_enabled(enum log_level level)
{
	return level < LOG_OFF &&
		(int)level >= atomic_load_explicit(&threshold, memory_order_relaxed);
}

int log_level_parse(const char *name)
{
	for (int i = LOG_DEBUG; i <= LOG_OFF; i++)
		if (strcmp(name, level_names[i]) == 0)
			return i;
	return -1;
}

const char *log_level_name(enum log_level level)
{
	return level_names[level];
}

void log_fields(enum log_level level, const char *message, const struct log_field *fields)
{
	struct line l = { .len = 0 };
	int format = atomic_load(&chosen_format);
	ssize_t wrote;

	if (level >= LOG_OFF)
		return;
	if (format == LOG_FORMAT_JSON)
		format_json(&l, level, message, fields);
	else
		format_text(&l, level, message, fields, format == LOG_FORMAT_JOURNAL);
	l.text[l.len++] = '\n';
	/* A log that cannot be written has nowhere to be reported. */
	wrote = write(STDERR_FILENO, l.text, l.len);
	(void)wrote;
}
