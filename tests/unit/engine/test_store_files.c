/* test_store_files.c: the data folder: reopening, the lock, foreign and damaged files, a
 * log cut short, a disk that is full or fails. */
#include "store_rows.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define LATEST INT64_MAX

struct file {
	char *data;
	size_t len;
};

static struct file read_file(const struct rows *c, const char *name)
{
	struct file f = { NULL, 0 };
	char path[600];
	struct stat sb;
	int fd;

	rows_path(c, name, path, sizeof path);
	fd = open(path, O_RDONLY);
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &sb), 0);
	f.len = (size_t)sb.st_size;
	f.data = malloc(f.len + 1);
	assert_int_equal(read(fd, f.data, f.len), (ssize_t)f.len);
	close(fd);
	return f;
}

static void write_file(const struct rows *c, const char *name, const void *data, size_t len)
{
	char path[600];
	int fd;

	rows_path(c, name, path, sizeof path);
	fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, len), (ssize_t)len);
	close(fd);
}

static bool file_exists(const struct rows *c, const char *name)
{
	char path[600];

	rows_path(c, name, path, sizeof path);
	return access(path, F_OK) == 0;
}

static enum status try_open(struct rows *c)
{
	return store_open(c->dir, 1, &c->store, &c->error);
}

/* REQ: X7, IDX-03: what was answered is there after a restart, deletes too. */
static void test_reopen(void **state)
{
	struct rows *c = *state;
	char id[17];

	rows_put(c, "a", "alpha");
	rows_put(c, "b", "bravo");
	rows_bury(c, "a");
	memcpy(id, store_corpus_id(c->store), sizeof id);
	rows_reopen(c);
	assert_string_equal(store_corpus_id(c->store), id);
	assert_null(rows_text(c, "a", LATEST).data);
	assert_true(bytes_eq(rows_text(c, "a", 1), BYTES("alpha")));
	assert_true(bytes_eq(rows_text(c, "b", LATEST), BYTES("bravo")));
	assert_int_equal(rows_totals(c).version, 3);
	assert_int_equal(rows_bury(c, "a").document, 0);
	assert_int_equal(rows_put(c, "c", "charlie").document, 3);
	assert_int_equal(rows_totals(c).version, 4);
}

static void test_new_ids_differ(void **state)
{
	struct rows *c = *state, other;

	rows_make_dir(&other);
	rows_open(&other);
	assert_string_not_equal(store_corpus_id(c->store), store_corpus_id(other.store));
	rows_close(&other);
	rows_remove_dir(&other);
}

static void test_private_mode(void **state)
{
	struct rows *c = *state;
	static const char *const names[] = { "rcpd.db", "rcpd.db-wal", "lock" };
	struct stat sb;
	char path[600];

	rows_put(c, "a", "text");
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		rows_path(c, names[i], path, sizeof path);
		assert_int_equal(stat(path, &sb), 0);
		assert_int_equal(sb.st_mode & 077, 0);
	}
}

static long long ask(sqlite3 *h, const char *sql)
{
	sqlite3_stmt *stmt;
	long long value;

	assert_int_equal(sqlite3_prepare_v2(h, sql, -1, &stmt, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
	value = sqlite3_column_int64(stmt, 0);
	sqlite3_finalize(stmt);
	return value;
}

/* REQ: X7, IDX-02: what no kill -9 can show: each commit is synced to the disk. */
static void test_settings(void **state)
{
	struct rows *c = *state;
	sqlite3 *writer = c->store->writer.db.handle;

	assert_int_equal(ask(writer, "PRAGMA synchronous"), 2); /* FULL */
	assert_int_equal(ask(writer, "SELECT journal_mode = 'wal' FROM pragma_journal_mode"), 1);
	assert_int_equal(ask(writer, "PRAGMA foreign_keys"), 1);
	assert_int_equal(ask(writer, "PRAGMA user_version"), 3);
	assert_int_equal(ask(writer, "PRAGMA application_id"), 0x72637064);
	for (size_t i = 0; i < c->store->reader_count; i++)
		assert_int_equal(sqlite3_db_readonly(c->store->readers[i].db.handle, "main"), 1);
}

static void test_locked(void **state)
{
	struct rows *c = *state, second = *c;

	assert_int_equal(try_open(&second), ST_LOCKED);
	assert_non_null(strstr(second.error.message, c->dir));
	rows_close(c);
	assert_int_equal(try_open(c), ST_OK);
}

static void test_locked_by_process(void **state)
{
	struct rows *c = *state;
	int status;
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid == 0)
		_exit(try_open(c) == ST_LOCKED ? 0 : 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* REQ: IDX-02: two never share a folder, whatever becomes of the files in it. */
static void test_locked_without_its_file(void **state)
{
	struct rows *c = *state, second = *c;
	char path[600], other[600];

	rows_path(c, "lock", path, sizeof path);
	rows_path(c, "old", other, sizeof other);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(try_open(&second), ST_LOCKED);
	assert_non_null(strstr(second.error.message, "in use by another process"));
	write_file(c, "lock", "1\n", 2);
	assert_int_equal(try_open(&second), ST_LOCKED);
	assert_int_equal(rename(path, other), 0);
	assert_int_equal(try_open(&second), ST_LOCKED);
	rows_reopen(c);
}

static void test_no_folder(void **state)
{
	struct rows missing = { .dir = "/nonexistent/folder" };

	(void)state;
	assert_int_equal(try_open(&missing), ST_IO);
	assert_non_null(strstr(missing.error.message, "/nonexistent/folder"));
}

/* REQ: a newer version's file is refused and stays as it is, byte for byte. */
static void test_future(void **state)
{
	struct rows *c = *state;
	struct file before, after;

	rows_put(c, "a", "text");
	rows_close(c);
	before = read_file(c, "rcpd.db");
	before.data[63] = 4; /* the file's version, big-endian at 60 */
	write_file(c, "rcpd.db", before.data, before.len);
	assert_int_equal(try_open(c), ST_FUTURE);
	assert_non_null(strstr(c->error.message, "newer"));
	after = read_file(c, "rcpd.db");
	assert_int_equal(after.len, before.len);
	assert_memory_equal(after.data, before.data, before.len);
	assert_false(file_exists(c, "rcpd.db-wal"));
	assert_false(file_exists(c, "rcpd.db-shm"));
	before.data[63] = 3;
	write_file(c, "rcpd.db", before.data, before.len);
	rows_open(c);
	assert_true(bytes_eq(rows_text(c, "a", LATEST), BYTES("text")));
	free(before.data);
	free(after.data);
}

/* The newer version's number may still be in its log, after a crash. */
static void test_future_in_log(void **state)
{
	struct rows *c = *state, copy;
	struct file db, wal, after;

	rows_put(c, "a", "text");
	assert_int_equal(sqlite3_exec(c->store->writer.db.handle, "PRAGMA user_version = 4", NULL,
				 NULL, NULL),
		SQLITE_OK);
	db = read_file(c, "rcpd.db");
	wal = read_file(c, "rcpd.db-wal");
	rows_make_dir(&copy);
	write_file(&copy, "rcpd.db", db.data, db.len);
	write_file(&copy, "rcpd.db-wal", wal.data, wal.len);
	assert_int_equal(try_open(&copy), ST_FUTURE);
	after = read_file(&copy, "rcpd.db");
	assert_int_equal(after.len, db.len);
	assert_memory_equal(after.data, db.data, db.len);
	free(after.data);
	after = read_file(&copy, "rcpd.db-wal");
	assert_int_equal(after.len, wal.len);
	assert_memory_equal(after.data, wal.data, wal.len);
	free(after.data);
	rows_remove_dir(&copy);
	free(db.data);
	free(wal.data);
	assert_int_equal(sqlite3_exec(c->store->writer.db.handle, "PRAGMA user_version = 3", NULL,
				 NULL, NULL),
		SQLITE_OK);
}

static void refuse_file(const void *data, size_t len)
{
	struct rows c;
	struct file after;

	rows_make_dir(&c);
	write_file(&c, "rcpd.db", data, len);
	assert_int_equal(try_open(&c), ST_CORRUPT);
	assert_non_null(strstr(c.error.message, "rcpd.db"));
	after = read_file(&c, "rcpd.db");
	assert_int_equal(after.len, len);
	assert_memory_equal(after.data, data, len);
	free(after.data);
	rows_remove_dir(&c);
}

static void test_not_a_database(void **state)
{
	char noise[5000];

	(void)state;
	memset(noise, 'n', sizeof noise);
	refuse_file("x", 1);
	refuse_file("not a database at all\n", 22);
	refuse_file(noise, sizeof noise);
	memcpy(noise, "SQLite format 3", 16);
	refuse_file(noise, sizeof noise);
	refuse_file(noise, 50);
}

static void test_foreign_database(void **state)
{
	struct rows c;
	struct file f;
	char path[600];
	sqlite3 *h;

	(void)state;
	rows_make_dir(&c);
	rows_path(&c, "rcpd.db", path, sizeof path);
	assert_int_equal(sqlite3_open(path, &h), SQLITE_OK);
	assert_int_equal(sqlite3_exec(h, "CREATE TABLE mine(x); PRAGMA user_version = 3", NULL,
				 NULL, NULL),
		SQLITE_OK);
	sqlite3_close(h);
	f = read_file(&c, "rcpd.db");
	refuse_file(f.data, f.len);
	free(f.data);
	rows_remove_dir(&c);
}

static enum status see_row(void *arg, const struct store_row *row, struct error *e)
{
	size_t *bytes = arg;

	(void)e;
	for (size_t i = 0; i < row->text.len; i++)
		*bytes += (unsigned char)row->text.data[i];
	return ST_OK;
}

static enum status replace(struct rows *c, const struct store_document *doc)
{
	struct store_totals totals = { .version = 4711 };
	struct store_write *w;
	struct store_keys keys;
	enum status st = store_write_begin(c->store, NULL, &w, &c->error);

	if (st)
		return st;
	st = store_write_bury(w, doc->id, &keys, &c->error);
	if (!st)
		st = store_write_put(w, doc, &keys, &c->error);
	if (st) {
		store_write_abort(w);
		return st;
	}
	st = store_write_commit(w, &totals, &c->error);
	if (st)
		assert_int_equal(totals.version, 4711);
	return st;
}

/* Opens, walks and writes; returns how much of it failed. */
static unsigned use_damaged(struct rows *c)
{
	struct store_document doc = rows_document("d7", "new words");
	struct store_reader *reader;
	struct engine_record rec;
	unsigned failed = 0;
	size_t bytes = 0;

	if (try_open(c))
		return 1;
	if (!store_reader_open(c->store, NULL, &reader, &c->error)) {
		failed += store_each_born(reader, 0, see_row, &bytes, &c->error) != ST_OK;
		failed += store_fetch(reader, 3, 7, &c->arena, &rec, &c->error) != ST_OK;
		failed += store_get(reader, BYTES("d5"), 99, &c->arena, &rec, &c->error) != ST_OK;
		store_reader_close(reader);
	}
	failed += replace(c, &doc) != ST_OK;
	rows_close(c);
	return failed;
}

/* Damage inside: an error when it is met, never a crash. Each byte range in turn. */
static void test_damaged(void **state)
{
	struct rows *c = *state;
	unsigned refused = 0;
	struct file f;

	for (unsigned i = 0; i < 40; i++) {
		char id[8];

		snprintf(id, sizeof id, "d%u", i);
		rows_put(c, id, "words to be damaged in many ways");
	}
	rows_close(c);
	f = read_file(c, "rcpd.db");
	for (size_t at = 100; at + 64 < f.len; at += 1500) {
		char saved[64];

		memcpy(saved, f.data + at, 64);
		memset(f.data + at, 0xA5, 64);
		write_file(c, "rcpd.db", f.data, f.len);
		memcpy(f.data + at, saved, 64);
		refused += use_damaged(c);
	}
	assert_true(refused > 0);
	write_file(c, "rcpd.db", f.data, f.len);
	free(f.data);
	rows_open(c);
	assert_int_equal(rows_totals(c).documents, 40);
}

/* REQ: IDX-01: the log cut anywhere in its last write: that write is whole or gone,
 * and what is added afterwards stays. */
static void test_torn_log(void **state)
{
	struct rows *c = *state, copy;
	struct file db, wal, longer;
	unsigned whole = 0, gone = 0;

	rows_put(c, "A", "alpha");
	wal = read_file(c, "rcpd.db-wal");
	rows_put(c, "B", "bravo");
	longer = read_file(c, "rcpd.db-wal");
	db = read_file(c, "rcpd.db");
	assert_true(longer.len > wal.len);
	for (size_t cut = wal.len; cut <= longer.len;
		cut += cut + 509 > longer.len && cut < longer.len ? longer.len - cut : 509) {
		rows_make_dir(&copy);
		write_file(&copy, "rcpd.db", db.data, db.len);
		write_file(&copy, "rcpd.db-wal", longer.data, cut);
		rows_open(&copy);
		rows_put(&copy, "C", "charlie");
		rows_reopen(&copy);
		assert_true(bytes_eq(rows_text(&copy, "A", LATEST), BYTES("alpha")));
		assert_true(bytes_eq(rows_text(&copy, "C", LATEST), BYTES("charlie")));
		if (rows_text(&copy, "B", LATEST).data)
			whole++;
		else
			gone++;
		assert_int_equal(rows_totals(&copy).documents, whole ? 3 : 2);
		rows_close(&copy);
		rows_check(&copy);
		rows_remove_dir(&copy);
	}
	assert_int_equal(whole, 1);
	assert_true(gone > 10);
	free(db.data);
	free(wal.data);
	free(longer.data);
}

static enum status add_big(struct rows *c, const char *id, size_t len)
{
	char *text = malloc(len + 1);
	struct store_document doc;
	enum status st;

	for (size_t i = 0; i < len; i++)
		text[i] = (char)(i % 7 == 6 ? ' ' : 'a' + (int)(i * i % 23));
	text[len] = 0;
	doc = rows_document(id, text);
	st = replace(c, &doc);
	free(text);
	return st;
}

static void set_page_limit(struct rows *c, const char *pragma)
{
	assert_int_equal(sqlite3_exec(c->store->writer.db.handle, pragma, NULL, NULL, NULL),
		SQLITE_OK);
}

/* REQ: IDX-05: no room: the write is undone, reads go on, later writes work. */
static void test_disk_full(void **state)
{
	struct rows *c = *state;

	rows_put(c, "a", "alpha");
	set_page_limit(c, "PRAGMA max_page_count = 60");
	for (unsigned i = 0; i < 3; i++) {
		assert_int_equal(add_big(c, "big", 500000), ST_FULL);
		assert_string_equal(c->error.message,
			"cannot write to the corpus: the disk is full");
		assert_string_not_equal(c->error.detail, "");
		assert_true(bytes_eq(rows_text(c, "a", LATEST), BYTES("alpha")));
		assert_int_equal(rows_totals(c).documents, 1);
		assert_int_equal(rows_totals(c).version, 1);
	}
	rows_put(c, "b", "bravo");
	set_page_limit(c, "PRAGMA max_page_count = 1000000");
	assert_int_equal(add_big(c, "big", 500000), ST_OK);
	assert_int_equal(rows_totals(c).version, 3);
}

/* REQ: IDX-05: writes that the system refuses, at every size of the files. */
static void test_disk_fails(void **state)
{
	struct rows *c = *state;
	struct rlimit old, limit;
	unsigned failed = 0;

	rows_put(c, "a", "alpha");
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
	for (rlim_t size = 4096; size < 600000; size += 40001) {
		enum status st;

		limit = (struct rlimit){ size, old.rlim_max };
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
		st = add_big(c, "big", 100000);
		assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
		assert_true(st == ST_OK || st == ST_IO || st == ST_FULL);
		failed += st != ST_OK;
		assert_true(bytes_eq(rows_text(c, "a", LATEST), BYTES("alpha")));
		assert_int_equal(rows_text(c, "big", LATEST).len, st ? 0 : 100000);
		rows_bury(c, "b");
		rows_put(c, "b", "bravo");
		rows_bury(c, "big");
	}
	assert_true(failed > 2);
	rows_reopen(c);
	assert_true(bytes_eq(rows_text(c, "a", LATEST), BYTES("alpha")));
}

typedef ssize_t pwrite_fn(int fd, const void *data, size_t len, off_t at);

static int pwrite_errno;

/* SQLite's writes to places in files fail; the last byte of the file that its processes
 * share is one of them. */
static ssize_t pwrite_refused(int fd, const void *data, size_t len, off_t at)
{
	(void)fd, (void)data, (void)len, (void)at;
	errno = pwrite_errno;
	return -1;
}

static void refuse_writes(int why)
{
	sqlite3_vfs *vfs = sqlite3_vfs_find(NULL);
	pwrite_fn *fn = why ? pwrite_refused : NULL; /* NULL: the system's own again */

	pwrite_errno = why;
	assert_int_equal(vfs->xSetSystemCall(vfs, "pwrite", (sqlite3_syscall_ptr)fn), SQLITE_OK);
	assert_int_equal(vfs->xSetSystemCall(vfs, "pwrite64", (sqlite3_syscall_ptr)fn), SQLITE_OK);
}

/* REQ: IDX-05: no room is told from a failing disk, also where SQLite does not: when
 * its shared file cannot be made at the start, and when a quota is used up. */
static void test_no_room_in_other_words(void **state)
{
	struct rows *c = *state;
	static const struct {
		int why;
		enum status code;
		const char *message;
	} rows[] = {
		{ ENOSPC, ST_FULL, "cannot write to the corpus: the disk is full" },
		{ EDQUOT, ST_FULL, "cannot write to the corpus: the disk is full" },
		{ EIO, ST_IO, "cannot write to the corpus: the disk failed" },
	};

	rows_put(c, "a", "alpha");
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		refuse_writes(rows[i].why);
		assert_int_equal(add_big(c, "big", 100000), rows[i].code);
		assert_string_equal(c->error.message, rows[i].message);
		assert_true(bytes_eq(rows_text(c, "a", LATEST), BYTES("alpha")));
		refuse_writes(0);
		rows_close(c);
		refuse_writes(rows[i].why);
		assert_int_equal(try_open(c), rows[i].code);
		assert_string_equal(c->error.message, rows[i].message);
		refuse_writes(0);
		rows_open(c);
	}
	assert_int_equal(rows_totals(c).documents, 1);
	assert_int_equal(add_big(c, "big", 100000), ST_OK);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, rows_setup, rows_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_reopen),
		TEST(test_new_ids_differ),
		TEST(test_private_mode),
		TEST(test_settings),
		TEST(test_locked),
		TEST(test_locked_by_process),
		TEST(test_locked_without_its_file),
		TEST(test_no_folder),
		TEST(test_future),
		TEST(test_future_in_log),
		TEST(test_not_a_database),
		TEST(test_foreign_database),
		TEST(test_damaged),
		TEST(test_torn_log),
		TEST(test_disk_full),
		TEST(test_disk_fails),
		TEST(test_no_room_in_other_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
