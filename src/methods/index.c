/*
 * methods/index.c: index/add and index/delete, between JSON and the engine (X7,
 * X8, D34, D36, D37). A bad member of a list is named by its place, and nothing of
 * the call is applied.
 */
#include <stdio.h>
#include <string.h>

#include "methods/common.h"
#include "pipeline/version.h"
#include "util/crypto.h"
#include "util/fault.h"

#define MINTED_ID_LEN 32
#define MAX_IDEMPOTENCY_KEY 256

#define ADD_AT(field) offsetof(struct methods_index_add_params, field)
#define DELETE_AT(field) offsetof(struct methods_index_delete_params, field)

/* clang-format off */
const struct rpc_param methods_index_add_table[METHODS_INDEX_ADD_PARAMS] = {
	{ .name = "documents", .type = RPC_P_JSON_ARRAY, .flags = RPC_P_REQUIRED,
	  .offset = ADD_AT(documents),
	  .summary = "{id?, text, meta?} each; title, uri, source and lang of meta are used" },
	{ .name = "chunk", .type = RPC_P_BOOL, .offset = ADD_AT(chunk) },
	{ .name = "contextual", .type = RPC_P_BOOL, .offset = ADD_AT(contextual) },
};

const struct rpc_param methods_index_delete_table[METHODS_INDEX_DELETE_PARAMS] = {
	{ .name = "ids", .type = RPC_P_STRINGS, .min = 1, .max = ENGINE_MAX_ID,
	  .offset = DELETE_AT(ids), .summary = "document ids; absent ones do not count" },
	{ .name = "filter", .type = RPC_P_JSON, .offset = DELETE_AT(filter) },
};
/* clang-format on */

/* ---- index/add ---- */

enum rpc_code methods_index_add_check(struct rpc_call *call, void *params)
{
	const struct methods_index_add_params *p = params;
	const struct methods *m = rpc_call_methods_arg(call);
	struct rpc_error *err = rpc_call_error(call);

	if (p->chunk == RPC_TRUE)
		return rpc_error_option(err, "chunk", "chunking is not offered");
	if (p->contextual == RPC_TRUE)
		return rpc_error_option(err, "contextual", "contextual chunks are not offered");
	if (json_array_size(p->documents) > m->max_documents)
		return rpc_error_set(err, RPC_TOO_LARGE,
			"a call may have at most %zu documents, not %zu", m->max_documents,
			json_array_size(p->documents));
	return RPC_OK;
}

static enum rpc_code no_memory(struct rpc_call *call)
{
	return rpc_error_set(rpc_call_error(call), RPC_UNAVAILABLE, "out of memory");
}

/* The member named, with null as absent. */
static const json_t *member(const json_t *object, const char *key)
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
	const json_t *id = member(doc, "id");
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
		return no_memory(call);
	*ret = (struct bytes){ copy, MINTED_ID_LEN };
	return RPC_OK;
}

/* `text`, else `content`: a string, a text block or an array of them (M13). */
static enum rpc_code read_text(struct rpc_call *call, const json_t *doc, size_t i,
	struct bytes *ret)
{
	const json_t *text = member(doc, "text");
	const json_t *body = text ? text : member(doc, "content");
	char path[64];

	snprintf(path, sizeof(path), "documents[%zu].%s", i, text || !body ? "text" : "content");
	if (!body)
		return rpc_error_field(rpc_call_error(call), path, "%s is required", path);
	return rpc_text_parse(body, path, true, rpc_call_arena(call), ret, rpc_call_error(call));
}

/* meta as JSON text, and what of it the server understands itself (D45). */
static enum rpc_code read_meta(struct rpc_call *call, const json_t *doc, size_t i,
	struct engine_document *ret)
{
	const json_t *meta = member(doc, "meta");
	struct strbuf text = STRBUF_INIT;
	struct json_writer w;
	char path[64];
	int lost;

	if (!meta)
		return RPC_OK;
	if (!json_is_object(meta)) {
		snprintf(path, sizeof(path), "documents[%zu].meta", i);
		return rpc_error_field(rpc_call_error(call), path, "%s must be an object", path);
	}
	json_writer_init(&w, &text);
	jw_json(&w, meta);
	lost = !json_writer_ok(&w) ||
		arena_dup_bytes(rpc_call_arena(call), (struct bytes){ text.data, text.len },
			&ret->meta);
	strbuf_release(&text);
	if (lost)
		return no_memory(call);
	ret->title = string_member(meta, "title");
	ret->uri = string_member(meta, "uri");
	if (!ret->uri.data)
		ret->uri = string_member(meta, "url");
	ret->source = string_member(meta, "source");
	ret->lang = string_member(meta, "lang");
	return RPC_OK;
}

static enum rpc_code read_document(struct rpc_call *call, const json_t *doc, size_t i,
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
	return rc ? rc : read_meta(call, doc, i, ret);
}

/* The ids of the answer as JSON text, in input order. */
static enum rpc_code write_ids(struct rpc_call *call, const struct engine_document *docs, size_t n,
	struct bytes *ret)
{
	struct strbuf text = STRBUF_INIT;
	struct json_writer w;
	int lost;

	json_writer_init(&w, &text);
	jw_array(&w);
	for (size_t i = 0; i < n; i++)
		jw_bytes(&w, docs[i].id);
	jw_end(&w);
	lost = !json_writer_ok(&w) ||
		arena_dup_bytes(rpc_call_arena(call), (struct bytes){ text.data, text.len }, ret);
	strbuf_release(&text);
	return lost ? no_memory(call) : RPC_OK;
}

/*
 * `_meta.idempotencyKey`: the same key gives the first result again, and with
 * another body it is a conflict. The body's digest is over its JSON text, in which
 * spelling of white space and numbers does not matter.
 */
static enum rpc_code read_once(struct rpc_call *call, const struct methods_index_add_params *p,
	struct engine_once *ret)
{
	const json_t *key = member(rpc_call_meta(call), "idempotencyKey");
	struct strbuf text = STRBUF_INIT;
	struct json_writer w;
	int failed;

	if (!key)
		return RPC_OK;
	if (!json_is_string(key) || json_string_length(key) < 1 ||
		json_string_length(key) > MAX_IDEMPOTENCY_KEY)
		return rpc_error_field(rpc_call_error(call), "_meta.idempotencyKey",
			"_meta.idempotencyKey must be a string of 1 to %d bytes",
			MAX_IDEMPOTENCY_KEY);
	ret->owner = bytes_of(rpc_call_caller(call)->identity);
	ret->key = (struct bytes){ json_string_value(key), json_string_length(key) };
	json_writer_init(&w, &text);
	jw_json(&w, p->documents);
	failed = !json_writer_ok(&w) || crypto_sha256(text.data, text.len, ret->hash);
	strbuf_release(&text);
	return failed ? no_memory(call) : RPC_OK;
}

static void write_version(struct rpc_call *call, struct json_writer *out, uint64_t commit)
{
	const struct methods *m = rpc_call_methods_arg(call);
	char text[VERSION_MAX];

	version_format(engine_corpus_id(m->engine), commit, text);
	jw_kv_string(out, "indexVersion", text);
}

/* Room for the answer is made before the commit: a write that is done must not be
 * reported as failed for want of memory. */
static bool reserve_answer(struct json_writer *out, size_t ids_len)
{
	return strbuf_grow(out->out, ids_len + 256);
}

static enum rpc_code read_documents(struct rpc_call *call, const struct methods_index_add_params *p,
	struct engine_document **ret, size_t *ret_n)
{
	size_t n = json_array_size(p->documents);
	struct engine_document *docs = arena_array(rpc_call_arena(call), n ? n : 1, sizeof(*docs));

	if (!docs)
		return no_memory(call);
	for (size_t i = 0; i < n; i++) {
		enum rpc_code rc =
			read_document(call, json_array_get(p->documents, i), i, &docs[i]);

		if (rc)
			return rc;
	}
	*ret = docs;
	*ret_n = n;
	return RPC_OK;
}

enum rpc_code methods_index_add(struct rpc_call *call, const void *params, struct json_writer *out)
{
	const struct methods_index_add_params *p = params;
	const struct methods *m = rpc_call_methods_arg(call);
	const struct engine_stop stop = { methods_stop, call };
	struct engine_once once = { .key = BYTES_NONE };
	struct engine_document *docs = NULL;
	struct engine_commit commit;
	struct error e;
	size_t n = 0;
	enum rpc_code rc;

	rc = read_documents(call, p, &docs, &n);
	if (!rc)
		rc = read_once(call, p, &once);
	if (!rc)
		rc = write_ids(call, docs, n, &once.result);
	if (!rc && !reserve_answer(out, once.result.len))
		rc = no_memory(call);
	if (rc)
		return rc;
	if (fault_hit("index.add", methods_stop, call))
		return rpc_error_set(rpc_call_error(call), RPC_UNAVAILABLE, "index.add failed");
	if (engine_add(m->engine, docs, n, &once, &stop, rpc_call_arena(call), &commit, &e))
		return methods_fail(call, &e);
	rpc_call_log(call, LOG_INFO, "index", "%zu documents added", n);
	jw_object(out);
	jw_key(out, "ids");
	if (commit.repeated)
		jw_raw(out, commit.result.data, commit.result.len);
	else
		jw_raw(out, once.result.data, once.result.len);
	jw_kv_int(out, "chunks", (int64_t)commit.chunks);
	write_version(call, out, commit.version);
	jw_end(out);
	return RPC_OK;
}

/* ---- index/delete ---- */

enum rpc_code methods_index_delete_check(struct rpc_call *call, void *params)
{
	const struct methods_index_delete_params *p = params;
	const struct methods *m = rpc_call_methods_arg(call);
	struct rpc_error *err = rpc_call_error(call);

	if (p->filter && p->ids.set)
		return rpc_error_field(err, "ids", "ids and filter exclude each other");
	if (p->filter)
		return rpc_error_option(err, "filter", "filter is not offered");
	if (!p->ids.set)
		return rpc_error_field(err, "ids", "ids is required");
	if (p->ids.n > m->max_documents)
		return rpc_error_set(err, RPC_TOO_LARGE, "a call may have at most %zu ids, not %zu",
			m->max_documents, p->ids.n);
	return RPC_OK;
}

enum rpc_code methods_index_delete(struct rpc_call *call, const void *params,
	struct json_writer *out)
{
	const struct methods_index_delete_params *p = params;
	const struct methods *m = rpc_call_methods_arg(call);
	const struct engine_stop stop = { methods_stop, call };
	struct engine_commit commit;
	struct error e;

	if (!reserve_answer(out, 0))
		return no_memory(call);
	if (engine_delete(m->engine, p->ids.v, p->ids.n, &stop, &commit, &e))
		return methods_fail(call, &e);
	rpc_call_log(call, LOG_INFO, "index", "%llu documents deleted",
		(unsigned long long)commit.documents);
	jw_object(out);
	jw_kv_int(out, "deleted", (int64_t)commit.documents);
	write_version(call, out, commit.version);
	jw_end(out);
	return RPC_OK;
}
