/*
 * methods/embed_inputs.c: the inputs of the three embed methods: `inputs`, else `texts`
 * (D32), each a string or a text block, at most batchLimit of them (C5, D12).
 */
#include <stdio.h>

#include "methods/embed.h"
#include "util/utf8.h"

#define AT(field) offsetof(struct methods_embed_params, field)

/* clang-format off */
#define INPUTS \
	{ .name = "inputs", .type = RPC_P_JSON_ARRAY, .offset = AT(inputs), \
	  .summary = "strings or text blocks" }, \
	{ .name = "texts", .type = RPC_P_JSON_ARRAY, .offset = AT(texts), \
	  .summary = "another name of inputs" }, \
	{ .name = "kind", .type = RPC_P_STRING, .offset = AT(kind), \
	  .summary = "query or document, the default" }

const struct rpc_param methods_embed_table[METHODS_EMBED_PARAMS] = {
	INPUTS,
	{ .name = "encoding", .type = RPC_P_STRING, .offset = AT(encoding),
	  .summary = "json, the default, or f32-base64" },
	{ .name = "strict", .type = RPC_P_BOOL, .offset = AT(strict),
	  .summary = "false: json where the encoding is not offered" },
};
const struct rpc_param methods_embed_sparse_table[METHODS_EMBED_SPARSE_PARAMS] = { INPUTS };
/* clang-format on */

static enum rpc_code read_inputs(struct rpc_call *call, struct methods_embed_params *p)
{
	const struct methods *m = rpc_call_methods_arg(call);
	const json_t *list = p->inputs ? p->inputs : p->texts;

	p->name = p->inputs || !p->texts ? "inputs" : "texts";
	if (!list)
		return rpc_error_field(rpc_call_error(call), "inputs", "inputs is required");
	p->n = json_array_size(list);
	if (p->n > m->max_inputs)
		return rpc_error_set(rpc_call_error(call), RPC_TOO_LARGE,
			"a call may have at most %zu %s, not %zu", m->max_inputs, p->name, p->n);
	p->v = arena_array(rpc_call_arena(call), p->n ? p->n : 1, sizeof(*p->v));
	if (!p->v)
		return methods_nomem(call);
	for (size_t i = 0; i < p->n; i++) {
		char path[32];
		enum rpc_code rc;

		snprintf(path, sizeof(path), "%s[%zu]", p->name, i);
		rc = rpc_text_parse(json_array_get(list, i), path, false, rpc_call_arena(call),
			&p->v[i], rpc_call_error(call));
		if (rc)
			return rc;
	}
	return RPC_OK;
}

static enum rpc_code read_kind(struct rpc_call *call, struct methods_embed_params *p)
{
	p->query = bytes_eq(p->kind, bytes_of("query"));
	if (!p->kind.data || p->query || bytes_eq(p->kind, bytes_of("document")))
		return RPC_OK;
	return rpc_error_field(rpc_call_error(call), "kind", "kind must be query or document");
}

/* packed: whether f32-base64 is offered beside json. */
static enum rpc_code read_encoding(struct rpc_call *call, struct methods_embed_params *p,
	bool packed)
{
	char option[64];

	p->base64 = packed && bytes_eq(p->encoding, bytes_of("f32-base64"));
	if (!p->encoding.data || p->base64 || bytes_eq(p->encoding, bytes_of("json")) ||
		p->strict == RPC_FALSE)
		return RPC_OK;
	snprintf(option, sizeof(option), "%.*s",
		(int)utf8_floor(p->encoding.data, p->encoding.len, sizeof(option) - 1),
		p->encoding.data);
	if (!option[0])
		return rpc_error_field(rpc_call_error(call), "encoding",
			"encoding must be the name of one");
	return rpc_error_option(rpc_call_error(call), option, "this encoding is not offered%s",
		packed ? "; json and f32-base64 are" : " here; json is");
}

static enum rpc_code check(struct rpc_call *call, struct methods_embed_params *p, bool packed)
{
	enum rpc_code rc = read_kind(call, p);

	if (!rc)
		rc = read_inputs(call, p);
	return rc ? rc : read_encoding(call, p, packed);
}

enum rpc_code methods_embed_check(struct rpc_call *call, void *params)
{
	return check(call, params, true);
}

/* The schema of RCP/1 has numbers alone in matrices, whatever its text says. */
enum rpc_code methods_embed_multi_check(struct rpc_call *call, void *params)
{
	return check(call, params, false);
}

enum rpc_code methods_embed_nothing(struct rpc_call *call, const struct methods_embed_params *p,
	size_t i)
{
	char path[32];

	snprintf(path, sizeof(path), "%s[%zu]", p->name, i);
	return rpc_error_field(rpc_call_error(call), path,
		"%s has nothing in it that the model knows, and so no vector", path);
}

enum rpc_code methods_remote_fail(struct rpc_call *call, const struct error *e)
{
	if (e->code == ST_TIMEOUT && !rpc_call_should_stop(call))
		return rpc_error_set(rpc_call_error(call), RPC_UNAVAILABLE,
			"the model did not answer in time");
	return methods_fail(call, e);
}
