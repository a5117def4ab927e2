/*
 * methods/document.c: one document of index/add (X7, D36, D37, D45): its id, its text,
 * what the text is written in, its meta and what of the meta the server understands. A
 * bad member is named by its place.
 */
#include "methods/document.h"

#include <stdio.h>

#include "methods/common.h"
#include "methods/filter.h"
#include "util/crypto.h"

#define MINTED_ID_LEN 32

const json_t *document_member(const json_t *object, const char *key)
{
	const json_t *v = json_object_get(object, key);

	return v && !json_is_null(v) ? v : NULL;
}

static struct bytes string_member(const json_t *object, const char *key)
{
	const json_t *v = json_object_get(object, key);

	if (!json_is_string(v))
		return BYTES_NONE;
	return (struct bytes){ json_string_value(v), json_string_length(v) };
}

static enum rpc_code read_id(struct rpc_call *call, const json_t *doc, size_t i, struct bytes *ret)
{
	const json_t *id = document_member(doc, "id");
	char path[64];
	char minted[MINTED_ID_LEN + 1];
	char *copy;

	if (id) {
		snprintf(path, sizeof(path), "documents[%zu].id", i);
		*ret = (struct bytes){ json_string_value(id), json_string_length(id) };
		if (!json_is_string(id) || ret->len < 1 || ret->len > ENGINE_MAX_ID)
			return rpc_error_field(rpc_call_error(call), path,
				"%s must be a string of 1 to %d bytes", path, ENGINE_MAX_ID);
		return RPC_OK;
	}
	if (crypto_random_hex(MINTED_ID_LEN / 2, minted))
		return rpc_error_set(rpc_call_error(call), RPC_INTERNAL, "no random bytes");
	copy = arena_dup(rpc_call_arena(call), minted, MINTED_ID_LEN);
	if (!copy)
		return methods_nomem(call);
	*ret = (struct bytes){ copy, MINTED_ID_LEN };
	return RPC_OK;
}

/* `text`, else `content`. */
static const json_t *body_of(const json_t *doc)
{
	const json_t *text = document_member(doc, "text");

	return text ? text : document_member(doc, "content");
}

/* A string, a text block or an array of them (M13). */
static enum rpc_code read_text(struct rpc_call *call, const json_t *doc, size_t i,
	struct bytes *ret)
{
	const json_t *body = body_of(doc);
	bool content = body && !document_member(doc, "text");
	char path[64];

	snprintf(path, sizeof(path), "documents[%zu].%s", i, content ? "content" : "text");
	if (!body)
		return rpc_error_field(rpc_call_error(call), path, "%s is required", path);
	return rpc_text_parse(body, path, true, rpc_call_arena(call), ret, rpc_call_error(call));
}

/* What the text is written in: as its first block says, else its meta, else its
 * address or its looks tell. */
static enum text_format format_of(const json_t *doc, const struct engine_document *d)
{
	const json_t *body = body_of(doc);
	struct bytes mime;

	if (json_is_array(body))
		body = json_array_get(body, 0);
	mime = string_member(body, "mimeType");
	if (!mime.data)
		mime = string_member(json_object_get(doc, "meta"), "mimeType");
	return text_format_of(mime, d->uri, d->text);
}

static enum rpc_code write_meta(struct rpc_call *call, const json_t *meta, struct bytes *ret)
{
	struct strbuf text = STRBUF_INIT;
	struct json_writer w;
	int lost;

	json_writer_init(&w, &text);
	jw_json(&w, meta);
	lost = !json_writer_ok(&w) ||
		arena_dup_bytes(rpc_call_arena(call), (struct bytes){ text.data, text.len }, ret);
	strbuf_release(&text);
	return lost ? methods_nomem(call) : RPC_OK;
}

/* meta as JSON text, as values, and what of it the server understands itself (D45). */
static enum rpc_code read_meta(struct rpc_call *call, const json_t *doc, size_t i,
	struct engine_document *ret)
{
	const json_t *meta = document_member(doc, "meta");
	struct engine_value *values;
	char path[64];
	enum rpc_code rc;

	if (!meta)
		return RPC_OK;
	if (!json_is_object(meta)) {
		snprintf(path, sizeof(path), "documents[%zu].meta", i);
		return rpc_error_field(rpc_call_error(call), path, "%s must be an object", path);
	}
	rc = write_meta(call, meta, &ret->meta);
	if (rc)
		return rc;
	if (methods_values_read(meta, rpc_call_arena(call), &values, &ret->value_count))
		return methods_nomem(call);
	ret->values = values;
	ret->title = string_member(meta, "title");
	ret->uri = string_member(meta, "uri");
	if (!ret->uri.data)
		ret->uri = string_member(meta, "url");
	ret->source = string_member(meta, "source");
	ret->lang = string_member(meta, "lang");
	return RPC_OK;
}

enum rpc_code document_read(struct rpc_call *call, const json_t *doc, size_t i,
	struct engine_document *ret)
{
	char path[64];
	enum rpc_code rc;

	if (!json_is_object(doc)) {
		snprintf(path, sizeof(path), "documents[%zu]", i);
		return rpc_error_field(rpc_call_error(call), path, "%s must be an object", path);
	}
	rc = read_id(call, doc, i, &ret->id);
	if (!rc)
		rc = read_text(call, doc, i, &ret->text);
	if (!rc)
		rc = read_meta(call, doc, i, ret);
	if (!rc)
		ret->format = format_of(doc, ret);
	return rc;
}
