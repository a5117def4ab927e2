/*
 * methods/values.c: what of a document's meta filters can see (F2): its scalars, the
 * elements of its arrays, and the members of its objects under their path.
 *
 *   {"year": 2024, "tags": ["a", "b"], "author": {"name": "x"}}
 *     ─▶ year 2024, tags "a", tags "b", author.name "x"
 *
 * A meta is a client's: levels, values and the lengths of paths are bounded, what is
 * beyond is left out.
 */
#include "methods/filter.h"

#define MAX_LEVELS 8
#define MAX_VALUES 1024

/* One byte more than a field's name may have: enough for the engine to see that it is
 * too long, whatever else would follow. */
#define PATH_MAX_BYTES (ENGINE_MAX_FIELD_NAME + 1)

/* The first walk counts (values is NULL), the second one fills. */
struct values_walk {
	struct arena *arena;
	struct engine_value *values;
	size_t n;
	char path[PATH_MAX_BYTES];
};

static struct bytes string_of(const json_t *v)
{
	return (struct bytes){ json_string_value(v), json_string_length(v) };
}

/* False for what is no scalar. */
static bool scalar_of(const json_t *v, struct engine_value *ret)
{
	switch (json_typeof(v)) {
	case JSON_STRING:
		ret->kind = ENGINE_V_STRING;
		ret->s = string_of(v);
		return true;
	case JSON_INTEGER:
		ret->kind = ENGINE_V_INT;
		ret->i = json_integer_value(v);
		return true;
	case JSON_REAL:
		ret->kind = ENGINE_V_REAL;
		ret->r = json_real_value(v);
		return true;
	case JSON_TRUE:
	case JSON_FALSE:
		ret->kind = ENGINE_V_BOOL;
		ret->i = json_is_true(v);
		return true;
	default:
		return false;
	}
}

static void put(struct values_walk *w, struct bytes field, const json_t *v, bool element)
{
	struct engine_value value = { .field = field, .element = element };

	if (w->n == MAX_VALUES || !scalar_of(v, &value))
		return;
	if (w->values)
		w->values[w->n] = value;
	w->n++;
}

static enum status walk_object(struct values_walk *w, const json_t *object, size_t prefix,
	unsigned level);

static enum status walk_member(struct values_walk *w, struct bytes field, size_t path_len,
	const json_t *v, unsigned level) /* NOLINT(misc-no-recursion): MAX_LEVELS */
{
	size_t before = w->n;

	if (json_is_object(v))
		return level < MAX_LEVELS ? walk_object(w, v, path_len, level + 1) : ST_OK;
	if (json_is_array(v))
		for (size_t i = 0; i < json_array_size(v) && w->n < MAX_VALUES; i++)
			put(w, field, json_array_get(v, i), true);
	else
		put(w, field, v, false);
	/* A path is built in w, which moves on; names of the first level are the meta's. */
	if (level > 1 && w->values && w->n > before) {
		char *copy = arena_dup(w->arena, field.data, field.len);

		if (!copy)
			return ST_NOMEM;
		for (size_t i = before; i < w->n; i++)
			w->values[i].field.data = copy;
	}
	return ST_OK;
}

/* Appends the key, or as much of it as fits; returns the length of the path then. */
static size_t extend(struct values_walk *w, size_t prefix, struct bytes key, bool nested)
{
	size_t len = prefix, n;

	if (nested && len < sizeof(w->path))
		w->path[len++] = '.';
	n = key.len < sizeof(w->path) - len ? key.len : sizeof(w->path) - len;
	memcpy(w->path + len, key.data, n);
	return len + n;
}

static enum status walk_object(struct values_walk *w, const json_t *object, size_t prefix,
	unsigned level) /* NOLINT(misc-no-recursion): MAX_LEVELS */
{
	void *at = json_object_iter((json_t *)(uintptr_t)object);
	enum status st = ST_OK;

	for (; at && !st && w->n < MAX_VALUES;
		at = json_object_iter_next((json_t *)(uintptr_t)object, at)) {
		struct bytes key = { json_object_iter_key(at), json_object_iter_key_len(at) };
		size_t len = extend(w, prefix, key, level > 1);
		struct bytes field = level > 1 ? (struct bytes){ w->path, len } : key;

		st = walk_member(w, field, len, json_object_iter_value(at), level);
	}
	return st;
}

enum status methods_values_read(const json_t *meta, struct arena *arena, struct engine_value **ret,
	size_t *ret_n)
{
	struct values_walk w = { .arena = arena };
	enum status st;

	*ret = NULL;
	*ret_n = 0;
	walk_object(&w, meta, 0, 1);
	if (w.n == 0)
		return ST_OK;
	w.values = arena_array(arena, w.n, sizeof(*w.values));
	if (!w.values)
		return ST_NOMEM;
	w.n = 0;
	st = walk_object(&w, meta, 0, 1);
	if (st)
		return st;
	*ret = w.values;
	*ret_n = w.n;
	return ST_OK;
}

/* Makes values stand on their own. Elements of an array share their field. */
static enum status detach(struct engine_value *values, size_t n, struct arena *arena)
{
	const char *last = NULL;

	for (size_t i = 0; i < n; i++) {
		const char *field = values[i].field.data;

		if (i && field == last)
			values[i].field = values[i - 1].field;
		else if (arena_dup_bytes(arena, values[i].field, &values[i].field))
			return ST_NOMEM;
		last = field;
		if (values[i].kind == ENGINE_V_STRING &&
			arena_dup_bytes(arena, values[i].s, &values[i].s))
			return ST_NOMEM;
	}
	return ST_OK;
}

enum status methods_values_parse(struct bytes meta, struct arena *arena, struct engine_value **ret,
	size_t *ret_n)
{
	json_t *root;
	enum status st;

	*ret = NULL;
	*ret_n = 0;
	if (meta.len < 2 || meta.data[0] != '{' || meta.data[meta.len - 1] != '}')
		return ST_OK;
	/* Jansson cannot be trusted to tell want of memory from a mistake in the text. A
	 * meta was written by this server, so it has none. */
	root = json_loadb(meta.data, meta.len, JSON_ALLOW_NUL, NULL);
	if (!root)
		return ST_NOMEM;
	st = methods_values_read(root, arena, ret, ret_n);
	if (!st)
		st = detach(*ret, *ret_n, arena);
	json_decref(root);
	return st;
}
