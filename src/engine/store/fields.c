/* fields.c: what the filter columns are made from: fields, and values of documents that
 * were made before there were any. */
#include "engine/store/private.h"

enum status store_write_field(struct store_write *w, struct bytes name, enum engine_type type,
	struct error *e)
{
	struct db_call call;
	enum status st = store_write_check(w, e);

	if (st)
		return st;
	db_start(&call, &w->db, STATEMENT_INSERT_FIELD);
	db_bind_blob(&call, 1, name);
	db_bind_int(&call, 2, (int64_t)type);
	return store_write_done(w, db_finish(&call, e));
}

enum status store_write_retype(struct store_write *w, size_t field, enum engine_type type,
	struct error *e)
{
	struct db_call call;
	enum status st = store_write_check(w, e);

	if (st)
		return st;
	db_start(&call, &w->db, STATEMENT_RETYPE_FIELD);
	db_bind_size(&call, 1, field);
	db_bind_int(&call, 2, (int64_t)type);
	return store_write_done(w, db_finish(&call, e));
}

/* Of a document that has died meanwhile there is no row to set. */
enum status store_write_values(struct store_write *w, int64_t document, struct bytes values,
	struct error *e)
{
	struct db_call call;
	enum status st = store_write_check(w, e);

	if (st)
		return st;
	db_start(&call, &w->db, STATEMENT_SET_VALUES);
	db_bind_int(&call, 1, document);
	db_bind_blob(&call, 2, values);
	st = db_finish(&call, e);
	if (!st)
		st = store_run_on(&w->db, STATEMENT_DELETE_OLD, document, e);
	return store_write_done(w, st);
}

enum status store_each_field(struct store_reader *r, store_field_fn *fn, void *arg, struct error *e)
{
	struct db_call call;
	bool row = true;
	enum status st = ST_OK;

	db_start(&call, &r->db, STATEMENT_EACH_FIELD);
	for (uint64_t i = 0; !st && row; i++) {
		struct bytes name;

		st = db_step(&call, &row, e);
		if (st || !row)
			break;
		st = db_column_borrow(&call, 1, &name, e);
		if (!st &&
			(db_column_int(&call, 0) != (int64_t)i ||
				db_column_size(&call, 2) >= ENGINE_TYPE_COUNT))
			st = error_set(e, ST_CORRUPT, "the corpus is damaged: its fields");
		if (!st)
			st = fn(arg, name, (enum engine_type)db_column_int(&call, 2), e);
	}
	db_end(&call);
	return st;
}

enum status store_each_values(struct store_reader *r, store_values_fn *fn, void *arg,
	struct error *e)
{
	struct db_call call;
	bool row = true;
	enum status st = ST_OK;

	db_start(&call, &r->db, STATEMENT_EACH_VALUES);
	while (!st && row) {
		struct store_keys keys;
		struct bytes values;

		st = db_step(&call, &row, e);
		if (st || !row)
			break;
		keys = (struct store_keys){ db_column_int(&call, 0), db_column_int(&call, 1),
			db_column_size(&call, 2) };
		st = db_column_borrow(&call, 3, &values, e);
		if (!st)
			st = fn(arg, &keys, values, e);
	}
	db_end(&call);
	return st;
}

/* Begins anew, since writes between two calls shorten the list. */
enum status store_each_old(struct store_reader *r, size_t max, store_old_fn *fn, void *arg,
	struct error *e)
{
	struct db_call call;
	bool row = true;
	enum status st = store_reader_begin(r, e);

	if (st)
		return st;
	db_start(&call, &r->db, STATEMENT_EACH_OLD);
	db_bind_size(&call, 1, max);
	while (!st && row) {
		struct bytes meta;

		st = db_step(&call, &row, e);
		if (st || !row)
			break;
		st = db_column_borrow(&call, 1, &meta, e);
		if (!st)
			st = fn(arg, db_column_int(&call, 0), meta, e);
	}
	db_end(&call);
	return st;
}
