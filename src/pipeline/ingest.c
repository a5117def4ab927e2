/*
 * pipeline/ingest.c: cuts what is too long and hands all to the engine. Cutting happens
 * on the caller's thread, before it waits for its turn to write.
 */
#include "pipeline/ingest.h"

#include <stdio.h>

#include "pipeline/ingest_private.h"

/* The engine makes one chunk of a text that comes without any: blank ones too. */
static enum status cut_one(struct engine_document *d, const struct ingest_options *opt,
	struct arena *arena)
{
	struct text_chunk *parts = NULL;
	struct engine_chunk *chunks;
	size_t n = 0;
	enum status st = text_chunk(d->text, d->format, &opt->size, arena, &parts, &n);

	if (st || n == 0)
		return st;
	chunks = arena_array(arena, n, sizeof(*chunks));
	if (!chunks)
		return ST_NOMEM;
	for (size_t i = 0; i < n; i++)
		chunks[i] = (struct engine_chunk){ parts[i].start, parts[i].end, parts[i].context };
	d->chunks = chunks;
	d->chunk_count = n;
	return ST_OK;
}

static enum status refuse(enum status st, size_t i, const struct ingest_options *opt,
	struct error *e)
{
	char path[64];

	if (st == ST_NOMEM)
		return error_set(e, st, "out of memory");
	snprintf(path, sizeof(path), "documents[%zu].text", i);
	if (st == ST_TOO_LARGE)
		return error_field(e, st, path, "%s would be cut into more than %zu chunks", path,
			opt->size.max);
	return error_set(e, st, "%s could not be cut into chunks", path);
}

static enum status cut_all(struct engine_document *docs, size_t n, const struct ingest_options *opt,
	const struct engine_stop *stop, struct arena *arena, struct error *e)
{
	for (size_t i = 0; i < n; i++) {
		enum status st = ST_OK;

		docs[i].chunks = NULL;
		docs[i].chunk_count = 0;
		docs[i].contextual = opt->contextual;
		if (stop && stop->fn(stop->arg))
			return error_set(e, ST_CANCELLED, "cancelled");
		if (opt->chunk)
			st = cut_one(&docs[i], opt, arena);
		if (st)
			return refuse(st, i, opt, e);
	}
	return ST_OK;
}

enum status ingest_run(struct engine *en, struct engine_document *docs, size_t n,
	const struct ingest_options *opt, const struct engine_once *once,
	const struct engine_stop *stop, struct arena *arena, struct engine_commit *ret,
	struct error *e)
{
	struct ingest_gate *gate = ingest_needs_space(docs, n, opt) ? opt->gate : NULL;
	enum status st = cut_all(docs, n, opt, stop, arena, e);

	if (st)
		return st;
	if (gate) {
		st = ingest_gate_enter(gate, stop, e);
		if (st)
			return st;
	}
	if (ingest_needs_space(docs, n, opt))
		st = ingest_vectors(en, docs, n, opt, stop, arena, e);
	if (!st)
		st = engine_add(en, docs, n, once, stop, arena, ret, e);
	if (gate)
		ingest_gate_leave(gate);
	return st;
}
