/* fake_models.c: see fake_models.h. */
#include "fake_models.h"

#include <stdlib.h>
#include <string.h>

#include "util/clock.h"

struct fake_models fake_models;

struct maxsim_query {
	double scores[4096];
	size_t n;
};

const struct models *fake_models_reset(void)
{
	static char table, cross_encoder, llm;
	static struct models models;

	fake_models = (struct fake_models){ .speaker = MODELS_LOCAL, .query = { 1, 0 } };
	models = (struct models){ .table = (const struct static_model *)&table,
		.colbert = true,
		.cross_encoder = (struct remote *)&cross_encoder,
		.llm = (struct remote *)&llm };
	return &models;
}

enum models_speaker models_space(const struct models *m, const struct engine_view *v,
	struct engine_space *ret, struct error *e)
{
	(void)m;
	if (ret)
		engine_view_space(v, ret);
	if (fake_models.speaker == MODELS_NOBODY)
		error_set(e, ST_UNAVAILABLE, "use x-rcpd/reembed");
	return fake_models.speaker;
}

const struct rarity *models_rarity(const struct models *m, const struct engine_view *v)
{
	(void)m, (void)v;
	return NULL;
}

/* As a real one would: asks its stop until it has had enough. */
static enum status wait_for_stop(const struct remote_call *call, struct error *e)
{
	for (int i = 0; i < 1000; i++) {
		if (call->stop(call->arg))
			return error_set(e, ST_CANCELLED, "cancelled");
		clock_sleep_ms(1);
	}
	return error_set(e, ST_TIMEOUT, "too slow");
}

enum status models_embed_query(const struct models *m, const struct engine_view *v,
	struct bytes text, const struct remote_call *call, float *out, struct error *e)
{
	(void)m, (void)v, (void)text;
	fake_models.embeds++;
	if (fake_models.slow)
		return wait_for_stop(call, e);
	if (fake_models.embed)
		return error_set(e, fake_models.embed, "no vector on purpose");
	memcpy(out, fake_models.query, sizeof(fake_models.query));
	return ST_OK;
}

static double read_score(struct bytes passage)
{
	char text[32];
	size_t n = passage.len < sizeof(text) - 1 ? passage.len : sizeof(text) - 1;

	memcpy(text, passage.data, n);
	text[n] = '\0';
	if (passage.len > fake_models.longest)
		fake_models.longest = passage.len;
	fake_models.judged++;
	return strtod(text, NULL);
}

enum status maxsim_query_new(const struct static_model *m, const struct rarity *rarity,
	struct bytes text, struct arena *arena, struct maxsim_query **ret, struct error *e)
{
	(void)rarity, (void)m, (void)text;
	*ret = arena_zero(arena, sizeof(**ret));
	return *ret ? ST_OK : error_set(e, ST_NOMEM, "out of memory");
}

enum status maxsim_add(struct maxsim_query *q, struct bytes passage, struct error *e)
{
	(void)e;
	q->scores[q->n++] = read_score(passage);
	return ST_OK;
}

void maxsim_scores(const struct maxsim_query *q, double *ret)
{
	memcpy(ret, q->scores, q->n * sizeof(*ret));
}

enum status remote_rerank(struct remote *r, struct bytes query, const struct bytes *passages,
	size_t n, const struct remote_call *call, double *out, struct error *e)
{
	(void)r, (void)query;
	fake_models.remote_calls++;
	if (fake_models.slow)
		return wait_for_stop(call, e);
	if (fake_models.remote)
		return error_set(e, fake_models.remote, "remote failed on purpose");
	for (size_t i = 0; i < n; i++)
		out[i] = read_score(passages[i]);
	return ST_OK;
}

const char *static_model_identity(const struct static_model *m)
{
	(void)m;
	return "table@0123456789ab";
}

const char *remote_identity(const struct remote *r)
{
	(void)r;
	return "judge@there";
}
