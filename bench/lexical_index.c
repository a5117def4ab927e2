/*
 * lexical_index.c: measures our inverted index for bench/lexical, one JSON object on
 * standard output.
 *
 *   bench_lexical_index FOLDER [--queries FILE] [--top K] [--rounds N] [--threads N]
 *                       [--no-build] [--merge FACTOR] [--filter PER_MILLION]
 *                       [--delete SHARE]
 *
 * FOLDER is that of bench_lexical_corpus; the index goes to FOLDER/index. A word is what
 * stands between blanks. Each query runs pruned and exhaustively in turn, so that both
 * meet the same machine, and both results are compared bit for bit.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/lexical/lexical.h"
#include "util/clock.h"
#include "util/hash.h"
#include "util/mem.h"

#define MAX_WORDS 4096
#define BATCH 500
#define SLOTS ((size_t)2 * MAX_WORDS)

struct file {
	const char *p, *end;
};

struct options {
	const char *folder, *queries;
	size_t top;
	unsigned rounds, threads, filter, merge;
	bool build;
	double deleted;
};

struct queries {
	struct bytes (*terms)[12];
	size_t *counts, n;
};

static void die(const char *what, const struct error *e)
{
	fprintf(stderr, "bench_lexical_index: %s %s %s\n", what, e ? e->message : "",
		e ? e->detail : "");
	exit(1);
}

static struct file map_file(const char *folder, const char *name)
{
	char path[1024];
	struct stat sb;
	int fd;
	const char *p;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0 || fstat(fd, &sb) != 0 || sb.st_size == 0)
		die(path, NULL);
	p = mmap(NULL, (size_t)sb.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		die(path, NULL);
	close(fd);
	return (struct file){ p, p + sb.st_size };
}

static bool next_line(struct file *f, struct bytes *ret)
{
	const char *nl;

	if (f->p == f->end)
		return false;
	nl = memchr(f->p, '\n', (size_t)(f->end - f->p));
	if (!nl)
		nl = f->end;
	*ret = (struct bytes){ f->p, (size_t)(nl - f->p) };
	f->p = nl < f->end ? nl + 1 : nl;
	return true;
}

static bool next_word(struct bytes *line, struct bytes *ret)
{
	const char *blank;

	if (line->len == 0)
		return false;
	blank = memchr(line->data, ' ', line->len);
	ret->data = line->data;
	ret->len = blank ? (size_t)(blank - line->data) : line->len;
	line->data += ret->len + (blank != NULL);
	line->len -= ret->len + (blank != NULL);
	return true;
}

/* ---- building ---- */

/* Distinct words of a line with their counts; a small open table. */
static size_t count_words(struct bytes line, struct lexical_term *terms, uint32_t *ret_length)
{
	static uint16_t table[SLOTS];
	struct bytes word;
	size_t n = 0;

	memset(table, 0, sizeof(table));
	*ret_length = 0;
	while (next_word(&line, &word) && n < MAX_WORDS) {
		size_t at = hash_bytes(word.data, word.len) % SLOTS;

		++*ret_length;
		while (table[at] && !bytes_eq(terms[table[at] - 1].term, word))
			at = (at + 1) % SLOTS;
		if (table[at]) {
			terms[table[at] - 1].tf++;
		} else {
			terms[n] = (struct lexical_term){ word, 1 };
			table[at] = (uint16_t)++n;
		}
	}
	return n;
}

struct upkeep {
	struct lexical *lx;
	_Atomic bool stop;
};

static void *maintain(void *arg)
{
	struct upkeep *u = arg;
	struct error e = { 0 };

	while (!atomic_load(&u->stop)) {
		if (!lexical_maintain(u->lx, NULL, &e))
			clock_sleep_ms(2);
		if (e.code)
			die("maintain", &e);
	}
	return NULL;
}

/* The longest that a writer or a reader was held up while the maintainer works. */
static double longest_write, longest_read;

static void note_longest(double *longest, uint64_t start)
{
	double ms = (double)(clock_mono_ns() - start) / 1e6;

	*longest = ms > *longest ? ms : *longest;
}

/* Takes a view again and again, as readers do. */
static void *take_views(void *arg)
{
	struct upkeep *u = arg;

	while (!atomic_load(&u->stop)) {
		uint64_t start = clock_mono_ns();

		lexical_view_unref(lexical_view_get(u->lx));
		note_longest(&longest_read, start);
		clock_sleep_ms(1);
	}
	return NULL;
}

static uint64_t build(struct lexical *lx, const struct options *o)
{
	static struct lexical_term terms[MAX_WORDS];
	struct file f = map_file(o->folder, "passages.tsv");
	struct bytes line;
	struct error e = { 0 };
	struct upkeep u = { lx, false };
	pthread_t thread, reader;
	uint64_t n = 0, start;

	pthread_create(&thread, NULL, maintain, &u);
	pthread_create(&reader, NULL, take_views, &u);
	while (next_line(&f, &line)) {
		const char *tab = memchr(line.data, '\t', line.len);
		struct lexical_chunk c = { .key = (int64_t)++n, .terms = terms };

		c.doc_id = (struct bytes){ line.data, (size_t)(tab - line.data) };
		line.len -= c.doc_id.len + 1;
		line.data = tab + 1;
		c.term_count = count_words(line, terms, &c.length);
		start = clock_mono_ns();
		if (lexical_add(lx, &c, &e))
			die("add", &e);
		if (n % BATCH == 0)
			lexical_publish(lx, n / BATCH);
		note_longest(&longest_write, start);
	}
	lexical_publish(lx, n / BATCH + 1);
	lexical_freeze(lx);
	atomic_store(&u.stop, true);
	pthread_join(thread, NULL);
	pthread_join(reader, NULL);
	while (lexical_maintain(lx, NULL, &e))
		;
	return n;
}

/* Deletes a share of the passages, evenly. */
static void delete_some(struct lexical *lx, const struct options *o)
{
	static struct lexical_term terms[MAX_WORDS];
	struct file f = map_file(o->folder, "passages.tsv");
	struct bytes line;
	struct error e = { 0 };
	int64_t key = 0;
	uint32_t length;
	double due = 0;

	while (next_line(&f, &line)) {
		const char *tab = memchr(line.data, '\t', line.len);

		key++;
		due += o->deleted;
		if (due < 1)
			continue;
		due -= 1;
		line.len -= (size_t)(tab - line.data) + 1;
		line.data = tab + 1;
		if (lexical_remove(lx, key, terms, count_words(line, terms, &length), &e))
			die("remove", &e);
	}
	lexical_publish(lx, UINT64_C(1) << 40);
}

/* ---- searching ---- */

static struct queries read_queries(const struct options *o)
{
	struct file f = map_file(o->folder, o->queries);
	struct queries q = { 0 };
	struct bytes line, word;

	q.terms = mem_array(100000, sizeof(*q.terms));
	q.counts = mem_array(100000, sizeof(*q.counts));
	if (!q.terms || !q.counts)
		die("out of memory", NULL);
	while (next_line(&f, &line) && q.n < 100000) {
		while (q.counts[q.n] < 12 && next_word(&line, &word))
			q.terms[q.n][q.counts[q.n]++] = word;
		q.n++;
	}
	return q;
}

static double run(const struct lexical_view *v, const struct queries *qs, size_t i,
	const struct options *o, const struct lexical_filter *f, bool exhaustive,
	struct arena *arena, struct lexical_hit **ret, size_t *ret_n)
{
	struct lexical_query q = { .terms = qs->terms[i],
		.term_count = qs->counts[i],
		.k = o->top,
		.filter = f,
		.exhaustive = exhaustive };
	struct error e = { 0 };
	uint64_t start = clock_mono_ns();

	if (lexical_search(v, &q, arena, ret, ret_n, &e))
		die("search", &e);
	return (double)(clock_mono_ns() - start) / 1e6;
}

static void compare(const struct lexical_hit *a, size_t an, const struct lexical_hit *b, size_t bn)
{
	if (an != bn)
		die("pruned and exhaustive results differ in number", NULL);
	for (size_t i = 0; i < an; i++)
		if (a[i].key != b[i].key || a[i].score < b[i].score || a[i].score > b[i].score)
			die("pruned and exhaustive results differ", NULL);
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void print_times(const char *name, double *t, size_t n)
{
	double sum = 0;

	qsort(t, n, sizeof(*t), by_value);
	for (size_t i = 0; i < n; i++)
		sum += t[i];
	printf(", \"%s\": {\"p50\": %.4f, \"p99\": %.4f, \"mean\": %.4f}", name, t[n / 2],
		t[n * 99 / 100], sum / (double)n);
}

/* Of each query the best of its rounds: what the machine's other work adds is not of
 * interest here. */
static void measure(const struct lexical_view *v, const struct queries *qs, const struct options *o,
	const struct lexical_filter *f)
{
	double *pruned = mem_array(qs->n, sizeof(double)), *all = mem_array(qs->n, sizeof(double));

	if (!pruned || !all)
		die("out of memory", NULL);
	for (size_t i = 0; i < qs->n; i++) {
		pruned[i] = all[i] = 1e9;
		for (unsigned r = 0; r < o->rounds; r++) {
			struct arena arena;
			struct lexical_hit *a, *b;
			size_t an, bn;
			double t;

			arena_init(&arena, 0);
			t = run(v, qs, i, o, f, false, &arena, &a, &an);
			pruned[i] = t < pruned[i] ? t : pruned[i];
			t = run(v, qs, i, o, f, true, &arena, &b, &bn);
			all[i] = t < all[i] ? t : all[i];
			compare(a, an, b, bn);
			arena_release(&arena);
		}
	}
	print_times("pruned", pruned, qs->n);
	print_times("exhaustive", all, qs->n);
	mem_free(pruned);
	mem_free(all);
}

struct searcher {
	pthread_t thread;
	const struct lexical_view *v;
	const struct queries *qs;
	const struct options *o;
	_Atomic bool *stop;
	size_t first;
	uint64_t done;
};

static void *search_on(void *arg)
{
	struct searcher *s = arg;

	for (size_t i = s->first; !atomic_load(s->stop); i = (i + 1) % s->qs->n) {
		struct arena arena;
		struct lexical_hit *hits;
		size_t n;

		arena_init(&arena, 0);
		run(s->v, s->qs, i, s->o, NULL, false, &arena, &hits, &n);
		arena_release(&arena);
		s->done++;
	}
	return NULL;
}

static double throughput(const struct lexical_view *v, const struct queries *qs,
	const struct options *o, unsigned threads)
{
	struct searcher s[64];
	_Atomic bool stop = false;
	uint64_t done = 0;

	for (unsigned i = 0; i < threads; i++) {
		s[i] = (struct searcher){ .v = v,
			.qs = qs,
			.o = o,
			.stop = &stop,
			.first = i * qs->n / threads };
		pthread_create(&s[i].thread, NULL, search_on, &s[i]);
	}
	clock_sleep_ms(2000);
	atomic_store(&stop, true);
	for (unsigned i = 0; i < threads; i++) {
		pthread_join(s[i].thread, NULL);
		done += s[i].done;
	}
	return (double)done / 2;
}

/* One key in so many, spread by a multiplicative hash. */
static uint64_t *make_filter(uint64_t keys, unsigned per_million, struct lexical_filter *f)
{
	uint64_t *bits = mem_array(keys / 64 + 1, sizeof(*bits));

	if (!bits)
		die("out of memory", NULL);
	for (uint64_t i = 0; i < keys; i++)
		if ((i * UINT64_C(0x9e3779b97f4a7c15) >> 32) * 1000000 >> 32 < per_million)
			bits[i / 64] |= UINT64_C(1) << i % 64;
	*f = (struct lexical_filter){ bits, 1, keys };
	return bits;
}

/* ---- all of it ---- */

static void parse(int argc, char **argv, struct options *o)
{
	*o = (struct options){ .queries = "queries.txt",
		.top = 10,
		.rounds = 3,
		.threads = 2,
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
		else if (strcmp(argv[i - 1], "--rounds") == 0)
			o->rounds = (unsigned)strtoul(value, NULL, 10);
		else if (strcmp(argv[i - 1], "--threads") == 0)
			o->threads = (unsigned)strtoul(value, NULL, 10);
		else if (strcmp(argv[i - 1], "--filter") == 0)
			o->filter = (unsigned)strtoul(value, NULL, 10);
		else if (strcmp(argv[i - 1], "--merge") == 0)
			o->merge = (unsigned)strtoul(value, NULL, 10);
		else if (strcmp(argv[i - 1], "--delete") == 0)
			o->deleted = strtod(value, NULL);
		else
			o->folder = NULL;
	}
	if (!o->folder || o->threads > 64)
		die("usage: bench_lexical_index FOLDER [options]", NULL);
}

/* Memory in use without mapped files. */
static long resident_kb(void)
{
	char buf[128] = "", *end = buf;
	FILE *f = fopen("/proc/self/statm", "r");
	long resident, shared;

	if (!f || !fgets(buf, sizeof(buf), f))
		die("/proc/self/statm", NULL);
	fclose(f);
	strtol(end, &end, 10); /* the address space */
	resident = strtol(end, &end, 10);
	shared = strtol(end, &end, 10);
	return (resident - shared) * (sysconf(_SC_PAGESIZE) / 1024);
}

static struct lexical *open_index(const struct options *o, double *ret_ms)
{
	char dir[1024];
	struct lexical_options opt = { .dir = dir,
		.k1 = 1.2,
		.b = 0.75,
		.merge_factor = o->merge,
		.identity = bytes_of("bench") };
	struct lexical *lx;
	struct error e = { 0 };
	uint64_t commit, start = clock_mono_ns();

	snprintf(dir, sizeof(dir), "%s/index", o->folder);
	mkdir(dir, 0700);
	if (lexical_open(&opt, &lx, &commit, &e))
		die("open", &e);
	*ret_ms = (double)(clock_mono_ns() - start) / 1e6;
	return lx;
}

static void report_build(const struct options *o)
{
	double ms;
	struct lexical *lx = open_index(o, &ms);
	uint64_t start = clock_mono_ns(), n = build(lx, o);
	struct rusage ru;

	getrusage(RUSAGE_SELF, &ru);
	printf("\"built\": %llu, \"build_s\": %.2f, \"build_peak_kb\": %ld, "
	       "\"longest_write_ms\": %.3f, \"longest_read_ms\": %.3f, ",
		(unsigned long long)n, (double)(clock_mono_ns() - start) / 1e9, ru.ru_maxrss,
		longest_write, longest_read);
	lexical_close(lx);
}

int main(int argc, char **argv)
{
	struct options o;
	struct lexical *lx;
	struct lexical_view *v;
	struct lexical_stats st;
	struct lexical_filter f;
	struct queries qs;
	uint64_t *bits = NULL;
	double ms, one;

	parse(argc, argv, &o);
	printf("{");
	if (o.build)
		report_build(&o);
	lx = open_index(&o, &ms);
	if (o.deleted > 0)
		delete_some(lx, &o);
	v = lexical_view_get(lx);
	lexical_view_stats(v, &st);
	printf("\"chunks\": %llu, \"segments\": %llu, \"bytes_per_chunk\": %.1f, \"open_ms\": %.1f, "
	       "\"open_rss_kb\": %ld",
		(unsigned long long)st.chunks, (unsigned long long)st.segments,
		(double)st.file_bytes / (double)st.chunks, ms, resident_kb());
	qs = read_queries(&o);
	if (o.filter)
		bits = make_filter(st.chunks + st.deleted, o.filter, &f);
	measure(v, &qs, &o, bits ? &f : NULL);
	if (o.threads > 0) {
		one = throughput(v, &qs, &o, 1);
		printf(", \"qps_1\": %.0f, \"qps_%u\": %.0f", one, o.threads,
			throughput(v, &qs, &o, o.threads));
	}
	printf(", \"rss_kb\": %ld}\n", resident_kb());
	mem_free(bits);
	mem_free(qs.terms);
	mem_free(qs.counts);
	lexical_view_unref(v);
	lexical_close(lx);
	return 0;
}
