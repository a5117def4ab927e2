/*
 * test_store_history.c: random histories against a model: after each commit every
 * version that was not swept must give the documents that lived then, by id, by chunk
 * and by walking.
 */
#include "store_rows.h"

#include <stdio.h>

#define IDS 12
#define COMMITS 60
#define ROUNDS 6

static uint32_t seed;

static uint32_t draw(uint32_t below)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % below;
}

/* What lives under an id; text 0: nothing. */
struct living {
	unsigned text;
	struct store_keys keys;
};

struct model {
	struct living now[IDS];
	struct living at[COMMITS + 1][IDS];
	unsigned texts;          /* given out */
	uint64_t version, swept; /* versions below swept are gone */
	int64_t next_document, next_chunk;
};

static void name_id(char *buf, size_t size, unsigned id)
{
	snprintf(buf, size, "id%u", id);
}

/* Texts are numbers, of a length that says how many chunks they have. */
static void name_text(char *buf, size_t size, unsigned text)
{
	snprintf(buf, size, "%06u", text);
}

static unsigned chunks_of(unsigned text)
{
	return 1 + text % 3;
}

static struct store_keys put(struct rows *r, unsigned id, unsigned text)
{
	char name[16], words[16];
	struct store_chunk chunks[3];
	struct store_document doc;

	name_id(name, sizeof name, id);
	name_text(words, sizeof words, text);
	doc = rows_document(name, words);
	for (unsigned i = 0; i < 3; i++)
		chunks[i] = (struct store_chunk){ i * 2, i * 2 + 2, i * 2, i * 2 + 2, BYTES_NONE };
	doc.chunks = chunks;
	doc.chunk_count = chunks_of(text);
	doc.analysis = (enum text_lang)(text % TEXT_LANG_COUNT);
	doc.values = bytes_of(text % 4 ? words : NULL);
	return rows_put_document(r, &doc);
}

/* One call: a few documents die or are put. */
static void change(struct rows *r, struct model *m)
{
	for (unsigned n = 1 + draw(4); n > 0; n--) {
		unsigned id = draw(IDS);
		struct living *l = &m->now[id];
		struct store_keys keys;
		char name[16];

		name_id(name, sizeof name, id);
		if (l->text && draw(4) == 0)
			OK(r,
				store_write_bury_chunk(r->write, l->keys.first_chunk, &keys,
					&r->error));
		else
			keys = rows_bury(r, name);
		assert_int_equal(keys.document, l->text ? l->keys.document : 0);
		*l = (struct living){ .text = 0 };
		if (draw(3) == 0)
			continue;
		l->text = ++m->texts;
		l->keys = put(r, id, l->text);
		assert_int_equal(l->keys.document, m->next_document++);
		assert_int_equal(l->keys.first_chunk, m->next_chunk);
		m->next_chunk += chunks_of(l->text);
	}
}

/* A group of calls; a third of them is undone. False: all of it was aborted. */
static bool commit_group(struct rows *r, struct model *m)
{
	struct model begin = *m;
	struct store_totals t;

	rows_begin(r);
	assert_int_equal(store_write_version(r->write), m->version + 1);
	for (unsigned n = 1 + draw(4); n > 0; n--) {
		struct model saved = *m;

		OK(r, store_write_savepoint(r->write, &r->error));
		change(r, m);
		if (draw(3)) {
			OK(r, store_write_release(r->write, &r->error));
			continue;
		}
		OK(r, store_write_undo(r->write, &r->error));
		*m = saved;
	}
	if (draw(6) == 0) {
		store_write_abort(r->write);
		r->write = NULL;
		*m = begin;
		return false;
	}
	t = rows_commit(r);
	m->version = t.version;
	memcpy(m->at[m->version], m->now, sizeof m->now);
	return true;
}

static void check_version(struct rows *r, struct store_reader *reader, const struct model *m,
	uint64_t version)
{
	for (unsigned id = 0; id < IDS; id++) {
		const struct living *l = &m->at[version][id];
		struct engine_record rec;
		char name[16], words[16];
		enum status st;

		name_id(name, sizeof name, id);
		name_text(words, sizeof words, l->text);
		st = store_get(reader, bytes_of(name), version, &r->arena, &rec, &r->error);
		if (!l->text) {
			assert_int_equal(st, ST_NOT_FOUND);
			continue;
		}
		OK(r, st);
		assert_true(bytes_eq(rec.text, bytes_of(words)));
		OK(r,
			store_fetch(reader, l->keys.first_chunk, ENGINE_TEXT, &r->arena, &rec,
				&r->error));
		assert_memory_equal(rec.text.data, words, 2);
		assert_int_equal(rec.text.len, 2);
	}
}

struct walk {
	const struct model *m;
	uint64_t after;
	int64_t last;
	size_t count;
	bool died; /* else born */
};

static const struct living *find(const struct living *at, int64_t chunk)
{
	for (unsigned id = 0; id < IDS; id++)
		if (at[id].text && chunk >= at[id].keys.first_chunk &&
			chunk < at[id].keys.first_chunk + (int64_t)at[id].keys.chunks)
			return &at[id];
	return NULL;
}

static enum status see_chunk(void *arg, const struct store_row *row, struct error *e)
{
	struct walk *w = arg;
	const struct living *now = find(w->m->now, row->key);
	const struct living *then = find(w->m->at[w->after], row->key);
	const struct living *l = w->died ? then : now;
	char words[16];

	(void)e;
	assert_true(w->died || row->key > w->last);
	w->last = row->key;
	if (w->died && !then) { /* born after it, and dead again */
		assert_null(now);
		return ST_OK;
	}
	w->count++;
	assert_non_null(l);
	assert_null(w->died ? now : then);
	assert_int_equal(row->no, row->key - l->keys.first_chunk);
	assert_int_equal(row->analysis, l->text % TEXT_LANG_COUNT);
	name_text(words, sizeof words, l->text);
	assert_memory_equal(row->text.data, words + row->no * 2, 2);
	return ST_OK;
}

/* How many chunks live in a and not in b. */
static size_t count_differing(const struct living *a, const struct living *b)
{
	size_t n = 0;

	for (unsigned id = 0; id < IDS; id++)
		if (a[id].text && !find(b, a[id].keys.first_chunk))
			n += a[id].keys.chunks;
	return n;
}

static void check_walks(struct rows *r, struct store_reader *reader, const struct model *m,
	uint64_t after)
{
	struct walk w = { .m = m, .after = after };

	OK(r, store_each_born(reader, after, see_chunk, &w, &r->error));
	assert_int_equal(w.count, count_differing(m->now, m->at[after]));
	w = (struct walk){ .m = m, .after = after, .died = true };
	OK(r, store_each_died(reader, after, see_chunk, &w, &r->error));
	assert_int_equal(w.count, count_differing(m->at[after], m->now));
}

static enum status see_values(void *arg, const struct store_keys *keys, struct bytes values,
	struct error *e)
{
	struct walk *w = arg;
	const struct living *l = find(w->m->now, keys->first_chunk);
	char words[16];

	(void)e;
	assert_true(keys->document > w->last);
	w->last = keys->document;
	w->count++;
	assert_non_null(l);
	assert_memory_equal(keys, &l->keys, sizeof *keys);
	name_text(words, sizeof words, l->text);
	assert_int_equal(values.data != NULL, l->text % 4 != 0);
	assert_true(!values.data || bytes_eq(values, bytes_of(words)));
	return ST_OK;
}

static void check_all(struct rows *r, const struct model *m)
{
	struct store_reader *reader;
	struct walk w = { .m = m };
	size_t living = 0;

	OK(r, store_reader_open(r->store, NULL, &reader, &r->error));
	for (uint64_t v = m->swept; v <= m->version; v++) {
		check_version(r, reader, m, v);
		check_walks(r, reader, m, v);
	}
	OK(r, store_each_values(reader, see_values, &w, &r->error));
	for (unsigned id = 0; id < IDS; id++)
		living += m->now[id].text != 0;
	assert_int_equal(w.count, living);
	store_reader_close(reader);
	arena_release(&r->arena);
}

static void count_swept(void *arg, int64_t first_chunk, uint64_t chunks)
{
	const struct model *m = arg;

	for (int64_t key = first_chunk; key < first_chunk + (int64_t)chunks; key++)
		assert_null(find(m->now, key));
}

static void sweep(struct rows *r, struct model *m)
{
	bool more = true;

	m->swept += draw((uint32_t)(m->version - m->swept) + 1);
	while (more) {
		rows_begin(r);
		OK(r, store_write_sweep(r->write, m->swept, 3, count_swept, m, &more, &r->error));
		assert_int_equal(rows_commit(r).version, m->version);
	}
}

static void test_histories(void **state)
{
	struct rows *r = *state;
	static struct model m;

	m = (struct model){ .next_document = 1, .next_chunk = 1 };
	seed = 1;
	while (m.version < COMMITS) {
		commit_group(r, &m);
		if (draw(5) == 0)
			sweep(r, &m);
		if (draw(15) == 0)
			rows_reopen(r);
		if (draw(4) == 0)
			check_all(r, &m);
	}
	check_all(r, &m);
	m.swept = m.version;
	sweep(r, &m);
	assert_int_equal(rows_ask(r, "SELECT count(*) FROM documents WHERE died IS NOT NULL"), 0);
	check_all(r, &m);
}

static void test_more_histories(void **state)
{
	for (unsigned i = 0; i < ROUNDS; i++) {
		struct rows *r = *state;
		static struct model m;

		rows_close(r);
		rows_check(r);
		rows_remove_dir(r);
		rows_make_dir(r);
		rows_open(r);
		m = (struct model){ .next_document = 1, .next_chunk = 1 };
		seed = 100 + i;
		while (m.version < COMMITS / 2)
			if (commit_group(r, &m) && draw(8) == 0)
				sweep(r, &m);
		check_all(r, &m);
	}
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, rows_setup, rows_teardown)
	const struct CMUnitTest tests[] = {
		TEST(test_histories),
		TEST(test_more_histories),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
