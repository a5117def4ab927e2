/*
 * lexical_fts5.c: SQLite's FTS5 on the texts of bench_lexical_corpus, for scale.
 *
 *   bench_lexical_fts5 FOLDER [--queries FILE] [--top K] [--limit N] [--no-build]
 *                      [--stored]
 *
 * Without the texts themselves in the table (content=''), words by blanks alone, which
 * spares FTS5 the Unicode tables; batches of 500 passages, each a transaction with
 * synchronous=FULL in WAL mode. With --stored it keeps the texts and their ids and takes
 * words by Unicode, as a server has to: what the engine's ingest is to be held against.
 * Then nothing is searched. A query is its words, any of them enough, by rank.
 */
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BATCH 500
#define MAX_QUERIES 100000

static sqlite3 *db;

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static void die(const char *what)
{
	fprintf(stderr, "bench_lexical_fts5: %s: %s\n", what, db ? sqlite3_errmsg(db) : "");
	exit(1);
}

static void run(const char *sql)
{
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
		die(sql);
}

static sqlite3_stmt *prepare(const char *sql)
{
	sqlite3_stmt *s;

	if (sqlite3_prepare_v2(db, sql, -1, &s, NULL) != SQLITE_OK)
		die(sql);
	return s;
}

static FILE *open_file(const char *folder, const char *name)
{
	char path[1024];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "r");
	if (!f)
		die(path);
	return f;
}

static void build(const char *folder, int stored)
{
	FILE *f = open_file(folder, "passages.tsv");
	sqlite3_stmt *insert;
	char *line = NULL;
	size_t cap = 0;
	ssize_t n;
	int64_t rows = 0;
	double start = now();

	if (stored)
		run("CREATE VIRTUAL TABLE t USING fts5(text, id UNINDEXED, tokenize='unicode61')");
	else
		run("CREATE VIRTUAL TABLE t USING fts5(text, content='', tokenize='ascii')");
	insert = prepare(stored ? "INSERT INTO t(rowid, text, id) VALUES (?, ?, ?)"
				: "INSERT INTO t(rowid, text) VALUES (?, ?)");
	run("BEGIN");
	while ((n = getline(&line, &cap, f)) > 0) {
		char *tab = strchr(line, '\t');

		sqlite3_bind_int64(insert, 1, ++rows);
		sqlite3_bind_text(insert, 2, tab + 1, (int)(line + n - tab - 2), SQLITE_STATIC);
		if (stored)
			sqlite3_bind_text(insert, 3, line, (int)(tab - line), SQLITE_STATIC);
		if (sqlite3_step(insert) != SQLITE_DONE)
			die("insert");
		sqlite3_reset(insert);
		if (rows % BATCH == 0)
			run("COMMIT; BEGIN");
	}
	run("COMMIT");
	sqlite3_finalize(insert);
	free(line);
	fclose(f);
	printf("\"built\": %lld, \"build_s\": %.2f", (long long)rows, (now() - start) / 1e3);
}

/* "a" OR "b" OR … */
static void make_match(char *line, char *out, size_t size)
{
	size_t n = 0;
	char *save = NULL;

	for (char *w = strtok_r(line, " \n", &save); w; w = strtok_r(NULL, " \n", &save))
		n += (size_t)snprintf(out + n, size - n, "%s\"%s\"", n ? " OR " : "", w);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void search(const char *folder, const char *queries, int top, size_t limit)
{
	FILE *f = open_file(folder, queries);
	sqlite3_stmt *s =
		prepare("SELECT rowid, rank FROM t WHERE t MATCH ? ORDER BY rank LIMIT ?");
	static double times[MAX_QUERIES];
	char *line = NULL, match[4096];
	size_t cap = 0, n = 0;

	while (n < limit && n < MAX_QUERIES && getline(&line, &cap, f) > 0) {
		double start;

		make_match(line, match, sizeof(match));
		start = now();
		sqlite3_bind_text(s, 1, match, -1, SQLITE_STATIC);
		sqlite3_bind_int(s, 2, top);
		while (sqlite3_step(s) == SQLITE_ROW)
			;
		sqlite3_reset(s);
		times[n++] = now() - start;
	}
	if (n == 0)
		die("no queries");
	qsort(times, n, sizeof(times[0]), by_value);
	printf(", \"queries\": %zu, \"p50\": %.3f, \"p99\": %.3f", n, times[n / 2],
		times[n * 99 / 100]);
	sqlite3_finalize(s);
	free(line);
	fclose(f);
}

int main(int argc, char **argv)
{
	const char *folder = argc > 1 ? argv[1] : "", *queries = "queries.txt";
	int top = 10, make = 1, stored = 0;
	size_t limit = MAX_QUERIES;
	char path[1024];

	for (int i = 2; i < argc; i++) {
		const char *value = i + 1 < argc ? argv[i + 1] : "0";

		if (strcmp(argv[i], "--no-build") == 0)
			make = 0;
		else if (strcmp(argv[i], "--stored") == 0)
			stored = 1;
		else if (strcmp(argv[i], "--queries") == 0)
			queries = value;
		else if (strcmp(argv[i], "--top") == 0)
			top = (int)strtol(value, NULL, 10);
		else if (strcmp(argv[i], "--limit") == 0)
			limit = strtoul(value, NULL, 10);
	}
	snprintf(path, sizeof(path), "%s/%s.db", folder, stored ? "stored" : "fts5");
	if (make)
		remove(path);
	if (sqlite3_open(path, &db) != SQLITE_OK)
		die(path);
	run("PRAGMA journal_mode=WAL; PRAGMA synchronous=FULL");
	printf("{");
	if (make)
		build(folder, stored);
	if (!make)
		printf("\"built\": 0");
	if (!stored)
		search(folder, queries, top, limit);
	printf("}\n");
	sqlite3_close(db);
	return 0;
}
