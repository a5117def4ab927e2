/*
 * static.c: texts and tokens to vectors of a static table.
 */
#include "models/static.h"

#include <math.h>

#include "models/static_private.h"
#include "util/mem.h"
#include "util/utf8.h"

size_t static_padded(const struct static_model *m)
{
	return m->padded;
}

float static_weight(const struct static_model *m, uint32_t id)
{
	return m->weights ? m->weights[id] : 1;
}

/* sum += factor * row of id */
static void add_row(const struct static_model *m, uint32_t id, float factor, float *sum)
{
	size_t row = m->mapping ? m->mapping[id] : id, n = m->dimension;

	switch (m->table.type) {
	case TENSOR_I8:
		if (m->scales)
			factor *= m->scales[row];
		static_add_i8(sum, (const signed char *)m->table.data + row * n, factor, n);
		break;
	case TENSOR_F32:
		/* Read by memcpy: the file need not be aligned. */
		static_add_f32(sum, (const void *)(m->table.data + 4 * row * n), factor, n);
		break;
	default:
		for (size_t i = 0; i < n; i++)
			sum[i] += tensor_float(&m->table, row * n + i) * factor;
	}
}

void static_row(const struct static_model *m, uint32_t id, float *out)
{
	memset(out, 0, m->padded * sizeof *out);
	add_row(m, id, 1, out);
}

enum status static_model_embed(const struct static_model *m, struct bytes text, float *out,
	struct error *e)
{
	struct arena arena;
	uint32_t *ids, unknown;
	bool has_unknown = tokenizer_unknown(m->tokenizer, &unknown);
	size_t n;
	enum status st;
	float *sum;

	arena_init(&arena, 0);
	if (text.len > STATIC_MAX_TEXT)
		text.len = utf8_floor(text.data, text.len, STATIC_MAX_TEXT);
	st = tokenizer_encode(m->tokenizer, text, &arena, &ids, &n, e);
	sum = st == ST_OK ? arena_array(&arena, m->padded, sizeof *sum) : NULL;
	if (st == ST_OK && !sum)
		st = error_set(e, ST_NOMEM, "out of memory");
	for (size_t i = 0; st == ST_OK && i < n; i++)
		if (!has_unknown || ids[i] != unknown)
			add_row(m, ids[i], static_weight(m, ids[i]), sum);
	if (st == ST_OK) {
		/* The mean has the direction of the sum. */
		(void)static_unit(sum, m->padded);
		memcpy(out, sum, m->dimension * sizeof *out);
	}
	arena_release(&arena);
	return st;
}

float static_model_token(const struct static_model *m, uint32_t id, float *out)
{
	float row[STATIC_MAX_DIMENSION + STATIC_LANES], length;

	static_row(m, id, row);
	length = static_unit(row, m->padded);
	memcpy(out, row, m->dimension * sizeof *out);
	return length * fabsf(static_weight(m, id));
}

const char *static_model_identity(const struct static_model *m)
{
	return m->identity;
}

size_t static_model_dimension(const struct static_model *m)
{
	return m->dimension;
}

const struct tokenizer *static_model_tokenizer(const struct static_model *m)
{
	return m->tokenizer;
}

size_t static_model_vocabulary(const struct static_model *m)
{
	return m->vocabulary;
}

void static_model_close(struct static_model *m)
{
	if (!m)
		return;
	tokenizer_free(m->tokenizer);
	mem_free(m->scales);
	mem_free(m->weights);
	mem_free(m->mapping);
	mem_free(m->identity);
	mem_free(m->owned);
	mem_free(m);
}
