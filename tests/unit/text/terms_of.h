/*
 * terms_of.h: the terms of a text as one line that a test can compare.
 *
 * Positions are separated by a space, terms at one position by '/'; a part ends with
 * '~', an inner piece with '^', a stop word with '!': "foo.bar/foo~/bar~ the! end".
 */
#ifndef RCPD_TESTS_TERMS_OF_H
#define RCPD_TESTS_TERMS_OF_H

#include "text/analyze.h"
#include "util/strbuf.h"

/* An analyzer of this program, made at the first call; analyzer_done frees it. */
struct text_analyzer *analyzer_shared(void);
void analyzer_done(void);
/* Appends the line; checks what holds for any terms. Returns text_analyze's status. */
enum status terms_line(struct text_analyzer *a, struct bytes text, enum text_lang lang,
	struct strbuf *ret);
/* Fails the test unless the terms are these. */
void expect_terms_of(struct bytes text, enum text_lang lang, const char *want);
void expect_terms(const char *text, enum text_lang lang, const char *want);

#endif
