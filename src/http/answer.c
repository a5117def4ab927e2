/*
 * answer.c: memory of answers that their clients have not read yet. Large ones
 * count against a budget as large as that of request bodies: who asks for
 * megabytes on hundreds of connections and reads none of them is told to come
 * back. Small ones (up to inline_body) need none, connections bound them; and one
 * alone always passes, whatever its size.
 *
 * An answer is counted when the work is done, on the worker. It is too late to
 * undo the work then; of what is not idempotent no answer is that large.
 */
#include <string.h>

#include "http/private.h"

#define ID_MAX 128
#define BUSY "too many answers are waiting to be read"

/* The id of an answer, raw, which rpc/ writes first. Empty: none found. */
static struct bytes answer_id(const struct strbuf *body)
{
	static const char head[] = "{\"jsonrpc\":\"2.0\",\"id\":";
	const char *start, *p;

	if (body->len < sizeof(head) || memcmp(body->data, head, sizeof(head) - 1) != 0)
		return BYTES_NONE;
	start = body->data + sizeof(head) - 1;
	p = start;
	if (*p == '"')
		for (p++; *p && *p != '"'; p++)
			p += *p == '\\' && p[1] != '\0';
	p += strcspn(p, ",");
	return p - start <= ID_MAX ? (struct bytes){ start, (size_t)(p - start) } : BYTES_NONE;
}

/* Puts a refusal in the place of the answer. */
static void answer_shed(struct rpc_reply *reply)
{
	struct strbuf text = STRBUF_INIT;
	struct bytes id = answer_id(&reply->body);
	struct rpc_error err;

	(void)rpc_error_set(&err, RPC_UNAVAILABLE, BUSY);
	err.retry_after_ms = 1000;
	rpc_error_write(&text, id.data, id.len, &err);
	strbuf_release(&reply->body);
	reply->body = text;
	reply->kind = RPC_REPLY_REFUSED;
	reply->retry_after_ms = err.retry_after_ms;
}

void answer_charge_locked(struct exchange *ex)
{
	struct http *h = ex->io->http;
	struct rpc_reply *reply = rpc_job_reply(ex->job);
	size_t n = reply->body.cap, had;

	if (reply->body.len <= h->cfg.inline_body)
		return;
	had = atomic_fetch_add(&h->answer_bytes, n);
	if (had == 0 || (n <= h->cfg.max_body_total && had <= h->cfg.max_body_total - n)) {
		ex->answer_charged = n;
		return;
	}
	atomic_fetch_sub(&h->answer_bytes, n);
	answer_shed(reply);
}

void answer_uncharge(struct exchange *ex)
{
	if (ex->answer_charged)
		atomic_fetch_sub(&ex->io->http->answer_bytes, ex->answer_charged);
	ex->answer_charged = 0;
}
