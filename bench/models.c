/*
 * models.c: what do the models in this process cost? Prints the CPU time, on one core, of
 * embedding a query and a document with the table, the corpus's space and both; of
 * judging a passage by late interaction; and of a fit.
 *
 *   bench_models [--texts N]
 *
 * Texts are drawn from the table's own words with Zipf's distribution, always the same
 * ones. Beside each figure stands how many copies of the text's bytes memcpy would make
 * in the same minute: a figure of this machine that does not depend on us.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "models/local.h"
#include "models/maxsim.h"

#define WORDS 20000
#define QUERY_WORDS 8
#define DOCUMENT_WORDS 150 /* about 1 KB */

static uint64_t state = 1;

static double draw(void)
{
	state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
	return (double)(state >> 11) / (double)(UINT64_C(1) << 53);
}

static uint64_t cpu_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

static void die(const char *what)
{
	(void)fprintf(stderr, "bench_models: %s\n", what);
	exit(1);
}

/* ---- texts ---- */

static struct bytes words[WORDS];

static void find_words(const struct static_model *m)
{
	size_t n = 0, vocabulary = static_model_vocabulary(m);

	for (uint32_t id = 2000; id < vocabulary && n < WORDS; id++) {
		struct bytes token = tokenizer_token(static_model_tokenizer(m), id);

		if (token.len > 2 && token.data[0] != '#' && token.data[0] != '[')
			words[n++] = token;
	}
	if (n < WORDS)
		die("the table has too few words");
}

/* Rank r with a share like 1 / r. */
static struct bytes draw_word(void)
{
	size_t rank = (size_t)__builtin_exp(draw() * __builtin_log(WORDS)) - 1;

	return words[rank < WORDS ? rank : WORDS - 1];
}

static struct bytes *make_texts(size_t n, size_t length, struct arena *arena)
{
	struct bytes *texts = arena_array(arena, n, sizeof(*texts));
	struct strbuf sb = STRBUF_INIT;

	for (size_t i = 0; texts && i < n; i++) {
		strbuf_reset(&sb);
		for (size_t w = 0; w < length; w++) {
			struct bytes word = draw_word();

			strbuf_add(&sb, word.data, word.len);
			strbuf_addc(&sb, ' ');
		}
		if (!strbuf_ok(&sb) ||
			arena_dup_bytes(arena, (struct bytes){ sb.data, sb.len }, &texts[i]))
			die("out of memory");
	}
	strbuf_release(&sb);
	if (!texts)
		die("out of memory");
	return texts;
}

/* ---- measuring ---- */

static float out[8192];
static char copy[1 << 20];

enum what { TABLE, CORPUS, LOCAL, COPY };

struct models {
	const struct static_model *table;
	struct corpus_model *corpus;
	struct local_model *local;
};

static void embed(const struct models *m, enum what what, struct bytes text)
{
	enum status st = ST_OK;

	if (what == TABLE)
		st = static_model_embed(m->table, text, out, NULL);
	else if (what == CORPUS)
		st = corpus_model_embed(m->corpus, text, out, NULL);
	else if (what == LOCAL)
		st = local_model_embed(m->local, text, out, NULL);
	else
		memcpy(copy, text.data, text.len < sizeof(copy) ? text.len : sizeof(copy));
	if (st)
		die(status_name(st));
}

/* Nanoseconds a text: the best of five rounds. */
static double time_embed(const struct models *m, enum what what, const struct bytes *texts,
	size_t n)
{
	double best = 0;

	for (int round = 0; round < 5; round++) {
		uint64_t start = cpu_ns();
		double ns;

		for (size_t i = 0; i < n; i++)
			embed(m, what, texts[i]);
		ns = (double)(cpu_ns() - start) / (double)n;
		if (round == 0 || ns < best)
			best = ns;
	}
	return best;
}

static void report(const struct models *m, const char *kind, const struct bytes *texts, size_t n)
{
	static const char *const names[] = { "table", "corpus space", "both" };
	double reference = time_embed(m, COPY, texts, n);

	for (enum what w = TABLE; w <= LOCAL; w++) {
		double ns = time_embed(m, w, texts, n);

		printf("%-9s %-13s %9.2f us  %9.0f a second  %7.0f memcpys\n", kind, names[w],
			ns / 1e3, 1e9 / ns, ns / reference);
	}
}

static void report_maxsim(const struct models *m, struct bytes query, const struct bytes *texts,
	size_t n)
{
	struct maxsim_query *q;
	struct arena arena;
	uint64_t start;
	double us;

	arena_init(&arena, 0);
	start = cpu_ns();
	if (maxsim_query_new(m->table, local_model_rarity(m->local), query, &arena, &q, NULL))
		die("out of memory");
	for (size_t i = 0; i < n; i++)
		if (maxsim_add(q, texts[i], NULL))
			die("out of memory");
	us = (double)(cpu_ns() - start) / 1e3 / (double)n;
	printf("%-9s %-13s %9.2f us  %9.0f a second\n", "passage", "colbert", us, 1e6 / us);
	arena_release(&arena);
}

static void fit(struct models *m, const struct bytes *texts, size_t n)
{
	struct strbuf blob = STRBUF_INIT, space = STRBUF_INIT;
	struct local_fit *f;
	struct corpus_fit *c;
	uint64_t start = cpu_ns();

	if (local_fit_new(m->table, 1, &f, NULL))
		die("out of memory");
	for (size_t i = 0; i < n; i++)
		if (local_fit_add(f, texts[i], NULL))
			die("out of memory");
	if (local_fit_run(f, NULL, NULL, NULL, &blob, NULL))
		die("the fit failed");
	printf("fit       of %zu texts  %9.2f s of CPU, %.1f MB kept\n", n,
		(double)(cpu_ns() - start) / 1e9, (double)blob.len / 1e6);
	local_fit_free(f);
	if (local_model_open(m->table, (struct bytes){ blob.data, blob.len }, &m->local, NULL))
		die("the fit cannot be read");
	if (corpus_fit_new(1, &c, NULL))
		die("out of memory");
	for (size_t i = 0; i < n && i < 1000; i++)
		if (corpus_fit_add(c, texts[i], NULL))
			die("out of memory");
	if (corpus_fit_run(c, NULL, NULL, NULL, &space, NULL) ||
		corpus_model_open((struct bytes){ space.data, space.len }, &m->corpus, NULL))
		die("the fit failed");
	corpus_fit_free(c);
	strbuf_release(&blob);
	strbuf_release(&space);
}

int main(int argc, char **argv)
{
	struct static_model *table;
	struct models m;
	struct bytes *queries, *documents;
	struct arena arena;
	size_t n = 5000;

	if (argc == 3 && strcmp(argv[1], "--texts") == 0)
		n = strtoul(argv[2], NULL, 10);
	if ((argc != 1 && argc != 3) || n < 100 || n > 100000) {
		(void)fputs("usage: bench_models [--texts 100..100000]\n", stderr);
		return 2;
	}
	if (static_model_builtin(&table, NULL))
		die("the table cannot be read");
	m.table = table;
	find_words(table);
	arena_init(&arena, 0);
	queries = make_texts(n, QUERY_WORDS, &arena);
	documents = make_texts(n, DOCUMENT_WORDS, &arena);
	fit(&m, documents, n);
	report(&m, "query", queries, n);
	report(&m, "1 KB text", documents, n);
	report_maxsim(&m, queries[0], documents, n < 1000 ? n : 1000);
	corpus_model_close(m.corpus);
	local_model_close(m.local);
	static_model_close(table);
	arena_release(&arena);
	return 0;
}
