/*
 * request.c: everything that is decided at the headers, in one fixed order: framing,
 * target, Host, Origin, resource, gate, verb, content type, draining. The gate
 * stands before the verb and all that follows, so that a probe without
 * credentials learns nothing but that it has none (T9); only what no handler could
 * ever trust stands before it.
 */
#include <string.h>
#include <strings.h>

#include "http/lines.h"
#include "http/path.h"
#include "http/private.h"

/* What goes along the list of headers. */
struct header_walk {
	struct headers *headers;
	struct lines lines;
};

static enum MHD_Result header_seen(void *cls, enum MHD_ValueKind kind, const char *name,
	const char *value)
{
	struct header_walk *walk = cls;

	(void)kind;
	headers_add(walk->headers, name, value);
	return MHD_YES;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/*
 * The same before 1.0, where the lines are checked, and where white space behind a
 * value, which is no part of it (RFC 9110 5.5), is still there. It is cut off in
 * libmicrohttpd's own buffer, which is what value points into. Not so for
 * Transfer-Encoding: it has decided already, by the value as it is.
 */
static enum MHD_Result old_header_seen(void *cls, enum MHD_ValueKind kind, const char *name,
	const char *value)
{
	struct header_walk *walk = cls;
	const char *end = lines_add(&walk->lines, name, value ? value : "");
	char *cut;

	if (value && end > value && is_blank(end[-1]) && !walk->lines.broken &&
		strcasecmp(name, MHD_HTTP_HEADER_TRANSFER_ENCODING) != 0) {
		while (end > value && is_blank(end[-1]))
			end--;
		memcpy(&cut, &end, sizeof(cut)); /* without const */
		*cut = '\0';
	}
	return header_seen(walk, kind, name, value);
}

/* Lists the headers; false when they are not the lines that were sent. The method
 * is the first byte of the request, the version the end of its first line. */
static bool headers_read(struct exchange *ex, const char *method, const char *version)
{
	struct header_walk walk = { .headers = &ex->headers };
	const union MHD_ConnectionInfo *info;

	headers_init(&ex->headers);
	if (!ex->io->http->old_mhd) {
		(void)MHD_get_connection_values(ex->mhd, MHD_HEADER_KIND, header_seen, &walk);
		return true;
	}
	lines_init(&walk.lines, version + strlen(version));
	(void)MHD_get_connection_values(ex->mhd, MHD_HEADER_KIND, old_header_seen, &walk);
	info = MHD_get_connection_info(ex->mhd, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE);
	return info && lines_finish(&walk.lines, method + info->header_size);
}

static void refuse_bad(struct exchange *ex, const char *why)
{
	refuse(ex, MHD_HTTP_BAD_REQUEST, RPC_INVALID_REQUEST, why);
	ex->close = true;
}

/*
 * libmicrohttpd before 1.0 hands the target over as a C string, so a raw NUL cuts
 * it. It ends the target with a NUL of its own right before the version, in the
 * same buffer: if the version does not follow, something was cut. url and target
 * start at the same byte, as the decoding callback leaves the text alone.
 */
static bool target_was_cut(const struct exchange *ex, const char *url, const char *version)
{
	return ex->io->http->old_mhd && version != url + ex->target_len + 1;
}

/* Returns false when the request is refused. */
static bool check_framing(struct exchange *ex, const char *url, const char *method,
	const char *version)
{
	bool as_sent = headers_read(ex, method, version);
	const char *why = framing_check(&ex->headers, ex->http10);

	if (!why && !as_sent)
		why = "the header lines are not what HTTP allows";
	if (!why && target_was_cut(ex, url, version))
		why = "the request target holds a NUL";
	if (!why)
		why = path_decode(ex->target);
	if (why)
		refuse_bad(ex, why);
	return !why;
}

static bool check_browser(struct exchange *ex)
{
	const struct http_config *cfg = &ex->io->http->cfg;
	const struct headers *h = &ex->headers;

	/* HTTP/1.0 without Host passed the framing check: no browser sends that. */
	if (h->host && !host_allowed(h->host, cfg->hosts)) {
		refuse(ex, MHD_HTTP_FORBIDDEN, RPC_UNAUTHORIZED,
			"the Host is neither a loopback name nor listed in the key hosts");
		return false;
	}
	if (!h->origin)
		return true;
	if (!origin_allowed(h->origin, cfg->origins)) {
		refuse(ex, MHD_HTTP_FORBIDDEN, RPC_UNAUTHORIZED,
			"calls from this origin are not allowed");
		return false;
	}
	ex->cors = true;
	return true;
}

static bool check_gate(struct exchange *ex)
{
	const struct http_hooks *hooks = &ex->io->http->hooks;
	const struct conn *conn = ex->conn;

	if (!ex->route->gated)
		return true;
	if (hooks->gate(hooks->gate_arg, conn->peer[0] ? conn->peer : NULL, conn->uid,
		    ex->headers.authorization, &ex->caller))
		return true;
	refuse(ex, MHD_HTTP_UNAUTHORIZED, RPC_UNAUTHORIZED, "credentials are required");
	return false;
}

static bool check_verb(struct exchange *ex, const char *method)
{
	bool right;

	ex->head = strcmp(method, MHD_HTTP_METHOD_HEAD) == 0;
	if (ex->route->post)
		right = strcmp(method, MHD_HTTP_METHOD_POST) == 0;
	else
		right = ex->head || strcmp(method, MHD_HTTP_METHOD_GET) == 0;
	if (right)
		return true;
	refuse(ex, MHD_HTTP_METHOD_NOT_ALLOWED, RPC_INVALID_REQUEST,
		ex->route->post ? "use POST" : "use GET");
	ex->refusal.allow = ex->route->allow;
	return false;
}

static void check_content(struct exchange *ex)
{
	if (!ex->route->post)
		return;
	if (!content_is_json(ex->headers.content_type)) {
		refuse(ex, MHD_HTTP_UNSUPPORTED_MEDIA_TYPE, RPC_INVALID_REQUEST,
			"the Content-Type must be application/json");
	} else if (!encoding_is_plain(ex->headers.content_encoding)) {
		refuse(ex, MHD_HTTP_UNSUPPORTED_MEDIA_TYPE, RPC_INVALID_REQUEST,
			"the Content-Encoding must be identity");
	} else if (atomic_load(&ex->io->http->draining)) {
		refuse(ex, MHD_HTTP_SERVICE_UNAVAILABLE, RPC_UNAVAILABLE,
			"the server is shutting down");
		ex->close = true;
	}
}

void request_check(struct exchange *ex, const char *url, const char *method, const char *version)
{
	ex->http10 = strcmp(version, MHD_HTTP_VERSION_1_0) == 0;
	if (!check_framing(ex, url, method, version) || !check_browser(ex))
		return;
	/* A preflight carries no credentials and concerns no resource of its own. */
	if (ex->cors && ex->headers.request_method && strcmp(method, MHD_HTTP_METHOD_OPTIONS) == 0)
		return;
	ex->route = route_find(ex);
	if (!ex->route) {
		refuse(ex, MHD_HTTP_NOT_FOUND, RPC_NOT_FOUND, ex->io->http->elsewhere);
		return;
	}
	if (!check_gate(ex) || !check_verb(ex, method))
		return;
	check_content(ex);
	ex->wants_sse = accept_wants_sse(&ex->headers.accept);
}
