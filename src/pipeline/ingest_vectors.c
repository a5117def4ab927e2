/*
 * pipeline/ingest_vectors.c: the vectors of documents where they are stored: those that
 * documents bring are checked, the others are asked of the embedder, all in one call, so
 * that nothing is written if it fails.
 */
#include "pipeline/ingest_private.h"

#include <stdio.h>
#include <string.h>

/* The chunks that want a vector, in order. */
struct wanted {
	size_t n; /* rows */
	size_t texts_n;
	struct bytes *texts; /* those that are not blank */
	size_t *rows;        /* where their vectors belong; rises */
};

bool ingest_needs_space(const struct engine_document *docs, size_t n,
	const struct ingest_options *opt)
{
	if (opt->models && opt->models->embedder)
		return true;
	for (size_t i = 0; i < n; i++)
		if (docs[i].vectors)
			return true;
	return false;
}

/* The active space without what lives in its view. */
static enum status active_space(struct engine *en, const struct ingest_options *opt,
	const struct engine_stop *stop, struct engine_space *ret, enum models_speaker *ret_who,
	struct error *e)
{
	static const struct models nothing;
	struct engine_view *view = NULL;
	enum status st = engine_view_open(en, stop, &view, e);

	if (st)
		return st;
	*ret = (struct engine_space){ .number = 0 };
	*ret_who = models_space(opt->models ? opt->models : &nothing, view, ret, NULL);
	engine_view_close(view);
	ret->identity = BYTES_NONE;
	ret->model = NULL;
	return ST_OK;
}

static enum status check_brought(const struct engine_document *docs, size_t n,
	const struct engine_space *space, struct error *e)
{
	for (size_t i = 0; i < n; i++) {
		char path[64];

		if (!docs[i].vectors)
			continue;
		snprintf(path, sizeof(path), "documents[%zu].x-rcpd-vector", i);
		if (docs[i].chunk_count > 1)
			return error_field(e, ST_INVALID, path,
				"%s is one vector, and the text would be cut into %zu chunks; cut "
				"it before, or leave out chunk",
				path, docs[i].chunk_count);
		if (docs[i].space != space->number)
			return error_set(e, ST_UNAVAILABLE,
				"the corpus has changed to vectors of another kind meanwhile; look "
				"at its capabilities again");
	}
	return ST_OK;
}

static size_t rows_of(const struct engine_document *d)
{
	return d->chunk_count ? d->chunk_count : 1;
}

static enum status want_document(const struct engine_document *d, struct wanted *w,
	struct arena *arena, struct error *e)
{
	for (size_t c = 0; c < rows_of(d); c++, w->n++) {
		struct bytes text = d->text, context = BYTES_NONE, joined;
		enum status st;

		if (d->chunk_count) {
			text.data += d->chunks[c].byte_start;
			text.len = d->chunks[c].byte_end - d->chunks[c].byte_start;
			context = d->contextual ? d->chunks[c].context : BYTES_NONE;
		}
		st = engine_join_text(d->title, context, text, d->format, arena, &joined, e);
		if (st)
			return st;
		if (models_blank(joined))
			continue;
		w->texts[w->texts_n] = joined;
		w->rows[w->texts_n++] = w->n;
	}
	return ST_OK;
}

static enum status want_all(const struct engine_document *docs, size_t n, size_t dimension,
	struct wanted *w, struct arena *arena, struct error *e)
{
	size_t total = 0;

	for (size_t i = 0; i < n; i++)
		total += docs[i].vectors ? 0 : rows_of(&docs[i]);
	if (total > INGEST_MAX_VECTOR_BYTES / (dimension * sizeof(float)))
		return error_set(e, ST_TOO_LARGE,
			"a call may have at most %zu chunks here, as each gets a vector of %zu "
			"numbers, not %zu",
			INGEST_MAX_VECTOR_BYTES / (dimension * sizeof(float)), dimension, total);
	w->texts = arena_array(arena, total ? total : 1, sizeof(*w->texts));
	w->rows = arena_array(arena, total ? total : 1, sizeof(*w->rows));
	if (!w->texts || !w->rows)
		return error_set(e, ST_NOMEM, "out of memory");
	for (size_t i = 0; i < n; i++) {
		enum status st = docs[i].vectors ? ST_OK : want_document(&docs[i], w, arena, e);

		if (st)
			return st;
	}
	return ST_OK;
}

/* From the texts' order to the rows': no row lies before its text's, so back to front. */
static void spread(const struct wanted *w, size_t dimension, float *v)
{
	size_t left = w->texts_n;

	for (size_t row = w->n; row-- > 0;) {
		float *at = v + row * dimension;

		if (left && w->rows[left - 1] == row)
			memmove(at, v + --left * dimension, dimension * sizeof(*v));
		else
			memset(at, 0, dimension * sizeof(*v));
	}
}

static enum status embed_all(const struct models *m, const struct wanted *w, size_t dimension,
	const struct engine_stop *stop, float *out, struct error *e)
{
	const struct remote_call call = { 0, stop ? stop->fn : NULL, stop ? stop->arg : NULL };
	enum status st;

	if (!w->texts_n)
		return ST_OK;
	st = remote_embed(m->embedder, w->texts, w->texts_n, false, &call, out, e);
	/* Whose time was it that ran out? */
	if (st == ST_TIMEOUT && !(stop && stop->fn && stop->fn(stop->arg)))
		st = error_set(e, ST_UNAVAILABLE, "the embedding model did not answer in time");
	if (!st)
		spread(w, dimension, out);
	return st;
}

static enum status make_vectors(struct engine_document *docs, size_t n,
	const struct ingest_options *opt, const struct engine_space *space,
	const struct engine_stop *stop, struct arena *arena, struct error *e)
{
	struct wanted w = { .n = 0 };
	float *made, *at;
	enum status st = want_all(docs, n, space->dimension, &w, arena, e);

	if (st || !w.n)
		return st;
	made = arena_array(arena, w.n, space->dimension * sizeof(*made));
	if (!made)
		return error_set(e, ST_NOMEM, "out of memory");
	st = embed_all(opt->models, &w, space->dimension, stop, made, e);
	if (st)
		return st;
	at = made;
	for (size_t i = 0; i < n; i++) {
		if (docs[i].vectors)
			continue;
		docs[i].vectors = at;
		docs[i].space = space->number;
		at += rows_of(&docs[i]) * space->dimension;
	}
	return ST_OK;
}

enum status ingest_vectors(struct engine *en, struct engine_document *docs, size_t n,
	const struct ingest_options *opt, const struct engine_stop *stop, struct arena *arena,
	struct error *e)
{
	struct engine_space space;
	enum models_speaker who;
	enum status st = active_space(en, opt, stop, &space, &who, e);

	if (!st)
		st = check_brought(docs, n, &space, e);
	if (!st && who == MODELS_REMOTE)
		st = make_vectors(docs, n, opt, &space, stop, arena, e);
	return st;
}
