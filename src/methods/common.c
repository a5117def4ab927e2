/* methods/common.c: small things that several methods need. */
#include "methods/common.h"

#include "util/log.h"

enum rpc_code methods_fail(struct rpc_call *call, const struct error *e)
{
	switch (e->code) {
	case ST_CANCELLED:
	case ST_TIMEOUT:
		return rpc_call_stopped(call);
	case ST_FULL:
	case ST_IO:
	case ST_CORRUPT:
	case ST_INTERNAL:
		log_event(LOG_WARNING, "the corpus could not serve a request",
			LOG_S("reason", e->message), LOG_S("detail", e->detail));
		break;
	default:
		break;
	}
	return rpc_error_from(rpc_call_error(call), e);
}

bool methods_stop(void *call)
{
	return rpc_call_should_stop(call);
}

enum rpc_code methods_nomem(struct rpc_call *call)
{
	return rpc_error_set(rpc_call_error(call), RPC_UNAVAILABLE, "out of memory");
}

void methods_write_hit_id(struct json_writer *out, struct bytes doc_id, uint32_t chunk)
{
	struct strbuf id = STRBUF_INIT;

	for (size_t i = 0; i < doc_id.len; i++) {
		char c = doc_id.data[i];

		if (c == '%')
			strbuf_adds(&id, "%25");
		else if (c == '#')
			strbuf_adds(&id, "%23");
		else
			strbuf_addc(&id, c);
	}
	strbuf_addc(&id, '#');
	strbuf_addu(&id, chunk);
	if (strbuf_ok(&id))
		jw_bytes(out, (struct bytes){ id.data, id.len });
	else
		out->out->failed = true;
	strbuf_release(&id);
}
