/*
 * schema.c: which version the file has, and the way to ours (migrations.c).
 *
 *   corpus (one row: id, secret, commit counter, totals, next keys)
 *   documents 1 ─▶ n chunks      first_chunk, first_chunk + 1, …
 *        │    └──▶ 1 texts       apart, so that a document dies without its text being
 *        │                       written again, and rows lie close together
 *        ├──▶ 1 document_values  of the living
 *        └──▶ 1 without_values   made before there were any
 *   fields, languages (living documents in each), idempotency (answers, for a day)
 *   spaces 1 ─▶ n vectors    of chunks, of stored spaces (spaces.c)
 *   feedback: for what comes
 *
 * documents.born and died are commit numbers, died NULL while it lives. Keys are given
 * out by us and only grow. Texts are blobs because SQL's text functions stop at a NUL; a
 * chunk is two offsets into one.
 *
 * The file says whose it is (application_id) and how new (user_version). Both are
 * set in the transaction that makes the tables, before write-ahead logging starts:
 * so they stand in the file's first page, where a look at the bytes finds them.
 */
#include "engine/store/schema.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "engine/store/migrations.h"

#define APPLICATION_ID 0x72637064 /* "rcpd" */
#define HEADER_SIZE 100
#define HEADER_VERSION 60 /* big-endian 32 bits, SQLite's file format 1.3 */
#define HEADER_APPLICATION 68

static enum status not_ours(struct error *e)
{
	return error_set(e, ST_CORRUPT, "'rcpd.db' in the data folder is not a corpus of rcpd");
}

static enum status judge(int64_t application, int64_t version, struct error *e)
{
	if (application != APPLICATION_ID || version < 1)
		return not_ours(e);
	if (version > MIGRATIONS_VERSION)
		return error_set(e, ST_FUTURE,
			"the corpus was made by a newer rcpd (its version %lld, known up to %lld)",
			(long long)version, (long long)MIGRATIONS_VERSION);
	return ST_OK;
}

/* Runs constant SQL that gives one number. */
static enum status ask_number(struct db *db, const char *sql, int64_t *ret, struct error *e)
{
	sqlite3_stmt *stmt = NULL;
	int rc;

	errno = 0; /* for db_fail */
	rc = sqlite3_prepare_v2(db->handle, sql, -1, &stmt, NULL);
	if (rc == SQLITE_OK)
		rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW)
		*ret = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return rc == SQLITE_ROW ? ST_OK : db_fail(db, rc, e);
}

/* An empty database has version 0; anything else must be ours. */
static enum status read_version(struct db *db, int64_t *ret, struct error *e)
{
	int64_t application = 0, version = 0, tables = 0;
	enum status st;

	if ((st = ask_number(db, "PRAGMA application_id", &application, e)) ||
		(st = ask_number(db, "PRAGMA user_version", &version, e)) ||
		(st = ask_number(db, "SELECT count(*) FROM sqlite_schema", &tables, e)))
		return st;
	if (application || version || tables)
		st = judge(application, version, e);
	if (!st)
		*ret = version;
	return st;
}

static uint32_t big_endian(const unsigned char *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 | (uint32_t)p[2] << 8 | p[3];
}

static enum status read_header(const char *path, unsigned char *buf, ssize_t *ret, struct error *e)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC), why = errno;
	ssize_t n = 0;

	if (fd >= 0) {
		n = pread(fd, buf, HEADER_SIZE, 0);
		why = errno;
		close(fd);
	}
	if ((fd < 0 && why != ENOENT) || n < 0) {
		error_set(e, ST_IO, "cannot read 'rcpd.db' in the data folder");
		if (e)
			error_detail(e, "errno %d", why);
		return ST_IO;
	}
	*ret = n;
	return ST_OK;
}

/*
 * First the bytes: SQLite is not let near a file that is no database or is from
 * the future. Then through a connection that cannot write, which also sees what a
 * write-ahead log left by a crash says. A crash may have left what such a
 * connection must not mend (ST_IO), or the disk has no room for the memory it shares
 * with others (ST_FULL): then the writer mends it or says so, and schema_migrate looks
 * again.
 */
enum status schema_check(const char *path, struct error *e)
{
	unsigned char header[HEADER_SIZE];
	struct db probe;
	int64_t version;
	ssize_t n;
	enum status st = read_header(path, header, &n, e);

	if (st || n == 0)
		return st;
	if (n < HEADER_SIZE || memcmp(header, "SQLite format 3", 16) != 0)
		return not_ours(e);
	st = judge(big_endian(header + HEADER_APPLICATION), big_endian(header + HEADER_VERSION), e);
	if (!st)
		st = db_open(path, DB_PROBE, &probe, e);
	if (st)
		return st;
	st = read_version(&probe, &version, e);
	db_release(&probe);
	return st == ST_IO || st == ST_FULL ? ST_OK : st;
}

static enum status migrate_once(struct db *db, int64_t *ret_version, struct error *e)
{
	int64_t version;
	enum status st = db_exec(db, "BEGIN IMMEDIATE", e);

	if (!st)
		st = read_version(db, &version, e);
	if (!st && version < MIGRATIONS_VERSION) {
		st = migrations_run(db, version, e);
		version++;
	}
	if (!st)
		st = db_exec(db, "COMMIT", e);
	if (st)
		db_rollback(db);
	else
		*ret_version = version;
	return st;
}

enum status schema_migrate(struct db *db, struct error *e)
{
	int64_t version = -1;
	enum status st = ST_OK;

	while (!st && version < MIGRATIONS_VERSION)
		st = migrate_once(db, &version, e);
	return st ? st : db_exec(db, "PRAGMA journal_mode = WAL", e);
}
