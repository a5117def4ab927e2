/*
 * test_corpus.c: the corpus's own space, from texts to vectors: it finds what belongs
 * together, gives the same bits everywhere and from any thread, and takes any bytes.
 * REQ: X1, X4.
 */
#include "../unit.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "corpus_texts.h"
#include "util/crypto.h"
#include "util/mem.h"

#define TEXTS 120

static struct error err;
static struct corpus_model *none, *fitted;

static int setup(void **state)
{
	struct strbuf blob = STRBUF_INIT;

	(void)state;
	assert_int_equal(corpus_model_open(BYTES_NONE, &none, &err), ST_OK);
	corpus_texts_fit(TEXTS, 1, &blob);
	assert_int_equal(corpus_model_open((struct bytes){ blob.data, blob.len }, &fitted, &err),
		ST_OK);
	strbuf_release(&blob);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	corpus_model_close(none);
	corpus_model_close(fitted);
	corpus_model_close(NULL);
	corpus_fit_free(NULL);
	return 0;
}

static void embed(const struct corpus_model *m, struct bytes text, float *out)
{
	assert_int_equal(corpus_model_embed(m, text, out, &err), ST_OK);
}

static double dot(const float *a, const float *b)
{
	double sum = 0;

	for (size_t d = 0; d < CORPUS_DIMENSION; d++)
		sum += (double)a[d] * b[d];
	return sum;
}

static double cosine(const struct corpus_model *m, const char *a, const char *b)
{
	float x[CORPUS_DIMENSION], y[CORPUS_DIMENSION];

	embed(m, bytes_of(a), x);
	embed(m, bytes_of(b), y);
	return dot(x, y);
}

static void test_which_is_fitted(void **state)
{
	(void)state;
	assert_false(corpus_model_fitted(none));
	assert_true(corpus_model_fitted(fitted));
	assert_false(corpus_fit_enough(0));
	assert_false(corpus_fit_enough(31));
	assert_true(corpus_fit_enough(32));
	assert_true(corpus_fit_enough(CORPUS_SAMPLE));
}

/* REQ: X1: words that occur together are near, though no text has both. */
static void test_fit_knows_the_subjects(void **state)
{
	const char *ship = "sailing anchor tide";

	(void)state;
	assert_true(cosine(fitted, "captain", "lighthouse") > 0.1);
	assert_true(cosine(fitted, "captain", "sourdough") < 0.05);
	assert_true(cosine(fitted, ship, "captain vessel harbour") > 0.25);
	assert_true(cosine(fitted, ship, "oven flour crust") < 0.05);
	assert_true(cosine(none, "captain", "lighthouse") < 0.1);
	assert_true(cosine(none, ship, "captain vessel harbour") < 0.1);
}

/* A word that no text had is found by its n-grams; so are other forms and accents. */
static void test_forms_of_words(void **state)
{
	(void)state;
	assert_true(cosine(fitted, "compilers", "compiler") > 0.8);
	assert_true(cosine(none, "compilers", "compiler") > 0.3);
	assert_true(cosine(none, "compilers", "avalanche") < 0.2);
	assert_true(cosine(none, "FUSSBALL", "Fußball") > 0.999);
	assert_true(cosine(none, "Stürmer", "sturmer") > 0.999);
	assert_true(cosine(none, "図書館で本を読む", "図書館") > 0.3);
}

static void check_unit(const struct corpus_model *m, struct bytes text)
{
	float x[CORPUS_DIMENSION];
	double square;

	embed(m, text, x);
	square = dot(x, x);
	assert_true(square == 0 || fabs(square - 1) < 1e-5);
}

static void test_any_bytes(void **state)
{
	static char junk[5000];
	float x[CORPUS_DIMENSION];
	const struct corpus_model *models[] = { none, fitted };
	uint32_t r = 1;

	(void)state;
	for (size_t i = 0; i < sizeof(junk); i++) {
		r = r * 1664525U + 1013904223U;
		junk[i] = (char)(r >> 24);
	}
	for (size_t k = 0; k < 2; k++) {
		const char *blank[] = { "", " \n\t", "... !? --" };

		for (size_t i = 0; i < 3; i++) {
			embed(models[k], bytes_of(blank[i]), x);
			assert_true(dot(x, x) == 0);
		}
		embed(models[k], BYTES_NONE, x);
		assert_true(dot(x, x) == 0);
		check_unit(models[k], (struct bytes){ junk, sizeof(junk) });
		check_unit(models[k], (struct bytes){ "ab\0cd the captain", 17 });
	}
}

/* What lies behind the limit does not count. */
static void test_long_texts(void **state)
{
	size_t n = CORPUS_MAX_TEXT + 5000;
	char *text = mem_alloc(n);
	float x[CORPUS_DIMENSION], y[CORPUS_DIMENSION];

	(void)state;
	assert_non_null(text);
	for (size_t i = 0; i < n; i++)
		text[i] = i % 8 == 7 ? ' ' : (char)('a' + (i / 8 * 7 + i % 8 * i) % 26);
	embed(none, (struct bytes){ text, n }, x);
	embed(none, (struct bytes){ text, CORPUS_MAX_TEXT }, y);
	assert_memory_equal(x, y, sizeof(x));
	embed(none, (struct bytes){ text, CORPUS_MAX_TEXT - 5000 }, y);
	assert_memory_not_equal(x, y, sizeof(x));
	mem_free(text);
}

/* ---- the same bits ---- */

/* SHA-256 of a fit, and of the vectors of all texts with it and without. */
static void fingerprint(char hex[2 * CRYPTO_SHA256_LEN + 1])
{
	struct strbuf all = STRBUF_INIT;
	struct corpus_model *m;
	unsigned char sum[CRYPTO_SHA256_LEN];
	float x[CORPUS_DIMENSION];
	char buf[1024];

	corpus_texts_fit(TEXTS, 1, &all);
	assert_int_equal(corpus_model_open((struct bytes){ all.data, all.len }, &m, &err), ST_OK);
	for (size_t i = 0; i < TEXTS; i++) {
		embed(i % 2 ? m : none, corpus_text(i, buf, sizeof(buf)), x);
		strbuf_add(&all, x, sizeof(x));
	}
	corpus_model_close(m);
	assert_true(strbuf_ok(&all));
	assert_int_equal(crypto_sha256(all.data, all.len, sum), ST_OK);
	crypto_hex(sum, sizeof(sum), hex);
	strbuf_release(&all);
}

/* What every machine must give; a change of it is a change of CORPUS_REVISION. */
#define EXPECTED "3350ad25fb197dd1cd385d565db506a30674e0f1e04fe87183821e4f485f401f"

static void check_level(const char *level)
{
	char hex[2 * CRYPTO_SHA256_LEN + 1] = "";
	int fds[2], st;
	pid_t child;

	assert_int_equal(pipe(fds), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		(void)setenv("RCPD_CPU", level, 1);
		(void)dup2(fds[1], STDOUT_FILENO);
		(void)execl("/proc/self/exe", "test_corpus", "fingerprint", (char *)NULL);
		_exit(127);
	}
	(void)close(fds[1]);
	for (size_t n = 0; n < sizeof(hex) - 1;) {
		ssize_t got = read(fds[0], hex + n, sizeof(hex) - 1 - n);

		assert_true(got > 0);
		n += (size_t)got;
	}
	(void)close(fds[0]);
	assert_int_equal(waitpid(child, &st, 0), child);
	assert_true(WIFEXITED(st) && WEXITSTATUS(st) == 0);
	assert_string_equal(hex, EXPECTED);
}

/* REQ: X1: the same texts, order and seed give the same blob on every processor. */
static void test_same_bits_at_every_cpu_level(void **state)
{
	(void)state;
	check_level("plain");
	check_level("avx2");
	check_level("avx512");
}

static void test_seed_and_order_count(void **state)
{
	struct strbuf a = STRBUF_INIT, b = STRBUF_INIT;

	(void)state;
	corpus_texts_fit(30, 1, &a);
	corpus_texts_fit(30, 1, &b);
	assert_true(bytes_eq((struct bytes){ a.data, a.len }, (struct bytes){ b.data, b.len }));
	strbuf_reset(&b);
	corpus_texts_fit(30, 2, &b);
	assert_false(bytes_eq((struct bytes){ a.data, a.len }, (struct bytes){ b.data, b.len }));
	strbuf_release(&a);
	strbuf_release(&b);
}

/* ---- threads ---- */

struct worker {
	pthread_t thread;
	float out[TEXTS][CORPUS_DIMENSION];
	enum status st;
};

static void *work(void *arg)
{
	struct worker *w = arg;
	char buf[1024];
	struct error e;

	for (size_t i = 0; i < TEXTS && !w->st; i++)
		w->st = corpus_model_embed(fitted, corpus_text(i, buf, sizeof(buf)), w->out[i], &e);
	return NULL;
}

static void test_many_threads(void **state)
{
	enum { WORKERS = 20 }; /* more than the pool keeps */
	struct worker *w = mem_array(WORKERS, sizeof(*w));

	(void)state;
	assert_non_null(w);
	for (size_t i = 0; i < WORKERS; i++)
		assert_int_equal(pthread_create(&w[i].thread, NULL, work, &w[i]), 0);
	for (size_t i = 0; i < WORKERS; i++)
		assert_int_equal(pthread_join(w[i].thread, NULL), 0);
	for (size_t i = 0; i < WORKERS; i++) {
		assert_int_equal(w[i].st, ST_OK);
		assert_memory_equal(w[i].out, w[0].out, sizeof(w[0].out));
	}
	mem_free(w);
}

static int print_fingerprint(void)
{
	char hex[2 * CRYPTO_SHA256_LEN + 1];

	if (corpus_model_open(BYTES_NONE, &none, &err))
		return 1;
	fingerprint(hex);
	corpus_model_close(none);
	return printf("%s\n", hex) > 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_which_is_fitted),
		cmocka_unit_test(test_fit_knows_the_subjects),
		cmocka_unit_test(test_forms_of_words),
		cmocka_unit_test(test_any_bytes),
		cmocka_unit_test(test_long_texts),
		cmocka_unit_test(test_same_bits_at_every_cpu_level),
		cmocka_unit_test(test_seed_and_order_count),
		cmocka_unit_test(test_many_threads),
	};

	if (argc == 2 && strcmp(argv[1], "fingerprint") == 0)
		return print_fingerprint();
	return cmocka_run_group_tests(tests, setup, teardown);
}
