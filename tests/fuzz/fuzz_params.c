/*
 * fuzz_params.c: the parameters of every method. The first byte picks the method of
 * src/methods/table.c, the rest is the JSON of params. What is taken must lie in
 * the table's ranges; what is refused must name a field or an option (C1).
 * REQ: M9 M10 M11 C1 D29 D31.
 */
#include <math.h>
#include <string.h>

#include "check.h"
#include "fuzz.h"
#include "methods/methods.h"
#include "rpc/params.h"
#include "util/mem.h"
#include "util/utf8.h"

#define SAFE_INTEGER 9007199254740991LL

static void check_table(const struct rpc_param *table, size_t count, const char *base);

static void check_strings(const struct rpc_param *p, const struct rpc_strings *s)
{
	FUZZ_CHECK(s->set || s->n == 0);
	FUZZ_CHECK(!s->set || s->n > 0 || !(p->flags & RPC_P_NONEMPTY));
	for (size_t i = 0; i < s->n; i++)
		FUZZ_CHECK(s->v[i].data && utf8_valid(s->v[i].data, s->v[i].len));
}

static void check_number(const struct rpc_param *p, double v)
{
	FUZZ_CHECK(isfinite(v) && v >= p->min && v <= p->max);
}

static void check_value(const struct rpc_param *p, const void *at)
{
	const struct rpc_int *i = at;
	const struct rpc_real *r = at;
	const struct rpc_text *t = at;
	const struct bytes *b = at;
	const json_t *j = NULL;

	switch (p->type) {
	case RPC_P_INT:
		FUZZ_CHECK(!i->set || (i->v <= SAFE_INTEGER && i->v >= -SAFE_INTEGER));
		if (i->set)
			check_number(p, (double)i->v);
		break;
	case RPC_P_REAL:
		if (r->set)
			check_number(p, r->v);
		break;
	case RPC_P_BOOL:
		FUZZ_CHECK(*(const unsigned char *)at <= RPC_TRUE);
		break;
	case RPC_P_STRING:
		FUZZ_CHECK(!b->data || utf8_valid(b->data, b->len));
		break;
	case RPC_P_TEXT:
		FUZZ_CHECK(!t->set || (t->text.data && utf8_valid(t->text.data, t->text.len)));
		FUZZ_CHECK(t->set || !(p->flags & RPC_P_REQUIRED));
		break;
	case RPC_P_OBJECT:
	case RPC_P_FALSE_OR_OBJECT:
		if (*(const bool *)at)
			check_table(p->sub, p->sub_count, at);
		break;
	case RPC_P_STRINGS:
		check_strings(p, at);
		break;
	default:
		memcpy(&j, at, sizeof(j));
		FUZZ_CHECK(!j || p->type != RPC_P_JSON_OBJECT || json_is_object(j));
		FUZZ_CHECK(!j || p->type != RPC_P_JSON_ARRAY || json_is_array(j));
		FUZZ_CHECK(j || !(p->flags & RPC_P_REQUIRED));
		break;
	}
}

static void check_table(const struct rpc_param *table, size_t count, const char *base)
{
	for (size_t i = 0; i < count; i++)
		check_value(&table[i], base + table[i].offset);
}

static void check_refusal(enum rpc_code code, const struct rpc_error *err)
{
	FUZZ_CHECK(err->code == code);
	FUZZ_CHECK(code == RPC_INVALID_PARAMS || code == RPC_OPTION);
	FUZZ_CHECK(err->field[0] || err->option[0] || strstr(err->message, "params"));
	FUZZ_CHECK(err->message[0]);
	FUZZ_CHECK(utf8_valid(err->message, strlen(err->message)));
	FUZZ_CHECK(utf8_valid(err->field, strlen(err->field)));
	FUZZ_CHECK(utf8_valid(err->option, strlen(err->option)));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct rpc_error err = { .code = RPC_OK };
	struct arena arena;
	size_t count;
	const struct rpc_method *table = methods_table(&count);

	if (size < 2)
		return 0;
	const struct rpc_method *m = &table[data[0] % count];
	json_t *params = check_parse((const char *)data + 1, size - 1, NULL);
	void *out = mem_zero(m->params_size ? m->params_size : 1);
	FUZZ_CHECK(out);
	arena_init(&arena, 0);
	if (params) {
		enum rpc_code code =
			rpc_params_parse(m->params, m->param_count, params, &arena, out, &err);
		if (code == RPC_OK)
			check_table(m->params, m->param_count, out);
		else
			check_refusal(code, &err);
	}
	arena_release(&arena);
	mem_free(out);
	json_decref(params);
	return 0;
}
