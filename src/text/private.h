/*
 * text/private.h: what the files behind analyze.h share; nothing else includes it.
 *
 *   analyze.c   the loop over the text and the fast path
 *     words.c     a cluster: word segments and what joins them
 *     compound.c  wholes and parts, apostrophes, numbers
 *     bigrams.c   Chinese, Japanese, Korean     dictionary.c  Thai, Khmer, Lao, Burmese
 *     emoji.c
 *   terms.c     one word to its term: stop flag, stem, cache
 *     fold.c      case, compatibility forms, accents       chars.c  classes of characters
 *     stop.c      stop words of all languages, stop_lists.c the lists
 *   lang.c      tags; detect.c finds the language of a text
 */
#ifndef RCPD_TEXT_PRIVATE_H
#define RCPD_TEXT_PRIVATE_H

#include "text/analyze.h"

/* chars.c: what a character does to words (UAX #29 and our additions to it). */
enum char_class {
	CHAR_OTHER,  /* separates */
	CHAR_LETTER, /* letters of scripts that put spaces between words */
	CHAR_DIGIT,
	CHAR_EXTEND, /* marks and format characters: belong to what stands before */
	CHAR_CJK,    /* scripts indexed by bigrams */
	CHAR_JAMO,   /* Hangul vowels and finals: continue a syllable */
	CHAR_DICT,   /* scripts whose words a dictionary finds */
	CHAR_EMOJI,
	CHAR_FLAG,   /* regional indicators: two make a flag */
	CHAR_SYMBOL, /* a word by itself: fractions, circled numbers, unit signs */
	CHAR_JOIN,   /* between word characters: see words.c */
};

#define CHAR_TABLE 0x800 /* code points of one or two bytes */

enum char_flags {
	CHAR_SIMPLE = 1, /* folds alone, whatever stands beside it */
	CHAR_UPPER = 2,
	CHAR_LOWER = 4,
};

/* One row for each code point below CHAR_TABLE. */
struct char_info {
	uint8_t class, flags;
	uint8_t case_len, bare_len; /* 0: folds to nothing */
	char cased[6];              /* NFKC and case folding */
	char bare[6];               /* and accents folded */
};

/* The table, made at the first call: process-wide and constant from then on. NULL
 * if ICU's data cannot be loaded. */
const struct char_info *chars_table(void);
/* The class of any code point. */
enum char_class chars_class(uint32_t cp);
/* Upper and lower case, for words written LikeThis. */
unsigned chars_case(uint32_t cp);

struct text_char {
	uint32_t cp;
	uint32_t len; /* bytes */
	enum char_class class;
};
/* The character at p[0..n), n >= 1; invalid bytes are CHAR_OTHER of length 1. */
struct text_char chars_at(const char *p, size_t n);

/* fold.c */
struct fold {
	uint16_t len;
	bool cut; /* did not fit */
	char data[TEXT_TERM_MAX];
};
/* Compatibility forms and case folded; only letters, marks and digits are left.
 * Empty if nothing is. turkish: I is dotless, dotted capital I is i. */
void fold_case(const char *p, size_t n, bool turkish, struct fold *ret);
/* The same without the table of chars.c; n is at most 512. */
void fold_case_icu(const char *p, size_t n, bool turkish, struct fold *ret);
/* Accents folded; in is what fold_case gave. */
void fold_accents(const char *in, size_t n, struct fold *ret);
/* Adds bytes up to the limit, whole characters only. */
void fold_add(struct fold *f, const char *p, size_t n);

/* stop.c: bit (1 << lang) for each language in which the folded word is a function
 * word. */
uint32_t stop_languages(const char *word, size_t n);

/* stop_lists.c: the words of one language, separated by single spaces; NULL: none. */
const char *stop_list(enum text_lang lang);

/* terms.c: folded words to terms. */
struct terms;
struct term {
	const char *data; /* until the next call */
	uint16_t len;     /* 0: no term */
	uint8_t flags;
};
enum status terms_new(struct terms **ret);
void terms_free(struct terms *t);
/* The term of a word that fold_case folded; word is an array of TEXT_TERM_MAX bytes,
 * n of them used. ST_NOMEM only. */
enum status terms_get(struct terms *t, const char *word, size_t n, bool cut, enum text_lang lang,
	struct term *ret);

/* dictionary.c */
struct dictionary;
void dictionary_free(struct dictionary *d);

struct text_analyzer {
	const struct char_info *table;
	struct terms *terms;
	struct dictionary *dictionary; /* NULL until first needed */
	/* Of the call that runs. */
	const char *text;
	uint32_t len;
	enum text_lang lang;
	uint32_t position; /* of the next word */
	int (*emit)(void *arg, const struct text_term *term);
	void *arg;
};

/* analyze.c: hands a term to the caller at the current position. */
enum status analyze_emit(struct text_analyzer *a, const char *data, size_t len, unsigned flags,
	uint32_t start, uint32_t end);
/* The word at [start, end) as a term, folded and stemmed; nothing if it folds to
 * nothing. flags are added. *ret_made (may be NULL) says whether there was a term. */
enum status analyze_word(struct text_analyzer *a, uint32_t start, uint32_t end, unsigned flags,
	bool *ret_made);
/* The same for a word that is folded already. */
enum status analyze_folded(struct text_analyzer *a, const struct fold *word, unsigned flags,
	uint32_t start, uint32_t end, bool *ret_made);

/* words.c: a cluster is a chain of segments (letters, digits and their marks)
 * without space between them, and what stands between each two. */
#define CLUSTER_SEGMENTS 32
#define CLUSTER_BYTES 255 /* longer chains end there; a single segment may be longer */

enum joint {
	JOINT_URL,    /* anything between the pieces of a web address; weakest */
	JOINT_AT,     /* user@host */
	JOINT_SCOPE,  /* grammar::fa */
	JOINT_HYPHEN, /* beside a digit: BENCH-100821 */
	JOINT_COMMA,  /* 1,000 */
	JOINT_DOT,    /* foo.bar, 38.101 */
	JOINT_UNDER,  /* snake_case */
	JOINT_QUOTE,  /* don't; also the middle dot of Catalan, the quotes of Hebrew */
};
enum segment_flags {
	SEGMENT_LETTERS = 1, /* has a letter */
	SEGMENT_DIGITS = 2,  /* has a digit */
	SEGMENT_CAMEL = 4,   /* an upper case letter not at the start, and a lower case one */
};
struct segment {
	uint32_t start, end;
	uint8_t flags;
	uint8_t joint; /* to the next one */
};
struct cluster {
	size_t n;
	uint32_t end;  /* where to go on */
	uint32_t tail; /* end of "++" or "#" after a single short segment, else 0 */
	bool url;
	struct segment segments[CLUSTER_SEGMENTS];
};
/* Reads the cluster that starts at byte `at`, a letter or digit. */
void cluster_read(const char *text, uint32_t len, uint32_t at, struct cluster *ret);

/* compound.c: the terms of a cluster. */
enum status compound_emit(struct text_analyzer *a, const struct cluster *c);

/* Runs of other kinds; *at is the first character and moves behind the run. */
enum status bigrams_emit(struct text_analyzer *a, uint32_t *at);
enum status dictionary_emit(struct text_analyzer *a, uint32_t *at);
enum status emoji_emit(struct text_analyzer *a, uint32_t *at);

#endif
