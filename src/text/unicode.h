/*
 * text/unicode.h: characters as the reference tokenizers see them. Their tables are of
 * several versions of Unicode (8 for categories, 9 for normal forms, 16 for words, 17 for
 * lower case); what ICU says is brought to these versions by the age of a character, so
 * that the same comes out with every ICU from 72 on.
 *
 * All functions are pure and may be called from any thread.
 */
#ifndef RCPD_TEXT_UNICODE_H
#define RCPD_TEXT_UNICODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/bytes.h"
#include "util/status.h"

/* White_Space; the same in all versions since 6.3. */
bool unicode_space(uint32_t cp);
/* \w of UTS #18: alphabetic, mark, decimal digit, connector, join control. */
bool unicode_word(uint32_t cp);
/* Control, format or private use (Cc, Cf, Co), not unassigned. */
bool unicode_control(uint32_t cp);
/* Any of the P categories, and all punctuation and symbols of ASCII. */
bool unicode_punctuation(uint32_t cp);
bool unicode_nonspacing(uint32_t cp); /* Mn, Unicode 8 */
bool unicode_mark(uint32_t cp);       /* M, Unicode 9 */
/* The lower case of one character, without context: 1 or 2 code points. */
size_t unicode_lower(uint32_t cp, uint32_t ret[2]);
/* Full canonical decomposition (compat: compatibility), at most UNICODE_DECOMPOSED code
 * points; cp itself if it has none. */
#define UNICODE_DECOMPOSED 18
size_t unicode_decompose(uint32_t cp, bool compat, uint32_t ret[UNICODE_DECOMPOSED]);
uint8_t unicode_combining_class(uint32_t cp);

enum unicode_form { UNICODE_NFD, UNICODE_NFKD, UNICODE_NFC, UNICODE_NFKC };

/*
 * A normal form (UAX #15) of valid UTF-8, one code point after the other. change says what
 * it stands for: 1: it came in addition; -n: n more characters of the text went into it.
 * emit returns false to stop: then ST_NOMEM. ST_NOMEM; ST_UNAVAILABLE when ICU's data
 * cannot be loaded.
 */
typedef bool unicode_emit(void *arg, uint32_t cp, int change);
enum status unicode_normalize(struct bytes text, enum unicode_form form, unicode_emit *emit,
	void *arg);

/*
 * The first extended grapheme cluster (UAX #29, Unicode 17) of p[0..n), n > 0, valid
 * UTF-8: its length in bytes. Clusters of one text are found one after the other.
 */
size_t unicode_grapheme(const char *p, size_t n);

#endif
