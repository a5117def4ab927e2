/*
 * config/file.c: the INI file, read through libinih (its only user). Our own
 * line reader stands between the file and the library for three reasons: the
 * library does not tell its handler the line number; it cuts a long line in two
 * without a word; and it takes an indented line for more of the value above,
 * which here would only hide a mistake. So lines are counted here, long ones and
 * NUL bytes are refused, and leading blanks are dropped.
 */
#include "config/internal.h"

#include <errno.h>
#include <fcntl.h>
#include <ini.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/mem.h"

#define FILE_MAX ((size_t)1024 * 1024)
#define LINE_MAX_BYTES 4096

struct reader {
	struct config *config;
	struct config_origin *origins;
	unsigned *lines; /* per key: the line that set it, 0 for none */
	struct strbuf text;
	size_t pos;
	unsigned line; /* of what the library works on now */
	char name[96]; /* the file's name in messages */
	struct error *e;
	enum status status; /* of the first fault; nothing is read after it */
};

static void reader_where(const struct reader *r, char *buf, size_t size)
{
	snprintf(buf, size, "%s:%u", r->name, r->line);
}

#define READER_FAIL(r, ...) ((r)->status = error_set((r)->e, ST_INVALID, __VA_ARGS__))

/* Hands the library the next line, as fgets would; NULL at the end. */
static char *reader_next(char *buf, int size, void *arg)
{
	struct reader *r = arg;
	const char *start = r->text.data + r->pos, *nl;
	size_t left = r->text.len - r->pos, len;

	if (r->status != ST_OK || left == 0)
		return NULL;
	r->line++;
	nl = memchr(start, '\n', left);
	len = nl ? (size_t)(nl - start) : left;
	r->pos += len + (nl ? 1 : 0);
	while (len > 0 && (*start == ' ' || *start == '\t')) {
		start++;
		len--;
	}
	if (memchr(start, '\0', len)) {
		READER_FAIL(r, "%s:%u: the line holds a NUL byte", r->name, r->line);
		return NULL;
	}
	if (len + 2 > (size_t)size) {
		READER_FAIL(r, "%s:%u: the line is too long; %d bytes are allowed", r->name,
			r->line, size - 2);
		return NULL;
	}
	memcpy(buf, start, len);
	buf[len] = '\n';
	buf[len + 1] = '\0';
	return buf;
}

static const struct config_key *section_any(const char *section)
{
	for (size_t i = 0; i < config_key_count; i++)
		if (strcmp(config_keys[i].section, section) == 0)
			return &config_keys[i];
	return NULL;
}

/* Says why section and name make no key: which part is wrong, and what is right. */
static void reader_unknown(struct reader *r, const char *section, const char *name)
{
	const struct config_key *key = config_key_find(name);

	if (section[0] != '\0' && !section_any(section))
		READER_FAIL(r,
			"%s:%u: no section is called '%s'; there are server, threads, limits, "
			"timeouts, index, model and log",
			r->name, r->line, section);
	else if (key && section[0] == '\0')
		READER_FAIL(r, "%s:%u: %s stands before any section; it belongs into [%s]", r->name,
			r->line, name, key->section);
	else if (key)
		READER_FAIL(r, "%s:%u: %s does not belong into [%s] but into [%s]", r->name,
			r->line, name, section, key->section);
	else
		READER_FAIL(r, "%s:%u: no key is called '%s'; rcpd.conf(5) lists them", r->name,
			r->line, name);
}

static int reader_pair(void *arg, const char *section, const char *name, const char *value)
{
	struct reader *r = arg;
	const struct config_key *key = config_key_find(name);
	struct config_origin *origin;
	size_t i;

	if (r->status != ST_OK)
		return 0;
	if (!key || strcmp(key->section, section) != 0) {
		reader_unknown(r, section, name);
		return 0;
	}
	i = config_key_index(key);
	if (r->lines[i] != 0) {
		READER_FAIL(r, "%s:%u: %s was set already in line %u", r->name, r->line, name,
			r->lines[i]);
		return 0;
	}
	r->lines[i] = r->line;
	origin = &r->origins[i];
	reader_where(r, origin->where, sizeof(origin->where));
	r->status = config_value_set(r->config, key, value, origin->where, r->e);
	return r->status == ST_OK;
}

/*
 * Only a regular file: a pipe without a writer would hold up whoever opens or reads
 * it, at a reload the thread that takes the signals. O_NONBLOCK is for the open.
 */
static enum status file_open(const char *path, int *ret, struct error *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	struct stat sb;

	if (fd < 0)
		return error_set(e, ST_IO, "cannot open the configuration file '%.150s': %s", path,
			strerror(errno));
	if (fstat(fd, &sb) || !S_ISREG(sb.st_mode)) {
		close(fd);
		return error_set(e, ST_IO,
			"cannot read the configuration file '%.150s': it is not a regular file",
			path);
	}
	*ret = fd;
	return ST_OK;
}

static enum status file_slurp(const char *path, struct strbuf *text, struct error *e)
{
	char buf[8192];
	ssize_t n = 0;
	bool lost = false;
	int fd = -1;
	enum status st = file_open(path, &fd, e);

	if (st)
		return st;
	while (!lost && text->len <= FILE_MAX && (n = read(fd, buf, sizeof(buf))) != 0) {
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			break;
		strbuf_add(text, buf, (size_t)n);
		lost = !strbuf_ok(text);
	}
	if (n < 0)
		error_set(e, ST_IO, "cannot read the configuration file '%.150s': %s", path,
			strerror(errno));
	close(fd);
	if (n < 0)
		return ST_IO;
	if (lost)
		return error_set(e, ST_NOMEM, "out of memory while reading the configuration");
	if (text->len > FILE_MAX)
		return error_set(e, ST_INVALID,
			"the configuration file '%.150s' is larger than 1 MiB", path);
	return ST_OK;
}

/* A long path keeps its end, which tells more, so that the message has room. */
static void name_shorten(const char *path, char *buf, size_t size)
{
	size_t len = strlen(path);

	if (len < size)
		snprintf(buf, size, "%s", path);
	else
		snprintf(buf, size, "...%s", path + len - (size - 4));
}

static enum status reader_parse(struct reader *r)
{
	int bad;

	/*
	 * Settings of the library, process-wide, always set to the same: one
	 * buffer of a fixed size on the heap, so that lists of hosts fit.
	 */
#ifdef RCPD_INIH_RUNTIME
	ini_use_stack = false;
	ini_initial_alloc = LINE_MAX_BYTES;
	ini_max_line = LINE_MAX_BYTES;
#endif
	bad = ini_parse_stream(reader_next, r, reader_pair, r);
	if (bad == -2)
		return error_set(r->e, ST_NOMEM, "out of memory while reading the configuration");
	/* The library tells its first bad line; a line without '=' has no fault of ours. */
	if (bad > 0 && (r->status == ST_OK || (unsigned)bad < r->line))
		return error_set(r->e, ST_INVALID,
			"%s:%d: the line is neither '[section]' nor 'key = value' (such as "
			"'workers = 4') nor a comment, which begins with '#' or ';'",
			r->name, bad);
	return r->status;
}

enum status config_file_read(struct config *c, const char *path, struct config_origin *origins,
	struct error *e)
{
	struct reader r = { .config = c, .origins = origins, .e = e, .text = STRBUF_INIT };
	enum status st;

	r.lines = mem_array(config_key_count, sizeof(*r.lines));
	if (!r.lines)
		return error_set(e, ST_NOMEM, "out of memory while reading the configuration");
	name_shorten(path, r.name, sizeof(r.name));
	st = file_slurp(path, &r.text, e);
	if (st == ST_OK && r.text.len > 0)
		st = reader_parse(&r);
	strbuf_release(&r.text);
	mem_free(r.lines);
	return st;
}
