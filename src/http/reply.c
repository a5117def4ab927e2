/*
 * reply.c: answers. A body's memory is handed over to libmicrohttpd, never copied;
 * every buffered answer has a Content-Length (HTTP-10), which libmicrohttpd adds
 * for a body of known size. What is not 200 carries a JSON-RPC error body, 204
 * excepted.
 */
#include <string.h>

#include "http/private.h"
#include "util/mem.h"

void refuse(struct exchange *ex, unsigned status, enum rpc_code code, const char *message)
{
	ex->refusal = (struct refusal){
		.status = status,
		.code = code,
		.message = message,
		.retry_after_s = status == MHD_HTTP_SERVICE_UNAVAILABLE ? 1 : 0,
	};
}

/* Out of memory for a header: the answer goes without it rather than not at all;
 * returns false where that would be wrong. */
static bool add_header(struct MHD_Response *response, const char *name, const char *value)
{
	return MHD_add_response_header(response, name, value) == MHD_YES;
}

/* SEC-03: on every answer to an allowed origin, refusals included. */
static void add_cors(const struct exchange *ex, struct MHD_Response *response)
{
	if (add_header(response, MHD_HTTP_HEADER_VARY, "Origin"))
		(void)add_header(response, "Access-Control-Allow-Origin", ex->headers.origin);
	(void)add_header(response, "Access-Control-Expose-Headers",
		"WWW-Authenticate, Retry-After, RCP-Session");
}

enum MHD_Result reply_queue(struct exchange *ex, unsigned status, struct MHD_Response *response)
{
	enum MHD_Result queued;

	if (!response)
		return MHD_NO;
	if (ex->cors)
		add_cors(ex, response);
	if (ex->close || atomic_load(&ex->io->http->draining))
		(void)add_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
	ex->phase = PHASE_REPLIED;
	queued = MHD_queue_response(ex->mhd, status, response);
	MHD_destroy_response(response);
	return queued;
}

static struct MHD_Response *json_response(struct strbuf *body)
{
	struct MHD_Response *response;
	size_t len = 0;
	char *data = strbuf_detach(body, &len);

	if (!data)
		return NULL;
	response = MHD_create_response_from_buffer_with_free_callback(len, data, mem_free);
	if (!response) {
		mem_free(data);
		return NULL;
	}
	if (!add_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "application/json")) {
		MHD_destroy_response(response);
		return NULL;
	}
	return response;
}

static struct MHD_Response *empty_response(void)
{
	return MHD_create_response_from_buffer(0, NULL, MHD_RESPMEM_PERSISTENT);
}

enum MHD_Result reply_json(struct exchange *ex, unsigned status, struct strbuf *body)
{
	struct MHD_Response *response = json_response(body);

	if (response && !ex->route->post)
		(void)add_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	return reply_queue(ex, status, response);
}

static void add_retry_after(struct MHD_Response *response, uint32_t seconds)
{
	char text[16];

	(void)snprintf(text, sizeof(text), "%u", (unsigned)seconds);
	(void)add_header(response, MHD_HTTP_HEADER_RETRY_AFTER, text);
}

enum MHD_Result reply_refusal(struct exchange *ex)
{
	const struct refusal *r = &ex->refusal;
	struct strbuf body = STRBUF_INIT;
	struct MHD_Response *response;
	struct rpc_error err;

	(void)rpc_error_set(&err, r->code, "%s", r->message);
	err.retry_after_ms = r->retry_after_s * 1000;
	rpc_error_write(&body, NULL, 0, &err);
	response = json_response(&body);
	if (response && r->allow)
		(void)add_header(response, MHD_HTTP_HEADER_ALLOW, r->allow);
	if (response && r->status == MHD_HTTP_UNAUTHORIZED)
		(void)add_header(response, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
	if (response && r->retry_after_s)
		add_retry_after(response, r->retry_after_s);
	return reply_queue(ex, r->status, response);
}

enum MHD_Result reply_preflight(struct exchange *ex)
{
	struct MHD_Response *response = empty_response();

	if (!response)
		return MHD_NO;
	(void)add_header(response, "Access-Control-Allow-Methods", "GET, HEAD, POST, OPTIONS");
	(void)add_header(response, "Access-Control-Allow-Headers",
		"authorization, content-type, rcp-session, traceparent");
	(void)add_header(response, "Access-Control-Max-Age", "600");
	return reply_queue(ex, MHD_HTTP_NO_CONTENT, response);
}

static unsigned rpc_status(enum rpc_reply_kind kind)
{
	switch (kind) {
	case RPC_REPLY_NONE:
		return MHD_HTTP_NO_CONTENT;
	case RPC_REPLY_BODY:
		return MHD_HTTP_OK;
	case RPC_REPLY_UNPARSEABLE:
		return MHD_HTTP_BAD_REQUEST;
	case RPC_REPLY_REFUSED:
		return MHD_HTTP_SERVICE_UNAVAILABLE;
	case RPC_REPLY_TOO_LARGE:
		return MHD_HTTP_CONTENT_TOO_LARGE;
	}
	return MHD_HTTP_INTERNAL_SERVER_ERROR;
}

/* No memory was left for the answer's text. */
static enum MHD_Result reply_broken(struct exchange *ex)
{
	refuse(ex, MHD_HTTP_INTERNAL_SERVER_ERROR, RPC_INTERNAL, "the answer could not be written");
	return reply_refusal(ex);
}

enum MHD_Result reply_rpc(struct exchange *ex)
{
	struct rpc_reply *reply = rpc_job_reply(ex->job);
	struct MHD_Response *response;
	enum MHD_Result queued;

	if (reply->kind == RPC_REPLY_NONE) {
		response = empty_response();
	} else {
		response = json_response(&reply->body);
		if (!response)
			return reply_broken(ex);
	}
	/* What was no message for us may be framed differently by others (HTTP-05):
	 * what follows it is not read. */
	if (reply->kind == RPC_REPLY_UNPARSEABLE)
		ex->close = ex->early = true;
	if (response && reply->kind == RPC_REPLY_REFUSED)
		add_retry_after(response,
			reply->retry_after_ms ? (reply->retry_after_ms + 999) / 1000 : 1);
	if (response && reply->session)
		(void)add_header(response, "RCP-Session", reply->session);
	queued = reply_queue(ex, rpc_status(reply->kind), response);
	exchange_drop_job(ex); /* what it worked with may be as large as the answer */
	return queued;
}
