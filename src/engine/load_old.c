/*
 * load_old.c: documents of a corpus that is older than filters get their values, once,
 * from the meta that is stored with them. In batches, so that a stop in the middle loses
 * little; what has its values is not looked at again.
 */
#include "engine/private.h"

#include "util/log.h"
#include "util/mem.h"

#define BATCH 500

struct batch {
	struct engine *en;
	const struct engine_options *opt;
	struct arena arena;
	int64_t keys[BATCH];
	struct engine_document docs[BATCH]; /* nothing but their values */
	size_t n;
};

static enum status read_old(void *arg, int64_t document, struct bytes meta, struct error *e)
{
	struct batch *b = arg;
	struct engine_document *doc = &b->docs[b->n];
	struct engine_value *values = NULL;

	*doc = (struct engine_document){ .value_count = 0 };
	if (meta.data && b->opt->values &&
		b->opt->values(meta, &b->arena, &values, &doc->value_count))
		return engine_no_memory(e);
	doc->values = values;
	b->keys[b->n++] = document;
	return ST_OK;
}

/* A value that contradicts a declaration was there before it: it stays, unseen. */
static void drop_contradictions(struct batch *b)
{
	for (size_t i = 0; i < b->n; i++) {
		struct engine_value *values = (struct engine_value *)(uintptr_t)b->docs[i].values;
		enum engine_type type;
		size_t n = 0;

		for (size_t j = 0; j < b->docs[i].value_count; j++)
			if (!fields_declared(&b->en->fields, values[j].field, &type) ||
				filter_suits(type, &values[j]))
				values[n++] = values[j];
		b->docs[i].value_count = n;
	}
}

static enum status write_values(struct group *g, struct batch *b, struct additions *add,
	struct error *e)
{
	enum status st = group_number_fields(g, add, e);
	struct bytes data;

	for (size_t i = 0; !st && i < b->n; i++) {
		st = group_encode_values(g, add, &add->docs[i], &data, e);
		if (!st)
			st = store_write_values(g->w, b->keys[i], data, e);
	}
	return st;
}

static enum status write_batch(struct batch *b, struct error *e)
{
	struct group g = { .en = b->en, .values = STRBUF_INIT };
	struct additions add;
	enum status st;

	drop_contradictions(b);
	st = prepare_values(b->en, b->docs, b->n, &b->arena, &add, e);
	if (!st)
		st = store_write_begin(b->en->store, NULL, &g.w, e);
	if (!st) {
		st = write_values(&g, b, &add, e);
		if (st)
			store_write_abort(g.w);
		else
			st = store_write_commit(g.w, &g.totals, e);
	}
	if (!st)
		st = publish_fields(&g, e);
	mem_free(g.fields);
	strbuf_release(&g.values);
	return st;
}

static enum status run_batch(struct batch *b, struct error *e)
{
	struct store_reader *r;
	enum status st = store_reader_open(b->en->store, NULL, &r, e);

	b->n = 0;
	if (st)
		return st;
	st = store_each_old(r, BATCH, read_old, b, e);
	store_reader_close(r);
	return st || b->n == 0 ? st : write_batch(b, e);
}

enum status load_old_values(struct engine *en, const struct engine_options *opt, struct error *e)
{
	struct batch *b = mem_zero(sizeof(*b));
	uint64_t done = 0;
	enum status st;

	if (!b)
		return engine_no_memory(e);
	b->en = en;
	b->opt = opt;
	do {
		arena_init(&b->arena, 0);
		st = run_batch(b, e);
		arena_release(&b->arena);
		done += b->n;
	} while (!st && b->n == BATCH);
	if (done > 0 && !st)
		log_event(LOG_NOTICE, "documents can be filtered now", LOG_U("documents", done));
	mem_free(b);
	return st;
}
