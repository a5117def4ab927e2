/*
 * change.c: documents are born and die, values and fields are noted. Totals and keys
 * are counted in memory (totals.c). A change that fails halfway leaves its rows to
 * undo or abort.
 */
#include "engine/store/private.h"

#define CHUNKS_BETWEEN_STOPS 256

enum status store_run_on(struct db *db, enum statement what, int64_t v, struct error *e)
{
	struct db_call call;

	db_start(&call, db, what);
	db_bind_int(&call, 1, v);
	return db_finish(&call, e);
}

static enum status insert_document(struct store_write *w, const struct store_document *doc,
	const struct store_keys *keys, struct error *e)
{
	struct db_call call;

	db_start(&call, &w->db, STATEMENT_INSERT_DOCUMENT);
	db_bind_int(&call, 1, keys->document);
	db_bind_blob(&call, 2, doc->id);
	db_bind_size(&call, 3, store_write_version(w));
	db_bind_int(&call, 4, (int64_t)doc->format);
	db_bind_text(&call, 5, bytes_of(text_lang_tag(doc->analysis)));
	db_bind_int(&call, 6, doc->contextual);
	db_bind_int(&call, 7, keys->first_chunk);
	db_bind_size(&call, 8, keys->chunks);
	db_bind_size(&call, 9, doc->text.len);
	db_bind_text(&call, 10, doc->title);
	db_bind_text(&call, 11, doc->uri);
	db_bind_text(&call, 12, doc->source);
	db_bind_text(&call, 13, doc->lang);
	db_bind_text(&call, 14, doc->meta);
	return db_finish(&call, e);
}

static enum status insert_text(struct store_write *w, int64_t document, struct bytes text,
	struct error *e)
{
	struct db_call call;

	db_start(&call, &w->db, STATEMENT_INSERT_TEXT);
	db_bind_int(&call, 1, document);
	db_bind_blob(&call, 2, text.data ? text : (struct bytes){ "", 0 });
	return db_finish(&call, e);
}

static enum status insert_values(struct store_write *w, const struct store_keys *keys,
	struct bytes values, struct error *e)
{
	struct db_call call;

	db_start(&call, &w->db, STATEMENT_INSERT_VALUES);
	db_bind_int(&call, 1, keys->document);
	db_bind_int(&call, 2, keys->first_chunk);
	db_bind_size(&call, 3, keys->chunks);
	db_bind_blob(&call, 4, values);
	return db_finish(&call, e);
}

static enum status insert_chunk(struct store_write *w, int64_t document, int64_t key,
	const struct store_chunk *chunk, struct error *e)
{
	struct db_call call;

	db_start(&call, &w->db, STATEMENT_INSERT_CHUNK);
	db_bind_int(&call, 1, key);
	db_bind_int(&call, 2, document);
	db_bind_size(&call, 3, chunk->byte_start);
	db_bind_size(&call, 4, chunk->byte_end);
	db_bind_size(&call, 5, chunk->cp_start);
	db_bind_size(&call, 6, chunk->cp_end);
	db_bind_text(&call, 7, chunk->context);
	return db_finish(&call, e);
}

static enum status insert_all(struct store_write *w, const struct store_document *doc,
	const struct store_keys *keys, struct error *e)
{
	enum status st = insert_document(w, doc, keys, e);

	if (!st)
		st = insert_text(w, keys->document, doc->text, e);
	if (!st)
		st = insert_values(w, keys, doc->values, e);
	for (size_t i = 0; !st && i < doc->chunk_count; i++) {
		if (i % CHUNKS_BETWEEN_STOPS == CHUNKS_BETWEEN_STOPS - 1)
			st = store_write_check(w, e);
		if (!st)
			st = insert_chunk(w, keys->document, keys->first_chunk + (int64_t)i,
				&doc->chunks[i], e);
	}
	return st;
}

enum status store_write_put(struct store_write *w, const struct store_document *doc,
	struct store_keys *ret, struct error *e)
{
	struct store_keys keys = { w->now.next_document, w->now.next_chunk, doc->chunk_count };
	enum status st = store_write_check(w, e);

	if (!st)
		st = store_write_fault(w, "store.put", e);
	if (!st)
		st = insert_all(w, doc, &keys, e);
	if (st)
		return store_write_done(w, st);
	w->now.next_document++;
	w->now.next_chunk += (int64_t)keys.chunks;
	w->now.totals.documents++;
	w->now.totals.chunks += keys.chunks;
	w->now.totals.text_bytes += doc->text.len;
	w->now.totals.languages[doc->analysis]++;
	w->now.changed = true;
	*ret = keys;
	return ST_OK;
}

struct found {
	struct store_keys keys; /* document 0: nothing that lives */
	uint64_t text_bytes;
	enum text_lang analysis;
};

/* Ends the call. */
static enum status read_found(struct db_call *call, struct found *ret, struct error *e)
{
	struct found f = { .keys = { 0, 0, 0 } };
	struct bytes tag;
	bool row = false;
	enum status st = db_step(call, &row, e);

	if (!st && row && db_column_int(call, 5)) {
		f.keys = (struct store_keys){ db_column_int(call, 0), db_column_int(call, 1),
			db_column_size(call, 2) };
		f.text_bytes = db_column_size(call, 3);
		st = db_column_borrow(call, 4, &tag, e);
		if (!st)
			f.analysis = text_lang_parse(tag);
	}
	db_end(call);
	if (!st)
		*ret = f;
	return st;
}

static enum status mark_dead(struct store_write *w, int64_t document, struct error *e)
{
	struct db_call call;
	enum status st;

	db_start(&call, &w->db, STATEMENT_BURY_DOCUMENT);
	db_bind_int(&call, 1, document);
	db_bind_size(&call, 2, store_write_version(w));
	st = db_finish(&call, e);
	if (!st)
		st = store_run_on(&w->db, STATEMENT_DELETE_VALUES, document, e);
	if (!st)
		st = store_run_on(&w->db, STATEMENT_DELETE_OLD, document, e);
	return st;
}

/* A damaged file may count fewer than there are. */
static void subtract(uint64_t *from, uint64_t n)
{
	*from = *from > n ? *from - n : 0;
}

static enum status bury(struct store_write *w, const struct found *f, struct error *e)
{
	enum status st = f->keys.document ? mark_dead(w, f->keys.document, e) : ST_OK;

	if (st || !f->keys.document)
		return st;
	subtract(&w->now.totals.documents, 1);
	subtract(&w->now.totals.chunks, f->keys.chunks);
	subtract(&w->now.totals.text_bytes, f->text_bytes);
	subtract(&w->now.totals.languages[f->analysis], 1);
	w->now.changed = true;
	return ST_OK;
}

enum status store_find(struct store_reader *r, struct bytes id, struct store_keys *ret,
	struct error *e)
{
	struct db_call call;
	struct found f;
	enum status st;

	db_start(&call, &r->db, STATEMENT_FIND_DOCUMENT);
	db_bind_blob(&call, 1, id);
	st = read_found(&call, &f, e);
	if (!st)
		*ret = f.keys;
	return st;
}

/* Runs a call that looks a document up, and buries what it finds. */
static enum status bury_found(struct store_write *w, struct db_call *call, struct store_keys *ret,
	struct error *e)
{
	struct found f;
	enum status st = read_found(call, &f, e);

	if (!st)
		st = bury(w, &f, e);
	if (!st)
		*ret = f.keys;
	return store_write_done(w, st);
}

enum status store_write_bury(struct store_write *w, struct bytes id, struct store_keys *ret,
	struct error *e)
{
	struct db_call call;
	enum status st = store_write_check(w, e);

	if (st)
		return st;
	db_start(&call, &w->db, STATEMENT_FIND_DOCUMENT);
	db_bind_blob(&call, 1, id);
	return bury_found(w, &call, ret, e);
}

enum status store_write_bury_chunk(struct store_write *w, int64_t chunk, struct store_keys *ret,
	struct error *e)
{
	struct db_call call;
	enum status st = store_write_check(w, e);

	if (st)
		return st;
	db_start(&call, &w->db, STATEMENT_FIND_BY_CHUNK);
	db_bind_int(&call, 1, chunk);
	return bury_found(w, &call, ret, e);
}
