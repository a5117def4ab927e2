/* chunk_check.h: what must hold of the chunks of any text; for unit and fuzz tests. */
#ifndef RCPD_TESTS_UNIT_TEXT_CHUNK_CHECK_H
#define RCPD_TESTS_UNIT_TEXT_CHUNK_CHECK_H

#include "text/chunk.h"

/* Chunks the text (valid UTF-8) and looks at each. NULL if all holds, else what does not. */
const char *chunk_check(struct bytes text, enum text_format format,
	const struct text_chunk_options *opt);

#endif
