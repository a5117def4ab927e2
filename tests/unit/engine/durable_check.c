/* durable_check.c: see durable.h: a corpus against its model. */
#include "durable_private.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define MOST 60 /* hits asked for */

struct checking {
	struct engine *en;
	struct engine_view *view;
	struct model *model;
	struct arena arena;
	durable_resolved_fn *resolved;
	void *arg;
};

static void open_view(struct checking *c)
{
	struct error e;

	require(engine_view_open(c->en, NULL, &c->view, &e) == ST_OK, "%s", e.message);
	arena_init(&c->arena, 0);
}

static void close_view(struct checking *c)
{
	engine_view_close(c->view);
	arena_release(&c->arena);
}

static size_t search(struct checking *c, const char *text, struct engine_candidate **ret)
{
	struct engine_query q;
	struct error e;
	size_t n;

	require(engine_analyze(c->view, bytes_of(text), &c->arena, &q, &e) == ST_OK, "%s",
		e.message);
	require(engine_recall(c->view, &q, MOST, NULL, &c->arena, ret, &n, &e) == ST_OK, "%s",
		e.message);
	return n;
}

/* How many chunks the columns give to a writer. */
static size_t list_writer(struct checking *c, int writer, struct engine_candidate **ret)
{
	struct engine_scalar value = { .i = writer };
	struct engine_filter leaf;
	struct engine_pass *pass;
	struct error e;
	size_t n;

	make_leaf(c->en, "writer", ENGINE_EQ, &value, &leaf);
	require(engine_filter_compile(c->view, &leaf, &c->arena, &pass, &e) == ST_OK, "%s",
		e.message);
	require(engine_list(c->view, pass, MOST + 10, NULL, 0, &c->arena, ret, &n, &e) == ST_OK,
		"%s", e.message);
	return n;
}

/* ---- answers ---- */

static void keep_answers(struct answers *a, uint32_t query, const struct engine_candidate *found,
	size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct answer *at = &a->at[a->n++];

		require(a->n < sizeof(a->at) / sizeof(a->at[0]), "too many answers");
		snprintf(at->id, sizeof(at->id), "%.*s", (int)found[i].doc_id.len,
			found[i].doc_id.data);
		at->query = query;
		at->chunk = found[i].chunk;
		at->score = found[i].score;
	}
}

void durable_answers(struct engine *en, struct answers *ret)
{
	static const char *const queries[] = { "river", "river market winter", "lantern bridge",
		"mountain", "stone stone garden paper" };
	struct checking c = { .en = en };
	struct engine_candidate *found;

	memset(ret, 0, sizeof(*ret));
	open_view(&c);
	for (uint32_t q = 0; q < sizeof(queries) / sizeof(queries[0]); q++) {
		size_t n = search(&c, queries[q], &found);

		keep_answers(ret, q, found, n < 30 ? n : 30);
	}
	for (int w = 0; w < WRITERS; w++) {
		size_t n = list_writer(&c, w, &found);

		keep_answers(ret, 100 + (uint32_t)w, found, n);
	}
	close_view(&c);
}

/* All that the model has, in one call. */
static struct engine *make_fresh(const struct model *m, const char *dir)
{
	struct engine_document docs[WRITERS * SLOTS];
	struct engine_commit commit;
	struct engine *fresh;
	struct arena arena;
	struct error e;
	size_t n = 0;

	durable_remove(dir);
	require(mkdir(dir, 0700) == 0, "%s", dir);
	arena_init(&arena, 0);
	for (int w = 0; w < WRITERS; w++)
		for (int s = 0; s < SLOTS; s++)
			if (m->writer[w].slot[s] != NO_CALL)
				make_document(&arena, w, m->writer[w].slot[s], s, &docs[n++]);
	require(durable_open(dir, &fresh, &e) == ST_OK, "%s", e.message);
	require(engine_add(fresh, docs, n, NULL, NULL, &arena, &commit, &e) == ST_OK, "%s",
		e.message);
	arena_release(&arena);
	return fresh;
}

void durable_check_index(struct engine *en, const struct model *m, const char *dir,
	struct engine **ret)
{
	static struct answers ours, theirs;

	*ret = make_fresh(m, dir);
	durable_answers(en, &ours);
	durable_answers(*ret, &theirs);
	require(ours.n == theirs.n, "%u answers, a fresh index gives %u", ours.n, theirs.n);
	for (unsigned i = 0; i < ours.n; i++)
		require(memcmp(&ours.at[i], &theirs.at[i], sizeof(ours.at[i])) == 0,
			"answer %u of query %u: %s#%u %.17g, a fresh index gives %s#%u %.17g", i,
			ours.at[i].query, ours.at[i].id, ours.at[i].chunk, ours.at[i].score,
			theirs.at[i].id, theirs.at[i].chunk, theirs.at[i].score);
}

/* ---- documents ---- */

/* Whether the slot holds what the call wrote (NO_CALL: nothing). */
static bool holds(struct checking *c, int writer, int slot, int call)
{
	struct engine_document doc;
	struct engine_record r;
	struct error e;
	char id[24];
	enum status st;

	slot_id(writer, slot, id);
	st = engine_get(c->view, bytes_of(id), &c->arena, &r, &e);
	require(st == ST_OK || st == ST_NOT_FOUND, "%s: %s", id, e.message);
	if (call == NO_CALL || st)
		return call == NO_CALL && st == ST_NOT_FOUND;
	make_document(&c->arena, writer, call, slot, &doc);
	return bytes_eq(doc.text, r.text) && bytes_eq(doc.title, r.title);
}

static bool holds_all(struct checking *c, int writer, const struct writer *w)
{
	for (int s = 0; s < SLOTS; s++)
		if (!holds(c, writer, s, w->slot[s]))
			return false;
	return true;
}

/* A document's own word is in one chunk, or nowhere once it is gone. */
static void check_word(struct checking *c, int writer, int call, int slot, bool there)
{
	struct engine_candidate *found;
	char word[16], id[24];
	size_t n;

	unique_word(writer, call, slot, word);
	n = search(c, word, &found);
	require(n == (there ? 1 : 0), "writer %d call %d slot %d: '%s' found %zu times", writer,
		call, slot, word, n);
	slot_id(writer, slot, id);
	if (there)
		require(bytes_eq(found[0].doc_id, bytes_of(id)) && found[0].chunk == 0,
			"'%s' found elsewhere", word);
}

static void check_writer(struct checking *c, int writer)
{
	const struct writer *w = &c->model->writer[writer];
	unsigned first = w->died > DEAD ? w->died - DEAD : 0;
	struct engine_candidate *found;
	size_t chunks = 0;

	for (int s = 0; s < SLOTS; s++) {
		if (w->slot[s] == NO_CALL)
			continue;
		check_word(c, writer, w->slot[s], s, true);
		chunks += is_long(writer, w->slot[s], s) ? LONG_CHUNKS : 1;
	}
	for (unsigned i = first; i < w->died; i++)
		check_word(c, writer, w->dead[i % DEAD].call, w->dead[i % DEAD].slot, false);
	require(list_writer(c, writer, &found) == chunks, "writer %d has %zu chunks", writer,
		chunks);
}

static void check_totals(struct checking *c)
{
	struct engine_stats stats;
	uint64_t documents = 0;
	struct error e;

	for (int w = 0; w < WRITERS; w++)
		for (int s = 0; s < SLOTS; s++)
			documents += c->model->writer[w].slot[s] != NO_CALL;
	require(engine_view_stats(c->view, &stats, &e) == ST_OK, "%s", e.message);
	require(stats.documents == documents, "%llu documents, not %llu",
		(unsigned long long)stats.documents, (unsigned long long)documents);
	require(stats.version >= c->model->version, "version %llu, %llu was acknowledged",
		(unsigned long long)stats.version, (unsigned long long)c->model->version);
}

/* ---- what was under way ---- */

/* The client makes the call again: under its key it happens once. */
static void make_again(struct checking *c, int writer, int call, bool applied,
	uint64_t *ret_version)
{
	struct engine_commit commit;
	struct error e;

	close_view(c);
	require(durable_call(c->en, writer, call, &commit, &e) == ST_OK, "%s", e.message);
	require(commit.repeated == applied, "writer %d call %d: made again, repeated is %d", writer,
		call, commit.repeated);
	*ret_version = commit.version;
	open_view(c);
}

static void resolve(struct checking *c, int writer, enum expected expected)
{
	struct model after = *c->model;
	struct writer *w = &c->model->writer[writer];
	int call = w->next;
	uint64_t version = 0;
	bool before = holds_all(c, writer, w), differs, applied;

	model_apply(&after, writer, call, version);
	differs = memcmp(after.writer[writer].slot, w->slot, sizeof(w->slot)) != 0;
	applied = differs && !before;
	if (applied)
		require(holds_all(c, writer, &after.writer[writer]),
			"writer %d: neither what it had before call %d nor after", writer, call);
	else
		require(before, "writer %d has not what it had before call %d", writer, call);
	if (writer != c->model->under_way)
		require(expected == EITHER || !applied, "writer %d call %d was never made", writer,
			call);
	else if (differs)
		require(expected == EITHER || applied == (expected == PRESENT),
			"writer %d call %d: applied is %d", writer, call, applied);
	if (model_adds(writer, call) && (call & 1)) {
		make_again(c, writer, call, applied, &version);
		applied = true;
	}
	if (applied)
		model_apply(c->model, writer, call, version);
	else
		model_skip(c->model, writer, call);
	c->resolved(c->arg, writer, call, applied, version);
}

/* An acknowledged call under its key: the answer of then, and nothing is written. */
static void repeat_last(struct checking *c, int writer)
{
	const struct writer *w = &c->model->writer[writer];
	struct engine_commit commit;
	struct error e;

	if (w->last_add == NO_CALL)
		return;
	require(durable_call(c->en, writer, w->last_add, &commit, &e) == ST_OK, "%s", e.message);
	require(commit.repeated, "writer %d call %d was made twice", writer, w->last_add);
	require(w->last_version == 0 || commit.version == w->last_version,
		"writer %d call %d: another version", writer, w->last_add);
}

void durable_check(struct engine *en, struct model *m, enum expected expected,
	durable_resolved_fn *resolved, void *arg)
{
	struct checking c = { .en = en, .model = m, .resolved = resolved, .arg = arg };

	for (int w = 0; w < WRITERS; w++)
		repeat_last(&c, w);
	open_view(&c);
	for (int w = 0; w < WRITERS; w++)
		resolve(&c, w, expected);
	close_view(&c);
	open_view(&c);
	check_totals(&c);
	for (int w = 0; w < WRITERS; w++) {
		require(holds_all(&c, w, &m->writer[w]), "writer %d", w);
		check_writer(&c, w);
	}
	close_view(&c);
}
