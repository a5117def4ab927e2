/*
 * pipeline/pack.c: one page of the list, with its texts, as long as an answer may be.
 */
#include "pipeline/private.h"
#include "text/chunk.h"

#define VECTOR_DIGITS 22 /* bytes of a number of a vector in JSON, at most */

enum status retrieve_page(struct retrieve_run *r)
{
	const struct retrieve_request *req = r->req;
	struct retrieve_result *out = r->out;
	size_t at = req->offset < r->list.n ? req->offset : r->list.n;
	size_t n = r->list.n - at < req->k ? r->list.n - at : req->k;

	out->hits = arena_array(r->arena, n ? n : 1, sizeof(*out->hits));
	if (!out->hits)
		return retrieve_nomem(r);
	for (size_t i = 0; i < n; i++) {
		const struct retrieve_entry *x = &r->list.v[at + i];
		struct retrieve_hit *hit = &out->hits[i];

		hit->candidate = x->candidate;
		hit->score = x->score;
		hit->scores = x->scores;
		/* the id outlives the view */
		if (arena_dup_bytes(r->arena, x->candidate.doc_id, &hit->candidate.doc_id))
			return retrieve_nomem(r);
	}
	out->n = n;
	return ST_OK;
}

/* Tokens of a text that nobody wants to see: it is gone again afterwards. */
static enum status count_tokens(struct retrieve_run *r, const struct engine_candidate *c,
	unsigned whole, uint64_t *ret)
{
	struct engine_record rec;
	struct arena scratch;
	enum status st;

	arena_init(&scratch, 0);
	st = engine_fetch(r->view, c, ENGINE_TEXT | whole, &scratch, &rec, r->e);
	if (!st)
		*ret = text_tokens(rec.text);
	arena_release(&scratch);
	return st;
}

static enum status fetch_vector(struct retrieve_run *r, struct retrieve_hit *hit)
{
	float *v = arena_array(r->arena, r->space.dimension, sizeof(*v));

	if (!v)
		return retrieve_nomem(r);
	if (engine_vector(r->view, hit->candidate.key, v))
		hit->vector = v;
	return ST_OK;
}

/* Reads what the hit's answer carries, and with a token budget its tokens. */
static enum status fetch(struct retrieve_run *r, struct retrieve_hit *hit, uint64_t *ret_tokens)
{
	const struct retrieve_request *req = r->req;
	unsigned whole = req->unit == RETRIEVE_DOCUMENT ? ENGINE_WHOLE : 0;
	unsigned want = ENGINE_META | ENGINE_CITATION | whole;
	struct engine_record rec;
	enum status st;

	if (req->want_text)
		want |= ENGINE_TEXT;
	st = engine_fetch(r->view, &hit->candidate, want, r->arena, &rec, r->e);
	if (!st && req->token_budget && !req->want_text)
		st = count_tokens(r, &hit->candidate, whole, ret_tokens);
	else if (!st && req->token_budget)
		*ret_tokens = text_tokens(rec.text);
	if (!st && req->want_vectors && r->has_space)
		st = fetch_vector(r, hit);
	if (!st)
		hit->record = rec;
	return st;
}

static enum status check_size(struct retrieve_run *r, const struct retrieve_hit *hit, size_t *bytes)
{
	*bytes += hit->record.text.len + hit->record.meta.len;
	if (hit->vector)
		*bytes += r->space.dimension * VECTOR_DIGITS;
	if (*bytes <= RETRIEVE_MAX_ANSWER)
		return ST_OK;
	return error_set(r->e, ST_TOO_LARGE,
		"the hits are larger than %u MiB together; ask for fewer, or without "
		"their texts (includeText)",
		RETRIEVE_MAX_ANSWER >> 20);
}

/* Says where the page ends: `packed` of its hits are answered. */
static void close_page(struct retrieve_run *r, size_t packed)
{
	struct retrieve_result *out = r->out;
	size_t at = r->req->offset < r->list.n ? r->req->offset : r->list.n;

	out->next_offset = at + packed;
	if (!packed && out->n) {
		/* Pages must go on: the hit that no page has room for is passed over. */
		out->next_offset = at + 1;
		retrieve_note(r, "the next hit has more tokens than tokenBudget and was left out");
	}
	if (packed && out->next_offset > r->list.matched)
		retrieve_note(r,
			"some hits share no word with the query; they only pass the filter");
	out->n = packed;
	out->more = out->next_offset < r->list.n;
}

enum status retrieve_pack(struct retrieve_run *r)
{
	struct retrieve_result *out = r->out;
	size_t bytes = 0, packed = 0;

	if (r->req->want_vectors && !r->has_space)
		retrieve_note(r, "this state of the corpus has no vectors");
	while (packed < out->n) {
		struct retrieve_hit *hit = &out->hits[packed];
		uint64_t tokens = 0;
		enum status st = fetch(r, hit, &tokens);

		if (st)
			return st;
		if (tokens > r->req->token_budget - out->tokens)
			break; /* R7: never half a hit */
		st = check_size(r, hit, &bytes);
		if (!st)
			st = retrieve_stopped(r);
		if (st)
			return st;
		out->tokens += tokens;
		packed++;
	}
	close_page(r, packed);
	return ST_OK;
}
