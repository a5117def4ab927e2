/* fake_dense.c: the vectors of the fake engine: a space of two dimensions. */
#include <math.h>
#include <stdlib.h>

#include "engine/dense.h"
#include "fake_engine.h"

bool engine_view_space(const struct engine_view *v, struct engine_space *ret)
{
	(void)v;
	*ret = (struct engine_space){ .identity = bytes_of("fake"),
		.dimension = 2,
		.number = 1,
		.fit = fake.fit };
	return fake.space;
}

bool engine_vector(struct engine_view *v, int64_t key, float *ret)
{
	const float *own = fake.chunks[key].vector;

	(void)v;
	if (!fake.space || (own[0] == 0 && own[1] == 0))
		return false;
	ret[0] = own[0];
	ret[1] = own[1];
	return true;
}

static double cosine(const float *query, int64_t key)
{
	const float *own = fake.chunks[key].vector;

	if (own[0] == 0 && own[1] == 0)
		return NAN;
	return (double)query[0] * (double)own[0] + (double)query[1] * (double)own[1];
}

static int by_score(const void *a, const void *b)
{
	const struct engine_candidate *x = a, *y = b;
	int c = bytes_cmp(x->doc_id, y->doc_id);

	if (x->score != y->score)
		return x->score < y->score ? 1 : -1;
	return c ? c : (x->chunk > y->chunk) - (x->chunk < y->chunk);
}

enum status engine_near(struct engine_view *v, const float *query, size_t k,
	const struct engine_pass *pass, bool exact, struct arena *arena,
	struct engine_candidate **ret, size_t *ret_n, struct error *e)
{
	struct engine_candidate *all = arena_array(arena, fake.n + 1, sizeof(*all));
	size_t n = 0;

	(void)v, (void)exact;
	fake.nears++;
	if (!all)
		return error_set(e, ST_NOMEM, "out of memory");
	for (size_t i = 0; i < fake.n; i++) {
		const struct fake_chunk *c = &fake.chunks[i];
		double score = cosine(query, (int64_t)i);

		if (!isnan(score) && (!pass || c->passes))
			all[n++] = (struct engine_candidate){ bytes_of(c->id), (int64_t)i, c->chunk,
				score };
	}
	qsort(all, n, sizeof(*all), by_score);
	*ret = all;
	*ret_n = n < k ? n : k;
	return fake.fail == FAKE_NEAR ? error_set(e, ST_IO, "broken on purpose") : ST_OK;
}

enum status engine_cosines(struct engine_view *v, const float *query,
	const struct engine_candidate *c, size_t n, double *ret, struct error *e)
{
	(void)v;
	for (size_t i = 0; i < n; i++)
		ret[i] = cosine(query, c[i].key);
	return fake.fail == FAKE_COSINES ? error_set(e, ST_IO, "broken on purpose") : ST_OK;
}

enum status engine_bm25(struct engine_view *v, const struct engine_query *q,
	const struct engine_candidate *c, size_t n, struct arena *arena, double *ret,
	struct error *e)
{
	(void)v, (void)arena;
	for (size_t i = 0; i < n; i++)
		ret[i] = q->n ? fake.chunks[c[i].key].score : 0;
	return fake.fail == FAKE_BM25 ? error_set(e, ST_IO, "broken on purpose") : ST_OK;
}
