/*
 * request.c: everything that is decided at the headers, in one fixed order: framing,
 * target, Host, Origin, resource, gate, verb, content type, draining. The gate
 * stands before the verb and all that follows, so that a probe without
 * credentials learns nothing but that it has none (T9); only what no handler could
 * ever trust stands before it.
 */
#include <string.h>

#include "http/path.h"
#include "http/private.h"

static enum MHD_Result header_seen(void *cls, enum MHD_ValueKind kind, const char *name,
	const char *value)
{
	(void)kind;
	headers_add(cls, name, value);
	return MHD_YES;
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
static bool check_framing(struct exchange *ex, const char *url, const char *version)
{
	const char *why;

	headers_init(&ex->headers);
	(void)MHD_get_connection_values(ex->mhd, MHD_HEADER_KIND, header_seen, &ex->headers);
	why = framing_check(&ex->headers, ex->http10);
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
			"the Host header names a host that is not served here");
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
		"this resource does not take that HTTP method");
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
	if (!check_framing(ex, url, version) || !check_browser(ex))
		return;
	/* A preflight carries no credentials and concerns no resource of its own. */
	if (ex->cors && ex->headers.request_method && strcmp(method, MHD_HTTP_METHOD_OPTIONS) == 0)
		return;
	ex->route = route_find(ex);
	if (!ex->route) {
		refuse(ex, MHD_HTTP_NOT_FOUND, RPC_NOT_FOUND, "there is nothing at this path");
		return;
	}
	if (!check_gate(ex) || !check_verb(ex, method))
		return;
	check_content(ex);
	ex->wants_sse = accept_wants_sse(&ex->headers.accept);
}
