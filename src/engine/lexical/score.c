/* score.c: BM25; see score.h. */
#include "engine/lexical/score.h"

#include <math.h>

void lex_model_init(struct lex_model *m, double k1, double b, uint64_t chunks, uint64_t length)
{
	m->k1 = k1;
	m->b = b;
	/* A corpus of empty chunks has no average; nothing depends on it then. */
	m->average = chunks > 0 && length > 0 ? (double)length / (double)chunks : 1;
	m->base = (float)(k1 * (1 - b));
	m->per_length = (float)(k1 * b / m->average);
	m->weight = (float)(k1 + 1);
	for (unsigned code = 0; code < 256; code++) {
		float norm = m->base + m->per_length * (float)lex_code_length((uint8_t)code);

		m->bound[0][code] = 0;
		for (unsigned tf = 1; tf < LEX_BOUND_TFS; tf++)
			m->bound[tf][code] = (float)tf / ((float)tf + norm);
	}
}

double lex_idf(uint64_t chunks, uint64_t df)
{
	if (df > chunks) /* only a damaged file can say so */
		df = chunks;
	return log(1 + ((double)chunks - (double)df + 0.5) / ((double)df + 0.5));
}

double lex_norm(const struct lex_model *m, uint32_t length)
{
	return m->k1 * (1 - m->b + m->b * length / m->average);
}

float lex_bound_pair(const struct lex_model *m, uint32_t tf, uint32_t length)
{
	float norm = m->base + m->per_length * (float)length;

	return (float)tf / ((float)tf + norm);
}

static float pair_score(const struct lex_model *m, unsigned char tf, unsigned char code)
{
	if (tf < LEX_BOUND_TFS)
		return m->bound[tf][code];
	return tf == LEX_TF_MANY ? 1 : lex_bound_pair(m, tf, lex_code_length(code));
}

float lex_bound_score(const struct lex_model *m, const unsigned char pairs[LEX_BOUND_BYTES])
{
	float best = 0;

	for (size_t i = 0; i < LEX_PAIRS && pairs[2 * i] > 0; i++) {
		float s = pair_score(m, pairs[2 * i], pairs[2 * i + 1]);

		best = s > best ? s : best;
	}
	return best;
}

typedef float floats __attribute__((vector_size(16)));
typedef int32_t ints __attribute__((vector_size(16)));

/* Both tfs and lengths are below 2^31. */
static floats to_floats(const uint32_t *p)
{
	ints v;

	memcpy(&v, p, sizeof(v));
	return __builtin_convertvector(v, floats);
}

void lex_score_run(const struct lex_model *m, float weight, const uint32_t *tfs,
	const uint32_t *lengths, uint32_t n, float *out)
{
	uint32_t i = 0;

	for (; i + 4 <= n; i += 4) {
		floats tf = to_floats(tfs + i);
		floats s = weight * tf / (tf + (m->base + m->per_length * to_floats(lengths + i)));

		memcpy(out + i, &s, sizeof(s));
	}
	for (; i < n; i++)
		out[i] = weight * lex_bound_pair(m, tfs[i], lengths[i]);
}
