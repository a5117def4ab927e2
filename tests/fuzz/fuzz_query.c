/*
 * fuzz_query.c: a user's query, from bytes to hits: whatever it is, the engine takes it
 * as words and gives hits in order, or none. REQ: D33 F5; cases RET-01 RET-02 RET-03.
 */
#include <string.h>
#include <unistd.h>

#include "engine/engine.h"
#include "fuzz.h"
#include "util/utf8.h"

static char folder[256];
static struct engine *engine;

static void folder_remove(void)
{
	static const char *const names[] = { "rcpd.db", "rcpd.db-wal", "rcpd.db-shm", "lock",
		"index/segments.list", "index/00000001.seg" };
	char path[300];

	engine_close(engine);
	engine = NULL;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		(void)snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
		(void)unlink(path);
	}
	(void)snprintf(path, sizeof(path), "%s/index", folder);
	(void)rmdir(path);
	(void)rmdir(folder);
}

/* A small corpus, made once for the process. */
static void engine_setup(void)
{
	static const char *const texts[] = { "The quick brown fox jumps over the lazy dog.",
		"Order BENCH-100821 for don't panic, grammar::fa v38.101.",
		"cats AND dogs OR NOT NEAR birds",
		"caf\xc3\xa9 na\xc3\xafve \xe6\x97\xa5\xe6\x9c\xac" };
	struct engine_document docs[4];
	struct engine_commit commit;
	struct arena arena;
	const char *tmp = getenv("TMPDIR");

	(void)snprintf(folder, sizeof(folder), "%s/fuzz_query.XXXXXX", tmp ? tmp : "/tmp");
	FUZZ_CHECK(mkdtemp(folder));
	struct engine_options opt = { .dir = folder, .readers = 1, .max_fields = 8 };
	FUZZ_CHECK(engine_open(&opt, &engine, NULL) == ST_OK);
	(void)atexit(folder_remove);
	memset(docs, 0, sizeof(docs));
	for (size_t i = 0; i < 4; i++) {
		docs[i].id = (struct bytes){ &"abcd"[i], 1 };
		docs[i].text = bytes_of(texts[i]);
	}
	arena_init(&arena, 0);
	FUZZ_CHECK(engine_add(engine, docs, 4, NULL, NULL, &arena, &commit, NULL) == ST_OK);
	arena_release(&arena);
}

static void check_terms(const struct engine_query *q)
{
	FUZZ_CHECK(q->n <= ENGINE_MAX_TERMS);
	FUZZ_CHECK(!q->truncated || q->n == ENGINE_MAX_TERMS);
	FUZZ_CHECK(!q->only_stop_words || q->n == 0);
	for (size_t i = 0; i < q->n; i++) {
		struct bytes t = q->terms[i];
		FUZZ_CHECK(t.data && t.len > 0 && t.len <= TEXT_TERM_MAX);
		FUZZ_CHECK(utf8_valid(t.data, t.len));
	}
}

static void check_hits(const struct engine_query *q, const struct engine_candidate *hits, size_t n)
{
	FUZZ_CHECK(n <= 10);
	for (size_t i = 0; i < n; i++) {
		FUZZ_CHECK(hits[i].score >= 0 && hits[i].score <= q->bound * 1.000001);
		FUZZ_CHECK(i == 0 || hits[i - 1].score >= hits[i].score);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct engine_query q;
	struct arena arena;
	struct engine_view *view;
	struct engine_candidate *hits = NULL;
	struct error e = { .code = ST_OK };
	size_t n = 0;

	if (!engine)
		engine_setup();
	/* The contract is valid UTF-8; the JSON layer sees to it. */
	struct bytes text = { (const char *)data, utf8_valid_prefix((const char *)data, size) };
	arena_init(&arena, 0);
	FUZZ_CHECK(engine_view_open(engine, NULL, &view, &e) == ST_OK);
	FUZZ_CHECK(engine_analyze(view, text, &arena, &q, &e) == ST_OK);
	check_terms(&q);
	enum status st = engine_recall(view, &q, 10, NULL, &arena, &hits, &n, &e);
	if (st != ST_OK)
		(void)fprintf(stderr, "recall: %s (%s)\n", e.message, e.detail);
	FUZZ_CHECK(st == ST_OK);
	check_hits(&q, hits, n);
	engine_view_close(view);
	arena_release(&arena);
	return 0;
}
