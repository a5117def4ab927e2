/*
 * models/load.h: JSON of a model's files, which the operator put there: no limits but
 * those of Jansson and the caller's on the length.
 */
#ifndef RCPD_MODELS_LOAD_H
#define RCPD_MODELS_LOAD_H

#include <jansson.h>

#include "util/bytes.h"
#include "util/status.h"

/*
 * New reference in *ret, any JSON value but a bare one. what names the file. ST_NOMEM;
 * ST_INVALID, also for some failed allocations: Jansson then says that a token is wrong.
 */
static inline enum status load_json(struct bytes text, const char *what, json_t **ret,
	struct error *e)
{
	json_error_t why = { .text = "" };

	*ret = json_loadb(text.len ? text.data : "", text.len, JSON_ALLOW_NUL, &why);
	if (*ret)
		return ST_OK;
	if (why.text[0] == '\0' || json_error_code(&why) == json_error_out_of_memory)
		return error_set(e, ST_NOMEM, "out of memory");
	return error_set(e, ST_INVALID, "%s is no JSON: %s", what, why.text);
}

#endif
