/*
 * fuzz_filter.c: a filter, over a fixed list of fields, and the same text as the meta
 * of a document. What is taken must be a tree that the engine may believe: known
 * fields, suitable operators, values in the field's type, bounded; what is refused must
 * say where. REQ: F1 F2 F3 D24 D25 D26 D28 D29.
 */
#include <math.h>
#include <string.h>

#include "../unit/methods/fake_fields.h"
#include "check.h"
#include "fuzz.h"
#include "methods/filter.h"
#include "util/utf8.h"

#define SAFE_INTEGER 9007199254740991LL

static void check_scalar(enum engine_type type, const struct engine_scalar *s)
{
	switch (type) {
	case ENGINE_KEYWORD:
	case ENGINE_PROSE:
		FUZZ_CHECK(s->s.data && utf8_valid(s->s.data, s->s.len));
		break;
	case ENGINE_INT:
		FUZZ_CHECK(s->i <= SAFE_INTEGER && s->i >= -SAFE_INTEGER);
		break;
	case ENGINE_FLOAT:
		FUZZ_CHECK(isfinite(s->r));
		break;
	case ENGINE_BOOL:
		FUZZ_CHECK(s->i == 0 || s->i == 1);
		break;
	case ENGINE_DATE:
		break;
	}
}

static void check_leaf(const struct engine_filter *f)
{
	bool list = f->op == ENGINE_IN || f->op == ENGINE_NIN;
	struct engine_field field;

	FUZZ_CHECK(f->field < FAKE_EPOCH && !f->children && f->count == 0);
	engine_field_at(NULL, f->field, &field);
	FUZZ_CHECK((unsigned)f->op < METHODS_OPS && engine_op_suits(f->op, field.type));
	FUZZ_CHECK(f->value_count > 0 && (list || f->value_count == 1));
	for (size_t i = 0; i < f->value_count; i++)
		check_scalar(f->op == ENGINE_EXISTS ? ENGINE_BOOL : field.type, &f->values[i]);
}

static void check_tree(const struct engine_filter *f, int depth)
{
	FUZZ_CHECK(depth <= ENGINE_FILTER_DEPTH);
	if (f->kind == ENGINE_LEAF) {
		check_leaf(f);
		return;
	}
	FUZZ_CHECK(f->count > 0 && (f->kind != ENGINE_NOT || f->count == 1));
	for (size_t i = 0; i < f->count; i++)
		check_tree(&f->children[i], depth + 1);
}

static void check_refusal(enum rpc_code code, const struct rpc_error *err)
{
	FUZZ_CHECK(err->code == code);
	FUZZ_CHECK(code == RPC_INVALID_PARAMS || code == RPC_OPTION || code == RPC_TOO_LARGE);
	FUZZ_CHECK(strncmp(err->field, "filter", 6) == 0);
	FUZZ_CHECK(err->message[0] && utf8_valid(err->message, strlen(err->message)));
	FUZZ_CHECK(utf8_valid(err->option, strlen(err->option)));
	FUZZ_CHECK(code == RPC_OPTION || !err->option[0]);
}

/* Read from JSON and read from its text, the values are the same. */
static void check_values(const json_t *meta, struct arena *arena)
{
	struct engine_value *a, *b;
	char *text = json_dumps(meta, JSON_COMPACT);
	size_t n, m;

	FUZZ_CHECK(text);
	FUZZ_CHECK(methods_values_read(meta, arena, &a, &n) == ST_OK);
	FUZZ_CHECK(methods_values_parse(bytes_of(text), arena, &b, &m) == ST_OK);
	FUZZ_CHECK(n == m && n <= 1024);
	for (size_t i = 0; i < n; i++) {
		FUZZ_CHECK(bytes_eq(a[i].field, b[i].field) && a[i].kind == b[i].kind);
		FUZZ_CHECK(a[i].element == b[i].element && bytes_eq(a[i].s, b[i].s));
		FUZZ_CHECK(a[i].i == b[i].i);
		FUZZ_CHECK(a[i].kind != ENGINE_V_REAL || isfinite(a[i].r));
	}
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rpc_error err = { .code = RPC_OK };
	struct engine_filter *tree = NULL;
	struct arena arena;
	json_t *filter = check_parse((const char *)data, size, NULL);

	if (!filter)
		return 0;
	arena_init(&arena, 0);
	const struct methods_filter_source src = { NULL, FAKE_EPOCH, &arena, &err };
	enum rpc_code code = methods_filter_read(&src, filter, &tree);
	if (code == RPC_OK)
		check_tree(tree, 1);
	else
		check_refusal(code, &err);
	if (json_is_object(filter))
		check_values(filter, &arena);
	arena_release(&arena);
	json_decref(filter);
	return 0;
}
