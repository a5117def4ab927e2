/* url.c: where a URL leads, read by libcurl's own parser: what is checked here is what
 * is then connected to. */
#include <string.h>

#include "net/private.h"

/* Copies a part of the URL, lower-cased. False: absent, or longer than fits. */
static bool part_copy(CURLU *u, CURLUPart what, char *out, size_t size)
{
	char *part = NULL;
	bool ok = curl_url_get(u, what, &part, CURLU_DEFAULT_PORT) == CURLUE_OK && part &&
		strlen(part) < size;

	for (size_t i = 0; ok && i <= strlen(part); i++)
		out[i] = (char)(part[i] >= 'A' && part[i] <= 'Z' ? part[i] + 32 : part[i]);
	curl_free(part);
	return ok;
}

static bool part_present(CURLU *u, CURLUPart what)
{
	char *part = NULL;
	bool present = curl_url_get(u, what, &part, 0) == CURLUE_OK;

	curl_free(part);
	return present;
}

static enum status parts_check(const struct net *n, CURLU *u, struct net_origin *o, struct error *e)
{
	if (part_present(u, CURLUPART_USER) || part_present(u, CURLUPART_PASSWORD))
		return error_set(e, ST_INVALID, "an address must not hold a user or password");
	if (!part_copy(u, CURLUPART_SCHEME, o->scheme, sizeof(o->scheme)) ||
		(strcmp(o->scheme, "https") != 0 && strcmp(o->scheme, "http") != 0))
		return error_set(e, ST_INVALID, "an address must begin with https:// or http://");
	if (!n->policy.plain_http && strcmp(o->scheme, "https") != 0)
		return error_set(e, ST_INVALID, "an address must begin with https://");
	if (!part_copy(u, CURLUPART_HOST, o->host, sizeof(o->host)) || !o->host[0])
		return error_set(e, ST_INVALID, "an address must name a host");
	if (!part_copy(u, CURLUPART_PORT, o->port, sizeof(o->port)))
		return error_set(e, ST_INVALID, "an address has a wrong port");
	o->default_port = strcmp(o->port, strcmp(o->scheme, "https") == 0 ? "443" : "80") == 0;
	return ST_OK;
}

enum status net_origin_of(const struct net *n, const char *url, struct net_origin *ret,
	struct error *e)
{
	struct net_origin o = { .port = "" };
	size_t len = strlen(url);
	enum status st = ST_OK;
	CURLUcode code;
	CURLU *u;

	if (len == 0 || len > NET_MAX_URL)
		return error_set(e, ST_INVALID, "an address must have 1 to %d bytes", NET_MAX_URL);
	for (size_t i = 0; i < len; i++)
		if ((unsigned char)url[i] <= ' ' || url[i] == 0x7f)
			return error_set(e, ST_INVALID, "an address must not hold spaces");
	u = curl_url();
	if (!u)
		return error_set(e, ST_NOMEM, "out of memory");
	code = curl_url_set(u, CURLUPART_URL, url, CURLU_NON_SUPPORT_SCHEME);
	if (code == CURLUE_OUT_OF_MEMORY)
		st = error_set(e, ST_NOMEM, "out of memory");
	else if (code != CURLUE_OK)
		st = error_set(e, ST_INVALID, "this is not an address: %s",
			curl_url_strerror(code));
	if (!st)
		st = parts_check(n, u, &o, e);
	curl_url_cleanup(u);
	if (!st)
		*ret = o;
	return st;
}

bool net_origin_equal(const struct net_origin *a, const struct net_origin *b)
{
	return strcmp(a->scheme, b->scheme) == 0 && strcmp(a->host, b->host) == 0 &&
		strcmp(a->port, b->port) == 0;
}

enum status net_url_host(const struct net *n, const char *url, char *ret, size_t size,
	struct error *e)
{
	struct net_origin o;
	enum status st = net_origin_of(n, url, &o, e);
	int len;

	if (st)
		return st;
	len = snprintf(ret, size, "%s%s%s", o.host, o.default_port ? "" : ":",
		o.default_port ? "" : o.port);
	if (len < 0 || (size_t)len >= size)
		return error_set(e, ST_INVALID, "the host of an address is too long");
	return ST_OK;
}
