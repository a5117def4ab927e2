/*
 * engine.c: opening and writing: checks what comes in, settles which of equal ids
 * counts, and hands the documents to the store in one write. Reading is in view.c,
 * ranking in recall.c.
 */
#include "engine/private.h"

#include <stdio.h>
#include <stdlib.h>

#include "util/mem.h"
#include "util/utf8.h"

enum status engine_open(const struct engine_options *opt, struct engine **ret, struct error *e)
{
	struct engine *en = mem_zero(sizeof *en);
	enum status st;

	if (!en)
		return error_set(e, ST_NOMEM, "out of memory");
	st = store_open(opt->dir, opt->readers, &en->store, e);
	if (st)
		mem_free(en);
	else
		*ret = en;
	return st;
}

void engine_close(struct engine *en)
{
	if (!en)
		return;
	store_close(en->store);
	mem_free(en);
}

const char *engine_corpus_id(const struct engine *en)
{
	return store_corpus_id(en->store);
}

static enum status check_document(const struct engine_document *doc, size_t i, struct error *e)
{
	char field[64];

	if (!doc->id.data || doc->id.len == 0 || doc->id.len > ENGINE_MAX_ID) {
		snprintf(field, sizeof field, "documents[%zu].id", i);
		return error_field(e, ST_INVALID, field, "an id has 1 to %d bytes", ENGINE_MAX_ID);
	}
	if (!doc->text.data || !utf8_valid(doc->text.data, doc->text.len)) {
		snprintf(field, sizeof field, "documents[%zu].text", i);
		return error_field(e, ST_INVALID, field, "a document's text is valid UTF-8");
	}
	return ST_OK;
}

/* Order of document numbers: by id, and among equal ids the last one first. */
static int compare_ids(const void *a, const void *b, void *arg)
{
	const struct engine_document *docs = *(const struct engine_document *const *)arg;
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	int c = bytes_cmp(docs[x].id, docs[y].id);

	return c ? c : (x < y) - (x > y);
}

/* *ret[i]: document i is followed by one with the same id. n log n, in the arena. */
static enum status find_superseded(const struct engine_document *docs, size_t n,
	struct arena *arena, bool **ret, struct error *e)
{
	size_t *order = arena_array(arena, n, sizeof *order);
	bool *superseded = arena_array(arena, n, sizeof *superseded);

	if (!order || !superseded)
		return error_set(e, ST_NOMEM, "out of memory");
	for (size_t i = 0; i < n; i++)
		order[i] = i;
	qsort_r(order, n, sizeof *order, compare_ids, &docs);
	for (size_t i = 1; i < n; i++)
		superseded[order[i]] = bytes_eq(docs[order[i]].id, docs[order[i - 1]].id);
	*ret = superseded;
	return ST_OK;
}

/* One chunk that covers the whole text. */
static enum status put_document(struct store_write *w, const struct engine_document *doc,
	struct error *e)
{
	struct store_chunk whole = {
		.byte_end = doc->text.len,
		.cp_end = utf8_count(doc->text.data, doc->text.len),
	};

	return store_write_put(w, doc, &whole, 1, e);
}

static bool is_stopped(const struct engine_stop *stop)
{
	return stop && stop->fn && stop->fn(stop->arg);
}

static enum status put_documents(struct store_write *w, const struct engine_document *docs,
	const bool *superseded, size_t n, const struct engine_stop *stop, struct error *e)
{
	enum status st = ST_OK;

	for (size_t i = 0; !st && i < n; i++) {
		if (is_stopped(stop))
			st = error_set(e, ST_CANCELLED, "cancelled");
		else if (!superseded[i])
			st = put_document(w, &docs[i], e);
	}
	return st;
}

enum status engine_add(struct engine *en, const struct engine_document *docs, size_t n,
	const struct engine_once *once, const struct engine_stop *stop, struct arena *arena,
	struct engine_commit *ret, struct error *e)
{
	struct store_write *w;
	bool *superseded = NULL, found = false;
	enum status st = ST_OK;

	if (once && !once->key.data)
		once = NULL;
	for (size_t i = 0; !st && i < n; i++)
		st = check_document(&docs[i], i, e);
	if (!st)
		st = find_superseded(docs, n, arena, &superseded, e);
	if (!st)
		st = store_write_begin(en->store, stop, &w, e);
	if (st)
		return st;
	if (once)
		st = store_write_find_once(w, once, arena, &found, ret, e);
	if (!st && !found)
		st = put_documents(w, docs, superseded, n, stop, e);
	if (!st && !found)
		return store_write_commit(w, once, ret, e);
	store_write_abort(w);
	return st;
}

enum status engine_delete(struct engine *en, const struct bytes *ids, size_t n,
	const struct engine_stop *stop, struct engine_commit *ret, struct error *e)
{
	struct store_write *w;
	enum status st = store_write_begin(en->store, stop, &w, e);

	if (st)
		return st;
	for (size_t i = 0; !st && i < n; i++) {
		if (is_stopped(stop))
			st = error_set(e, ST_CANCELLED, "cancelled");
		else if (ids[i].data)
			st = store_write_remove(w, ids[i], e);
	}
	if (!st)
		return store_write_commit(w, NULL, ret, e);
	store_write_abort(w);
	return st;
}
