/*
 * pipeline/retrieve.c: the sparse pipeline. A fault point at the start of each
 * stage lets tests stall it.
 */
#include "pipeline/retrieve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "text/query.h"
#include "util/fault.h"

#define DAY_MS 86400000.0

struct run {
	struct engine *en;
	struct engine_view *view;
	const struct retrieve_request *req;
	const struct retrieve_hooks *hooks;
	struct arena *arena;
	struct retrieve_result *out;
	struct error *e;
	struct text_query query;
	struct retrieve_hit *hits;
	size_t n;
};

static void note(struct run *r, const char *text)
{
	if (r->out->note_count < RETRIEVE_MAX_NOTES)
		r->out->notes[r->out->note_count++] = text;
}

/* Announces a stage; ST_CANCELLED if the request should not go on. */
static enum status enter(struct run *r, const char *stage, const char *fault, double progress)
{
	const struct retrieve_hooks *h = r->hooks;
	size_t partial = r->n < r->req->k ? r->n : r->req->k;

	h->stage(h->arg, stage, progress, r->hits, partial);
	if (fault_hit(fault, h->stop, h->arg))
		return error_set(r->e, ST_UNAVAILABLE, "the %s stage failed", stage);
	if (h->stop(h->arg))
		return error_set(r->e, ST_CANCELLED, "cancelled");
	return ST_OK;
}

/* Opens the view and holds it against a pinned version (D35). */
static enum status open_view(struct run *r)
{
	struct bytes pin = r->req->index_version;
	struct engine_stop stop = { r->hooks->stop, r->hooks->arg };
	char corpus[VERSION_ID_LEN + 1];
	uint64_t commit = 0;
	enum status st;

	if (pin.data && !version_parse(pin, corpus, &commit))
		return error_field(r->e, ST_INVALID, "indexVersion",
			"indexVersion is none of this server's");
	st = engine_view_open(r->en, &stop, &r->view, r->e);
	if (st)
		return st;
	if (pin.data &&
		(commit != engine_view_version(r->view) ||
			strcmp(corpus, engine_corpus_id(r->en)) != 0))
		return error_set(r->e, ST_GONE, "this indexVersion is not served any more");
	version_format(engine_corpus_id(r->en), engine_view_version(r->view),
		r->out->index_version);
	return ST_OK;
}

static enum status transform(struct run *r)
{
	enum status st = enter(r, "transform", "retrieve.transform", 0.0);

	if (!st)
		st = text_query_parse(r->req->query, r->arena, &r->query);
	if (st == ST_NOMEM)
		return error_set(r->e, ST_NOMEM, "out of memory");
	if (st)
		return st;
	if (r->query.truncated)
		note(r, "the query was cut to its first 512 words");
	if (r->query.n == 0)
		note(r,
			r->query.only_stop_words
				? "the query has only function words, which match nothing"
				: "the query has no words");
	return ST_OK;
}

static enum status recall(struct run *r)
{
	struct engine_candidate *c = NULL;
	size_t n = 0;
	enum status st = enter(r, "recall", "retrieve.recall", 0.1);

	if (!st && r->query.n)
		st = engine_recall(r->view, &r->query, r->req->candidate_k, r->arena, &c, &n, r->e);
	if (st)
		return st;
	r->hits = arena_array(r->arena, n ? n : 1, sizeof(*r->hits));
	if (!r->hits)
		return error_set(r->e, ST_NOMEM, "out of memory");
	for (size_t i = 0; i < n; i++) {
		r->hits[i].candidate = c[i];
		r->hits[i].score = c[i].score;
	}
	r->n = n;
	r->out->candidates = n;
	return ST_OK;
}

/* Score descending, then document id, then chunk: a total order (R1). */
static int by_score(const void *a, const void *b)
{
	const struct retrieve_hit *x = a, *y = b;
	int c;

	if (x->score != y->score)
		return x->score < y->score ? 1 : -1;
	c = bytes_cmp(x->candidate.doc_id, y->candidate.doc_id);
	if (c)
		return c;
	return (x->candidate.chunk > y->candidate.chunk) -
		(x->candidate.chunk < y->candidate.chunk);
}

static enum status decay_one(struct run *r, struct retrieve_hit *hit, struct arena *scratch)
{
	const struct retrieve_request *req = r->req;
	struct engine_record rec;
	int64_t when;
	enum status st;

	st = engine_fetch(r->view, &hit->candidate, ENGINE_META, scratch, &rec, r->e);
	if (st || !rec.meta.data)
		return st;
	if (r->hooks->meta_date(r->hooks->arg, rec.meta, req->recency_field, &when) &&
		when < req->now_ms) {
		double age_days = ((double)req->now_ms - (double)when) / DAY_MS;

		hit->score *= exp2(-age_days / req->half_life_days);
	}
	return ST_OK;
}

/*
 * R6: score times 2^(-age / half-life). A date in the future counts as now; a
 * document without a date keeps its score, as if it were new.
 */
static enum status decay(struct run *r)
{
	struct arena scratch; /* one candidate's meta at a time */
	enum status st = ST_OK;

	if (!r->req->recency_field.data)
		return ST_OK;
	arena_init(&scratch, 0);
	for (size_t i = 0; i < r->n && !st; i++) {
		st = decay_one(r, &r->hits[i], &scratch);
		arena_release(&scratch);
	}
	if (st)
		return st;
	qsort(r->hits, r->n, sizeof(*r->hits), by_score);
	return ST_OK;
}

/* Reads what the hit's answer carries; *bytes sums it up over the hits. */
static enum status pack_one(struct run *r, struct retrieve_hit *hit, unsigned want, size_t *bytes)
{
	struct engine_record *rec = &hit->record;
	enum status st = engine_fetch(r->view, &hit->candidate, want, r->arena, rec, r->e);

	if (st)
		return st;
	*bytes += rec->text.len + rec->meta.len;
	if (*bytes > RETRIEVE_MAX_ANSWER)
		return error_set(r->e, ST_TOO_LARGE,
			"the hits are larger than %u MiB together; ask for fewer, or without "
			"their texts (includeText)",
			RETRIEVE_MAX_ANSWER >> 20);
	if (r->hooks->stop(r->hooks->arg))
		return error_set(r->e, ST_CANCELLED, "cancelled");
	return ST_OK;
}

static enum status pack(struct run *r)
{
	const struct retrieve_request *req = r->req;
	unsigned want = ENGINE_META | ENGINE_CITATION | (req->want_text ? ENGINE_TEXT : 0);
	size_t bytes = 0;
	enum status st = decay(r);

	if (!st)
		st = enter(r, "pack", "retrieve.pack", 0.8);
	if (st)
		return st;
	if (r->n > req->k)
		r->n = req->k;
	while (req->has_min_score && r->n && r->hits[r->n - 1].score < req->min_score)
		r->n--;
	for (size_t i = 0; i < r->n && !st; i++)
		st = pack_one(r, &r->hits[i], want, &bytes);
	r->out->hits = r->hits;
	r->out->n = r->n;
	return st;
}

enum status retrieve_run(struct engine *en, const struct retrieve_request *req,
	const struct retrieve_hooks *hooks, struct arena *arena, struct retrieve_result *ret,
	struct error *e)
{
	struct retrieve_result out = { .n = 0 };
	struct run r = { .en = en,
		.req = req,
		.hooks = hooks,
		.arena = arena,
		.out = &out,
		.e = e };
	enum status st;

	st = open_view(&r);
	if (!st)
		st = transform(&r);
	if (!st)
		st = recall(&r);
	if (!st)
		st = pack(&r);
	engine_view_close(r.view);
	if (!st)
		*ret = out;
	return st;
}
