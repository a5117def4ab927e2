/*
 * prepare.c: what of a write needs no lock, and is most of its work: checking the
 * documents, settling which of equal ids counts, guessing languages, counting code
 * points, analysing texts. Everything lands in the request's arena.
 */
#include "engine/private.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "util/hash.h"
#include "util/utf8.h"

#define GUESS_BYTES 32768       /* of HTML, where a language is guessed */
#define MAX_SEEN ((size_t)4096) /* distinct names in a call; values under later ones go */

struct preparation {
	struct engine *en;
	struct arena *arena;
	const struct engine_stop *stop;
	struct analyzer *analyzer;
	struct departures departures;
	struct additions *out;
	struct error *e;
	uint32_t *slots; /* of seen fields: open addressing, 1 + place */
};

static enum status bad(struct error *e, size_t i, const char *what, const char *why)
{
	char field[64];

	snprintf(field, sizeof(field), "documents[%zu].%s", i, what);
	return error_field(e, ST_INVALID, field, "%s", why);
}

static enum status check_chunks(const struct engine_document *doc, size_t i, struct error *e)
{
	uint64_t before = 0;

	if (doc->chunk_count > ENGINE_MAX_CHUNKS)
		return bad(e, i, "text", "a document has too many chunks");
	for (size_t c = 0; c < doc->chunk_count; c++) {
		const struct engine_chunk *chunk = &doc->chunks[c];

		if (chunk->byte_start < before || chunk->byte_start >= chunk->byte_end ||
			chunk->byte_end > doc->text.len)
			return bad(e, i, "text", "a chunk lies outside of the text");
		before = chunk->byte_start;
	}
	return ST_OK;
}

static enum status check_document(const struct engine_document *doc, size_t i, struct error *e)
{
	if (!doc->id.data || doc->id.len == 0 || doc->id.len > ENGINE_MAX_ID)
		return bad(e, i, "id", "an id has 1 to 1024 bytes");
	if (!doc->text.data || !utf8_valid(doc->text.data, doc->text.len))
		return bad(e, i, "text", "a document's text is valid UTF-8");
	return check_chunks(doc, i, e);
}

/* ---- equal ids ---- */

/* Order of document numbers: by id, and among equal ids the last one first. */
static int compare_ids(const void *a, const void *b, void *arg)
{
	const struct engine_document *docs = *(const struct engine_document *const *)arg;
	size_t x = *(const size_t *)a, y = *(const size_t *)b;
	int c = bytes_cmp(docs[x].id, docs[y].id);

	return c ? c : (x < y) - (x > y);
}

/* *ret[i]: document i is followed by one with the same id. n log n, in the arena. */
static enum status find_superseded(const struct engine_document *docs, size_t n,
	struct arena *arena, bool **ret, struct error *e)
{
	size_t *order = arena_array(arena, n ? n : 1, sizeof(*order));
	bool *superseded = arena_array(arena, n ? n : 1, sizeof(*superseded));

	if (!order || !superseded)
		return engine_no_memory(e);
	for (size_t i = 0; i < n; i++)
		order[i] = i;
	qsort_r(order, n, sizeof(*order), compare_ids, &docs);
	for (size_t i = 1; i < n; i++)
		superseded[order[i]] = bytes_eq(docs[order[i]].id, docs[order[i - 1]].id);
	*ret = superseded;
	return ST_OK;
}

/* ---- values ---- */

/* The place of a name among those seen, made if new; VALUES_NO_FIELD if there is no
 * room for it. */
static size_t seen_place(struct preparation *p, struct bytes name)
{
	struct additions *out = p->out;
	size_t mask = 2 * MAX_SEEN - 1;
	size_t slot = hash_bytes(name.data, name.len) & mask;

	for (; p->slots[slot]; slot = (slot + 1) & mask)
		if (bytes_eq(out->seen[p->slots[slot] - 1].name, name))
			return p->slots[slot] - 1;
	if (out->seen_count == MAX_SEEN)
		return VALUES_NO_FIELD;
	out->seen[out->seen_count] = (struct seen_field){ .name = name, .number = VALUES_NO_FIELD };
	p->slots[slot] = (uint32_t)++out->seen_count;
	return out->seen_count - 1;
}

static enum status check_declared(struct preparation *p, size_t i, const struct engine_value *v)
{
	char field[ENGINE_MAX_FIELD_NAME + 64];
	enum engine_type type;

	if (!fields_declared(&p->en->fields, v->field, &type) || filter_suits(type, v))
		return ST_OK;
	snprintf(field, sizeof(field), "documents[%zu].meta.%.*s", i, (int)v->field.len,
		v->field.data);
	return error_field(p->e, ST_INVALID, field, "the field is declared as %s",
		engine_type_name(type));
}

static enum status prepare_meta(struct preparation *p, const struct engine_document *doc, size_t i,
	struct prepared *ret)
{
	enum status st;

	ret->values = arena_array(p->arena, doc->value_count ? doc->value_count : 1,
		sizeof(*ret->values));
	if (!ret->values)
		return engine_no_memory(p->e);
	for (size_t j = 0; j < doc->value_count; j++) {
		const struct engine_value *v = &doc->values[j];
		size_t place = VALUES_NO_FIELD;

		st = check_declared(p, i, v);
		if (st)
			return st;
		if (v->kind == ENGINE_V_REAL && !isfinite(v->r))
			continue;
		if (v->field.len > 0 && v->field.len <= ENGINE_MAX_FIELD_NAME)
			place = seen_place(p, v->field);
		if (place == VALUES_NO_FIELD) {
			p->out->unfielded++;
			continue;
		}
		fields_see(&p->out->seen[place], v);
		ret->values[ret->value_count++] = (struct filter_value){ place, *v };
	}
	return ST_OK;
}

/* ---- vectors ---- */

/* Rows of a stored space come with the document, if it is the one that is active. */
static enum status take_vectors(struct preparation *p, const struct engine_document *doc, size_t i,
	struct prepared *ret)
{
	const struct dense *d = p->out->dense;
	size_t n;

	if (!doc->vectors || doc->space != d->space.number)
		return ST_OK;
	n = ret->row.chunk_count * d->space.dimension;
	for (size_t j = 0; j < n; j++)
		if (!isfinite(doc->vectors[j]))
			return bad(p->e, i, "vector", "a vector's components are finite numbers");
	ret->vectors = arena_array(p->arena, n, sizeof(*ret->vectors));
	if (!ret->vectors)
		return engine_no_memory(p->e);
	memcpy(ret->vectors, doc->vectors, n * sizeof(*ret->vectors));
	return ST_OK;
}

static enum status make_vectors(struct preparation *p, const struct engine_document *doc, size_t i,
	struct prepared *ret)
{
	const struct dense *d = p->out->dense;
	size_t n = d ? d->space.dimension : 0;
	struct arena scratch;
	enum status st = ST_OK;

	if (!d)
		return ST_OK;
	if (!d->space.derived)
		return take_vectors(p, doc, i, ret);
	ret->vectors = arena_array(p->arena, ret->row.chunk_count, n * sizeof(*ret->vectors));
	if (!ret->vectors)
		return engine_no_memory(p->e);
	arena_init(&scratch, 0);
	for (size_t c = 0; !st && c < ret->row.chunk_count; c++) {
		struct store_row row = prepared_row(&ret->row, c);

		if (engine_stopped(p->stop))
			st = error_set(p->e, ST_CANCELLED, "cancelled");
		else
			st = dense_embed(d, &row, &scratch, ret->vectors + c * n, p->e);
	}
	arena_release(&scratch);
	return st;
}

/* ---- chunks ---- */

/* Of HTML, what a person reads; the tags are English to any guesser. */
static enum status guess(struct bytes text, enum text_format format, enum text_lang *ret)
{
	struct strbuf plain = STRBUF_INIT;
	enum status st = ST_OK;

	if (format == TEXT_HTML) {
		text.len = utf8_floor(text.data, text.len,
			text.len < GUESS_BYTES ? text.len : GUESS_BYTES);
		st = text_plain(text, format, &plain, &text);
	}
	if (!st)
		*ret = text_lang_detect(text);
	strbuf_release(&plain);
	return st;
}

static enum status find_language(const struct engine *en, const struct engine_document *doc,
	enum text_lang *ret, struct error *e)
{
	if (doc->lang.data && doc->lang.len > 0) {
		*ret = text_lang_parse(doc->lang); /* an unknown one: without stems */
		return ST_OK;
	}
	if (guess(doc->text, doc->format, ret))
		return engine_no_memory(e);
	if (*ret == TEXT_LANG_NONE && doc->title.data)
		*ret = text_lang_detect(doc->title);
	if (*ret == TEXT_LANG_NONE)
		*ret = en->language;
	return ST_OK;
}

static enum status place_chunks(struct preparation *p, const struct engine_document *doc,
	struct prepared *ret)
{
	size_t n = doc->chunk_count ? doc->chunk_count : 1;
	struct store_chunk *chunks = arena_array(p->arena, n, sizeof(*chunks));
	uint64_t at = 0, cp = 0;

	if (!chunks)
		return engine_no_memory(p->e);
	for (size_t c = 0; c < doc->chunk_count; c++) {
		const struct engine_chunk *chunk = &doc->chunks[c];
		size_t len = chunk->byte_end - chunk->byte_start;

		cp += utf8_count(doc->text.data + at, chunk->byte_start - at);
		at = chunk->byte_start;
		chunks[c] = (struct store_chunk){ .byte_start = at,
			.byte_end = chunk->byte_end,
			.cp_start = cp,
			.cp_end = cp + utf8_count(doc->text.data + at, len),
			.context = chunk->context };
	}
	if (doc->chunk_count == 0) {
		chunks[0].byte_end = doc->text.len;
		chunks[0].cp_end = utf8_count(doc->text.data, doc->text.len);
	}
	ret->row.chunks = chunks;
	ret->row.chunk_count = n;
	return ST_OK;
}

static enum status analyze_chunks(struct preparation *p, struct prepared *ret)
{
	const struct store_document *doc = &ret->row;
	enum status st = ST_OK;

	ret->bags = arena_array(p->arena, doc->chunk_count, sizeof(*ret->bags));
	if (!ret->bags)
		return engine_no_memory(p->e);
	for (size_t c = 0; !st && c < doc->chunk_count; c++) {
		struct store_row row = prepared_row(doc, c);
		struct bag bag;

		if (engine_stopped(p->stop))
			return error_set(p->e, ST_CANCELLED, "cancelled");
		st = analyzer_bag(p->analyzer, &row, &bag, p->e);
		if (!st)
			st = bag_copy(&bag, p->arena, &ret->bags[c], p->e);
	}
	return st;
}

static enum status prepare_document(struct preparation *p, const struct engine_document *doc,
	size_t i)
{
	struct prepared *ret = &p->out->docs[p->out->n];
	enum status st;

	ret->row = (struct store_document){ .id = doc->id,
		.text = doc->text,
		.meta = doc->meta,
		.title = doc->title,
		.uri = doc->uri,
		.source = doc->source,
		.lang = doc->lang,
		.format = doc->format,
		.contextual = doc->contextual };
	st = find_language(p->en, doc, &ret->row.analysis, p->e);
	if (!st)
		st = prepare_meta(p, doc, i, ret);
	if (!st)
		st = place_chunks(p, doc, ret);
	if (!st)
		st = analyze_chunks(p, ret);
	if (!st)
		st = make_vectors(p, doc, i, ret);
	if (!st)
		st = departure_make(&p->departures, doc->id, &ret->leaving, p->e);
	if (!st)
		p->out->n++;
	return st;
}

static enum status make_room(struct preparation *p, size_t n)
{
	p->out->docs = arena_array(p->arena, n ? n : 1, sizeof(*p->out->docs));
	p->out->seen = arena_array(p->arena, MAX_SEEN, sizeof(*p->out->seen));
	p->slots = arena_array(p->arena, 2 * MAX_SEEN, sizeof(*p->slots));
	if (!p->out->docs || !p->out->seen || !p->slots)
		return engine_no_memory(p->e);
	return ST_OK;
}

struct store_row prepared_row(const struct store_document *doc, size_t c)
{
	const struct store_chunk *chunk = &doc->chunks[c];

	return (struct store_row){ .no = (uint32_t)c,
		.doc_id = doc->id,
		.title = doc->title,
		.context = chunk->context,
		.text = { doc->text.data + chunk->byte_start, chunk->byte_end - chunk->byte_start },
		.format = doc->format,
		.analysis = doc->analysis,
		.contextual = doc->contextual };
}

void additions_release(struct additions *add)
{
	dense_unref(add->dense);
	add->dense = NULL;
}

enum status prepare(struct engine *en, const struct engine_document *docs, size_t n,
	const struct engine_stop *stop, struct arena *arena, struct additions *ret, struct error *e)
{
	struct preparation p = { .en = en,
		.arena = arena,
		.stop = stop,
		.departures = { .en = en, .arena = arena, .stop = stop },
		.out = ret,
		.e = e };
	bool *superseded = NULL;
	enum status st = ST_OK;

	*ret = (struct additions){ .dense = dense_current(en) };
	for (size_t i = 0; !st && i < n; i++)
		st = check_document(&docs[i], i, e);
	if (!st)
		st = find_superseded(docs, n, arena, &superseded, e);
	if (!st)
		st = make_room(&p, n);
	if (!st)
		st = analyzer_take(&en->analyzers, &p.analyzer, e);
	for (size_t i = 0; !st && i < n; i++)
		if (!superseded[i])
			st = prepare_document(&p, &docs[i], i);
	analyzer_put(&en->analyzers, p.analyzer);
	departures_release(&p.departures);
	return st;
}

enum status prepare_values(struct engine *en, const struct engine_document *docs, size_t n,
	struct arena *arena, struct additions *ret, struct error *e)
{
	struct preparation p = { .en = en, .arena = arena, .out = ret, .e = e };
	enum status st;

	*ret = (struct additions){ .n = 0 };
	st = make_room(&p, n);
	for (size_t i = 0; !st && i < n; i++, ret->n++)
		st = prepare_meta(&p, &docs[i], i, &ret->docs[i]);
	return st;
}
