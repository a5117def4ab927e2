/*
 * corpus_matrix.c: a sparse matrix as compressed rows, and its transpose.
 */
#include "models/corpus_private.h"
#include "util/mem.h"

void corpus_matrix_free(struct corpus_matrix *m)
{
	mem_free(m->start);
	mem_free(m->index);
	mem_free(m->value);
	*m = (struct corpus_matrix){ 0 };
}

enum status corpus_matrix_new(size_t rows, size_t columns, size_t values, struct corpus_matrix *ret,
	struct error *e)
{
	struct corpus_matrix m = { .rows = rows, .columns = columns };

	m.start = mem_array(rows + 1, sizeof(*m.start));
	m.index = mem_array(values ? values : 1, sizeof(*m.index));
	m.value = mem_array(values ? values : 1, sizeof(*m.value));
	if (!m.start || !m.index || !m.value) {
		corpus_matrix_free(&m);
		return error_set(e, ST_NOMEM, "out of memory");
	}
	*ret = m;
	return ST_OK;
}

/* Counts, then places the values. start[c] runs through row c of t while that is filled,
 * and ends where the next one begins. */
static enum status place(const struct corpus_matrix *m, struct corpus_matrix *t,
	struct corpus_watch *watch, struct error *e)
{
	for (size_t r = 0; r < m->rows; r++) {
		enum status st = corpus_watch_step(watch, (m->start[r + 1] - m->start[r]) / 4, e);

		if (st)
			return st;
		for (size_t i = m->start[r]; i < m->start[r + 1]; i++)
			t->start[m->index[i] + 1]++;
	}
	for (size_t c = 0; c < m->columns; c++)
		t->start[c + 1] += t->start[c];
	for (size_t r = 0; r < m->rows; r++) {
		enum status st = corpus_watch_step(watch, m->start[r + 1] - m->start[r], e);

		if (st)
			return st;
		for (size_t i = m->start[r]; i < m->start[r + 1]; i++) {
			size_t at = t->start[m->index[i]]++;

			t->index[at] = (uint16_t)r;
			t->value[at] = m->value[i];
		}
	}
	memmove(t->start + 1, t->start, m->columns * sizeof(*t->start));
	t->start[0] = 0;
	return ST_OK;
}

enum status corpus_matrix_transpose(const struct corpus_matrix *m, struct corpus_watch *watch,
	struct corpus_matrix *ret, struct error *e)
{
	struct corpus_matrix t;
	enum status st = corpus_matrix_new(m->columns, m->rows, m->start[m->rows], &t, e);

	if (st)
		return st;
	st = place(m, &t, watch, e);
	if (st) {
		corpus_matrix_free(&t);
		return st;
	}
	*ret = t;
	return ST_OK;
}
