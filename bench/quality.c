/*
 * quality.c: how good are the rankings on a judged collection?
 *
 *   bench_quality [options] FOLDER...
 *
 * Each folder holds docs.jsonl, queries.jsonl, qrels.tsv and meta.json (see
 * docs/QUALITY.md). Everything is analysed by src/text, kept in memory and scored
 * in full: BM25 with idf ln(1 + (N - df + 0.5) / (df + 0.5)), a term that stands
 * twice in the query counts twice, ties go by document id. It is the reference for
 * what the engine's index should give, and the place to try variants.
 *
 * Options: --k1 X (1.2) --b X (0.75) --title W (weight of title terms, 3) --lang TAG
 * (instead of meta.json's; "detect": by text_lang_detect, and meta.json's where that
 * cannot tell) --keep-stops --parts N (bits: parts count 1 in documents, 2 in their
 * length, 4 in queries; 7). Prints a line a folder: name, nDCG@10, Recall@100, MRR@10.
 */
#include <jansson.h>
#include <math.h>

#include "text/analyze.h"
#include "util/hash.h"
#include "util/mem.h"
#include "util/strbuf.h"

#define DEPTH 100
#define IN_DOCUMENTS 1
#define IN_LENGTH 2
#define IN_QUERIES 4

struct posting {
	uint32_t doc;
	float tf;
};
struct word {
	char *term;
	size_t len;
	struct posting *postings;
	size_t n, cap;
};
struct index {
	struct word *words; /* open addressing; cap is a power of two */
	size_t n, cap;
	char **ids;
	float *lengths;
	size_t docs, docs_cap;
	double total;
};
struct options {
	double k1, b, title;
	const char *lang;
	bool keep_stops;
	unsigned parts;
};
struct run {
	const struct options *opt;
	struct text_analyzer *analyzer;
	struct index ix;
	enum text_lang lang;
	bool detect;
	/* Of the text being analysed. */
	bool query;
	float weight;
	double *scores;
	size_t used;
};

static void die(const char *what)
{
	(void)fprintf(stderr, "bench_quality: %s\n", what);
	exit(1);
}

static void *must(void *p)
{
	if (!p)
		die("out of memory");
	return p;
}

static struct word *find(struct index *ix, const char *term, size_t len)
{
	size_t i = hash_bytes(term, len) & (ix->cap - 1);

	while (ix->words[i].term &&
		(ix->words[i].len != len || memcmp(ix->words[i].term, term, len) != 0))
		i = (i + 1) & (ix->cap - 1);
	return &ix->words[i];
}

static void grow(struct index *ix)
{
	struct index bigger = *ix;

	bigger.cap = ix->cap ? ix->cap * 2 : 1 << 16;
	bigger.words = must(mem_array(bigger.cap, sizeof(struct word)));
	for (size_t i = 0; i < ix->cap; i++)
		if (ix->words[i].term)
			*find(&bigger, ix->words[i].term, ix->words[i].len) = ix->words[i];
	mem_free(ix->words);
	*ix = bigger;
}

static void add(struct index *ix, const char *term, size_t len, float weight)
{
	struct word *w;

	if (ix->n * 2 >= ix->cap)
		grow(ix);
	w = find(ix, term, len);
	if (!w->term) {
		w->term = must(mem_dup(term, len));
		w->len = len;
		ix->n++;
	}
	if (w->n && w->postings[w->n - 1].doc == ix->docs) {
		w->postings[w->n - 1].tf += weight;
		return;
	}
	if (w->n == w->cap) {
		w->cap = w->cap ? w->cap * 2 : 2;
		w->postings = must(mem_resize(w->postings, w->cap * sizeof(struct posting)));
	}
	w->postings[w->n++] = (struct posting){ (uint32_t)ix->docs, weight };
}

/* One more occurrence of the term in the query. */
static void score(struct run *r, const char *term, size_t len)
{
	const struct index *ix = &r->ix;
	const struct word *w = find(&r->ix, term, len);
	double n = (double)ix->docs, average = ix->total / n, k1 = r->opt->k1, b = r->opt->b;
	double idf = log(1 + (n - (double)w->n + 0.5) / ((double)w->n + 0.5));

	r->used++;
	for (size_t i = 0; i < w->n; i++) {
		double tf = (double)w->postings[i].tf;
		double norm = k1 * (1 - b + b * (double)ix->lengths[w->postings[i].doc] / average);

		r->scores[w->postings[i].doc] += idf * tf / (tf + norm);
	}
}

static int take(void *arg, const struct text_term *t)
{
	struct run *r = arg;
	bool part = t->flags & TEXT_TERM_PART, inner = t->flags & TEXT_TERM_INNER;

	if (r->query) {
		if (!inner && (r->opt->keep_stops || !(t->flags & TEXT_TERM_STOP)) &&
			(!part || r->opt->parts & IN_QUERIES))
			score(r, t->data, t->len);
		return 0;
	}
	if (part && !(r->opt->parts & IN_DOCUMENTS))
		return 0;
	add(&r->ix, t->data, t->len, r->weight);
	if (!inner && (!part || r->opt->parts & IN_LENGTH))
		r->ix.lengths[r->ix.docs] += r->weight;
	return 0;
}

static void analyze(struct run *r, const char *text)
{
	enum text_lang lang = r->lang;

	if (r->detect)
		lang = text_lang_detect(bytes_of(text));
	if (r->detect && lang == TEXT_LANG_NONE)
		lang = r->lang;
	if (text_analyze(r->analyzer, bytes_of(text), lang, take, r) != ST_OK)
		die("analysis failed");
}

static void add_document(struct run *r, json_t *line)
{
	struct index *ix = &r->ix;

	if (ix->docs == ix->docs_cap) {
		ix->docs_cap = ix->docs_cap ? ix->docs_cap * 2 : 1024;
		ix->ids = must(mem_resize(ix->ids, ix->docs_cap * sizeof(char *)));
		ix->lengths = must(mem_resize(ix->lengths, ix->docs_cap * sizeof(float)));
	}
	ix->ids[ix->docs] = must(mem_strdup(json_string_value(json_object_get(line, "id"))));
	ix->lengths[ix->docs] = 0;
	r->query = false;
	r->weight = (float)r->opt->title;
	if (r->weight > 0)
		analyze(r, json_string_value(json_object_get(line, "title")));
	r->weight = 1;
	analyze(r, json_string_value(json_object_get(line, "text")));
	ix->total += (double)ix->lengths[ix->docs++];
}

/* Judgements: "query\tdocument\tgrade" lines, as read. */
struct qrel {
	char query[64], doc[64];
	double grade;
};
struct qrels {
	struct qrel *rows;
	size_t n;
};

static struct qrels read_qrels(const char *path)
{
	struct qrels q = { NULL, 0 };
	FILE *f = fopen(path, "r");
	struct qrel row;

	if (!f)
		die("no qrels.tsv");
	while (fscanf(f, "%63[^\t]\t%63[^\t]\t%lf\n", row.query, row.doc, &row.grade) == 3) {
		if ((q.n & (q.n - 1)) == 0)
			q.rows = must(mem_resize(q.rows, (q.n ? q.n * 2 : 1) * sizeof(row)));
		q.rows[q.n++] = row;
	}
	(void)fclose(f);
	return q;
}

struct ranked {
	const char *id;
	double score;
};

static int compare_ranked(const void *a, const void *b)
{
	const struct ranked *x = a, *y = b;

	if (x->score != y->score)
		return x->score < y->score ? 1 : -1;
	return strcmp(x->id, y->id);
}

static int compare_grade(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x < y) - (x > y);
}

struct metrics {
	double ndcg, recall, mrr;
	size_t n;
};

static double grade_of(const struct qrels *q, size_t from, size_t to, const char *doc)
{
	for (size_t i = from; i < to; i++)
		if (strcmp(q->rows[i].doc, doc) == 0)
			return q->rows[i].grade;
	return 0;
}

/* The judgements of one query are rows [from, to). */
static void measure(const struct ranked *hits, size_t n, const struct qrels *q, size_t from,
	size_t to, struct metrics *m)
{
	double ideal = 0, dcg = 0, found = 0, all = 0, mrr = 0;
	double *grades = must(mem_array(to - from, sizeof(double)));

	for (size_t i = from; i < to; i++) {
		grades[i - from] = q->rows[i].grade;
		all += q->rows[i].grade > 0;
	}
	qsort(grades, to - from, sizeof(double), compare_grade);
	for (size_t i = 0; i < 10 && i < to - from; i++)
		ideal += grades[i] / log2((double)i + 2);
	for (size_t i = 0; i < n && i < DEPTH; i++) {
		double grade = grade_of(q, from, to, hits[i].id);

		if (i < 10)
			dcg += grade / log2((double)i + 2);
		if (i < 10 && grade > 0 && mrr == 0)
			mrr = 1 / ((double)i + 1);
		found += grade > 0;
	}
	mem_free(grades);
	if (all == 0)
		return;
	m->ndcg += dcg / ideal;
	m->recall += found / all;
	m->mrr += mrr;
	m->n++;
}

static void ask(struct run *r, json_t *line, const struct qrels *q, struct metrics *m)
{
	const char *id = json_string_value(json_object_get(line, "id"));
	struct ranked *hits;
	size_t from = 0, to, n = 0;

	while (from < q->n && strcmp(q->rows[from].query, id) != 0)
		from++;
	for (to = from; to < q->n && strcmp(q->rows[to].query, id) == 0;)
		to++;
	if (from == to)
		return;
	r->query = true;
	r->scores = must(mem_array(r->ix.docs, sizeof(double)));
	analyze(r, json_string_value(json_object_get(line, "text")));
	hits = must(mem_array(r->ix.docs, sizeof(*hits)));
	for (size_t i = 0; i < r->ix.docs; i++)
		if (r->scores[i] > 0)
			hits[n++] = (struct ranked){ r->ix.ids[i], r->scores[i] };
	qsort(hits, n, sizeof(*hits), compare_ranked);
	measure(hits, n, q, from, to, m);
	mem_free(hits);
	mem_free(r->scores);
}

static char *path_of(const char *folder, const char *name)
{
	struct strbuf sb = STRBUF_INIT;

	strbuf_addf(&sb, "%s/%s", folder, name);
	return must(strbuf_detach(&sb, NULL));
}

/* Calls back with each line of a file of JSON lines. */
static void each_line(const char *folder, const char *name,
	void (*what)(struct run *r, json_t *line, const struct qrels *q, struct metrics *m),
	struct run *r, const struct qrels *q, struct metrics *m)
{
	char *path = path_of(folder, name);
	FILE *f = fopen(path, "r");
	json_t *line;
	json_error_t e;

	if (!f)
		die(path);
	while ((line = json_loadf(f, JSON_DISABLE_EOF_CHECK, &e))) {
		what(r, line, q, m);
		json_decref(line);
	}
	(void)fclose(f);
	mem_free(path);
}

static void add_line(struct run *r, json_t *line, const struct qrels *q, struct metrics *m)
{
	(void)q, (void)m;
	add_document(r, line);
}

static void set_language(struct run *r, const char *folder)
{
	char *path = path_of(folder, "meta.json");
	json_error_t e;
	json_t *meta = json_load_file(path, 0, &e);

	if (!meta)
		die(path);
	r->lang = text_lang_parse(bytes_of(json_string_value(json_object_get(meta, "lang"))));
	if (r->opt->lang && strcmp(r->opt->lang, "detect") != 0)
		r->lang = text_lang_parse(bytes_of(r->opt->lang));
	r->detect = r->opt->lang && strcmp(r->opt->lang, "detect") == 0;
	json_decref(meta);
	mem_free(path);
}

static void run_release(struct run *r)
{
	for (size_t i = 0; i < r->ix.cap; i++) {
		mem_free(r->ix.words[i].term);
		mem_free(r->ix.words[i].postings);
	}
	for (size_t i = 0; i < r->ix.docs; i++)
		mem_free(r->ix.ids[i]);
	mem_free(r->ix.words);
	mem_free(r->ix.ids);
	mem_free(r->ix.lengths);
	text_analyzer_free(r->analyzer);
}

static void evaluate(const char *folder, const struct options *opt)
{
	struct run r = { .opt = opt };
	struct metrics m = { 0 };
	char *path = path_of(folder, "qrels.tsv");
	struct qrels q = read_qrels(path);
	const char *name = strrchr(folder, '/');

	name = name ? name + 1 : folder;
	if (text_analyzer_new(&r.analyzer) != ST_OK)
		die("no analyzer");
	set_language(&r, folder);
	grow(&r.ix);
	each_line(folder, "docs.jsonl", add_line, &r, &q, &m);
	each_line(folder, "queries.jsonl", ask, &r, &q, &m);
	if (m.n == 0)
		die("no judged queries");
	(void)printf("%s %.4f %.4f %.4f\n", name, m.ndcg / (double)m.n, m.recall / (double)m.n,
		m.mrr / (double)m.n);
	(void)fflush(stdout);
	run_release(&r);
	mem_free(q.rows);
	mem_free(path);
}

/* Reads one option at argv[i]; returns how many words it took, 0: it is none. */
static int read_option(char **argv, int i, struct options *opt)
{
	const char *name = argv[i], *value = argv[i + 1];

	if (strcmp(name, "--keep-stops") == 0) {
		opt->keep_stops = true;
		return 1;
	}
	if (!value || strncmp(name, "--", 2) != 0)
		return 0;
	if (strcmp(name, "--k1") == 0)
		opt->k1 = strtod(value, NULL);
	else if (strcmp(name, "--b") == 0)
		opt->b = strtod(value, NULL);
	else if (strcmp(name, "--title") == 0)
		opt->title = strtod(value, NULL);
	else if (strcmp(name, "--lang") == 0)
		opt->lang = value;
	else if (strcmp(name, "--parts") == 0)
		opt->parts = (unsigned)strtoul(value, NULL, 10);
	else
		die("unknown option");
	return 2;
}

int main(int argc, char **argv)
{
	struct options opt = { .k1 = 1.2, .b = 0.75, .title = 3, .parts = 7 };
	int i = 1;

	for (int took; i < argc && (took = read_option(argv, i, &opt)) > 0;)
		i += took;
	if (i >= argc)
		die("usage: bench_quality [options] FOLDER...");
	for (; i < argc; i++)
		evaluate(argv[i], &opt);
	return 0;
}
