/*
 * bound.c: finds the pairs of a block. Lengths are sorted into buckets by tf first
 * (high ones share the last bucket under their largest tf), so the front is one
 * walk from high tf to low; then neighbours are merged, cheapest first, until four
 * are left. A merged pair takes the higher tf and the shorter length of the two.
 */
#include "engine/lexical/bound.h"

#include <string.h>

#define BUCKETS 16

struct pair {
	uint32_t tf, length;
};

/* Shape of a BM25 score; only compared, never kept. */
static double score(struct pair p, double average)
{
	return p.tf / (p.tf + 0.3 + 0.9 * p.length / average);
}

static unsigned front(const uint32_t *tfs, const uint32_t *lengths, unsigned n,
	struct pair out[BUCKETS])
{
	struct pair best[BUCKETS];
	uint32_t shortest = UINT32_MAX;
	unsigned count = 0;

	memset(best, 0, sizeof(best));
	for (unsigned i = 0; i < n; i++) {
		struct pair *p = &best[tfs[i] < BUCKETS ? tfs[i] : BUCKETS - 1];

		if (p->tf == 0 || lengths[i] < p->length)
			p->length = lengths[i];
		if (tfs[i] > p->tf)
			p->tf = tfs[i];
	}
	for (unsigned i = BUCKETS; i-- > 0;) {
		if (best[i].tf > 0 && (count == 0 || best[i].length < shortest)) {
			out[count++] = best[i];
			shortest = best[i].length;
		}
	}
	return count;
}

/* Merges the pair at i with the next one for the least loss. */
static unsigned merge_cheapest(struct pair *p, unsigned count, double average)
{
	unsigned best = 0;
	double least = 0;

	for (unsigned i = 0; i + 1 < count; i++) {
		struct pair both = { p[i].tf, p[i + 1].length };
		double a = score(p[i], average), b = score(p[i + 1], average);
		double loss = score(both, average) - (a > b ? a : b);

		if (i == 0 || loss < least) {
			least = loss;
			best = i;
		}
	}
	p[best].length = p[best + 1].length;
	memmove(p + best + 1, p + best + 2, (count - best - 2) * sizeof(*p));
	return count - 1;
}

void lex_bound_make(const uint32_t *tfs, const uint32_t *lengths, unsigned n, double average,
	unsigned char out[LEX_BOUND_BYTES])
{
	struct pair pairs[BUCKETS];
	unsigned count = front(tfs, lengths, n, pairs);

	if (!(average > 0))
		average = 1;
	while (count > LEX_PAIRS)
		count = merge_cheapest(pairs, count, average);
	memset(out, 0, LEX_BOUND_BYTES);
	for (size_t i = 0; i < count; i++) {
		out[2 * i] = (unsigned char)(pairs[i].tf < LEX_TF_MANY ? pairs[i].tf : LEX_TF_MANY);
		out[2 * i + 1] = lex_length_code(pairs[i].length);
	}
}
