/* view.c: reading: a view of the corpus, and documents and chunks out of it. */
#include "engine/private.h"

#include "util/mem.h"

enum status engine_view_open(struct engine *en, const struct engine_stop *stop,
	struct engine_view **ret, struct error *e)
{
	struct engine_view *v = mem_zero(sizeof *v);
	enum status st;

	if (!v)
		return error_set(e, ST_NOMEM, "out of memory");
	st = store_view_open(en->store, stop, &v->rows, e);
	if (st)
		mem_free(v);
	else
		*ret = v;
	return st;
}

void engine_view_close(struct engine_view *v)
{
	if (!v)
		return;
	store_view_close(v->rows);
	mem_free(v);
}

uint64_t engine_view_version(const struct engine_view *v)
{
	return store_view_version(v->rows);
}

enum status engine_view_stats(struct engine_view *v, struct engine_stats *ret, struct error *e)
{
	return store_view_stats(v->rows, ret, e);
}

enum status engine_fetch(struct engine_view *v, const struct engine_candidate *c, unsigned want,
	struct arena *arena, struct engine_record *ret, struct error *e)
{
	return store_view_fetch(v->rows, c->key, want, arena, ret, e);
}

enum status engine_get(struct engine_view *v, struct bytes id, struct arena *arena,
	struct engine_record *ret, struct error *e)
{
	return store_view_get(v->rows, id, arena, ret, e);
}
