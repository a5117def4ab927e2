/* set.c: sets of values (set.h). */
#include "engine/filter/set.h"

#include <stdlib.h>

#include "util/hash.h"

/* A bitmap may be this many times as long as there are values, or at least so long. */
#define BITS_A_VALUE 64U
#define BITS_ANYWAY 65536U
#define FEW_VALUES 512U

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

static size_t drop_equal(uint64_t *values, size_t n)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (i == 0 || values[i] != values[kept - 1])
			values[kept++] = values[i];
	return kept;
}

static bool make_bits(struct flt_set *s, uint64_t span, struct arena *a)
{
	s->base = s->sorted[0];
	s->bit_count = span;
	s->bits = arena_array(a, span / 64 + 1, sizeof(s->bits[0]));
	if (!s->bits)
		return false;
	for (size_t i = 0; i < s->n; i++) {
		for (uint64_t v = s->sorted[i] - s->base, end = v + s->wide; v <= end; v++)
			s->bits[v / 64] |= UINT64_C(1) << v % 64;
	}
	return true;
}

static bool make_hash(struct flt_set *s, struct arena *a)
{
	/* Most slots are free, so that most questions end at the first one. */
	uint64_t values = (uint64_t)s->n * (1 + s->wide), room = values < FEW_VALUES ? 16 : 4;
	unsigned log = 4;

	while ((UINT64_C(1) << log) < values * room)
		log++;
	s->mask = (UINT64_C(1) << log) - 1;
	s->shift = 64 - log;
	s->factor = hash_bytes("filter", 6) | 1;
	s->hash = arena_array(a, (size_t)1 << log, sizeof(s->hash[0]));
	if (!s->hash)
		return false;
	for (size_t i = 0; i < values; i++) {
		uint64_t v = s->sorted[i / (1 + s->wide)] + i % (1 + s->wide);
		uint64_t at = v * s->factor >> s->shift;

		if (v == 0) {
			s->has_zero = true;
			continue;
		}
		while (s->hash[at])
			at = (at + 1) & s->mask;
		s->hash[at] = v;
	}
	return true;
}

bool flt_set_init(struct flt_set *s, uint64_t *values, size_t n, unsigned wide, struct arena *a)
{
	uint64_t range;

	*s = (struct flt_set){ .sorted = values, .wide = wide };
	qsort(values, n, sizeof(values[0]), by_value);
	s->n = drop_equal(values, n);
	range = values[s->n - 1] - values[0];
	if (range < BITS_ANYWAY || range / BITS_A_VALUE < s->n)
		return make_bits(s, range + 1 + wide, a);
	return make_hash(s, a);
}

/* The first of sorted that is not below v. */
static size_t seek(const struct flt_set *s, uint64_t v)
{
	size_t low = 0, high = s->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (s->sorted[middle] < v)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

void flt_set_clip(const struct flt_set *s, uint64_t lo, uint64_t hi, size_t *ret_from,
	size_t *ret_to)
{
	/* A wide value that starts one below lo reaches it. */
	*ret_from = seek(s, lo > s->wide ? lo - s->wide : 0);
	*ret_to = hi == UINT64_MAX ? s->n : seek(s, hi + 1);
}
