/* vector_model.c: see vector_model.h. The search is as plain as can be. */
#include "vector_model.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

uint64_t vrng_next(struct vrng *r)
{
	uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

uint32_t vrng_below(struct vrng *r, uint32_t n)
{
	return (uint32_t)((vrng_next(r) >> 32) * n >> 32);
}

static float between(struct vrng *r)
{
	return (float)((double)(vrng_next(r) >> 11) * 0x1p-52 - 1);
}

/* ---- the index ---- */

void vmodel_open(struct vmodel *m, uint64_t *ret_commit)
{
	struct vectors_options opt = { .dir = m->dir,
		.identity = bytes_of("model"),
		.dimension = m->dimension,
		.head_vectors = m->head_vectors,
		.exact_most = m->exact_most,
		.seed = 3 };
	struct error e = { 0 };

	assert_int_equal(vectors_open(&opt, &m->vs, ret_commit, &e), ST_OK);
}

void vmodel_init(struct vmodel *m, uint64_t seed, size_t dimension, size_t head_vectors,
	size_t exact_most)
{
	uint64_t commit;

	*m = (struct vmodel){ .rng = { seed },
		.dimension = dimension,
		.head_vectors = head_vectors,
		.exact_most = exact_most,
		.gap = 1 };
	snprintf(m->dir, sizeof(m->dir), "vector-test-XXXXXX");
	assert_non_null(mkdtemp(m->dir));
	vmodel_open(m, &commit);
	assert_int_equal(commit, 0);
	assert_int_equal(vectors_last_key(m->vs), INT64_MIN);
}

static void remove_folder(const char *dir)
{
	DIR *d = opendir(dir);
	struct dirent *entry;

	assert_non_null(d);
	while ((entry = readdir(d)))
		if (entry->d_name[0] != '.')
			assert_int_equal(unlinkat(dirfd(d), entry->d_name, 0), 0);
	closedir(d);
	assert_int_equal(rmdir(dir), 0);
}

void vmodel_release(struct vmodel *m)
{
	vectors_close(m->vs);
	remove_folder(m->dir);
	for (size_t i = 0; i < m->count; i++) {
		free(m->v[i].values);
		free(m->v[i].wide);
	}
	free(m->v);
	free(m->centres);
}

void vmodel_draw(struct vmodel *m, float *ret)
{
	const float *centre = NULL;

	if (m->clusters > 0 && !m->centres) {
		m->centres = calloc(m->clusters, m->dimension * sizeof(float));
		assert_non_null(m->centres);
		for (size_t i = 0; i < m->clusters * m->dimension; i++)
			m->centres[i] = between(&m->rng);
	}
	if (m->clusters > 0)
		centre = m->centres + vrng_below(&m->rng, m->clusters) * m->dimension;
	for (size_t i = 0; i < m->dimension; i++)
		ret[i] = (centre ? centre[i] : 0) + (centre ? 0.7F : 1) * between(&m->rng);
	if (ret[0] == 0 && m->dimension == 1)
		ret[0] = 1;
}

static void widen(const struct vmodel *m, const float *values, int16_t *ret)
{
	double sum = 0;

	for (size_t i = 0; i < m->dimension; i++)
		sum += (double)values[i] * values[i];
	for (size_t i = 0; i < m->dimension; i++)
		ret[i] = (int16_t)lrint(values[i] * (32767 / sqrt(sum)));
}

void vmodel_add(struct vmodel *m)
{
	struct vmodel_vector *v;

	if (m->count == m->cap) {
		m->cap = m->cap ? 2 * m->cap : 64;
		m->v = realloc(m->v, m->cap * sizeof(*m->v));
		assert_non_null(m->v);
	}
	v = &m->v[m->count];
	*v = (struct vmodel_vector){ .key = m->count ? m->v[m->count - 1].key : -100,
		.added = m->commit + 1 };
	v->key += 1 + vrng_below(&m->rng, m->gap);
	v->values = calloc(m->dimension, sizeof(float));
	v->wide = calloc(m->dimension, sizeof(int16_t));
	assert_true(v->values && v->wide);
	/* Some the same as others, for ties. */
	if (m->count > 0 && vrng_below(&m->rng, 20) == 0)
		memcpy(v->values, m->v[vrng_below(&m->rng, (uint32_t)m->count)].values,
			m->dimension * sizeof(float));
	else
		vmodel_draw(m, v->values);
	widen(m, v->values, v->wide);
	assert_int_equal(vectors_add(m->vs, v->key, v->values, NULL), ST_OK);
	m->count++;
}

void vmodel_remove_some(struct vmodel *m)
{
	for (int tries = 0; m->count > 0 && tries < 20; tries++) {
		struct vmodel_vector *v = &m->v[vrng_below(&m->rng, (uint32_t)m->count)];

		if (v->removed)
			continue;
		v->removed = m->commit + 1;
		assert_int_equal(vectors_remove(m->vs, v->key, NULL), ST_OK);
		return;
	}
}

void vmodel_publish(struct vmodel *m)
{
	vectors_publish(m->vs, ++m->commit);
}

void vmodel_maintain(struct vmodel *m)
{
	struct error e = { 0 };

	do {
		while (vectors_maintain(m->vs, NULL, &e))
			;
		assert_int_equal(e.code, ST_OK);
		if (vectors_pending(m->vs)) {
			vmodel_publish(m);
			assert_false(vectors_pending(m->vs));
		}
	} while (vectors_maintain(m->vs, NULL, &e));
}

void vmodel_write_all(struct vmodel *m)
{
	for (int i = 0; vectors_persisted_commit(m->vs) < m->commit; i++) {
		assert_true(i < 5);
		vectors_freeze(m->vs);
		vmodel_maintain(m);
	}
}

void vmodel_replay(struct vmodel *m, uint64_t after)
{
	for (uint64_t c = after + 1; c <= m->commit; c++) {
		for (size_t i = 0; i < m->count; i++) {
			struct vmodel_vector *v = &m->v[i];

			if (v->added == c)
				assert_int_equal(vectors_add(m->vs, v->key, v->values, NULL),
					ST_OK);
			if (v->removed == c)
				assert_int_equal(vectors_remove(m->vs, v->key, NULL), ST_OK);
		}
		vectors_publish(m->vs, c);
	}
}

uint64_t vmodel_reopen(struct vmodel *m)
{
	uint64_t commit, persisted = vectors_persisted_commit(m->vs);

	vectors_close(m->vs);
	vmodel_open(m, &commit);
	assert_int_equal(commit, persisted);
	assert_true(commit <= m->commit);
	vmodel_replay(m, commit);
	return commit;
}

/* ---- brute force ---- */

void vmodel_state_take(struct vmodel *m, struct vmodel_state *s)
{
	s->view = vectors_view_get(m->vs);
	s->commit = vectors_view_commit(s->view);
}

void vmodel_state_release(struct vmodel_state *s)
{
	vectors_view_unref(s->view);
}

static bool is_alive(const struct vmodel_vector *v, uint64_t commit)
{
	return v->added <= commit && (v->removed == 0 || v->removed > commit);
}

static double score_of(const struct vmodel *m, const int16_t *a, const int16_t *b)
{
	int64_t sum = 0;
	double score;

	for (size_t i = 0; i < m->dimension; i++)
		sum += (int64_t)a[i] * b[i];
	assert_true(sum <= INT32_MAX && sum >= -INT32_MAX);
	score = (double)sum / (32767.0 * 32767.0);
	return score > 1 ? 1 : score < -1 ? -1 : score;
}

static int compare_hits(const void *a, const void *b)
{
	const struct vectors_hit *x = a, *y = b;

	if (x->score > y->score || x->score < y->score)
		return x->score > y->score ? -1 : 1;
	return (x->key > y->key) - (x->key < y->key);
}

static bool passes(const struct vectors_filter *f, int64_t key)
{
	uint64_t bit = (uint64_t)key - (uint64_t)f->base;

	return key >= f->base && bit < f->count && (f->bits[bit / 64] >> bit % 64 & 1);
}

struct check {
	struct vmodel *m;
	const struct vmodel_state *s;
	struct vectors_query q;
	struct vectors_hit *all; /* all that live and pass, best first */
	size_t n;
	bool lists;
	uint64_t found, of;
};

static void rank_all(struct check *c, const float *query)
{
	int16_t *wide = calloc(c->m->dimension, sizeof(int16_t));

	assert_non_null(wide);
	widen(c->m, query, wide);
	c->n = 0;
	for (size_t i = 0; i < c->m->count; i++) {
		const struct vmodel_vector *v = &c->m->v[i];

		if (is_alive(v, c->s->commit) && (!c->q.filter || passes(c->q.filter, v->key)))
			c->all[c->n++] =
				(struct vectors_hit){ v->key, score_of(c->m, wide, v->wide) };
	}
	qsort(c->all, c->n, sizeof(*c->all), compare_hits);
	free(wide);
}

static void check_exact(const struct check *c, const struct vectors_hit *hits, size_t n)
{
	size_t expect = c->q.k < c->n ? c->q.k : c->n, k = expect;

	while (k > 0 && expect < c->n && expect < k + 64 &&
		!(c->all[expect].score < c->all[k - 1].score))
		expect++;
	assert_int_equal(n, expect);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(hits[i].key, c->all[i].key);
		assert_memory_equal(&hits[i].score, &c->all[i].score, sizeof(double));
	}
}

static void check_lists(struct check *c, const struct vectors_hit *hits, size_t n)
{
	size_t k = c->q.k < c->n ? c->q.k : c->n, at = 0;

	assert_true(n >= k && n <= k + 64);
	for (size_t i = 0; i < n; i++) {
		/* Both are in the same order: so each hit stands further on in all. */
		while (at < c->n && c->all[at].key != hits[i].key)
			at++;
		assert_true(at < c->n);
		assert_memory_equal(&hits[i].score, &c->all[at].score, sizeof(double));
		c->found += i < k && !(hits[i].score < c->all[k - 1].score);
	}
	c->of += k;
}

static void search_once(struct check *c)
{
	struct vectors_hit *hits;
	struct arena arena;
	size_t n;

	arena_init(&arena, 0);
	assert_int_equal(vectors_search(c->s->view, &c->q, &arena, &hits, &n, NULL), ST_OK);
	if (c->q.exact || !c->lists)
		check_exact(c, hits, n);
	else
		check_lists(c, hits, n);
	arena_release(&arena);
}

/* A filter of some selectivity over some of the keys. */
static void draw_filter(struct vmodel *m, struct vectors_filter *f, uint64_t *bits, size_t words)
{
	int64_t first = m->v[0].key, last = m->v[m->count - 1].key;
	uint32_t share = 1 + vrng_below(&m->rng, 100) * vrng_below(&m->rng, 100) / 10;

	f->base = first - 70 + vrng_below(&m->rng, 140);
	f->count = (size_t)(last - first) / (1 + vrng_below(&m->rng, 2)) + 1;
	f->bits = bits;
	f->passing = 0;
	memset(bits, 0, words * sizeof(*bits));
	for (size_t i = 0; i < f->count; i++)
		if (vrng_below(&m->rng, 1000) < share) {
			bits[i / 64] |= UINT64_C(1) << i % 64;
			f->passing++;
		}
}

static void check_scores(struct check *c, const float *query)
{
	struct vmodel *m = c->m;
	float *values = calloc(m->dimension, sizeof(float));
	int64_t keys[20];
	double scores[20];

	assert_non_null(values);
	rank_all(c, query);
	for (size_t i = 0; i < 20; i++)
		keys[i] = i % 4 || c->n == 0 ? m->v[vrng_below(&m->rng, (uint32_t)m->count)].key
					     : c->all[vrng_below(&m->rng, (uint32_t)c->n)].key;
	keys[0] = INT64_MAX;
	assert_int_equal(vectors_score(c->s->view, query, keys, 20, scores, NULL), ST_OK);
	for (size_t i = 0; i < 20; i++) {
		size_t at = 0;

		while (at < c->n && c->all[at].key != keys[i])
			at++;
		assert_int_equal(vectors_get(c->s->view, keys[i], values), at < c->n);
		if (at < c->n)
			assert_memory_equal(&scores[i], &c->all[at].score, sizeof(double));
		else
			assert_true(isnan(scores[i]));
	}
	free(values);
}

uint64_t vmodel_state_check(struct vmodel *m, const struct vmodel_state *s, unsigned n,
	uint64_t *ret_of)
{
	size_t words = m->count ? (size_t)(m->v[m->count - 1].key - m->v[0].key) / 64 + 4 : 1;
	struct check c = { .m = m, .s = s };
	uint64_t *bits = calloc(words, sizeof(*bits));
	float *query = calloc(m->dimension, sizeof(float));
	struct vectors_filter filter;
	struct vectors_stats stats;

	c.all = calloc(m->count + 1, sizeof(*c.all));
	assert_true(bits && query && c.all);
	vectors_view_stats(s->view, &stats);
	c.lists = stats.lists > 0;
	for (unsigned i = 0; m->count > 0 && i < n; i++) {
		vmodel_draw(m, query);
		c.q = (struct vectors_query){ .values = query, .k = 1 + vrng_below(&m->rng, 20) };
		if (vrng_below(&m->rng, 10) == 0)
			c.q.k = m->count + 10;
		check_scores(&c, query);
		assert_int_equal(stats.vectors, c.n);
		for (int j = 0; j < 2; j++) {
			rank_all(&c, query);
			c.q.exact = true;
			search_once(&c);
			c.q.exact = false;
			search_once(&c);
			draw_filter(m, &filter, bits, words);
			c.q.filter = &filter;
		}
	}
	free(bits);
	free(query);
	free(c.all);
	if (ret_of)
		*ret_of = c.of;
	return c.found;
}

uint64_t vmodel_check(struct vmodel *m, unsigned n, uint64_t *ret_of)
{
	struct vmodel_state s;
	uint64_t found;

	vmodel_state_take(m, &s);
	found = vmodel_state_check(m, &s, n, ret_of);
	vmodel_state_release(&s);
	return found;
}
