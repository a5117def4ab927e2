/*
 * walk.c: chunks of many documents, one after another, with what their terms depend on.
 * A document's text is read once, however many chunks are cut from it, and lent to the
 * callback where SQLite has it.
 */
#include "engine/store/private.h"

/* A document on its way through a walk; bytes live until the next step. */
struct walked {
	struct store_row row; /* but for the chunk's part */
	struct store_keys keys;
	struct bytes text;
};

static enum status damaged(struct error *e)
{
	return error_set(e, ST_CORRUPT, "the corpus is damaged: its chunks");
}

static enum status read_document(const struct db_call *call, struct walked *ret, struct error *e)
{
	struct walked w = { .text = BYTES_NONE };
	struct bytes tag = BYTES_NONE;
	struct {
		int at;
		struct bytes *to;
	} columns[] = { { 1, &w.row.doc_id }, { 2, &w.row.title }, { 4, &tag }, { 8, &w.text } };
	enum status st = ST_OK;

	for (size_t i = 0; !st && i < sizeof columns / sizeof columns[0]; i++)
		st = db_column_borrow(call, columns[i].at, columns[i].to, e);
	if (st)
		return st;
	w.keys = (struct store_keys){ db_column_int(call, 0), db_column_int(call, 6),
		db_column_size(call, 7) };
	w.row.document = w.keys.document;
	w.row.format = (enum text_format)db_column_int(call, 3);
	w.row.analysis = text_lang_parse(tag);
	w.row.contextual = db_column_int(call, 5) != 0;
	*ret = w;
	return ST_OK;
}

/* The row must be the document's i-th chunk. */
static enum status read_chunk(const struct db_call *call, const struct walked *w, uint64_t i,
	struct store_row *ret, struct error *e)
{
	uint64_t start = db_column_size(call, 2), end = db_column_size(call, 3);
	enum status st;

	*ret = w->row;
	ret->key = db_column_int(call, 0);
	ret->no = (uint32_t)i;
	if (i >= w->keys.chunks || ret->key != w->keys.first_chunk + (int64_t)i ||
		db_column_int(call, 1) != w->keys.document || start > end || end > w->text.len)
		return damaged(e);
	st = db_column_borrow(call, 4, &ret->context, e);
	ret->text = (struct bytes){ w->text.data + start, (size_t)(end - start) };
	return st;
}

static enum status walk_chunks(struct db *db, const struct walked *w, store_row_fn *fn, void *arg,
	struct error *e)
{
	struct db_call call;
	uint64_t seen = 0;
	bool more = true;
	enum status st = ST_OK;

	db_start(&call, db, STATEMENT_CHUNKS_OF);
	db_bind_int(&call, 1, w->keys.first_chunk);
	db_bind_size(&call, 2, w->keys.chunks);
	while (!st && more) {
		struct store_row row;

		st = db_step(&call, &more, e);
		if (!st && more)
			st = read_chunk(&call, w, seen++, &row, e);
		if (!st && more)
			st = fn(arg, &row, e);
	}
	db_end(&call);
	return !st && seen != w->keys.chunks ? damaged(e) : st;
}

enum status store_walk(struct db *db, struct db_call *call, uint64_t *ret_count, store_row_fn *fn,
	void *arg, struct error *e)
{
	bool more = true;
	enum status st = ST_OK;

	*ret_count = 0;
	while (!st && more) {
		struct walked w = { .text = BYTES_NONE };

		st = db_step(call, &more, e);
		if (!st && more)
			st = read_document(call, &w, e);
		if (!st && more)
			st = walk_chunks(db, &w, fn, arg, e);
		*ret_count += more;
	}
	db_end(call);
	return st;
}

/* Of a statement with one parameter. */
static enum status walk(struct db *db, enum statement what, uint64_t parameter, uint64_t *ret_count,
	store_row_fn *fn, void *arg, struct error *e)
{
	struct db_call call;

	db_start(&call, db, what);
	db_bind_size(&call, 1, parameter);
	return store_walk(db, &call, ret_count, fn, arg, e);
}

enum status store_each_born(struct store_reader *r, uint64_t after, store_row_fn *fn, void *arg,
	struct error *e)
{
	uint64_t count;

	return walk(&r->db, STATEMENT_EACH_BORN, after, &count, fn, arg, e);
}

enum status store_each_died(struct store_reader *r, uint64_t after, store_row_fn *fn, void *arg,
	struct error *e)
{
	uint64_t count;

	return walk(&r->db, STATEMENT_EACH_DIED, after, &count, fn, arg, e);
}

enum status store_each_living(struct store_reader *r, int64_t after, size_t max, store_row_fn *fn,
	void *arg, uint64_t *ret_n, struct error *e)
{
	struct db_call call;

	db_start(&call, &r->db, STATEMENT_EACH_LIVING);
	db_bind_int(&call, 1, after);
	db_bind_size(&call, 2, max);
	return store_walk(&r->db, &call, ret_n, fn, arg, e);
}

enum status store_each_chunk(struct store_reader *r, struct store_write *w, int64_t document,
	store_row_fn *fn, void *arg, struct error *e)
{
	struct db *db = r ? &r->db : &w->db;
	uint64_t count;
	enum status st;

	if (document < 1)
		return error_set(e, ST_NOT_FOUND, "no such document");
	st = walk(db, STATEMENT_ONE_DOCUMENT, (uint64_t)document, &count, fn, arg, e);
	if (!st && !count)
		st = error_set(e, ST_NOT_FOUND, "no such document");
	return st;
}
