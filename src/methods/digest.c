/*
 * methods/digest.c: what a request asks for, in one spelling. Rows of the table come in
 * its order, members of free JSON sorted, so that a client's way of writing does not
 * matter; then a digest stands for it.
 */
#include <string.h>

#include "methods/cursor.h"
#include "rpc/writer.h"
#include "util/crypto.h"

static int append(const char *text, size_t n, void *out)
{
	strbuf_add(out, text, n);
	return ((struct strbuf *)out)->failed ? -1 : 0;
}

/* Nesting was bounded when the message was parsed (M15). */
static void write_json(struct json_writer *w, const json_t *v)
{
	struct strbuf text = STRBUF_INIT;

	if (json_dump_callback(v, append, &text, JSON_COMPACT | JSON_SORT_KEYS | JSON_ENCODE_ANY) ||
		!strbuf_ok(&text))
		w->out->failed = true;
	else
		jw_raw(w, text.data, text.len);
	strbuf_release(&text);
}

static void write_strings(struct json_writer *w, const struct rpc_strings *v)
{
	jw_array(w);
	for (size_t i = 0; i < v->n; i++)
		jw_bytes(w, v->v[i]);
	jw_end(w);
}

static bool is_set(const struct rpc_param *p, const void *at)
{
	switch (p->type) {
	case RPC_P_INT:
		return ((const struct rpc_int *)at)->set;
	case RPC_P_REAL:
		return ((const struct rpc_real *)at)->set;
	case RPC_P_BOOL:
		return *(const unsigned char *)at != RPC_UNSET;
	case RPC_P_STRING:
		return ((const struct bytes *)at)->data != NULL;
	case RPC_P_TEXT:
		return ((const struct rpc_text *)at)->set;
	case RPC_P_OBJECT:
	case RPC_P_FALSE_OR_OBJECT:
		return *(const bool *)at;
	case RPC_P_STRINGS:
		return ((const struct rpc_strings *)at)->set;
	case RPC_P_JSON:
	case RPC_P_JSON_OBJECT:
	case RPC_P_JSON_ARRAY:
	case RPC_P_SCALAR:
		break;
	}
	return *(const json_t *const *)at != NULL;
}

static void write_table(struct json_writer *w, const struct rpc_param *table, size_t count,
	const char *params, const char *but);

static void write_value(struct json_writer *w, const struct rpc_param *p,
	const void *at) /* NOLINT(misc-no-recursion): as deep as the tables */
{
	switch (p->type) {
	case RPC_P_INT:
		jw_int(w, ((const struct rpc_int *)at)->v);
		return;
	case RPC_P_REAL:
		jw_real(w, ((const struct rpc_real *)at)->v);
		return;
	case RPC_P_BOOL:
		jw_bool(w, *(const unsigned char *)at == RPC_TRUE);
		return;
	case RPC_P_STRING:
		jw_bytes(w, *(const struct bytes *)at);
		return;
	case RPC_P_TEXT:
		jw_bytes(w, ((const struct rpc_text *)at)->text);
		return;
	case RPC_P_OBJECT:
	case RPC_P_FALSE_OR_OBJECT:
		write_table(w, p->sub, p->sub_count, at, "");
		return;
	case RPC_P_STRINGS:
		write_strings(w, at);
		return;
	case RPC_P_JSON:
	case RPC_P_JSON_OBJECT:
	case RPC_P_JSON_ARRAY:
	case RPC_P_SCALAR:
		break;
	}
	write_json(w, *(const json_t *const *)at);
}

static void write_table(struct json_writer *w, const struct rpc_param *table, size_t count,
	const char *params, const char *but) /* NOLINT(misc-no-recursion) */
{
	jw_object(w);
	for (size_t i = 0; i < count; i++) {
		const void *at = params + table[i].offset;

		if (strcmp(table[i].name, but) == 0 || !is_set(&table[i], at))
			continue;
		jw_key(w, table[i].name);
		write_value(w, &table[i], at);
	}
	jw_end(w);
}

enum status cursor_digest(const struct rpc_param *table, size_t count, const void *params,
	const char *but, unsigned char out[CURSOR_DIGEST_LEN])
{
	unsigned char full[CRYPTO_SHA256_LEN];
	struct strbuf text = STRBUF_INIT;
	struct json_writer w;
	enum status st = ST_NOMEM;

	json_writer_init(&w, &text);
	write_table(&w, table, count, params, but);
	if (json_writer_ok(&w))
		st = crypto_sha256(text.data, text.len, full);
	strbuf_release(&text);
	if (!st)
		memcpy(out, full, CURSOR_DIGEST_LEN);
	return st;
}
