/*
 * rpc/writer.c: see writer.h. Escapes what RFC 8259 says must be escaped, and DEL
 * and U+2028/2029 not at all: the output is UTF-8 for programs.
 */
#include "rpc/writer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/utf8.h"

void json_writer_init(struct json_writer *w, struct strbuf *out)
{
	w->out = out;
	w->depth = 0;
	w->need_comma = false;
	w->bad = false;
}

bool json_writer_ok(const struct json_writer *w)
{
	return !w->bad && w->depth == 0 && strbuf_ok(w->out);
}

static void before_value(struct json_writer *w)
{
	if (w->need_comma)
		strbuf_addc(w->out, ',');
	w->need_comma = true;
}

static void open_with(struct json_writer *w, char open, char close)
{
	if (w->depth == JSON_WRITER_MAX_DEPTH) {
		w->bad = true;
		return;
	}
	before_value(w);
	strbuf_addc(w->out, open);
	w->closers[w->depth++] = close;
	w->need_comma = false;
}

void jw_object(struct json_writer *w)
{
	open_with(w, '{', '}');
}

void jw_array(struct json_writer *w)
{
	open_with(w, '[', ']');
}

void jw_end(struct json_writer *w)
{
	if (w->depth == 0) {
		w->bad = true;
		return;
	}
	strbuf_addc(w->out, w->closers[--w->depth]);
	w->need_comma = true;
}

/* Length of the run at p that needs no escape and is plain ASCII or checked UTF-8. */
static size_t plain_run(const char *p, size_t n)
{
	size_t i = 0;

	while (i < n) {
		unsigned char c = (unsigned char)p[i];

		if (c < 0x20 || c == '"' || c == '\\')
			break;
		if (c >= 0x80) {
			size_t len;

			if (utf8_decode(p + i, n - i, &len) == 0xFFFD && len == 1)
				break;
			i += len;
		} else {
			i++;
		}
	}
	return i;
}

static void add_escape(struct strbuf *out, unsigned char c)
{
	static const char shorts[] = "btn\0fr"; /* 0x08..0x0D; 0x0B has none */

	if (c >= 0x80) {
		strbuf_adds(out, "\xEF\xBF\xBD"); /* U+FFFD for a byte that is not UTF-8 */
	} else if (c == '"' || c == '\\') {
		strbuf_addc(out, '\\');
		strbuf_addc(out, (char)c);
	} else if (c >= 8 && c <= 13 && shorts[c - 8]) {
		strbuf_addc(out, '\\');
		strbuf_addc(out, shorts[c - 8]);
	} else {
		strbuf_addf(out, "\\u%04x", c);
	}
}

void json_quote(struct strbuf *out, const char *s, size_t len)
{
	strbuf_grow(out, len + 2);
	strbuf_addc(out, '"');
	while (len) {
		size_t run = plain_run(s, len);

		strbuf_add(out, s, run);
		s += run;
		len -= run;
		if (len) {
			add_escape(out, (unsigned char)*s);
			s++;
			len--;
		}
	}
	strbuf_addc(out, '"');
}

void jw_key_bytes(struct json_writer *w, struct bytes key)
{
	if (w->depth == 0 || w->closers[w->depth - 1] != '}')
		w->bad = true;
	before_value(w);
	json_quote(w->out, key.data, key.len);
	strbuf_addc(w->out, ':');
	w->need_comma = false;
}

void jw_key(struct json_writer *w, const char *key)
{
	jw_key_bytes(w, bytes_of(key));
}

void jw_bytes(struct json_writer *w, struct bytes b)
{
	if (!b.data) {
		jw_null(w);
		return;
	}
	before_value(w);
	json_quote(w->out, b.data, b.len);
}

void jw_string(struct json_writer *w, const char *s)
{
	jw_bytes(w, bytes_of(s));
}

void jw_int(struct json_writer *w, int64_t v)
{
	before_value(w);
	if (v < 0)
		strbuf_addc(w->out, '-');
	strbuf_addu(w->out, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

/*
 * The fewest of 15 to 17 digits that read back the same (IEEE 754: 17 always do).
 * A value without fraction gets ".0", so that it stays a float for its reader.
 */
void jw_real(struct json_writer *w, double v)
{
	char num[40];

	if (!isfinite(v)) {
		w->bad = true;
		return;
	}
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(num, sizeof(num), "%.*g", digits, v);
		if (strtod(num, NULL) == v)
			break;
	}
	before_value(w);
	strbuf_adds(w->out, num);
	if (!strpbrk(num, ".e"))
		strbuf_adds(w->out, ".0");
}

void jw_bool(struct json_writer *w, bool v)
{
	jw_raw(w, v ? "true" : "false", v ? 4 : 5);
}

void jw_null(struct json_writer *w)
{
	jw_raw(w, "null", 4);
}

void jw_raw(struct json_writer *w, const char *json, size_t len)
{
	before_value(w);
	strbuf_add(w->out, json, len);
}

/* Recursion is bounded: incoming JSON by rpc_limits.max_depth, output by MAX_DEPTH. */
static void json_value(struct json_writer *w, const json_t *v) /* NOLINT(misc-no-recursion) */
{
	const char *key;
	size_t key_len;
	json_t *member;
	size_t i;

	switch (json_typeof(v)) {
	case JSON_OBJECT:
		jw_object(w);
		for (void *it = json_object_iter((json_t *)(uintptr_t)v); it && !w->bad;
			it = json_object_iter_next((json_t *)(uintptr_t)v, it)) {
			key = json_object_iter_key(it);
			key_len = strlen(key); /* keys hold no NUL: Jansson refuses them */
			before_value(w);
			json_quote(w->out, key, key_len);
			strbuf_addc(w->out, ':');
			w->need_comma = false;
			json_value(w, json_object_iter_value(it));
		}
		jw_end(w);
		break;
	case JSON_ARRAY:
		jw_array(w);
		json_array_foreach((json_t *)(uintptr_t)v, i, member)
		{
			if (w->bad)
				break;
			json_value(w, member);
		}
		jw_end(w);
		break;
	case JSON_STRING:
		jw_bytes(w, (struct bytes){ json_string_value(v), json_string_length(v) });
		break;
	case JSON_INTEGER:
		jw_int(w, json_integer_value(v));
		break;
	case JSON_REAL:
		jw_real(w, json_real_value(v));
		break;
	case JSON_TRUE:
		jw_bool(w, true);
		break;
	case JSON_FALSE:
		jw_bool(w, false);
		break;
	case JSON_NULL:
		jw_null(w);
		break;
	}
}

void jw_json(struct json_writer *w, const json_t *v)
{
	json_value(w, v);
}

void jw_kv_string(struct json_writer *w, const char *key, const char *s)
{
	jw_key(w, key);
	jw_string(w, s);
}

void jw_kv_bytes(struct json_writer *w, const char *key, struct bytes b)
{
	jw_key(w, key);
	jw_bytes(w, b);
}

void jw_kv_bytes_opt(struct json_writer *w, const char *key, struct bytes b)
{
	if (b.data)
		jw_kv_bytes(w, key, b);
}

void jw_kv_int(struct json_writer *w, const char *key, int64_t v)
{
	jw_key(w, key);
	jw_int(w, v);
}

void jw_kv_real(struct json_writer *w, const char *key, double v)
{
	jw_key(w, key);
	jw_real(w, v);
}

void jw_kv_bool(struct json_writer *w, const char *key, bool v)
{
	jw_key(w, key);
	jw_bool(w, v);
}
