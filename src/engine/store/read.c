/*
 * read.c: snapshots and what is read in them. A view is a reading connection with
 * an open transaction; its first read, of the commit counter, fixes the snapshot.
 */
#include "engine/store/private.h"
#include "engine/store/trim.h"

#include "util/gauge.h"
#include "util/utf8.h"

enum status store_view_open(struct store *s, const struct engine_stop *stop,
	struct store_view **ret, struct error *e)
{
	struct store_totals totals;
	struct store_view *v;
	void *taken;
	enum status st = gate_take(&s->view_gate, stop, &taken, e);

	if (st)
		return st;
	v = taken;
	v->stop = stop ? *stop : (struct engine_stop){ NULL, NULL };
	gauge_add(GAUGE_VIEWS, 1);
	db_rollback(&v->db); /* in case ending the last view failed */
	db_set_stop(&v->db, stop);
	trim_view_opens(v);
	st = db_run(&v->db, STATEMENT_BEGIN_READ, e);
	if (!st)
		st = store_read_totals(&v->db, &totals, e);
	if (st) {
		store_view_close(v);
		return st;
	}
	v->version = totals.version;
	*ret = v;
	return ST_OK;
}

void store_view_close(struct store_view *v)
{
	db_rollback(&v->db);
	trim_view_closed(v);
	gauge_add(GAUGE_VIEWS, -1);
	gate_put(&v->store->view_gate, v);
}

uint64_t store_view_version(const struct store_view *v)
{
	return v->version;
}

const struct engine_stop *store_view_stop(const struct store_view *v)
{
	return &v->stop;
}

enum status store_view_stats(struct store_view *v, struct engine_stats *ret, struct error *e)
{
	struct store_totals t;
	enum status st = store_read_totals(&v->db, &t, e);

	if (!st)
		*ret = (struct engine_stats){ .documents = t.documents,
			.chunks = t.chunks,
			.text_bytes = t.text_bytes,
			.version = t.version };
	return st;
}

/* Copies columns into byte strings, one after another. */
static enum status copy_columns(const struct db_call *call, int first, struct bytes *const *to,
	size_t n, struct arena *arena, struct error *e)
{
	enum status st = ST_OK;

	for (size_t i = 0; !st && i < n; i++)
		st = db_column_bytes(call, first + (int)i, arena, to[i], e);
	return st;
}

enum status store_view_fetch(struct store_view *v, int64_t key, unsigned want, struct arena *arena,
	struct engine_record *ret, struct error *e)
{
	struct engine_record r = { .cp_start = 0 };
	struct bytes *const columns[] = { &r.text, &r.meta, &r.title, &r.uri, &r.source, &r.lang };
	struct db_call call;
	bool row = false;
	enum status st;

	db_start(&call, &v->db, STATEMENT_FETCH_CHUNK);
	db_bind_int(&call, 1, key);
	db_bind_int(&call, 2, want);
	st = db_step(&call, &row, e);
	if (!st && !row)
		st = error_set(e, ST_NOT_FOUND, "no such chunk");
	if (!st)
		st = db_column_bytes(&call, 0, arena, &r.doc_id, e);
	if (!st) {
		r.byte_start = db_column_size(&call, 1);
		r.byte_end = db_column_size(&call, 2);
		r.cp_start = db_column_size(&call, 3);
		r.cp_end = db_column_size(&call, 4);
		st = copy_columns(&call, 5, columns, 6, arena, e);
	}
	db_end(&call);
	if (!st)
		*ret = r;
	return st;
}

enum status store_view_get(struct store_view *v, struct bytes id, struct arena *arena,
	struct engine_record *ret, struct error *e)
{
	struct engine_record r = { .cp_start = 0 };
	struct bytes *const columns[] = { &r.doc_id, &r.text, &r.meta, &r.title, &r.uri, &r.source,
		&r.lang };
	struct db_call call;
	bool row = false;
	enum status st;

	db_start(&call, &v->db, STATEMENT_GET_DOCUMENT);
	db_bind_blob(&call, 1, id);
	st = db_step(&call, &row, e);
	if (!st && !row)
		st = error_set(e, ST_NOT_FOUND, "no such document");
	if (!st)
		st = copy_columns(&call, 0, columns, 7, arena, e);
	db_end(&call);
	if (st)
		return st;
	r.byte_end = r.text.len;
	r.cp_end = utf8_count(r.text.data, r.text.len);
	*ret = r;
	return ST_OK;
}
