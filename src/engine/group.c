/*
 * group.c: a group of calls in one transaction. Each call has a savepoint of its own: a
 * call that fails leaves no trace and the others go on. Only when the commit itself
 * fails do all of them.
 */
#include "engine/private.h"

#include "util/fault.h"
#include "util/mem.h"

#define SWEEP_MOST 256     /* documents in one transaction: a few milliseconds */
#define SWEEP_VECTORS 1024 /* vectors of dropped spaces, the same */

/* ---- fields ---- */

static bool find_new_field(const struct group *g, struct bytes name, size_t *ret)
{
	for (size_t i = 0; i < g->field_count; i++) {
		if (bytes_eq(g->fields[i].name, name)) {
			*ret = engine_field_count(g->en) + i;
			return true;
		}
	}
	return false;
}

static enum status add_new_field(struct group *g, struct seen_field *seen, struct error *e)
{
	size_t number = engine_field_count(g->en) + g->field_count;
	enum engine_type type = fields_infer(seen);
	enum status st;

	if (number >= g->en->fields.max)
		return ST_OK; /* it stays without a number */
	if (g->field_count == g->field_cap) {
		size_t cap = g->field_cap ? g->field_cap * 2 : 16;
		struct new_field *fields = mem_resize(g->fields, cap * sizeof(*fields));

		if (!fields)
			return engine_no_memory(e);
		g->fields = fields;
		g->field_cap = cap;
	}
	st = store_write_field(g->w, seen->name, type, e);
	if (st)
		return st;
	g->fields[g->field_count++] = (struct new_field){ seen->name, type };
	seen->number = number;
	return ST_OK;
}

enum status group_number_fields(struct group *g, struct additions *add, struct error *e)
{
	enum status st = ST_OK;

	for (size_t i = 0; !st && i < add->seen_count; i++) {
		struct seen_field *seen = &add->seen[i];

		seen->number = VALUES_NO_FIELD;
		if (!fields_find(&g->en->fields, seen->name, &seen->number) &&
			!find_new_field(g, seen->name, &seen->number))
			st = add_new_field(g, seen, e);
	}
	return st;
}

/* The values' places become field numbers; those without one go. */
static void number_values(struct additions *add, struct prepared *doc)
{
	size_t n = 0;

	for (size_t i = 0; i < doc->value_count; i++) {
		struct filter_value v = doc->values[i];

		v.field = add->seen[v.field].number;
		if (v.field == VALUES_NO_FIELD)
			add->unfielded++;
		else
			doc->values[n++] = v;
	}
	doc->value_count = n;
}

enum status group_encode_values(struct group *g, struct additions *add, struct prepared *doc,
	struct bytes *ret, struct error *e)
{
	number_values(add, doc);
	strbuf_reset(&g->values);
	for (size_t i = 0; i < doc->value_count; i++)
		values_add(&g->values, doc->values[i].field, &doc->values[i].v);
	if (!strbuf_ok(&g->values))
		return engine_no_memory(e);
	*ret = g->values.len ? (struct bytes){ g->values.data, g->values.len } : BYTES_NONE;
	return ST_OK;
}

/* ---- the calls ---- */

/* The rows of a stored space, if it is still the active one. */
static enum status put_vectors(struct group *g, const struct additions *add,
	const struct prepared *doc, struct error *e)
{
	const struct dense *d = add->dense;
	enum status st = ST_OK;

	if (!d || !doc->vectors || d->space.derived || d != g->en->dense)
		return ST_OK;
	for (uint64_t c = 0; !st && c < doc->keys.chunks; c++) {
		size_t n = d->space.dimension;
		const float *v = doc->vectors + c * n;
		struct bytes data = { (const char *)v, n * sizeof(*v) };

		st = store_write_vector(g->w, d->space.number, doc->keys.first_chunk + (int64_t)c,
			dense_is_zero(v, n) ? BYTES_NONE : data, e);
	}
	return st;
}

static enum status put_document(struct group *g, struct additions *add, struct prepared *doc,
	struct error *e)
{
	enum status st = group_encode_values(g, add, doc, &doc->row.values, e);

	if (!st)
		st = store_write_bury(g->w, doc->row.id, &doc->old, e);
	if (!st)
		st = store_write_put(g->w, &doc->row, &doc->keys, e);
	return st ? st : put_vectors(g, add, doc, e);
}

static enum status run_add(struct group *g, struct op *op, struct error *e)
{
	struct additions *add = &op->add;
	enum status st = ST_OK;

	if (op->once)
		st = store_write_find_once(g->w, op->once, op->arena, &op->repeated, &op->commit,
			e);
	if (st || op->repeated)
		return st;
	st = group_number_fields(g, add, e);
	for (size_t i = 0; !st && i < add->n; i++) {
		if (engine_stopped(op->stop))
			return error_set(e, ST_CANCELLED, "cancelled");
		st = put_document(g, add, &add->docs[i], e);
		op->commit.documents++;
		op->commit.chunks += add->docs[i].row.chunk_count;
	}
	op->commit.version = store_write_version(g->w) - (add->n == 0);
	if (!st && op->once)
		st = store_write_keep_once(g->w, op->once, &op->commit, e);
	return st;
}

static enum status note_keys(struct op *op, const struct store_keys *keys, struct error *e)
{
	if (op->buried_count == op->buried_cap) {
		size_t cap = op->buried_cap ? op->buried_cap * 2 : 64;
		struct store_keys *more = mem_resize(op->buried, cap * sizeof(*more));

		if (!more)
			return engine_no_memory(e);
		op->buried = more;
		op->buried_cap = cap;
	}
	op->buried[op->buried_count++] = *keys;
	return ST_OK;
}

static enum status note_buried(struct op *op, const struct store_keys *keys, struct error *e)
{
	if (!keys->document)
		return ST_OK;
	op->commit.documents++;
	return note_keys(op, keys, e);
}

static enum status run_delete(struct group *g, struct op *op, struct error *e)
{
	struct store_keys keys;
	enum status st = ST_OK;

	for (size_t i = 0; !st && i < op->id_count; i++) {
		if (engine_stopped(op->stop))
			return error_set(e, ST_CANCELLED, "cancelled");
		if (!op->ids[i].data)
			continue;
		st = store_write_bury(g->w, op->ids[i], &keys, e);
		if (!st)
			st = note_buried(op, &keys, e);
	}
	return st;
}

/* Buries the documents of all chunks in one word of the bitmap. */
static enum status bury_word(struct group *g, struct op *op, int64_t first, uint64_t word,
	struct error *e)
{
	struct store_keys keys;
	enum status st = ST_OK;

	for (; !st && word; word &= word - 1) {
		st = store_write_bury_chunk(g->w, first + __builtin_ctzll(word), &keys, e);
		if (!st)
			st = note_buried(op, &keys, e);
	}
	return st;
}

/* The group's first call: so the current state is what the rows say. */
static enum status run_delete_where(struct group *g, struct op *op, struct error *e)
{
	struct engine_state *state = states_current(&g->en->states);
	struct lexical_filter pass;
	uint64_t count;
	enum status st =
		filter_eval(state->columns, op->filter, op->stop, op->arena, &pass, &count, e);

	for (size_t i = 0; !st && i * 64 < pass.count; i++) {
		if (!pass.bits[i])
			continue;
		st = engine_stopped(op->stop)
			? error_set(e, ST_CANCELLED, "cancelled")
			: bury_word(g, op, pass.base + (int64_t)(i * 64), pass.bits[i], e);
	}
	states_unref(&g->en->states, state);
	return st;
}

struct sweeping {
	struct op *op;
	enum status st;
};

static void note_swept(void *arg, int64_t first_chunk, uint64_t chunks)
{
	struct sweeping *s = arg;
	struct store_keys keys = { .first_chunk = first_chunk, .chunks = chunks };

	if (!s->st)
		s->st = note_keys(s->op, &keys, NULL);
}

uint64_t group_sweepable(struct engine *en)
{
	uint64_t oldest = states_oldest(&en->states);
	uint64_t least = dense_persisted(en);
	uint64_t build = atomic_load(&en->build_since);

	if (build < least)
		least = build;
	return least < oldest ? least : oldest;
}

static enum status run_sweep(struct group *g, struct op *op, struct error *e)
{
	struct sweeping s = { op, ST_OK };
	enum status st;

	op->swept = group_sweepable(g->en);
	st = store_write_sweep(g->w, op->swept, SWEEP_MOST, note_swept, &s, &op->more, e);
	if (!st && s.st)
		return engine_no_memory(e);
	if (!st && !op->more && atomic_load(&g->en->orphans)) {
		st = store_write_sweep_vectors(g->w, SWEEP_VECTORS, &op->more, e);
		if (!st && !op->more)
			atomic_store(&g->en->orphans, false);
	}
	return st;
}

static enum status run_call(struct group *g, struct op *op)
{
	struct error *e = &op->error;

	if (engine_stopped(op->stop))
		return error_set(e, ST_CANCELLED, "cancelled");
	switch (op->kind) {
	case OP_ADD:
		return run_add(g, op, e);
	case OP_DELETE:
		return run_delete(g, op, e);
	case OP_DELETE_WHERE:
		return run_delete_where(g, op, e);
	case OP_SWEEP:
		return run_sweep(g, op, e);
	case OP_CALL:
		return op->call.run(g, op->call.arg, e);
	}
	return error_set(e, ST_INTERNAL, "unknown kind of write");
}

/* ---- the transaction ---- */

/* One call within its savepoint. Fails only if the transaction is lost. */
static enum status run_within(struct group *g, struct op *op, struct error *e)
{
	size_t fields = g->field_count;
	enum status st = store_write_savepoint(g->w, e);

	if (st)
		return st;
	store_write_stop(g->w, op->stop);
	op->st = run_call(g, op);
	store_write_stop(g->w, &g->stop);
	if (!op->st)
		return store_write_release(g->w, e);
	g->field_count = fields;
	return store_write_undo(g->w, e);
}

/* For what has no error of its own. */
static void fail_all(struct op *ops, const struct error *e)
{
	for (struct op *op = ops; op; op = op->next) {
		if (op->st)
			continue;
		op->st = e->code;
		op->error = *e;
	}
}

static enum status run_transaction(struct group *g, struct error *e)
{
	enum status st = ST_OK;

	for (struct op *op = g->ops; !st && op; op = op->next)
		st = run_within(g, op, e);
	if (!st)
		return store_write_commit(g->w, &g->totals, e);
	store_write_abort(g->w);
	return st;
}

/* A delete that found nothing names the state it was made in. An add knows its number. */
static void settle_versions(struct group *g)
{
	for (struct op *op = g->ops; op; op = op->next)
		if (!op->st && (op->kind == OP_DELETE || op->kind == OP_DELETE_WHERE))
			op->commit.version = g->totals.version;
}

/* The group's own stop: begin and commit are called off if nobody wants them any more. */
static bool all_want_to_stop(void *arg)
{
	for (const struct op *op = arg; op; op = op->next)
		if (!op->st && !engine_stopped(op->stop))
			return false;
	return true;
}

void group_run(struct engine *en, struct op *ops)
{
	struct group g = { .en = en,
		.ops = ops,
		.stop = { all_want_to_stop, ops },
		.values = STRBUF_INIT };
	struct error e = { .code = ST_OK };
	enum status st = ST_OK;

	if (en->behind)
		st = load_catch_up(en, &e);
	if (!st)
		st = store_write_begin(en->store, &g.stop, &g.w, &e);
	if (!st)
		st = run_transaction(&g, &e);
	if (st) {
		fail_all(ops, &e);
	} else {
		publish_group(&g);
		settle_versions(&g);
		(void)fault_hit("engine.answer", NULL, NULL);
	}
	mem_free(g.fields);
	strbuf_release(&g.values);
}
