/*
 * departure.c: a document that is replaced or deleted leaves the index by the terms that
 * it went in with, which its old text gives again. That text is analysed here, on the
 * thread of the call and before it queues. By the time the call's turn comes another
 * one may have replaced the document: then the leader analyses what it finds.
 */
#include "engine/private.h"

#define ARENA_MOST (64u << 20) /* bytes of a call; beyond, the leader does the rest */

struct departing {
	struct departures *d;
	struct departure *out;
	uint64_t chunks;
};

static enum status add_row(void *arg, const struct store_row *row, struct error *e)
{
	struct departing *g = arg;
	struct bag bag;
	enum status st;

	if (engine_stopped(g->d->stop))
		return error_set(e, ST_CANCELLED, "cancelled");
	if (row->no != g->out->n || g->out->n == g->chunks)
		return error_set(e, ST_CORRUPT, "the chunks of a document are damaged");
	st = analyzer_bag(g->d->analyzer, row, &bag, e);
	if (!st)
		st = bag_copy(&bag, g->d->arena, &g->out->bags[g->out->n], e);
	if (!st)
		g->out->n++;
	return st;
}

static enum status analyze(struct departures *d, const struct store_keys *keys,
	struct departure *ret, struct error *e)
{
	struct departing g = { d, ret, keys->chunks };
	enum status st = ST_OK;

	ret->bags = arena_array(d->arena, keys->chunks ? keys->chunks : 1, sizeof(*ret->bags));
	if (!ret->bags)
		return engine_no_memory(e);
	if (!d->analyzer)
		st = analyzer_take(&d->en->analyzers, &d->analyzer, e);
	if (!st)
		st = store_each_chunk(d->reader, NULL, keys->document, add_row, &g, e);
	if (!st)
		ret->document = keys->document;
	return st;
}

enum status departure_make(struct departures *d, struct bytes id, struct departure *ret,
	struct error *e)
{
	struct store_keys keys = { .document = 0 };
	enum status st = ST_OK;

	*ret = (struct departure){ .document = 0 };
	if (d->arena->total > ARENA_MOST)
		return ST_OK;
	if (!d->reader)
		st = store_reader_open(d->en->store, d->stop, &d->reader, e);
	if (!st)
		st = store_find(d->reader, id, &keys, e);
	if (!st && keys.document)
		st = analyze(d, &keys, ret, e);
	/* Swept between two looks: somebody else has buried it. */
	if (st == ST_NOT_FOUND) {
		*ret = (struct departure){ .document = 0 };
		st = ST_OK;
	}
	return st;
}

void departures_release(struct departures *d)
{
	analyzer_put(&d->en->analyzers, d->analyzer);
	if (d->reader)
		store_reader_close(d->reader);
}
