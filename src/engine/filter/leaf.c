/* leaf.c: leaves made ready: operators and scalars become ranges and sets of values. */
#include "engine/filter/leaf.h"

#include "engine/filter/types.h"

bool flt_run_stopped(struct flt_run *r, uint32_t cost)
{
	r->asked += cost;
	if (r->asked < 1024)
		return false;
	r->asked = 0;
	return r->stop && r->stop->fn && r->stop->fn(r->stop->arg);
}

static void set_range(struct flt_leaf *leaf, uint64_t lo, uint64_t hi)
{
	leaf->kind = FLT_RANGE;
	leaf->lo = lo;
	leaf->hi = hi;
}

static void make_ordered(struct flt_leaf *leaf, enum engine_op op, uint64_t v)
{
	if (op == ENGINE_GTE)
		set_range(leaf, v, UINT64_MAX);
	else if (op == ENGINE_LTE)
		set_range(leaf, 0, v);
	else if (op == ENGINE_GT && v < UINT64_MAX)
		set_range(leaf, v + 1, UINT64_MAX);
	else if (op == ENGINE_LT && v > 0)
		set_range(leaf, 0, v - 1);
}

static void make_equal(struct flt_leaf *leaf, const struct flt_field *field,
	const struct engine_scalar *s)
{
	uint32_t code;
	uint64_t v;

	if (!flt_is_string(field->type)) {
		v = flt_scalar_order(field->type, s);
		set_range(leaf, v, v);
	} else if (flt_dict_find(&field->dict, s->s, &code)) {
		set_range(leaf, (uint64_t)code * 2, (uint64_t)code * 2 + 1);
	}
}

static enum status make_in(struct flt_run *r, struct flt_leaf *leaf, const struct flt_field *field,
	const struct engine_filter *f)
{
	bool strings = flt_is_string(field->type);
	uint64_t *values = arena_array(r->arena, f->value_count, sizeof(values[0]));
	uint32_t code;
	size_t n = 0;

	if (!values)
		return ST_NOMEM;
	for (size_t i = 0; i < f->value_count; i++) {
		if (!strings)
			values[n++] = flt_scalar_order(field->type, &f->values[i]);
		else if (flt_dict_find(&field->dict, f->values[i].s, &code))
			values[n++] = (uint64_t)code * 2;
		if (flt_run_stopped(r, 1))
			return ST_CANCELLED;
	}
	if (n == 0)
		return ST_OK;
	leaf->kind = FLT_IN;
	return flt_set_init(&leaf->set, values, n, strings ? 1 : 0, r->arena) ? ST_OK : ST_NOMEM;
}

static enum status make_contains(struct flt_run *r, struct flt_leaf *leaf,
	const struct flt_field *field, const struct engine_filter *f)
{
	leaf->kind = FLT_CONTAINS;
	leaf->dict = &field->dict;
	leaf->needle = f->values[0].s;
	leaf->whole_elements = field->type == ENGINE_KEYWORD;
	return flt_contains_make(r, leaf);
}

enum status flt_leaf_make(struct flt_run *r, const struct engine_filter *f, struct flt_leaf *ret,
	bool *ret_negated)
{
	const struct flt_field *field;

	*ret_negated = f->op == ENGINE_NE || f->op == ENGINE_NIN ||
		(f->op == ENGINE_EXISTS && f->values[0].i == 0);
	ret->kind = FLT_NEVER;
	ret->field = f->field;
	/* The writer may be making a field that this view does not know. */
	if (f->field >= r->view->field_count)
		return ST_OK;
	field = r->view->filter->fields[f->field];
	switch (f->op) {
	case ENGINE_EQ:
	case ENGINE_NE:
		make_equal(ret, field, &f->values[0]);
		break;
	case ENGINE_GT:
	case ENGINE_GTE:
	case ENGINE_LT:
	case ENGINE_LTE:
		make_ordered(ret, f->op, flt_scalar_order(field->type, &f->values[0]));
		break;
	case ENGINE_IN:
	case ENGINE_NIN:
		return make_in(r, ret, field, f);
	case ENGINE_CONTAINS:
		return make_contains(r, ret, field, f);
	case ENGINE_EXISTS:
		set_range(ret, 0, UINT64_MAX);
		break;
	}
	return ST_OK;
}
