/*
 * methods/filter.c: filter trees from JSON (F1, F2, D24, D25). A node is a combinator
 * or a leaf; a node that could be read as either, or as neither, is refused, so that no
 * slip of a client opens a filter. Its values are read by filter_value.c.
 *
 * Bounds: ENGINE_FILTER_DEPTH levels (recursion goes no deeper), METHODS_FILTER_LEAVES
 * leaves. Since and, or and not have children, a tree of so many leaves has a bounded
 * number of nodes.
 */
#include "methods/filter_private.h"

#include <stdarg.h>
#include <stdio.h>

#include "methods/methods.h"
#include "util/utf8.h"

static const char *const op_names[METHODS_OPS] = { [ENGINE_EQ] = "eq",
	[ENGINE_NE] = "ne",
	[ENGINE_GT] = "gt",
	[ENGINE_GTE] = "gte",
	[ENGINE_LT] = "lt",
	[ENGINE_LTE] = "lte",
	[ENGINE_IN] = "in",
	[ENGINE_NIN] = "nin",
	[ENGINE_CONTAINS] = "contains",
	[ENGINE_EXISTS] = "exists" };

const char *methods_op_name(enum engine_op op)
{
	return op_names[op];
}

size_t filter_path_add(struct filter_reader *r, const char *fmt, ...)
{
	size_t before = r->path_len, room = sizeof(r->path) - before;
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(r->path + before, room, fmt, ap);
	va_end(ap);
	if (n > 0)
		r->path_len += (size_t)n < room ? (size_t)n : room - 1;
	return before;
}

void filter_path_cut(struct filter_reader *r, size_t len)
{
	r->path[len] = '\0';
	r->path_len = len;
}

static enum rpc_code refuse(struct filter_reader *r, const char *text)
{
	return rpc_error_field(r->src->err, r->path, "%s", text);
}

/* The same about a member of the node at hand. */
static enum rpc_code refuse_member(struct filter_reader *r, const char *member, const char *text)
{
	filter_path_add(r, ".%s", member);
	return refuse(r, text);
}

static enum rpc_code no_memory(struct filter_reader *r)
{
	return rpc_error_set(r->src->err, RPC_UNAVAILABLE, "out of memory");
}

/* ---- leaves ---- */

static enum rpc_code count_leaves(struct filter_reader *r, size_t n)
{
	if (n <= METHODS_FILTER_LEAVES - r->leaves)
		return RPC_OK;
	rpc_error_field(r->src->err, r->path, "a filter may have at most %d leaves",
		METHODS_FILTER_LEAVES);
	r->src->err->code = RPC_TOO_LARGE;
	return RPC_TOO_LARGE;
}

static enum rpc_code read_op(struct filter_reader *r, const json_t *leaf, enum engine_op *ret)
{
	const json_t *op = json_object_get(leaf, "op");
	struct bytes name = { json_string_value(op), json_string_length(op) };

	if (!json_is_string(op))
		return refuse_member(r, "op", "a filter's op is required and must be a string");
	for (int i = 0; i < METHODS_OPS; i++)
		if (bytes_eq(name, bytes_of(op_names[i]))) {
			*ret = (enum engine_op)i;
			return RPC_OK;
		}
	filter_path_add(r, ".op");
	rpc_error_option(r->src->err, name.data,
		"the operator '%.*s' is not offered; filter.operators lists what is",
		(int)utf8_floor(name.data, name.len, name.len < 40 ? name.len : 40), name.data);
	snprintf(r->src->err->field, sizeof(r->src->err->field), "%s", r->path);
	return RPC_OPTION;
}

static enum rpc_code read_field(struct filter_reader *r, const json_t *leaf, size_t *ret)
{
	const json_t *field = json_object_get(leaf, "field");
	struct bytes name = { json_string_value(field), json_string_length(field) };

	if (!json_is_string(field))
		return refuse_member(r, "field",
			"a filter's field is required and must be a string");
	if (engine_field_find(r->src->engine, name, ret) && *ret < r->src->epoch)
		return RPC_OK;
	return refuse_member(r, "field",
		"the field is not among those that can be filtered by; filter.fields lists them");
}

static enum rpc_code read_leaf(struct filter_reader *r, const json_t *leaf,
	struct engine_filter *ret)
{
	struct engine_field field;
	enum rpc_code rc = count_leaves(r, 1);

	ret->kind = ENGINE_LEAF;
	if (!rc)
		rc = read_op(r, leaf, &ret->op);
	if (!rc)
		rc = read_field(r, leaf, &ret->field);
	if (rc)
		return rc;
	r->leaves++;
	engine_field_at(r->src->engine, ret->field, &field);
	if (!engine_op_suits(ret->op, field.type)) {
		filter_path_add(r, ".op");
		return rpc_error_field(r->src->err, r->path,
			"the operator %s does not suit a field of type %s", op_names[ret->op],
			engine_type_name(field.type));
	}
	return filter_value_read(r, json_object_get(leaf, "value"), &field, ret);
}

/* ---- nodes ---- */

static const struct {
	const char *name;
	enum engine_filter_kind kind;
} combinators[] = { { "and", ENGINE_AND }, { "or", ENGINE_OR }, { "not", ENGINE_NOT } };

#define COMBINATORS (sizeof(combinators) / sizeof(combinators[0]))

static bool has(const json_t *node, const char *name)
{
	const json_t *v = json_object_get(node, name);

	return v && !json_is_null(v);
}

/* Which combinator the node is; COMBINATORS: it is a leaf. D25 */
static enum rpc_code kind_of(struct filter_reader *r, const json_t *node, size_t *ret)
{
	bool leaf = has(node, "field") || has(node, "op") || has(node, "value");
	const char *empty = NULL;
	size_t found = 0;

	*ret = COMBINATORS;
	for (size_t i = 0; i < COMBINATORS; i++) {
		if (has(node, combinators[i].name)) {
			*ret = i;
			found++;
		} else if (json_object_get(node, combinators[i].name)) {
			empty = combinators[i].name;
		}
	}
	if (found > 1)
		return refuse(r, "a filter node must have one of and, or and not, not several");
	if (found && leaf)
		return refuse(r, "a filter node must not have both a combinator and a field");
	if (!found && !leaf && empty)
		return refuse_member(r, empty, "a filter node must not be null");
	if (!found && !leaf)
		return refuse(r, "a filter node must have and, or, not, or a field with an op");
	return RPC_OK;
}

static enum rpc_code read_node(struct filter_reader *r, const json_t *node, unsigned depth,
	struct engine_filter *ret);

static enum rpc_code read_not(struct filter_reader *r, const json_t *child, unsigned depth,
	struct engine_filter *ret) /* NOLINT(misc-no-recursion): bounded by read_node */
{
	ret->children = arena_zero(r->src->arena, sizeof(*ret->children));
	if (!ret->children)
		return no_memory(r);
	ret->count = 1;
	return read_node(r, child, depth + 1, ret->children);
}

static enum rpc_code read_children(struct filter_reader *r, const json_t *children, unsigned depth,
	struct engine_filter *ret) /* NOLINT(misc-no-recursion): bounded by read_node */
{
	size_t n = json_array_size(children);
	enum rpc_code rc;

	if (!json_is_array(children) || n == 0)
		return refuse(r, "and and or must be arrays of at least one filter node");
	rc = count_leaves(r, n); /* each child has one at least: no memory for more */
	if (rc)
		return rc;
	ret->children = arena_array(r->src->arena, n, sizeof(*ret->children));
	if (!ret->children)
		return no_memory(r);
	ret->count = n;
	for (size_t i = 0; i < n && !rc; i++) {
		size_t before = filter_path_add(r, "[%zu]", i);

		rc = read_node(r, json_array_get(children, i), depth + 1, &ret->children[i]);
		if (!rc)
			filter_path_cut(r, before);
	}
	return rc;
}

static enum rpc_code read_node(struct filter_reader *r, const json_t *node, unsigned depth,
	struct engine_filter *ret) /* NOLINT(misc-no-recursion): ENGINE_FILTER_DEPTH */
{
	size_t which, before;
	const json_t *below;
	enum rpc_code rc;

	if (!json_is_object(node))
		return refuse(r, "a filter node must be an object");
	if (depth > ENGINE_FILTER_DEPTH)
		return rpc_error_field(r->src->err, r->path,
			"a filter may be nested at most %d levels deep", ENGINE_FILTER_DEPTH);
	rc = kind_of(r, node, &which);
	if (rc)
		return rc;
	if (which == COMBINATORS)
		return read_leaf(r, node, ret);
	ret->kind = combinators[which].kind;
	below = json_object_get(node, combinators[which].name);
	before = filter_path_add(r, ".%s", combinators[which].name);
	rc = ret->kind == ENGINE_NOT ? read_not(r, below, depth, ret)
				     : read_children(r, below, depth, ret);
	if (!rc)
		filter_path_cut(r, before);
	return rc;
}

enum rpc_code methods_filter_read(const struct methods_filter_source *src, const json_t *filter,
	struct engine_filter **ret)
{
	struct filter_reader r = { .src = src };
	struct engine_filter *root = arena_zero(src->arena, sizeof(*root));
	enum rpc_code rc;

	if (!root)
		return no_memory(&r);
	filter_path_add(&r, "filter");
	rc = read_node(&r, filter, 1, root);
	if (!rc)
		*ret = root;
	return rc;
}

enum rpc_code methods_filter_parse(struct rpc_call *call, const json_t *filter,
	struct engine_filter **ret)
{
	const struct methods *m = rpc_call_methods_arg(call);
	const struct methods_filter_source src = { m->engine, rpc_call_epoch(call),
		rpc_call_arena(call), rpc_call_error(call) };

	return methods_filter_read(&src, filter, ret);
}
