/*
 * test_corpus_fit.c: fits and blobs that go wrong: odd samples, a stop in the middle, no
 * memory, blobs of others.
 * REQ: X1.
 */
#include "../unit.h"

#include <math.h>

#include "corpus_texts.h"
#include "util/crypto.h"
#include "util/mem.h"

#define HEADER 48
#define SCALES (HEADER + CORPUS_BUCKETS * 2)

static struct error err;

static struct bytes held(const struct strbuf *sb)
{
	return (struct bytes){ sb->data, sb->len };
}

/* A fit of these texts opens, and its vectors are of unit length or zero. */
static void check_sample(const struct bytes *texts, size_t n)
{
	struct strbuf blob = STRBUF_INIT;
	struct corpus_model *m;
	struct corpus_fit *f;
	float x[CORPUS_DIMENSION];

	assert_int_equal(corpus_fit_new(3, &f, &err), ST_OK);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(corpus_fit_add(f, texts[i], &err), ST_OK);
	assert_int_equal(corpus_fit_run(f, NULL, NULL, NULL, &blob, &err), ST_OK);
	corpus_fit_free(f);
	assert_int_equal(corpus_model_open(held(&blob), &m, &err), ST_OK);
	for (size_t i = 0; i < n; i++) {
		double square = 0;

		assert_int_equal(corpus_model_embed(m, texts[i], x, &err), ST_OK);
		for (size_t d = 0; d < CORPUS_DIMENSION; d++)
			square += (double)x[d] * x[d];
		assert_true(square == 0 || fabs(square - 1) < 1e-5);
	}
	corpus_model_close(m);
	strbuf_release(&blob);
}

static void test_odd_samples(void **state)
{
	struct bytes twice[] = { bytes_of("one and the same"), bytes_of("one and the same") };
	struct bytes empty[] = { bytes_of(""), BYTES_NONE, bytes_of("\n"), bytes_of("word") };
	struct bytes odd[] = { bytes_of("\xff\xfe\x80 broken"), { "a\0b\0c", 5 },
		bytes_of("日本語のテキスト"), bytes_of("ภาษาไทยง่ายนิดเดียว") };

	(void)state;
	check_sample(NULL, 0);
	check_sample(twice, 1);
	check_sample(twice, 2);
	check_sample(empty, 4);
	check_sample(odd, 4);
}

/* More than CORPUS_SAMPLE texts: the first ones make the fit. */
static void test_sample_has_an_end(void **state)
{
	struct strbuf a = STRBUF_INIT, b = STRBUF_INIT;
	struct corpus_fit *f;

	(void)state;
	for (size_t more = 0; more < 2; more++) {
		assert_int_equal(corpus_fit_new(3, &f, &err), ST_OK);
		for (size_t i = 0; i < CORPUS_SAMPLE; i++)
			assert_int_equal(corpus_fit_add(f, bytes_of(i % 3 ? "red" : "blue"), &err),
				ST_OK);
		for (size_t i = 0; i < more; i++)
			assert_int_equal(corpus_fit_add(f, bytes_of("green"), &err), ST_OK);
		assert_int_equal(corpus_fit_run(f, NULL, NULL, NULL, more ? &b : &a, &err), ST_OK);
		corpus_fit_free(f);
	}
	assert_true(bytes_eq(held(&a), held(&b)));
	strbuf_release(&a);
	strbuf_release(&b);
}

/* ---- stop and progress ---- */

struct watch {
	size_t asked, stop_at; /* stop_at 0: never */
	double done;
};

static bool stop(void *arg)
{
	struct watch *w = arg;

	w->asked++;
	return w->stop_at && w->asked >= w->stop_at;
}

static void progress(void *arg, double done)
{
	struct watch *w = arg;

	assert_true(done >= w->done && done <= 1);
	w->done = done;
}

static struct corpus_fit *some_texts(size_t n)
{
	struct corpus_fit *f;
	char buf[1024];

	assert_int_equal(corpus_fit_new(1, &f, &err), ST_OK);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(corpus_fit_add(f, corpus_text(i, buf, sizeof(buf)), &err), ST_OK);
	return f;
}

/* A fit that was stopped can run again, and gives what it would have given. */
static void test_stop_anywhere(void **state)
{
	struct strbuf blob = STRBUF_INIT, again = STRBUF_INIT;
	struct corpus_fit *f = some_texts(100);
	struct watch w = { 0 };
	size_t all;

	(void)state;
	assert_int_equal(corpus_fit_run(f, stop, progress, &w, &blob, &err), ST_OK);
	assert_true(w.done == 1);
	all = w.asked;
	assert_true(all >= 3);
	for (size_t at = 1; at <= all; at += 1 + all / 3) {
		w = (struct watch){ .stop_at = at };
		assert_int_equal(corpus_fit_run(f, stop, progress, &w, &again, &err), ST_CANCELLED);
		assert_int_equal(w.asked, at);
		assert_int_equal(again.len, 0);
		assert_true(w.done < 1);
	}
	w = (struct watch){ 0 };
	assert_int_equal(corpus_fit_run(f, stop, progress, &w, &again, &err), ST_OK);
	assert_true(bytes_eq(held(&blob), held(&again)));
	corpus_fit_free(f);
	strbuf_release(&blob);
	strbuf_release(&again);
}

/* ---- no memory ---- */

static enum status whole_life(void)
{
	struct strbuf blob = STRBUF_INIT;
	struct corpus_fit *f = NULL;
	struct corpus_model *m = NULL;
	float x[CORPUS_DIMENSION];
	struct error e;
	enum status st = corpus_fit_new(1, &f, &e);

	for (size_t i = 0; i < 4 && !st; i++)
		st = corpus_fit_add(f, bytes_of(i % 2 ? "one text" : "another story"), &e);
	if (!st)
		st = corpus_fit_run(f, NULL, NULL, NULL, &blob, &e);
	if (!st)
		st = corpus_model_open(held(&blob), &m, &e);
	if (!st)
		st = corpus_model_embed(m, bytes_of("a text"), x, &e);
	corpus_model_close(m);
	corpus_fit_free(f);
	strbuf_release(&blob);
	return st;
}

static void test_no_memory(void **state)
{
	enum status st = ST_NOMEM;
	long n = 0;

	(void)state;
	assert_int_equal(whole_life(), ST_OK);
	for (; st && n < 200; n++) {
		(void)mem_fail_after(n);
		st = whole_life();
		(void)mem_fail_after(-1);
		assert_true(st == ST_OK || st == ST_NOMEM);
	}
	assert_int_equal(st, ST_OK);
	assert_true(n > 15);
}

/* ---- blobs ---- */

static void refuse(struct bytes blob)
{
	struct corpus_model *m = NULL;

	assert_int_equal(corpus_model_open(blob, &m, &err), ST_INVALID);
	assert_null(m);
}

/* A blob whose checksum is right again after a change. */
static void resign(struct strbuf *blob)
{
	unsigned char sum[CRYPTO_SHA256_LEN];

	assert_int_equal(crypto_sha256(blob->data, blob->len - sizeof(sum), sum), ST_OK);
	memcpy(blob->data + blob->len - sizeof(sum), sum, sizeof(sum));
}

static void test_damaged_blobs(void **state)
{
	struct strbuf blob = STRBUF_INIT;

	(void)state;
	corpus_texts_fit(20, 1, &blob);
	refuse(bytes_of(""));
	refuse(bytes_of("RCPDLSA"));
	for (size_t n = 0; n < blob.len; n = 2 * n + 1)
		refuse((struct bytes){ blob.data, n });
	refuse((struct bytes){ blob.data, blob.len - 1 });
	strbuf_addc(&blob, 0);
	refuse(held(&blob));
	blob.len--;
	/* A bit anywhere. */
	for (size_t at = 0; at < blob.len; at = at < 32 ? at + 1 : at * 3) {
		blob.data[at] ^= 4;
		refuse(held(&blob));
		blob.data[at] ^= 4;
	}
	strbuf_release(&blob);
}

/* The checksum is right: revision, dimensions and ranges are looked at by themselves. */
static void test_forged_blobs(void **state)
{
	static const float bad[] = { -0.5F, 1.5F, NAN, INFINITY, -INFINITY };
	struct strbuf blob = STRBUF_INIT;
	struct corpus_model *m;
	float x[CORPUS_DIMENSION];
	double square = 0;

	(void)state;
	corpus_texts_fit(20, 1, &blob);
	for (size_t at = 0; at < 32; at++) {
		blob.data[at] ^= 1;
		resign(&blob);
		refuse(held(&blob));
		blob.data[at] ^= 1;
	}
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		float old;

		memcpy(&old, blob.data + SCALES + 400, sizeof(old));
		memcpy(blob.data + SCALES + 400, &bad[i], sizeof(old));
		resign(&blob);
		refuse(held(&blob));
		memcpy(blob.data + SCALES + 400, &old, sizeof(old));
	}
	/* The greatest values everywhere still give a vector. */
	memset(blob.data + HEADER, 0xff, CORPUS_BUCKETS * 2);
	memset(blob.data + SCALES + CORPUS_BUCKETS * 4, 0x80, CORPUS_BUCKETS * CORPUS_DIMENSION);
	for (size_t b = 0; b < CORPUS_BUCKETS; b++)
		memcpy(blob.data + SCALES + 4 * b, &(float){ 1 }, 4);
	resign(&blob);
	assert_int_equal(corpus_model_open(held(&blob), &m, &err), ST_OK);
	assert_int_equal(corpus_model_embed(m, bytes_of("some words here"), x, &err), ST_OK);
	for (size_t d = 0; d < CORPUS_DIMENSION; d++)
		square += (double)x[d] * x[d];
	assert_true(fabs(square - 1) < 1e-5);
	corpus_model_close(m);
	strbuf_release(&blob);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_odd_samples),
		cmocka_unit_test(test_sample_has_an_end),
		cmocka_unit_test(test_stop_anywhere),
		cmocka_unit_test(test_no_memory),
		cmocka_unit_test(test_damaged_blobs),
		cmocka_unit_test(test_forged_blobs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
