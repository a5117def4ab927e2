/* methods/retrieve_vector.c: x-rcpd-vector, the query's vector from the client's encoder. */
#include <float.h>
#include <math.h>
#include <stdio.h>

#include "methods/retrieve.h"

#define NAME "x-rcpd-vector"

static enum rpc_code check_shape(struct rpc_call *call, const json_t *v)
{
	size_t n = json_array_size(v); /* 0 for what is no array */

	if (n && n <= ENGINE_MAX_DIMENSION)
		return RPC_OK;
	return rpc_error_field(rpc_call_error(call), NAME,
		NAME " must be an array of 1 to %d numbers", ENGINE_MAX_DIMENSION);
}

/* Sums their squares in double: no float of 4,096 can overflow or vanish there. */
static enum rpc_code read_norm(struct rpc_call *call, const json_t *v, double *ret)
{
	const json_t *one;
	double sum = 0;
	size_t i;

	json_array_foreach(v, i, one)
	{
		double d = json_number_value(one);
		char path[40];

		if (!json_is_number(one) || fabs(d) > (double)FLT_MAX) {
			snprintf(path, sizeof(path), NAME "[%zu]", i);
			return rpc_error_field(rpc_call_error(call), path,
				"%s must be a number that a 32-bit float can hold", path);
		}
		sum += d * d;
	}
	*ret = sqrt(sum);
	if (*ret > 0)
		return RPC_OK;
	return rpc_error_field(rpc_call_error(call), NAME, NAME " must not be all zero");
}

enum rpc_code methods_retrieve_read_vector(struct rpc_call *call, const json_t *v,
	const float **ret, size_t *ret_dimension)
{
	enum rpc_code rc = check_shape(call, v);
	double norm = 0;
	float *out;
	const json_t *one;
	size_t i;

	if (!rc)
		rc = read_norm(call, v, &norm);
	if (rc)
		return rc;
	out = arena_array(rpc_call_arena(call), json_array_size(v), sizeof(*out));
	if (!out)
		return methods_nomem(call);
	json_array_foreach(v, i, one) out[i] = (float)(json_number_value(one) / norm);
	*ret = out;
	*ret_dimension = json_array_size(v);
	return RPC_OK;
}
