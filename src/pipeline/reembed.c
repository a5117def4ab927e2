/*
 * pipeline/reembed.c: every document gets a vector of the configured model, in batches
 * over HTTP that are rows as soon as they come: what an end of the daemon interrupts goes
 * on from there. Meanwhile the old vectors answer, and new documents are embedded for
 * them; the last few for the new model with the gate closed, so that the work ends.
 */
#include "pipeline/jobs_private.h"

#include "util/clock.h"
#include "util/mem.h"

#define BATCH 64              /* chunks at once, if the options say nothing */
#define MOST_BYTES (8u << 20) /* of texts at once */
#define CALL_MS 60000         /* for one batch, with all tries */
#define FEW 256               /* chunks that are left for the closed gate */
#define ROUNDS 16             /* writers faster than the model do not hold us up for ever */

struct batch {
	struct jobs *j;
	struct engine_build *b;
	size_t dimension, cap;
	struct arena arena;  /* texts of the batch */
	int64_t *keys;       /* of all chunks in the batch */
	float *values;       /* their vectors */
	struct bytes *texts; /* of those that are not blank */
	size_t *places;      /* where in keys they stand */
	float *rows;         /* what the model says of them */
	size_t n, text_count, bytes;
	int64_t after; /* greatest key that was looked at */
	uint64_t put;  /* chunks so far */
};

static void batch_release(struct batch *s)
{
	arena_release(&s->arena);
	mem_free(s->keys);
	mem_free(s->values);
	mem_free(s->texts);
	mem_free(s->places);
	mem_free(s->rows);
}

static enum status batch_init(struct batch *s, size_t cap, struct error *e)
{
	arena_init(&s->arena, 0);
	s->cap = cap;
	s->keys = mem_array(cap, sizeof(*s->keys));
	s->texts = mem_array(cap, sizeof(*s->texts));
	s->places = mem_array(cap, sizeof(*s->places));
	s->values = mem_array(cap, s->dimension * sizeof(*s->values));
	s->rows = mem_array(cap, s->dimension * sizeof(*s->rows));
	if (s->keys && s->texts && s->places && s->values && s->rows)
		return ST_OK;
	return error_set(e, ST_NOMEM, "out of memory");
}

/* Blank texts have no vector, and many servers refuse them: they stay out of the call. */
static enum status take_text(void *arg, int64_t key, struct bytes text, struct error *e)
{
	struct batch *s = arg;

	if (s->n && s->bytes + text.len > MOST_BYTES)
		return ST_GONE; /* enough for now */
	if (!models_blank(text)) {
		if (arena_dup_bytes(&s->arena, text, &s->texts[s->text_count]))
			return error_set(e, ST_NOMEM, "out of memory");
		s->places[s->text_count++] = s->n;
	}
	s->keys[s->n++] = key;
	s->bytes += text.len;
	s->after = key;
	return ST_OK;
}

static enum status embed(struct batch *s, struct error *e)
{
	struct remote_call call = { clock_mono_ms() + CALL_MS, jobs_stopped, s->j };
	size_t row = s->dimension * sizeof(*s->values);
	enum status st = ST_OK;

	if (s->text_count)
		st = remote_embed(s->j->opt.models->embedder, s->texts, s->text_count, false, &call,
			s->rows, e);
	memset(s->values, 0, s->n * row);
	for (size_t i = 0; !st && i < s->text_count; i++)
		memcpy(s->values + s->places[i] * s->dimension, s->rows + i * s->dimension, row);
	return st;
}

/* One batch; *ret_n chunks were given a vector, 0: none lack one any more. */
static enum status embed_batch(struct batch *s, size_t *ret_n, struct error *e)
{
	struct engine_stop stop = { jobs_stopped, s->j };
	enum status st;

	s->n = s->text_count = s->bytes = 0;
	st = engine_build_missing(s->b, s->after, s->cap, take_text, s, e);
	if (!st && s->n)
		st = embed(s, e);
	if (!st && s->n)
		st = engine_build_put(s->b, s->keys, s->values, s->n, &stop, e);
	arena_release(&s->arena);
	s->put += s->n;
	*ret_n = s->n;
	return st;
}

/* What lacks vectors, up to the newest chunk. *ret_n: how many did. */
static enum status embed_missing(struct batch *s, size_t *ret_n, struct error *e)
{
	uint64_t total = engine_chunk_count(s->j->opt.engine);
	size_t n = 1;
	enum status st = ST_OK;

	*ret_n = 0;
	while (!st && n) {
		if (jobs_stopped(s->j))
			return error_set(e, ST_CANCELLED, "cancelled");
		st = embed_batch(s, &n, e);
		*ret_n += n;
		if (total)
			jobs_report(s->j,
				0.9 * (double)s->put / (double)(s->put > total ? s->put : total));
	}
	return st;
}

/* The last round: nobody writes. */
static enum status finish(struct batch *s, struct error *e)
{
	struct engine_stop stop = { jobs_stopped, s->j };
	size_t n;
	enum status st = ingest_gate_close(s->j->opt.gate, &stop, e);

	if (st)
		return st;
	st = embed_missing(s, &n, e);
	if (!st)
		st = engine_build_run(s->b, &stop, NULL, e);
	if (!st) {
		struct engine_build *b = s->b;

		jobs_hold(s->j, NULL);
		st = engine_build_commit(b, &stop, e);
		if (st != ST_CONFLICT)
			s->b = NULL;
	}
	ingest_gate_open(s->j->opt.gate);
	return st;
}

static enum status move_stored(struct jobs *j, const struct engine_space_spec *spec,
	struct error *e)
{
	struct engine_stop stop = { jobs_stopped, j };
	struct batch s = { .j = j, .dimension = spec->dimension };
	size_t n = 0;
	enum status st = batch_init(&s, j->opt.batch ? j->opt.batch : BATCH, e);

	if (!st)
		st = engine_build_begin(j->opt.engine, spec, &s.b, e);
	if (!st) {
		jobs_hold(j, s.b);
		/* Writers that go on leave some without a vector each time: what is in by then
		 * is in the index all the same, so that the last round is short. */
		for (int i = 0; !st && i < ROUNDS; i++) {
			st = embed_missing(&s, &n, e);
			if (!st)
				st = engine_build_run(s.b, &stop, NULL, e);
			if (st == ST_CONFLICT && i + 1 < ROUNDS && n > FEW)
				st = ST_OK;
		}
		/* Newly written ones lack vectors: the last round sees to them. */
		if (!st || st == ST_CONFLICT)
			st = finish(&s, e);
		jobs_hold(j, NULL);
		engine_build_abandon(s.b);
	}
	batch_release(&s);
	return st;
}

/* To the local model: the engine makes its vectors out of the texts. */
static enum status move_derived(struct jobs *j, const struct engine_space_spec *spec,
	struct error *e)
{
	struct engine_stop stop = { jobs_stopped, j };
	struct engine_progress progress = { jobs_report, j };
	struct engine_build *b;
	enum status st = engine_build_begin(j->opt.engine, spec, &b, e);

	if (st)
		return st;
	jobs_hold(j, b);
	st = engine_build_run(b, &stop, &progress, e);
	jobs_hold(j, NULL);
	if (!st)
		return engine_build_commit(b, &stop, e);
	engine_build_abandon(b);
	return st;
}

enum status reembed_run(struct jobs *j, struct error *e)
{
	struct engine_encoder encoder;
	struct arena arena;
	enum status st;

	arena_init(&arena, 0);
	if (!models_encoder(j->opt.models, &arena, &encoder))
		st = error_set(e, ST_UNAVAILABLE, "no model is configured");
	else if (encoder.first.derived)
		st = move_derived(j, &encoder.first, e);
	else if (j->opt.models->embedder && !j->opt.models->external_dimension)
		st = move_stored(j, &encoder.first, e);
	else
		st = error_set(e, ST_UNAVAILABLE,
			"vectors of clients cannot be made here: send the documents anew");
	arena_release(&arena);
	return st;
}
