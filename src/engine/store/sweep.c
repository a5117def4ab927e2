/*
 * sweep.c: the dead are removed for good. One at a time, found by the index over the
 * dead: rows cannot be deleted safely under a statement that walks over them.
 */
#include "engine/store/private.h"

/* Of texts in one transaction, but for its last document: writers wait for it, and a
 * megabyte takes some milliseconds. */
#define MOST_BYTES (1u << 20)

static enum status find_dead(struct store_write *w, uint64_t before, struct store_keys *ret,
	uint64_t *ret_bytes, struct error *e)
{
	struct store_keys keys = { 0, 0, 0 };
	struct db_call call;
	bool row = false;
	enum status st;

	db_start(&call, &w->db, STATEMENT_FIND_DEAD);
	db_bind_size(&call, 1, before);
	st = db_step(&call, &row, e);
	*ret_bytes = 0;
	if (!st && row) {
		keys = (struct store_keys){ db_column_int(&call, 0), db_column_int(&call, 1),
			db_column_size(&call, 2) };
		*ret_bytes = db_column_size(&call, 3);
	}
	db_end(&call);
	if (!st)
		*ret = keys;
	return st;
}

static enum status remove_rows(struct store_write *w, const struct store_keys *keys,
	struct error *e)
{
	struct db_call call;
	enum status st;

	db_start(&call, &w->db, STATEMENT_DELETE_CHUNKS);
	db_bind_int(&call, 1, keys->first_chunk);
	db_bind_size(&call, 2, keys->chunks);
	st = db_finish(&call, e);
	if (!st)
		st = store_drop_vectors(&w->db, keys->first_chunk, keys->chunks, e);
	if (!st)
		st = store_run_on(&w->db, STATEMENT_DELETE_TEXT, keys->document, e);
	if (!st)
		st = store_run_on(&w->db, STATEMENT_DELETE_DOCUMENT, keys->document, e);
	return st;
}

static enum status sweep_one(struct store_write *w, const struct store_keys *keys, struct error *e)
{
	enum status st = store_write_check(w, e);

	if (!st)
		st = store_write_fault(w, "store.sweep", e);
	return st ? st : remove_rows(w, keys, e);
}

enum status store_write_sweep(struct store_write *w, uint64_t before, size_t max,
	void (*swept)(void *arg, int64_t first_chunk, uint64_t chunks), void *arg, bool *ret_more,
	struct error *e)
{
	struct store_keys keys;
	uint64_t bytes, sum = 0;
	enum status st = store_write_check(w, e);

	if (!st)
		st = find_dead(w, before, &keys, &bytes, e);
	for (size_t i = 0; !st && keys.document && i < max && sum < MOST_BYTES; i++) {
		st = sweep_one(w, &keys, e);
		if (!st) {
			sum += bytes;
			swept(arg, keys.first_chunk, keys.chunks);
			st = find_dead(w, before, &keys, &bytes, e);
		}
	}
	if (!st)
		*ret_more = keys.document != 0;
	return store_write_done(w, st);
}
