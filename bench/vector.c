/*
 * vector.c: how good and how fast is the vector index? Draws clustered vectors, builds the
 * index, and prints as lines of JSON that bench/vector reads: seconds of CPU to build,
 * bytes, recall@k against the exact answers and milliseconds of CPU a query (one thread)
 * at some efforts and under some filters, and what the exact scan takes beside a loop that
 * only reads as many bytes.
 *
 *   bench_vector [--size N] [--dimension N] [--queries N] [--k N] [--members N]
 *                [--exact N] [--load FILE] [--dump FOLDER]
 *
 * --members: vectors to a cluster, on average. --exact: most that are searched without
 * lists (all but one unless given, so that lists are made once, of everything). --load: no
 * drawing, but vectors of a file of floats; the first ones are the queries. With --dump the vectors, queries and exact answers are written to files there, for other
 * programs: base.f32, query.f32, truth.i64.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <unistd.h>

#include "engine/vector/vector.h"

#define SPREAD 0.7F /* of a cluster's members, beside that of the clusters */
#define COMMIT 1000 /* vectors added with one commit */
#define NONE (-1)   /* in the place of a key */

struct rng {
	uint64_t state;
};

struct bench {
	size_t size, dimension, queries, k, members, exact_most;
	const char *dump;
	FILE *load;
	char dir[64];
	struct rng rng;
	size_t clusters;
	float *centres, *decay, *query;
	int64_t *truth;
	struct vectors *vs;
	uint64_t commit;
};

static void must(bool good, const char *what)
{
	if (!good) {
		(void)fprintf(stderr, "bench_vector: %s\n", what);
		exit(1);
	}
}

static void *take(size_t n, size_t size)
{
	void *p = calloc(n, size);

	must(p != NULL, "out of memory");
	return p;
}

static double cpu_seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* ---- data ---- */

static uint64_t draw(struct rng *r)
{
	uint64_t x = r->state += UINT64_C(0x9e3779b97f4a7c15);

	x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
	return x ^ x >> 31;
}

static uint64_t below(struct rng *r, uint64_t n)
{
	return (draw(r) >> 32) * n >> 32;
}

/* Nearly a normal distribution: the sum of eight uniform ones. */
static float normal(struct rng *r)
{
	uint64_t a = draw(r), b = draw(r);
	int32_t sum = 0;

	for (int i = 0; i < 4; i++, a >>= 16, b >>= 16)
		sum += (int32_t)(a & 0xffff) + (int32_t)(b & 0xffff) - 65535;
	return (float)sum / 53510.F;
}

/* As with texts, few directions have most of the variance, and few clusters most of the
 * members: the i-th is drawn as often as the root of its turn says. */
static void draw_vector(struct bench *b, struct rng *r, float *ret)
{
	double u = (double)(draw(r) >> 11) * 0x1p-53;
	const float *centre = b->centres + (size_t)(u * u * (double)b->clusters) * b->dimension;
	float sum = 0;

	if (b->load) {
		must(fread(ret, sizeof(float), b->dimension, b->load) == b->dimension,
			"too few vectors");
		return;
	}
	for (size_t i = 0; i < b->dimension; i++) {
		ret[i] = centre[i] + SPREAD * b->decay[i] * normal(r);
		sum += ret[i] * ret[i];
	}
	for (size_t i = 0; i < b->dimension; i++)
		ret[i] /= sqrtf(sum);
}

static void draw_data(struct bench *b)
{
	b->clusters = b->size / b->members + 1;
	b->decay = take(b->dimension, sizeof(float));
	b->centres = take(b->clusters * b->dimension, sizeof(float));
	b->query = take(b->queries * b->dimension, sizeof(float));
	b->truth = take(b->queries * b->k, sizeof(int64_t));
	for (size_t i = 0; i < b->dimension; i++)
		b->decay[i] = 1 / sqrtf(1 + (float)i / 32);
	for (size_t i = 0; i < b->clusters * b->dimension; i++)
		b->centres[i] = b->decay[i % b->dimension] * normal(&b->rng);
	for (size_t i = 0; i < b->queries; i++)
		draw_vector(b, &b->rng, b->query + i * b->dimension);
}

static FILE *dump_file(const struct bench *b, const char *name)
{
	char path[600];
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/%s", b->dump, name);
	f = fopen(path, "w");
	must(f != NULL, "cannot write the dump");
	return f;
}

static void dump(const struct bench *b, const char *name, const void *p, size_t n)
{
	FILE *f = dump_file(b, name);

	must(fwrite(p, 1, n, f) == n && fclose(f) == 0, "cannot write the dump");
}

/* ---- building ---- */

static void maintain(struct bench *b)
{
	struct error e = { .code = ST_OK };

	do {
		while (vectors_maintain(b->vs, NULL, &e))
			;
		must(e.code == ST_OK, e.message);
		if (vectors_pending(b->vs))
			vectors_publish(b->vs, ++b->commit);
	} while (vectors_maintain(b->vs, NULL, &e));
}

static void build(struct bench *b)
{
	struct vectors_options opt = { .dir = b->dir,
		.identity = bytes_of("bench"),
		.dimension = b->dimension,
		.exact_most = b->exact_most ? b->exact_most : b->size - 1 };
	FILE *f = b->dump ? dump_file(b, "base.f32") : NULL;
	float *values = take(b->dimension, sizeof(float));
	struct error e = { .code = ST_OK };
	double add = 0, start;
	uint64_t commit;

	must(vectors_open(&opt, &b->vs, &commit, &e) == ST_OK, e.message);
	for (size_t i = 0; i < b->size; i++) {
		draw_vector(b, &b->rng, values);
		if (f)
			must(fwrite(values, sizeof(float), b->dimension, f) == b->dimension,
				"dump");
		start = cpu_seconds();
		must(vectors_add(b->vs, (int64_t)i, values, &e) == ST_OK, e.message);
		if (i % COMMIT == COMMIT - 1)
			vectors_publish(b->vs, ++b->commit);
		if (i % 16384 == 16383)
			while (i + 1 < b->size && vectors_maintain(b->vs, NULL, &e))
				;
		add += cpu_seconds() - start;
	}
	vectors_publish(b->vs, ++b->commit);
	printf("{\"what\": \"added\", \"seconds\": %.2f}\n", add);
	if (f)
		must(fclose(f) == 0, "dump");
	free(values);
}

static void print_stats(struct bench *b, double seconds)
{
	struct vectors_view *v = vectors_view_get(b->vs);
	struct vectors_stats s;

	vectors_view_stats(v, &s);
	printf("{\"what\": \"built\", \"vectors\": %llu, \"dimension\": %zu, \"lists\": %llu, "
	       "\"seconds\": %.2f, \"file_mb\": %.1f, \"memory_mb\": %.1f}\n",
		(unsigned long long)s.vectors, b->dimension, (unsigned long long)s.lists, seconds,
		(double)s.file_bytes / 1e6, (double)s.memory_bytes / 1e6);
	vectors_view_unref(v);
}

/* ---- searching ---- */

struct how {
	const struct vectors_filter *filter;
	bool exact;
	double effort;
};

static size_t search(struct bench *b, struct vectors_view *v, size_t i, const struct how *how,
	int64_t *ret)
{
	struct vectors_query q = { .values = b->query + i * b->dimension,
		.k = b->k,
		.filter = how->filter,
		.exact = how->exact,
		.effort = how->effort };
	struct vectors_hit *hits;
	struct arena arena;
	size_t n;

	arena_init(&arena, 0);
	must(vectors_search(v, &q, &arena, &hits, &n, NULL) == ST_OK, "a search failed");
	n = n < b->k ? n : b->k;
	for (size_t j = 0; j < b->k; j++)
		ret[j] = j < n ? hits[j].key : NONE;
	arena_release(&arena);
	return n;
}

/* Answers all queries, n_queries of them; returns milliseconds each. */
static double run(struct bench *b, const struct how *how, size_t queries, int64_t *found,
	size_t *ret_n)
{
	struct vectors_view *v = vectors_view_get(b->vs);
	double start = cpu_seconds();

	*ret_n = 0;
	for (size_t i = 0; i < queries; i++)
		*ret_n += search(b, v, i, how, found + i * b->k);
	vectors_view_unref(v);
	return (cpu_seconds() - start) * 1e3 / (double)queries;
}

static double recall(const struct bench *b, const int64_t *found, const int64_t *truth,
	size_t queries)
{
	size_t hits = 0, all = 0;

	for (size_t i = 0; i < queries * b->k; i++) {
		size_t first = i / b->k * b->k, j = first;

		while (j < first + b->k && found[j] != truth[i])
			j++;
		all += truth[i] != NONE;
		hits += truth[i] != NONE && j < first + b->k;
	}
	return all ? (double)hits / (double)all : 1;
}

/* Milliseconds to read as many bytes, the best of some. */
static double read_memory(size_t bytes)
{
	typedef uint64_t line __attribute__((vector_size(64)));
	size_t n = bytes / sizeof(line), zeros = 0;
	line *p = aligned_alloc(sizeof(line), n * sizeof(line)), sum = { 0 };
	double best = 1e9;

	must(p != NULL, "out of memory");
	memset(p, 1, n * sizeof(line));
	for (int round = 0; round < 9; round++) {
		double start = cpu_seconds(), ms;

		for (size_t i = 0; i < n; i++) {
			__builtin_prefetch((char *)(p + i) + 1024); /* as the kernels do */
			sum ^= p[i] + (uint64_t)i;
		}
		ms = (cpu_seconds() - start) * 1e3;
		best = ms < best ? ms : best;
	}
	for (size_t i = 0; i < 8; i++)
		zeros += sum[i] == 0;
	must(zeros < 8, "the sum");
	free(p);
	return best;
}

static void bench_exact(struct bench *b)
{
	struct how how = { .exact = true };
	size_t bytes = b->size * ((b->dimension + 63) / 64 * 64 + 8), n;
	double ms = run(b, &how, b->queries, b->truth, &n), memory = read_memory(bytes);
	int64_t *again = take(b->queries * b->k, sizeof(int64_t));

	ms = run(b, &how, b->queries, again, &n);
	printf("{\"what\": \"exact\", \"ms\": %.4f, \"read_ms\": %.4f, \"ratio\": %.2f}\n", ms,
		memory, ms / memory);
	free(again);
}

static void bench_efforts(struct bench *b)
{
	static const double efforts[] = { 0.25, 0.5, 0.75, 1, 1.5, 2, 3, 4, 8 };
	int64_t *found = take(b->queries * b->k, sizeof(int64_t));
	size_t n;

	for (size_t i = 0; i < sizeof(efforts) / sizeof(efforts[0]); i++) {
		struct how how = { .effort = efforts[i] };
		double ms = run(b, &how, b->queries, found, &n);

		ms = run(b, &how, b->queries, found, &n);
		printf("{\"what\": \"search\", \"effort\": %.2f, \"recall\": %.4f, \"ms\": %.4f}\n",
			efforts[i], recall(b, found, b->truth, b->queries), ms);
	}
	free(found);
}

/* Keys by chance, and keys that stand together. */
static void bench_filter(struct bench *b, double share)
{
	size_t words = b->size / 64 + 1, n, queries = b->queries < 200 ? b->queries : 200;
	uint64_t *bits = take(words, 8);
	int64_t *truth = take(queries * b->k, sizeof(int64_t)),
		*found = take(queries * b->k, sizeof(int64_t));
	struct vectors_filter filter = { .bits = bits, .count = b->size };
	struct how how = { .filter = &filter, .exact = true };
	double exact, ms;

	for (size_t i = 0; i < b->size; i++)
		if ((double)below(&b->rng, 1000000) < share * 1e6) {
			bits[i / 64] |= UINT64_C(1) << i % 64;
			filter.passing++;
		}
	exact = run(b, &how, queries, truth, &n);
	exact = run(b, &how, queries, truth, &n);
	how.exact = false;
	ms = run(b, &how, queries, found, &n);
	ms = run(b, &how, queries, found, &n);
	printf("{\"what\": \"filter\", \"share\": %g, \"passing\": %llu, \"recall\": %.4f, \"ms\": %.4f, "
	       "\"exact_ms\": %.4f}\n",
		share, (unsigned long long)filter.passing, recall(b, found, truth, queries), ms,
		exact);
	free(bits);
	free(truth);
	free(found);
}

static void remove_folder(const struct bench *b)
{
	DIR *d = opendir(b->dir);
	struct dirent *entry;

	while (d && (entry = readdir(d)))
		(void)unlinkat(dirfd(d), entry->d_name, 0);
	if (d)
		closedir(d);
	(void)rmdir(b->dir);
}

static size_t number(const char *text)
{
	char *end;
	unsigned long long n;

	errno = 0;
	n = strtoull(text, &end, 10);
	must(!errno && !*end && n > 0, "not a number");
	return (size_t)n;
}

static void options(struct bench *b, int argc, char **argv)
{
	for (int i = 1; i < argc; i += 2) {
		must(i + 1 < argc, "an option has no value");
		if (strcmp(argv[i], "--size") == 0)
			b->size = number(argv[i + 1]);
		else if (strcmp(argv[i], "--dimension") == 0)
			b->dimension = number(argv[i + 1]);
		else if (strcmp(argv[i], "--queries") == 0)
			b->queries = number(argv[i + 1]);
		else if (strcmp(argv[i], "--k") == 0)
			b->k = number(argv[i + 1]);
		else if (strcmp(argv[i], "--members") == 0)
			b->members = number(argv[i + 1]);
		else if (strcmp(argv[i], "--exact") == 0)
			b->exact_most = number(argv[i + 1]);
		else if (strcmp(argv[i], "--load") == 0)
			must((b->load = fopen(argv[i + 1], "r")) != NULL,
				"cannot read the vectors");
		else if (strcmp(argv[i], "--dump") == 0)
			b->dump = argv[i + 1];
		else
			must(false, "no such option");
	}
}

int main(int argc, char **argv)
{
	static const double shares[] = { 0.99, 0.5, 0.1, 0.05, 0.02, 0.01, 0.001, 0.0001 };
	struct bench b = { .size = 100000,
		.dimension = 256,
		.queries = 500,
		.k = 10,
		.members = 1000,
		.rng = { 7 } };
	double start;

	options(&b, argc, argv);
	setvbuf(stdout, NULL, _IOLBF, 0);
	(void)snprintf(b.dir, sizeof(b.dir), "bench-vector-XXXXXX");
	must(mkdtemp(b.dir) != NULL, "cannot make a folder");
	draw_data(&b);
	build(&b);
	vectors_freeze(b.vs);
	start = cpu_seconds();
	maintain(&b);
	print_stats(&b, cpu_seconds() - start);
	bench_exact(&b);
	if (b.dump) {
		dump(&b, "query.f32", b.query, b.queries * b.dimension * sizeof(float));
		dump(&b, "truth.i64", b.truth, b.queries * b.k * sizeof(int64_t));
	}
	bench_efforts(&b);
	for (size_t i = 0; i < sizeof(shares) / sizeof(shares[0]); i++)
		bench_filter(&b, shares[i]);
	vectors_close(b.vs);
	remove_folder(&b);
	free(b.decay);
	free(b.centres);
	free(b.query);
	free(b.truth);
	if (b.load)
		(void)fclose(b.load);
	return 0;
}
