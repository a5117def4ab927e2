/*
 * methods/vectors.c: vectors to and from JSON. Answers to embed are mostly numbers, so
 * they are written without printf, which takes ten times as long.
 */
#include "methods/vectors.h"

#include <float.h>
#include <math.h>
#include <string.h>

#include "methods/common.h"

/* ---- as numbers ---- */

#define DIGITS 9 /* decide a binary32 */

/* Writes u with so many places after "0.", without zeros at the end. */
static size_t put_fraction(char *out, uint64_t u, int places)
{
	size_t len = 2 + (size_t)places;

	out[0] = '0';
	out[1] = '.';
	for (size_t i = len; i-- > 2; u /= 10)
		out[i] = (char)('0' + u % 10);
	while (len > 3 && out[len - 1] == '0')
		len--;
	return len;
}

/* The text of a finite number; out holds 32. Below 1 in size, as those of unit vectors
 * are, by hand: nine digits from the first that is not zero. */
static size_t float_text(float f, char *out)
{
	static const double scales[] = { 1e9, 1e10, 1e11, 1e12, 1e13 };
	static const double least[] = { 1e-1, 1e-2, 1e-3, 1e-4, 1e-5 };
	double a = fabs((double)f);
	size_t sign = signbit(f) && a > 0, n;

	out[0] = '-';
	for (int k = 0; k < 5 && a < 1; k++)
		if (a >= least[k])
			return sign +
				put_fraction(out + sign, (uint64_t)(a * scales[k] + 0.5),
					DIGITS + k);
	n = (size_t)snprintf(out + sign, 31, "%.*g", DIGITS, a);
	out[sign + n] = '\0';
	if (!strpbrk(out + sign, ".e")) /* a number with a fraction stays one for its reader */
		memcpy(out + sign + n, ".0", 3), n += 2;
	return sign + n;
}

void methods_write_floats(struct json_writer *w, const float *v, size_t n)
{
	char text[32];

	jw_array(w);
	for (size_t i = 0; i < n; i++) {
		if (!isfinite(v[i])) {
			w->bad = true;
			break;
		}
		jw_raw(w, text, float_text(v[i], text));
	}
	jw_end(w);
}

/* ---- as base64 ---- */

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Up to three bytes to four characters. */
static void put_group(char out[4], const unsigned char *raw, size_t n)
{
	uint32_t v = (uint32_t)raw[0] << 16 | (n > 1 ? (uint32_t)raw[1] << 8 : 0) |
		(n > 2 ? raw[2] : 0);

	for (int j = 0; j < 4; j++)
		out[j] = (size_t)j <= n ? digits[v >> (18 - 6 * j) & 63] : '=';
}

/* Little-endian whatever the machine is. */
static void put_float(unsigned char out[4], float f)
{
	uint32_t bits;

	memcpy(&bits, &f, sizeof(bits));
	for (int i = 0; i < 4; i++)
		out[i] = (unsigned char)(bits >> (8 * i));
}

/* Three floats are twelve bytes are sixteen characters. */
void methods_write_base64(struct json_writer *w, const float *v, size_t n)
{
	jw_raw(w, "\"", 1); /* the rest of the string follows without a comma */
	for (size_t at = 0; at < n; at += 3) {
		size_t len = 4 * (n - at < 3 ? n - at : 3), chars = (len + 2) / 3 * 4;
		unsigned char raw[12] = { 0 };
		char text[16];

		for (size_t i = 0; i < 3 && at + i < n; i++) {
			if (!isfinite(v[at + i]))
				w->bad = true;
			put_float(raw + 4 * i, v[at + i]);
		}
		for (size_t i = 0; i < len; i += 3)
			put_group(text + i / 3 * 4, raw + i, len - i < 3 ? len - i : 3);
		strbuf_add(w->out, text, chars);
	}
	strbuf_addc(w->out, '"');
}

/* ---- from a client ---- */

static enum rpc_code bad_number(struct rpc_call *call, const char *path, size_t i, const char *why)
{
	char at[200];

	snprintf(at, sizeof(at), "%.160s[%zu]", path, i);
	return rpc_error_field(rpc_call_error(call), at, "%s %s", at, why);
}

enum rpc_code methods_read_vector(struct rpc_call *call, const json_t *v, const char *path,
	size_t dimension, float **ret)
{
	struct rpc_error *err = rpc_call_error(call);
	double norm = 0, x;
	float *out;

	if (!json_is_array(v))
		return rpc_error_field(err, path, "%s must be an array of numbers", path);
	if (json_array_size(v) != dimension)
		return rpc_error_field(err, path, "%s must have %zu numbers, not %zu", path,
			dimension, json_array_size(v));
	out = arena_array(rpc_call_arena(call), dimension ? dimension : 1, sizeof(*out));
	if (!out)
		return methods_nomem(call);
	for (size_t i = 0; i < dimension; i++) {
		if (!json_is_number(json_array_get(v, i)))
			return bad_number(call, path, i, "must be a number");
		x = json_number_value(json_array_get(v, i));
		if (!(fabs(x) <= (double)FLT_MAX)) /* the sum of all squares stays finite */
			return bad_number(call, path, i, "is too large for a 32-bit float");
		norm += x * x;
	}
	norm = sqrt(norm);
	if (!(norm > 0))
		return rpc_error_field(err, path, "%s must not be all zero", path);
	for (size_t i = 0; i < dimension; i++)
		out[i] = (float)(json_number_value(json_array_get(v, i)) / norm);
	*ret = out;
	return RPC_OK;
}
