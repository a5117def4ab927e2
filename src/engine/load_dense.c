/*
 * load_dense.c: which space of vectors is active, and its index from the rows: from
 * texts by the encoder, or from the vectors that are stored. What is in there already is
 * passed over, as in load.c.
 */
#include "engine/private.h"

#include "util/clock.h"
#include "util/log.h"
#include "util/mem.h"

#define REPORT_MS 5000
#define SEAL_EVERY 16384 /* vectors: then the head goes to disk */
#define LISTS_LEAST 5000 /* chunks of a corpus that may have had lists */

struct dense_loading {
	struct engine *en;
	uint64_t since; /* commit that the index's files hold */
	bool at_start;  /* nobody reads yet: the head may be sealed on the way */
	uint64_t added, total, reported_ms;
	float *v; /* one vector */
	struct arena scratch;
};

/* ---- which space ---- */

/* The active one, with bytes of its own. */
struct choice {
	struct store_space space; /* number 0: none */
	struct arena arena;
	uint64_t stale[16]; /* derived ones that were never finished */
	size_t stale_count;
};

static enum status look_at_space(void *arg, const struct store_space *space, struct error *e)
{
	struct choice *c = arg;

	if (!space->active) {
		if (space->derived && c->stale_count < sizeof(c->stale) / sizeof(c->stale[0]))
			c->stale[c->stale_count++] = space->number;
		return ST_OK;
	}
	c->space = *space;
	if (arena_dup_bytes(&c->arena, space->identity, &c->space.identity) ||
		(space->blob.data && arena_dup_bytes(&c->arena, space->blob, &c->space.blob)))
		return engine_no_memory(e);
	return ST_OK;
}

struct making {
	struct store_space space;
	const struct choice *choice;
	bool turn; /* answers change */
};

static enum status make_first(struct store_write *w, struct making *m, struct error *e)
{
	uint64_t number;
	enum status st = store_write_space(w, &m->space, &number, e);

	if (!st)
		st = store_write_activate(w, number, BYTES_NONE, e);
	if (!st && m->turn)
		st = store_write_turn(w, e);
	if (!st)
		m->space.number = number;
	return st;
}

static enum status drop_stale(struct store_write *w, const struct choice *c, struct error *e)
{
	enum status st = ST_OK;

	for (size_t i = 0; !st && i < c->stale_count; i++)
		st = store_write_drop_space(w, c->stale[i], e);
	return st;
}

/* A corpus without a space, or with one that nobody can make vectors for any more, gets
 * the encoder's first one. */
static enum status write_first(struct engine *en, struct making *m, struct store_totals *totals,
	struct error *e)
{
	const struct engine_space_spec *first = &en->encoder.first;
	struct store_write *w;
	enum status st = store_write_begin(en->store, NULL, &w, e);

	if (st)
		return st;
	m->space = (struct store_space){ .identity = first->identity,
		.dimension = first->dimension,
		.derived = first->derived,
		.active = true,
		.fit = first->fit,
		.fitted = first->fitted,
		.blob = first->blob };
	st = make_first(w, m, e);
	if (!st)
		return store_write_commit(w, totals, e);
	store_write_abort(w);
	return st;
}

enum status load_turn(struct engine *en, struct store_totals *totals, struct error *e)
{
	struct store_write *w;
	enum status st = store_write_begin(en->store, NULL, &w, e);

	if (st)
		return st;
	st = store_write_turn(w, e);
	if (!st)
		return store_write_commit(w, totals, e);
	store_write_abort(w);
	return st;
}

/* They do no harm: a full disk is no reason not to start. The next start tries again. */
static void forget_stale(struct engine *en, const struct choice *c)
{
	struct store_totals totals;
	struct store_write *w;
	struct error e = { .code = ST_OK };

	if (!c->stale_count || store_write_begin(en->store, NULL, &w, &e))
		return;
	if (drop_stale(w, c, &e))
		store_write_abort(w);
	else if (!store_write_commit(w, &totals, &e))
		return;
	log_event(LOG_WARNING,
		"what is left of interrupted builds of vectors stays until the next start",
		LOG_S("reason", e.message));
}

/* Opens what there is; ST_INVALID: nobody knows that space. */
static enum status open_space(struct engine *en, struct choice *c, struct store_totals *totals,
	uint64_t *ret_since, struct error *e)
{
	enum status st = dense_open(en, &c->space, false, &en->dense, ret_since, e);

	if (st || *ret_since <= totals->version)
		return st;
	/* From before a backup was restored: those files went another way. */
	dense_unref(en->dense);
	en->dense = NULL;
	return dense_open(en, &c->space, true, &en->dense, ret_since, e);
}

static enum status choose(struct engine *en, struct choice *c, struct store_totals *totals,
	uint64_t *ret_since, struct error *e)
{
	struct making m = { .choice = c, .turn = totals->documents > 0 };
	enum status st = ST_INVALID;

	*ret_since = 0;
	if (c->space.number)
		st = open_space(en, c, totals, ret_since, e);
	if (st != ST_INVALID || !en->has_encoder)
		return st == ST_INVALID ? ST_OK : st;
	if (c->space.number)
		log_event(LOG_NOTICE, "the corpus gets vectors of another model");
	st = write_first(en, &m, totals, e);
	return st ? st : dense_open(en, &m.space, true, &en->dense, ret_since, e);
}

/* ---- its vectors ---- */

static void seal(struct dense_loading *l)
{
	struct vectors *index = l->en->dense->index;
	struct error failed = { .code = ST_OK };

	vectors_publish(index, l->since);
	(void)vectors_seal(index, &failed); /* a full disk is no reason not to start */
}

static enum status note_added(struct dense_loading *l)
{
	uint64_t now;

	l->added++;
	if (!l->at_start || l->added % SEAL_EVERY)
		return ST_OK;
	now = clock_mono_ms();
	if (now - l->reported_ms >= REPORT_MS) {
		l->reported_ms = now;
		log_event(LOG_NOTICE, "making vectors", LOG_U("chunks", l->added),
			LOG_U("of", l->total));
	}
	seal(l);
	return ST_OK;
}

static enum status embed_row(void *arg, const struct store_row *row, struct error *e)
{
	struct dense_loading *l = arg;
	enum status st;

	if (row->key <= l->en->last_vectored)
		return ST_OK;
	st = dense_embed(l->en->dense, row, &l->scratch, l->v, e);
	if (!st)
		st = publish_vector(l->en, row->key, l->v, e);
	return st ? st : note_added(l);
}

static enum status take_vector(void *arg, int64_t key, struct bytes data, struct error *e)
{
	struct dense_loading *l = arg;
	size_t n = l->en->dense->space.dimension;
	enum status st;

	if (key <= l->en->last_vectored)
		return ST_OK;
	if (data.len && data.len != n * sizeof(*l->v))
		return error_set(e, ST_CORRUPT, "the corpus is damaged: its vectors");
	if (data.len)
		memcpy(l->v, data.data, data.len);
	st = publish_vector(l->en, key, data.len ? l->v : NULL, e);
	return st ? st : note_added(l);
}

static enum status remove_row(void *arg, const struct store_row *row, struct error *e)
{
	const struct dense_loading *l = arg;

	return vectors_remove(l->en->dense->index, row->key, e);
}

static enum status load_vectors(struct dense_loading *l, struct store_reader *r, struct error *e)
{
	struct dense *d = l->en->dense;
	enum status st = ST_OK;

	l->v = mem_array(d->space.dimension, sizeof(*l->v));
	if (!l->v)
		return engine_no_memory(e);
	arena_init(&l->scratch, 0);
	if (d->space.derived)
		st = store_each_born(r, l->since, embed_row, l, e);
	else
		st = store_each_vector(r, d->space.number, l->since, take_vector, l, e);
	if (!st)
		st = store_each_died(r, l->since, remove_row, l, e);
	arena_release(&l->scratch);
	mem_free(l->v);
	return st;
}

enum status load_dense_catch_up(struct engine *en, struct store_reader *r, uint64_t since,
	struct error *e)
{
	struct dense_loading l = { .en = en, .since = since };

	return en->dense ? load_vectors(&l, r, e) : ST_OK;
}

/* Files that were lost may have had lists, which changed answers: the corpus's version
 * must not name two of them. */
static enum status turn_if_lost(struct engine *en, bool had, uint64_t since,
	struct store_totals *totals, struct error *e)
{
	if (!had || since || totals->chunks < LISTS_LEAST)
		return ST_OK;
	return load_turn(en, totals, e);
}

enum status load_dense_at_start(struct engine *en, struct store_totals *totals,
	struct store_reader *r, struct error *e)
{
	struct dense_loading l = { .en = en,
		.at_start = true,
		.total = totals->chunks,
		.reported_ms = clock_mono_ms() };
	struct choice c = { .space = { .number = 0 } };
	bool any = false;
	enum status st;

	arena_init(&c.arena, 0);
	st = store_each_space(r, look_at_space, &c, e);
	if (!st)
		st = store_any_vector(r, &any, e);
	atomic_store(&en->orphans, any); /* of spaces that were left, perhaps */
	if (!st)
		st = choose(en, &c, totals, &l.since, e);
	if (!st)
		forget_stale(en, &c);
	if (!st && en->dense) {
		en->last_vectored = vectors_last_key(en->dense->index);
		st = load_vectors(&l, r, e);
	}
	if (!st && en->dense)
		st = turn_if_lost(en, c.space.number == en->dense->space.number, l.since, totals,
			e);
	if (!st)
		dense_sweep_folders(en, en->dense ? en->dense->space.number : 0);
	arena_release(&c.arena);
	return st;
}
