/*
 * write.c: one transaction on the writing connection: begin, savepoints, commit. The
 * write gate lets one thread in. Whatever fails, the transaction is undone and the
 * gate opened again. What changes in it is in change.c, once.c and sweep.c.
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
	w->lost = ST_OK;
	store_write_stop(w, stop);
	db_rollback(&w->db); /* in case undoing failed the last time */
	st = db_run(&w->db, STATEMENT_BEGIN_WRITE, e);
	if (!st)
		st = store_load_totals(&w->db, &w->before, e);
	if (!st)
		st = store_write_fault(w, "store.begin", e);
	if (st) {
		store_write_abort(w);
		return st;
	}
	w->now = w->saved = w->before;
	*ret = w;
	return ST_OK;
}

void store_write_abort(struct store_write *w)
{
	db_rollback(&w->db);
	gate_put(&w->store->write_gate, w);
}

uint64_t store_write_version(const struct store_write *w)
{
	return w->before.totals.version + 1;
}

void store_write_stop(struct store_write *w, const struct engine_stop *stop)
{
	w->stop = stop ? *stop : (struct engine_stop){ NULL, NULL };
}

/* Without a transaction statements would run one by one, each on its own. The failure
 * that ended it is told again to whoever shares it. */
static enum status check_transaction(struct store_write *w, struct error *e)
{
	if (!w->lost && db_in_transaction(&w->db))
		return ST_OK;
	return error_set(e, w->lost ? w->lost : ST_INTERNAL, "cannot write to the corpus: %s",
		db_why(w->lost));
}

enum status store_write_check(struct store_write *w, struct error *e)
{
	if (store_stopped(&w->stop))
		return error_set(e, ST_CANCELLED, "cancelled");
	return check_transaction(w, e);
}

enum status store_write_done(struct store_write *w, enum status st)
{
	if (st && !w->lost && !db_in_transaction(&w->db))
		w->lost = st;
	return st;
}

enum status store_write_fault(struct store_write *w, const char *point, struct error *e)
{
	if (fault_hit(point, w->stop.fn, w->stop.arg))
		return error_set(e, ST_IO, "cannot write to the corpus: the disk failed");
	return ST_OK;
}

enum status store_write_savepoint(struct store_write *w, struct error *e)
{
	enum status st = check_transaction(w, e);

	if (!st)
		st = db_run(&w->db, STATEMENT_SAVEPOINT, e);
	if (!st)
		w->saved = w->now;
	return store_write_done(w, st);
}

enum status store_write_release(struct store_write *w, struct error *e)
{
	enum status st = check_transaction(w, e);

	if (!st)
		st = db_run(&w->db, STATEMENT_RELEASE, e);
	return store_write_done(w, st);
}

enum status store_write_undo(struct store_write *w, struct error *e)
{
	enum status st = check_transaction(w, e);

	if (!st)
		st = db_run(&w->db, STATEMENT_ROLLBACK_TO, e);
	if (!st)
		st = db_run(&w->db, STATEMENT_RELEASE, e);
	if (!st)
		w->now = w->saved;
	else if (!w->lost)
		w->lost = st; /* what was to be undone must not be committed */
	return st;
}

/* Not called off any more from here on: an answer of "cancelled" must mean that
 * nothing was written. */
static enum status commit(struct store_write *w, struct error *e)
{
	enum status st = check_transaction(w, e);

	if (!st && w->now.changed) {
		w->now.totals.version++;
		w->now.totals.time_ms = clock_wall_ms();
		st = store_save_totals(&w->db, &w->before, &w->now, e);
	}
	if (!st)
		st = store_write_fault(w, "store.commit", e);
	if (!st)
		st = store_write_check(w, e);
	return st ? st : db_run(&w->db, STATEMENT_COMMIT, e);
}

enum status store_write_commit(struct store_write *w, struct store_totals *ret, struct error *e)
{
	enum status st = commit(w, e);
	struct store_totals totals = w->now.totals;
	struct engine_stop stop = w->stop;

	if (!st)
		trim_log(w->store, &stop);
	store_write_abort(w); /* undoes nothing that was committed */
	if (st)
		return st;
	(void)fault_hit("store.committed", stop.fn, stop.arg); /* too late to fail */
	*ret = totals;
	return ST_OK;
}
