/* fake_engine.c: see fake_engine.h. */
#include "fake_engine.h"

#include <stdlib.h>
#include <string.h>

struct engine_view {
	uint64_t version;
};

struct engine_pass {
	bool used;
};

struct fake fake;

void fake_reset(const struct fake_chunk *chunks, size_t n)
{
	fake = (struct fake){ .chunks = chunks, .n = n, .version = 5, .words = 1 };
}

static enum status broken(enum fake_call call, struct error *e)
{
	return fake.fail == call ? error_set(e, ST_IO, "broken on purpose") : ST_OK;
}

static enum status open_version(uint64_t version, struct engine_view **ret)
{
	static struct engine_view view;

	view.version = version;
	*ret = &view;
	fake.opened++;
	return ST_OK;
}

enum status engine_view_open(struct engine *en, const struct engine_stop *stop,
	struct engine_view **ret, struct error *e)
{
	enum status st = broken(FAKE_OPEN, e);

	(void)en, (void)stop;
	return st ? st : open_version(fake.version, ret);
}

enum status engine_view_open_at(struct engine *en, uint64_t version, const struct engine_stop *stop,
	struct engine_view **ret, struct error *e)
{
	enum status st = broken(FAKE_OPEN_AT, e);

	(void)en, (void)stop;
	if (st)
		return st;
	if (version != fake.version && version != fake.kept)
		return error_set(e, ST_GONE, "gone");
	return open_version(version, ret);
}

void engine_view_keep(struct engine_view *v)
{
	(void)v;
	fake.keeps++;
}

void engine_view_close(struct engine_view *v)
{
	if (v)
		fake.closed++;
}

uint64_t engine_view_version(const struct engine_view *v)
{
	return v->version;
}

int64_t engine_view_time_ms(const struct engine_view *v)
{
	(void)v;
	return fake.time_ms;
}

const char *engine_corpus_id(const struct engine *en)
{
	(void)en;
	return "0123456789abcdef";
}

const unsigned char *engine_secret(const struct engine *en)
{
	static const unsigned char secret[32] = { 1, 2, 3 };

	(void)en;
	return secret;
}

enum status engine_analyze(struct engine_view *v, struct bytes text, struct arena *arena,
	struct engine_query *ret, struct error *e)
{
	(void)v, (void)text, (void)arena;
	*ret = (struct engine_query){ .n = fake.words,
		.only_stop_words = fake.only_stop_words,
		.truncated = fake.truncated };
	return broken(FAKE_ANALYZE, e);
}

enum status engine_filter_compile(struct engine_view *v, const struct engine_filter *filter,
	struct arena *arena, struct engine_pass **ret, struct error *e)
{
	(void)v, (void)filter;
	*ret = arena_zero(arena, sizeof(**ret));
	if (!*ret)
		return error_set(e, ST_NOMEM, "out of memory");
	return broken(FAKE_COMPILE, e);
}

static int by_place(const void *a, const void *b)
{
	const struct engine_candidate *x = a, *y = b;
	int c = bytes_cmp(x->doc_id, y->doc_id);

	return c ? c : (x->chunk > y->chunk) - (x->chunk < y->chunk);
}

static int by_score(const void *a, const void *b)
{
	const struct engine_candidate *x = a, *y = b;

	return x->score != y->score ? (x->score < y->score ? 1 : -1) : by_place(a, b);
}

static struct engine_candidate candidate(size_t i, double score)
{
	const struct fake_chunk *c = &fake.chunks[i];

	return (struct engine_candidate){ bytes_of(c->id), (int64_t)i, c->chunk, score };
}

static enum status hand_out(struct engine_candidate *all, size_t n, size_t k,
	int (*order)(const void *, const void *), struct engine_candidate **ret, size_t *ret_n)
{
	qsort(all, n, sizeof(*all), order);
	*ret = all;
	*ret_n = n < k ? n : k;
	return ST_OK;
}

enum status engine_recall(struct engine_view *v, const struct engine_query *q, size_t k,
	const struct engine_pass *pass, struct arena *arena, struct engine_candidate **ret,
	size_t *ret_n, struct error *e)
{
	struct engine_candidate *all = arena_array(arena, fake.n + 1, sizeof(*all));
	enum status st = broken(FAKE_RECALL, e);
	size_t n = 0;

	(void)v, (void)q;
	fake.recalls++;
	fake.last_k = k;
	if (!all)
		return error_set(e, ST_NOMEM, "out of memory");
	for (size_t i = 0; i < fake.n; i++)
		if (fake.chunks[i].score > 0 && (!pass || fake.chunks[i].passes))
			all[n++] = candidate(i, fake.chunks[i].score);
	return st ? st : hand_out(all, n, k, by_score, ret, ret_n);
}

enum status engine_list(struct engine_view *v, const struct engine_pass *pass, size_t k,
	const struct engine_candidate *skip, size_t skip_n, struct arena *arena,
	struct engine_candidate **ret, size_t *ret_n, struct error *e)
{
	struct engine_candidate *all = arena_array(arena, fake.n + 1, sizeof(*all));
	enum status st = broken(FAKE_LIST, e);
	size_t n = 0;

	(void)v;
	fake.lists++;
	if (!all)
		return error_set(e, ST_NOMEM, "out of memory");
	for (size_t i = 0; i < fake.n; i++) {
		bool wanted = !pass || fake.chunks[i].passes;

		for (size_t j = 0; j < skip_n; j++)
			wanted = wanted && skip[j].key != (int64_t)i;
		if (wanted)
			all[n++] = candidate(i, 0);
	}
	return st ? st : hand_out(all, n, k, by_place, ret, ret_n);
}

bool engine_instant(struct engine_view *v, size_t field, int64_t key, int64_t *ret_ms)
{
	(void)v, (void)field;
	*ret_ms = fake.chunks[key].when;
	return fake.chunks[key].dated;
}

/* The text of a whole document is "whole " and the text of the chunk. */
enum status engine_fetch(struct engine_view *v, const struct engine_candidate *c, unsigned want,
	struct arena *arena, struct engine_record *ret, struct error *e)
{
	const struct fake_chunk *x = &fake.chunks[c->key];
	const char *text = x->text ? x->text : "text";
	size_t skip = want & ENGINE_WHOLE ? 0 : 6;
	size_t n = strlen(text);
	enum status st = broken(FAKE_FETCH, e);
	char *copy;

	(void)v;
	*ret = (struct engine_record){ .byte_end = n };
	if (st || !(want & ENGINE_TEXT))
		return st;
	copy = arena_alloc(arena, n + 7);
	if (!copy)
		return error_set(e, ST_NOMEM, "out of memory");
	memcpy(copy, "whole ", 6);
	memcpy(copy + 6, text, n + 1);
	ret->text = (struct bytes){ copy + skip, n + 6 - skip };
	return ST_OK;
}

enum status engine_add(struct engine *en, const struct engine_document *docs, size_t n,
	const struct engine_once *once, const struct engine_stop *stop, struct arena *arena,
	struct engine_commit *ret, struct error *e)
{
	enum status st = broken(FAKE_ADD, e);

	(void)en, (void)once, (void)stop, (void)arena;
	fake.adds++;
	fake.last_docs = n;
	fake.last_chunks = 0;
	for (size_t i = 0; i < n; i++) {
		fake.last_chunks += docs[i].chunk_count;
		fake.last_contextual = docs[i].contextual;
	}
	if (n && docs[0].chunk_count)
		fake.first = docs[0].chunks[0];
	*ret = (struct engine_commit){ .documents = n };
	return st;
}
