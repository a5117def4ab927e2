/*
 * tokenize.c: the tokenizer and the static table on a pipe, for the tests that compare
 * them with their references (tests/conformance/test_tokenizer.py): JSON strings in, a
 * line of ids or of numbers out for each.
 *
 *   tokenize ids TOKENIZER.json      tokenize ids builtin
 *   tokenize vectors FOLDER          tokenize vectors builtin
 *   tokenize time FOLDER|builtin     what opening, queries and documents cost
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "models/maxsim.h"
#include "models/static.h"

/* Processor time: what others do meanwhile does not count. */
static uint64_t now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

static int fail(const struct error *e)
{
	(void)fprintf(stderr, "tokenize: %s\n", e->message);
	return 1;
}

static char *whole_file(const char *path, size_t *len)
{
	FILE *f = fopen(path, "rb");
	char *p = NULL;
	long n;

	if (!f || fseek(f, 0, SEEK_END) != 0 || (n = ftell(f)) < 0 || fseek(f, 0, SEEK_SET) != 0)
		exit(2);
	p = malloc((size_t)n + 1);
	if (!p || fread(p, 1, (size_t)n, f) != (size_t)n)
		exit(2);
	(void)fclose(f);
	*len = (size_t)n;
	return p;
}

static bool print_ids(const struct tokenizer *t, struct bytes text)
{
	struct arena arena;
	struct error e;
	uint32_t *ids;
	size_t n;
	bool ok;

	arena_init(&arena, 0);
	ok = tokenizer_encode(t, text, &arena, &ids, &n, &e) == ST_OK;
	for (size_t i = 0; ok && i < n; i++)
		(void)printf("%s%u", i ? " " : "", ids[i]);
	(void)printf("\n");
	arena_release(&arena);
	return ok;
}

static bool print_vector(const struct static_model *m, struct bytes text)
{
	size_t n = static_model_dimension(m);
	float *out = calloc(n, sizeof *out);
	struct error e;
	bool ok = out && static_model_embed(m, text, out, &e) == ST_OK;

	for (size_t i = 0; ok && i < n; i++)
		(void)printf("%s%.9g", i ? " " : "", (double)out[i]);
	(void)printf("\n");
	free(out);
	return ok;
}

/* Every line is handed to one of the two. */
static int lines(const struct tokenizer *t, const struct static_model *m)
{
	char *line = NULL;
	size_t cap = 0;
	ssize_t len;
	bool ok = true;

	while (ok && (len = getline(&line, &cap, stdin)) > 0) {
		json_t *v = json_loadb(line, (size_t)len, JSON_DECODE_ANY | JSON_ALLOW_NUL, NULL);
		struct bytes text = { json_string_value(v), json_string_length(v) };

		ok = v && (m ? print_vector(m, text) : print_ids(t, text));
		json_decref(v);
	}
	free(line);
	return ok ? 0 : 1;
}

static void time_embed(const struct static_model *m, const char *what, struct bytes text,
	unsigned times)
{
	float *out = calloc(static_model_dimension(m), sizeof *out);
	struct arena arena;
	struct error e;
	uint32_t *ids;
	size_t n = 0;
	uint64_t start;

	arena_init(&arena, 0);
	if (!out ||
		tokenizer_encode(static_model_tokenizer(m), text, &arena, &ids, &n, &e) != ST_OK)
		exit(2);
	start = now();
	for (unsigned i = 0; i < times; i++)
		if (static_model_embed(m, text, out, &e) != ST_OK)
			exit(2);
	start = (now() - start) / times;
	(void)printf("%s: %zu tokens, %llu ns, %.1f ns/token\n", what, n, (unsigned long long)start,
		(double)start / (double)(n ? n : 1));
	arena_release(&arena);
	free(out);
}

static void time_maxsim(const struct static_model *m, struct bytes query, struct bytes passage,
	unsigned times)
{
	struct maxsim_query *q;
	struct arena arena;
	struct error e;
	double *scores;
	uint64_t start;

	arena_init(&arena, 0);
	if (maxsim_query_new(m, NULL, query, &arena, &q, &e) != ST_OK)
		exit(2);
	start = now();
	for (unsigned i = 0; i < times; i++)
		if (maxsim_add(q, passage, &e) != ST_OK)
			exit(2);
	scores = arena_array(&arena, times, sizeof(*scores));
	if (!scores)
		exit(2);
	maxsim_scores(q, scores);
	(void)printf("maxsim: %llu ns a passage, score %.6f\n",
		(unsigned long long)(now() - start) / times, scores[0]);
	arena_release(&arena);
}

static int timings(const struct static_model *m, uint64_t opened)
{
	static const char query[] = "how do I restore a table from a snapshot of the cluster";
	char *text = NULL;
	size_t cap = 0;
	ssize_t len = getdelim(&text, &cap, -1, stdin);

	(void)printf("open: %.2f ms, %s, %zu dimensions\n", (double)opened / 1e6,
		static_model_identity(m), static_model_dimension(m));
	time_embed(m, "query", bytes_of(query), 20000);
	if (len > 0) {
		time_embed(m, "document", (struct bytes){ text, (size_t)len }, 20);
		time_maxsim(m, bytes_of(query),
			(struct bytes){ text, len > 1500 ? 1500 : (size_t)len }, 2000);
	}
	free(text);
	return 0;
}

int main(int argc, char **argv)
{
	struct static_model *m = NULL;
	struct tokenizer *t = NULL;
	struct error e = { 0 };
	uint64_t start = now();
	bool builtin = argc == 3 && strcmp(argv[2], "builtin") == 0;
	int rc;

	if (argc != 3)
		return 2;
	if (strcmp(argv[1], "ids") == 0 && !builtin) {
		size_t n;
		char *json = whole_file(argv[2], &n);

		if (tokenizer_read((struct bytes){ json, n }, &t, &e) != ST_OK)
			return fail(&e);
		free(json);
		(void)fprintf(stderr, "read in %.2f ms\n", (double)(now() - start) / 1e6);
		rc = lines(t, NULL);
		tokenizer_free(t);
		return rc;
	}
	if ((builtin ? static_model_builtin(&m, &e) : static_model_open(argv[2], &m, &e)) != ST_OK)
		return fail(&e);
	if (strcmp(argv[1], "time") == 0)
		rc = timings(m, now() - start);
	else if (strcmp(argv[1], "ids") == 0)
		rc = lines(static_model_tokenizer(m), NULL);
	else
		rc = lines(NULL, m);
	static_model_close(m);
	return rc;
}
