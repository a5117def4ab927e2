/*
 * build.c: another space of vectors is made beside the active one, and takes over. The
 * builder's own thread fills the new index from the rows, document by document, in
 * statements of their own, so that no snapshot of SQLite is held for long; writers go on,
 * and what they add has greater keys. Documents that die meanwhile are taken out by
 * their rows, which are not swept as long as a build wants them (build_since). The rest,
 * a few documents, is done by whoever leads, and the switch is a commit: before it every
 * view has the old space, after it the new one, whole.
 */
#include "engine/private.h"

#include "util/fault.h"
#include "util/mem.h"

#define BATCH 256        /* documents read by one statement */
#define FEW 512          /* chunks that the leader may be left with */
#define SEAL_EVERY 16384 /* vectors: then they go to a file */
#define MOST_ROUNDS 64   /* writers that are faster than we are do not hold us up for ever */

static bool stopped(const struct engine_build *b, const struct engine_stop *stop)
{
	return __atomic_load_n(&b->stop, __ATOMIC_RELAXED) || engine_stopped(stop);
}

void engine_build_halt(struct engine_build *b)
{
	__atomic_store_n(&b->stop, true, __ATOMIC_RELAXED);
}

/* ---- begin and end ---- */

static uint64_t version_now(struct engine *en)
{
	struct engine_state *state = states_current(&en->states);
	uint64_t version = state->totals.version;

	states_unref(&en->states, state);
	return version;
}

struct beginning {
	struct engine *en;
	const struct engine_space_spec *spec;
	uint64_t number;
	bool found; /* one that was begun before */
};

static enum status look_for_begun(void *arg, const struct store_space *space, struct error *e)
{
	struct beginning *b = arg;

	(void)e;
	if (!space->active && !space->derived && !b->spec->derived &&
		bytes_eq(space->identity, b->spec->identity) &&
		space->dimension == b->spec->dimension) {
		b->number = space->number;
		b->found = true;
	}
	return ST_OK;
}

static struct store_space row_of(const struct engine_space_spec *spec, uint64_t number)
{
	return (struct store_space){ .number = number,
		.identity = spec->identity,
		.dimension = spec->dimension,
		.derived = spec->derived,
		.fit = spec->fit,
		.fitted = spec->fitted,
		.blob = spec->blob };
}

static enum status run_begin(struct group *g, void *arg, struct error *e)
{
	struct beginning *b = arg;
	struct store_space space = row_of(b->spec, 0);

	space.blob = BYTES_NONE; /* megabytes: with the switch, not for a build that fails */

	return store_write_space(g->w, &space, &b->number, e);
}

static enum status find_or_make(struct beginning *b, struct error *e)
{
	struct op op = { .kind = OP_CALL, .call = { .run = run_begin, .arg = b } };
	struct store_reader *r;
	enum status st = store_reader_open(b->en->store, NULL, &r, e);

	if (st)
		return st;
	st = store_each_space(r, look_for_begun, b, e);
	store_reader_close(r);
	return st || b->found ? st : queue_run(b->en, &op, e);
}

static enum status check_spec(const struct engine_space_spec *spec, struct error *e)
{
	if (spec->identity.len < 1 || spec->identity.len > ENGINE_MAX_IDENTITY ||
		spec->dimension < 1 || spec->dimension > ENGINE_MAX_DIMENSION)
		return error_set(e, ST_INVALID,
			"a space of vectors has a name of 1 to %d bytes "
			"and 1 to %d dimensions",
			ENGINE_MAX_IDENTITY, ENGINE_MAX_DIMENSION);
	return ST_OK;
}

enum status engine_build_begin(struct engine *en, const struct engine_space_spec *spec,
	struct engine_build **ret, struct error *e)
{
	struct beginning begin = { .en = en, .spec = spec };
	struct engine_build *b;
	struct store_space row;
	uint64_t files;
	enum status st = check_spec(spec, e);

	if (st)
		return st;
	if (atomic_exchange(&en->building, true))
		return error_set(e, ST_LOCKED, "vectors of another model are being made already");
	b = mem_zero(sizeof(*b));
	if (!b) {
		atomic_store(&en->building, false);
		return engine_no_memory(e);
	}
	b->en = en;
	b->derived = spec->derived;
	b->blob = spec->blob;
	b->document = INT64_MIN;
	b->since = version_now(en);
	atomic_store(&en->build_since, b->since);
	st = find_or_make(&begin, e);
	b->number = begin.number;
	row = row_of(spec, begin.number);
	if (!st)
		st = dense_open(en, &row, true, &b->dense, &files, e);
	if (st)
		engine_build_abandon(b);
	else
		*ret = b;
	return st;
}

static void end(struct engine_build *b)
{
	struct engine *en = b->en;

	dense_unref(b->dense);
	mem_free(b);
	atomic_store(&en->build_since, UINT64_MAX);
	atomic_store(&en->orphans, true);
	atomic_store(&en->building, false);
	keeper_poke(en);
}

static enum status run_drop(struct group *g, void *arg, struct error *e)
{
	return store_write_drop_space(g->w, *(const uint64_t *)arg, e);
}

/* A derived one leaves nothing; if its row cannot be dropped now, the next start does. */
void engine_build_abandon(struct engine_build *b)
{
	struct op op = { .kind = OP_CALL, .call = { .run = run_drop } };

	if (!b)
		return;
	op.call.arg = &b->number;
	if (b->dense)
		atomic_store(&b->dense->doomed, true);
	if (b->derived && b->number)
		(void)queue_run(b->en, &op, NULL);
	end(b);
}

/* ---- filling ---- */

/* One pass over rows. */
struct filling {
	struct engine_build *b;
	const struct engine_stop *stop;
	float *v;
	struct arena scratch;
};

static enum status add_vector(struct engine_build *b, int64_t key, const float *v, struct error *e)
{
	enum status st = ST_OK;

	b->added++;
	if (v && !dense_is_zero(v, b->dense->space.dimension))
		st = vectors_add(b->dense->index, key, v, e);
	if (st || b->added % SEAL_EVERY)
		return st;
	/* Nobody sees it yet: what is in memory goes to files on the way. If that fails now
	 * it is done later. */
	vectors_publish(b->dense->index, b->since);
	(void)vectors_seal(b->dense->index, NULL);
	return ST_OK;
}

static enum status embed_row(void *arg, const struct store_row *row, struct error *e)
{
	struct filling *f = arg;
	enum status st;

	if (stopped(f->b, f->stop))
		return error_set(e, ST_CANCELLED, "cancelled");
	st = dense_embed(f->b->dense, row, &f->scratch, f->v, e);
	if (!st)
		st = add_vector(f->b, row->key, f->v, e);
	if (!st)
		f->b->document = row->document;
	return st;
}

static enum status take_vector(void *arg, int64_t key, struct bytes data, struct error *e)
{
	struct filling *f = arg;
	size_t size = f->b->dense->space.dimension * sizeof(*f->v);

	if (stopped(f->b, f->stop))
		return error_set(e, ST_CANCELLED, "cancelled");
	if (key <= f->b->whole)
		return ST_OK;
	f->b->whole = key;
	if (data.len && data.len != size)
		return error_set(e, ST_CORRUPT, "the corpus is damaged: its vectors");
	if (data.len)
		memcpy(f->v, data.data, size);
	return add_vector(f->b, key, data.len ? f->v : NULL, e);
}

static enum status remove_row(void *arg, const struct store_row *row, struct error *e)
{
	const struct filling *f = arg;

	return vectors_remove(f->b->dense->index, row->key, e);
}

/* Up to one batch of documents; *ret_more: there may be more. */
static enum status fill_batch(struct filling *f, struct store_reader *r, bool *ret_more,
	struct error *e)
{
	struct engine_build *b = f->b;
	uint64_t n = 0;
	enum status st;

	if (b->dense->space.derived)
		st = store_each_living(r, b->document, BATCH, embed_row, f, &n, e);
	else
		st = store_each_vector(r, b->dense->space.number, b->born, take_vector, f, e);
	*ret_more = n == BATCH;
	return st;
}

/* All that has come since the last round, and what has gone: up to version and maybe
 * beyond it. whole: nothing born up to version lacks a vector. */
static enum status fill(struct engine_build *b, uint64_t version, bool whole,
	const struct engine_stop *stop, const struct engine_progress *progress, struct error *e)
{
	struct filling f = { .b = b, .stop = stop };
	uint64_t chunks = engine_chunk_count(b->en);
	struct store_reader *r = NULL;
	bool more = true;
	enum status st;

	arena_init(&f.scratch, 0);
	b->added = 0;
	f.v = mem_array(b->dense->space.dimension, sizeof(*f.v));
	st = f.v ? store_reader_open(b->en->store, stop, &r, e) : engine_no_memory(e);
	while (!st && more) {
		st = fill_batch(&f, r, &more, e);
		if (!st && progress && progress->fn && chunks)
			progress->fn(progress->arg,
				b->added < chunks ? (double)b->added / (double)chunks : 1);
	}
	if (!st)
		st = store_each_died(r, b->since, remove_row, &f, e);
	if (r)
		store_reader_close(r);
	if (!st) {
		vectors_publish(b->dense->index, version);
		b->since = version;
		if (whole)
			b->born = version;
		atomic_store(&b->en->build_since, version);
	}
	arena_release(&f.scratch);
	mem_free(f.v);
	return st;
}

/* Files, merges and lists of what is in so far. */
static enum status tend(struct engine_build *b, const struct engine_stop *stop, struct error *e)
{
	struct error failed = { .code = ST_OK };
	bool more = true;

	while (more && !failed.code) {
		if (stopped(b, stop))
			return error_set(e, ST_CANCELLED, "cancelled");
		more = vectors_maintain(b->dense->index, &b->stop, &failed);
	}
	if (failed.code && e)
		*e = failed;
	return failed.code;
}

static enum status note_one(void *arg, const struct store_row *row, struct error *e)
{
	(void)row;
	*(bool *)arg = true;
	return error_set(e, ST_GONE, "enough");
}

/* Whether a living chunk of a stored space has no vector. */
static enum status misses_any(struct engine_build *b, struct store_reader *r, struct store_write *w,
	bool *ret, struct error *e)
{
	enum status st;

	*ret = false;
	if (b->dense->space.derived)
		return ST_OK;
	st = store_each_unembedded(r, w, b->dense->space.number, b->whole, note_one, ret, e);
	if (*ret)
		return error_set(e, ST_CONFLICT, "some chunks have no vector of the new model yet");
	return st;
}

static enum status check_whole(struct engine_build *b, const struct engine_stop *stop,
	struct error *e)
{
	struct store_reader *r;
	bool missing;
	enum status st = store_reader_open(b->en->store, stop, &r, e);

	if (st)
		return st;
	st = misses_any(b, r, NULL, &missing, e);
	store_reader_close(r);
	return st;
}

enum status engine_build_run(struct engine_build *b, const struct engine_stop *stop,
	const struct engine_progress *progress, struct error *e)
{
	enum status st = ST_OK;

	for (int i = 0; !st && i < MOST_ROUNDS; i++) {
		/* First the version: what is born after it without a vector comes next time. */
		uint64_t version = version_now(b->en);
		enum status whole = check_whole(b, stop, e);

		st = whole == ST_CONFLICT ? ST_OK : whole;
		/* What lacks a vector has greater keys than all that have one. */
		if (!st)
			st = fill(b, version, whole == ST_OK, stop, i == 0 ? progress : NULL, e);
		if (!st)
			st = tend(b, stop, e);
		if (!st && whole)
			return error_set(e, ST_CONFLICT,
				"some chunks have no vector of the new model yet");
		if (b->added < FEW)
			break;
	}
	return st;
}

/* ---- stored vectors ---- */

struct missing {
	engine_text_fn *fn;
	void *arg;
	size_t left;
	struct arena scratch;
};

static enum status give_text(void *arg, const struct store_row *row, struct error *e)
{
	struct missing *m = arg;
	struct bytes context = row->contextual ? row->context : BYTES_NONE, text;
	enum status st;

	if (m->left == 0)
		return ST_GONE; /* enough */
	m->left--;
	st = engine_join_text(row->title, context, row->text, row->format, &m->scratch, &text, e);
	if (!st)
		st = m->fn(m->arg, row->key, text, e);
	arena_release(&m->scratch);
	return st;
}

enum status engine_build_missing(struct engine_build *b, int64_t after, size_t max,
	engine_text_fn *fn, void *arg, struct error *e)
{
	struct missing m = { .fn = fn, .arg = arg, .left = max };
	struct store_reader *r;
	enum status st = store_reader_open(b->en->store, NULL, &r, e);

	if (st)
		return st;
	arena_init(&m.scratch, 0);
	st = store_each_unembedded(r, NULL, b->dense->space.number, after, give_text, &m, e);
	arena_release(&m.scratch);
	store_reader_close(r);
	return st == ST_GONE ? ST_OK : st;
}

struct putting {
	const struct engine_build *b;
	const int64_t *keys;
	const float *values;
	size_t n;
};

static enum status run_put(struct group *g, void *arg, struct error *e)
{
	const struct putting *p = arg;
	size_t dimension = p->b->dense->space.dimension;
	enum status st = ST_OK;

	for (size_t i = 0; !st && i < p->n; i++) {
		const float *v = p->values + i * dimension;
		struct bytes data = { (const char *)v, dimension * sizeof(*v) };

		st = store_write_vector(g->w, p->b->dense->space.number, p->keys[i],
			dense_is_zero(v, dimension) ? BYTES_NONE : data, e);
	}
	return st;
}

enum status engine_build_put(struct engine_build *b, const int64_t *keys, const float *values,
	size_t n, const struct engine_stop *stop, struct error *e)
{
	struct putting p = { b, keys, values, n };
	struct op op = { .kind = OP_CALL, .stop = stop, .call = { .run = run_put, .arg = &p } };

	return queue_run(b->en, &op, e);
}

/* ---- the switch ---- */

static enum status run_switch(struct group *g, void *arg, struct error *e)
{
	struct engine_build *b = arg;
	bool missing;
	enum status st = misses_any(b, NULL, g->w, &missing, e);

	if (!st)
		st = fill(b, version_now(b->en), true, NULL, NULL, e);
	if (!st && fault_hit("engine.switch", NULL, NULL))
		st = error_set(e, ST_IO, "cannot write to the corpus: the disk failed");
	if (!st)
		st = store_write_activate(g->w, b->number, b->blob, e);
	return st ? st : store_write_turn(g->w, e);
}

/* The builder's index becomes the engine's; the old one stays with the states that show
 * it. */
static void switched(struct engine *en, void *arg)
{
	struct engine_build *b = arg;

	if (en->dense)
		atomic_store(&en->dense->doomed, true);
	dense_unref(en->dense);
	en->dense = dense_ref(b->dense);
	en->last_vectored = vectors_last_key(b->dense->index);
}

enum status engine_build_commit(struct engine_build *b, const struct engine_stop *stop,
	struct error *e)
{
	struct op op = { .kind = OP_CALL,
		.stop = stop,
		.call = { .run = run_switch, .committed = switched, .arg = b } };
	enum status st = queue_run(b->en, &op, e);

	if (st == ST_CONFLICT)
		return st;
	if (st)
		engine_build_abandon(b);
	else
		end(b);
	return st;
}
