/* once.c: idempotency keys: the answer to a call is kept in its transaction. */
#include "engine/store/private.h"

#include "util/clock.h"

/* Absent is stored as empty: NULL equals nothing in SQL. */
static struct bytes or_empty(struct bytes v)
{
	return v.data ? v : (struct bytes){ "", 0 };
}

static struct bytes hash_of(const struct engine_once *once)
{
	return (struct bytes){ (const char *)once->hash, sizeof once->hash };
}

static enum status compare_once(const struct db_call *call, const struct engine_once *once,
	struct arena *arena, struct engine_commit *ret, struct error *e)
{
	struct engine_commit c = { .repeated = true };
	struct bytes hash;
	enum status st = db_column_borrow(call, 0, &hash, e);

	if (!st && !bytes_eq(hash, hash_of(once)))
		st = error_set(e, ST_CONFLICT,
			"the idempotency key was used before with another request");
	if (!st)
		st = db_column_bytes(call, 1, arena, &c.result, e);
	if (st)
		return st;
	c.version = db_column_size(call, 2);
	c.documents = db_column_size(call, 3);
	c.chunks = db_column_size(call, 4);
	*ret = c;
	return ST_OK;
}

enum status store_write_find_once(struct store_write *w, const struct engine_once *once,
	struct arena *arena, bool *ret_found, struct engine_commit *ret, struct error *e)
{
	struct db_call call;
	bool row = false;
	enum status st = store_write_check(w, e);

	if (st)
		return st;
	db_start(&call, &w->db, STATEMENT_FIND_ONCE);
	db_bind_blob(&call, 1, or_empty(once->owner));
	db_bind_blob(&call, 2, once->key);
	db_bind_int(&call, 3, clock_wall_ms() - STORE_ONCE_MS);
	st = db_step(&call, &row, e);
	if (!st && row)
		st = compare_once(&call, once, arena, ret, e);
	db_end(&call);
	if (!st)
		*ret_found = row;
	return store_write_done(w, st);
}

static enum status prune_once(struct store_write *w, int64_t now, struct error *e)
{
	struct db_call call;

	db_start(&call, &w->db, STATEMENT_PRUNE_ONCE);
	db_bind_int(&call, 1, now - STORE_ONCE_MS);
	db_bind_int(&call, 2, STORE_ONCE_PRUNE);
	return db_finish(&call, e);
}

enum status store_write_keep_once(struct store_write *w, const struct engine_once *once,
	const struct engine_commit *answer, struct error *e)
{
	int64_t now = clock_wall_ms();
	struct db_call call;
	enum status st = store_write_check(w, e);

	if (!st)
		st = prune_once(w, now, e);
	if (st)
		return store_write_done(w, st);
	db_start(&call, &w->db, STATEMENT_KEEP_ONCE);
	db_bind_blob(&call, 1, or_empty(once->owner));
	db_bind_blob(&call, 2, once->key);
	db_bind_blob(&call, 3, hash_of(once));
	db_bind_blob(&call, 4, or_empty(once->result));
	db_bind_size(&call, 5, answer->version);
	db_bind_size(&call, 6, answer->documents);
	db_bind_size(&call, 7, answer->chunks);
	db_bind_int(&call, 8, now);
	return store_write_done(w, db_finish(&call, e));
}
