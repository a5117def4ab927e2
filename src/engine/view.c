/*
 * view.c: a view is a reference to a state, and a connection once something is fetched.
 * No snapshot is held in SQLite: rows never change, and those of a state that is alive
 * are not swept.
 */
#include "engine/private.h"

#include "util/gauge.h"
#include "util/mem.h"

/* Takes the reference in any case. */
static enum status open_state(struct engine *en, struct engine_state *state,
	const struct engine_stop *stop, struct engine_view **ret, struct error *e)
{
	struct engine_view *v = mem_zero(sizeof(*v));

	if (!v) {
		states_unref(&en->states, state);
		return engine_no_memory(e);
	}
	v->en = en;
	v->state = state;
	if (stop)
		v->stop = *stop;
	gauge_add(GAUGE_VIEWS, 1);
	*ret = v;
	return ST_OK;
}

enum status engine_view_open(struct engine *en, const struct engine_stop *stop,
	struct engine_view **ret, struct error *e)
{
	return open_state(en, states_current(&en->states), stop, ret, e);
}

enum status engine_view_open_at(struct engine *en, uint64_t version, const struct engine_stop *stop,
	struct engine_view **ret, struct error *e)
{
	struct engine_state *state = states_find(&en->states, version);

	if (!state)
		return error_set(e, ST_GONE, "that state of the corpus is not kept any more");
	return open_state(en, state, stop, ret, e);
}

void engine_view_keep(struct engine_view *v)
{
	states_keep(&v->en->states, v->state, KEPT_READ);
}

void engine_view_close(struct engine_view *v)
{
	if (!v)
		return;
	if (v->reader)
		store_reader_close(v->reader);
	states_unref(&v->en->states, v->state);
	gauge_add(GAUGE_VIEWS, -1);
	mem_free(v);
}

uint64_t engine_view_version(const struct engine_view *v)
{
	return v->state->totals.version;
}

int64_t engine_view_time_ms(const struct engine_view *v)
{
	return v->state->totals.time_ms;
}

enum status engine_view_stats(struct engine_view *v, struct engine_stats *ret, struct error *e)
{
	const struct store_totals *t = &v->state->totals;

	(void)e;
	*ret = (struct engine_stats){ .documents = t->documents,
		.chunks = t->chunks,
		.text_bytes = t->text_bytes,
		.version = t->version,
		.contradictions = atomic_load(&v->en->contradictions),
		.unfielded = atomic_load(&v->en->unfielded) };
	return ST_OK;
}

enum status view_reader(struct engine_view *v, struct store_reader **ret, struct error *e)
{
	enum status st = ST_OK;

	if (!v->reader)
		st = store_reader_open(v->en->store, &v->stop, &v->reader, e);
	*ret = v->reader;
	return st;
}

enum status engine_fetch(struct engine_view *v, const struct engine_candidate *c, unsigned want,
	struct arena *arena, struct engine_record *ret, struct error *e)
{
	struct store_reader *r;
	enum status st = view_reader(v, &r, e);

	return st ? st : store_fetch(r, c->key, want, arena, ret, e);
}

enum status engine_get(struct engine_view *v, struct bytes id, struct arena *arena,
	struct engine_record *ret, struct error *e)
{
	struct store_reader *r;
	enum status st = view_reader(v, &r, e);

	return st ? st : store_get(r, id, engine_view_version(v), arena, ret, e);
}
