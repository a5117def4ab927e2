/*
 * text/analyze.h: text of any language into index terms, the same way for
 * documents and for queries.
 *
 * Steps: words by UAX #29 (dictionary words for Thai, Khmer, Lao and Burmese;
 * overlapping bigrams for runs of Han, Hiragana, Katakana and Hangul, and the single
 * Han characters as parts), NFKC and case folding, accents folded (not in
 * Vietnamese), elision split ("l'avion"), identifiers and addresses kept whole and
 * also split into their parts, Snowball stemming by language. Every term says which
 * bytes of the original text it came from.
 *
 * An analyzer holds scratch space and is used by one thread at a time; making the
 * first costs some milliseconds (tables of the process), so keep it. docs/QUALITY.md
 * has what was measured about each choice, and how to count terms: all terms of a
 * document but INNER ones are its length; queries drop STOP and INNER.
 */
#ifndef RCPD_TEXT_ANALYZE_H
#define RCPD_TEXT_ANALYZE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "util/bytes.h"
#include "util/status.h"

/* Languages with stemming and stop words; NONE analyses without either. */
enum text_lang {
	TEXT_LANG_NONE,
	TEXT_LANG_AR,
	TEXT_LANG_DA,
	TEXT_LANG_DE,
	TEXT_LANG_EL,
	TEXT_LANG_EN,
	TEXT_LANG_ES,
	TEXT_LANG_FI,
	TEXT_LANG_FR,
	TEXT_LANG_HI,
	TEXT_LANG_HU,
	TEXT_LANG_ID,
	TEXT_LANG_IT,
	TEXT_LANG_JA,
	TEXT_LANG_KO,
	TEXT_LANG_NL,
	TEXT_LANG_NO,
	TEXT_LANG_PT,
	TEXT_LANG_RO,
	TEXT_LANG_RU,
	TEXT_LANG_SV,
	TEXT_LANG_TH,
	TEXT_LANG_TR,
	TEXT_LANG_VI,
	TEXT_LANG_ZH,
	TEXT_LANG_COUNT
};

/* "en", "EN-gb", "pt_BR" to a language; NONE for anything else. */
enum text_lang text_lang_parse(struct bytes tag);
/* "en" and so on; "" for NONE. Static storage. */
const char *text_lang_tag(enum text_lang lang);
/* The likely language by script and frequent words; NONE when there is too little
 * to tell. Looks at the first few kilobytes. */
enum text_lang text_lang_detect(struct bytes text);

#define TEXT_TERM_MAX 64 /* bytes; longer terms are cut on a character boundary */

enum text_term_flags {
	TEXT_TERM_PART = 1, /* part of a larger term at the same position (identifier) */
	TEXT_TERM_STOP = 2, /* a function word of the language: queries drop it */
	/* A piece of a Thai, Khmer, Lao or Burmese word, which may be a word itself:
	 * documents index it without counting it in their length, queries drop it. Set
	 * together with PART; other parts count everywhere (docs/QUALITY.md). */
	TEXT_TERM_INNER = 4,
};

struct text_term {
	const char *data; /* valid until the callback returns */
	uint16_t len;     /* 1..TEXT_TERM_MAX */
	uint8_t flags;
	uint32_t position;             /* of the word, from 0; parts share their whole's */
	uint32_t byte_start, byte_end; /* in the text analysed */
};

struct text_analyzer;
/* Makes one: about a megabyte, most of it a cache of stems. ST_NOMEM, or
 * ST_UNAVAILABLE when ICU's data cannot be loaded. */
enum status text_analyzer_new(struct text_analyzer **ret);
/* Frees it; a may be NULL. */
void text_analyzer_free(struct text_analyzer *a);

/*
 * Calls emit for each term in order of position, a whole before its parts. text is
 * UTF-8; invalid bytes separate. emit returns non-zero to stop early. The terms depend
 * on text and lang alone, not on what the analyzer did before. Returns ST_OK,
 * ST_NOMEM, ST_CANCELLED when emit stopped, ST_TOO_LARGE for 4 GiB and more, or
 * ST_INTERNAL when ICU fails.
 */
enum status text_analyze(struct text_analyzer *a, struct bytes text, enum text_lang lang,
	int (*emit)(void *arg, const struct text_term *term), void *arg);

/* Names everything that decides about terms: our rules and ICU's data. An index made
 * under another name has to be made anew. Static storage. */
const char *text_analyze_version(void);

#endif
