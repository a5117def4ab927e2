/*
 * health.c: what is answered without the dispatcher, on the I/O thread, so that it
 * answers while all workers are busy: alive, ready, and what this server is.
 */
#include "http/private.h"
#include "rpc/writer.h"

static enum MHD_Result answer_object(struct exchange *ex, unsigned status, const char *state,
	bool about)
{
	const struct http *h = ex->io->http;
	struct strbuf body = STRBUF_INIT;
	struct json_writer w;

	json_writer_init(&w, &body);
	jw_object(&w);
	if (state)
		jw_kv_string(&w, "status", state);
	jw_kv_string(&w, "server", h->cfg.server_name);
	jw_kv_string(&w, "version", h->cfg.server_version);
	if (about) {
		jw_kv_string(&w, "protocol", "RCP/1");
		jw_kv_string(&w, "base", h->cfg.base);
		jw_kv_string(&w, "docs",
			"POST JSON-RPC 2.0 to the base path, or to base/METHOD; info lists what is offered");
	}
	jw_end(&w);
	if (!json_writer_ok(&w)) {
		strbuf_release(&body);
		return MHD_NO;
	}
	return reply_json(ex, status, &body);
}

enum MHD_Result about_answer(struct exchange *ex)
{
	return answer_object(ex, MHD_HTTP_OK, NULL, true);
}

enum MHD_Result health_answer(struct exchange *ex)
{
	return answer_object(ex, MHD_HTTP_OK, "ok", false);
}

enum MHD_Result ready_answer(struct exchange *ex)
{
	const struct http *h = ex->io->http;

	if (atomic_load(&h->draining))
		refuse(ex, MHD_HTTP_SERVICE_UNAVAILABLE, RPC_UNAVAILABLE,
			"the server is shutting down");
	else if (h->hooks.ready && !h->hooks.ready(h->hooks.ready_arg))
		refuse(ex, MHD_HTTP_SERVICE_UNAVAILABLE, RPC_UNAVAILABLE,
			"the server is not ready");
	else
		return answer_object(ex, MHD_HTTP_OK, "ready", false);
	return reply_refusal(ex);
}
