/*
 * corpus_fit.c: a fit: texts are counted as they come, and kept as buckets and counts (four
 * bytes each, some 4 KB a text). The run makes weights of them, the singular vectors of the
 * weighted matrix, and the blob. At most CORPUS_SAMPLE texts, so that a row fits 16 bits.
 */
#include <math.h>

#include "models/corpus_private.h"
#include "util/mem.h"

#define ENOUGH 32 /* measured: from here on a fit is better than hashes alone */
#define COUNT_MAX UINT16_MAX
#define LEVELS 127

struct cell {
	uint16_t bucket, count;
};

struct corpus_fit {
	uint64_t seed;
	struct corpus_features *features;
	size_t rows;
	size_t end[CORPUS_SAMPLE + 1]; /* of each row in cells; end[0] is 0 */
	struct cell *cells;
	size_t cap;
	uint32_t frequency[CORPUS_BUCKETS]; /* texts with it */
};

_Static_assert(CORPUS_SAMPLE <= UINT16_MAX, "rows are 16-bit numbers");

enum status corpus_fit_new(uint64_t seed, struct corpus_fit **ret, struct error *e)
{
	struct corpus_fit *f = mem_zero(sizeof(*f));
	enum status st;

	if (!f)
		return error_set(e, ST_NOMEM, "out of memory");
	f->seed = seed;
	st = corpus_features_new(&f->features, e);
	if (st) {
		mem_free(f);
		return st;
	}
	*ret = f;
	return ST_OK;
}

void corpus_fit_free(struct corpus_fit *f)
{
	if (!f)
		return;
	corpus_features_free(f->features);
	mem_free(f->cells);
	mem_free(f);
}

bool corpus_fit_enough(uint64_t texts)
{
	return texts >= ENOUGH;
}

static bool make_room(struct corpus_fit *f, size_t more)
{
	size_t want = f->end[f->rows] + more, cap = f->cap + f->cap / 2;
	struct cell *cells;

	if (want <= f->cap)
		return true;
	if (cap < want)
		cap = want;
	cells = mem_resize(f->cells, cap * sizeof(*cells));
	if (!cells)
		return false;
	f->cells = cells;
	f->cap = cap;
	return true;
}

enum status corpus_fit_add(struct corpus_fit *f, struct bytes text, struct error *e)
{
	const struct corpus_features *seen = f->features;
	struct cell *cell;
	enum status st;

	if (f->rows == CORPUS_SAMPLE)
		return ST_OK;
	st = corpus_features_read(f->features, text, e);
	if (st)
		return st;
	if (!make_room(f, seen->n))
		return error_set(e, ST_NOMEM, "out of memory");
	cell = f->cells + f->end[f->rows];
	for (size_t i = 0; i < seen->n; i++) {
		uint32_t count = seen->items[i].count;

		cell[i] = (struct cell){ seen->items[i].bucket,
			(uint16_t)(count < COUNT_MAX ? count : COUNT_MAX) };
		f->frequency[cell[i].bucket]++;
	}
	f->end[f->rows + 1] = f->end[f->rows] + seen->n;
	f->rows++;
	return ST_OK;
}

/* What a run works on. */
struct run {
	struct corpus_fit *fit;
	struct corpus_watch watch;
	struct corpus_fitted *fitted;
	struct corpus_matrix a;
	struct corpus_term *terms;
	float *basis;
	struct error *e;
	/* The columns of the matrix are the buckets with a weight. */
	size_t columns;
	uint16_t column[CORPUS_BUCKETS]; /* of a bucket */
	uint16_t bucket[CORPUS_BUCKETS]; /* of a column */
};

/* The weights of the texts, as an embedding would have them. */
static enum status fill_matrix(struct run *r)
{
	struct corpus_fit *f = r->fit;
	struct corpus_item *items = f->features->items; /* free between two texts */

	for (size_t row = 0; row < f->rows; row++) {
		size_t n = f->end[row + 1] - f->end[row], at = r->a.start[row];
		enum status st = corpus_watch_step(&r->watch, n, r->e);

		if (st)
			return st;
		for (size_t i = 0; i < n; i++) {
			struct cell c = f->cells[f->end[row] + i];

			items[i] = (struct corpus_item){ c.count, c.bucket };
		}
		n = corpus_weigh(items, n, r->fitted->idf, r->terms);
		for (size_t i = 0; i < n; i++) {
			r->a.index[at + i] = r->column[r->terms[i].bucket];
			r->a.value[at + i] = r->terms[i].weight;
		}
		r->a.start[row + 1] = at + n;
	}
	f->features->n = 0;
	corpus_watch_done(&r->watch, 0.05);
	return ST_OK;
}

/* A row of the basis in LEVELS steps to each side. */
static void quantise(const float *row, float *scale, int8_t *ret)
{
	float most = 0;

	for (size_t d = 0; d < CORPUS_DIMENSION; d++)
		most = fabsf(row[d]) > most ? fabsf(row[d]) : most;
	*scale = most / LEVELS;
	for (size_t d = 0; d < CORPUS_DIMENSION && most > 0; d++) {
		float v = row[d] / most * LEVELS;

		ret[d] = (int8_t)(v < 0 ? v - 0.5F : v + 0.5F);
	}
}

static void choose_columns(struct run *r)
{
	struct corpus_fit *f = r->fit;

	r->fitted->texts = f->rows;
	for (size_t b = 0; b < CORPUS_BUCKETS; b++) {
		r->fitted->idf[b] = corpus_idf(f->rows, f->frequency[b]);
		if (r->fitted->idf[b] == 0)
			continue;
		r->column[b] = (uint16_t)r->columns;
		r->bucket[r->columns++] = (uint16_t)b;
	}
}

static enum status run_steps(struct run *r)
{
	struct corpus_fit *f = r->fit;
	enum status st;

	choose_columns(r);
	st = corpus_matrix_new(f->rows, r->columns, f->end[f->rows], &r->a, r->e);
	if (st)
		return st;
	r->basis = mem_array(r->columns + 1, CORPUS_SKETCH * sizeof(*r->basis));
	if (!r->basis)
		return error_set(r->e, ST_NOMEM, "out of memory");
	st = fill_matrix(r);
	if (!st)
		st = corpus_svd(&r->a, f->seed, &r->watch, r->basis, NULL, &r->fitted->rank, r->e);
	if (st)
		return st;
	for (size_t c = 0; c < r->columns && !st; c++) {
		quantise(r->basis + c * CORPUS_SKETCH, &r->fitted->scale[r->bucket[c]],
			r->fitted->projection + (size_t)r->bucket[c] * CORPUS_DIMENSION);
		st = corpus_watch_step(&r->watch, 16, r->e);
	}
	return st;
}

/* The blob of a fit; what the steps needed is given back before it is made. */
static enum status run_all(struct run *r, struct strbuf *blob)
{
	enum status st;

	r->fitted = mem_zero(sizeof(*r->fitted));
	r->terms = mem_array(CORPUS_BUCKETS, sizeof(*r->terms));
	st = r->fitted && r->terms ? run_steps(r) : error_set(r->e, ST_NOMEM, "out of memory");
	corpus_matrix_free(&r->a);
	mem_free(r->basis);
	mem_free(r->terms);
	if (!st)
		st = corpus_blob_write(r->fitted, blob, r->e);
	mem_free(r->fitted);
	return st;
}

enum status corpus_fit_run(struct corpus_fit *f, bool (*stop)(void *arg),
	void (*progress)(void *arg, double done), void *arg, struct strbuf *blob, struct error *e)
{
	struct run *r = mem_zero(sizeof(*r));
	enum status st;

	if (!r)
		return error_set(e, ST_NOMEM, "out of memory");
	r->fit = f;
	r->watch = (struct corpus_watch){ .stop = stop, .progress = progress, .arg = arg };
	r->e = e;
	st = run_all(r, blob);
	if (!st)
		corpus_watch_done(&r->watch, 1);
	mem_free(r);
	return st;
}
