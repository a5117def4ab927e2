/*
 * remote_embed.c: texts to vectors. The cache is asked first, what it does not have goes
 * out in batches, and nothing is handed out before all of it was found good.
 */
#include <math.h>
#include <string.h>

#include "models/remote_private.h"
#include "util/crypto.h"
#include "util/mem.h"

struct reading {
	const struct remote *r;
	size_t n;   /* vectors that are due */
	float *out; /* their rows */
};

/* ---- one vector ---- */

static const char *vector_check(const float *v, size_t dimension)
{
	bool zero = true;

	for (size_t i = 0; i < dimension; i++) {
		if (!isfinite(v[i]))
			return "a vector has a number that is not finite";
		zero = zero && v[i] == 0;
	}
	return zero ? "a vector is all zero" : NULL;
}

static int base64_digit(char c)
{
	return c >= 'A' && c <= 'Z'    ? c - 'A'
		: c >= 'a' && c <= 'z' ? c - 'a' + 26
		: c >= '0' && c <= '9' ? c - '0' + 52
		: c == '+'             ? 62
		: c == '/'             ? 63
				       : -1;
}

/* Floats of 32 bits, least byte first, as base64 with or without its padding. */
static const char *vector_base64(const json_t *v, float *out, size_t dimension)
{
	const char *p = json_string_value(v);
	size_t len = json_string_length(v), at = 0, bytes = dimension * 4;
	uint32_t bits = 0, word = 0;

	while (len > 0 && p[len - 1] == '=')
		len--;
	if (len != (bytes * 4 + 2) / 3)
		return "a vector has another dimension than is configured";
	for (size_t i = 0, have = 0; i < len; i++) {
		int digit = base64_digit(p[i]);
		if (digit < 0)
			return "a vector is not base64";
		bits = bits << 6 | (uint32_t)digit;
		have += 6;
		if (have < 8 || at >= bytes)
			continue;
		have -= 8;
		word |= (bits >> have & 0xff) << at % 4 * 8;
		if (at++ % 4 == 3) {
			memcpy(&out[at / 4 - 1], &word, sizeof(word));
			word = 0;
		}
	}
	return vector_check(out, dimension);
}

static const char *vector_read(const json_t *v, float *out, size_t dimension)
{
	double x = 0;

	if (json_is_string(v))
		return vector_base64(v, out, dimension);
	if (!json_is_array(v))
		return "a vector is no list of numbers";
	if (json_array_size(v) != dimension)
		return "a vector has another dimension than is configured";
	for (size_t i = 0; i < dimension; i++) {
		if (!remote_number(json_array_get(v, i), &x))
			return "a vector holds something that is no number";
		out[i] = (float)x;
	}
	return vector_check(out, dimension);
}

/* ---- all of an answer ---- */

/* Rows that stand in the order of the texts: [[…], […]]. */
static const char *rows_read(const json_t *rows, const struct reading *in)
{
	const char *why = NULL;

	if (!json_is_array(rows))
		return "there is no list of vectors where there should be one";
	if (json_array_size(rows) != in->n)
		return "there are more or fewer vectors than texts";
	for (size_t i = 0; i < in->n && !why; i++)
		why = vector_read(json_array_get(rows, i), in->out + i * in->r->opt.dimension,
			in->r->opt.dimension);
	return why;
}

/* [{"index": 1, "embedding": […]}, …] in any order. */
static const char *indexed_read(const json_t *data, const struct reading *in)
{
	bool *seen;
	const char *why = NULL;

	if (!json_is_array(data) || json_array_size(data) != in->n)
		return "there are more or fewer vectors than texts";
	seen = mem_array(in->n, sizeof(*seen));
	if (!seen)
		return REMOTE_NOMEM;
	for (size_t i = 0; i < in->n && !why; i++) {
		const json_t *one = json_array_get(data, i);
		uint64_t at;
		if (!remote_index(json_object_get(one, "index"), in->n, &at) || seen[at]) {
			why = "an index is missing, doubled or out of range";
			break;
		}
		seen[at] = true;
		why = vector_read(json_object_get(one, "embedding"),
			in->out + at * in->r->opt.dimension, in->r->opt.dimension);
	}
	mem_free(seen);
	return why;
}

static const char *answer_read(const json_t *answer, void *arg)
{
	const struct reading *in = arg;

	switch (in->r->opt.shape) {
	case REMOTE_OPENAI_EMBED:
		return indexed_read(json_object_get(answer, "data"), in);
	case REMOTE_OLLAMA_EMBED:
		return rows_read(json_object_get(answer, "embeddings"), in);
	case REMOTE_COHERE_EMBED:
		return rows_read(json_object_get(json_object_get(answer, "embeddings"), "float"),
			in);
	default:
		return rows_read(answer, in);
	}
}

static json_t *request_make(const struct remote *r, const struct bytes *texts, size_t n, bool query)
{
	json_t *o = remote_request(r), *list = o ? remote_texts(r, texts, n) : NULL;

	if (!o)
		return NULL;
	switch (r->opt.shape) {
	case REMOTE_OPENAI_EMBED:
		(void)(remote_member(&o, "input", list) &&
			remote_member(&o, "encoding_format", json_string("float")));
		break;
	case REMOTE_OLLAMA_EMBED:
		(void)(remote_member(&o, "input", list) &&
			remote_member(&o, "truncate", json_true()));
		break;
	case REMOTE_COHERE_EMBED:
		(void)(remote_member(&o, "texts", list) &&
			remote_member(&o, "input_type",
				json_string(query ? "search_query" : "search_document")) &&
			remote_member(&o, "embedding_types", json_pack("[s]", "float")) &&
			remote_member(&o, "truncate", json_string("END")));
		break;
	default:
		(void)(remote_member(&o, "inputs", list) &&
			remote_member(&o, "normalize", json_true()) &&
			remote_member(&o, "truncate", json_true()));
		break;
	}
	return o;
}

/* out: n rows, n of any number. */
static enum status batches_run(struct remote *r, const struct bytes *texts, size_t n, bool query,
	const struct remote_call *call, float *out, struct error *e)
{
	const size_t dimension = r->opt.dimension;
	enum status st = ST_OK;

	for (size_t at = 0; at < n && !st; at += r->opt.batch) {
		struct reading in = { r, n - at < r->opt.batch ? n - at : r->opt.batch,
			out + at * dimension };
		/* 32 bytes are enough for any number, with white space about it. */
		size_t max_answer = 65536 + in.n * (dimension * 32 + 256);
		st = remote_exchange(r, request_make(r, texts + at, in.n, query), max_answer, call,
			answer_read, &in, e);
	}
	return st;
}

/* ---- with the cache before it ---- */

struct misses {
	unsigned char (*keys)[CRYPTO_SHA256_LEN];
	struct bytes *texts;
	size_t *places; /* their rows in the end */
	float *rows;
	size_t n;
};

static void misses_free(struct misses *m)
{
	mem_free(m->keys);
	mem_free(m->texts);
	mem_free(m->places);
	mem_free(m->rows);
}

/* Fills the rows that the cache has; the others are counted up in m. */
static enum status cache_ask(struct remote *r, const struct bytes *texts, size_t n,
	struct misses *m, float *out, struct error *e)
{
	for (size_t i = 0; i < n; i++) {
		struct bytes t = remote_text(r, texts[i]);
		if (crypto_sha256(t.data, t.len, m->keys[m->n]) != ST_OK)
			return error_set(e, ST_INTERNAL, "no digest could be made");
		if (remote_cache_get(r->cache, m->keys[m->n], out + i * r->opt.dimension))
			continue;
		m->texts[m->n] = texts[i];
		m->places[m->n++] = i;
	}
	(void)pthread_mutex_lock(&r->lock);
	r->stats.cache_hits += n - m->n;
	r->stats.cache_misses += m->n;
	(void)pthread_mutex_unlock(&r->lock);
	return ST_OK;
}

static enum status cached_run(struct remote *r, const struct bytes *texts, size_t n,
	const struct remote_call *call, float *out, struct error *e)
{
	const size_t row = r->opt.dimension;
	struct misses m = { .keys = mem_array(n, sizeof(*m.keys)),
		.texts = mem_array(n, sizeof(*m.texts)),
		.places = mem_array(n, sizeof(*m.places)) };
	enum status st;

	if (!m.keys || !m.texts || !m.places)
		st = error_set(e, ST_NOMEM, "out of memory");
	else
		st = cache_ask(r, texts, n, &m, out, e);
	if (!st && m.n > 0) {
		m.rows = mem_array(m.n, row * sizeof(float));
		st = m.rows ? batches_run(r, m.texts, m.n, true, call, m.rows, e)
			    : error_set(e, ST_NOMEM, "out of memory");
	}
	for (size_t i = 0; i < m.n && !st; i++) {
		memcpy(out + m.places[i] * row, m.rows + i * row, row * sizeof(float));
		remote_cache_put(r->cache, m.keys[i], m.rows + i * row);
	}
	misses_free(&m);
	return st;
}

enum status remote_embed(struct remote *r, const struct bytes *texts, size_t n, bool query,
	const struct remote_call *call, float *out, struct error *e)
{
	enum status st = remote_check_texts(texts, n, e);

	if (st)
		return st;
	if (query && r->cache)
		return cached_run(r, texts, n, call, out, e);
	return batches_run(r, texts, n, query, call, out, e);
}
