/*
 * db.c: opens connections, runs statements, maps SQLite's result codes.
 *
 * Readers have the progress handler, which asks db->stop about every thousand virtual
 * machine steps. The writer has none: SQLite ends the whole transaction with a write
 * that is interrupted, and in it are the calls of others. It asks between statements
 * (store_write_check), each of which is short.
 */
#include "engine/store/db.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#define STEPS_BETWEEN_STOPS 1000

static int ask_stop(void *arg)
{
	const struct db *db = arg;

	return db->stop.fn && db->stop.fn(db->stop.arg);
}

void db_set_stop(struct db *db, const struct engine_stop *stop)
{
	db->stop = stop ? *stop : (struct engine_stop){ NULL, NULL };
}

/* The first of a code is what db_why says. */
struct meaning {
	int rc; /* primary result code */
	enum status code;
	const char *why;
};

static const struct meaning meanings[] = {
	{ SQLITE_NOMEM, ST_NOMEM, "out of memory" },
	{ SQLITE_FULL, ST_FULL, "the disk is full" },
	{ SQLITE_INTERRUPT, ST_CANCELLED, "cancelled" },
	{ SQLITE_BUSY, ST_UNAVAILABLE, "it is in use, try again" },
	{ SQLITE_LOCKED, ST_UNAVAILABLE, "it is in use, try again" },
	{ SQLITE_PROTOCOL, ST_UNAVAILABLE, "it is in use, try again" },
	{ SQLITE_CORRUPT, ST_CORRUPT, "its file is damaged" },
	{ SQLITE_NOTADB, ST_CORRUPT, "its file is not a database" },
	{ SQLITE_IOERR, ST_IO, "the disk failed" },
	{ SQLITE_READONLY, ST_IO, "its file is read-only" },
	{ SQLITE_CANTOPEN, ST_IO, "its file cannot be opened" },
	{ SQLITE_PERM, ST_IO, "its file cannot be opened" },
	{ SQLITE_AUTH, ST_IO, "its file cannot be opened" },
	{ SQLITE_NOLFS, ST_IO, "the disk failed" },
	{ SQLITE_TOOBIG, ST_TOO_LARGE, "a value is too large" },
};

static bool is_no_room(int why)
{
	return why == ENOSPC || why == EDQUOT;
}

/*
 * SQLite says SQLITE_FULL for a write alone; a file that cannot be made, lengthened or
 * synced, and a quota, are errors of the disk to it. It keeps errno, but not of a
 * failed COMMIT: then it still has an older one, and errno itself (why) is right.
 */
static bool lacks_room(struct db *db, int primary, int why)
{
	if (primary != SQLITE_IOERR && primary != SQLITE_CANTOPEN)
		return false;
	return is_no_room(why) || (why != EIO && is_no_room(sqlite3_system_errno(db->handle)));
}

static struct meaning meaning_of(struct db *db, int rc, int why)
{
	/* Memory that lacked in the middle of reading or writing. */
	int primary = rc == SQLITE_IOERR_NOMEM ? SQLITE_NOMEM : rc & 0xFF;

	if (lacks_room(db, primary, why))
		primary = SQLITE_FULL;
	for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++)
		if (meanings[i].rc == primary)
			return meanings[i];
	return (struct meaning){ rc, ST_INTERNAL, "unexpected result" };
}

const char *db_why(enum status code)
{
	for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++)
		if (meanings[i].code == code)
			return meanings[i].why;
	return "unexpected result";
}

enum status db_fail(struct db *db, int rc, struct error *e)
{
	int why = errno;
	struct meaning m = meaning_of(db, rc, why);

	error_set(e, m.code, "cannot %s the corpus: %s",
		db->mode == DB_WRITER ? "write to" : "read", m.why);
	if (e)
		error_detail(e, "SQLite %d, errno %d: %s", rc, why, sqlite3_errmsg(db->handle));
	return m.code;
}

/* Settings of a connection; none of them is stored in the file. */
static const char settings[] =
	"PRAGMA synchronous = FULL;" /* an answered write survives power loss */
	"PRAGMA foreign_keys = ON;"
	"PRAGMA temp_store = MEMORY;" /* no files outside the data folder */
	"PRAGMA trusted_schema = OFF;"
	"PRAGMA cell_size_check = ON;"
	/* In pages, 16 MB: half of what the log may grow to. Adding 100,000 documents took a
	 * sixth less time than with 1000; larger pages and caches changed nothing. */
	"PRAGMA wal_autocheckpoint = 4000;"
	"PRAGMA journal_size_limit = 33554432;"; /* what a WAL that once grew shrinks to */

static int prepare(struct db *db, enum statement what)
{
	if (db->statements[what])
		return SQLITE_OK;
	return sqlite3_prepare_v3(db->handle, statement_sql(what), -1, SQLITE_PREPARE_PERSISTENT,
		&db->statements[what], NULL);
}

/* The way out of a failed transaction is prepared before one can fail. */
static enum status set_up(struct db *db, struct error *e)
{
	sqlite3 *h = db->handle;
	int rc;

	sqlite3_extended_result_codes(h, 1);
	sqlite3_busy_timeout(h, DB_BUSY_TIMEOUT_MS);
	if (db->mode == DB_READER)
		sqlite3_progress_handler(h, STEPS_BETWEEN_STOPS, ask_stop, db);
	sqlite3_db_config(h, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	if (db->mode == DB_PROBE)
		return ST_OK;
	rc = prepare(db, STATEMENT_ROLLBACK);
	return rc == SQLITE_OK ? db_exec(db, settings, e) : db_fail(db, rc, e);
}

/* SQLite's memory statistics are behind one mutex of the whole process, which
 * readers of all connections would meet at each allocation; nobody reads them. */
static pthread_once_t library_configured = PTHREAD_ONCE_INIT;

static void configure_library(void)
{
	(void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

/* ret must stay where it is: the progress handler points to it. */
enum status db_open(const char *path, enum db_mode mode, struct db *ret, struct error *e)
{
	int flags = SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
	enum status st;
	int rc;

	pthread_once(&library_configured, configure_library);
	flags |= mode == DB_WRITER ? SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
				   : SQLITE_OPEN_READONLY;
	*ret = (struct db){ .mode = mode };
	errno = 0;
	rc = sqlite3_open_v2(path, &ret->handle, flags, NULL);
	if (!ret->handle)
		return error_set(e, ST_NOMEM, "out of memory");
	st = rc == SQLITE_OK ? set_up(ret, e) : db_fail(ret, rc, e);
	if (st)
		db_release(ret);
	return st;
}

void db_release(struct db *db)
{
	for (size_t i = 0; i < STATEMENT_COUNT; i++)
		sqlite3_finalize(db->statements[i]);
	sqlite3_close(db->handle);
	*db = (struct db){ .handle = NULL };
}

enum status db_exec(struct db *db, const char *sql, struct error *e)
{
	int rc;

	errno = 0;
	rc = sqlite3_exec(db->handle, sql, NULL, NULL, NULL);
	return rc == SQLITE_OK ? ST_OK : db_fail(db, rc, e);
}

enum status db_run(struct db *db, enum statement what, struct error *e)
{
	struct db_call call;

	db_start(&call, db, what);
	return db_finish(&call, e);
}

bool db_in_transaction(struct db *db)
{
	return !sqlite3_get_autocommit(db->handle);
}

/* A failed statement may have ended the transaction already. */
void db_rollback(struct db *db)
{
	db_set_stop(db, NULL);
	if (db_in_transaction(db))
		(void)db_run(db, STATEMENT_ROLLBACK, NULL);
}

void db_start(struct db_call *call, struct db *db, enum statement what)
{
	*call = (struct db_call){ .db = db, .rc = prepare(db, what) };
	call->stmt = db->statements[what];
}

void db_bind_int(struct db_call *call, int at, int64_t v)
{
	if (call->rc == SQLITE_OK)
		call->rc = sqlite3_bind_int64(call->stmt, at, v);
}

void db_bind_size(struct db_call *call, int at, uint64_t v)
{
	if (call->rc == SQLITE_OK)
		call->rc = v <= INT64_MAX ? sqlite3_bind_int64(call->stmt, at, (int64_t)v)
					  : SQLITE_TOOBIG;
}

void db_bind_blob(struct db_call *call, int at, struct bytes v)
{
	if (call->rc == SQLITE_OK)
		call->rc = sqlite3_bind_blob64(call->stmt, at, v.data, v.len, SQLITE_STATIC);
}

void db_bind_text(struct db_call *call, int at, struct bytes v)
{
	if (call->rc == SQLITE_OK)
		call->rc = sqlite3_bind_text64(call->stmt, at, v.data, v.len, SQLITE_STATIC,
			SQLITE_UTF8);
}

enum status db_step(struct db_call *call, bool *ret_row, struct error *e)
{
	if (call->rc == SQLITE_OK) {
		errno = 0;
		call->rc = sqlite3_step(call->stmt);
	}
	if (call->rc == SQLITE_ROW || call->rc == SQLITE_DONE) {
		*ret_row = call->rc == SQLITE_ROW;
		call->rc = SQLITE_OK;
		return ST_OK;
	}
	return db_fail(call->db, call->rc, e);
}

enum status db_finish(struct db_call *call, struct error *e)
{
	bool row;
	enum status st = db_step(call, &row, e);

	db_end(call);
	return st;
}

void db_end(struct db_call *call)
{
	if (!call->stmt)
		return;
	/* Their results repeat what db_step has told. */
	sqlite3_reset(call->stmt);
	sqlite3_clear_bindings(call->stmt);
	call->stmt = NULL;
}

int64_t db_column_int(const struct db_call *call, int at)
{
	return sqlite3_column_int64(call->stmt, at);
}

uint64_t db_column_size(const struct db_call *call, int at)
{
	int64_t v = sqlite3_column_int64(call->stmt, at);

	return v > 0 ? (uint64_t)v : 0;
}

bool db_column_is_null(const struct db_call *call, int at)
{
	return sqlite3_column_type(call->stmt, at) == SQLITE_NULL;
}

enum status db_column_borrow(const struct db_call *call, int at, struct bytes *ret, struct error *e)
{
	const void *data;

	if (db_column_is_null(call, at)) {
		*ret = BYTES_NONE;
		return ST_OK;
	}
	/* Of a text column too this gives the UTF-8 bytes, NULs included. */
	data = sqlite3_column_blob(call->stmt, at);
	if (!data && sqlite3_errcode(call->db->handle) == SQLITE_NOMEM)
		return error_set(e, ST_NOMEM, "out of memory");
	*ret = (struct bytes){ data ? data : "", (size_t)sqlite3_column_bytes(call->stmt, at) };
	return ST_OK;
}

enum status db_column_bytes(const struct db_call *call, int at, struct arena *arena,
	struct bytes *ret, struct error *e)
{
	struct bytes borrowed;
	enum status st = db_column_borrow(call, at, &borrowed, e);

	if (!st && arena_dup_bytes(arena, borrowed, ret) < 0)
		st = error_set(e, ST_NOMEM, "out of memory");
	return st;
}
