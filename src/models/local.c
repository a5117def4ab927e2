/*
 * local.c: a static table and the corpus's own space as one vector. Where one of the two
 * has nothing to say about a text, the other fills the whole length.
 */
#include "models/local.h"

#include <math.h>

#include "util/mem.h"
#include "util/utf8.h"

struct local_model {
	const struct static_model *table;
	struct corpus_model *corpus;
	struct rarity rarity; /* df NULL: no fit */
};

size_t local_model_dimension(const struct static_model *table)
{
	return static_model_dimension(table) + CORPUS_DIMENSION;
}

enum status local_model_identity(const struct static_model *table, struct arena *arena,
	struct bytes *ret)
{
	const char *name = static_model_identity(table);
	size_t n = strlen(name), size = n + sizeof CORPUS_REVISION + 1;
	char *p = arena_alloc(arena, size);

	if (!p)
		return ST_NOMEM;
	(void)snprintf(p, size, "%s+%s", name, CORPUS_REVISION);
	*ret = bytes_of(p);
	return ST_OK;
}

enum status local_model_open(const struct static_model *table, struct bytes blob,
	struct local_model **ret, struct error *e)
{
	struct local_model *m = mem_zero(sizeof *m);
	enum status st;

	*ret = NULL;
	if (!m)
		return error_set(e, ST_NOMEM, "out of memory");
	m->table = table;
	st = blob.len ? rarity_read(&m->rarity, table, &blob, e) : ST_OK;
	if (st == ST_OK)
		st = corpus_model_open(blob, &m->corpus, e);
	if (st != ST_OK) {
		rarity_release(&m->rarity);
		mem_free(m);
		return st;
	}
	*ret = m;
	return ST_OK;
}

void local_model_close(struct local_model *m)
{
	if (!m)
		return;
	corpus_model_close(m->corpus);
	rarity_release(&m->rarity);
	mem_free(m);
}

const struct rarity *local_model_rarity(const struct local_model *m)
{
	return m->rarity.df ? &m->rarity : NULL;
}

static bool blank(const float *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (v[i] != 0)
			return false;
	return true;
}

enum status local_model_embed(const struct local_model *m, struct bytes text, float *out,
	struct error *e)
{
	size_t n = static_model_dimension(m->table);
	enum status st = static_model_embed(m->table, text, out, e);
	float table, corpus;

	if (st == ST_OK && text.len > CORPUS_MAX_TEXT)
		text.len = utf8_floor(text.data, text.len, CORPUS_MAX_TEXT);
	if (st == ST_OK)
		st = corpus_model_embed(m->corpus, text, out + n, e);
	if (st != ST_OK)
		return st;
	table = sqrtf(blank(out + n, CORPUS_DIMENSION) ? 1 : LOCAL_STATIC_WEIGHT);
	corpus = sqrtf(blank(out, n) ? 1 : 1 - LOCAL_STATIC_WEIGHT);
	for (size_t i = 0; i < n; i++)
		out[i] *= table;
	for (size_t i = n; i < n + CORPUS_DIMENSION; i++)
		out[i] *= corpus;
	return ST_OK;
}

/* ---- fitting ---- */

/* Bytes of a text that a fit reads: 20,000 longer ones would take gigabytes. */
#define FIT_TEXT 8192

struct local_fit {
	const struct static_model *table;
	struct corpus_fit *corpus;
	struct rarity rarity;
};

enum status local_fit_new(const struct static_model *table, uint64_t seed, struct local_fit **ret,
	struct error *e)
{
	struct local_fit *f = mem_zero(sizeof *f);
	enum status st;

	if (!f)
		return error_set(e, ST_NOMEM, "out of memory");
	f->table = table;
	st = corpus_fit_new(seed, &f->corpus, e);
	if (st != ST_OK)
		mem_free(f);
	else
		*ret = f;
	return st;
}

enum status local_fit_add(struct local_fit *f, struct bytes text, struct error *e)
{
	enum status st;

	if (text.len > FIT_TEXT)
		text.len = utf8_floor(text.data, text.len, FIT_TEXT);
	st = corpus_fit_add(f->corpus, text, e);

	return st ? st : rarity_count(&f->rarity, f->table, text, e);
}

enum status local_fit_run(struct local_fit *f, bool (*stop)(void *arg),
	void (*progress)(void *arg, double done), void *arg, struct strbuf *blob, struct error *e)
{
	enum status st = ST_OK;

	if (!f->rarity.df) /* of no text at all: as of one without tokens */
		st = rarity_count(&f->rarity, f->table, bytes_of(""), e);
	if (st == ST_OK && !rarity_write(&f->rarity, blob))
		st = error_set(e, ST_NOMEM, "out of memory");
	return st ? st : corpus_fit_run(f->corpus, stop, progress, arg, blob, e);
}

void local_fit_free(struct local_fit *f)
{
	if (!f)
		return;
	corpus_fit_free(f->corpus);
	rarity_release(&f->rarity);
	mem_free(f);
}
