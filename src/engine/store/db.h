/*
 * engine/store/db.h: one SQLite connection with its prepared statements, and the
 * translation of SQLite's results into ours.
 *
 * A statement is run by a db_call on the stack:
 *
 *   db_start ─▶ db_bind_* ─▶ db_step (row by row, db_column_*) ─▶ db_end
 *
 * The first failure sticks, so that only db_step is checked; db_end always
 * follows. Bound bytes are borrowed until db_end. A connection belongs to one
 * thread at a time (SQLITE_OPEN_NOMUTEX); handing it on needs a lock (gate.h).
 */
#ifndef RCPD_ENGINE_STORE_DB_H
#define RCPD_ENGINE_STORE_DB_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

#include "engine/engine.h"
#include "engine/store/statements.h"

#define DB_BUSY_TIMEOUT_MS 500 /* only a tool at the file, or a checkpoint, can be in the way */

enum db_mode {
	DB_PROBE,  /* reads and changes nothing, not even by recovery */
	DB_WRITER, /* makes the file */
	DB_READER,
};

struct db {
	sqlite3 *handle;
	enum db_mode mode;
	struct engine_stop stop; /* readers: asked while statements run; fn NULL: never */
	sqlite3_stmt *statements[STATEMENT_COUNT]; /* prepared at first use */
};

struct db_call {
	struct db *db;
	sqlite3_stmt *stmt;
	int rc; /* SQLITE_OK until something failed */
};

enum status db_open(const char *path, enum db_mode mode, struct db *ret, struct error *e);
void db_release(struct db *db); /* a zeroed db is fine */
/* Copies *stop (NULL: none); what it points to must live until the next db_set_stop. */
void db_set_stop(struct db *db, const struct engine_stop *stop);
/* Runs constant SQL without parameters or rows. */
enum status db_exec(struct db *db, const char *sql, struct error *e);
/* Runs a statement without parameters or rows. */
enum status db_run(struct db *db, enum statement what, struct error *e);
/* Ends whatever transaction is open by undoing it. */
void db_rollback(struct db *db);
/* False: there is none, or a statement that failed has ended it. */
bool db_in_transaction(struct db *db);
/* Fills e for a result that is no success. */
enum status db_fail(struct db *db, int rc, struct error *e);
/* What a code that db_fail has given means, in words. Static storage. */
const char *db_why(enum status code);

void db_start(struct db_call *call, struct db *db, enum statement what);
void db_bind_int(struct db_call *call, int at, int64_t v);
void db_bind_size(struct db_call *call, int at, uint64_t v);     /* above int64: as too large */
void db_bind_blob(struct db_call *call, int at, struct bytes v); /* absent: NULL */
void db_bind_text(struct db_call *call, int at, struct bytes v); /* absent: NULL */
/* ST_OK with *ret_row false: the end. */
enum status db_step(struct db_call *call, bool *ret_row, struct error *e);
/* For a statement that gives no rows: steps and ends. */
enum status db_finish(struct db_call *call, struct error *e);
void db_end(struct db_call *call);

int64_t db_column_int(const struct db_call *call, int at);
uint64_t db_column_size(const struct db_call *call, int at); /* below 0: 0 */
bool db_column_is_null(const struct db_call *call, int at);
/* Text or blob, until the next db_step or db_end; SQL's NULL is BYTES_NONE. ST_NOMEM. */
enum status db_column_borrow(const struct db_call *call, int at, struct bytes *ret,
	struct error *e);
/* The same, copied into the arena. */
enum status db_column_bytes(const struct db_call *call, int at, struct arena *arena,
	struct bytes *ret, struct error *e);

#endif
