/*
 * rpc/json.c: the bounded reader. The scan understands just enough JSON to count
 * and to know which object it is in; whether the text is JSON at all is Jansson's
 * to say, and what the scan found in text that Jansson then refuses is never used.
 */
#include "rpc/json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "util/strbuf.h"

/* Keys that matter, and only on their own level of a message. */
enum key { KEY_OTHER, KEY_ID, KEY_PARAMS, KEY_NONCE, KEY_META, KEY_TOKEN, KEY_DEADLINE };

static const struct {
	const char *name;
	enum key key;
} known_keys[] = {
	{ "id", KEY_ID },
	{ "params", KEY_PARAMS },
	{ "nonce", KEY_NONCE },
	{ "_meta", KEY_META },
	{ "progressToken", KEY_TOKEN },
	{ "deadlineMs", KEY_DEADLINE },
};

#define LEVELS 4 /* of a message: 1 itself, 2 params, 3 _meta */

struct scan {
	const char *p, *end;
	const struct json_bounds *bounds;
	struct json_scan *out;
	size_t depth, values;
	size_t member;       /* of a batch: commas seen at depth 1 */
	size_t base;         /* depth of a message's own object, less 1: 0, or 1 in a batch */
	enum key at[LEVELS]; /* the last key seen on each level */
};

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static const char *skip_space(const char *p, const char *end)
{
	while (p < end && is_space(*p))
		p++;
	return p;
}

/* p at the opening quote; returns behind the closing one, or end. */
static const char *skip_string(const char *p, const char *end)
{
	for (p++; p < end; p++) {
		if (*p == '\\')
			p++;
		else if (*p == '"')
			return p + 1;
	}
	return end;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 32);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* One character of a key, written plainly or as \u00XX; 0 when it is neither. */
static char key_char(const char **p, const char *end)
{
	int high, low;

	if (*p == end)
		return 0;
	if (**p != '\\')
		return *(*p)++;
	if (end - *p < 6 || memcmp(*p + 1, "u00", 3) != 0)
		return 0;
	high = hex_digit((*p)[4]);
	low = hex_digit((*p)[5]);
	if (high < 0 || low < 0)
		return 0;
	*p += 6;
	return (char)(high * 16 + low);
}

static bool key_is(const char *p, const char *end, const char *name)
{
	for (; *name; name++)
		if (key_char(&p, end) != *name)
			return false;
	return p == end;
}

static enum key key_find(const char *p, const char *end)
{
	for (size_t i = 0; i < sizeof(known_keys) / sizeof(known_keys[0]); i++)
		if (key_is(p, end, known_keys[i].name))
			return known_keys[i].key;
	return KEY_OTHER;
}

/* Where the value of this key is kept, if it stands where a message has it. */
static struct bytes *span_of(const struct scan *s, enum key key, size_t level)
{
	struct json_spans *spans = &s->out->spans[s->member];
	bool in_meta = level == 3 && s->at[1] == KEY_PARAMS && s->at[2] == KEY_META;

	if (key == KEY_ID && level == 1)
		return &spans->id;
	if (key == KEY_NONCE && level == 2 && s->at[1] == KEY_PARAMS)
		return &spans->nonce;
	if (key == KEY_TOKEN && in_meta)
		return &spans->token;
	return key == KEY_DEADLINE && in_meta ? &spans->deadline : NULL;
}

/* The scalar at p, if it is a string or a number. */
static struct bytes scalar_at(const char *p, const char *end)
{
	const char *stop = p;

	if (p == end || !strchr("\"-0123456789", *p) || !*p)
		return BYTES_NONE;
	if (*p == '"')
		stop = skip_string(p, end);
	else
		while (stop < end && *stop && !is_space(*stop) && !strchr(",}]", *stop))
			stop++;
	return (struct bytes){ p, (size_t)(stop - p) };
}

/* A key was read; its value begins at p. */
static void scan_key(struct scan *s, const char *start, const char *stop, const char *p)
{
	size_t level = s->depth - s->base;
	struct bytes *span;
	enum key key;

	if (s->depth <= s->base || level >= LEVELS || s->member >= s->out->cap)
		return;
	key = key_find(start, stop);
	s->at[level] = key;
	span = span_of(s, key, level);
	if (span)
		*span = scalar_at(p, s->end);
}

static enum rpc_code scan_string(struct scan *s, struct rpc_error *err)
{
	const char *start = s->p;
	const char *after;

	s->p = skip_string(start, s->end);
	if ((size_t)(s->p - start) > s->bounds->max_string + 2)
		return rpc_error_set(err, RPC_TOO_LARGE, "a string is longer than %zu bytes",
			s->bounds->max_string);
	after = skip_space(s->p, s->end);
	if (after < s->end && *after == ':')
		scan_key(s, start + 1, s->p - 1, skip_space(after + 1, s->end));
	return RPC_OK;
}

static enum rpc_code scan_open(struct scan *s, struct rpc_error *err)
{
	if (++s->depth > s->bounds->max_depth)
		return rpc_error_set(err, RPC_PARSE, "nested deeper than %zu levels",
			s->bounds->max_depth);
	if (s->depth > s->base && s->depth - s->base < LEVELS)
		s->at[s->depth - s->base] = KEY_OTHER;
	return RPC_OK;
}

static enum rpc_code scan_comma(struct scan *s, struct rpc_error *err)
{
	if (s->depth != 1 || !s->out->batch || ++s->member < s->bounds->max_batch)
		return RPC_OK;
	s->out->batch_excess = true;
	return rpc_error_set(err, RPC_TOO_LARGE, "a batch may have at most %zu members",
		s->bounds->max_batch);
}

static enum rpc_code scan_step(struct scan *s, struct rpc_error *err)
{
	enum rpc_code rc = RPC_OK;
	char c = *s->p;

	if (c == '"')
		return scan_string(s, err);
	if (c == '{' || c == '[')
		rc = scan_open(s, err);
	else if ((c == '}' || c == ']') && s->depth)
		s->depth--;
	else if (c == ',')
		rc = scan_comma(s, err);
	if ((c == '{' || c == '[' || c == ',') && !rc && ++s->values > s->bounds->max_values)
		rc = rpc_error_set(err, RPC_TOO_LARGE, "more than %zu members and elements",
			s->bounds->max_values);
	s->p++;
	return rc;
}

enum rpc_code json_scan(const char *text, size_t len, const struct json_bounds *bounds,
	struct json_scan *ret, struct rpc_error *err)
{
	struct scan s = { .p = text, .end = text + len, .bounds = bounds, .out = ret };
	enum rpc_code rc = RPC_OK;

	if (len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
		return rpc_error_set(err, RPC_PARSE, "not JSON: it starts with a byte order mark");
	s.p = skip_space(s.p, s.end);
	ret->batch = s.p < s.end && *s.p == '[';
	ret->batch_excess = false;
	s.base = ret->batch ? 1 : 0;
	while (s.p < s.end && !rc)
		rc = scan_step(&s, err);
	return rc;
}

/* ---- parsing ---- */

static bool beyond_64_bits(const char *p, size_t n)
{
	char text[24];

	if (n >= sizeof(text))
		return true;
	memcpy(text, p, n);
	text[n] = '\0';
	errno = 0;
	(void)strtoll(text, NULL, 10);
	return errno == ERANGE;
}

/*
 * Copies the text with "e0" behind each integer that Jansson cannot hold, which
 * makes it a real. Only texts that failed for such a number come here.
 */
static void soften_integers(const char *p, const char *end, struct strbuf *out)
{
	while (p < end) {
		const char *start = p;
		bool integer;

		if (*p == '"') {
			p = skip_string(p, end);
			strbuf_add(out, start, (size_t)(p - start));
			continue;
		}
		if (*p != '-' && (*p < '0' || *p > '9')) {
			strbuf_addc(out, *p++);
			continue;
		}
		p++;
		while (p < end && *p >= '0' && *p <= '9')
			p++;
		integer = p == end || (*p != '.' && *p != 'e' && *p != 'E');
		strbuf_add(out, start, (size_t)(p - start));
		if (integer && beyond_64_bits(start, (size_t)(p - start)))
			strbuf_adds(out, "e0");
		/* The rest of a real is not another number. */
		while (!integer && p < end && *p && strchr("0123456789.eE+-", *p))
			strbuf_addc(out, *p++);
	}
}

#define LOAD_FLAGS (JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_ANY)

static json_t *load_softened(const char *text, size_t len, json_error_t *je)
{
	struct strbuf soft = STRBUF_INIT;
	json_t *root = NULL;

	soften_integers(text, text + len, &soft);
	if (strbuf_ok(&soft))
		root = json_loadb(soft.data, soft.len, LOAD_FLAGS, je);
	strbuf_release(&soft);
	return root;
}

enum rpc_code json_parse(const char *text, size_t len, json_t **ret, struct rpc_error *err)
{
	json_error_t je;
	json_t *root = json_loadb(text, len, LOAD_FLAGS, &je);

	if (!root && json_error_code(&je) == json_error_numeric_overflow)
		root = load_softened(text, len, &je);
	if (!root && json_error_code(&je) == json_error_out_of_memory)
		return rpc_error_set(err, RPC_UNAVAILABLE, "out of memory");
	if (!root)
		return rpc_error_set(err, RPC_PARSE, "not JSON: %s (line %d, column %d)", je.text,
			je.line, je.column);
	*ret = root;
	return RPC_OK;
}
