/*
 * lexical_engine.c: measures the whole engine for bench/lexical: rows in SQLite with
 * fsync, analysis, index, columns, views; one JSON object on standard output.
 *
 *   bench_lexical_engine FOLDER [--queries FILE] [--top K] [--limit N] [--no-build]
 *                        [--delete SHARE] [--lang TAG]
 *
 * FOLDER is that of bench_lexical_corpus; the corpus goes to FOLDER/engine. Passages go
 * in by 500 a call, each with a number that filters choose by. A search is what
 * retrieve does before it fetches texts: a view is opened, the question analysed,
 * the filter compiled, the index searched. "fresh" filters have another constant each
 * time, so that nothing of them is cached; "same" ones are asked again and again.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/engine.h"
#include "util/clock.h"
#include "util/mem.h"

#define BATCH 500
#define MAX_QUERIES 1000
#define NUMBERS 1000000000 /* of the field that filters choose by */
#define ROUNDS 3

struct options {
	const char *folder, *queries, *lang;
	size_t top, limit;
	bool build;
	double deleted;
};

struct queries {
	char *text[MAX_QUERIES];
	size_t n;
};

static void die(const char *what, const struct error *e)
{
	(void)fprintf(stderr, "bench_lexical_engine: %s %s %s\n", what, e ? e->message : "",
		e ? e->detail : "");
	exit(1);
}

static FILE *open_file(const struct options *o, const char *name)
{
	char path[1024];
	FILE *f;

	(void)snprintf(path, sizeof(path), "%s/%s", o->folder, name);
	f = fopen(path, "r");
	if (!f)
		die(path, NULL);
	return f;
}

static struct engine *open_engine(const struct options *o, double *ret_ms)
{
	char dir[1024];
	struct engine_options opt = { .dir = dir,
		.readers = 4,
		.language = text_lang_parse(bytes_of(o->lang)),
		.snapshot_ttl_s = 60,
		.max_snapshots = 100,
		.max_fields = 16 };
	uint64_t start = clock_mono_ns();
	struct engine *en;
	struct error e;

	(void)snprintf(dir, sizeof(dir), "%s/engine", o->folder);
	(void)mkdir(dir, 0700);
	if (engine_open(&opt, &en, &e))
		die("open", &e);
	*ret_ms = (double)(clock_mono_ns() - start) / 1e6;
	return en;
}

/* ---- building ---- */

struct batch {
	char *line[BATCH];
	size_t cap[BATCH], n;
	struct engine_document docs[BATCH];
	struct engine_value values[BATCH];
};

static bool read_line(FILE *f, struct batch *b, const struct options *o, uint64_t number)
{
	ssize_t len = getline(&b->line[b->n], &b->cap[b->n], f);
	struct engine_value *v = &b->values[b->n];
	char *line, *tab;

	if (len <= 0)
		return false;
	line = b->line[b->n];
	tab = memchr(line, '\t', (size_t)len);
	*v = (struct engine_value){ .field = bytes_of("number"), .kind = ENGINE_V_INT };
	v->i = (int64_t)((number * UINT64_C(0x9e3779b97f4a7c15) >> 32) * NUMBERS >> 32);
	b->docs[b->n++] = (struct engine_document){ .id = { line, (size_t)(tab - line) },
		.text = { tab + 1, (size_t)(line + len - tab - 2) },
		.lang = bytes_of(o->lang),
		.values = v,
		.value_count = 1 };
	return true;
}

static void send_batch(struct engine *en, struct batch *b)
{
	struct engine_commit commit;
	struct arena arena;
	struct error e;

	arena_init(&arena, 0);
	if (b->n && engine_add(en, b->docs, b->n, NULL, NULL, &arena, &commit, &e))
		die("add", &e);
	arena_release(&arena);
	b->n = 0;
}

static uint64_t build(struct engine *en, const struct options *o)
{
	struct batch *b = mem_zero(sizeof(*b));
	FILE *f = open_file(o, "passages.tsv");
	uint64_t n = 0;

	if (!b)
		die("out of memory", NULL);
	while (read_line(f, b, o, n)) {
		n++;
		if (b->n == BATCH)
			send_batch(en, b);
	}
	send_batch(en, b);
	(void)fclose(f);
	for (size_t i = 0; i < BATCH; i++)
		free(b->line[i]);
	mem_free(b);
	return n;
}

static void delete_some(struct engine *en, const struct options *o)
{
	struct engine_scalar bound = { .i = (int64_t)(o->deleted * NUMBERS) };
	struct engine_filter where = { .kind = ENGINE_LEAF,
		.op = ENGINE_LT,
		.values = &bound,
		.value_count = 1 };
	struct engine_commit commit;
	struct error e;

	if (engine_delete_where(en, &where, NULL, &commit, &e))
		die("delete", &e);
}

/* ---- searching ---- */

static void read_queries(const struct options *o, struct queries *q)
{
	FILE *f = open_file(o, o->queries);
	size_t cap = 0;

	while (q->n < o->limit && q->n < MAX_QUERIES && getline(&q->text[q->n], &cap, f) > 0) {
		q->n++;
		cap = 0;
	}
	(void)fclose(f);
}

/* below: the filter lets through numbers below it; 0: no filter. Returns ms. */
static double search(struct engine *en, const char *text, size_t top, int64_t below)
{
	struct engine_scalar bound = { .i = below };
	struct engine_filter filter = { .kind = ENGINE_LEAF,
		.op = ENGINE_LT,
		.values = &bound,
		.value_count = 1 };
	struct engine_pass *pass = NULL;
	struct engine_candidate *found;
	struct engine_query q;
	struct engine_view *v;
	struct arena arena;
	struct error e;
	size_t n;
	uint64_t start = clock_mono_ns();

	arena_init(&arena, 0);
	if (engine_view_open(en, NULL, &v, &e) ||
		engine_analyze(v, bytes_of(text), &arena, &q, &e) ||
		(below && engine_filter_compile(v, &filter, &arena, &pass, &e)) ||
		engine_recall(v, &q, top, pass, &arena, &found, &n, &e))
		die("search", &e);
	engine_view_close(v);
	arena_release(&arena);
	return (double)(clock_mono_ns() - start) / 1e6;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void print_times(const char *name, double *t, size_t n)
{
	qsort(t, n, sizeof(*t), by_value);
	(void)printf(", \"%s\": {\"p50\": %.4f, \"p99\": %.4f}", name, t[n / 2], t[n * 99 / 100]);
}

/* Of each query the best of its rounds. fresh: each search has a filter of its own. */
static void measure(struct engine *en, const struct queries *q, const struct options *o,
	const char *name, int64_t below, bool fresh)
{
	double *t = mem_array(q->n, sizeof(*t));
	int64_t other = 0;

	if (!t)
		die("out of memory", NULL);
	for (size_t i = 0; i < q->n; i++) {
		t[i] = 1e9;
		for (unsigned r = 0; r < ROUNDS; r++) {
			/* One in a thousand million more or less: the share stays. */
			double ms = search(en, q->text[i], o->top, below + other);

			t[i] = ms < t[i] ? ms : t[i];
			other += fresh;
		}
	}
	print_times(name, t, q->n);
	mem_free(t);
}

struct searcher {
	pthread_t thread;
	struct engine *en;
	const struct queries *q;
	size_t top, first;
	_Atomic bool *stop;
	uint64_t done;
};

static void *search_on(void *arg)
{
	struct searcher *s = arg;

	for (size_t i = s->first; !atomic_load(s->stop); i = (i + 1) % s->q->n) {
		(void)search(s->en, s->q->text[i], s->top, 0);
		s->done++;
	}
	return NULL;
}

static double throughput(struct engine *en, const struct queries *q, size_t top, unsigned threads)
{
	struct searcher s[2];
	_Atomic bool stop = false;
	uint64_t done = 0;

	for (unsigned i = 0; i < threads; i++) {
		s[i] = (struct searcher){ .en = en,
			.q = q,
			.top = top,
			.first = i * q->n / threads,
			.stop = &stop };
		pthread_create(&s[i].thread, NULL, search_on, &s[i]);
	}
	clock_sleep_ms(3000);
	atomic_store(&stop, true);
	for (unsigned i = 0; i < threads; i++) {
		pthread_join(s[i].thread, NULL);
		done += s[i].done;
	}
	return (double)done / 3;
}

/* ---- all of it ---- */

static void parse(int argc, char **argv, struct options *o)
{
	*o = (struct options){ .queries = "queries.txt",
		.lang = "",
		.top = 10,
		.limit = MAX_QUERIES,
		.build = true };
	for (int i = 1; i < argc; i++) {
		const char *value = i + 1 < argc ? argv[i + 1] : "0";

		if (strcmp(argv[i], "--no-build") == 0) {
			o->build = false;
			continue;
		}
		if (argv[i][0] != '-') {
			o->folder = argv[i];
			continue;
		}
		i++;
		if (strcmp(argv[i - 1], "--queries") == 0)
			o->queries = value;
		else if (strcmp(argv[i - 1], "--top") == 0)
			o->top = strtoul(value, NULL, 10);
		else if (strcmp(argv[i - 1], "--limit") == 0)
			o->limit = strtoul(value, NULL, 10);
		else if (strcmp(argv[i - 1], "--delete") == 0)
			o->deleted = strtod(value, NULL);
		else if (strcmp(argv[i - 1], "--lang") == 0)
			o->lang = value;
		else
			die("unknown option", NULL);
	}
	if (!o->folder)
		die("usage: bench_lexical_engine FOLDER [options]", NULL);
}

/* Memory in use without mapped files. */
static long resident_kb(void)
{
	char buf[128] = "", *end = buf;
	FILE *f = fopen("/proc/self/statm", "r");
	long resident, shared;

	if (!f || !fgets(buf, sizeof(buf), f))
		die("/proc/self/statm", NULL);
	(void)fclose(f);
	strtol(end, &end, 10); /* the address space */
	resident = strtol(end, &end, 10);
	shared = strtol(end, &end, 10);
	return (resident - shared) * (sysconf(_SC_PAGESIZE) / 1024);
}

static void report_build(const struct options *o)
{
	double ms;
	struct engine *en = open_engine(o, &ms);
	uint64_t start = clock_mono_ns(), n = build(en, o);
	double built = (double)(clock_mono_ns() - start) / 1e9;

	engine_close(en);
	(void)printf("\"built\": %llu, \"build_s\": %.2f, \"with_close_s\": %.2f, ",
		(unsigned long long)n, built, (double)(clock_mono_ns() - start) / 1e9);
}

static void measure_filters(struct engine *en, const struct queries *q, const struct options *o)
{
	static const struct {
		const char *name;
		int64_t below;
	} cases[] = { { "0.01%", 100000 }, { "1%", 10000000 }, { "50%", 500000000 },
		{ "99%", 990000000 } };
	char name[32];

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		(void)snprintf(name, sizeof(name), "%s same", cases[i].name);
		measure(en, q, o, name, cases[i].below, false);
		(void)snprintf(name, sizeof(name), "%s fresh", cases[i].name);
		measure(en, q, o, name, cases[i].below, true);
	}
}

int main(int argc, char **argv)
{
	struct queries q = { .n = 0 };
	struct engine_stats st;
	struct engine_view *v;
	struct options o;
	struct engine *en;
	struct error e;
	double ms, one;

	parse(argc, argv, &o);
	(void)printf("{");
	if (o.build)
		report_build(&o);
	en = open_engine(&o, &ms);
	if (o.deleted > 0)
		delete_some(en, &o);
	if (engine_view_open(en, NULL, &v, &e) || engine_view_stats(v, &st, &e))
		die("stats", &e);
	engine_view_close(v);
	(void)printf("\"chunks\": %llu, \"open_ms\": %.1f, \"open_rss_kb\": %ld",
		(unsigned long long)st.chunks, ms, resident_kb());
	read_queries(&o, &q);
	measure(en, &q, &o, "no filter", 0, false);
	measure_filters(en, &q, &o);
	one = throughput(en, &q, o.top, 1);
	(void)printf(", \"qps_1\": %.0f, \"qps_2\": %.0f", one, throughput(en, &q, o.top, 2));
	(void)printf(", \"rss_kb\": %ld}\n", resident_kb());
	for (size_t i = 0; i < MAX_QUERIES; i++) /* getline makes one more at the end */
		free(q.text[i]);
	engine_close(en);
	return 0;
}
