/* filter_model.c: the naive evaluation of a tree, and the comparison (filter_model.h). */
#include "filter_model.h"

#include <stdlib.h>

static bool is_string(enum engine_type type)
{
	return type == ENGINE_KEYWORD || type == ENGINE_PROSE;
}

/* -1, 0, 1 */
static int compare(enum engine_type type, const struct fm_value *v, const struct engine_scalar *s)
{
	if (is_string(type))
		return bytes_cmp(v->s, s->s);
	if (type == ENGINE_FLOAT)
		return (v->r > s->r) - (v->r < s->r);
	return (v->i > s->i) - (v->i < s->i);
}

static bool occurs(struct bytes in, struct bytes what)
{
	for (size_t i = 0; i + what.len <= in.len; i++)
		if (bytes_eq((struct bytes){ in.data + i, what.len }, what))
			return true;
	return false;
}

static bool value_passes(enum engine_type type, const struct engine_filter *f,
	const struct fm_value *v)
{
	int c = compare(type, v, &f->values[0]);

	switch (f->op) {
	case ENGINE_EQ:
	case ENGINE_NE:
	case ENGINE_IN:
	case ENGINE_NIN:
		for (size_t i = 0; i < f->value_count; i++)
			if (compare(type, v, &f->values[i]) == 0)
				return true;
		return false;
	case ENGINE_GT:
		return c > 0;
	case ENGINE_GTE:
		return c >= 0;
	case ENGINE_LT:
		return c < 0;
	case ENGINE_LTE:
		return c <= 0;
	case ENGINE_CONTAINS:
		if (type == ENGINE_KEYWORD && v->element)
			return bytes_eq(v->s, f->values[0].s);
		return occurs(v->s, f->values[0].s);
	case ENGINE_EXISTS:
		break;
	}
	return true;
}

static bool leaf_matches(const struct fm *m, const struct engine_filter *f,
	const struct fm_chunk *c, size_t fields)
{
	bool any = false;

	for (size_t i = 0; i < c->n && f->field < fields; i++)
		any |= c->values[i].field == f->field &&
			value_passes(m->types[f->field], f, &c->values[i]);
	if (f->op == ENGINE_NE || f->op == ENGINE_NIN)
		return !any;
	return f->op == ENGINE_EXISTS ? any == (f->values[0].i == 1) : any;
}

bool fm_matches(const struct fm *m, const struct engine_filter *f, const struct fm_chunk *c,
	size_t fields)
{
	size_t hits = 0;

	if (f->kind == ENGINE_LEAF)
		return leaf_matches(m, f, c, fields);
	for (size_t i = 0; i < f->count; i++)
		hits += fm_matches(m, &f->children[i], c, fields);
	if (f->kind == ENGINE_NOT)
		return hits == 0;
	return f->kind == ENGINE_AND ? hits == f->count : hits > 0;
}

static bool bit_of(const struct lexical_filter *bits, int64_t key)
{
	uint64_t i = (uint64_t)key - (uint64_t)bits->base;

	return key >= bits->base && i < bits->count && (bits->bits[i / 64] >> i % 64 & 1);
}

bool fm_agree(const struct fm *m, const struct filter_view *v, const struct engine_filter *tree,
	size_t n, bool moving)
{
	size_t fields = filter_view_fields(v);
	struct lexical_filter bits;
	uint64_t count = 77, expected = 0, set = 0;
	bool same = true;
	struct arena a;

	arena_init(&a, 0);
	if (filter_eval(v, tree, NULL, &a, &bits, &count, NULL) != ST_OK)
		abort();
	for (size_t i = 0; i < n; i++) {
		const struct fm_chunk *c = &m->chunks[i];
		bool is = bit_of(&bits, c->key), dead = atomic_load(&c->dead);
		bool should = !dead && fm_matches(m, tree, c, fields);

		if (moving && dead)
			continue;
		expected += should;
		same &= is == should;
	}
	for (size_t i = 0; i < (bits.count + 63) / 64; i++)
		set += (unsigned)__builtin_popcountll(bits.bits[i]);
	arena_release(&a);
	return same && (moving || (count == expected && set == expected));
}

struct engine_filter fm_leaf(size_t field, enum engine_op op, struct engine_scalar *values,
	size_t n)
{
	return (struct engine_filter){ .kind = ENGINE_LEAF,
		.field = field,
		.op = op,
		.values = values,
		.value_count = n };
}
