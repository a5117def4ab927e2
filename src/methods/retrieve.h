/* methods/retrieve.h: what the files of retrieve share. */
#ifndef RCPD_METHODS_RETRIEVE_H
#define RCPD_METHODS_RETRIEVE_H

#include "methods/common.h"
#include "pipeline/retrieve.h"

/* The digest that a cursor carries of its request. As cursor_digest. */
enum status methods_retrieve_digest(const struct methods_retrieve_params *p,
	unsigned char out[CURSOR_DIGEST_LEN]) RCPD_MUST_CHECK;
/*
 * The options of the pipeline, from what was asked for and what is offered, into
 * p->choice. What is not offered is -32005, or with strict:false dropped and noted.
 */
enum rpc_code methods_retrieve_choose(struct rpc_call *call, struct methods_retrieve_params *p);
/* x-rcpd-vector: dimension numbers of unit length in the call's arena. -32602. */
enum rpc_code methods_retrieve_read_vector(struct rpc_call *call, const json_t *v,
	const float **ret, size_t *ret_dimension);
/* Tells the client of something that was dropped; text is static. */
void methods_retrieve_note(struct methods_retrieve_params *p, const char *text);
/* An option that was asked for and is not offered: -32005, or a note. */
enum rpc_code methods_retrieve_refuse(struct rpc_call *call, struct methods_retrieve_params *p,
	const char *option, const char *text);
/* The same with a value that is not among those offered as the option. */
enum rpc_code methods_retrieve_refuse_value(struct rpc_call *call,
	struct methods_retrieve_params *p, struct bytes value, const char *text);
/* Writes the member "hits". whole: with all that a hit has (dimension: of
 * its vector); else what is known while the answer is being made (T6). */
void methods_write_hits(struct json_writer *out, const struct retrieve_hit *hits, size_t n,
	enum retrieve_unit unit, size_t dimension, bool whole);

#endif
