/*
 * read.c: readers, and rows looked up one by one. A reader is a reading connection with
 * an open transaction; its first statement fixes a snapshot, which the next ones share.
 * A caller may know of a commit that is newer than the snapshot: then it is given up
 * for the newest.
 */
#include "engine/store/private.h"
#include "engine/store/trim.h"

#include "util/utf8.h"

enum status store_reader_begin(struct store_reader *r, struct error *e)
{
	struct engine_stop stop = r->db.stop;

	db_rollback(&r->db); /* also in case ending the last one failed */
	db_set_stop(&r->db, &stop);
	r->known = false;
	trim_reader_begins(r);
	return db_run(&r->db, STATEMENT_BEGIN_READ, e);
}

enum status store_reader_open(struct store *s, const struct engine_stop *stop,
	struct store_reader **ret, struct error *e)
{
	struct store_reader *r;
	void *taken;
	enum status st = gate_take(&s->read_gate, stop, &taken, e);

	if (st)
		return st;
	r = taken;
	db_set_stop(&r->db, stop);
	st = store_reader_begin(r, e);
	if (st)
		store_reader_close(r);
	else
		*ret = r;
	return st;
}

void store_reader_close(struct store_reader *r)
{
	db_rollback(&r->db);
	trim_reader_ends(r);
	gate_put(&r->store->read_gate, r);
}

enum status store_read_totals(struct store_reader *r, struct store_totals *ret, struct error *e)
{
	struct store_carried c;
	enum status st = store_reader_begin(r, e);

	if (!st)
		st = store_load_totals(&r->db, &c, e);
	if (st)
		return st;
	r->version = c.totals.version;
	r->known = true;
	*ret = c.totals;
	return ST_OK;
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

static void cover_text(struct engine_record *r)
{
	r->byte_start = r->cp_start = 0;
	r->byte_end = r->text.len;
	r->cp_end = utf8_count(r->text.data, r->text.len);
}

static enum status copy_chunk(const struct db_call *call, unsigned want, struct arena *arena,
	struct engine_record *ret, struct error *e)
{
	struct engine_record r = { .text = BYTES_NONE };
	struct bytes *const columns[] = { &r.text, &r.meta, &r.title, &r.uri, &r.source, &r.lang,
		&r.context };
	enum status st = db_column_bytes(call, 0, arena, &r.doc_id, e);

	if (!st)
		st = copy_columns(call, 5, columns, 7, arena, e);
	if (st)
		return st;
	r.byte_start = db_column_size(call, 1);
	r.byte_end = db_column_size(call, 2);
	r.cp_start = db_column_size(call, 3);
	r.cp_end = db_column_size(call, 4);
	if (want & ENGINE_WHOLE)
		cover_text(&r);
	*ret = r;
	return ST_OK;
}

static enum status fetch_once(struct store_reader *r, int64_t key, unsigned want,
	struct arena *arena, bool *ret_found, struct engine_record *ret, struct error *e)
{
	struct db_call call;
	enum status st;

	db_start(&call, &r->db, STATEMENT_FETCH_CHUNK);
	db_bind_int(&call, 1, key);
	db_bind_int(&call, 2, want);
	st = db_step(&call, ret_found, e);
	if (!st && *ret_found)
		st = copy_chunk(&call, want, arena, ret, e);
	db_end(&call);
	return st;
}

enum status store_fetch(struct store_reader *r, int64_t key, unsigned want, struct arena *arena,
	struct engine_record *ret, struct error *e)
{
	bool found = false;
	enum status st = fetch_once(r, key, want, arena, &found, ret, e);

	if (!st && !found) { /* or not yet there in this snapshot */
		st = store_reader_begin(r, e);
		if (!st)
			st = fetch_once(r, key, want, arena, &found, ret, e);
	}
	if (!st && !found)
		st = error_set(e, ST_NOT_FOUND, "no such chunk");
	return st;
}

static enum status read_version(struct store_reader *r, struct error *e)
{
	struct db_call call;
	bool row = false;
	enum status st;

	db_start(&call, &r->db, STATEMENT_GET_CORPUS);
	st = db_step(&call, &row, e);
	if (!st) {
		r->version = row ? db_column_size(&call, 0) : 0;
		r->known = true;
	}
	db_end(&call);
	return st;
}

/* Makes sure that the snapshot has that commit, if there has been one. */
static enum status reach_version(struct store_reader *r, uint64_t version, struct error *e)
{
	enum status st = r->known ? ST_OK : read_version(r, e);

	if (st || r->version >= version)
		return st;
	st = store_reader_begin(r, e);
	return st ? st : read_version(r, e);
}

enum status store_get(struct store_reader *r, struct bytes id, uint64_t version,
	struct arena *arena, struct engine_record *ret, struct error *e)
{
	struct engine_record rec = { .cp_start = 0 };
	struct bytes *const columns[] = { &rec.doc_id, &rec.text, &rec.meta, &rec.title, &rec.uri,
		&rec.source, &rec.lang };
	struct db_call call;
	bool row = false;
	enum status st = reach_version(r, version, e);

	if (st)
		return st;
	db_start(&call, &r->db, STATEMENT_GET_DOCUMENT);
	db_bind_blob(&call, 1, id);
	db_bind_size(&call, 2, version);
	st = db_step(&call, &row, e);
	if (!st && !(row && db_column_int(&call, 7)))
		st = error_set(e, ST_NOT_FOUND, "no such document");
	if (!st)
		st = copy_columns(&call, 0, columns, 7, arena, e);
	db_end(&call);
	if (st)
		return st;
	cover_text(&rec);
	*ret = rec;
	return ST_OK;
}
