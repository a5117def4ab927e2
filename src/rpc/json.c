/*
 * rpc/json.c: the bounded reader. The scan understands just enough JSON to count;
 * whether the text is JSON at all is Jansson's to say, and what the scan found in
 * text that Jansson then refuses is never used.
 */
#include "rpc/json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct scan {
	const char *p, *end;
	const struct json_bounds *bounds;
	struct json_ids *ids;
	size_t depth, keys;
	size_t member;   /* of a batch: commas seen at depth 1 */
	size_t id_depth; /* depth at which "id" is a message's: 1, or 2 in a batch */
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

/* One character of a key, written plainly or as \u00XX; 0 when it is neither. */
static char key_char(const char **p, const char *end)
{
	static const char hex[] = "0123456789abcdef";
	int v = 0;

	if (*p == end)
		return 0;
	if (**p != '\\')
		return *(*p)++;
	if (end - *p < 6 || (*p)[1] != 'u' || (*p)[2] != '0' || (*p)[3] != '0')
		return 0;
	for (int i = 4; i < 6; i++) {
		char c = (*p)[i];
		const char *at = c ? strchr(hex, c >= 'A' && c <= 'F' ? c + 32 : c) : NULL;

		if (!at)
			return 0;
		v = v * 16 + (int)(at - hex);
	}
	*p += 6;
	return (char)v;
}

static bool key_is_id(const char *p, const char *end)
{
	return key_char(&p, end) == 'i' && key_char(&p, end) == 'd' && p == end;
}

/* Remembers the scalar at p as the id of the current member. */
static void keep_id(struct scan *s, const char *p)
{
	const char *stop = p;

	if (s->member >= s->ids->cap || p == s->end)
		return;
	if (*p == '"')
		stop = skip_string(p, s->end);
	else
		while (stop < s->end && !is_space(*stop) && !strchr(",}]", *stop))
			stop++;
	s->ids->v[s->member] = (struct bytes){ p, (size_t)(stop - p) };
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
	if (after == s->end || *after != ':')
		return RPC_OK;
	if (++s->keys > s->bounds->max_keys)
		return rpc_error_set(err, RPC_TOO_LARGE, "more than %zu object members",
			s->bounds->max_keys);
	if (s->depth == s->id_depth && key_is_id(start + 1, s->p - 1))
		keep_id(s, skip_space(after + 1, s->end));
	return RPC_OK;
}

static enum rpc_code scan_all(struct scan *s, struct rpc_error *err)
{
	enum rpc_code rc;

	while (s->p < s->end) {
		switch (*s->p) {
		case '"':
			rc = scan_string(s, err);
			if (rc)
				return rc;
			continue;
		case '{':
		case '[':
			if (++s->depth > s->bounds->max_depth)
				return rpc_error_set(err, RPC_PARSE,
					"nested deeper than %zu levels", s->bounds->max_depth);
			break;
		case '}':
		case ']':
			if (s->depth)
				s->depth--;
			break;
		case ',':
			if (s->depth == 1 && s->id_depth == 2)
				s->member++;
			break;
		default:
			break;
		}
		s->p++;
	}
	return RPC_OK;
}

/* An integer that 64 bits do not hold. */
static bool beyond_64_bits(struct bytes number)
{
	char text[24];

	if (number.len == 0 || *number.data == '"' || memchr(number.data, '.', number.len) ||
		memchr(number.data, 'e', number.len) || memchr(number.data, 'E', number.len))
		return false;
	if (number.len >= sizeof(text))
		return true;
	memcpy(text, number.data, number.len);
	text[number.len] = '\0';
	errno = 0;
	(void)strtoll(text, NULL, 10);
	return errno == ERANGE;
}

/* D19: an id is echoed exactly or its message refused, never rounded. */
static bool ids_fit(const struct json_ids *ids)
{
	for (size_t i = 0; i < ids->cap; i++)
		if (beyond_64_bits(ids->v[i]))
			return false;
	return true;
}

static enum rpc_code load(const char *text, size_t len, struct json_doc *ret, struct rpc_error *err)
{
	const size_t flags = JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_ANY;
	json_error_t je;
	json_t *root = json_loadb(text, len, flags, &je);
	bool lossy = false;

	if (!root && json_error_code(&je) == json_error_numeric_overflow) {
		/* Only so far that the id can be echoed and the field be named. */
		lossy = true;
		root = json_loadb(text, len, flags | JSON_DECODE_INT_AS_REAL, &je);
	}
	if (!root && json_error_code(&je) == json_error_out_of_memory)
		return rpc_error_set(err, RPC_UNAVAILABLE, "out of memory");
	if (!root)
		return rpc_error_set(err, RPC_PARSE, "not JSON: %s (line %d, column %d)", je.text,
			je.line, je.column);
	ret->root = root;
	ret->lossy = lossy;
	return RPC_OK;
}

enum rpc_code json_read(const char *text, size_t len, const struct json_bounds *bounds,
	struct json_ids *ids, struct json_doc *ret, struct rpc_error *err)
{
	struct scan s = { .p = text, .end = text + len, .bounds = bounds, .ids = ids };
	enum rpc_code rc;

	if (len >= 3 && memcmp(text, "\xEF\xBB\xBF", 3) == 0)
		return rpc_error_set(err, RPC_PARSE, "not JSON: it starts with a byte order mark");
	s.p = skip_space(s.p, s.end);
	s.id_depth = s.p < s.end && *s.p == '[' ? 2 : 1;
	rc = scan_all(&s, err);
	if (!rc)
		rc = load(text, len, ret, err);
	if (!rc && ret->lossy && !ids_fit(ids)) {
		json_decref(ret->root);
		ret->root = NULL;
		return rpc_error_set(err, RPC_PARSE, "an id does not fit 64 bits");
	}
	return rc;
}
