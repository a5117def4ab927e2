/* durable.c: see durable.h: folders, calls and the model. */
#include "durable.h"

#include <fcntl.h>
#include <ftw.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "durable_private.h"
#include "util/log.h"
#include "util/strbuf.h"

#define HEAD_CHUNKS 6

void durable_bad(const char *file, int line, const char *condition, const char *format, ...)
{
	va_list ap;

	fprintf(stderr, "%s:%d: not so: %s: ", file, line, condition);
	va_start(ap, format);
	vfprintf(stderr, format, ap);
	va_end(ap);
	fputc('\n', stderr);
	fflush(NULL);
	_exit(DURABLE_BAD);
}

/* ---- folders ---- */

void durable_make_dir(char path[DURABLE_PATH])
{
	const char *base = getenv("TMPDIR");

	if (!base || !*base)
		base = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
	snprintf(path, DURABLE_PATH, "%s/rcpd-durable-XXXXXX", base);
	require(mkdtemp(path), "no folder in %s", base);
}

static int remove_one(const char *path, const struct stat *sb, int type, struct FTW *at)
{
	(void)sb, (void)type, (void)at;
	return remove(path);
}

void durable_remove(const char *path)
{
	if (access(path, F_OK) == 0)
		require(nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS) == 0, "%s", path);
}

enum status durable_open(const char *dir, struct engine **ret, struct error *e)
{
	static const struct engine_declared declared[] = { { { "writer", 6 }, ENGINE_INT },
		{ { "part", 4 }, ENGINE_INT }, { { "call", 4 }, ENGINE_INT } };
	struct engine_options opt = { .dir = dir,
		.readers = 2,
		.language = TEXT_LANG_EN,
		.head_chunks = HEAD_CHUNKS,
		.max_fields = 16,
		.declared = declared,
		.declared_count = 3 };

	return engine_open(&opt, ret, e);
}

/* What goes to stderr from here on goes to a file; returns the old one. */
static int divert_stderr(const char *path)
{
	int old = dup(2), fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600);

	require(old >= 0 && fd >= 0 && dup2(fd, 2) == 2, "%s", path);
	close(fd);
	return old;
}

static bool has_text(const char *path, const char *text)
{
	FILE *f = fopen(path, "r");
	char line[1024];
	bool found = false;

	require(f, "%s", path);
	while (fgets(line, sizeof(line), f))
		found |= strstr(line, text) != NULL;
	fclose(f);
	return found;
}

struct engine *durable_open_whole(const char *dir)
{
	char path[DURABLE_PATH + 16];
	struct engine *en;
	struct error e;
	enum status st;
	int old;

	snprintf(path, sizeof(path), "%s/log", dir);
	old = divert_stderr(path);
	log_set_level(LOG_WARNING);
	st = durable_open(dir, &en, &e);
	log_set_level(LOG_OFF);
	dup2(old, 2);
	close(old);
	require(st == ST_OK, "%s (%s)", e.message, e.detail);
	require(!has_text(path, "anew"), "the index was made anew");
	return en;
}

static void ask_ok(sqlite3 *h, const char *sql)
{
	sqlite3_stmt *stmt;

	require(sqlite3_prepare_v2(h, sql, -1, &stmt, NULL) == SQLITE_OK, "%s: %s", sql,
		sqlite3_errmsg(h));
	require(sqlite3_step(stmt) == SQLITE_ROW, "%s: %s", sql, sqlite3_errmsg(h));
	require(strcmp((const char *)sqlite3_column_text(stmt, 0), "ok") == 0, "%s: %s", sql,
		sqlite3_column_text(stmt, 0));
	sqlite3_finalize(stmt);
}

void durable_check_rows(const char *dir)
{
	char path[DURABLE_PATH + 16];
	sqlite3 *h;

	snprintf(path, sizeof(path), "%s/rcpd.db", dir);
	require(sqlite3_open_v2(path, &h, SQLITE_OPEN_READWRITE, NULL) == SQLITE_OK, "%s", path);
	sqlite3_busy_timeout(h, 10000);
	sqlite3_db_config(h, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
	ask_ok(h, "PRAGMA integrity_check");
	ask_ok(h, "SELECT iif(count(*) = 0, 'ok', 'bad') FROM pragma_foreign_key_check");
	ask_ok(h,
		"SELECT iif(documents = (SELECT count(*) FROM documents WHERE died IS NULL),"
		" 'ok', 'bad') FROM corpus");
	sqlite3_close(h);
}

/* ---- calls ---- */

static uint32_t mix(uint32_t a, uint32_t b)
{
	uint64_t x = ((uint64_t)a << 32 | b) * UINT64_C(0x9E3779B97F4A7C15);

	x ^= x >> 29;
	x *= UINT64_C(0xBF58476D1CE4E5B9);
	return (uint32_t)(x >> 32);
}

enum kind { ADD, DELETE, DELETE_PART, DELETE_OLD };

static enum kind kind_of(int writer, int call)
{
	static const enum kind kinds[] = { ADD, ADD, ADD, ADD, ADD, ADD, DELETE, DELETE,
		DELETE_PART, DELETE_OLD };

	return kinds[mix((uint32_t)writer, (uint32_t)call) % 10];
}

bool model_adds(int writer, int call)
{
	return kind_of(writer, call) == ADD;
}

unsigned call_slots(const struct writer *w, int writer, int call)
{
	uint32_t h = mix((uint32_t)writer + 100, (uint32_t)call);
	unsigned slots = 0;

	for (int s = 0; s < SLOTS; s++) {
		switch (kind_of(writer, call)) {
		case ADD:
		case DELETE:
			break;
		case DELETE_PART:
			slots |= (unsigned)((uint32_t)s % PARTS == h % PARTS) << s;
			break;
		case DELETE_OLD:
			slots |= (unsigned)(w->slot[s] < call - OLD_CALLS) << s;
			break;
		}
	}
	for (uint32_t i = 0; slots == 0 && i <= h % 3; i++)
		if (kind_of(writer, call) <= DELETE)
			slots |= 1U << ((h >> 8) + i * 5) % SLOTS;
	return slots;
}

void model_init(struct model *m)
{
	memset(m, 0, sizeof(*m));
	m->under_way = -1;
	for (int w = 0; w < WRITERS; w++) {
		m->writer[w].last_add = NO_CALL;
		for (int s = 0; s < SLOTS; s++)
			m->writer[w].slot[s] = NO_CALL;
	}
}

void model_apply(struct model *m, int writer, int call, uint64_t version)
{
	struct writer *w = &m->writer[writer];
	unsigned slots = call_slots(w, writer, call);

	for (int s = 0; s < SLOTS; s++) {
		if (!(slots >> s & 1))
			continue;
		if (w->slot[s] != NO_CALL) {
			w->dead[w->died % DEAD].call = w->slot[s];
			w->dead[w->died++ % DEAD].slot = s;
		}
		w->slot[s] = model_adds(writer, call) ? call : NO_CALL;
	}
	w->next = call + 1;
	if (version > m->version)
		m->version = version;
	if (model_adds(writer, call)) {
		w->last_add = call;
		w->last_version = version;
	}
}

void model_skip(struct model *m, int writer, int call)
{
	m->writer[writer].next = call + 1;
}

/* No vowels and no s: nothing that a stemmer would cut. */
void unique_word(int writer, int call, int slot, char word[16])
{
	static const char letters[] = "bcdfghjklmnpqrtv";
	uint32_t number = ((uint32_t)call * SLOTS + (uint32_t)slot) * WRITERS + (uint32_t)writer;

	word[0] = 'z';
	for (int i = 1; i < 9; i++, number /= 16)
		word[i] = letters[number % 16];
	word[9] = '\0';
}

bool is_long(int writer, int call, int slot)
{
	return mix((uint32_t)(writer * SLOTS + slot), (uint32_t)call + 7) % 4 == 0;
}

static void put_words(struct strbuf *text, uint32_t seed, unsigned n)
{
	static const char *const words[] = { "river", "stone", "garden", "winter", "paper",
		"window", "bridge", "market", "copper", "lantern", "harbour", "meadow", "engine",
		"letter", "candle", "mountain" };

	for (unsigned i = 0; i < n; i++) {
		uint32_t h = mix(seed, i);

		/* The first words are frequent, the last ones rare. */
		strbuf_adds(text, words[h % 16 & h >> 8 % 16]);
		strbuf_addc(text, i + 1 < n ? ' ' : '.');
	}
}

static struct bytes make_text(struct arena *arena, int writer, int call, int slot,
	struct engine_chunk *chunks, size_t *ret_chunks)
{
	uint32_t seed = mix((uint32_t)(writer * SLOTS + slot), (uint32_t)call);
	size_t n = is_long(writer, call, slot) ? LONG_CHUNKS : 1;
	struct strbuf text = STRBUF_INIT;
	struct bytes copy;
	char word[16];

	unique_word(writer, call, slot, word);
	for (size_t c = 0; c < n; c++) {
		uint32_t h = mix(seed, (uint32_t)c + 50);

		chunks[c] = (struct engine_chunk){ .byte_start = text.len };
		if (c == 0)
			strbuf_addf(&text, "%s ", word);
		put_words(&text, h, 3 + h % 12);
		chunks[c].byte_end = text.len;
		strbuf_addc(&text, '\n');
	}
	require(strbuf_ok(&text), "memory");
	copy = (struct bytes){ arena_dup(arena, text.data, text.len), text.len };
	strbuf_release(&text);
	*ret_chunks = n > 1 ? n : 0;
	return copy;
}

static void set_value(struct engine_value *v, const char *name, int64_t number)
{
	*v = (struct engine_value){ .field = bytes_of(name), .kind = ENGINE_V_INT, .i = number };
}

void make_document(struct arena *arena, int writer, int call, int slot, struct engine_document *ret)
{
	struct engine_chunk *chunks = arena_array(arena, LONG_CHUNKS, sizeof(*chunks));
	struct engine_value *values = arena_array(arena, 3, sizeof(*values));
	char id[24];

	require(chunks && values, "memory");
	set_value(&values[0], "writer", writer);
	set_value(&values[1], "part", slot % PARTS);
	set_value(&values[2], "call", call);
	slot_id(writer, slot, id);
	*ret = (struct engine_document){ .values = values, .value_count = 3, .chunks = chunks };
	ret->id = (struct bytes){ arena_dup(arena, id, strlen(id)), strlen(id) };
	ret->text = make_text(arena, writer, call, slot, chunks, &ret->chunk_count);
	ret->lang = bytes_of("en");
	if (call % 3 == 0)
		ret->title = bytes_of("river market");
	require(ret->id.data && ret->text.data, "memory");
}

void slot_id(int writer, int slot, char id[24])
{
	snprintf(id, 24, "w%d-slot%d", writer, slot);
}

static enum status add(struct engine *en, int writer, int call, unsigned slots, struct arena *arena,
	struct engine_commit *ret, struct error *e)
{
	struct engine_document docs[SLOTS];
	struct engine_once once = { .owner = bytes_of("durable"), .result = bytes_of("kept") };
	char key[32];
	size_t n = 0;

	snprintf(key, sizeof(key), "%d-%d", writer, call);
	once.key = bytes_of(key);
	memset(once.hash, 1, sizeof(once.hash));
	for (int s = 0; s < SLOTS; s++)
		if (slots >> s & 1)
			make_document(arena, writer, call, s, &docs[n++]);
	return engine_add(en, docs, n, &once, NULL, arena, ret, e);
}

static enum status delete (struct engine *en, int writer, unsigned slots, struct engine_commit *ret,
	struct error *e) {
	struct bytes ids[SLOTS]; char names[SLOTS][24]; size_t n = 0;

	for (int s = 0; s < SLOTS; s++){
		if (slots >> s & 1){ slot_id(writer, s, names[s]); ids[n++] = bytes_of(names[s]); }
}
return engine_delete(en, ids, n, NULL, ret, e);
}

void make_leaf(struct engine *en, const char *field, enum engine_op op, struct engine_scalar *v,
	struct engine_filter *ret)
{
	*ret = (struct engine_filter){ .kind = ENGINE_LEAF,
		.op = op,
		.values = v,
		.value_count = 1 };
	require(engine_field_find(en, bytes_of(field), &ret->field), "no field %s", field);
}

static enum status delete_where(struct engine *en, int writer, int call, struct engine_commit *ret,
	struct error *e)
{
	struct engine_scalar of = { .i = writer }, limit = { .i = call - OLD_CALLS };
	struct engine_filter both[2], all = { .kind = ENGINE_AND, .children = both, .count = 2 };

	make_leaf(en, "writer", ENGINE_EQ, &of, &both[0]);
	if (kind_of(writer, call) == DELETE_OLD) {
		make_leaf(en, "call", ENGINE_LT, &limit, &both[1]);
	} else {
		limit.i = mix((uint32_t)writer + 100, (uint32_t)call) % PARTS;
		make_leaf(en, "part", ENGINE_EQ, &limit, &both[1]);
	}
	return engine_delete_where(en, &all, NULL, ret, e);
}

enum status durable_call(struct engine *en, int writer, int call, struct engine_commit *ret,
	struct error *e)
{
	static const struct writer nobody;
	unsigned slots = call_slots(&nobody, writer, call); /* of no use for DELETE_OLD */
	struct arena arena;
	enum status st;

	arena_init(&arena, 0);
	switch (kind_of(writer, call)) {
	case ADD:
		st = add(en, writer, call, slots, &arena, ret, e);
		break;
	case DELETE:
		st = delete (en, writer, slots, ret, e);
		break;
	default:
		st = delete_where(en, writer, call, ret, e);
	}
	if (!st && ret->repeated)
		require(bytes_eq(ret->result, bytes_of("kept")), "another answer than then");
	arena_release(&arena);
	return st;
}
