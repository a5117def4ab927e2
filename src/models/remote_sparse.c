/* remote_sparse.c: texts to sparse vectors (SPLADE and its like), as TEI gives them. */
#include <math.h>

#include "models/remote_private.h"

/* A text has some hundreds of pairs as a rule; each takes up to 64 bytes of JSON. */
#define ANSWER_PER_TEXT ((size_t)256 * 1024)
#define ANSWER_MAX ((size_t)32 * 1024 * 1024)

struct reading {
	struct remote_sparse *out;
	size_t n;
	struct arena *arena;
};

struct pair {
	uint32_t index;
	float value;
};

static int pair_order(const void *a, const void *b)
{
	const struct pair *x = a, *y = b;

	return (x->index > y->index) - (x->index < y->index);
}

static const char *pairs_read(const json_t *list, struct pair *pairs, size_t *ret)
{
	size_t n = 0, i;
	const json_t *one;

	json_array_foreach(list, i, one)
	{
		uint64_t index;
		double value;
		if (!remote_index(json_object_get(one, "index"), (uint64_t)UINT32_MAX + 1, &index))
			return "an index is no whole number of 32 bits";
		if (!remote_number(json_object_get(one, "value"), &value) ||
			!isfinite((float)value))
			return "a value is no finite number";
		if ((float)value != 0)
			pairs[n++] = (struct pair){ (uint32_t)index, (float)value };
	}
	qsort(pairs, n, sizeof(*pairs), pair_order);
	for (i = 1; i < n; i++)
		if (pairs[i].index == pairs[i - 1].index)
			return "an index is doubled";
	*ret = n;
	return NULL;
}

static const char *vector_read(const json_t *list, struct arena *arena, struct remote_sparse *out)
{
	struct pair *pairs;
	const char *why;
	size_t n = 0;

	if (!json_is_array(list))
		return "a vector is no list";
	pairs = arena_array(arena, json_array_size(list), sizeof(*pairs));
	if (!pairs)
		return REMOTE_NOMEM;
	why = pairs_read(list, pairs, &n);
	if (why)
		return why;
	out->indices = arena_array(arena, n, sizeof(*out->indices));
	out->values = arena_array(arena, n, sizeof(*out->values));
	if (!out->indices || !out->values)
		return REMOTE_NOMEM;
	for (size_t i = 0; i < n; i++) {
		out->indices[i] = pairs[i].index;
		out->values[i] = pairs[i].value;
	}
	out->n = n;
	return NULL;
}

static const char *answer_read(const json_t *answer, void *arg)
{
	const struct reading *in = arg;
	const char *why = NULL;

	if (!json_is_array(answer) || json_array_size(answer) != in->n)
		return "there are more or fewer vectors than texts";
	for (size_t i = 0; i < in->n && !why; i++)
		why = vector_read(json_array_get(answer, i), in->arena, &in->out[i]);
	return why;
}

enum status remote_embed_sparse(struct remote *r, const struct bytes *texts, size_t n,
	const struct remote_call *call, struct arena *arena, struct remote_sparse *ret,
	struct error *e)
{
	enum status st = remote_check_texts(texts, n, e);

	for (size_t at = 0; at < n && !st; at += r->opt.batch) {
		struct reading in = { ret + at, n - at < r->opt.batch ? n - at : r->opt.batch,
			arena };
		size_t max_answer = 65536 + in.n * ANSWER_PER_TEXT;
		json_t *o = remote_request(r);
		if (o)
			(void)(remote_member(&o, "inputs", remote_texts(r, texts + at, in.n)) &&
				remote_member(&o, "truncate", json_true()));
		st = remote_exchange(r, o, max_answer < ANSWER_MAX ? max_answer : ANSWER_MAX, call,
			answer_read, &in, e);
	}
	return st;
}
