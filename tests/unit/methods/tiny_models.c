/* tiny_models.c: see tiny_models.h. */
#include "tiny_models.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "util/mem.h"

struct tiny_models tiny_models;

struct static_model {
	int none;
};
struct remote {
	const char *identity;
};
struct local_model {
	const struct static_model *table;
};
struct maxsim_query {
	struct bytes text;
	double scores[4096];
	size_t n;
};

static const struct static_model the_table;
static struct remote remotes[8];

const struct static_model *tiny_table(void)
{
	return &the_table;
}

struct remote *tiny_remote(const char *identity)
{
	size_t i = 0;

	while (remotes[i].identity && strcmp(remotes[i].identity, identity) != 0)
		i++;
	remotes[i].identity = identity;
	return &remotes[i];
}

void tiny_vector(struct bytes text, float out[TINY_DIMENSION])
{
	double norm = 0;

	memset(out, 0, TINY_DIMENSION * sizeof(*out));
	for (size_t i = 0; i < text.len; i++)
		if (text.data[i] >= 'a' && text.data[i] <= 'z')
			out[(text.data[i] - 'a') % TINY_DIMENSION] += 1;
	for (size_t i = 0; i < TINY_DIMENSION; i++)
		norm += (double)out[i] * out[i];
	for (size_t i = 0; norm > 0 && i < TINY_DIMENSION; i++)
		out[i] = (float)(out[i] / sqrt(norm));
}

/* ---- static ---- */

const char *static_model_identity(const struct static_model *m)
{
	(void)m;
	return "fake@1";
}

size_t static_model_dimension(const struct static_model *m)
{
	(void)m;
	return TINY_DIMENSION;
}

/* Takes memory, as the real one does. */
enum status static_model_embed(const struct static_model *m, struct bytes text, float *out,
	struct error *e)
{
	void *some = mem_alloc(16);

	(void)m;
	if (!some)
		return error_set(e, ST_NOMEM, "out of memory");
	mem_free(some);
	if (tiny_models.fail)
		return error_set(e, tiny_models.fail, "the table fails");
	tiny_vector(text, out);
	return ST_OK;
}

/* ---- maxsim: tokens are words ---- */

static struct bytes next_word(struct bytes *rest)
{
	struct bytes word = { NULL, 0 };

	while (rest->len && !isalpha((unsigned char)rest->data[0]))
		rest->data++, rest->len--;
	word.data = rest->data;
	while (rest->len && isalpha((unsigned char)rest->data[0]))
		rest->data++, rest->len--, word.len++;
	return word;
}

enum status maxsim_tokens(const struct static_model *m, struct bytes text, struct arena *arena,
	struct maxsim_tokens *ret, struct error *e)
{
	struct bytes rest = text;

	(void)m;
	*ret = (struct maxsim_tokens){ .dimension = TINY_DIMENSION };
	ret->vectors = arena_array(arena, text.len + 1, TINY_DIMENSION * sizeof(float));
	if (!ret->vectors)
		return error_set(e, ST_NOMEM, "out of memory");
	for (struct bytes w = next_word(&rest); w.len; w = next_word(&rest))
		tiny_vector(w, ret->vectors + ret->n++ * TINY_DIMENSION);
	return ST_OK;
}

enum status maxsim_query_new(const struct static_model *m, const struct rarity *rarity,
	struct bytes text, struct arena *arena, struct maxsim_query **ret, struct error *e)
{
	(void)rarity, (void)m;
	*ret = arena_zero(arena, sizeof(**ret));
	if (!*ret)
		return error_set(e, ST_NOMEM, "out of memory");
	(*ret)->text = text;
	return ST_OK;
}

/* The share of the passage's bytes that are the query's first one. */
enum status maxsim_add(struct maxsim_query *q, struct bytes passage, struct error *e)
{
	double n = 0;

	if (tiny_models.fail)
		return error_set(e, tiny_models.fail, "maxsim fails");
	for (size_t i = 0; q->text.len && i < passage.len; i++)
		n += passage.data[i] == q->text.data[0];
	q->scores[q->n++] = tiny_models.nan ? (double)NAN
		: passage.len               ? n / (double)passage.len
					    : 0;
	return ST_OK;
}

void maxsim_scores(const struct maxsim_query *q, double *ret)
{
	memcpy(ret, q->scores, q->n * sizeof(*ret));
}

/* ---- the corpus space beside the table ---- */

enum status local_model_open(const struct static_model *table, struct bytes blob,
	struct local_model **ret, struct error *e)
{
	if (blob.len && blob.data[0] != 'F')
		return error_set(e, ST_INVALID, "no fit");
	*ret = mem_zero(sizeof(**ret));
	if (!*ret)
		return error_set(e, ST_NOMEM, "out of memory");
	(*ret)->table = table;
	return ST_OK;
}

const struct rarity *local_model_rarity(const struct local_model *m)
{
	(void)m;
	return NULL;
}

/* Nothing is fitted here. */
enum status local_fit_new(const struct static_model *table, uint64_t seed, struct local_fit **ret,
	struct error *e)
{
	(void)table, (void)seed, (void)ret;
	return error_set(e, ST_UNAVAILABLE, "no fits here");
}

enum status local_fit_add(struct local_fit *f, struct bytes text, struct error *e)
{
	(void)f, (void)text;
	return error_set(e, ST_UNAVAILABLE, "no fits here");
}

enum status local_fit_run(struct local_fit *f, bool (*stop)(void *arg),
	void (*progress)(void *arg, double done), void *arg, struct strbuf *blob, struct error *e)
{
	(void)f, (void)stop, (void)progress, (void)arg, (void)blob;
	return error_set(e, ST_UNAVAILABLE, "no fits here");
}

void local_fit_free(struct local_fit *f)
{
	(void)f;
}

void local_model_close(struct local_model *m)
{
	mem_free(m);
}

size_t local_model_dimension(const struct static_model *table)
{
	(void)table;
	return TINY_LOCAL;
}

enum status local_model_identity(const struct static_model *table, struct arena *arena,
	struct bytes *ret)
{
	(void)table;
	return arena_dup_bytes(arena, bytes_of("fake@1+lsa-1"), ret) ? ST_NOMEM : ST_OK;
}

enum status local_model_embed(const struct local_model *m, struct bytes text, float *out,
	struct error *e)
{
	(void)e;
	memset(out, 0, TINY_LOCAL * sizeof(*out));
	if (m->table)
		tiny_vector(text, out);
	return ST_OK;
}

/* ---- remote ---- */

const char *remote_identity(const struct remote *r)
{
	return r->identity;
}

/* Notes the call; what it ends with. */
static enum status ask(const struct bytes *texts, size_t n, bool query,
	const struct remote_call *call, struct error *e)
{
	tiny_models.calls++;
	tiny_models.texts += n;
	tiny_models.query = query;
	tiny_models.stopped = call && call->stop && call->stop(call->arg);
	if (n)
		snprintf(tiny_models.last, sizeof(tiny_models.last), "%.*s", (int)texts[n - 1].len,
			texts[n - 1].data);
	if (tiny_models.stopped)
		return error_set(e, ST_CANCELLED, "cancelled");
	if (tiny_models.fail)
		return error_set(e, tiny_models.fail, "the model is down");
	return ST_OK;
}

/* Twice as long as unit vectors: not every server normalises. */
enum status remote_embed(struct remote *r, const struct bytes *texts, size_t n, bool query,
	const struct remote_call *call, float *out, struct error *e)
{
	enum status st = ask(texts, n, query, call, e);

	(void)r;
	for (size_t i = 0; !st && i < n; i++) {
		tiny_vector(texts[i], out + i * TINY_DIMENSION);
		for (size_t j = 0; j < TINY_DIMENSION; j++)
			out[i * TINY_DIMENSION + j] *= 2;
	}
	return st;
}

/* The length of each text under index 7. */
enum status remote_embed_sparse(struct remote *r, const struct bytes *texts, size_t n,
	const struct remote_call *call, struct arena *arena, struct remote_sparse *ret,
	struct error *e)
{
	enum status st = ask(texts, n, false, call, e);

	(void)r;
	for (size_t i = 0; !st && i < n; i++) {
		ret[i].n = 1;
		ret[i].indices = arena_array(arena, 1, sizeof(uint32_t));
		ret[i].values = arena_array(arena, 1, sizeof(float));
		if (!ret[i].indices || !ret[i].values)
			return error_set(e, ST_NOMEM, "out of memory");
		ret[i].indices[0] = 7;
		ret[i].values[0] = (float)texts[i].len;
	}
	return st;
}

/* The length of each passage, and below 0 for an even one. */
enum status remote_rerank(struct remote *r, struct bytes query, const struct bytes *passages,
	size_t n, const struct remote_call *call, double *out, struct error *e)
{
	enum status st = ask(&query, 1, true, call, e);

	(void)r;
	for (size_t i = 0; !st && i < n; i++)
		out[i] = tiny_models.nan ? (double)NAN
					 : (double)passages[i].len * (passages[i].len % 2 ? 1 : -1);
	return st;
}
