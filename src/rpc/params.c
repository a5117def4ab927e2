/*
 * rpc/params.c: the reader of params tables. Each type has one function that
 * checks a value and puts it in place; parse_table walks the rows. Nesting follows
 * the tables, which are constant, so recursion is bounded by them.
 */
#include "rpc/params.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#define MAX_SAFE_INTEGER 9007199254740991.0 /* 2^53 - 1 (RFC 7493, section 2.2) */
#define PATH_MAX_BYTES 160

struct walk {
	struct arena *arena;
	struct rpc_error *err;
};

static enum rpc_code no_memory(struct rpc_error *err)
{
	return rpc_error_set(err, RPC_UNAVAILABLE, "out of memory");
}

/* Paths come from tables and stay short; the cut is for the compiler's peace. */
static void path_index(char out[PATH_MAX_BYTES], const char *path, size_t i)
{
	snprintf(out, PATH_MAX_BYTES, "%.120s[%zu]", path, i);
}

static void path_member(char out[PATH_MAX_BYTES], const char *path, const char *name)
{
	snprintf(out, PATH_MAX_BYTES, "%.120s%s%.36s", path, *path ? "." : "", name);
}

static const char *type_of(const json_t *v)
{
	switch (json_typeof(v)) {
	case JSON_OBJECT:
		return "an object";
	case JSON_ARRAY:
		return "an array";
	case JSON_STRING:
		return "a string";
	case JSON_INTEGER:
		return "an integer";
	case JSON_REAL:
		return "a number";
	case JSON_TRUE:
	case JSON_FALSE:
		return "a boolean";
	case JSON_NULL:
		break;
	}
	return "null";
}

static enum rpc_code wrong_type(struct walk *w, const char *path, const char *want, const json_t *v)
{
	return rpc_error_field(w->err, path, "%s must be %s, not %s", path, want, type_of(v));
}

bool rpc_json_integer(const json_t *v, int64_t *ret)
{
	double d;

	if (json_is_integer(v)) {
		json_int_t i = json_integer_value(v);

		if (i > (json_int_t)MAX_SAFE_INTEGER || i < -(json_int_t)MAX_SAFE_INTEGER)
			return false;
		*ret = i;
		return true;
	}
	if (!json_is_real(v))
		return false;
	d = json_real_value(v);
	if (d != floor(d) || fabs(d) > MAX_SAFE_INTEGER)
		return false;
	*ret = (int64_t)d;
	return true;
}

static enum rpc_code read_int(struct walk *w, const struct rpc_param *p, const char *path,
	const json_t *v, struct rpc_int *ret)
{
	int64_t i;

	if (!rpc_json_integer(v, &i)) {
		if (json_is_number(v))
			return rpc_error_field(w->err, path, "%s must be an integer within 53 bits",
				path);
		return wrong_type(w, path, "an integer", v);
	}
	if ((double)i < p->min || (double)i > p->max) {
		if (p->max >= MAX_SAFE_INTEGER)
			return rpc_error_field(w->err, path, "%s must be at least %.0f, not %lld",
				path, p->min, (long long)i);
		return rpc_error_field(w->err, path, "%s must be between %.0f and %.0f, not %lld",
			path, p->min, p->max, (long long)i);
	}
	*ret = (struct rpc_int){ true, i };
	return RPC_OK;
}

static enum rpc_code read_real(struct walk *w, const struct rpc_param *p, const char *path,
	const json_t *v, struct rpc_real *ret)
{
	double d;

	if (!json_is_number(v))
		return wrong_type(w, path, "a number", v);
	d = json_number_value(v);
	if (d < p->min || d > p->max)
		return rpc_error_field(w->err, path, "%s must be between %g and %g, not %g", path,
			p->min, p->max, d);
	*ret = (struct rpc_real){ true, d };
	return RPC_OK;
}

static enum rpc_code read_string(struct walk *w, const struct rpc_param *p, const char *path,
	const json_t *v, struct bytes *ret)
{
	struct bytes b;

	if (!json_is_string(v))
		return wrong_type(w, path, "a string", v);
	b = (struct bytes){ json_string_value(v), json_string_length(v) };
	if (b.len == 0 && (p->flags & RPC_P_NONEMPTY))
		return rpc_error_field(w->err, path, "%s must not be empty", path);
	if (p->max > 0 && (double)b.len > p->max)
		return rpc_error_field(w->err, path, "%s is longer than %.0f bytes", path, p->max);
	*ret = b;
	return RPC_OK;
}

static enum rpc_code read_strings(struct walk *w, const struct rpc_param *p, const char *path,
	const json_t *v, struct rpc_strings *ret)
{
	size_t n;
	struct bytes *out;

	if (!json_is_array(v))
		return wrong_type(w, path, "an array of strings", v);
	n = json_array_size(v);
	if (n == 0 && (p->flags & RPC_P_NONEMPTY))
		return rpc_error_field(w->err, path, "%s must not be empty", path);
	out = arena_array(w->arena, n ? n : 1, sizeof(*out));
	if (!out)
		return no_memory(w->err);
	for (size_t i = 0; i < n; i++) {
		const json_t *m = json_array_get(v, i);
		char at[PATH_MAX_BYTES];

		if (json_is_string(m) && json_string_length(m) >= (size_t)p->min &&
			(p->max <= 0 || (double)json_string_length(m) <= p->max)) {
			out[i] = (struct bytes){ json_string_value(m), json_string_length(m) };
			continue;
		}
		path_index(at, path, i);
		if (!json_is_string(m))
			return wrong_type(w, at, "a string", m);
		return rpc_error_field(w->err, at, "%s must have %.0f to %.0f bytes", at, p->min,
			p->max);
	}
	*ret = (struct rpc_strings){ n, out, true };
	return RPC_OK;
}

/* ---- content blocks (M13) ---- */

static enum rpc_code block_text(const json_t *block, const char *path, struct bytes *ret,
	struct rpc_error *err)
{
	const json_t *text = json_object_get(block, "text");
	char at[PATH_MAX_BYTES];

	path_member(at, path, "text");
	if (!json_is_string(text))
		return rpc_error_field(err, at, "%s must be a string", at);
	*ret = (struct bytes){ json_string_value(text), json_string_length(text) };
	return RPC_OK;
}

/* A block that is not text is checked for form first, then refused by its type. */
static enum rpc_code other_block(const json_t *block, const char *type, const char *path,
	struct rpc_error *err)
{
	const json_t *data = json_object_get(block, "data");
	const json_t *uri = json_object_get(block, "uri");
	char at[PATH_MAX_BYTES];

	path_member(at, path, "mimeType");
	if (!json_is_string(json_object_get(block, "mimeType")))
		return rpc_error_field(err, at, "%s is required for a block of type %s", at, type);
	if (json_is_null(data))
		data = NULL;
	if (json_is_null(uri))
		uri = NULL;
	if (!data == !uri)
		return rpc_error_field(err, path, "%s must have either data or uri", path);
	path_member(at, path, data ? "data" : "uri");
	if (!json_is_string(data ? data : uri))
		return rpc_error_field(err, at, "%s must be a string", at);
	return rpc_error_option(err, type, "content of type %s is not among the modalities served",
		type);
}

static bool type_is(const json_t *type, const char *name)
{
	return json_string_length(type) == strlen(name) &&
		strcmp(json_string_value(type), name) == 0;
}

static enum rpc_code read_block(const json_t *v, const char *path, struct bytes *ret,
	struct rpc_error *err)
{
	static const char *const others[] = { "image", "audio", "blob" };
	const json_t *type;
	char at[PATH_MAX_BYTES];

	if (json_is_string(v)) {
		*ret = (struct bytes){ json_string_value(v), json_string_length(v) };
		return RPC_OK;
	}
	if (!json_is_object(v))
		return rpc_error_field(err, path, "%s must be a string or a content block, not %s",
			path, type_of(v));
	type = json_object_get(v, "type");
	path_member(at, path, "type");
	if (!json_is_string(type))
		return rpc_error_field(err, at, "%s must be text, image, audio or blob", at);
	if (type_is(type, "text"))
		return block_text(v, path, ret, err);
	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (type_is(type, others[i]))
			return other_block(v, others[i], path, err);
	return rpc_error_field(err, at, "%s must be text, image, audio or blob", at);
}

/* Joins an array of text blocks with newlines, in the arena. */
static enum rpc_code join_blocks(const json_t *v, const char *path, struct arena *arena,
	struct bytes *ret, struct rpc_error *err)
{
	size_t n = json_array_size(v);
	size_t total = 0, at = 0;
	struct bytes *parts = arena_array(arena, n, sizeof(*parts));
	char *joined;

	if (!parts)
		return no_memory(err);
	for (size_t i = 0; i < n; i++) {
		char member[PATH_MAX_BYTES];
		enum rpc_code rc;

		path_index(member, path, i);
		rc = read_block(json_array_get(v, i), member, &parts[i], err);
		if (rc)
			return rc;
		total += parts[i].len + 1;
	}
	joined = arena_alloc(arena, total);
	if (!joined)
		return no_memory(err);
	for (size_t i = 0; i < n; i++) {
		if (i)
			joined[at++] = '\n';
		if (parts[i].len)
			memcpy(joined + at, parts[i].data, parts[i].len);
		at += parts[i].len;
	}
	*ret = (struct bytes){ joined, at };
	return RPC_OK;
}

enum rpc_code rpc_text_parse(const json_t *v, const char *path, bool blocks, struct arena *arena,
	struct bytes *ret, struct rpc_error *err)
{
	if (!json_is_array(v))
		return read_block(v, path, ret, err);
	if (!blocks)
		return rpc_error_field(err, path, "%s must be a string or a content block", path);
	if (json_array_size(v) == 0)
		return rpc_error_field(err, path, "%s must not be an empty array", path);
	return join_blocks(v, path, arena, ret, err);
}

/* ---- the table ---- */

static enum rpc_code read_table(struct walk *w, const struct rpc_param *table, size_t count,
	const char *prefix, const json_t *object, char *dst);

static enum rpc_code read_object(struct walk *w, const struct rpc_param *p, const char *path,
	const json_t *v, void *dst) /* NOLINT(misc-no-recursion): as deep as the tables */
{
	if (p->type == RPC_P_FALSE_OR_OBJECT && json_is_false(v))
		return RPC_OK;
	if (!json_is_object(v))
		return wrong_type(w, path,
			p->type == RPC_P_OBJECT ? "an object" : "an object or false", v);
	*(bool *)dst = true;
	return read_table(w, p->sub, p->sub_count, path, v, dst);
}

static enum rpc_code read_json(struct walk *w, const struct rpc_param *p, const char *path,
	const json_t *v, const json_t **ret)
{
	if (p->type == RPC_P_JSON_OBJECT && !json_is_object(v))
		return wrong_type(w, path, "an object", v);
	if (p->type == RPC_P_JSON_ARRAY && !json_is_array(v))
		return wrong_type(w, path, "an array", v);
	if (p->type == RPC_P_SCALAR && !json_is_string(v) && !json_is_number(v))
		return wrong_type(w, path, "a string or a number", v);
	*ret = v;
	return RPC_OK;
}

static enum rpc_code read_value(struct walk *w, const struct rpc_param *p, const char *path,
	const json_t *v, void *dst) /* NOLINT(misc-no-recursion) */
{
	struct rpc_text *text = dst;
	enum rpc_code rc;

	switch (p->type) {
	case RPC_P_INT:
		return read_int(w, p, path, v, dst);
	case RPC_P_REAL:
		return read_real(w, p, path, v, dst);
	case RPC_P_BOOL:
		if (!json_is_boolean(v))
			return wrong_type(w, path, "true or false", v);
		*(unsigned char *)dst = json_is_true(v) ? RPC_TRUE : RPC_FALSE;
		return RPC_OK;
	case RPC_P_STRING:
		return read_string(w, p, path, v, dst);
	case RPC_P_TEXT:
		rc = rpc_text_parse(v, path, true, w->arena, &text->text, w->err);
		text->set = rc == RPC_OK;
		return rc;
	case RPC_P_OBJECT:
	case RPC_P_FALSE_OR_OBJECT:
		return read_object(w, p, path, v, dst);
	case RPC_P_JSON:
	case RPC_P_JSON_OBJECT:
	case RPC_P_JSON_ARRAY:
	case RPC_P_SCALAR:
		return read_json(w, p, path, v, dst);
	case RPC_P_STRINGS:
		return read_strings(w, p, path, v, dst);
	}
	return rpc_error_set(w->err, RPC_INTERNAL, "a params table has an unknown type");
}

static enum rpc_code read_table(struct walk *w, const struct rpc_param *table, size_t count,
	const char *prefix, const json_t *object, char *dst) /* NOLINT(misc-no-recursion) */
{
	for (size_t i = 0; i < count; i++) {
		const struct rpc_param *p = &table[i];
		const json_t *v = object ? json_object_get(object, p->name) : NULL;
		char path[PATH_MAX_BYTES];
		enum rpc_code rc;

		if (!v || json_is_null(v)) {
			if (!(p->flags & RPC_P_REQUIRED))
				continue;
			path_member(path, prefix, p->name);
			return rpc_error_field(w->err, path, "%s is required", path);
		}
		path_member(path, prefix, p->name);
		rc = read_value(w, p, path, v, dst + p->offset);
		if (rc)
			return rc;
	}
	return RPC_OK;
}

enum rpc_code rpc_params_parse(const struct rpc_param *table, size_t count, const json_t *params,
	struct arena *arena, void *ret, struct rpc_error *err)
{
	struct walk w = { arena, err };

	if (params && !json_is_object(params))
		return rpc_error_set(err, RPC_INVALID_PARAMS, "params must be an object, not %s",
			type_of(params));
	return read_table(&w, table, count, "", params, ret);
}
