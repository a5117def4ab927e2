/*
 * recall.c: the first ranking stage: the query's words against the store's
 * full-text index, any of them enough, BM25 over title and text.
 *
 * The match expression is made of terms alone: each one a quoted string, quotes in
 * it doubled, joined by OR. A repeated term is repeated and so counts twice.
 */
#include "engine/private.h"

#include "text/query.h"
#include "util/fault.h"
#include "util/strbuf.h"

static void add_term(struct strbuf *out, struct bytes term)
{
	strbuf_addc(out, '"');
	for (size_t i = 0; i < term.len; i++) {
		char c = term.data[i];

		if (c == '"')
			strbuf_addc(out, '"');
		strbuf_addc(out, c ? c : ' '); /* the expression ends at a NUL */
	}
	strbuf_addc(out, '"');
}

static void add_terms(struct strbuf *out, const struct text_query *q)
{
	for (size_t i = 0; i < q->n; i++) {
		if (i > 0)
			strbuf_adds(out, " OR ");
		add_term(out, q->terms[i]);
	}
}

/* The stall of a test ends early when the view is told to stop. */
static enum status pass_fault_point(struct engine_view *v, struct error *e)
{
	const struct engine_stop *stop = store_view_stop(v->rows);

	if (fault_hit("store.recall", stop->fn, stop->arg))
		return error_set(e, ST_IO, "cannot read the corpus: the disk failed");
	if (stop->fn && stop->fn(stop->arg))
		return error_set(e, ST_CANCELLED, "cancelled");
	return ST_OK;
}

enum status engine_recall(struct engine_view *v, const struct text_query *q, size_t k,
	struct arena *arena, struct engine_candidate **ret, size_t *ret_n, struct error *e)
{
	struct strbuf match = STRBUF_INIT;
	enum status st = pass_fault_point(v, e);

	if (st)
		return st;
	if (q->n == 0 || k == 0) {
		*ret = NULL;
		*ret_n = 0;
		return ST_OK;
	}
	add_terms(&match, q);
	if (strbuf_ok(&match))
		st = store_view_search(v->rows, (struct bytes){ match.data, match.len }, k, arena,
			ret, ret_n, e);
	else
		st = error_set(e, ST_NOMEM, "out of memory");
	strbuf_release(&match);
	return st;
}
