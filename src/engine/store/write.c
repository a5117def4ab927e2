/*
 * write.c: one transaction on the writing connection: begin, changes, commit. The
 * write gate lets one thread in; the totals are carried along and stored at the
 * end. Whatever fails, the transaction is undone and the gate opened again.
 */
#include "engine/store/private.h"
#include "engine/store/trim.h"

#include "util/clock.h"
#include "util/fault.h"

enum status store_write_begin(struct store *s, const struct engine_stop *stop,
	struct store_write **ret, struct error *e)
{
	struct store_write *w;
	void *taken;
	enum status st = gate_take(&s->write_gate, stop, &taken, e);

	if (st)
		return st;
	w = taken;
	w->stop = stop ? *stop : (struct engine_stop){ NULL, NULL };
	w->documents = w->chunks = 0;
	w->changed = false;
	db_rollback(&w->db); /* in case undoing failed the last time */
	db_set_stop(&w->db, stop);
	st = db_run(&w->db, STATEMENT_BEGIN_WRITE, e);
	if (!st)
		st = store_read_totals(&w->db, &w->totals, e);
	if (!st && fault_hit("store.begin", w->stop.fn, w->stop.arg))
		st = error_set(e, ST_IO, "cannot write to the corpus: the disk failed");
	if (st)
		store_write_abort(w);
	else
		*ret = w;
	return st;
}

void store_write_abort(struct store_write *w)
{
	db_rollback(&w->db);
	gate_put(&w->store->write_gate, w);
}

/* Absent is stored as empty: NULL equals nothing in SQL. */
static struct bytes or_empty(struct bytes v)
{
	return v.data ? v : (struct bytes){ "", 0 };
}

static enum status compare_once(const struct db_call *call, const struct engine_once *once,
	struct arena *arena, struct engine_commit *ret, struct error *e)
{
	struct engine_commit c = { .repeated = true };
	struct bytes hash;
	enum status st = db_column_bytes(call, 0, arena, &hash, e);

	if (!st)
		st = db_column_bytes(call, 1, arena, &c.result, e);
	if (st)
		return st;
	if (!bytes_eq(hash, (struct bytes){ (const char *)once->hash, sizeof once->hash }))
		return error_set(e, ST_CONFLICT,
			"the idempotency key was used before with another request");
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
	enum status st;

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
	return st;
}

/* What stands under an id now; key 0: nothing (SQLite's keys start at 1). */
struct present {
	int64_t key;
	uint64_t text_bytes, chunks;
};

static enum status find_document(struct store_write *w, struct bytes id, struct present *ret,
	struct error *e)
{
	struct db_call call;
	bool row = false;
	enum status st;

	db_start(&call, &w->db, STATEMENT_FIND_DOCUMENT);
	db_bind_blob(&call, 1, id);
	st = db_step(&call, &row, e);
	if (!st)
		*ret = (struct present){ 0 };
	if (!st && row)
		*ret = (struct present){ db_column_int(&call, 0), db_column_size(&call, 1),
			db_column_size(&call, 2) };
	db_end(&call);
	return st;
}

/* Runs a statement whose one parameter is a document's key. */
static enum status run_on(struct store_write *w, enum statement what, int64_t key, struct error *e)
{
	struct db_call call;

	db_start(&call, &w->db, what);
	db_bind_int(&call, 1, key);
	return db_finish(&call, e);
}

/* Takes the words out of the index, then the chunks; the document stays. */
static enum status clear_document(struct store_write *w, const struct present *old, struct error *e)
{
	enum status st = run_on(w, STATEMENT_UNINDEX_DOCUMENT, old->key, e);

	if (!st)
		st = run_on(w, STATEMENT_DELETE_CHUNKS, old->key, e);
	if (!st) {
		w->totals.documents--;
		w->totals.chunks -= old->chunks;
		w->totals.text_bytes -= old->text_bytes;
	}
	return st;
}

static enum status store_document(struct store_write *w, const struct engine_document *doc,
	int64_t *key, struct error *e)
{
	struct db_call call;
	enum status st;

	db_start(&call, &w->db, *key ? STATEMENT_UPDATE_DOCUMENT : STATEMENT_INSERT_DOCUMENT);
	db_bind_blob(&call, 1, doc->id);
	db_bind_text(&call, 2, doc->title);
	db_bind_text(&call, 3, doc->uri);
	db_bind_text(&call, 4, doc->source);
	db_bind_text(&call, 5, doc->lang);
	db_bind_text(&call, 6, doc->meta);
	db_bind_blob(&call, 7, doc->text);
	st = db_finish(&call, e);
	if (!st && !*key)
		*key = sqlite3_last_insert_rowid(w->db.handle);
	return st;
}

static enum status store_chunk(struct store_write *w, int64_t key, size_t no,
	const struct store_chunk *chunk, struct error *e)
{
	struct db_call call;

	db_start(&call, &w->db, STATEMENT_INSERT_CHUNK);
	db_bind_int(&call, 1, key);
	db_bind_size(&call, 2, no);
	db_bind_size(&call, 3, chunk->byte_start);
	db_bind_size(&call, 4, chunk->byte_end);
	db_bind_size(&call, 5, chunk->cp_start);
	db_bind_size(&call, 6, chunk->cp_end);
	return db_finish(&call, e);
}

enum status store_write_put(struct store_write *w, const struct engine_document *doc,
	const struct store_chunk *chunks, size_t n, struct error *e)
{
	struct present old;
	enum status st = find_document(w, doc->id, &old, e);

	if (!st && old.key)
		st = clear_document(w, &old, e);
	if (!st)
		st = store_document(w, doc, &old.key, e);
	for (size_t i = 0; !st && i < n; i++)
		st = store_chunk(w, old.key, i, &chunks[i], e);
	if (!st)
		st = run_on(w, STATEMENT_INDEX_DOCUMENT, old.key, e);
	if (st)
		return st;
	w->totals.documents++;
	w->totals.chunks += n;
	w->totals.text_bytes += doc->text.len;
	w->documents++;
	w->chunks += n;
	w->changed = true;
	return ST_OK;
}

enum status store_write_remove(struct store_write *w, struct bytes id, struct error *e)
{
	struct present old;
	enum status st = find_document(w, id, &old, e);

	if (st || !old.key)
		return st;
	st = clear_document(w, &old, e);
	if (!st)
		st = run_on(w, STATEMENT_DELETE_DOCUMENT, old.key, e);
	if (st)
		return st;
	w->documents++;
	w->changed = true;
	return ST_OK;
}

static enum status store_totals(struct store_write *w, struct error *e)
{
	struct db_call call;

	db_start(&call, &w->db, STATEMENT_SET_CORPUS);
	db_bind_size(&call, 1, w->totals.version);
	db_bind_size(&call, 2, w->totals.documents);
	db_bind_size(&call, 3, w->totals.chunks);
	db_bind_size(&call, 4, w->totals.text_bytes);
	return db_finish(&call, e);
}

static enum status keep_once(struct store_write *w, const struct engine_once *once, int64_t now,
	struct error *e)
{
	struct db_call call;

	db_start(&call, &w->db, STATEMENT_KEEP_ONCE);
	db_bind_blob(&call, 1, or_empty(once->owner));
	db_bind_blob(&call, 2, once->key);
	db_bind_blob(&call, 3, (struct bytes){ (const char *)once->hash, sizeof once->hash });
	db_bind_blob(&call, 4, or_empty(once->result));
	db_bind_size(&call, 5, w->totals.version);
	db_bind_size(&call, 6, w->documents);
	db_bind_size(&call, 7, w->chunks);
	db_bind_int(&call, 8, now);
	return db_finish(&call, e);
}

static enum status prune_once(struct store_write *w, int64_t now, struct error *e)
{
	struct db_call call;

	db_start(&call, &w->db, STATEMENT_PRUNE_ONCE);
	db_bind_int(&call, 1, now - STORE_ONCE_MS);
	db_bind_int(&call, 2, STORE_ONCE_PRUNE);
	return db_finish(&call, e);
}

/* The last point where the write can be called off. */
static enum status last_checks(struct store_write *w, struct error *e)
{
	if (fault_hit("store.commit", w->stop.fn, w->stop.arg))
		return error_set(e, ST_IO, "cannot write to the corpus: the disk failed");
	if (store_stopped(&w->stop))
		return error_set(e, ST_CANCELLED, "cancelled");
	return ST_OK;
}

static enum status commit(struct store_write *w, const struct engine_once *once, struct error *e)
{
	int64_t now = clock_wall_ms();
	enum status st = ST_OK;

	if (w->changed) {
		w->totals.version++;
		st = store_totals(w, e);
	}
	if (!st)
		st = prune_once(w, now, e);
	if (!st && once)
		st = keep_once(w, once, now, e);
	if (!st)
		st = last_checks(w, e);
	if (st)
		return st;
	db_set_stop(&w->db, NULL);
	return db_run(&w->db, STATEMENT_COMMIT, e);
}

enum status store_write_commit(struct store_write *w, const struct engine_once *once,
	struct engine_commit *ret, struct error *e)
{
	bool needed = w->changed || once;
	enum status st = needed ? commit(w, once, e) : ST_OK;
	struct engine_commit c = { .version = w->totals.version,
		.documents = w->documents,
		.chunks = w->chunks };
	struct engine_stop stop = w->stop;

	if (!st && needed)
		trim_log(w->store, &stop);
	store_write_abort(w); /* undoes nothing that was committed */
	if (st)
		return st;
	if (needed)
		(void)fault_hit("store.committed", stop.fn, stop.arg); /* too late to fail */
	*ret = c;
	return ST_OK;
}
