/* filter_fixture.c: see filter_fixture.h. */
#include "filter_fixture.h"

void fx_start(struct fx *x, enum engine_type type)
{
	struct filter_options opt = { 10, 1 << 20 };
	size_t no;

	*x = (struct fx){ .key = 0 };
	assert_int_equal(filter_new(&opt, &x->f, NULL), ST_OK);
	assert_int_equal(filter_define(x->f, bytes_of("field"), type, &no, NULL), ST_OK);
}

void fx_stop(struct fx *x)
{
	filter_view_unref(x->v);
	filter_free(x->f);
}

void fx_add(struct fx *x, const struct engine_value *values, size_t n)
{
	struct filter_value vs[4];

	for (size_t i = 0; i < n; i++)
		vs[i] = (struct filter_value){ 0, values[i] };
	assert_int_equal(filter_add(x->f, ++x->key, vs, n, NULL, NULL), ST_OK);
}

void fx_publish(struct fx *x)
{
	filter_view_unref(x->v);
	x->v = filter_publish(x->f);
	assert_non_null(x->v);
}

uint64_t fx_passing(const struct filter_view *v, const struct engine_filter *tree)
{
	struct lexical_filter bits;
	uint64_t found = 0, count = 0;
	struct arena a;

	arena_init(&a, 0);
	assert_int_equal(filter_eval(v, tree, NULL, &a, &bits, &count, NULL), ST_OK);
	for (int64_t key = 1; key <= 64; key++) {
		uint64_t i = (uint64_t)(key - bits.base);

		if (i < bits.count && bits.bits[i / 64] >> i % 64 & 1)
			found |= UINT64_C(1) << (key - 1);
	}
	arena_release(&a);
	assert_int_equal(count, __builtin_popcountll(found));
	return found;
}

uint64_t fx_ask(const struct fx *x, enum engine_op op, struct engine_scalar s)
{
	struct engine_filter f = fm_leaf(0, op, &s, 1);

	return fx_passing(x->v, &f);
}

uint64_t fx_ask_string(const struct fx *x, enum engine_op op, const char *s)
{
	return fx_ask(x, op, (struct engine_scalar){ .s = bytes_of(s) });
}

uint64_t fx_ask_int(const struct fx *x, enum engine_op op, int64_t i)
{
	return fx_ask(x, op, (struct engine_scalar){ .i = i });
}
