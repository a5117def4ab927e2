/*
 * methods/index.c: index/add and index/delete, between JSON and the pipeline (X7, X8,
 * D34, D36, D37). Documents are read by document.c; nothing of a call is applied if
 * anything of it is refused.
 */
#include "methods/common.h"
#include "methods/document.h"
#include "methods/filter.h"
#include "pipeline/ingest.h"
#include "pipeline/version.h"
#include "util/crypto.h"
#include "util/fault.h"

#define MAX_IDEMPOTENCY_KEY 256

#define ADD_AT(field) offsetof(struct methods_index_add_params, field)
#define DELETE_AT(field) offsetof(struct methods_index_delete_params, field)

/* clang-format off */
const struct rpc_param methods_index_add_table[METHODS_INDEX_ADD_PARAMS] = {
	{ .name = "documents", .type = RPC_P_JSON_ARRAY, .flags = RPC_P_REQUIRED,
	  .offset = ADD_AT(documents),
	  .summary = "{id?, text, meta?, x-rcpd-vector?} each; title, uri, source, lang and mimeType of "
	  "meta are used" },
	{ .name = "chunk", .type = RPC_P_BOOL, .offset = ADD_AT(chunk),
	  .summary = "true: texts beyond chunk_tokens are cut, default false" },
	{ .name = "contextual", .type = RPC_P_BOOL, .offset = ADD_AT(contextual),
	  .summary = "true: the headings above a chunk are searched with it" },
};

const struct rpc_param methods_index_delete_table[METHODS_INDEX_DELETE_PARAMS] = {
	{ .name = "ids", .type = RPC_P_STRINGS, .min = 1, .max = ENGINE_MAX_ID,
	  .offset = DELETE_AT(ids), .summary = "document ids; absent ones do not count" },
	{ .name = "filter", .type = RPC_P_JSON, .offset = DELETE_AT(filter),
	  .summary = "instead of ids: the documents that pass" },
};
/* clang-format on */

/* ---- index/add ---- */

enum rpc_code methods_index_add_check(struct rpc_call *call, void *params)
{
	const struct methods_index_add_params *p = params;
	const struct methods *m = rpc_call_methods_arg(call);

	if (json_array_size(p->documents) > m->max_documents)
		return rpc_error_set(rpc_call_error(call), RPC_TOO_LARGE,
			"a call may have at most %zu documents, not %zu", m->max_documents,
			json_array_size(p->documents));
	return RPC_OK;
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
	return lost ? methods_nomem(call) : RPC_OK;
}

/*
 * `_meta.idempotencyKey`: the same key gives the first result again, and with
 * another body it is a conflict. The body's digest is over its JSON text, in which
 * spelling of white space and numbers does not matter, and the options that are not
 * the defaults: bodies without any have had the same digest in every version.
 */
static enum rpc_code read_once(struct rpc_call *call, const struct methods_index_add_params *p,
	struct engine_once *ret)
{
	const json_t *key = document_member(rpc_call_meta(call), "idempotencyKey");
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
	if (p->chunk == RPC_TRUE)
		strbuf_adds(&text, " cut");
	if (p->contextual == RPC_TRUE)
		strbuf_adds(&text, " contextual");
	failed = !json_writer_ok(&w) || crypto_sha256(text.data, text.len, ret->hash);
	strbuf_release(&text);
	return failed ? methods_nomem(call) : RPC_OK;
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
		return methods_nomem(call);
	for (size_t i = 0; i < n; i++) {
		enum rpc_code rc =
			document_read(call, json_array_get(p->documents, i), i, &docs[i]);

		if (rc)
			return rc;
	}
	*ret = docs;
	*ret_n = n;
	return document_read_vectors(call, p->documents, docs);
}

static void write_added(struct rpc_call *call, const struct engine_commit *commit, struct bytes ids,
	struct json_writer *out)
{
	jw_object(out);
	jw_key(out, "ids");
	jw_raw(out, ids.data, ids.len);
	jw_kv_int(out, "chunks", (int64_t)commit->chunks);
	write_version(call, out, commit->version);
	jw_end(out);
}

enum rpc_code methods_index_add(struct rpc_call *call, const void *params, struct json_writer *out)
{
	const struct methods_index_add_params *p = params;
	const struct methods *m = rpc_call_methods_arg(call);
	const struct engine_stop stop = { methods_stop, call };
	const struct ingest_options opt = { .chunk = p->chunk == RPC_TRUE,
		.contextual = p->contextual == RPC_TRUE,
		.size = { m->chunk_target, m->chunk_overlap, ENGINE_MAX_CHUNKS },
		.models = m->models,
		.gate = m->gate };
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
		rc = methods_nomem(call);
	if (rc)
		return rc;
	if (fault_hit("index.add", methods_stop, call))
		return rpc_error_set(rpc_call_error(call), RPC_UNAVAILABLE, "index.add failed");
	if (ingest_run(m->engine, docs, n, &opt, &once, &stop, rpc_call_arena(call), &commit, &e))
		return methods_fail(call, &e);
	rpc_call_log(call, LOG_INFO, "index", "%zu documents added", n);
	write_added(call, &commit, commit.repeated ? commit.result : once.result, out);
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
		return RPC_OK;
	if (!p->ids.set)
		return rpc_error_field(err, "ids", "ids or filter is required");
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
	struct engine_filter *filter = NULL;
	struct engine_commit commit;
	enum rpc_code rc = RPC_OK;
	enum status st;
	struct error e;

	if (!reserve_answer(out, 0))
		return methods_nomem(call);
	if (p->filter)
		rc = methods_filter_parse(call, p->filter, &filter);
	if (rc)
		return rc;
	st = filter ? engine_delete_where(m->engine, filter, &stop, &commit, &e)
		    : engine_delete(m->engine, p->ids.v, p->ids.n, &stop, &commit, &e);
	if (st)
		return methods_fail(call, &e);
	rpc_call_log(call, LOG_INFO, "index", "%llu documents deleted",
		(unsigned long long)commit.documents);
	jw_object(out);
	jw_kv_int(out, "deleted", (int64_t)commit.documents);
	write_version(call, out, commit.version);
	jw_end(out);
	return RPC_OK;
}
