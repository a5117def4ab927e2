/*
 * text/query.h: a user's query as terms. User text is never query syntax: what
 * leaves here is a list of words, without operators, quotes or wildcards.
 */
#ifndef RCPD_TEXT_QUERY_H
#define RCPD_TEXT_QUERY_H

#include <stdbool.h>
#include <stddef.h>

#include "util/arena.h"
#include "util/bytes.h"
#include "util/status.h"

#define TEXT_QUERY_MAX_TERMS 512 /* more are dropped, `truncated` says so */

struct text_query {
	struct bytes *terms; /* in order, repeats kept (they count twice); arena */
	size_t n;
	bool truncated;
	bool only_stop_words; /* there were words, but none that carries meaning (D33) */
};

/* Splits `text` (valid UTF-8, NULs allowed) into terms and drops English stop words.
 * ST_NOMEM only. */
enum status text_query_parse(struct bytes text, struct arena *arena, struct text_query *ret);

#endif
