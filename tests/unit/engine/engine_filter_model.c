/* engine_filter_model.c: values and filters of engine_model.h, judged one value at a
 * time by the words of engine.h. */
#include "engine_model.h"

#include <math.h>
#include <stdio.h>

#include "util/date.h"

#define LEAF_VALUES 3

const struct engine_declared model_declared[1] = { { { "float", 5 }, ENGINE_FLOAT } };

static const struct {
	const char *name;
	enum engine_type type;
} fields[MODEL_FIELDS] = {
	[FIELD_FLOAT] = { "float", ENGINE_FLOAT },
	[FIELD_WORD] = { "word", ENGINE_KEYWORD },
	[FIELD_INT] = { "int", ENGINE_INT },
	[FIELD_BOOL] = { "bool", ENGINE_BOOL },
	[FIELD_DATE] = { "date", ENGINE_DATE },
	[FIELD_PROSE] = { "prose", ENGINE_PROSE },
};

static char long_string[5000]; /* filled at first use */

const char *model_field_name(size_t field)
{
	return fields[field].name;
}

static const char *const colors[] = { "red", "green", "blue", "reddish", "", "r" };
static const char *const dates[] = { "2020-01-01", "2020-01-01T00:00:00Z", "1969-12-31",
	"2024-02-29T12:34:56.789Z" };
static const double numbers[] = { -2, -0.5, 0, 0.5, 1, 2, 1e300 };

static struct bytes pick(struct model *m, const char *const *from, uint32_t n)
{
	return bytes_of(from[model_below(&m->rng, n)]);
}

void model_first_value(struct model_doc *d, size_t i, size_t field)
{
	struct engine_value *v = &d->values[i];

	memset(long_string, 'l', sizeof long_string);
	memcpy(long_string, "red words and ", 14);
	*v = (struct engine_value){ .field = bytes_of(fields[field].name), .r = 1.5, .i = 1 };
	switch (fields[field].type) {
	case ENGINE_KEYWORD:
		v->s = bytes_of("red");
		break;
	case ENGINE_PROSE:
		v->s = (struct bytes){ long_string, 400 };
		break;
	case ENGINE_DATE:
		v->s = bytes_of(dates[0]);
		break;
	case ENGINE_INT:
		v->kind = ENGINE_V_INT;
		break;
	case ENGINE_FLOAT:
		v->kind = ENGINE_V_REAL;
		break;
	case ENGINE_BOOL:
		v->kind = ENGINE_V_BOOL;
		break;
	}
}

static void draw_number(struct model *m, struct engine_value *v)
{
	if (model_below(&m->rng, 2)) {
		v->kind = ENGINE_V_INT;
		v->i = (int64_t)model_below(&m->rng, 7) - 3;
	} else {
		v->kind = ENGINE_V_REAL;
		v->r = numbers[model_below(&m->rng, 7)];
	}
}

void model_draw_value(struct model *m, struct model_doc *d, size_t i, size_t field, bool element)
{
	struct engine_value *v = &d->values[i];
	bool odd = model_below(&m->rng, 12) == 0 && field != FIELD_FLOAT;

	*v = (struct engine_value){ .field = bytes_of(fields[field].name), .element = element };
	if (odd) /* of another field's type, or too long */
		field = model_below(&m->rng, 2) ? FIELD_INT : FIELD_WORD;
	switch (fields[field].type) {
	case ENGINE_KEYWORD:
		v->s = odd ? (struct bytes){ long_string, 5000 } : pick(m, colors, 6);
		break;
	case ENGINE_PROSE:
		snprintf(d->strings[i], sizeof d->strings[i], "%s and %s", pick(m, colors, 6).data,
			pick(m, colors, 6).data);
		v->s = bytes_of(d->strings[i]);
		break;
	case ENGINE_DATE:
		v->s = pick(m, dates, 4);
		break;
	case ENGINE_INT:
	case ENGINE_FLOAT:
		draw_number(m, v);
		break;
	case ENGINE_BOOL:
		v->kind = ENGINE_V_BOOL;
		v->i = model_below(&m->rng, 2);
		break;
	}
}

/* ---- trees ---- */

static struct engine_scalar draw_scalar(struct model *m, enum engine_type type)
{
	struct engine_scalar s = { 0 };
	struct engine_value v = { .r = 0 };

	switch (type) {
	case ENGINE_KEYWORD:
		s.s = pick(m, colors, 6);
		break;
	case ENGINE_PROSE:
		s.s = pick(m, (const char *const[]){ "red and blue", "red", "and", "h and r" }, 4);
		break;
	case ENGINE_DATE:
		date_parse(pick(m, dates, 4), &s.i);
		break;
	case ENGINE_INT:
		s.i = (int64_t)model_below(&m->rng, 7) - 3;
		break;
	case ENGINE_FLOAT:
		draw_number(m, &v);
		s.r = v.kind == ENGINE_V_INT ? (double)v.i : v.r;
		break;
	case ENGINE_BOOL:
		s.i = model_below(&m->rng, 2);
		break;
	}
	return s;
}

static void draw_leaf(struct model *m, struct arena *arena, struct engine_filter *f)
{
	bool several;

	f->kind = ENGINE_LEAF;
	f->field = model_below(&m->rng, MODEL_FIELDS);
	do
		f->op = (enum engine_op)model_below(&m->rng, ENGINE_EXISTS + 1);
	while (!engine_op_suits(f->op, fields[f->field].type));
	several = f->op == ENGINE_IN || f->op == ENGINE_NIN;
	f->value_count = several ? 1 + model_below(&m->rng, LEAF_VALUES) : 1;
	f->values = arena_array(arena, LEAF_VALUES, sizeof *f->values);
	if (!f->values)
		abort();
	for (size_t i = 0; i < f->value_count; i++)
		f->values[i] = draw_scalar(m, fields[f->field].type);
	if (f->op == ENGINE_EXISTS)
		f->values[0] = (struct engine_scalar){ .i = model_below(&m->rng, 2) };
}

struct engine_filter *model_draw_filter(struct model *m, struct arena *arena, unsigned depth)
{
	struct engine_filter *f = arena_zero(arena, sizeof *f);

	if (!f)
		abort();
	f->kind = (enum engine_filter_kind)model_below(&m->rng, 4);
	if (depth == 0 || f->kind == ENGINE_LEAF) {
		draw_leaf(m, arena, f);
		return f;
	}
	f->count = f->kind == ENGINE_NOT ? 1 : 1 + model_below(&m->rng, 3);
	f->children = arena_array(arena, f->count, sizeof *f->children);
	if (!f->children)
		abort();
	for (size_t i = 0; i < f->count; i++)
		f->children[i] = *model_draw_filter(m, arena, depth - 1);
	return f;
}

/* ---- judging ---- */

/* A value in its field's type; false if it does not suit it. */
static bool convert(enum engine_type type, const struct engine_value *v, struct engine_scalar *ret)
{
	*ret = (struct engine_scalar){ .i = v->i, .r = v->r, .s = v->s };
	switch (type) {
	case ENGINE_KEYWORD:
	case ENGINE_PROSE:
		return v->kind == ENGINE_V_STRING && v->s.len <= ENGINE_MAX_KEYWORD;
	case ENGINE_DATE:
		return v->kind == ENGINE_V_INT ||
			(v->kind == ENGINE_V_STRING && date_parse(v->s, &ret->i));
	case ENGINE_INT:
		if (v->kind != ENGINE_V_REAL)
			return v->kind == ENGINE_V_INT;
		if (v->r != floor(v->r) || fabs(v->r) > 9007199254740992.0)
			return false;
		ret->i = (int64_t)v->r;
		return true;
	case ENGINE_FLOAT:
		if (v->kind == ENGINE_V_INT)
			ret->r = (double)v->i;
		return v->kind == ENGINE_V_INT || v->kind == ENGINE_V_REAL;
	case ENGINE_BOOL:
		return v->kind == ENGINE_V_BOOL;
	}
	return false;
}

static int compare(enum engine_type type, const struct engine_scalar *a,
	const struct engine_scalar *b)
{
	if (type == ENGINE_FLOAT)
		return (a->r > b->r) - (a->r < b->r);
	if (type == ENGINE_KEYWORD || type == ENGINE_PROSE)
		return bytes_cmp(a->s, b->s);
	return (a->i > b->i) - (a->i < b->i);
}

static bool contains(enum engine_type type, bool element, struct bytes s, struct bytes part)
{
	if (type == ENGINE_KEYWORD && element)
		return bytes_eq(s, part);
	return part.len == 0 || memmem(s.data, s.len, part.data, part.len) != NULL;
}

/* A positive leaf about one value. */
static bool value_passes(const struct engine_filter *f, enum engine_type type, bool element,
	const struct engine_scalar *v)
{
	int c = compare(type, v, &f->values[0]);

	switch (f->op) {
	case ENGINE_GT:
		return c > 0;
	case ENGINE_GTE:
		return c >= 0;
	case ENGINE_LT:
		return c < 0;
	case ENGINE_LTE:
		return c <= 0;
	case ENGINE_CONTAINS:
		return contains(type, element, v->s, f->values[0].s);
	case ENGINE_EXISTS:
		return true;
	case ENGINE_EQ:
	case ENGINE_NE:
	case ENGINE_IN:
	case ENGINE_NIN:
		break;
	}
	for (size_t i = 0; i < f->value_count; i++)
		if (compare(type, v, &f->values[i]) == 0)
			return true;
	return false;
}

static bool leaf_passes(const struct model_doc *d, const struct engine_filter *f)
{
	bool negative = f->op == ENGINE_NE || f->op == ENGINE_NIN ||
		(f->op == ENGINE_EXISTS && f->values[0].i == 0);
	enum engine_type type = fields[f->field].type;
	struct bytes name = bytes_of(fields[f->field].name);
	bool any = false;

	for (size_t i = 0; i < d->doc.value_count; i++) {
		const struct engine_value *v = &d->values[i];
		struct engine_scalar s;

		any |= bytes_eq(v->field, name) && convert(type, v, &s) &&
			value_passes(f, type, v->element, &s);
	}
	return any != negative;
}

bool model_passes(const struct model_doc *d, const void *tree)
{
	const struct engine_filter *f = tree;
	bool all = true, any = false;

	if (f->kind == ENGINE_LEAF)
		return leaf_passes(d, f);
	for (size_t i = 0; i < f->count; i++) {
		bool passes = model_passes(d, &f->children[i]);

		all &= passes;
		any |= passes;
	}
	return f->kind == ENGINE_AND ? all : f->kind == ENGINE_OR ? any : !any;
}
