/*
 * lexical_corpus.c: makes passages and queries for bench/lexical, the same for each
 * seed.
 *
 *   bench_lexical_corpus PASSAGES QUERIES FOLDER
 *
 * Writes FOLDER/passages.tsv (id, tab, words), FOLDER/queries.txt (a stop list of 150
 * words left out) and FOLDER/questions.txt (the same, with all words).
 *
 * Words follow Zipf and Mandelbrot's law, with a steeper slope beyond the 8000 common
 * ones, as large corpora show; so a million passages hold about a million different
 * words, six in ten of them once. Lengths are log-normal with mean 130. Passages have topics, and
 * repeat their words, as texts do: without that hardly any word would occur twice in
 * a passage, and words of a query would meet by chance alone. A query takes 5 to 12
 * words from one passage.
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WORDS 2000
#define TOPICS 3000
#define STOP_WORDS 150
#define SHIFT 2.7 /* of ranks, as in Mandelbrot's law */
#define COMMON 8000.0
#define COMMON_EXPONENT 1.15
#define VOCABULARY 1e7
#define RARE_EXPONENT 1.6

static uint64_t state = 20090401;

static uint64_t next(void)
{
	uint64_t z = state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static double uniform(void)
{
	return (double)(next() >> 11) * 0x1p-53;
}

/* The integral of (rank + SHIFT)^-exponent between two ranks. */
static double mass(double low, double high, double exponent)
{
	double e = 1 - exponent;

	return (pow(high + SHIFT, e) - pow(low + SHIFT, e)) / e;
}

/* A rank between two, by inverting that integral. */
static uint32_t draw_between(double low, double high, double exponent)
{
	double e = 1 - exponent;
	double a = pow(low + SHIFT, e), b = pow(high + SHIFT, e);

	return (uint32_t)(pow(a + uniform() * (b - a), 1 / e) - SHIFT);
}

static uint32_t draw_rank(void)
{
	static double common, rare;

	if (common <= 0) {
		common = mass(0, COMMON, COMMON_EXPONENT);
		/* Both laws agree at their border. */
		rare = mass(COMMON, VOCABULARY, RARE_EXPONENT) *
			pow(COMMON + SHIFT, RARE_EXPONENT - COMMON_EXPONENT);
	}
	if (uniform() * (common + rare) < common)
		return draw_between(0, COMMON, COMMON_EXPONENT);
	return draw_between(COMMON, VOCABULARY, RARE_EXPONENT);
}

/* Topic words: of the middle of the vocabulary, spread differently for each topic. */
static uint32_t draw_topic_word(uint32_t topic)
{
	uint64_t n = draw_between(0, 3000, COMMON_EXPONENT);
	uint64_t h = (n * 2654435761U + topic * UINT64_C(0x9e3779b97f4a7c15)) ^ topic * 40503U;

	h = (h ^ h >> 29) * UINT64_C(0xbf58476d1ce4e5b9);
	/* Common and rare ones: evenly over the logarithm of the rank. */
	return (uint32_t)(STOP_WORDS * pow(400, (double)(h >> 11) * 0x1p-53));
}

/* The word of a rank: syllables, the low digits first, so that neighbours in rank are
 * none in the alphabet. */
static size_t spell(uint32_t rank, char *buf)
{
	static const char consonants[] = "bcdfghjklmnprstvwz", vowels[] = "aeiou";
	size_t n = 0;

	do {
		uint32_t digit = rank % 90;

		buf[n++] = consonants[digit % 18];
		buf[n++] = vowels[digit / 18];
		rank /= 90;
	} while (rank-- > 0);
	if (n > 2)
		buf[n++] = 'n';
	if (buf[0] > 'k') { /* words of one frequency differ in length */
		buf[n++] = 'e';
		buf[n++] = 's';
	}
	return n;
}

static uint32_t draw_length(void)
{
	double normal = sqrt(-2 * log(1 - uniform())) * cos(6.283185307179586 * uniform());
	double length = exp(4.72 + 0.55 * normal);

	return length < 5 ? 5 : length > MAX_WORDS ? MAX_WORDS : (uint32_t)length;
}

static uint32_t make_passage(uint32_t *words)
{
	uint32_t n = draw_length(), topic = draw_between(0, TOPICS, COMMON_EXPONENT);

	for (uint32_t i = 0; i < n; i++) {
		double u = uniform();

		if (i > 0 && u < 0.25) {
			words[i] = words[next() % i];
			if (words[i] >= STOP_WORDS)
				continue;
		}
		words[i] = u < 0.32 ? draw_topic_word(topic) : draw_rank();
	}
	return n;
}

static void write_words(FILE *f, const uint32_t *words, uint32_t n)
{
	static char line[(size_t)MAX_WORDS * 16];
	size_t len = 0;

	for (uint32_t i = 0; i < n; i++) {
		len += spell(words[i], line + len);
		line[len++] = i + 1 < n ? ' ' : '\n';
	}
	fwrite(line, 1, len, f);
}

/* 5 to 12 words of the passage, with and without stop words. */
static void write_query(FILE *queries, FILE *questions, const uint32_t *words, uint32_t n)
{
	uint32_t all[12], some[12], want = 5 + next() % 8, used = 0, tries = 0;

	for (uint32_t i = 0; i < want; i++)
		all[i] = words[next() % n];
	write_words(questions, all, want);
	while (used < want && tries++ < 1000) {
		uint32_t word = words[next() % n];

		if (word >= STOP_WORDS)
			some[used++] = word;
	}
	if (used == 0)
		some[used++] = 100000;
	write_words(queries, some, used);
}

static FILE *create(const char *folder, const char *name)
{
	char path[1024];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	f = fopen(path, "w");
	if (!f) {
		perror(path);
		exit(1);
	}
	return f;
}

int main(int argc, char **argv)
{
	static uint32_t words[MAX_WORDS];
	uint64_t passages, queries, every;
	FILE *out, *some, *all;

	if (argc != 4) {
		fputs("usage: bench_lexical_corpus PASSAGES QUERIES FOLDER\n", stderr);
		return 2;
	}
	passages = strtoull(argv[1], NULL, 10);
	queries = strtoull(argv[2], NULL, 10);
	every = passages / (queries ? queries : 1) + 1;
	out = create(argv[3], "passages.tsv");
	some = create(argv[3], "queries.txt");
	all = create(argv[3], "questions.txt");
	for (uint64_t i = 0; i < passages; i++) {
		uint32_t n = make_passage(words);

		fprintf(out, "p%07llu\t", (unsigned long long)i);
		write_words(out, words, n);
		if (i % every == 0)
			write_query(some, all, words, n);
	}
	return fclose(out) || fclose(some) || fclose(all);
}
