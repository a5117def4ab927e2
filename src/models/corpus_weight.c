/*
 * corpus_weight.c: how much a feature counts: 1 + log(tf) times log((N + 1) / (df + 1)),
 * each group of features brought to the same length. The logarithm is our own, because the
 * last bit of libm's differs between systems: by the series of the inverse hyperbolic
 * tangent, of additions, multiplications and divisions alone, which IEEE 754 fixes.
 */
#include <math.h>

#include "models/corpus_private.h"

#define LN2 0.693147180559945309417
#define SQRT_HALF 0.707106781186547524401

/* How long the n-grams' part is where that of the words is 1; measured. */
#define GRAMS_LENGTH 1.0

double corpus_log(double x)
{
	int exponent;
	double m = frexp(x, &exponent), s, square, power, sum = 0;

	if (m < SQRT_HALF) {
		m *= 2;
		exponent--;
	}
	s = (m - 1) / (m + 1); /* at most 0.172 */
	square = s * s;
	power = s;
	for (int k = 1; k < 22; k += 2) {
		sum += power / k;
		power *= square;
	}
	return 2 * sum + exponent * LN2;
}

float corpus_tf(uint32_t count)
{
	static const float first[] = { 0, 1, 1.69314718F, 2.09861229F, 2.38629436F, 2.60943791F,
		2.79175947F, 2.94591015F };

	if (count < sizeof(first) / sizeof(first[0]))
		return first[count];
	return (float)(1 + corpus_log(count));
}

uint16_t corpus_idf(uint64_t texts, uint64_t frequency)
{
	double idf;

	if (frequency == 0 || frequency > texts)
		return 0;
	idf = CORPUS_IDF_UNIT * corpus_log((double)(texts + 1) / (double)(frequency + 1));
	return idf >= UINT16_MAX ? UINT16_MAX : (uint16_t)(idf + 0.5);
}

size_t corpus_weigh(const struct corpus_item *items, size_t n, const uint16_t *idf,
	struct corpus_term *ret)
{
	double words = 0, grams = 0;
	size_t m = 0;

	for (size_t i = 0; i < n; i++) {
		float w = corpus_tf(items[i].count);

		if (idf)
			w *= (float)idf[items[i].bucket] / CORPUS_IDF_UNIT;
		if (w <= 0)
			continue;
		*(items[i].bucket < CORPUS_WORDS ? &words : &grams) += (double)w * w;
		ret[m++] = (struct corpus_term){ w, items[i].bucket };
	}
	words = words > 0 ? 1 / sqrt(words) : 0;
	grams = grams > 0 ? GRAMS_LENGTH / sqrt(grams) : 0;
	for (size_t i = 0; i < m; i++)
		ret[i].weight *= (float)(ret[i].bucket < CORPUS_WORDS ? words : grams);
	return m;
}
