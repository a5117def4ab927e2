/*
 * publish.c: what has been committed goes into the index and the columns, and becomes
 * the current state. The rows are on disk by now: nothing here can make a call fail. If
 * memory is short the engine is behind, readers go on with the state before, and
 * load_catch_up makes up for it.
 */
#include "engine/private.h"

#include "util/log.h"
#include "util/mem.h"

enum status publish_chunk(struct engine *en, int64_t key, struct bytes doc_id, uint32_t no,
	const struct bag *bag, struct error *e)
{
	struct lexical_chunk chunk = { .key = key,
		.doc_id = doc_id,
		.no = no,
		.length = bag->length,
		.terms = bag->terms,
		.term_count = bag->n };
	enum status st;

	if (key <= en->last_indexed)
		return ST_OK;
	st = lexical_add(en->index, &chunk, e);
	if (!st)
		en->last_indexed = key;
	return st;
}

struct removal {
	struct engine *en;
	struct store_reader *reader; /* opened at first use */
	struct analyzer *analyzer;
};

static enum status remove_row(void *arg, const struct store_row *row, struct error *e)
{
	struct removal *r = arg;
	struct bag bag;
	enum status st = analyzer_bag(r->analyzer, row, &bag, e);

	return st ? st : lexical_remove(r->en->index, row->key, bag.terms, bag.n, e);
}

static enum status remove_bags(struct removal *r, const struct store_keys *keys,
	const struct departure *leaving, struct error *e)
{
	enum status st = ST_OK;

	for (uint64_t c = 0; !st && c < keys->chunks; c++)
		st = lexical_remove(r->en->index, keys->first_chunk + (int64_t)c,
			leaving->bags[c].terms, leaving->bags[c].n, e);
	return st;
}

static enum status remove_vectors(struct engine *en, const struct store_keys *keys, struct error *e)
{
	enum status st = ST_OK;

	for (uint64_t c = 0; !st && en->dense && c < keys->chunks; c++)
		st = vectors_remove(en->dense->index, keys->first_chunk + (int64_t)c, e);
	return st;
}

/* leaving: what the call expected to bury, or NULL. */
static enum status remove_document(struct removal *r, const struct store_keys *keys,
	const struct departure *leaving, struct error *e)
{
	enum status st = ST_OK;

	if (!keys->document)
		return ST_OK;
	st = remove_vectors(r->en, keys, e);
	if (st)
		return st;
	if (leaving && leaving->document == keys->document && leaving->n == keys->chunks)
		return remove_bags(r, keys, leaving, e);
	if (!r->analyzer)
		st = analyzer_take(&r->en->analyzers, &r->analyzer, e);
	if (!st && !r->reader)
		st = store_reader_open(r->en->store, NULL, &r->reader, e);
	return st ? st : store_each_chunk(r->reader, NULL, keys->document, remove_row, r, e);
}

static enum status add_columns(struct engine *en, const struct prepared *doc, struct error *e)
{
	uint64_t contradictions = 0;
	enum status st = ST_OK;

	for (uint64_t c = 0; !st && c < doc->keys.chunks; c++) {
		int64_t key = doc->keys.first_chunk + (int64_t)c;

		if (key <= en->last_columned)
			continue;
		st = filter_add(en->columns, key, doc->values, doc->value_count,
			c == 0 ? &contradictions : NULL, e);
		if (!st)
			en->last_columned = key;
	}
	atomic_fetch_add(&en->contradictions, contradictions);
	return st;
}

enum status publish_vector(struct engine *en, int64_t key, const float *v, struct error *e)
{
	enum status st = ST_OK;

	if (!en->dense || key <= en->last_vectored)
		return ST_OK;
	if (v && !dense_is_zero(v, en->dense->space.dimension))
		st = vectors_add(en->dense->index, key, v, e);
	if (st == ST_INVALID) {
		/* The rows are on disk: one bad vector must not hold up all writers. */
		log_event(LOG_WARNING, "a chunk has no vector: it is not one of finite numbers");
		st = ST_OK;
	}
	if (!st)
		en->last_vectored = key;
	return st;
}

/* Vectors that were made for another space than the active one are made again. */
static enum status embed_again(struct removal *r, const struct prepared *doc, struct error *e)
{
	struct engine *en = r->en;
	size_t n = en->dense->space.dimension;
	float *v = mem_array(n, sizeof(*v));
	struct arena scratch;
	enum status st = v ? ST_OK : engine_no_memory(e);

	arena_init(&scratch, 0);
	for (uint64_t c = 0; !st && c < doc->keys.chunks; c++) {
		struct store_row row = prepared_row(&doc->row, c);

		st = dense_embed(en->dense, &row, &scratch, v, e);
		if (!st)
			st = publish_vector(en, doc->keys.first_chunk + (int64_t)c, v, e);
	}
	arena_release(&scratch);
	mem_free(v);
	return st;
}

static enum status publish_vectors(struct removal *r, const struct additions *add,
	const struct prepared *doc, struct error *e)
{
	struct engine *en = r->en;
	enum status st = ST_OK;

	if (!en->dense)
		return ST_OK;
	if (en->dense != add->dense && en->dense->space.derived)
		return embed_again(r, doc, e);
	for (uint64_t c = 0; !st && c < doc->keys.chunks; c++) {
		const float *v = doc->vectors && en->dense == add->dense
			? doc->vectors + c * en->dense->space.dimension
			: NULL;

		st = publish_vector(en, doc->keys.first_chunk + (int64_t)c, v, e);
	}
	return st;
}

static enum status publish_document(struct removal *r, const struct additions *add,
	const struct prepared *doc, struct error *e)
{
	enum status st = remove_document(r, &doc->old, &doc->leaving, e);

	for (uint64_t c = 0; !st && c < doc->keys.chunks; c++)
		st = publish_chunk(r->en, doc->keys.first_chunk + (int64_t)c, doc->row.id,
			(uint32_t)c, &doc->bags[c], e);
	if (!st)
		st = publish_vectors(r, add, doc, e);
	return st ? st : add_columns(r->en, doc, e);
}

static void forget_swept(struct engine *en, const struct op *op)
{
	for (size_t i = 0; i < op->buried_count; i++)
		for (uint64_t c = 0; c < op->buried[i].chunks; c++)
			filter_forget(en->columns, op->buried[i].first_chunk + (int64_t)c);
}

/* Buried documents stand in the order of the ids: the search goes on at *at. */
static const struct departure *find_leaving(const struct op *op, const struct store_keys *keys,
	size_t *at)
{
	for (size_t i = *at; op->leaving && i < op->id_count; i++) {
		if (op->leaving[i].document == keys->document) {
			*at = i + 1;
			return &op->leaving[i];
		}
	}
	return NULL;
}

static enum status publish_op(struct removal *r, const struct op *op, struct error *e)
{
	enum status st = ST_OK;
	size_t at = 0;

	if (op->st || op->repeated || op->kind == OP_SWEEP || op->kind == OP_CALL)
		return ST_OK;
	for (size_t i = 0; !st && i < op->add.n; i++)
		st = publish_document(r, &op->add, &op->add.docs[i], e);
	for (size_t i = 0; !st && i < op->buried_count; i++)
		st = remove_document(r, &op->buried[i], find_leaving(op, &op->buried[i], &at), e);
	if (op->kind == OP_ADD)
		atomic_fetch_add(&r->en->unfielded, op->add.unfielded);
	return st;
}

enum status publish_fields(const struct group *g, struct error *e)
{
	enum status st = ST_OK;
	size_t number;

	for (size_t i = 0; !st && i < g->field_count; i++) {
		st = filter_define(g->en->columns, g->fields[i].name, g->fields[i].type, &number,
			e);
		if (!st)
			st = fields_append(&g->en->fields, g->fields[i].name, g->fields[i].type, e);
	}
	return st;
}

enum status publish_state(struct engine *en, const struct store_totals *totals, struct error *e)
{
	struct lexical_view *index;
	struct filter_view *columns;
	struct vectors_view *near = NULL;
	struct engine_state *state = NULL;
	bool whole;

	lexical_publish(en->index, totals->version);
	if (en->dense)
		vectors_publish(en->dense->index, totals->version);
	columns = filter_publish(en->columns);
	if (!columns)
		return engine_no_memory(e);
	index = lexical_view_get(en->index);
	if (en->dense)
		near = vectors_view_get(en->dense->index);
	whole = lexical_view_commit(index) == totals->version &&
		(!near || vectors_view_commit(near) == totals->version);
	if (whole) {
		state = state_new(index, columns, dense_ref(en->dense), near, totals);
	} else {
		lexical_view_unref(index);
		filter_view_unref(columns);
		if (near)
			vectors_view_unref(near);
	}
	if (!state)
		return engine_no_memory(e);
	states_publish(&en->states, state);
	en->published = totals->version;
	return ST_OK;
}

/* Whoever wrote was told the number, and may come back for it. */
static void keep_current(struct engine *en)
{
	struct engine_state *state = states_current(&en->states);

	states_keep(&en->states, state, KEPT_WRITTEN);
	states_unref(&en->states, state);
}

void publish_group(const struct group *g)
{
	struct engine *en = g->en;
	struct removal r = { .en = en };
	struct error e = { .code = ST_OK };
	enum status st = publish_fields(g, &e);
	bool buried = false;

	for (const struct op *op = g->ops; op; op = op->next) {
		if (op->kind == OP_CALL && !op->st && op->call.committed)
			op->call.committed(en, op->call.arg);
		buried |= op->kind != OP_SWEEP && op->kind != OP_CALL;
		if (op->kind == OP_SWEEP && !op->st) /* whatever else fails */
			forget_swept(en, op);
		if (!st)
			st = publish_op(&r, op, &e);
	}
	if (!st && g->totals.version != en->published) {
		st = publish_state(en, &g->totals, &e);
		if (!st)
			keep_current(en);
	}
	analyzer_put(&en->analyzers, r.analyzer);
	if (r.reader)
		store_reader_close(r.reader);
	if (st) {
		en->behind = true;
		log_event(LOG_WARNING, "a commit is not visible yet: will try again",
			LOG_S("reason", e.message), LOG_S("detail", e.detail));
	}
	if (buried)
		atomic_store(&en->last_death, g->totals.version);
	keeper_poke(en);
}
