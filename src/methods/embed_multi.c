/*
 * methods/embed_multi.c: texts to one vector a token (X3), for late interaction: the
 * tokens of the static table that count, of unit length. A text without such tokens has
 * a matrix of no rows.
 */
#include "methods/embed.h"
#include "methods/vectors.h"

/* Numbers in one answer: some 50 MB of text. */
#define MAX_NUMBERS (1u << 20)

static void write_matrix(const struct maxsim_tokens *t, struct json_writer *out)
{
	jw_array(out);
	for (size_t i = 0; i < t->n; i++)
		methods_write_floats(out, t->vectors + i * t->dimension, t->dimension);
	jw_end(out);
}

/* The next matrix; *left: numbers that the answer may still have. */
static enum rpc_code write_input(struct rpc_call *call, const struct methods_embed_params *p,
	size_t i, size_t *left, struct json_writer *out)
{
	const struct methods *m = rpc_call_methods_arg(call);
	struct maxsim_tokens tokens = { .n = 0 };
	enum rpc_code rc = RPC_OK;
	struct arena scratch;
	struct error e;

	arena_init(&scratch, 0);
	if (maxsim_tokens(m->models->table, p->v[i], &scratch, &tokens, &e))
		rc = methods_fail(call, &e);
	else if (tokens.n * tokens.dimension > *left)
		rc = rpc_error_set(rpc_call_error(call), RPC_TOO_LARGE,
			"the matrices of %zu %s have more than %u numbers together; send fewer",
			p->n, p->name, MAX_NUMBERS);
	if (!rc) {
		*left -= tokens.n * tokens.dimension;
		write_matrix(&tokens, out);
	}
	arena_release(&scratch);
	return rc;
}

enum rpc_code methods_embed_multi(struct rpc_call *call, const void *params,
	struct json_writer *out)
{
	const struct methods_embed_params *p = params;
	const struct methods *m = rpc_call_methods_arg(call);
	size_t left = MAX_NUMBERS;

	jw_object(out);
	jw_key(out, "matrices");
	jw_array(out);
	for (size_t i = 0; i < p->n; i++) {
		enum rpc_code rc;

		if (rpc_call_should_stop(call))
			return rpc_call_stopped(call);
		rc = write_input(call, p, i, &left, out);
		if (rc)
			return rc;
	}
	jw_end(out);
	jw_kv_int(out, "dimension", (int64_t)static_model_dimension(m->models->table));
	jw_end(out);
	return RPC_OK;
}
