/* corpus.c: see corpus.h. */
#include "corpus.h"

#include <dirent.h>
#include <stdio.h>
#include <unistd.h>

#include "engine/private.h"
#include "engine/store/private.h"
#include "util/strbuf.h"

void corpus_make_dir(struct corpus *c)
{
	const char *base = getenv("TMPDIR");

	memset(c, 0, sizeof *c);
	snprintf(c->dir, sizeof c->dir, "%s/rcpd-engine-XXXXXX", base && *base ? base : "/tmp");
	assert_non_null(mkdtemp(c->dir));
	arena_init(&c->arena, 0);
	c->opt = (struct engine_options){ .readers = 4,
		.snapshot_ttl_s = 60,
		.max_snapshots = 8,
		.max_fields = 256 };
}

void corpus_path(const struct corpus *c, const char *file, char *buf, size_t size)
{
	assert_true(snprintf(buf, size, "%s/%s", c->dir, file) < (int)size);
}

static void remove_folder(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *entry;

	while (d && (entry = readdir(d)))
		unlinkat(dirfd(d), entry->d_name, 0);
	if (d)
		closedir(d);
	rmdir(path);
}

void corpus_drop_vectors(const struct corpus *c)
{
	char path[300], sub[600];
	struct dirent *entry;
	DIR *d;

	corpus_path(c, "vectors", path, sizeof path);
	d = opendir(path);
	while (d && (entry = readdir(d))) {
		if (entry->d_name[0] == '.')
			continue;
		assert_true(
			snprintf(sub, sizeof sub, "%s/%s", path, entry->d_name) < (int)sizeof sub);
		remove_folder(sub);
	}
	if (d)
		closedir(d);
	rmdir(path);
}

void corpus_drop_index(const struct corpus *c)
{
	char path[600];

	corpus_path(c, "index", path, sizeof path);
	remove_folder(path);
}

bool corpus_index_file(const struct corpus *c, size_t n, char *buf, size_t size)
{
	char path[300];
	struct dirent **entries;
	bool found = false;
	int count;

	corpus_path(c, "index", path, sizeof path);
	count = scandir(path, &entries, NULL, alphasort);
	for (int i = 0; i < count; i++) {
		if (entries[i]->d_name[0] != '.' && n-- == 0) {
			assert_true(
				snprintf(buf, size, "%s/%s", path, entries[i]->d_name) < (int)size);
			found = true;
		}
		free(entries[i]);
	}
	if (count >= 0)
		free(entries);
	return found;
}

void corpus_remove_dir(struct corpus *c)
{
	corpus_drop_index(c);
	corpus_drop_vectors(c);
	remove_folder(c->dir);
	arena_release(&c->arena);
}

void corpus_open(struct corpus *c)
{
	c->opt.dir = c->dir;
	if (engine_open(&c->opt, &c->engine, &c->error))
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

void corpus_unsynced(struct corpus *c)
{
	assert_int_equal(sqlite3_exec(c->engine->store->writer.db.handle, "PRAGMA synchronous = 0",
				 NULL, NULL, NULL),
		SQLITE_OK);
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

struct engine_view *corpus_view(struct corpus *c)
{
	struct engine_view *v;

	if (engine_view_open(c->engine, NULL, &v, &c->error))
		fail_msg("%s (%s)", c->error.message, c->error.detail);
	return v;
}

struct engine_query corpus_analyze(struct corpus *c, struct engine_view *v, const char *query)
{
	struct engine_query q;

	if (engine_analyze(v, bytes_of(query), &c->arena, &q, &c->error))
		fail_msg("%s: %s (%s)", query, c->error.message, c->error.detail);
	return q;
}

size_t corpus_recall(struct corpus *c, const char *query, size_t k, struct engine_candidate **ret)
{
	struct engine_view *v = corpus_view(c);
	struct engine_query q = corpus_analyze(c, v, query);
	size_t n;

	if (engine_recall(v, &q, k, NULL, &c->arena, ret, &n, &c->error))
		fail_msg("%s: %s (%s)", query, c->error.message, c->error.detail);
	for (size_t i = 0; i < n; i++) /* ids live as long as the view */
		assert_int_equal(arena_dup_bytes(&c->arena, (*ret)[i].doc_id, &(*ret)[i].doc_id),
			0);
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
	struct engine_view *v = corpus_view(c);
	struct engine_record r = { .text = BYTES_NONE };
	enum status st = engine_get(v, bytes_of(id), &c->arena, &r, &c->error);

	assert_true(st == ST_OK || st == ST_NOT_FOUND);
	engine_view_close(v);
	return r.text;
}

struct engine_stats corpus_stats(struct corpus *c)
{
	struct engine_view *v = corpus_view(c);
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
