/*
 * weights.c: what of the corpus models are made from: samples of its texts, and its terms
 * with their weights as sparse vectors.
 */
#include "engine/private.h"

#include "util/mem.h"

/* ---- samples ---- */

struct sampling {
	int64_t *keys; /* mem_resize */
	size_t n, cap;
	bool failed;
	engine_text_fn *fn;
	void *arg;
	struct arena scratch;
};

static bool take_key(void *arg, int64_t key)
{
	struct sampling *s = arg;

	if (s->n == s->cap) {
		size_t cap = s->cap ? s->cap * 2 : 1024;
		int64_t *keys = mem_resize(s->keys, cap * sizeof(*keys));

		s->failed = keys == NULL;
		if (s->failed)
			return false;
		s->keys = keys;
		s->cap = cap;
	}
	s->keys[s->n++] = key;
	return true;
}

static enum status give_text(void *arg, const struct store_row *row, struct error *e)
{
	struct sampling *s = arg;
	struct bytes context = row->contextual ? row->context : BYTES_NONE, text;
	enum status st = engine_join_text(row->title, context, row->text, row->format, &s->scratch,
		&text, e);

	if (!st)
		st = s->fn(s->arg, row->key, text, e);
	arena_release(&s->scratch);
	return st;
}

uint64_t engine_chunk_count(struct engine *en)
{
	struct engine_state *state = states_current(&en->states);
	uint64_t n = state->totals.chunks;

	states_unref(&en->states, state);
	return n;
}

enum status engine_sample(struct engine_view *v, size_t most, engine_text_fn *fn, void *arg,
	struct error *e)
{
	uint64_t chunks = v->state->totals.chunks;
	struct sampling s = { .fn = fn, .arg = arg };
	struct store_reader *r;
	enum status st = view_reader(v, &r, e);

	if (st || most == 0)
		return st;
	arena_init(&s.scratch, 0);
	lexical_each_key(v->state->index, (chunks + most - 1) / most + (chunks == 0), take_key, &s);
	if (s.failed)
		st = engine_no_memory(e);
	for (size_t i = 0; !st && i < s.n; i++) {
		st = store_one_row(r, s.keys[i], give_text, &s, e);
		if (!st && engine_stopped(&v->stop))
			st = error_set(e, ST_CANCELLED, "cancelled");
	}
	arena_release(&s.scratch);
	mem_free(s.keys);
	return st;
}

/* ---- weights ---- */

static enum status weigh_bag(struct engine_view *v, const struct bag *bag, struct arena *arena,
	struct engine_weight **ret, size_t *ret_n, struct error *e)
{
	struct engine_weight *w = arena_array(arena, bag->n ? bag->n : 1, sizeof(*w));

	if (!w)
		return engine_no_memory(e);
	for (size_t i = 0; i < bag->n; i++) {
		w[i].weight = lexical_weight(v->state->index, bag->terms[i].tf, bag->length);
		if (arena_dup_bytes(arena, bag->terms[i].term, &w[i].term))
			return engine_no_memory(e);
	}
	*ret = w;
	*ret_n = bag->n;
	return ST_OK;
}

static enum status weigh_document(struct engine_view *v, struct bytes text, struct arena *arena,
	struct engine_weight **ret, size_t *ret_n, struct error *e)
{
	struct store_row row = { .text = text,
		.format = TEXT_PLAIN,
		.analysis = text_lang_detect(text) };
	struct analyzer *a;
	struct bag bag;
	enum status st = analyzer_take(&v->en->analyzers, &a, e);

	if (st)
		return st;
	if (row.analysis == TEXT_LANG_NONE)
		row.analysis = v->en->language;
	st = analyzer_bag(a, &row, &bag, e);
	if (!st)
		st = weigh_bag(v, &bag, arena, ret, ret_n, e);
	analyzer_put(&v->en->analyzers, a);
	return st;
}

/* A term that stands twice is given twice: whoever wants one adds them up. */
static enum status weigh_query(struct engine_view *v, struct bytes text, struct arena *arena,
	struct engine_weight **ret, size_t *ret_n, struct error *e)
{
	struct engine_query q;
	struct engine_weight *w;
	enum status st = engine_analyze(v, text, arena, &q, e);

	if (st)
		return st;
	w = arena_array(arena, q.n ? q.n : 1, sizeof(*w));
	if (!w)
		return engine_no_memory(e);
	for (size_t i = 0; i < q.n; i++) {
		uint64_t df = lexical_document_frequency(v->state->index, q.terms[i]);

		w[i] = (struct engine_weight){ q.terms[i],
			lexical_idf(v->state->totals.chunks, df) };
	}
	*ret = w;
	*ret_n = q.n;
	return ST_OK;
}

enum status engine_weights(struct engine_view *v, struct bytes text, bool document,
	struct arena *arena, struct engine_weight **ret, size_t *ret_n, struct error *e)
{
	return document ? weigh_document(v, text, arena, ret, ret_n, e)
			: weigh_query(v, text, arena, ret, ret_n, e);
}
