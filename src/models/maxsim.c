/*
 * maxsim.c: MaxSim over the vectors of a static table. A passage's tokens are looked at
 * once each, however often they occur, as only the nearest counts: so a passage costs its
 * tokenising and one dot product for each pair of a query's token and a distinct one of
 * its own.
 */
#include "models/maxsim.h"

#include "models/static_private.h"
#include "util/utf8.h"

/* One passage; best[i] is the cosine of the query's token i with its nearest one. */
struct judged {
	struct judged *next;
	float *best;
};

struct maxsim_query {
	const struct static_model *model;
	const struct rarity *rarity; /* NULL: the passages' */
	struct arena *arena;
	struct judged *first, **last;
	size_t passages;
	size_t n, padded;
	uint32_t *ids, *df; /* of each token: how many passages have it */
	/* The vectors in groups of STATIC_LANES tokens, each group by component: so a row of
	 * the passage meets that many of them in one go (static_dots). */
	size_t groups;
	float *columns;
	float *weights; /* without idf */
};

/*
 * How much a token of the query counts: the length of its row times its weight, which is
 * how much the table lets it count in a mean (rare tokens have long rows). What was
 * measured about others stands in docs/QUALITY.md; nothing else depends on it.
 */
static float weight_of(float length)
{
	return length;
}

static enum status nomem(struct error *e)
{
	return error_set(e, ST_NOMEM, "out of memory");
}

/* Ids that have a vector; unknown ones have none. */
static enum status known_ids(const struct static_model *m, struct bytes text, struct arena *arena,
	uint32_t **ids, size_t *n, struct error *e)
{
	uint32_t unknown;
	bool has_unknown = tokenizer_unknown(m->tokenizer, &unknown);
	size_t kept = 0;
	enum status st;

	if (text.len > STATIC_MAX_TEXT)
		text.len = utf8_floor(text.data, text.len, STATIC_MAX_TEXT);
	st = tokenizer_encode(m->tokenizer, text, arena, ids, n, e);
	for (size_t i = 0; st == ST_OK && i < *n && kept < MAXSIM_MAX_TOKENS; i++)
		if (!has_unknown || (*ids)[i] != unknown)
			(*ids)[kept++] = (*ids)[i];
	*n = kept;
	return st;
}

enum status maxsim_tokens(const struct static_model *m, struct bytes text, struct arena *arena,
	struct maxsim_tokens *ret, struct error *e)
{
	size_t n, kept = 0;
	enum status st;

	*ret = (struct maxsim_tokens){ .dimension = m->dimension };
	st = known_ids(m, text, arena, &ret->ids, &n, e);
	if (st != ST_OK)
		return st;
	ret->vectors = arena_array(arena, n * m->dimension + 1, sizeof *ret->vectors);
	ret->weights = arena_array(arena, n + 1, sizeof *ret->weights);
	if (!ret->vectors || !ret->weights)
		return nomem(e);
	for (size_t i = 0; i < n; i++) {
		float weight =
			static_model_token(m, ret->ids[i], ret->vectors + kept * m->dimension);

		if (!(weight > 0))
			continue;
		ret->ids[kept] = ret->ids[i];
		ret->weights[kept++] = weight_of(weight);
	}
	ret->n = kept;
	return ST_OK;
}

enum status maxsim_query_new(const struct static_model *m, const struct rarity *rarity,
	struct bytes text, struct arena *arena, struct maxsim_query **ret, struct error *e)
{
	struct maxsim_query *q = arena_zero(arena, sizeof *q);
	struct maxsim_tokens tokens;
	enum status st;

	*ret = NULL;
	if (!q)
		return nomem(e);
	st = maxsim_tokens(m, text, arena, &tokens, e);
	if (st != ST_OK)
		return st;
	q->model = m;
	q->rarity = rarity;
	q->padded = static_padded(m);
	q->n = tokens.n;
	q->arena = arena;
	q->last = &q->first;
	q->ids = tokens.ids;
	q->weights = tokens.weights;
	q->df = arena_array(arena, q->n + 1, sizeof *q->df);
	q->groups = (q->n + STATIC_LANES - 1) / STATIC_LANES;
	q->columns =
		arena_array(arena, q->groups * STATIC_LANES * q->padded + 1, sizeof *q->columns);
	if (!q->columns || !q->df)
		return nomem(e);
	for (size_t i = 0; i < q->n; i++) {
		float *group = q->columns + i / STATIC_LANES * STATIC_LANES * q->padded;

		for (size_t d = 0; d < m->dimension; d++)
			group[d * STATIC_LANES + i % STATIC_LANES] =
				tokens.vectors[i * m->dimension + d];
	}
	*ret = q;
	return ST_OK;
}

/* What looking at a passage needs. */
struct scratch {
	uint64_t *seen; /* a bit for each id */
	float *row;
};

static bool has(const struct scratch *s, uint32_t id)
{
	return s->seen[id / 64] >> id % 64 & 1;
}

static void look(const struct maxsim_query *q, struct scratch *s, uint32_t id, float *best)
{
	float length;

	static_row(q->model, id, s->row);
	length = static_dot(s->row, s->row, q->padded);
	if (!(length > 0))
		return;
	length = 1 / __builtin_sqrtf(length);
	for (size_t g = 0; g < q->groups; g++) {
		float *found = best + g * STATIC_LANES, dots[STATIC_LANES];

		static_dots(q->columns + g * STATIC_LANES * q->padded, s->row, q->padded, dots);
		for (size_t i = 0; i < STATIC_LANES; i++)
			found[i] = dots[i] * length > found[i] ? dots[i] * length : found[i];
	}
}

static enum status look_at_all(const struct maxsim_query *q, struct bytes passage,
	struct arena *arena, struct scratch *s, float *best, struct error *e)
{
	uint32_t *ids;
	size_t n;
	enum status st = known_ids(q->model, passage, arena, &ids, &n, e);

	if (st)
		return st;
	s->seen = arena_array(arena, q->model->vocabulary / 64 + 1, sizeof *s->seen);
	s->row = arena_array(arena, q->padded, sizeof *s->row);
	if (!s->seen || !s->row)
		return nomem(e);
	for (size_t i = 0; q->n > 0 && i < n; i++) {
		if (!has(s, ids[i]))
			look(q, s, ids[i], best);
		s->seen[ids[i] / 64] |= UINT64_C(1) << ids[i] % 64;
	}
	return ST_OK;
}

enum status maxsim_add(struct maxsim_query *q, struct bytes passage, struct error *e)
{
	struct judged *j = arena_zero(q->arena, sizeof *j);
	struct scratch s = { NULL, NULL };
	struct arena arena;
	enum status st;

	if (!j)
		return nomem(e);
	j->best = arena_array(q->arena, (q->groups + 1) * STATIC_LANES, sizeof *j->best);
	if (!j->best)
		return nomem(e);
	arena_init(&arena, 0);
	st = look_at_all(q, passage, &arena, &s, j->best, e);
	for (size_t i = 0; st == ST_OK && i < q->n; i++)
		q->df[i] += has(&s, q->ids[i]);
	arena_release(&arena);
	if (st != ST_OK)
		return st;
	*q->last = j;
	q->last = &j->next;
	q->passages++;
	return ST_OK;
}

/* The weight of the query's token i. */
static double weight_in(const struct maxsim_query *q, size_t i)
{
	double idf = q->rarity ? rarity_idf(q->rarity->texts, q->rarity->df[q->ids[i]])
			       : rarity_idf(q->passages, q->df[i]);

	return (double)q->weights[i] * idf;
}

static double score(const struct maxsim_query *q, const float *best)
{
	double sum = 0, total = 0;

	for (size_t i = 0; i < q->n; i++) {
		double weight = weight_in(q, i);

		sum += weight * (double)best[i];
		total += weight;
	}
	sum = total > 0 ? sum / total : 0;
	return sum > 1 ? 1 : sum > 0 ? sum : 0;
}

void maxsim_scores(const struct maxsim_query *q, double *ret)
{
	size_t i = 0;

	for (const struct judged *j = q->first; j; j = j->next)
		ret[i++] = score(q, j->best);
}
