/*
 * config/fields.c: the value of the key fields, "name:type name:type". It is read
 * twice: by check.c, which wants to say where it is wrong, and by server/ for the
 * engine.
 */
#include "config/config.h"

#include <string.h>

#include "util/mem.h"
#include "util/utf8.h"

static const char *const types[] = { "keyword", "text", "int", "float", "bool", "date" };

static const char *type_find(const char *text, size_t len)
{
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (strlen(types[i]) == len && memcmp(types[i], text, len) == 0)
			return types[i];
	return NULL;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c = (char)(c | 32);
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Decodes len bytes to out, which holds as many and a NUL. -1: a broken escape or one of
 * NUL; else the length. */
static long name_decode(const char *text, size_t len, char *out)
{
	long n = 0;

	for (size_t i = 0; i < len; i++) {
		int high, low;

		if (text[i] != '%') {
			out[n++] = text[i];
			continue;
		}
		high = i + 2 < len ? hex_digit(text[i + 1]) : -1;
		low = high >= 0 ? hex_digit(text[i + 2]) : -1;
		if (low < 0 || high + low == 0)
			return -1;
		out[n++] = (char)(high * 16 + low);
		i += 2;
	}
	out[n] = '\0';
	return n;
}

static enum status wrong(struct error *e, const char *word, size_t len, const char *why)
{
	return error_set(e, ST_INVALID, "fields holds '%.*s'; %s", len > 60 ? 60 : (int)len, word,
		why);
}

/* One "name:type"; *room is moved on. */
static enum status field_read(const char *word, size_t len, char **room, struct config_field *ret,
	struct error *e)
{
	const char *colon = memchr(word, ':', len);
	size_t name_len = colon ? (size_t)(colon - word) : len;
	long n;

	ret->type = colon ? type_find(colon + 1, len - name_len - 1) : NULL;
	if (!ret->type)
		return wrong(e, word, len,
			"a field is name:type with one of keyword, text, int, float, bool and "
			"date");
	ret->name = *room;
	n = name_decode(word, name_len, *room);
	if (n < 1 || n > CONFIG_MAX_FIELD_NAME || !utf8_valid(*room, (size_t)n))
		return wrong(e, word, len,
			"a name has 1 to 256 bytes of UTF-8, with %20 for a blank, %3A for a colon "
			"and %25 for '%'");
	*room += n + 1;
	return ST_OK;
}

static size_t words_count(const char *text)
{
	size_t n = 0;

	for (text += strspn(text, " \t"); *text; n++) {
		text += strcspn(text, " \t");
		text += strspn(text, " \t");
	}
	return n;
}

static enum status fields_fill(const char *text, struct config_field *fields, size_t n, char *room,
	struct error *e)
{
	for (size_t i = 0; i < n; i++) {
		size_t len;
		enum status st;

		text += strspn(text, " \t");
		len = strcspn(text, " \t");
		st = field_read(text, len, &room, &fields[i], e);
		if (st != ST_OK)
			return st;
		for (size_t k = 0; k < i; k++)
			if (strcmp(fields[k].name, fields[i].name) == 0)
				return wrong(e, text, len, "that field stands there twice");
		text += len;
	}
	return ST_OK;
}

enum status config_fields_read(const char *text, struct config_field **ret, size_t *ret_n,
	struct error *e)
{
	size_t n = words_count(text);
	struct config_field *fields;
	enum status st;

	*ret = NULL;
	*ret_n = 0;
	if (n == 0)
		return ST_OK;
	/* Decoded names are no longer than the text, with a NUL for each ":type". */
	fields = mem_zero(n * sizeof(*fields) + strlen(text) + 1);
	if (!fields)
		return error_set(e, ST_NOMEM, "out of memory while reading the configuration");
	st = fields_fill(text, fields, n, (char *)(fields + n), e);
	if (st != ST_OK) {
		mem_free(fields);
		return st;
	}
	*ret = fields;
	*ret_n = n;
	return ST_OK;
}
