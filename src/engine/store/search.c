/*
 * search.c: the full-text search over one view: score descending, then document id,
 * then chunk, at the cut as well as above it. One row more than asked shows whether
 * the cut runs through equal scores; only then are the ids of all matches looked
 * up. Cost: every match is scored; memory for k rows.
 */
#include "engine/store/private.h"

#include <math.h>
#include <string.h>

#define FIRST_ROWS 64
#define MOST_ROWS 1000000 /* far above any k that limits let through */

struct rows {
	struct engine_candidate *at;
	size_t n, room;
};

static enum status make_room(struct rows *rows, struct arena *arena, struct error *e)
{
	size_t room = rows->room ? rows->room * 2 : FIRST_ROWS;
	struct engine_candidate *more;

	if (rows->n < rows->room)
		return ST_OK;
	more = arena_array(arena, room, sizeof *more);
	if (!more)
		return error_set(e, ST_NOMEM, "out of memory");
	if (rows->n)
		memcpy(more, rows->at, rows->n * sizeof *more);
	rows->at = more;
	rows->room = room;
	return ST_OK;
}

static enum status add_row(const struct db_call *call, struct rows *rows, struct arena *arena,
	struct error *e)
{
	double score = -sqlite3_column_double(call->stmt, 3);
	enum status st = make_room(rows, arena, e);
	struct engine_candidate *c;

	if (st)
		return st;
	c = &rows->at[rows->n];
	c->key = db_column_int(call, 0);
	c->chunk = (uint32_t)db_column_size(call, 2);
	c->score = isfinite(score) && score > 0 ? score : 0;
	st = db_column_bytes(call, 1, arena, &c->doc_id, e);
	if (!st)
		rows->n++;
	return st;
}

static enum status run_search(struct store_view *v, enum statement what, struct bytes match,
	size_t limit, struct arena *arena, struct rows *ret, struct error *e)
{
	struct rows rows = { NULL, 0, 0 };
	struct db_call call;
	bool row = true;
	enum status st = ST_OK;

	db_start(&call, &v->db, what);
	db_bind_text(&call, 1, match);
	db_bind_size(&call, 2, limit);
	while (!st && row) {
		st = db_step(&call, &row, e);
		if (!st && row)
			st = add_row(&call, &rows, arena, e);
	}
	db_end(&call);
	if (!st)
		*ret = rows;
	return st;
}

enum status store_view_search(struct store_view *v, struct bytes match, size_t k,
	struct arena *arena, struct engine_candidate **ret, size_t *ret_n, struct error *e)
{
	struct rows rows = { NULL, 0, 0 };
	enum status st;

	if (k > MOST_ROWS)
		k = MOST_ROWS;
	st = run_search(v, STATEMENT_SEARCH, match, k + 1, arena, &rows, e);
	if (!st && rows.n > k && k > 0 && rows.at[k].score == rows.at[k - 1].score)
		st = run_search(v, STATEMENT_SEARCH_TIED, match, k, arena, &rows, e);
	if (st)
		return st;
	*ret = rows.at;
	*ret_n = rows.n < k ? rows.n : k;
	return ST_OK;
}
