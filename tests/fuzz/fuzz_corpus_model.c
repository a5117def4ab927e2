/*
 * fuzz_corpus_model.c: any bytes as texts for the corpus's own space, and as its blob. The
 * first byte chooses: even, the rest is a text for models with and without a fit; odd, it
 * is written over a good blob at a place that two bytes choose, with a checksum made new.
 * Vectors have unit length or are zero, are the same twice, and no blob does harm.
 * REQ: X1.
 */
#include <math.h>
#include <string.h>

#include "fuzz.h"
#include "models/corpus.h"
#include "util/crypto.h"

static struct strbuf good;
static struct corpus_model *models[2];

static void prepare(void)
{
	static const char *const texts[] = { "the sailing ship", "the harbour of a ship",
		"flour and yeast", "a crust of flour", "日本語のテキスト", "číslo 1,000.5" };
	struct corpus_fit *f;
	struct error e;

	FUZZ_CHECK(corpus_fit_new(1, &f, &e) == ST_OK);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		FUZZ_CHECK(corpus_fit_add(f, bytes_of(texts[i]), &e) == ST_OK);
	FUZZ_CHECK(corpus_fit_run(f, NULL, NULL, NULL, &good, &e) == ST_OK);
	corpus_fit_free(f);
	FUZZ_CHECK(corpus_model_open(BYTES_NONE, &models[0], &e) == ST_OK);
	FUZZ_CHECK(
		corpus_model_open((struct bytes){ good.data, good.len }, &models[1], &e) == ST_OK);
}

static void check_text(const struct corpus_model *m, struct bytes text)
{
	float x[CORPUS_DIMENSION], y[CORPUS_DIMENSION];
	double square = 0;
	struct error e;

	FUZZ_CHECK(corpus_model_embed(m, text, x, &e) == ST_OK);
	FUZZ_CHECK(corpus_model_embed(m, text, y, &e) == ST_OK);
	FUZZ_CHECK(memcmp(x, y, sizeof(x)) == 0);
	for (size_t d = 0; d < CORPUS_DIMENSION; d++)
		square += (double)x[d] * x[d];
	FUZZ_CHECK(square == 0 || fabs(square - 1) < 1e-4);
}

static void check_blob(size_t at, const uint8_t *data, size_t size)
{
	struct corpus_model *m = NULL;
	size_t room = good.len - CRYPTO_SHA256_LEN - at;
	char *keep = malloc(size + CRYPTO_SHA256_LEN + 1), *end;
	struct error e;

	FUZZ_CHECK(keep);
	end = good.data + good.len - CRYPTO_SHA256_LEN;
	size = size < room ? size : room;
	memcpy(keep, good.data + at, size);
	memcpy(keep + size, end, CRYPTO_SHA256_LEN);
	memcpy(good.data + at, data, size);
	FUZZ_CHECK(crypto_sha256(good.data, good.len - CRYPTO_SHA256_LEN, (unsigned char *)end) ==
		ST_OK);
	if (corpus_model_open((struct bytes){ good.data, good.len }, &m, &e) == ST_OK) {
		check_text(m, bytes_of("the sailing ship and 日本語"));
		corpus_model_close(m);
	}
	memcpy(good.data + at, keep, size);
	memcpy(end, keep + size, CRYPTO_SHA256_LEN);
	free(keep);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!models[0])
		prepare();
	if (size < 3)
		return 0;
	if (data[0] % 2) {
		/* The header, or any 256th byte behind it. */
		size_t at = data[1] < 64 ? data[1] : 64 + ((size_t)data[1] << 8 | data[2]) * 256;

		check_blob(at, data + 3, size - 3);
		return 0;
	}
	check_text(models[0], (struct bytes){ (const char *)data + 1, size - 1 });
	check_text(models[1], (struct bytes){ (const char *)data + 1, size - 1 });
	return 0;
}
