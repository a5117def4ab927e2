/*
 * config/check.c: what a table row cannot say: the form of addresses, paths and
 * names, and rules over two keys. The first broken rule is told, with the place
 * that set the key and what would be right.
 */
#include "config/internal.h"

#include <string.h>

#include "util/address.h"
#include "util/mem.h"

static enum status check_listen(const struct config *c, const char *where, struct error *e)
{
	struct address address;
	struct error why;

	if (address_parse(c->listen, &address, &why))
		return error_set(e, ST_INVALID, "%s: listen cannot be '%.60s': %s%s", where,
			c->listen, why.message, config_text_hint(c->listen));
	if (!address_is_local(&address))
		return error_set(e, ST_INVALID,
			"%s: listen cannot be '%.60s': only loopback or a unix "
			"socket: callers cannot be told apart yet; put a proxy in front",
			where, c->listen);
	return ST_OK;
}

/* Paths that http/route.c answers itself, before it looks at the base. */
static const char *const own_paths[] = { "/healthz", "/readyz" };

static enum status check_base_free(const char *base, const char *where, struct error *e)
{
	for (size_t i = 0; i < sizeof(own_paths) / sizeof(own_paths[0]); i++)
		if (strcmp(base, own_paths[i]) == 0)
			return error_set(e, ST_INVALID,
				"%s: base_path cannot be '%s', where the state of the server is "
				"told; choose another, such as /rcp",
				where, base);
	return ST_OK;
}

static enum status check_base(const struct config *c, const char *where, struct error *e)
{
	static const char allowed[] =
		"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
		"0123456789-_.~/";
	const char *base = c->base_path;
	size_t len = strlen(base);
	bool good = len >= 2 && len <= 128 && base[0] == '/' && base[len - 1] != '/' &&
		strspn(base, allowed) == len && !strstr(base, "//") && !strstr(base, "/.");

	if (good)
		return check_base_free(base, where, e);
	return error_set(e, ST_INVALID,
		"%s: base_path cannot be '%.60s'; it must begin with '/', not "
		"end with one, and hold letters, digits, '-', '_', '.', '~' and '/' only",
		where, base);
}

/* Calls check on each word of list; returns the first word it refuses, as a
 * length and start, or NULL. */
static const char *words_find_bad(const char *list, bool (*check)(const char *word, size_t len),
	size_t *ret_len)
{
	while (*list) {
		size_t len;

		list += strspn(list, " \t");
		len = strcspn(list, " \t");
		if (len > 0 && !check(list, len)) {
			*ret_len = len;
			return list;
		}
		list += len;
	}
	return NULL;
}

static bool host_char(char ch)
{
	return (ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z') || (ch >= '0' && ch <= '9') ||
		ch == '-' || ch == '.' || ch == '_';
}

static bool host_good(const char *word, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!host_char(word[i]))
			return false;
	return len <= 253;
}

static enum status check_hosts(const struct config *c, const char *where, struct error *e)
{
	size_t len;
	const char *bad = words_find_bad(c->hosts, host_good, &len);

	if (!bad)
		return ST_OK;
	return error_set(e, ST_INVALID,
		"%s: hosts holds '%.*s'; a host is a name or an IPv4 address "
		"without port",
		where, len > 60 ? 60 : (int)len, bad);
}

/* scheme "://" host [":" port], nothing after it: as browsers send it. */
static bool origin_good(const char *word, size_t len)
{
	static const char *const schemes[] = { "http://", "https://" };
	size_t skip = 0, host;

	for (size_t i = 0; i < 2; i++)
		if (len > strlen(schemes[i]) && memcmp(word, schemes[i], strlen(schemes[i])) == 0)
			skip = strlen(schemes[i]);
	if (skip == 0 || len > 300)
		return false;
	for (host = 0; skip + host < len && host_char(word[skip + host]); host++)
		;
	if (host == 0)
		return false;
	if (skip + host == len)
		return true;
	if (word[skip + host] != ':' || skip + host + 1 == len || len - skip - host > 6)
		return false;
	for (size_t i = skip + host + 1; i < len; i++)
		if (word[i] < '0' || word[i] > '9')
			return false;
	return true;
}

static enum status check_origins(const struct config *c, const char *where, struct error *e)
{
	size_t len;
	const char *bad = words_find_bad(c->origins, origin_good, &len);

	if (!bad)
		return ST_OK;
	return error_set(e, ST_INVALID,
		"%s: origins holds '%.*s'; an origin is http:// or https://, "
		"a host and maybe a port, without a path; '*' is not taken",
		where, len > 60 ? 60 : (int)len, bad);
}

/* Refuses a pair whose first value is smaller than its second. Of the two places
 * one that somebody wrote leads: "default" is nothing to mend. */
static enum status pair_refuse(const struct config *c, const struct config_origin *origins,
	const char *small, const char *large, struct error *e)
{
	struct strbuf less = STRBUF_INIT, more = STRBUF_INIT;
	const char *where = config_where(origins, small);

	if (strcmp(where, CONFIG_DEFAULT) == 0)
		where = config_where(origins, large);
	config_value_text(c, config_key_find(small), &less);
	config_value_text(c, config_key_find(large), &more);
	if (strbuf_ok(&less) && strbuf_ok(&more))
		error_set(e, ST_INVALID,
			"%s: %s (%s) is smaller than %s (%s); set %s to %s or more", where, small,
			less.data, large, more.data, small, more.data);
	else
		error_set(e, ST_INVALID, "%s: %s is smaller than %s", where, small, large);
	strbuf_release(&less);
	strbuf_release(&more);
	return ST_INVALID;
}

static enum status check_overlap(const struct config *c, const struct config_origin *origins,
	struct error *e)
{
	const char *where = config_where(origins, "chunk_overlap");
	uint64_t most = (c->chunk_tokens - 1) / 2;

	if (c->chunk_overlap <= most)
		return ST_OK;
	if (strcmp(where, CONFIG_DEFAULT) == 0)
		where = config_where(origins, "chunk_tokens");
	return error_set(e, ST_INVALID,
		"%s: chunk_overlap (%llu) must be less than half of chunk_tokens (%llu); set "
		"chunk_overlap to %llu or less",
		where, (unsigned long long)c->chunk_overlap, (unsigned long long)c->chunk_tokens,
		(unsigned long long)most);
}

static enum status check_fields(const struct config *c, const struct config_origin *origins,
	struct error *e)
{
	const char *where = config_where(origins, "fields");
	struct config_field *fields;
	struct error why;
	size_t n;
	enum status st = config_fields_read(c->fields, &fields, &n, &why);

	if (st != ST_OK)
		return error_set(e, st, "%s: %s%s", where, why.message,
			config_text_hint(c->fields));
	mem_free(fields);
	if (n > c->max_fields)
		return error_set(e, ST_INVALID,
			"%s: fields names %zu fields, and max_fields (%llu) allows no more; set "
			"max_fields to %zu or more",
			where, n, (unsigned long long)c->max_fields, n);
	return ST_OK;
}

static enum status check_pairs(const struct config *c, const struct config_origin *origins,
	struct error *e)
{
	if (c->max_body_total < c->max_body)
		return pair_refuse(c, origins, "max_body_total", "max_body", e);
	if (c->max_candidates < c->max_k)
		return pair_refuse(c, origins, "max_candidates", "max_k", e);
	return check_overlap(c, origins, e);
}

/* What people write as in a shell would here silently become a folder of that name. */
static enum status check_data(const char *data, const char *where, struct error *e)
{
	if (data[0] == '\0')
		return error_set(e, ST_INVALID, "%s: data is empty; it must name a folder", where);
	if (data[0] == '~')
		return error_set(e, ST_INVALID,
			"%s: data cannot be '%.60s': only shells know '~'; write the whole path",
			where, data);
	if (data[0] == '"' || data[0] == '\'' || strstr(data, " #"))
		return error_set(e, ST_INVALID, "%s: data cannot be '%.60s'%s", where, data,
			config_text_hint(data));
	return ST_OK;
}

enum status config_check(struct config *c, const struct config_origin *origins, struct error *e)
{
	enum status st = check_listen(c, config_where(origins, "listen"), e);

	if (st == ST_OK)
		st = check_base(c, config_where(origins, "base_path"), e);
	if (st == ST_OK)
		st = check_hosts(c, config_where(origins, "hosts"), e);
	if (st == ST_OK)
		st = check_origins(c, config_where(origins, "origins"), e);
	if (st == ST_OK)
		st = check_data(c->data, config_where(origins, "data"), e);
	if (st == ST_OK)
		st = check_pairs(c, origins, e);
	if (st == ST_OK)
		st = check_fields(c, origins, e);
	if (st == ST_OK)
		st = config_check_model(c, origins, e);
	return st;
}
