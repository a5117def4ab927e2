/* dense_corpus.c: the toy encoder, and searches by it. */
#include "dense_corpus.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>

#include "util/hash.h"
#include "util/mem.h"

static void add_word(const char *word, size_t len, uint64_t seed, float *out)
{
	uint64_t x = hash_bytes(word, len) ^ seed;

	for (size_t i = 0; i < TOY_DIMENSION; i++) {
		x = x * 6364136223846793005U + 1442695040888963407U;
		out[i] += (float)((double)(x >> 33) / 1073741824.0 - 1.0);
	}
}

void toy_vector(struct bytes text, struct bytes blob, float *out)
{
	uint64_t seed = blob.len ? hash_bytes(blob.data, blob.len) : 0;
	size_t at = 0;

	memset(out, 0, TOY_DIMENSION * sizeof(*out));
	while (at < text.len) {
		size_t from;

		while (at < text.len && !isalnum((unsigned char)text.data[at]))
			at++;
		from = at;
		while (at < text.len && isalnum((unsigned char)text.data[at]))
			at++;
		if (at > from)
			add_word(text.data + from, at - from, seed, out);
	}
}

struct toy_model {
	struct toy *toy;
	struct bytes blob;
};

static enum status toy_open(void *arg, const struct engine_space_spec *spec, void **ret,
	struct error *e)
{
	struct toy *toy = arg;
	struct toy_model *m;

	if (toy->refuse || !bytes_eq(spec->identity, bytes_of(TOY_IDENTITY)))
		return error_set(e, ST_INVALID, "not mine");
	m = mem_zero(sizeof(*m));
	if (!m)
		return error_set(e, ST_NOMEM, "out of memory");
	m->toy = toy;
	m->blob = (struct bytes){ mem_dup(spec->blob.data, spec->blob.len), spec->blob.len };
	if (!m->blob.data) {
		mem_free(m);
		return error_set(e, ST_NOMEM, "out of memory");
	}
	toy->opened++;
	*ret = m;
	return ST_OK;
}

static void toy_close(void *model)
{
	struct toy_model *m = model;

	m->toy->closed++;
	mem_free((char *)(uintptr_t)m->blob.data);
	mem_free(m);
}

static enum status toy_embed(void *model, struct bytes text, float *out, struct error *e)
{
	struct toy_model *m = model;

	m->toy->embedded++;
	if (m->toy->fail)
		return error_set(e, ST_NOMEM, "out of memory");
	toy_vector(text, m->blob, out);
	return ST_OK;
}

struct engine_space_spec toy_spec(const char *blob, uint64_t fit)
{
	return (struct engine_space_spec){ .identity = bytes_of(TOY_IDENTITY),
		.dimension = TOY_DIMENSION,
		.derived = true,
		.blob = bytes_of(blob),
		.fit = fit };
}

struct engine_encoder toy_encoder(struct toy *toy)
{
	return (struct engine_encoder){ toy, toy_open, toy_close, toy_embed, toy_spec("0", 0) };
}

const char *dense_search(struct corpus *c, struct engine_view *v, const char *text, size_t k)
{
	struct engine_space space;
	struct engine_candidate *hits = NULL;
	char *out = arena_zero(&c->arena, 4096);
	float query[TOY_DIMENSION];
	size_t n = 0, at = 0;

	assert_true(engine_view_space(v, &space));
	if (space.model)
		assert_int_equal(toy_embed(space.model, bytes_of(text), query, NULL), ST_OK);
	else
		toy_vector(bytes_of(text), BYTES_NONE, query);
	assert_int_equal(engine_near(v, query, k, NULL, false, &c->arena, &hits, &n, &c->error),
		ST_OK);
	for (size_t i = 0; i < n; i++) {
		assert_true(i == 0 || hits[i].score <= hits[i - 1].score);
		at += (size_t)snprintf(out + at, 4096 - at, "%s%.*s", i ? " " : "",
			(int)hits[i].doc_id.len, hits[i].doc_id.data);
	}
	return out;
}

const char *dense_search_now(struct corpus *c, const char *text, size_t k)
{
	struct engine_view *v = corpus_view(c);
	const char *found = dense_search(c, v, text, k);

	engine_view_close(v);
	return found;
}

struct checking {
	struct engine_view *v;
	struct bytes blob;
	size_t n;
};

static enum status check_text(void *arg, int64_t key, struct bytes text, struct error *e)
{
	struct checking *check = arg;
	float want[TOY_DIMENSION], got[TOY_DIMENSION];
	double length = 0;
	bool has = engine_vector(check->v, key, got);

	(void)e;
	toy_vector(text, check->blob, want);
	for (size_t i = 0; i < TOY_DIMENSION; i++)
		length += (double)want[i] * want[i];
	assert_int_equal(has, length > 0);
	for (size_t i = 0; has && i < TOY_DIMENSION; i++)
		assert_true(fabs(got[i] - want[i] / sqrt(length)) < 1e-4);
	check->n += has;
	return ST_OK;
}

void dense_check(struct corpus *c, const char *blob)
{
	struct checking check = { .v = corpus_view(c), .blob = bytes_of(blob) };
	float query[TOY_DIMENSION] = { 1 };
	struct engine_candidate *hits = NULL;
	struct engine_stats stats;
	size_t n = 0;

	assert_int_equal(engine_view_stats(check.v, &stats, NULL), ST_OK);
	assert_int_equal(engine_sample(check.v, SIZE_MAX / 2, check_text, &check, &c->error),
		ST_OK);
	assert_int_equal(engine_near(check.v, query, (size_t)stats.chunks + 100, NULL, true,
				 &c->arena, &hits, &n, &c->error),
		ST_OK);
	assert_int_equal(n, check.n);
	engine_view_close(check.v);
}
