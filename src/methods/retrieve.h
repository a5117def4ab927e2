/* methods/retrieve.h: what the files of retrieve share. */
#ifndef RCPD_METHODS_RETRIEVE_H
#define RCPD_METHODS_RETRIEVE_H

#include "methods/common.h"
#include "pipeline/retrieve.h"

/* The digest that a cursor carries of its request. As cursor_digest. */
enum status methods_retrieve_digest(const struct methods_retrieve_params *p,
	unsigned char out[CURSOR_DIGEST_LEN]) RCPD_MUST_CHECK;
/* Writes the member "hits". whole: with all that a hit has; else what is known while
 * the answer is being made (T6). */
void methods_write_hits(struct json_writer *out, const struct retrieve_hit *hits, size_t n,
	enum retrieve_unit unit, bool whole);

#endif
