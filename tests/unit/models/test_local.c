/*
 * test_local.c: the table and the corpus's space as one vector. REQ: X1
 */
#include "../unit.h"

#include <math.h>
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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_both_sides),
		cmocka_unit_test(test_failures),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
