/*
 * Who makes the vectors of a space, the local model as the engine's encoder, and the
 * vectors of queries; over models of a few lines and a view that a test chose.
 */
#include "../unit.h"

#include <string.h>

#include "../methods/tiny_models.h"
#include "util/mem.h"

static struct arena arena;
static struct engine_space space; /* of the view */
static bool has_space;

bool engine_view_space(const struct engine_view *v, struct engine_space *ret)
{
	(void)v;
	if (has_space)
		*ret = space;
	return has_space;
}

static int teardown(void **state)
{
	(void)state;
	arena_release(&arena);
	return 0;
}

static struct models local(void)
{
	return (struct models){ .table = tiny_table() };
}

static struct models with_embedder(void)
{
	return (struct models){ .table = tiny_table(),
		.embedder = tiny_remote("m@host"),
		.embedder_dimension = TINY_DIMENSION };
}

static void view_has(const char *identity, size_t dimension, bool derived, void *model)
{
	has_space = true;
	space = (struct engine_space){ bytes_of(identity), dimension, derived, 1, 0, 0, model };
}

static void test_the_first_space(void **state)
{
	struct models m = local();
	struct engine_encoder enc;

	(void)state;
	assert_true(models_encoder(&m, &arena, &enc));
	assert_true(enc.first.derived);
	assert_int_equal(enc.first.dimension, TINY_LOCAL);
	assert_true(bytes_eq(enc.first.identity, bytes_of("fake@1+lsa-1")));
	m = with_embedder();
	assert_true(models_encoder(&m, &arena, &enc));
	assert_false(enc.first.derived);
	assert_int_equal(enc.first.dimension, TINY_DIMENSION);
	assert_true(bytes_eq(enc.first.identity, bytes_of("m@host")));
	m = (struct models){ .table = tiny_table(), .external_dimension = 3 };
	assert_true(models_encoder(&m, &arena, &enc));
	assert_false(enc.first.derived);
	assert_int_equal(enc.first.dimension, 3);
	assert_true(bytes_eq(enc.first.identity, bytes_of(MODELS_EXTERNAL)));
	m = (struct models){ .table = NULL };
	assert_false(models_encoder(&m, &arena, &enc));
}

static void test_the_encoder_opens_its_own(void **state)
{
	struct models m = local();
	struct engine_encoder enc;
	struct engine_space_spec spec;
	float out[TINY_LOCAL];
	void *model = NULL;
	struct error e;

	(void)state;
	assert_true(models_encoder(&m, &arena, &enc));
	spec = enc.first;
	assert_int_equal(enc.open(enc.arg, &spec, &model, &e), ST_OK);
	assert_int_equal(enc.embed(model, bytes_of("b"), out, &e), ST_OK);
	assert_true(out[1] > 0.99f && out[0] < 0.01f);
	enc.close(model);
	spec.blob = bytes_of("F it");
	assert_int_equal(enc.open(enc.arg, &spec, &model, &e), ST_OK);
	enc.close(model);
	spec.blob = bytes_of("torn");
	assert_int_equal(enc.open(enc.arg, &spec, &model, &e), ST_INVALID);
	spec = enc.first;
	spec.identity = bytes_of("other@1+lsa-1");
	assert_int_equal(enc.open(enc.arg, &spec, &model, &e), ST_INVALID);
	spec = enc.first;
	spec.dimension++;
	assert_int_equal(enc.open(enc.arg, &spec, &model, &e), ST_INVALID);
	spec = enc.first;
	m.table = NULL; /* no local model any more */
	assert_int_equal(enc.open(enc.arg, &spec, &model, &e), ST_INVALID);
}

static void test_who_speaks(void **state)
{
	struct models m = with_embedder();
	struct engine_space got;
	struct error e = { 0 };

	(void)state;
	has_space = false;
	assert_int_equal(models_space(&m, NULL, &got, &e), MODELS_NOBODY);
	assert_int_equal(e.code, ST_UNAVAILABLE);
	assert_non_null(strstr(e.message, "x-rcpd/reembed"));
	view_has("fake@1+lsa-1", TINY_LOCAL, true, &m);
	assert_int_equal(models_space(&m, NULL, &got, &e), MODELS_LOCAL);
	assert_int_equal(got.dimension, TINY_LOCAL);
	view_has("m@host", TINY_DIMENSION, false, NULL);
	assert_int_equal(models_space(&m, NULL, NULL, NULL), MODELS_REMOTE);
	view_has(MODELS_EXTERNAL, 9, false, NULL);
	assert_int_equal(models_space(&m, NULL, &got, &e), MODELS_CLIENT);
	/* Of another dimension, of another model, of a model that is configured no more. */
	view_has("m@host", TINY_DIMENSION + 1, false, NULL);
	assert_int_equal(models_space(&m, NULL, &got, NULL), MODELS_NOBODY);
	view_has("other@host", TINY_DIMENSION, false, NULL);
	assert_int_equal(models_space(&m, NULL, &got, &e), MODELS_NOBODY);
	assert_int_equal(e.code, ST_UNAVAILABLE);
	assert_non_null(strstr(e.message, "other@host"));
	assert_non_null(strstr(e.message, "x-rcpd/reembed"));
	m = (struct models){ .table = NULL };
	view_has("fake@1+lsa-1", TINY_LOCAL, true, NULL);
	assert_int_equal(models_space(&m, NULL, &got, &e), MODELS_NOBODY);
}

static enum status embed(const struct models *m, const char *text, float *out, struct error *e)
{
	memset(&tiny_models, 0, sizeof(tiny_models));
	return models_embed_query(m, NULL, bytes_of(text), NULL, out, e);
}

static void test_queries_of_the_local_model(void **state)
{
	struct models m = local();
	struct engine_encoder enc;
	float out[TINY_LOCAL];
	void *model = NULL;
	struct error e;

	(void)state;
	assert_true(models_encoder(&m, &arena, &enc));
	assert_int_equal(enc.open(enc.arg, &enc.first, &model, &e), ST_OK);
	view_has("fake@1+lsa-1", TINY_LOCAL, true, model);
	assert_int_equal(embed(&m, "c", out, &e), ST_OK);
	assert_true(out[2] > 0.99f);
	assert_int_equal(embed(&m, "?!", out, &e), ST_INVALID); /* REQ: RET-04 */
	assert_int_equal(embed(&m, "", out, &e), ST_INVALID);
	enc.close(model);
}

static void test_queries_of_others(void **state)
{
	struct models m = with_embedder();
	float out[TINY_DIMENSION];
	struct error e;

	(void)state;
	view_has("m@host", TINY_DIMENSION, false, NULL);
	assert_int_equal(embed(&m, "d", out, &e), ST_OK);
	assert_true(tiny_models.query);
	assert_int_equal(embed(&m, " \n\t", out, &e), ST_INVALID);
	assert_int_equal(tiny_models.calls, 0);
	tiny_models.fail = ST_UNAVAILABLE;
	assert_int_equal(models_embed_query(&m, NULL, bytes_of("d"), NULL, out, &e),
		ST_UNAVAILABLE);
	view_has(MODELS_EXTERNAL, TINY_DIMENSION, false, NULL);
	assert_int_equal(embed(&m, "d", out, &e), ST_INVALID);
	assert_string_equal(e.field, "x-rcpd-vector");
	has_space = false;
	assert_int_equal(embed(&m, "d", out, &e), ST_UNAVAILABLE);
}

static void test_allocation_failures(void **state)
{
	struct models m = local();
	struct engine_encoder enc;
	bool passed = false;

	(void)state;
	for (long n = 0; n < 50 && !passed; n++) {
		struct arena own;
		void *model = NULL;
		struct error e;
		enum status st = ST_NOMEM;

		arena_init(&own, 0);
		mem_fail_after(n);
		if (models_encoder(&m, &own, &enc))
			st = enc.open(enc.arg, &enc.first, &model, &e);
		passed = mem_fail_after(-1) <= n;
		assert_int_equal(st, passed ? ST_OK : ST_NOMEM);
		if (model)
			enc.close(model);
		arena_release(&own);
	}
	assert_true(passed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_first_space),
		cmocka_unit_test(test_the_encoder_opens_its_own),
		cmocka_unit_test(test_who_speaks),
		cmocka_unit_test(test_queries_of_the_local_model),
		cmocka_unit_test(test_queries_of_others),
		cmocka_unit_test(test_allocation_failures),
	};

	return cmocka_run_group_tests(tests, NULL, teardown);
}
