/*
 * methods/retrieve_check.c: what is refused before a stream starts: what is malformed
 * (-32602) and what is not offered (-32005). With strict:false a preference is dropped
 * and noted; what narrows the result (filter, cursor, minScore, tokenBudget,
 * indexVersion) never is (D40).
 */
#include <string.h>

#include "methods/filter.h"
#include "methods/retrieve.h"
#include "pipeline/version.h"

#define MAX_QUERY_BYTES 65536 /* of text that is looked at; more is no question */

/* R3, D23: candidateK >= rerank.topN >= k among the values as sent. */
static enum rpc_code check_funnel(struct rpc_call *call, const struct methods_retrieve_params *p)
{
	const struct rpc_int *top = &p->rerank.top_n;
	const char *rule = "candidateK >= rerank.topN >= k must hold";

	if (p->k.set && top->set && top->v < p->k.v)
		return rpc_error_field(rpc_call_error(call), "rerank.topN",
			"rerank.topN is less than k: %s", rule);
	if (p->candidate_k.set && top->set && p->candidate_k.v < top->v)
		return rpc_error_field(rpc_call_error(call), "candidateK",
			"candidateK is less than rerank.topN: %s", rule);
	if (p->candidate_k.set && p->k.set && p->candidate_k.v < p->k.v)
		return rpc_error_field(rpc_call_error(call), "candidateK",
			"candidateK is less than k: %s", rule);
	return RPC_OK;
}

static bool is_one_of(struct bytes value, const char *a, const char *b)
{
	return !value.data || bytes_eq(value, bytes_of(a)) || bytes_eq(value, bytes_of(b));
}

static enum rpc_code check_options(struct rpc_call *call, struct methods_retrieve_params *p)
{
	enum rpc_code rc = RPC_OK;

	if (!is_one_of(p->modality, "text", "text"))
		rc = methods_retrieve_refuse_value(call, p, p->modality,
			"only modality text is offered");
	if (!rc && !is_one_of(p->unit, "chunk", "document"))
		rc = methods_retrieve_refuse_value(call, p, p->unit,
			"only the units chunk and document are offered");
	if (!rc && p->rewrite && !json_is_false(p->rewrite))
		rc = methods_retrieve_refuse(call, p, "rewrite", "rewrite is not offered");
	if (!rc && p->level.set)
		rc = methods_retrieve_refuse(call, p, "level", "level is not offered");
	return rc;
}

/*
 * R6: what age is counted by must be an instant. The field may be found while pages are
 * read (R10): so pages end with candidateK either way, and whatever its type is then, the
 * state that they walk through has no values of it.
 */
static enum rpc_code check_recency(struct rpc_call *call, struct methods_retrieve_params *p)
{
	const struct methods *m = rpc_call_methods_arg(call);
	struct engine_field field = { .type = ENGINE_DATE };
	bool first_page = json_string_length(p->cursor) == 0, known;

	if (!p->recency.present)
		return RPC_OK;
	p->has_recency = true;
	known = engine_field_find(m->engine, p->recency.field, &p->recency_field);
	if (known)
		engine_field_at(m->engine, p->recency_field, &field);
	if (field.type == ENGINE_DATE || field.type == ENGINE_INT) {
		if (!known)
			methods_retrieve_note(p, "no document has the field of recency");
	} else if (first_page) {
		return rpc_error_field(rpc_call_error(call), "recency.field",
			"recency.field must be of type date or int, not %s",
			engine_type_name(field.type));
	}
	if (!known)
		p->recency_field = SIZE_MAX; /* the pipeline finds no value under it */
	return RPC_OK;
}

/* R10, D39. An empty cursor is the first page, as an absent one is. */
static enum rpc_code check_cursor(struct rpc_call *call, struct methods_retrieve_params *p)
{
	const struct methods *m = rpc_call_methods_arg(call);
	struct rpc_error *err = rpc_call_error(call);
	unsigned char digest[CURSOR_DIGEST_LEN];
	struct bytes text = { json_string_value(p->cursor), json_string_length(p->cursor) };
	enum status st;

	if (p->cursor && !text.data)
		return rpc_error_field(err, "cursor", "cursor must be a string");
	if (!text.len)
		return RPC_OK;
	st = cursor_read(text, engine_secret(m->engine), &p->place);
	if (st == ST_INVALID)
		return rpc_error_field(err, "cursor", "cursor is none of this server's");
	if (!st)
		st = methods_retrieve_digest(p, digest);
	if (st == ST_NOMEM)
		return methods_nomem(call);
	if (st)
		return rpc_error_set(err, RPC_INTERNAL, "cannot verify the cursor");
	if (memcmp(digest, p->place.digest, sizeof(digest)) != 0)
		return rpc_error_field(err, "cursor",
			"cursor belongs to a request with other parameters");
	p->has_place = true;
	return RPC_OK;
}

enum rpc_code methods_retrieve_check(struct rpc_call *call, void *params)
{
	struct methods_retrieve_params *p = params;
	struct rpc_error *err = rpc_call_error(call);
	enum rpc_code rc = check_funnel(call, p);
	char corpus[VERSION_ID_LEN + 1];
	uint64_t commit;

	if (rc)
		return rc;
	if (p->rewrite && !json_is_false(p->rewrite) && !json_is_string(p->rewrite))
		return rpc_error_field(err, "rewrite", "rewrite must be a string or false");
	if (p->query.text.len > MAX_QUERY_BYTES)
		return rpc_error_set(err, RPC_TOO_LARGE, "a query may have at most %d bytes",
			MAX_QUERY_BYTES);
	if (p->index_version.data && !version_parse(p->index_version, corpus, &commit))
		return rpc_error_field(err, "indexVersion",
			"indexVersion is none of this server's");
	if (p->filter)
		rc = methods_filter_parse(call, p->filter, &p->filter_tree);
	if (!rc)
		rc = check_recency(call, p);
	if (!rc)
		rc = methods_retrieve_choose(call, p);
	if (!rc)
		rc = check_options(call, p);
	return rc ? rc : check_cursor(call, p);
}
