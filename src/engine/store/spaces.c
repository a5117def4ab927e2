/*
 * spaces.c: spaces of vectors, and the vectors of those that nobody here can make again.
 */
#include "engine/store/private.h"

static enum status insert_space(struct store_write *w, const struct store_space *space,
	uint64_t *ret, struct error *e)
{
	struct db_call call;
	bool row = false;
	enum status st;

	db_start(&call, &w->db, STATEMENT_INSERT_SPACE);
	db_bind_text(&call, 1, space->identity);
	db_bind_size(&call, 2, space->dimension);
	db_bind_int(&call, 3, space->derived);
	db_bind_size(&call, 4, space->fit);
	db_bind_size(&call, 5, space->fitted);
	db_bind_int(&call, 6, space->active);
	db_bind_blob(&call, 7, space->blob);
	st = db_step(&call, &row, e);
	if (!st && !row)
		st = error_set(e, ST_CORRUPT, "the corpus is damaged: its row is missing");
	if (!st)
		*ret = db_column_size(&call, 0);
	if (!st)
		st = db_step(&call, &row, e); /* to its end: only then it is done */
	db_end(&call);
	return st;
}

enum status store_write_space(struct store_write *w, const struct store_space *space,
	uint64_t *ret_number, struct error *e)
{
	uint64_t number = 0;
	enum status st = store_write_check(w, e);

	if (!st)
		st = store_write_fault(w, "store.space", e);
	if (!st)
		st = insert_space(w, space, &number, e);
	if (!st && number >= STORE_MAX_SPACE)
		st = error_set(e, ST_FULL, "the corpus has had too many spaces of vectors");
	if (!st)
		st = db_run(&w->db, STATEMENT_COUNT_SPACE, e);
	if (!st)
		*ret_number = number;
	return store_write_done(w, st);
}

static enum status set_blob(struct store_write *w, uint64_t number, struct bytes blob,
	struct error *e)
{
	struct db_call call;

	db_start(&call, &w->db, STATEMENT_SET_BLOB);
	db_bind_size(&call, 1, number);
	db_bind_blob(&call, 2, blob);
	return db_finish(&call, e);
}

enum status store_write_activate(struct store_write *w, uint64_t number, struct bytes blob,
	struct error *e)
{
	enum status st = store_write_check(w, e);

	if (!st && blob.data)
		st = set_blob(w, number, blob, e);
	if (!st)
		st = store_run_on(&w->db, STATEMENT_ACTIVATE_SPACE, (int64_t)number, e);
	if (!st)
		st = store_run_on(&w->db, STATEMENT_DROP_OTHER_SPACES, (int64_t)number, e);
	return store_write_done(w, st);
}

enum status store_write_drop_space(struct store_write *w, uint64_t number, struct error *e)
{
	enum status st = store_write_check(w, e);

	if (!st)
		st = store_run_on(&w->db, STATEMENT_DROP_SPACE, (int64_t)number, e);
	return store_write_done(w, st);
}

enum status store_write_vector(struct store_write *w, uint64_t space, int64_t chunk,
	struct bytes data, struct error *e)
{
	struct db_call call;
	enum status st = store_write_check(w, e);

	if (st)
		return st;
	db_start(&call, &w->db, STATEMENT_PUT_VECTOR);
	db_bind_int(&call, 1, store_place(space, chunk));
	db_bind_blob(&call, 2, data.data ? data : (struct bytes){ "", 0 });
	return store_write_done(w, db_finish(&call, e));
}

enum status store_write_turn(struct store_write *w, struct error *e)
{
	enum status st = store_write_check(w, e);

	if (!st)
		w->now.changed = true;
	return st;
}

/* ---- what goes ---- */

/* The first place that is taken, at or after one; false: none. */
static enum status first_vector(struct db *db, int64_t from, int64_t *ret, bool *ret_any,
	struct error *e)
{
	struct db_call call;
	bool row = false;
	enum status st;

	db_start(&call, db, STATEMENT_FIRST_VECTOR);
	db_bind_int(&call, 1, from);
	st = db_step(&call, &row, e);
	*ret_any = !st && row && !db_column_is_null(&call, 0);
	if (*ret_any)
		*ret = db_column_int(&call, 0);
	db_end(&call);
	return st;
}

enum status store_drop_vectors(struct db *db, int64_t first_chunk, uint64_t chunks, struct error *e)
{
	int64_t place = 0;
	bool any;
	enum status st = first_vector(db, 0, &place, &any, e);

	while (!st && any) {
		uint64_t space = (uint64_t)place >> STORE_SPACE_SHIFT;
		struct db_call call;

		db_start(&call, db, STATEMENT_DELETE_VECTORS);
		db_bind_int(&call, 1, store_place(space, first_chunk));
		db_bind_size(&call, 2, chunks);
		st = db_finish(&call, e);
		if (!st)
			st = first_vector(db, store_place(space + 1, 0), &place, &any, e);
	}
	return st;
}

static enum status has_row(struct db *db, enum statement what, int64_t v, bool *ret,
	struct error *e)
{
	struct db_call call;
	enum status st;

	db_start(&call, db, what);
	db_bind_int(&call, 1, v);
	st = db_step(&call, ret, e);
	db_end(&call);
	return st;
}

/* The first space that has vectors but no row; 0: none. */
static enum status find_dropped(struct db *db, uint64_t *ret, struct error *e)
{
	int64_t place = 0;
	bool any = true, known = true;
	enum status st = ST_OK;

	*ret = 0;
	while (!st && any && known) {
		st = first_vector(db, place, &place, &any, e);
		if (st || !any)
			break;
		*ret = (uint64_t)place >> STORE_SPACE_SHIFT;
		st = has_row(db, STATEMENT_HAS_SPACE, (int64_t)*ret, &known, e);
		place = store_place(*ret + 1, 0);
	}
	if (known)
		*ret = 0;
	return st;
}

enum status store_write_sweep_vectors(struct store_write *w, size_t max, bool *ret_more,
	struct error *e)
{
	struct db_call call;
	uint64_t space = 0;
	enum status st = store_write_check(w, e);

	if (!st)
		st = find_dropped(&w->db, &space, e);
	if (!st && space) {
		db_start(&call, &w->db, STATEMENT_DELETE_SOME_VECTORS);
		db_bind_int(&call, 1, store_place(space, 0));
		db_bind_int(&call, 2, store_place(space + 1, 0));
		db_bind_size(&call, 3, max);
		st = db_finish(&call, e);
	}
	if (!st)
		*ret_more = space != 0;
	return store_write_done(w, st);
}

/* ---- reading ---- */

static enum status read_space(const struct db_call *call, struct store_space *ret, struct error *e)
{
	enum status st = db_column_borrow(call, 1, &ret->identity, e);

	if (!st)
		st = db_column_borrow(call, 7, &ret->blob, e);
	ret->number = db_column_size(call, 0);
	ret->dimension = db_column_size(call, 2);
	ret->derived = db_column_int(call, 3) != 0;
	ret->fit = db_column_size(call, 4);
	ret->fitted = db_column_size(call, 5);
	ret->active = db_column_int(call, 6) != 0;
	if (!st &&
		(!ret->identity.data || ret->dimension < 1 || ret->number < 1 ||
			ret->number >= STORE_MAX_SPACE))
		st = error_set(e, ST_CORRUPT, "the corpus is damaged: its spaces");
	return st;
}

enum status store_each_space(struct store_reader *r, store_space_fn *fn, void *arg, struct error *e)
{
	struct db_call call;
	bool row = true;
	enum status st = ST_OK;

	db_start(&call, &r->db, STATEMENT_EACH_SPACE);
	while (!st && row) {
		struct store_space space;

		st = db_step(&call, &row, e);
		if (st || !row)
			break;
		st = read_space(&call, &space, e);
		if (!st)
			st = fn(arg, &space, e);
	}
	db_end(&call);
	return st;
}

enum status store_each_vector(struct store_reader *r, uint64_t space, uint64_t after,
	store_vector_fn *fn, void *arg, struct error *e)
{
	struct db_call call;
	bool row = true;
	enum status st = ST_OK;

	db_start(&call, &r->db, STATEMENT_EACH_VECTOR);
	db_bind_size(&call, 1, after);
	db_bind_int(&call, 2, store_place(space, 0));
	while (!st && row) {
		struct bytes data;

		st = db_step(&call, &row, e);
		if (st || !row)
			break;
		st = db_column_borrow(&call, 1, &data, e);
		if (!st)
			st = fn(arg, db_column_int(&call, 0), data, e);
	}
	db_end(&call);
	return st;
}

enum status store_any_vector(struct store_reader *r, bool *ret, struct error *e)
{
	int64_t place;

	return first_vector(&r->db, 0, &place, ret, e);
}

/* ---- chunks by key ---- */

struct picking {
	struct db *db;
	int64_t key; /* that one alone; 0: those without a vector */
	int64_t after;
	uint64_t space;
	bool found;
	store_row_fn *fn;
	void *arg;
};

static enum status pick(void *arg, const struct store_row *row, struct error *e)
{
	struct picking *p = arg;
	bool has = false;
	enum status st = ST_OK;

	if (p->key ? row->key != p->key : row->key <= p->after)
		return ST_OK;
	if (!p->key)
		st = has_row(p->db, STATEMENT_HAS_VECTOR, store_place(p->space, row->key), &has, e);
	if (st || has)
		return st;
	p->found = true;
	st = p->fn(p->arg, row, e);
	return st || !p->key ? st : ST_GONE; /* that was the one */
}

static enum status find_document(struct db *db, int64_t key, int64_t *ret, struct error *e)
{
	struct db_call call;
	bool row = false;
	enum status st;

	db_start(&call, db, STATEMENT_FIND_BY_CHUNK);
	db_bind_int(&call, 1, key);
	st = db_step(&call, &row, e);
	*ret = !st && row ? db_column_int(&call, 0) : 0;
	db_end(&call);
	return st;
}

enum status store_one_row(struct store_reader *r, int64_t key, store_row_fn *fn, void *arg,
	struct error *e)
{
	struct picking p = { .db = &r->db, .key = key, .fn = fn, .arg = arg };
	int64_t document = 0;
	enum status st = find_document(&r->db, key, &document, e);

	if (!st && document)
		st = store_each_chunk(r, NULL, document, pick, &p, e);
	if (st == ST_GONE && p.found)
		st = ST_OK;
	if (!st && !p.found)
		st = error_set(e, ST_NOT_FOUND, "no such chunk");
	return st;
}

enum status store_each_unembedded(struct store_reader *r, struct store_write *w, uint64_t space,
	int64_t after, store_row_fn *fn, void *arg, struct error *e)
{
	struct db *db = r ? &r->db : &w->db;
	struct picking p = { .db = db, .after = after, .space = space, .fn = fn, .arg = arg };
	struct db_call call;
	uint64_t count;

	db_start(&call, db, STATEMENT_EACH_UNEMBEDDED);
	db_bind_int(&call, 1, after);
	db_bind_int(&call, 2, store_place(space, 0));
	return store_walk(db, &call, &count, pick, &p, e);
}
