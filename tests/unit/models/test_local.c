/*
 * test_local.c: the table and the corpus's space as one vector. REQ: X1
 */
#include "../unit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "models/local.h"
#include "util/mem.h"

static float out[4096], table[4096], corpus[CORPUS_DIMENSION];

static double dot(const float *a, const float *b, size_t n)
{
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += (double)a[i] * (double)b[i];
	return sum;
}

static void check(const struct static_model *t, const struct local_model *m,
	const struct corpus_model *c, const char *text)
{
	size_t n = static_model_dimension(t);
	struct error e;
	double own, theirs;

	assert_int_equal(local_model_embed(m, bytes_of(text), out, &e), ST_OK);
	assert_int_equal(static_model_embed(t, bytes_of(text), table, &e), ST_OK);
	assert_int_equal(corpus_model_embed(c, bytes_of(text), corpus, &e), ST_OK);
	own = dot(table, table, n) > 0 ? LOCAL_STATIC_WEIGHT : 0;
	theirs = dot(corpus, corpus, CORPUS_DIMENSION) > 0 ? 1 - LOCAL_STATIC_WEIGHT : 0;
	if (own + theirs > 0) {
		own /= own + theirs;
		theirs = 1 - own;
		assert_true(fabs(dot(out, out, n + CORPUS_DIMENSION) - 1) < 1e-5);
	}
	assert_true(fabs(dot(out, table, n) - sqrt(own)) < 1e-5);
	assert_true(fabs(dot(out + n, corpus, CORPUS_DIMENSION) - sqrt(theirs)) < 1e-5);
}

static void test_both_sides(void **state)
{
	struct static_model *t;
	struct local_model *m;
	struct corpus_model *c;
	struct arena arena;
	struct bytes name;
	struct error e;

	(void)state;
	assert_int_equal(static_model_builtin(&t, &e), ST_OK);
	assert_int_equal(corpus_model_open(BYTES_NONE, &c, &e), ST_OK);
	assert_int_equal(local_model_open(t, BYTES_NONE, &m, &e), ST_OK);
	assert_int_equal(local_model_dimension(t), static_model_dimension(t) + CORPUS_DIMENSION);
	check(t, m, c, "restore a snapshot");
	check(t, m, c, "\xE1\xA2\xB0\xE1\xA2\xB1\xE1\xA2\xB2"); /* no token of the table */
	check(t, m, c, "");
	arena_init(&arena, 0);
	assert_int_equal(local_model_identity(t, &arena, &name), ST_OK);
	assert_memory_equal(name.data, static_model_identity(t), strlen(static_model_identity(t)));
	assert_string_equal(name.data + strlen(static_model_identity(t)), "+" CORPUS_REVISION);
	mem_fail_after(0);
	arena_release(&arena);
	assert_int_equal(local_model_identity(t, &arena, &name), ST_NOMEM);
	mem_fail_after(-1);
	arena_release(&arena);
	local_model_close(m);
	local_model_close(NULL);
	corpus_model_close(c);
	static_model_close(t);
}

static void test_failures(void **state)
{
	struct static_model *t;
	struct local_model *m = NULL;
	struct error e;
	enum status st = ST_NOMEM;
	long i;

	(void)state;
	assert_int_equal(static_model_builtin(&t, &e), ST_OK);
	assert_int_equal(local_model_open(t, bytes_of("nonsense"), &m, &e), ST_INVALID);
	assert_null(m);
	for (i = 0; st == ST_NOMEM && i < 100; i++) {
		mem_fail_after(i);
		st = local_model_open(t, BYTES_NONE, &m, &e);
		mem_fail_after(-1);
	}
	assert_int_equal(st, ST_OK);
	assert_true(i > 1);
	st = ST_NOMEM;
	for (i = 0; st == ST_NOMEM && i < 200; i++) {
		mem_fail_after(i);
		st = local_model_embed(m, bytes_of("a small house"), out, &e);
		mem_fail_after(-1);
	}
	assert_int_equal(st, ST_OK);
	assert_true(i > 2);
	local_model_close(m);
	static_model_close(t);
}

/* ---- fits ---- */

static const char *const words[] = { "river", "engine", "wing", "flow", "heat", "metal", "cell" };

static enum status fit(const struct static_model *t, struct strbuf *blob, struct error *e)
{
	struct local_fit *f = NULL;
	enum status st = local_fit_new(t, 7, &f, e);

	for (unsigned i = 0; !st && i < 40; i++) {
		char text[80];

		snprintf(text, sizeof(text), "%s and %s of system %s", words[i % 7],
			words[i / 3 % 7], i % 4 ? "" : "rare");
		st = local_fit_add(f, bytes_of(text), e);
	}
	if (!st)
		st = local_fit_run(f, NULL, NULL, NULL, blob, e);
	local_fit_free(f);
	return st;
}

static uint64_t df_of(const struct static_model *t, const struct rarity *r, const char *word)
{
	struct arena arena;
	uint32_t *ids;
	size_t n;
	struct error e;
	uint64_t df;

	arena_init(&arena, 0);
	assert_int_equal(tokenizer_encode(static_model_tokenizer(t), bytes_of(word), &arena, &ids,
				 &n, &e),
		ST_OK);
	assert_int_equal(n, 1);
	df = r->df[ids[0]];
	arena_release(&arena);
	return df;
}

static void test_fit(void **state)
{
	struct strbuf blob = STRBUF_INIT;
	struct static_model *t;
	struct local_model *m;
	const struct rarity *r;
	struct error e;

	(void)state;
	assert_int_equal(static_model_builtin(&t, &e), ST_OK);
	assert_int_equal(local_model_open(t, BYTES_NONE, &m, &e), ST_OK);
	assert_null(local_model_rarity(m));
	local_model_close(m);
	assert_int_equal(fit(t, &blob, &e), ST_OK);
	assert_int_equal(local_model_open(t, (struct bytes){ blob.data, blob.len }, &m, &e), ST_OK);
	r = local_model_rarity(m);
	assert_non_null(r);
	assert_int_equal(r->texts, 40);
	assert_int_equal(df_of(t, r, "system"), 40);
	assert_int_equal(df_of(t, r, "rare"), 10);
	assert_int_equal(df_of(t, r, "bicycle"), 0);
	assert_true(rarity_idf(40, 0) > rarity_idf(40, 10));
	assert_true(rarity_idf(40, 40) > 0 && rarity_idf(1, 40) > 0);
	assert_int_equal(local_model_embed(m, bytes_of("system of a wing"), out, &e), ST_OK);
	assert_true(fabs(dot(out, out, local_model_dimension(t)) - 1) < 1e-5);
	local_model_close(m);
	strbuf_release(&blob);
	static_model_close(t);
}

/* A blob that is cut off or damaged anywhere is refused. */
static void test_damaged_fit(void **state)
{
	struct strbuf blob = STRBUF_INIT;
	struct static_model *t;
	struct local_model *m = NULL;
	struct error e;

	(void)state;
	assert_int_equal(static_model_builtin(&t, &e), ST_OK);
	assert_int_equal(fit(t, &blob, &e), ST_OK);
	for (size_t at = 0; at < 200; at++) {
		size_t i = at < 20 ? at : blob.len * (at - 19) / 181;

		i = i < blob.len ? i : blob.len - 1;
		assert_int_equal(local_model_open(t, (struct bytes){ blob.data, i ? i : 1 }, &m,
					 &e),
			ST_INVALID);
		blob.data[i] ^= 0x20;
		assert_int_equal(local_model_open(t, (struct bytes){ blob.data, blob.len }, &m, &e),
			ST_INVALID);
		blob.data[i] ^= 0x20;
	}
	strbuf_release(&blob);
	static_model_close(t);
}

static void test_fit_without_memory(void **state)
{
	struct static_model *t;
	struct error e;
	enum status st = ST_NOMEM;
	unsigned failed = 0;

	(void)state;
	assert_int_equal(static_model_builtin(&t, &e), ST_OK);
	for (long n = 0; st && n < 100000; n += n < 60 ? 1 : n / 20) {
		struct strbuf blob = STRBUF_INIT;

		mem_fail_after(n);
		st = fit(t, &blob, &e);
		mem_fail_after(-1);
		assert_true(st == ST_OK || st == ST_NOMEM);
		failed += st != ST_OK;
		strbuf_release(&blob);
	}
	assert_int_equal(st, ST_OK);
	assert_true(failed > 10);
	static_model_close(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_sides),
		cmocka_unit_test(test_failures),
		cmocka_unit_test(test_fit),
		cmocka_unit_test(test_damaged_fit),
		cmocka_unit_test(test_fit_without_memory),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
