/*
 * key.c: trees as bytes, in the order of a walk from the root. Each part says how long
 * it is before it comes, so no two trees share their bytes. A field that the view does
 * not know has a mark of its own: what is missing now need not be missing later.
 */
#include "engine/filter/key.h"

#include "engine/filter/types.h"

static void add_number(struct strbuf *sb, uint64_t v)
{
	strbuf_add(sb, &v, sizeof(v));
}

static void add_leaf(const struct filter_view *v, const struct engine_filter *f, struct strbuf *sb)
{
	bool known = f->field < v->field_count;
	enum engine_type type = known ? v->filter->fields[f->field]->type : ENGINE_INT;

	strbuf_addc(sb, (char)f->op);
	strbuf_addc(sb, known ? 'f' : 'u');
	add_number(sb, f->field);
	if (f->op == ENGINE_EXISTS) {
		strbuf_addc(sb, f->values[0].i != 0);
		return;
	}
	/* A missing field has no type, and its values do not matter. */
	if (!known)
		return;
	add_number(sb, f->value_count);
	for (size_t i = 0; i < f->value_count; i++) {
		const struct engine_scalar *s = &f->values[i];

		add_number(sb, flt_is_string(type) ? s->s.len : flt_scalar_order(type, s));
		if (flt_is_string(type))
			strbuf_add(sb, s->s.data, s->s.len);
	}
}

static enum status add_node(const struct filter_view *v, const struct engine_filter *f,
	struct strbuf *sb, unsigned depth)
{
	enum status st = ST_OK;

	if (depth > ENGINE_FILTER_DEPTH)
		return ST_INTERNAL;
	strbuf_addc(sb, (char)f->kind);
	if (f->kind == ENGINE_LEAF) {
		add_leaf(v, f, sb);
		return ST_OK;
	}
	add_number(sb, f->count);
	for (size_t i = 0; i < f->count && st == ST_OK; i++)
		st = add_node(v, &f->children[i], sb, depth + 1);
	return st;
}

enum status flt_key_make(const struct filter_view *v, const struct engine_filter *f,
	struct strbuf *ret)
{
	return add_node(v, f, ret, 1);
}
