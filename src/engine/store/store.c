/*
 * store.c: opens the folder: lock, look at the file, writer, migrations, readers.
 * Closing goes the other way, so that the writer is the last connection and folds
 * the write-ahead log into the file.
 */
#include "engine/store/private.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "engine/store/schema.h"
#include "util/mem.h"
#include "util/strbuf.h"

/* SQLite gives the log files the mode of the database, so made here: 0600. */
static enum status make_file(const char *path, struct error *e)
{
	int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600), why = errno;

	if (fd >= 0) {
		close(fd);
		return ST_OK;
	}
	error_set(e, why == ENOSPC || why == EDQUOT ? ST_FULL : ST_IO,
		"cannot write 'rcpd.db' in the data folder");
	if (e)
		error_detail(e, "errno %d", why);
	return why == ENOSPC || why == EDQUOT ? ST_FULL : ST_IO;
}

static enum status read_identity(struct store *s, struct error *e)
{
	sqlite3_stmt *stmt = NULL;
	int rc = sqlite3_prepare_v2(s->writer.db.handle, "SELECT id, secret FROM corpus", -1, &stmt,
		NULL);
	enum status st = ST_OK;

	if (rc == SQLITE_OK)
		rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW && sqlite3_column_bytes(stmt, 0) == sizeof s->corpus_id - 1 &&
		sqlite3_column_bytes(stmt, 1) == sizeof s->secret) {
		memcpy(s->corpus_id, sqlite3_column_blob(stmt, 0), sizeof s->corpus_id - 1);
		memcpy(s->secret, sqlite3_column_blob(stmt, 1), sizeof s->secret);
	} else if (rc == SQLITE_ROW || rc == SQLITE_DONE) {
		st = error_set(e, ST_CORRUPT, "the corpus is damaged: its id is missing");
	} else {
		st = db_fail(&s->writer.db, rc, e);
	}
	sqlite3_finalize(stmt);
	return st;
}

static enum status open_writer(struct store *s, const char *path, struct error *e)
{
	enum status st;

	s->writer.store = s;
	if ((st = gate_init(&s->write_gate, 1, e)) || (st = schema_check(path, e)) ||
		(st = make_file(path, e)) || (st = db_open(path, DB_WRITER, &s->writer.db, e)) ||
		(st = schema_migrate(&s->writer.db, e)) || (st = read_identity(s, e)))
		return st;
	gate_put(&s->write_gate, &s->writer);
	return ST_OK;
}

static enum status open_readers(struct store *s, const char *path, unsigned n, struct error *e)
{
	enum status st = gate_init(&s->read_gate, n, e);

	if (st)
		return st;
	s->readers = mem_array(n, sizeof s->readers[0]);
	if (!s->readers)
		return error_set(e, ST_NOMEM, "out of memory");
	for (; s->reader_count < n; s->reader_count++) {
		struct store_reader *r = &s->readers[s->reader_count];

		r->store = s;
		st = db_open(path, DB_READER, &r->db, e);
		if (st)
			return st;
		gate_put(&s->read_gate, r);
	}
	return ST_OK;
}

static enum status open_all(struct store *s, const char *dir, unsigned readers, struct error *e)
{
	struct strbuf path = STRBUF_INIT;
	enum status st = lock_folder(dir, &s->lock, e);

	if (st)
		return st;
	strbuf_adds(&path, dir);
	strbuf_adds(&path, "/rcpd.db");
	if (!strbuf_ok(&path))
		st = error_set(e, ST_NOMEM, "out of memory");
	else if (!(st = open_writer(s, path.data, e)))
		st = open_readers(s, path.data, readers, e);
	strbuf_release(&path);
	return st;
}

enum status store_open(const char *dir, unsigned readers, struct store **ret, struct error *e)
{
	struct store *s;
	enum status st;

	if (!sqlite3_threadsafe())
		return error_set(e, ST_INTERNAL, "this SQLite was built without threads");
	s = mem_zero(sizeof *s);
	if (!s)
		return error_set(e, ST_NOMEM, "out of memory");
	s->lock = FOLDER_UNLOCKED;
	atomic_init(&s->epoch, 1);
	st = open_all(s, dir, readers ? readers : 1, e);
	if (st)
		store_close(s);
	else
		*ret = s;
	return st;
}

void store_close(struct store *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->reader_count; i++)
		db_release(&s->readers[i].db);
	mem_free(s->readers);
	gate_release(&s->read_gate);
	db_release(&s->writer.db);
	gate_release(&s->write_gate);
	unlock_folder(&s->lock);
	mem_free(s);
}

const char *store_corpus_id(const struct store *s)
{
	return s->corpus_id;
}

const unsigned char *store_secret(const struct store *s)
{
	return s->secret;
}
