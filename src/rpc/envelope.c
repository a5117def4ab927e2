/*
 * rpc/envelope.c: the shape of a JSON-RPC 2.0 message. The id is looked at first,
 * so that every other fault can be answered under it.
 */
#include "rpc/envelope.h"

#include <string.h>

static void invalid(struct envelope *env, struct rpc_error *err, const char *why)
{
	env->kind = ENVELOPE_INVALID;
	rpc_error_set(err, RPC_INVALID_REQUEST, "%s", why);
}

/* RPC_OK, or the fault of a `jsonrpc` member that is neither "2.0" nor allowed to
 * be absent. */
static bool version_ok(const json_t *v, bool compact)
{
	if (!v || json_is_null(v))
		return compact;
	return json_is_string(v) && json_string_length(v) == 3 &&
		strcmp(json_string_value(v), "2.0") == 0;
}

void envelope_read(const json_t *message, struct bytes raw_id, bool compact, struct envelope *ret,
	struct rpc_error *err)
{
	const json_t *version, *method;
	bool is_compact;

	*ret = (struct envelope){ .kind = ENVELOPE_REQUEST };
	if (!json_is_object(message)) {
		invalid(ret, err, "a message must be an object");
		return;
	}
	ret->id_value = json_object_get(message, "id");
	if (ret->id_value && !json_is_string(ret->id_value) && !json_is_number(ret->id_value)) {
		invalid(ret, err, "id must be a string or a number");
		return;
	}
	if (ret->id_value)
		ret->id = raw_id;
	version = json_object_get(message, "jsonrpc");
	if (!version_ok(version, compact)) {
		invalid(ret, err, "jsonrpc must be \"2.0\"");
		return;
	}
	method = json_object_get(message, "method");
	if (!method || json_is_null(method)) {
		invalid(ret, err, "method is missing");
		return;
	}
	if (!json_is_string(method)) {
		invalid(ret, err, "method must be a string");
		return;
	}
	ret->method = (struct bytes){ json_string_value(method), json_string_length(method) };
	ret->params = json_object_get(message, "params");
	is_compact = !version || json_is_null(version);
	if (strncmp(ret->method.data, "notifications/", 14) == 0) {
		if (ret->id_value)
			invalid(ret, err, "a notification must have no id");
		else
			ret->kind = ENVELOPE_NOTIFICATION;
	} else if (!ret->id_value) {
		/* D18: a null id would mean an unparseable request, so it becomes 0. */
		if (is_compact)
			ret->id = (struct bytes){ "0", 1 };
		else
			ret->kind = ENVELOPE_NOTIFICATION;
	}
}
