/* row.c: rounding vectors to whole numbers; see row.h. Sums are made in the order of the
 * components, so the same vector gives the same bits everywhere. */
#include "engine/vector/row.h"

#include <math.h>
#include <string.h>

#define SMALL 127

bool vec_row_widen(const float *values, size_t dimension, int16_t *ret)
{
	double sum = 0, factor;

	for (size_t i = 0; i < dimension; i++)
		sum += (double)values[i] * values[i];
	if (!isfinite(sum) || sum <= 0)
		return false;
	factor = VEC_UNIT / sqrt(sum);
	memset(ret, 0, vec_wide_bytes(dimension));
	for (size_t i = 0; i < dimension; i++)
		ret[i] = (int16_t)lrint(values[i] * factor);
	return true;
}

void vec_row_shrink(const int16_t *wide, size_t dimension, int8_t *ret, struct vec_scale *scale)
{
	int32_t most = 1;
	double step, sum = 0;

	for (size_t i = 0; i < dimension; i++) {
		int32_t size = wide[i] < 0 ? -wide[i] : wide[i];

		most = size > most ? size : most;
	}
	step = (float)((double)most / SMALL);
	memset(ret, 0, vec_small_bytes(dimension));
	for (size_t i = 0; i < dimension; i++) {
		int32_t size = wide[i] < 0 ? -wide[i] : wide[i];
		int32_t code = (2 * SMALL * size + most) / (2 * most);
		double rest = size - step * code;

		ret[i] = (int8_t)(wide[i] < 0 ? -code : code);
		sum += rest * rest;
	}
	scale->step = (float)step;
	/* A little more than the length: for the roundings of this sum and to float. */
	scale->error = (float)(sqrt(sum) * 1.00001 + 0.001);
}

void vec_row_values(const int16_t *wide, size_t dimension, float *ret)
{
	double sum = 0;

	for (size_t i = 0; i < dimension; i++)
		sum += (double)wide[i] * wide[i];
	sum = sum > 0 ? sqrt(sum) : 1;
	for (size_t i = 0; i < dimension; i++)
		ret[i] = (float)(wide[i] / sum);
}
