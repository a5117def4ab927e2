/*
 * query.c: a question's words. They are analysed like the documents they are to meet: in
 * the question's language if the corpus has documents in it, else in the language of
 * most documents, because a question is often too short to tell (docs/QUALITY.md).
 */
#include "engine/private.h"

struct words {
	struct engine_query *out;
	struct arena *arena;
	bool any; /* there was a word at all */
	bool failed;
};

static int take_word(void *arg, const struct text_term *t)
{
	struct words *w = arg;
	struct engine_query *q = w->out;
	char *copy;

	if (t->flags & TEXT_TERM_INNER)
		return 0;
	w->any = true;
	if (t->flags & TEXT_TERM_STOP)
		return 0;
	if (q->n == ENGINE_MAX_TERMS) {
		q->truncated = true;
		return 1;
	}
	copy = arena_dup(w->arena, t->data, t->len);
	if (!copy) {
		w->failed = true;
		return 1;
	}
	q->terms[q->n++] = (struct bytes){ copy, t->len };
	return 0;
}

static enum text_lang language_of(const struct engine_view *v, struct bytes text)
{
	const uint64_t *documents = v->state->totals.languages;
	enum text_lang lang = text_lang_detect(text), most = v->en->language;

	if (lang != TEXT_LANG_NONE && documents[lang] > 0)
		return lang;
	for (unsigned l = 0; l < TEXT_LANG_COUNT; l++)
		if (documents[l] > documents[most])
			most = (enum text_lang)l;
	return most;
}

/* The sum over the terms of the most that BM25 gives for each: idf (k1 + 1). */
static double bound_of(const struct engine_view *v, const struct engine_query *q)
{
	double sum = 0;

	for (size_t i = 0; i < q->n; i++) {
		uint64_t df = lexical_document_frequency(v->state->index, q->terms[i]);

		if (df > 0)
			sum += lexical_idf(v->state->totals.chunks, df) * (v->en->k1 + 1);
	}
	return sum;
}

enum status engine_analyze(struct engine_view *v, struct bytes text, struct arena *arena,
	struct engine_query *ret, struct error *e)
{
	struct words w = { .out = ret, .arena = arena };
	struct analyzer *a = NULL;
	enum status st;

	*ret = (struct engine_query){ .n = 0 };
	ret->terms = arena_array(arena, ENGINE_MAX_TERMS, sizeof(*ret->terms));
	if (!ret->terms)
		return engine_no_memory(e);
	st = analyzer_take(&v->en->analyzers, &a, e);
	if (st)
		return st;
	st = text_analyze(analyzer_text(a), text, language_of(v, text), take_word, &w);
	analyzer_put(&v->en->analyzers, a);
	if (w.failed || st == ST_NOMEM)
		return engine_no_memory(e);
	if (st && st != ST_CANCELLED)
		return error_set(e, st, "the query cannot be analysed");
	ret->only_stop_words = w.any && ret->n == 0;
	ret->bound = bound_of(v, ret);
	return ST_OK;
}
