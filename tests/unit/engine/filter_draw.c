/* filter_draw.c: random schemas, chunks and trees (filter_model.h). */
#include "filter_model.h"

#include <float.h>
#include <stdio.h>
#include <stdlib.h>

/* Texts of instants, and what they are in milliseconds. */
static const struct {
	const char *text;
	int64_t ms;
} dates[] = {
	{ "1970-01-01", 0 },
	{ "1970-01-01T00:00:00Z", 0 },
	{ "1969-12-31T23:59:59.999Z", -1 },
	{ "2024-01-01T00:30:00+02:00", 1704061800000 },
	{ "2023-12-31T22:30:00Z", 1704061800000 },
	{ "2023-12-31T22:45:00Z", 1704062700000 },
	{ "2024-01-01", 1704067200000 },
	{ "2024-02-29T12:00:00.5Z", 1709208000500 },
};
#define DATES (sizeof(dates) / sizeof(dates[0]))

static const char *const no_dates[] = { "2023-02-30", "yesterday", "", "1704062700000" };

static char too_long[ENGINE_MAX_KEYWORD + 2];

uint64_t fm_next(struct fm_rng *r)
{
	uint64_t x = r->state += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

uint32_t fm_below(struct fm_rng *r, uint32_t n)
{
	return (uint32_t)(fm_next(r) % n);
}

static void make_words(struct fm *m)
{
	static const char letters[] = "ab";

	memset(too_long, 'a', sizeof(too_long) - 1);
	for (size_t i = 0; i < FM_WORDS; i++) {
		m->word_len[i] = i == 0 ? 0 : 1 + fm_below(&m->rng, FM_WORD_SIZE - 1);
		for (size_t k = 0; k < m->word_len[i]; k++)
			m->word[i][k] = i % 50 == 7 && k == 1 ? '\0'
							      : letters[fm_below(&m->rng, 2)];
	}
}

void fm_define(struct fm *m)
{
	char name[16];
	size_t no = 99;
	enum engine_type type = (enum engine_type)fm_below(&m->rng, ENGINE_TYPE_COUNT);

	(void)snprintf(name, sizeof(name), "field%zu", m->field_count);
	assert_int_equal(filter_define(m->f, bytes_of(name), type, &no, NULL), ST_OK);
	assert_int_equal(no, m->field_count);
	m->types[m->field_count++] = type;
}

void fm_init(struct fm *m, uint64_t seed, size_t max, size_t fields, size_t cache_bytes)
{
	struct filter_options opt = { FM_FIELDS, cache_bytes };
	static const uint32_t widths[] = { 3, 200, 40000, 2000000, UINT32_MAX };

	memset(m, 0, sizeof(*m));
	m->rng.state = seed;
	assert_int_equal(filter_new(&opt, &m->f, NULL), ST_OK);
	make_words(m);
	m->words = 2 + fm_below(&m->rng, FM_WORDS - 2);
	m->wide = widths[fm_below(&m->rng, 5)];
	m->filled = fm_below(&m->rng, 4) ? 80 : 8;
	m->room = max;
	m->chunks = calloc(max, sizeof(m->chunks[0]));
	assert_non_null(m->chunks);
	while (m->field_count < fields)
		fm_define(m);
}

void fm_release(struct fm *m)
{
	filter_free(m->f);
	for (size_t i = 0; i < m->count; i++)
		free(m->chunks[i].values);
	free(m->chunks);
}

static int64_t number(const struct fm *m, struct fm_rng *r)
{
	static const int64_t edges[] = { 0, 1, -1, INT64_MAX, INT64_MIN, INT64_MAX - 1,
		INT64_C(1) << 53 };

	if (fm_below(r, 300) == 0)
		return edges[fm_below(r, 7)];
	return (int64_t)fm_below(r, m->wide) - (fm_below(r, 8) == 0 ? m->wide / 2 : 0);
}

static double real(const struct fm *m, struct fm_rng *r)
{
	static const double edges[] = { 0.0, -0.0, DBL_MAX, -DBL_MAX, DBL_MIN, 5e-324, -5e-324 };

	if (fm_below(r, 30) == 0)
		return edges[fm_below(r, 7)];
	return (double)number(m, r) / (double)(1 + fm_below(r, 4));
}

static struct bytes word(const struct fm *m, struct fm_rng *r)
{
	/* Some are much more frequent than others. */
	uint32_t i = fm_below(r, 1 + fm_below(r, m->words));

	return (struct bytes){ m->word[i], m->word_len[i] };
}

/* A value that suits the type: raw and as the model has it. */
static void draw_good(struct fm *m, enum engine_type type, struct engine_value *v,
	struct fm_value *good)
{
	struct fm_rng *r = &m->rng;
	uint32_t date = fm_below(r, DATES);

	switch (type) {
	case ENGINE_KEYWORD:
	case ENGINE_PROSE:
		v->kind = ENGINE_V_STRING;
		good->s = v->s = word(m, r);
		break;
	case ENGINE_FLOAT:
		v->kind = fm_below(r, 4) ? ENGINE_V_REAL : ENGINE_V_INT;
		v->r = real(m, r);
		v->i = number(m, r);
		good->r = v->kind == ENGINE_V_REAL ? v->r : (double)v->i;
		break;
	case ENGINE_INT:
		v->kind = fm_below(r, 8) ? ENGINE_V_INT : ENGINE_V_REAL;
		v->i = number(m, r);
		if (v->kind == ENGINE_V_REAL)
			v->i %= INT64_C(1) << 52;
		v->r = (double)v->i;
		good->i = v->i;
		break;
	case ENGINE_BOOL:
		v->kind = ENGINE_V_BOOL;
		good->i = v->i = fm_below(r, 2);
		break;
	case ENGINE_DATE:
		v->kind = fm_below(r, 2) ? ENGINE_V_STRING : ENGINE_V_INT;
		v->s = bytes_of(dates[date].text);
		v->i = number(m, r);
		good->i = v->kind == ENGINE_V_STRING ? dates[date].ms : v->i;
		break;
	}
}

static void draw_bad(struct fm *m, enum engine_type type, struct engine_value *v)
{
	static const double no_ints[] = { 0.5, 9007199254740992.0, -1e300, 1e17 };
	struct fm_rng *r = &m->rng;

	v->kind = ENGINE_V_BOOL;
	if (type == ENGINE_BOOL)
		v->kind = fm_below(r, 2) ? ENGINE_V_INT : ENGINE_V_STRING;
	if (type == ENGINE_INT && fm_below(r, 2)) {
		v->kind = ENGINE_V_REAL;
		v->r = no_ints[fm_below(r, 4)];
	} else if (type == ENGINE_DATE && fm_below(r, 2)) {
		v->kind = fm_below(r, 2) ? ENGINE_V_REAL : ENGINE_V_STRING;
		v->s = bytes_of(no_dates[fm_below(r, 4)]);
	} else if (type == ENGINE_KEYWORD || type == ENGINE_PROSE) {
		v->kind = fm_below(r, 2) ? ENGINE_V_STRING : ENGINE_V_INT;
		v->s = bytes_of(too_long);
	}
}

size_t fm_draw(struct fm *m, struct filter_value raw[FM_VALUES], struct fm_value good[FM_VALUES],
	size_t *ret_good)
{
	struct fm_rng *r = &m->rng;
	size_t n = 0, kept = 0;

	for (size_t f = 0; f < m->field_count; f++) {
		size_t many = fm_below(r, 12) == 0 ? 1 + fm_below(r, 6) : 1;
		bool array = many > 1 || fm_below(r, 6) == 0;

		if (fm_below(r, 100) >= m->filled)
			continue;
		for (size_t i = 0; i < many && n < FM_VALUES; i++, n++) {
			raw[n] = (struct filter_value){ .field = f, .v = { .element = array } };
			if (fm_below(r, 20) == 0) {
				draw_bad(m, m->types[f], &raw[n].v);
				continue;
			}
			good[kept] = (struct fm_value){ .field = (uint32_t)f, .element = array };
			draw_good(m, m->types[f], &raw[n].v, &good[kept++]);
		}
	}
	*ret_good = kept;
	return n;
}

enum status fm_add(struct fm *m, uint32_t step)
{
	struct filter_value raw[FM_VALUES];
	struct fm_value good[FM_VALUES];
	struct fm_chunk *c = &m->chunks[m->count];
	uint64_t contradictions = 0;
	size_t kept, n = fm_draw(m, raw, good, &kept);
	enum status st = filter_add(m->f, m->key + step, raw, n, &contradictions, NULL);

	assert_true(m->count < m->room);
	if (st != ST_OK) {
		assert_int_equal(contradictions, 0);
		return st;
	}
	assert_int_equal(contradictions, n - kept);
	m->key += step;
	c->key = m->key;
	c->n = kept;
	c->values = calloc(kept + 1, sizeof(c->values[0]));
	assert_non_null(c->values);
	memcpy(c->values, good, kept * sizeof(good[0]));
	m->count++;
	return ST_OK;
}

void fm_forget(struct fm *m, size_t chunk)
{
	atomic_store(&m->chunks[chunk].dead, true);
	filter_forget(m->f, m->chunks[chunk].key);
}

static void draw_scalar(const struct fm *m, struct fm_rng *r, enum engine_type type,
	enum engine_op op, struct engine_scalar *ret)
{
	*ret = (struct engine_scalar){ .i = number(m, r), .r = real(m, r), .s = word(m, r) };
	if (type == ENGINE_BOOL || op == ENGINE_EXISTS)
		ret->i = fm_below(r, 2);
	if (type == ENGINE_DATE && op != ENGINE_EXISTS && fm_below(r, 2))
		ret->i = dates[fm_below(r, DATES)].ms;
	if (op == ENGINE_CONTAINS && fm_below(r, 2)) {
		size_t from = ret->s.len ? fm_below(r, (uint32_t)ret->s.len) : 0;

		ret->s.data += from;
		ret->s.len = (ret->s.len - from) % 4;
	}
}

static void draw_leaf(const struct fm *m, struct fm_rng *r, size_t fields, struct arena *a,
	struct engine_filter *f)
{
	enum engine_type type;

	f->kind = ENGINE_LEAF;
	f->field = fm_below(r, 40) == 0 ? fields : fm_below(r, (uint32_t)fields);
	type = f->field < fields ? m->types[f->field] : ENGINE_INT;
	do {
		f->op = (enum engine_op)fm_below(r, ENGINE_EXISTS + 1);
	} while (!engine_op_suits(f->op, type));
	f->value_count = 1;
	if (f->op == ENGINE_IN || f->op == ENGINE_NIN)
		f->value_count = 1 + fm_below(r, fm_below(r, 3) ? 6 : 300);
	f->values = arena_array(a, f->value_count, sizeof(f->values[0]));
	for (size_t i = 0; i < f->value_count; i++)
		draw_scalar(m, r, type, f->op, &f->values[i]);
}

static void draw_node(const struct fm *m, struct fm_rng *r, size_t fields, unsigned depth,
	struct arena *a, struct engine_filter *f)
{
	uint32_t kind = depth > 1 ? fm_below(r, 5) : 4;

	if (kind >= 3) {
		draw_leaf(m, r, fields, a, f);
		return;
	}
	f->kind = (enum engine_filter_kind)kind;
	f->count = kind == ENGINE_NOT ? 1 : 1 + fm_below(r, 4);
	f->children = arena_array(a, f->count, sizeof(f->children[0]));
	for (size_t i = 0; i < f->count; i++)
		draw_node(m, r, fields, depth - 1, a, &f->children[i]);
}

struct engine_filter *fm_tree(const struct fm *m, struct fm_rng *r, size_t fields, unsigned depth,
	struct arena *a)
{
	struct engine_filter *f = arena_zero(a, sizeof(*f));

	draw_node(m, r, fields, depth, a, f);
	return f;
}
