/* corpus.c: see corpus.h. */
#include "corpus.h"

#include <dirent.h>
#include <sqlite3.h>
#include <stdio.h>
#include <unistd.h>

#include "util/strbuf.h"

void corpus_make_dir(struct corpus *c)
{
	const char *base = getenv("TMPDIR");

	memset(c, 0, sizeof *c);
	snprintf(c->dir, sizeof c->dir, "%s/rcpd-engine-XXXXXX", base && *base ? base : "/tmp");
	assert_non_null(mkdtemp(c->dir));
	arena_init(&c->arena, 0);
}

void corpus_path(const struct corpus *c, const char *file, char *buf, size_t size)
{
	assert_true(snprintf(buf, size, "%s/%s", c->dir, file) < (int)size);
}

void corpus_remove_dir(struct corpus *c)
{
	DIR *d = opendir(c->dir);
	struct dirent *entry;
	char path[600];

	while (d && (entry = readdir(d)))
		if (entry->d_name[0] != '.') {
			corpus_path(c, entry->d_name, path, sizeof path);
			unlink(path);
		}
	if (d)
		closedir(d);
	rmdir(c->dir);
	arena_release(&c->arena);
}

void corpus_open(struct corpus *c)
{
	struct engine_options opt = { .dir = c->dir, .readers = 4 };

	if (engine_open(&opt, &c->engine, &c->error))
		fail_msg("%s (%s)", c->error.message, c->error.detail);
}

void corpus_close(struct corpus *c)
{
	engine_close(c->engine);
	c->engine = NULL;
}

void corpus_reopen(struct corpus *c)
{
	corpus_close(c);
	corpus_open(c);
}

void corpus_clear(struct corpus *c)
{
	arena_release(&c->arena);
}

int corpus_setup(void **state)
{
	struct corpus *c = calloc(1, sizeof *c);

	corpus_make_dir(c);
	corpus_open(c);
	*state = c;
	return 0;
}

int corpus_teardown(void **state)
{
	struct corpus *c = *state;

	corpus_close(c);
	corpus_check(c);
	corpus_remove_dir(c);
	free(c);
	return 0;
}

struct engine_document document(const char *id, const char *text)
{
	return (struct engine_document){ .id = bytes_of(id), .text = bytes_of(text) };
}

struct engine_commit corpus_add_all(struct corpus *c, const struct engine_document *docs, size_t n)
{
	struct engine_commit commit;

	if (engine_add(c->engine, docs, n, NULL, NULL, &c->arena, &commit, &c->error))
		fail_msg("%s (%s)", c->error.message, c->error.detail);
	return commit;
}

struct engine_commit corpus_add(struct corpus *c, const char *id, const char *text)
{
	struct engine_document doc = document(id, text);

	return corpus_add_all(c, &doc, 1);
}

struct engine_commit corpus_delete(struct corpus *c, const char *id)
{
	struct bytes b = bytes_of(id);
	struct engine_commit commit;

	if (engine_delete(c->engine, &b, 1, NULL, &commit, &c->error))
		fail_msg("%s (%s)", c->error.message, c->error.detail);
	return commit;
}

static struct engine_view *open_view(struct corpus *c)
{
	struct engine_view *v;

	if (engine_view_open(c->engine, NULL, &v, &c->error))
		fail_msg("%s (%s)", c->error.message, c->error.detail);
	return v;
}

size_t corpus_recall(struct corpus *c, const char *query, size_t k, struct engine_candidate **ret)
{
	struct engine_view *v = open_view(c);
	struct text_query q;
	size_t n;

	assert_int_equal(text_query_parse(bytes_of(query), &c->arena, &q), ST_OK);
	if (engine_recall(v, &q, k, &c->arena, ret, &n, &c->error))
		fail_msg("%s: %s (%s)", query, c->error.message, c->error.detail);
	engine_view_close(v);
	return n;
}

const char *corpus_search(struct corpus *c, const char *query, size_t k)
{
	struct engine_candidate *found;
	size_t n = corpus_recall(c, query, k, &found);
	struct strbuf ids = STRBUF_INIT;
	const char *copy;

	for (size_t i = 0; i < n; i++) {
		if (i > 0)
			strbuf_addc(&ids, ' ');
		strbuf_add(&ids, found[i].doc_id.data, found[i].doc_id.len);
	}
	copy = arena_dup(&c->arena, ids.data ? ids.data : "", ids.len);
	strbuf_release(&ids);
	assert_non_null(copy);
	return copy;
}

struct bytes corpus_text(struct corpus *c, const char *id)
{
	struct engine_view *v = open_view(c);
	struct engine_record r = { .text = BYTES_NONE };
	enum status st = engine_get(v, bytes_of(id), &c->arena, &r, &c->error);

	assert_true(st == ST_OK || st == ST_NOT_FOUND);
	engine_view_close(v);
	return r.text;
}

struct engine_stats corpus_stats(struct corpus *c)
{
	struct engine_view *v = open_view(c);
	struct engine_stats stats;

	assert_int_equal(engine_view_stats(v, &stats, &c->error), ST_OK);
	engine_view_close(v);
	return stats;
}

bool countdown_stop(void *arg)
{
	struct countdown *c = arg;

	return c->left-- <= 0;
}

/* Runs one statement that gives the text "ok". */
static void ask_ok(sqlite3 *h, const char *sql)
{
	sqlite3_stmt *stmt;

	assert_int_equal(sqlite3_prepare_v2(h, sql, -1, &stmt, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
	assert_string_equal((const char *)sqlite3_column_text(stmt, 0), "ok");
	sqlite3_finalize(stmt);
}

void corpus_check(const struct corpus *c)
{
	char path[600], *why = NULL;
	sqlite3 *h;

	corpus_path(c, "rcpd.db", path, sizeof path);
	if (access(path, F_OK))
		return;
	assert_int_equal(sqlite3_open_v2(path, &h, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
	ask_ok(h, "PRAGMA integrity_check");
	ask_ok(h, "SELECT iif(count(*) = 0, 'ok', 'bad') FROM pragma_foreign_key_check");
	ask_ok(h,
		"SELECT iif(documents = (SELECT count(*) FROM documents)"
		" AND chunks = (SELECT count(*) FROM chunks)"
		" AND text_bytes = (SELECT coalesce(sum(length(text)), 0) FROM documents),"
		" 'ok', 'bad') FROM corpus");
	/* The index against what the view gives for it. */
	if (sqlite3_exec(h, "INSERT INTO words(words, rank) VALUES('integrity-check', 1)", NULL,
		    NULL, &why))
		fail_msg("the index does not agree with the text: %s", why);
	sqlite3_close(h);
}
