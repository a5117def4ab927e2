/* corpus_check.c: a closed corpus against itself: rows against totals, and the index as
 * it was left on disk against one that is made anew from the rows. */
#include "corpus.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <stdio.h>
#include <unistd.h>

#include "engine/private.h"

#define MOST_WORDS 300

/* Runs one statement that gives the text "ok". */
static void ask_ok(sqlite3 *h, const char *sql)
{
	sqlite3_stmt *stmt;

	assert_int_equal(sqlite3_prepare_v2(h, sql, -1, &stmt, NULL), SQLITE_OK);
	assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
	if (strcmp((const char *)sqlite3_column_text(stmt, 0), "ok") != 0)
		fail_msg("%s: %s", sql, (const char *)sqlite3_column_text(stmt, 0));
	sqlite3_finalize(stmt);
}

static void check_rows(sqlite3 *h)
{
	ask_ok(h, "PRAGMA integrity_check");
	ask_ok(h, "SELECT iif(count(*) = 0, 'ok', 'bad') FROM pragma_foreign_key_check");
	ask_ok(h,
		"SELECT iif(documents = (SELECT count(*) FROM documents WHERE died IS NULL)"
		" AND chunks = (SELECT coalesce(sum(chunks), 0) FROM documents WHERE died IS NULL)"
		" AND text_bytes = (SELECT coalesce(sum(length(text)), 0) FROM texts AS t"
		"  JOIN documents AS d ON d.key = t.document WHERE d.died IS NULL)"
		" AND version >= (SELECT coalesce(max(max(born), coalesce(max(died), 0)), 0)"
		"  FROM documents),"
		" 'ok', 'bad') FROM corpus");
	/* Each document has its chunks, dead ones too; one of an id lives at most. */
	ask_ok(h,
		"SELECT iif(count(*) = 0, 'ok', 'bad') FROM documents AS d WHERE d.chunks <>"
		" (SELECT count(*) FROM chunks AS c WHERE c.doc = d.key"
		"  AND c.key >= d.first_chunk AND c.key < d.first_chunk + d.chunks)");
	ask_ok(h,
		"SELECT iif((SELECT count(*) FROM chunks) ="
		" (SELECT coalesce(sum(chunks), 0) FROM documents), 'ok', 'bad')");
	ask_ok(h,
		"SELECT iif(count(*) = count(DISTINCT id), 'ok', 'bad') FROM documents"
		" WHERE died IS NULL");
	/* The living have values, and nobody else. */
	ask_ok(h,
		"SELECT iif((SELECT count(*) FROM document_values) = count(*)"
		" AND (SELECT count(*) FROM document_values AS v"
		"  JOIN documents AS l ON l.key = v.document WHERE l.died IS NULL) = count(*),"
		" 'ok', 'bad') FROM documents WHERE died IS NULL");
}

/* Distinct words of some living texts, in the arena. */
struct some_words {
	struct bytes words[MOST_WORDS];
	size_t n;
	struct arena *arena;
};

static int note_word(void *arg, const struct text_term *t)
{
	struct some_words *w = arg;
	struct bytes word = { t->data, t->len };

	for (size_t i = 0; i < w->n; i++)
		if (bytes_eq(w->words[i], word))
			return 0;
	if (w->n == MOST_WORDS)
		return 1;
	assert_int_equal(arena_dup_bytes(w->arena, word, &w->words[w->n++]), 0);
	return 0;
}

static void collect_words(sqlite3 *h, struct some_words *w)
{
	struct text_analyzer *a;
	sqlite3_stmt *stmt;

	assert_int_equal(text_analyzer_new(&a), ST_OK);
	assert_int_equal(sqlite3_prepare_v2(h,
				 "SELECT d.title, t.text, d.analysis FROM documents AS d"
				 " JOIN texts AS t ON t.document = d.key WHERE d.died IS NULL"
				 " ORDER BY d.key DESC LIMIT 200",
				 -1, &stmt, NULL),
		SQLITE_OK);
	while (sqlite3_step(stmt) == SQLITE_ROW) {
		enum text_lang lang =
			text_lang_parse(bytes_of((const char *)sqlite3_column_text(stmt, 2)));

		for (int i = 0; i < 2; i++) {
			struct bytes text = { sqlite3_column_blob(stmt, i),
				(size_t)sqlite3_column_bytes(stmt, i) };
			text.len = text.len < 4096 ? text.len : 4096;
			text_analyze(a, text, lang, note_word, w);
		}
	}
	sqlite3_finalize(stmt);
	text_analyzer_free(a);
}

static void copy_rows(const struct corpus *from, const struct corpus *to)
{
	char path[600], buf[65536];
	int in, out;
	ssize_t n;

	corpus_path(from, "rcpd.db", path, sizeof path);
	in = open(path, O_RDONLY);
	corpus_path(to, "rcpd.db", path, sizeof path);
	out = open(path, O_WRONLY | O_CREAT, 0600);
	assert_true(in >= 0 && out >= 0);
	while ((n = read(in, buf, sizeof buf)) > 0)
		assert_int_equal(write(out, buf, (size_t)n), n);
	assert_int_equal(n, 0);
	close(in);
	close(out);
}

static void compare_indexes(struct corpus *left, struct corpus *anew, struct some_words *words)
{
	struct engine_view *a = corpus_view(left), *b = corpus_view(anew);
	struct lexical_stats x, y;

	lexical_view_stats(a->state->index, &x);
	lexical_view_stats(b->state->index, &y);
	assert_int_equal(x.chunks, y.chunks);
	assert_int_equal(x.total_length, y.total_length);
	for (size_t i = 0; i < words->n; i++) {
		struct engine_query q = { .terms = &words->words[i], .n = 1 };
		struct engine_candidate *f, *g;
		size_t n, m;

		assert_int_equal(engine_recall(a, &q, 50, NULL, &left->arena, &f, &n, NULL), ST_OK);
		assert_int_equal(engine_recall(b, &q, 50, NULL, &anew->arena, &g, &m, NULL), ST_OK);
		assert_int_equal(n, m);
		for (size_t k = 0; k < n; k++) {
			assert_true(bytes_eq(f[k].doc_id, g[k].doc_id));
			assert_int_equal(f[k].chunk, g[k].chunk);
			assert_memory_equal(&f[k].score, &g[k].score, sizeof f[k].score);
		}
	}
	engine_view_close(a);
	engine_view_close(b);
}

void corpus_check(const struct corpus *c)
{
	struct corpus left = *c, anew;
	struct some_words words = { .n = 0 };
	char path[600];
	sqlite3 *h;

	corpus_path(c, "rcpd.db", path, sizeof path);
	if (access(path, F_OK))
		return;
	assert_int_equal(sqlite3_open_v2(path, &h, SQLITE_OPEN_READWRITE, NULL), SQLITE_OK);
	check_rows(h);
	corpus_make_dir(&anew);
	words.arena = &anew.arena;
	collect_words(h, &words);
	sqlite3_close(h);
	anew.opt = c->opt;
	copy_rows(c, &anew);
	arena_init(&left.arena, 0);
	corpus_open(&left);
	corpus_open(&anew);
	compare_indexes(&left, &anew, &words);
	corpus_close(&left);
	corpus_close(&anew);
	arena_release(&left.arena);
	corpus_remove_dir(&anew);
}
