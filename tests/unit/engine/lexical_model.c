/* lexical_model.c: see lexical_model.h. The scorer is as plain as can be. */
#include "lexical_model.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "util/mem.h"

#define K1 1.2
#define B 0.75

uint64_t rng_next(struct rng *r)
{
	uint64_t z = r->state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

uint32_t rng_below(struct rng *r, uint32_t n)
{
	return (uint32_t)((rng_next(r) >> 32) * n >> 32);
}

struct bytes model_word(uint32_t no, char buf[16])
{
	/* Some words are starts of others, some share eight bytes and more. */
	int n = no % 3 ? snprintf(buf, 16, "w%u", no) : snprintf(buf, 16, "sameprefix%u", no);

	return (struct bytes){ buf, (size_t)n };
}

void model_open(struct model *m, uint64_t *ret_commit)
{
	struct lexical_options opt = { .dir = m->dir,
		.k1 = K1,
		.b = B,
		.head_chunks = m->head_chunks,
		.merge_factor = m->merge_factor,
		.identity = bytes_of("model") };
	struct error e = { 0 };

	assert_int_equal(lexical_open(&opt, &m->lx, ret_commit, &e), ST_OK);
}

void model_init(struct model *m, uint64_t seed, size_t head_chunks, unsigned merge_factor)
{
	uint64_t commit;

	*m = (struct model){ .rng = { seed },
		.head_chunks = head_chunks,
		.merge_factor = merge_factor,
		.words = 300,
		.gap = 1 };
	snprintf(m->dir, sizeof(m->dir), "lexical-test-XXXXXX");
	assert_non_null(mkdtemp(m->dir));
	model_open(m, &commit);
	assert_int_equal(commit, 0);
}

static void remove_folder(const char *path)
{
	DIR *d = opendir(path);
	struct dirent *en;

	while (d && (en = readdir(d)))
		unlinkat(dirfd(d), en->d_name, 0);
	if (d)
		closedir(d);
	rmdir(path);
}

void model_release(struct model *m)
{
	lexical_close(m->lx);
	remove_folder(m->dir);
	free(m->chunks);
	free(m->added);
	free(m->removed);
}

static void *grow(void *p, size_t n, size_t size)
{
	void *q = realloc(p, n * size);

	assert_non_null(q);
	return q;
}

/* Low word numbers are frequent, as words are. */
static uint16_t draw_word(struct model *m)
{
	uint32_t a = rng_below(&m->rng, m->words), b = rng_below(&m->rng, m->words);

	return (uint16_t)((uint64_t)a * b * rng_below(&m->rng, 100) / ((uint64_t)m->words * 100));
}

static void put_word(struct model_chunk *c, uint16_t word)
{
	for (size_t i = 0; i < c->term_count; i++) {
		if (c->terms[i] == word) {
			c->tfs[i]++;
			return;
		}
	}
	c->terms[c->term_count] = word;
	c->tfs[c->term_count++] = 1;
}

static struct model_chunk *new_chunk(struct model *m)
{
	struct model_chunk *c;

	if (m->count == m->cap) {
		m->cap = m->cap ? 2 * m->cap : 64;
		m->chunks = grow(m->chunks, m->cap, sizeof(*m->chunks));
		m->added = grow(m->added, m->cap, sizeof(*m->added));
		m->removed = grow(m->removed, m->cap, sizeof(*m->removed));
	}
	c = &m->chunks[m->count];
	*c = (struct model_chunk){ 0 };
	c->key = m->count ? m->chunks[m->count - 1].key : -5;
	c->key += 1 + rng_below(&m->rng, m->gap);
	return c;
}

static void fill_chunk(struct model *m, struct model_chunk *c)
{
	uint32_t n = rng_below(&m->rng, MODEL_MAX_TERMS);
	uint32_t id = m->ids ? rng_below(&m->rng, m->ids) : (uint32_t)rng_next(&m->rng);

	snprintf(c->doc_id, sizeof(c->doc_id), "d%u", id);
	c->no = (uint32_t)m->count; /* never the same id and number twice */
	for (uint32_t i = 0; i < n; i++)
		put_word(c, draw_word(m));
	for (size_t i = 0; i < c->term_count; i++) {
		if (rng_below(&m->rng, 200) == 0)
			c->tfs[i] += rng_below(&m->rng, 1000);
		c->length += c->tfs[i];
	}
	if (rng_below(&m->rng, 500) == 0)
		c->length += 70000; /* needs four bytes */
}

static void feed(struct model *m, const struct model_chunk *c, bool remove)
{
	struct lexical_term terms[MODEL_MAX_TERMS];
	char words[MODEL_MAX_TERMS][16];
	struct lexical_chunk chunk = { .key = c->key,
		.doc_id = bytes_of(c->doc_id),
		.no = c->no,
		.length = c->length,
		.terms = terms,
		.term_count = c->term_count };
	struct error e = { 0 };

	for (size_t i = 0; i < c->term_count; i++)
		terms[i] = (struct lexical_term){ model_word(c->terms[i], words[i]), c->tfs[i] };
	if (remove)
		assert_int_equal(lexical_remove(m->lx, c->key, terms, c->term_count, &e), ST_OK);
	else
		assert_int_equal(lexical_add(m->lx, &chunk, &e), ST_OK);
}

void model_add(struct model *m)
{
	struct model_chunk *c = new_chunk(m);

	fill_chunk(m, c);
	feed(m, c, false);
	m->added[m->count] = m->commit + 1;
	m->removed[m->count] = UINT64_MAX;
	m->count++;
}

void model_remove_some(struct model *m)
{
	for (int tries = 0; tries < 20 && m->count > 0; tries++) {
		size_t i = rng_below(&m->rng, (uint32_t)m->count);

		if (m->chunks[i].dead)
			continue;
		feed(m, &m->chunks[i], true);
		m->chunks[i].dead = true;
		m->removed[i] = m->commit + 1;
		return;
	}
}

void model_publish(struct model *m)
{
	lexical_publish(m->lx, ++m->commit);
}

void model_maintain(struct model *m)
{
	struct error e = { 0 };

	while (lexical_maintain(m->lx, NULL, &e))
		;
	assert_int_equal(e.code, ST_OK);
}

/* As the engine does: chunks that live now and came later, deletes that came later.
 * One commit in steps, so that views and heads go through the same states. */
void model_replay(struct model *m, uint64_t after)
{
	for (uint64_t commit = after + 1; commit <= m->commit; commit++) {
		for (size_t i = 0; i < m->count; i++)
			if (m->added[i] == commit && m->removed[i] == UINT64_MAX)
				feed(m, &m->chunks[i], false);
		for (size_t i = 0; i < m->count; i++)
			if (m->removed[i] == commit && m->added[i] <= after)
				feed(m, &m->chunks[i], true);
		lexical_publish(m->lx, commit);
	}
}

uint64_t model_reopen(struct model *m)
{
	uint64_t persisted = lexical_persisted_commit(m->lx), commit;

	lexical_close(m->lx);
	model_open(m, &commit);
	assert_int_equal(commit, persisted);
	model_replay(m, commit);
	return commit;
}

/* ---- states and brute force ---- */

void model_state_take(struct model *m, struct model_state *s)
{
	s->view = lexical_view_get(m->lx);
	s->count = m->count;
	s->commit = m->commit;
	s->alive = malloc(m->count + 1);
	assert_non_null(s->alive);
	for (size_t i = 0; i < m->count; i++)
		s->alive[i] = !m->chunks[i].dead;
}

void model_state_release(struct model_state *s)
{
	lexical_view_unref(s->view);
	free(s->alive);
}

struct truth {
	const struct model_chunk *chunk;
	double score;
};

static uint32_t tf_of(const struct model_chunk *c, uint32_t word)
{
	for (size_t i = 0; i < c->term_count; i++)
		if (c->terms[i] == word)
			return c->tfs[i];
	return 0;
}

static int compare_truth(const void *a, const void *b)
{
	const struct truth *x = a, *y = b;
	int c;

	if (x->score > y->score || x->score < y->score)
		return x->score > y->score ? -1 : 1;
	c = bytes_cmp(bytes_of(x->chunk->doc_id), bytes_of(y->chunk->doc_id));
	return c ? c : (x->chunk->no > y->chunk->no) - (x->chunk->no < y->chunk->no);
}

static size_t count_word(const struct model *m, const struct model_state *s, uint32_t word,
	size_t *ret_chunks, uint64_t *ret_length)
{
	size_t df = 0;

	*ret_chunks = 0;
	*ret_length = 0;
	for (size_t i = 0; i < s->count; i++) {
		if (!s->alive[i])
			continue;
		++*ret_chunks;
		*ret_length += m->chunks[i].length;
		df += tf_of(&m->chunks[i], word) > 0;
	}
	return df;
}

static bool allowed(const struct lexical_filter *f, int64_t key)
{
	uint64_t bit = (uint64_t)(key - f->base);

	return key >= f->base && bit < f->count && (f->bits[bit / 64] >> bit % 64 & 1);
}

static size_t brute_force(const struct model *m, const struct model_state *s, const uint32_t *words,
	size_t n, const struct lexical_filter *f, struct truth *ret)
{
	size_t found = 0, chunks = 0;
	uint64_t length;
	double idf[LEXICAL_MAX_QUERY], average;

	for (size_t i = 0; i < n; i++) {
		double df = (double)count_word(m, s, words[i], &chunks, &length);

		idf[i] = log(1 + ((double)chunks - df + 0.5) / (df + 0.5));
	}
	average = chunks && length ? (double)length / (double)chunks : 1;
	for (size_t c = 0; c < s->count; c++) {
		double norm = K1 * (1 - B + B * m->chunks[c].length / average), sum = 0;

		if (!s->alive[c] || (f && !allowed(f, m->chunks[c].key)))
			continue;
		for (size_t i = 0; i < n; i++) {
			uint32_t tf = tf_of(&m->chunks[c], words[i]);

			if (tf > 0)
				sum += idf[i] * (tf * (K1 + 1) / (tf + norm));
		}
		if (sum > 0)
			ret[found++] = (struct truth){ &m->chunks[c], sum };
	}
	qsort(ret, found, sizeof(*ret), compare_truth);
	return found;
}

static void compare(const struct lexical_hit *hits, size_t n, const struct truth *truth,
	size_t found, size_t k)
{
	assert_int_equal(n, found < k ? found : k);
	for (size_t i = 0; i < n; i++) {
		assert_memory_equal(&hits[i].score, &truth[i].score, sizeof(double));
		assert_int_equal(hits[i].key, truth[i].chunk->key);
		assert_int_equal(hits[i].no, truth[i].chunk->no);
		assert_true(bytes_eq(hits[i].doc_id, bytes_of(truth[i].chunk->doc_id)));
	}
}

/* None, or one of: few, a tenth, half, nearly all. The caller frees bits. */
static bool draw_filter(struct model *m, struct lexical_filter *f, uint64_t **ret_bits)
{
	static const uint32_t of_1000[] = { 3, 100, 500, 990 };
	uint32_t kind = rng_below(&m->rng, 6);
	int64_t first = m->chunks[0].key, last = m->chunks[m->count - 1].key;
	uint64_t *bits;

	*ret_bits = NULL;
	if (kind >= 4)
		return false;
	f->base = first + (int64_t)rng_below(&m->rng, 20) - 10;
	f->count = last - f->base > 5 ? (size_t)(last - f->base - 5) + rng_below(&m->rng, 20) : 3;
	bits = calloc(f->count / 64 + 1, sizeof(*bits));
	assert_non_null(bits);
	for (size_t i = 0; i < f->count / 64 * 64 + 64; i++) /* beyond count, too */
		if (rng_below(&m->rng, 1000) < of_1000[kind])
			bits[i / 64] |= UINT64_C(1) << i % 64;
	f->bits = *ret_bits = bits;
	return true;
}

static void check_one(struct model *m, const struct model_state *s, struct truth *truth)
{
	static const size_t ks[] = { 1, 3, 10, 100, 1000 };
	uint32_t words[12];
	struct bytes terms[12];
	char bufs[12][16];
	struct lexical_filter f;
	struct lexical_query q = { .terms = terms, .term_count = 1 + rng_below(&m->rng, 12) };
	uint64_t *bits;
	size_t found;

	for (size_t i = 0; i < q.term_count; i++) {
		uint32_t kind = rng_below(&m->rng, 10);

		words[i] = kind == 0 ? m->words + i : draw_word(m); /* some are nowhere */
		if (kind == 1 && i > 0)
			words[i] = words[rng_below(&m->rng, (uint32_t)i)];
		terms[i] = model_word(words[i], bufs[i]);
	}
	q.filter = draw_filter(m, &f, &bits) ? &f : NULL;
	found = brute_force(m, s, words, q.term_count, q.filter, truth);
	for (size_t i = 0; i < 2 * sizeof(ks) / sizeof(ks[0]); i++) {
		struct arena arena;
		struct lexical_hit *hits;
		size_t n;
		struct error e = { 0 };

		arena_init(&arena, 0);
		q.k = ks[i / 2];
		q.exhaustive = i % 2;
		assert_int_equal(lexical_search(s->view, &q, &arena, &hits, &n, &e), ST_OK);
		compare(hits, n, truth, found, q.k);
		arena_release(&arena);
	}
	free(bits);
}

void model_state_check(struct model *m, const struct model_state *s, unsigned n)
{
	struct truth *truth = malloc((s->count + 1) * sizeof(*truth));
	struct lexical_stats stats;
	uint64_t length;
	size_t chunks;
	char buf[16];

	assert_non_null(truth);
	for (unsigned i = 0; i < n; i++) {
		uint32_t word = draw_word(m);
		size_t df = count_word(m, s, word, &chunks, &length);

		assert_int_equal(lexical_document_frequency(s->view, model_word(word, buf)), df);
		lexical_view_stats(s->view, &stats);
		assert_int_equal(stats.chunks, chunks);
		assert_int_equal(stats.total_length, length);
		if (s->count > 0)
			check_one(m, s, truth);
	}
	free(truth);
}

void model_check(struct model *m, unsigned n)
{
	struct model_state s;

	model_state_take(m, &s);
	assert_int_equal(lexical_view_commit(s.view), m->commit);
	model_state_check(m, &s, n);
	model_state_release(&s);
}
