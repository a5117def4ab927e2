/*
 * corpus_features.c: text to features: its words, and the character n-grams of 3 and 4
 * within them (with marks at both ends), each hashed into a bucket. The words are those of
 * text/analyze.h without a language, so folded and not stemmed: the n-grams do what stems
 * would, in every language. Runs of Chinese, Japanese and Korean come as bigrams and
 * single characters, which stand for words and n-grams both.
 *
 * The hash of code points c1...ck is h(k) = (h(k-1) xor ck) * MULTIPLIER, h(0) a constant
 * of the group; one step longer costs one multiplication. It is part of CORPUS_REVISION.
 */
#include "models/corpus_private.h"
#include "util/mem.h"
#include "util/utf8.h"

#define MULTIPLIER UINT64_C(0x9e3779b97f4a7c15)
#define FINISHER UINT64_C(0xd6e8feb86659fd93)
#define SEED_WORDS UINT64_C(0x243f6a8885a308d3)
#define SEED_GRAMS UINT64_C(0x13198a2e03707344)

#define GRAM_MIN 3
#define GRAM_MAX 4
#define MARK_START 0x110000 /* no code points */
#define MARK_END 0x110001

static uint64_t step(uint64_t h, uint32_t cp)
{
	h = (h ^ cp) * MULTIPLIER;
	return h ^ h >> 29;
}

/* A number below n, of the hash's upper bits. */
static uint32_t reduce(uint64_t h, uint32_t n)
{
	h = (h ^ h >> 32) * FINISHER;
	return (uint32_t)(((h >> 32) * n) >> 32);
}

static void count(struct corpus_features *f, uint32_t bucket)
{
	size_t at = f->slot[bucket];

	if (at < f->n && f->items[at].bucket == bucket) {
		f->items[at].count++;
		return;
	}
	f->slot[bucket] = (uint16_t)f->n;
	f->items[f->n++] = (struct corpus_item){ 1, (uint16_t)bucket };
}

static uint64_t hash_all(const uint32_t *cp, size_t n, uint64_t h)
{
	for (size_t i = 0; i < n; i++)
		h = step(h, cp[i]);
	return h;
}

/* Scripts that the analyzer cuts into bigrams. */
static bool wide(uint32_t cp)
{
	return (cp >= 0x1100 && cp < 0x1200) || (cp >= 0x2e80 && cp < 0xa4d0) ||
		(cp >= 0xac00 && cp < 0xd7b0) || (cp >= 0xf900 && cp < 0xfb00) ||
		(cp >= 0x20000 && cp < 0x40000);
}

static void count_grams(struct corpus_features *f, const uint32_t *cp, size_t n)
{
	for (size_t i = 0; i + GRAM_MIN <= n; i++) {
		uint64_t h = SEED_GRAMS;

		for (size_t k = 0; k < GRAM_MAX && i + k < n; k++) {
			h = step(h, cp[i + k]);
			if (k + 1 >= GRAM_MIN)
				count(f, CORPUS_WORDS + reduce(h, CORPUS_GRAMS));
		}
	}
}

static int take(void *arg, const struct text_term *t)
{
	struct corpus_features *f = arg;
	uint32_t cp[TEXT_TERM_MAX + 2];
	size_t n = 1;
	bool part = (t->flags & TEXT_TERM_PART) != 0, cjk;

	if (t->flags & TEXT_TERM_INNER)
		return 0;
	cp[0] = MARK_START;
	for (size_t at = 0, len; at < t->len; at += len)
		cp[n++] = utf8_decode(t->data + at, t->len - at, &len);
	cp[n++] = MARK_END;
	cjk = wide(cp[1]);
	if (!part)
		count(f, reduce(hash_all(cp + 1, n - 2, SEED_WORDS), CORPUS_WORDS));
	if (cjk)
		count(f, CORPUS_WORDS + reduce(hash_all(cp, n, SEED_GRAMS), CORPUS_GRAMS));
	else if (!part)
		count_grams(f, cp, n);
	return 0;
}

enum status corpus_features_new(struct corpus_features **ret, struct error *e)
{
	struct corpus_features *f = mem_zero(sizeof(*f));
	enum status st;

	if (!f)
		return error_set(e, ST_NOMEM, "out of memory");
	st = text_analyzer_new(&f->analyzer);
	if (st) {
		mem_free(f);
		return error_set(e, st, "cannot analyse text");
	}
	*ret = f;
	return ST_OK;
}

void corpus_features_free(struct corpus_features *f)
{
	if (!f)
		return;
	text_analyzer_free(f->analyzer);
	mem_free(f);
}

enum status corpus_features_read(struct corpus_features *f, struct bytes text, struct error *e)
{
	enum status st;

	f->n = 0;
	if (text.len > CORPUS_MAX_TEXT)
		text.len = CORPUS_MAX_TEXT;
	if (text.len == 0)
		return ST_OK;
	st = text_analyze(f->analyzer, text, TEXT_LANG_NONE, take, f);
	if (st)
		return error_set(e, st, "cannot analyse text");
	return ST_OK;
}
