/*
 * filter.c: how long does a filter take? Random chunks with twelve fields, once with a
 * cache of results and once without; prints the median of a first evaluation, over
 * random constants, and that of one whose result is cached, and the memory a key.
 *
 *   bench_filter [--keys N] [--rounds N]
 */
#include <errno.h>

#include "engine/filter/filter.h"

#define MOST_ROUNDS 1000
#define MANY 100 /* values of `in` */

/* The fields: a keyword and an integer for each share of the keys that a constant
 * finds; 0 stands for 99 in 100. Then texts, an instant, a fraction and a bool. */
static const uint32_t shares[] = { 10000, 100, 2, 0 };
enum { KEYWORDS = 0, INTS = 4, PROSE = 8, DATE, FLOAT, BOOL, FIELDS };

struct rng {
	uint64_t state;
};

static uint32_t below(struct rng *r, uint32_t n)
{
	uint64_t x = r->state += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return (uint32_t)((x ^ x >> 31) % n);
}

static uint32_t draw(struct rng *r, uint32_t share)
{
	if (share == 0)
		return below(r, 100) ? 0 : 1 + below(r, 100);
	return below(r, share);
}

static struct bytes name_of(uint32_t no, char buf[16])
{
	(void)snprintf(buf, 16, "word %u", no);
	return bytes_of(buf);
}

static struct filter *filter_make(size_t cache_bytes)
{
	struct filter_options opt = { 100, cache_bytes };
	struct filter *f;

	if (filter_new(&opt, &f, NULL) != ST_OK)
		exit(1);
	for (size_t i = 0; i < FIELDS; i++) {
		enum engine_type type = i < INTS ? ENGINE_KEYWORD
			: i < PROSE              ? ENGINE_INT
			: i == PROSE             ? ENGINE_PROSE
			: i == (size_t)DATE      ? ENGINE_DATE
			: i == (size_t)BOOL      ? ENGINE_BOOL
						 : ENGINE_FLOAT;
		char buf[16];
		size_t no;

		if (filter_define(f, name_of((uint32_t)i, buf), type, &no, NULL) != ST_OK)
			exit(1);
	}
	return f;
}

static void add(struct filter *f, int64_t key, struct rng *r)
{
	struct filter_value v[FIELDS] = { { .field = 0 } };
	char names[4][16], text[64];

	for (size_t i = 0; i < FIELDS; i++) {
		v[i].field = i;
		v[i].v.kind = ENGINE_V_INT;
	}
	for (size_t i = 0; i < 4; i++) {
		v[i].v.kind = ENGINE_V_STRING;
		v[i].v.s = name_of(draw(r, shares[i]), names[i]);
		v[INTS + i].v.i = draw(r, shares[i]);
	}
	(void)snprintf(text, sizeof(text), "text %u and %u", below(r, 300), below(r, 300));
	v[PROSE].v.kind = ENGINE_V_STRING;
	v[PROSE].v.s = bytes_of(text);
	v[DATE].v.i = INT64_C(1700000000000) + below(r, 4000000000U);
	v[FLOAT].v.kind = ENGINE_V_REAL;
	v[FLOAT].v.r = (double)below(r, 1000000) / 1e6;
	v[BOOL].v.kind = ENGINE_V_BOOL;
	v[BOOL].v.i = below(r, 2);
	if (filter_add(f, key, v, FIELDS, NULL, NULL) != ST_OK)
		exit(1);
}

/* ---- the filters ---- */

struct bench {
	struct filter_view *cold, *cached;
	struct rng rng;
	size_t rounds;
	struct engine_filter leaves[5], root;
	struct engine_scalar values[MANY + 5];
	char names[MANY + 5][16];
};

static struct engine_filter leaf(struct bench *b, size_t field, enum engine_op op, size_t at,
	size_t n)
{
	return (struct engine_filter){ .kind = ENGINE_LEAF,
		.field = field,
		.op = op,
		.values = &b->values[at],
		.value_count = n };
}

static void tree_eq(struct bench *b, size_t i)
{
	b->values[0].s = name_of(shares[i] ? below(&b->rng, shares[i]) : 0, b->names[0]);
	b->root = leaf(b, KEYWORDS + i, ENGINE_EQ, 0, 1);
}

/* A range of instants that finds the share. */
static void tree_range(struct bench *b, size_t i)
{
	uint32_t width = shares[i] ? 4000000000U / shares[i] : 3960000000U;
	int64_t from = INT64_C(1700000000000) + below(&b->rng, 4000000000U - width);

	b->values[0].i = from;
	b->values[1].i = from + width;
	b->leaves[0] = leaf(b, DATE, ENGINE_GTE, 0, 1);
	b->leaves[1] = leaf(b, DATE, ENGINE_LT, 1, 1);
	b->root = (struct engine_filter){ .kind = ENGINE_AND, .children = b->leaves, .count = 2 };
}

static void tree_int(struct bench *b, size_t i)
{
	b->values[0].i = shares[i] ? below(&b->rng, shares[i]) : 0;
	b->root = leaf(b, INTS + i, i == 3 ? ENGINE_LTE : ENGINE_EQ, 0, 1);
}

static void tree_in(struct bench *b, size_t i)
{
	for (size_t k = 0; k < MANY; k++) {
		uint32_t no = below(&b->rng, 10000);

		b->values[k].s = name_of(no, b->names[k]);
		b->values[k].i = no;
		b->values[k].r = (double)below(&b->rng, 1000000) / 1e6;
	}
	b->root = leaf(b, i == 0 ? KEYWORDS : i == 1 ? INTS : (size_t)FLOAT, ENGINE_IN, 0, MANY);
}

static void tree_not(struct bench *b, size_t i)
{
	tree_eq(b, i);
	b->leaves[0] = b->root;
	b->root = (struct engine_filter){ .kind = ENGINE_NOT, .children = b->leaves, .count = 1 };
}

static void tree_five(struct bench *b, size_t i)
{
	b->values[0].s = name_of(below(&b->rng, 2), b->names[0]);
	b->values[1].i = below(&b->rng, 90);
	b->values[2].i = INT64_C(1700000000000) + below(&b->rng, 2000000000U);
	b->values[3].r = (double)below(&b->rng, 1000000) / 1e6;
	b->values[4].i = below(&b->rng, 2);
	b->leaves[0] = leaf(b, KEYWORDS + 2, ENGINE_EQ, 0, 1);
	b->leaves[1] = leaf(b, INTS + 1, ENGINE_GT, 1, 1);
	b->leaves[2] = leaf(b, DATE, ENGINE_GT, 2, 1);
	b->leaves[3] = leaf(b, FLOAT, ENGINE_LT, 3, 1);
	b->leaves[4] = leaf(b, BOOL, ENGINE_EQ, 4, 1);
	b->root = (struct engine_filter){ .kind = i ? ENGINE_OR : ENGINE_AND,
		.children = b->leaves,
		.count = 5 };
}

static void tree_contains(struct bench *b, size_t i)
{
	(void)snprintf(b->names[0], 16, "%u", below(&b->rng, 1000));
	b->values[0].s = bytes_of(b->names[0]);
	b->root = leaf(b, i ? (size_t)PROSE : KEYWORDS, ENGINE_CONTAINS, 0, 1);
}

/* ---- measuring ---- */

/* Processor time of this thread: other work on the machine does not count. */
static uint64_t thread_ns(void)
{
	struct timespec ts;

	(void)clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (uint64_t)ts.tv_sec * 1000000000U + (uint64_t)ts.tv_nsec;
}

static uint64_t eval_ns(const struct filter_view *v, const struct engine_filter *tree,
	uint64_t *ret_count)
{
	struct lexical_filter bits;
	struct arena arena;
	uint64_t start = thread_ns(), took;

	arena_init(&arena, 0);
	if (filter_eval(v, tree, NULL, &arena, &bits, ret_count, NULL) != ST_OK)
		exit(1);
	took = thread_ns() - start;
	arena_release(&arena);
	return took;
}

static int by_size(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static void measure(struct bench *b, const char *what, void (*make)(struct bench *, size_t),
	size_t i)
{
	static uint64_t first[MOST_ROUNDS], again[MOST_ROUNDS];
	uint64_t count = 0, sum = 0;

	for (size_t k = 0; k < b->rounds; k++) {
		make(b, i);
		first[k] = eval_ns(b->cold, &b->root, &count);
		(void)eval_ns(b->cached, &b->root, &count);
		again[k] = eval_ns(b->cached, &b->root, &count);
		sum += count;
	}
	qsort(first, b->rounds, sizeof(first[0]), by_size);
	qsort(again, b->rounds, sizeof(again[0]), by_size);
	(void)printf("%-28s %10llu %10.1f %10.1f\n", what, (unsigned long long)(sum / b->rounds),
		(double)first[b->rounds / 2] / 1e3, (double)again[b->rounds / 2] / 1e3);
}

static void measure_all(struct bench *b)
{
	static const char *const percent[] = { "0.01 %", "1 %", "50 %", "99 %" };
	static const char *const kinds[] = { "keyword", "int", "float" };
	char what[64];

	(void)printf("%-28s %10s %10s %10s\n", "filter", "keys", "first us", "cached us");
	for (size_t i = 0; i < 4; i++) {
		(void)snprintf(what, sizeof(what), "keyword eq, %s", percent[i]);
		measure(b, what, tree_eq, i);
	}
	for (size_t i = 0; i < 4; i++) {
		(void)snprintf(what, sizeof(what), "int leaf, %s", percent[i]);
		measure(b, what, tree_int, i);
	}
	for (size_t i = 0; i < 4; i++) {
		(void)snprintf(what, sizeof(what), "date range (2), %s", percent[i]);
		measure(b, what, tree_range, i);
	}
	for (size_t i = 0; i < 3; i++) {
		(void)snprintf(what, sizeof(what), "%s in, %d values", kinds[i], MANY);
		measure(b, what, tree_in, i);
	}
	measure(b, "not keyword eq, 1 %", tree_not, 1);
	measure(b, "and of five", tree_five, 0);
	measure(b, "or of five", tree_five, 1);
	measure(b, "contains, 10,000 keywords", tree_contains, 0);
	measure(b, "contains, 90,000 texts", tree_contains, 1);
}

static bool parse_number(const char *text, size_t max, size_t *ret)
{
	char *end;
	unsigned long long n;

	errno = 0;
	n = strtoull(text, &end, 10);
	if (errno || *end || end == text || n == 0 || n > max)
		return false;
	*ret = (size_t)n;
	return true;
}

int main(int argc, char **argv)
{
	struct filter *filters[2] = { filter_make(0), filter_make((size_t)64 << 20) };
	static struct bench b = { .rng = { 7 }, .rounds = 51 };
	size_t keys = 1000000;
	struct filter_stats stats;
	uint64_t start;

	for (int i = 1; i < argc; i += 2) {
		size_t *ret = strcmp(argv[i], "--keys") == 0 ? &keys
			: strcmp(argv[i], "--rounds") == 0   ? &b.rounds
							     : NULL;

		if (!ret || i + 1 == argc ||
			!parse_number(argv[i + 1], ret == &keys ? 1U << 30 : MOST_ROUNDS, ret))
			return 2;
	}
	for (size_t i = 0; i < 2; i++) {
		struct rng r = { 1 };

		start = thread_ns();
		for (size_t key = 1; key <= keys; key++)
			add(filters[i], (int64_t)key, &r);
		start = thread_ns() - start;
		*(i ? &b.cached : &b.cold) = filter_publish(filters[i]);
	}
	if (!b.cold || !b.cached)
		return 1;
	filter_view_stats(b.cached, &stats);
	(void)printf("%zu keys, %d fields: %.1f bytes a key, %.2f us to add one\n", keys, FIELDS,
		(double)stats.bytes / (double)keys, (double)start / (double)keys / 1e3);
	measure_all(&b);
	filter_view_unref(b.cold);
	filter_view_unref(b.cached);
	filter_free(filters[0]);
	filter_free(filters[1]);
	return 0;
}
