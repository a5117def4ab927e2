/*
 * chars.c: what each character does to words.
 *
 * The properties are ICU's (Unicode Character Database): Word_Break of UAX #29
 * first, Line_Break for the scripts that need a dictionary, scripts for those that
 * are indexed by bigrams. Code points of one and two bytes (Latin, Greek, Cyrillic,
 * Hebrew, Arabic) have a table with their folded forms, so that most text never
 * asks ICU: 2048 rows, made once for the process in about a millisecond.
 */
#include <pthread.h>

#include <unicode/uchar.h>
#include <unicode/unorm2.h>
#include <unicode/uscript.h>

#include "text/private.h"
#include "util/utf8.h"

static struct char_info table[CHAR_TABLE];
static bool table_ready;
static pthread_once_t table_once = PTHREAD_ONCE_INIT;

/* Scripts without spaces that ICU has a word dictionary for. */
static bool has_dictionary(uint32_t cp)
{
	UErrorCode err = U_ZERO_ERROR;

	switch (uscript_getScript((UChar32)cp, &err)) {
	case USCRIPT_THAI:
	case USCRIPT_LAO:
	case USCRIPT_KHMER:
	case USCRIPT_MYANMAR:
		return true;
	default:
		return false;
	}
}

static bool is_bigram_script(uint32_t cp)
{
	UErrorCode err = U_ZERO_ERROR;

	switch (uscript_getScript((UChar32)cp, &err)) {
	case USCRIPT_HAN:
	case USCRIPT_HIRAGANA:
	case USCRIPT_KATAKANA:
	case USCRIPT_HANGUL:
	case USCRIPT_BOPOMOFO:
		return true;
	default:
		return false;
	}
}

/* Symbols that stand for letters or digits: a fraction, a unit, a circled number. */
static enum char_class class_of_symbol(uint32_t cp, int category)
{
	struct fold folded;
	char utf8[4];
	int type = u_getIntPropertyValue((UChar32)cp, UCHAR_DECOMPOSITION_TYPE);

	if (category == U_OTHER_NUMBER && (type == U_DT_SUPER || type == U_DT_SUB))
		return CHAR_DIGIT;
	if (category != U_OTHER_NUMBER && category != U_OTHER_SYMBOL)
		return CHAR_OTHER;
	if (category == U_OTHER_SYMBOL && (type == U_DT_NONE || type == U_DT_SUPER))
		return CHAR_OTHER; /* superscripts: the trade mark signs */
	fold_case_icu(utf8, utf8_encode(cp, utf8), false, &folded);
	return folded.len ? CHAR_SYMBOL : CHAR_OTHER;
}

/* Where Word_Break says nothing: letters without spaces, symbols. */
static enum char_class class_of_rest(uint32_t cp)
{
	int category = u_charType((UChar32)cp);

	if (cp >= 0x231A && u_hasBinaryProperty((UChar32)cp, UCHAR_EXTENDED_PICTOGRAPHIC) &&
		cp != 0x3030 && cp != 0x303D)
		return CHAR_EMOJI;
	if (is_bigram_script(cp) && category != U_OTHER_SYMBOL &&
		u_hasBinaryProperty((UChar32)cp, UCHAR_ALPHABETIC))
		return CHAR_CJK;
	switch (category) {
	case U_UPPERCASE_LETTER:
	case U_LOWERCASE_LETTER:
	case U_TITLECASE_LETTER:
	case U_MODIFIER_LETTER:
	case U_OTHER_LETTER:
	case U_LETTER_NUMBER:
		return CHAR_CJK;
	case U_DECIMAL_DIGIT_NUMBER:
		return CHAR_DIGIT;
	default:
		return class_of_symbol(cp, category);
	}
}

/* Hangul vowels and finals written as separate jamo. */
static bool is_jamo_tail(uint32_t cp)
{
	return (cp >= 0x1160 && cp <= 0x11FF) || (cp >= 0xD7B0 && cp <= 0xD7FB);
}

static enum char_class class_of(uint32_t cp)
{
	if (cp >= 0x1F3FB && cp <= 0x1F3FF)
		return CHAR_EXTEND; /* skin tones */
	if (cp == 0x640 || cp == 0x2BB || cp == 0x2BC)
		return CHAR_EXTEND; /* Arabic stretching, apostrophe letters: no word alone */
	if (u_getIntPropertyValue((UChar32)cp, UCHAR_LINE_BREAK) == U_LB_COMPLEX_CONTEXT)
		return has_dictionary(cp) ? CHAR_DICT : CHAR_CJK;
	switch (u_getIntPropertyValue((UChar32)cp, UCHAR_WORD_BREAK)) {
	case U_WB_ALETTER:
	case U_WB_HEBREW_LETTER:
		if (is_jamo_tail(cp))
			return CHAR_JAMO;
		return is_bigram_script(cp) ? CHAR_CJK : CHAR_LETTER;
	case U_WB_KATAKANA:
		return CHAR_CJK;
	case U_WB_NUMERIC:
		return CHAR_DIGIT;
	case U_WB_EXTEND:
	case U_WB_FORMAT:
	case U_WB_ZWJ:
		return CHAR_EXTEND;
	case U_WB_REGIONAL_INDICATOR:
		return CHAR_FLAG;
	case U_WB_EXTENDNUMLET:
	case U_WB_MIDLETTER:
	case U_WB_MIDNUM:
	case U_WB_MIDNUMLET:
	case U_WB_SINGLE_QUOTE:
		return CHAR_JOIN;
	default:
		return class_of_rest(cp);
	}
}

unsigned chars_case(uint32_t cp)
{
	if (cp < CHAR_TABLE)
		return table[cp].flags & (CHAR_UPPER | CHAR_LOWER);
	return (u_isupper((UChar32)cp) ? CHAR_UPPER : 0U) |
		(u_islower((UChar32)cp) ? CHAR_LOWER : 0U);
}

/* One row; fold_case itself would ask for the table. */
static void fill_row(uint32_t cp)
{
	struct char_info *row = &table[cp];
	struct fold cased, bare;
	char utf8[4];
	size_t len = utf8_encode(cp, utf8);

	row->class = (uint8_t)class_of(cp);
	row->flags = (u_isupper((UChar32)cp) ? CHAR_UPPER : 0) |
		(u_islower((UChar32)cp) ? CHAR_LOWER : 0);
	fold_case_icu(utf8, len, false, &cased);
	fold_accents(cased.data, cased.len, &bare);
	if (cased.len > sizeof(row->cased) || bare.len > sizeof(row->bare))
		return;
	memcpy(row->cased, cased.data, cased.len);
	memcpy(row->bare, bare.data, bare.len);
	row->case_len = (uint8_t)cased.len;
	row->bare_len = (uint8_t)bare.len;
	if (row->class == CHAR_LETTER || row->class == CHAR_DIGIT)
		row->flags |= CHAR_SIMPLE;
}

static void table_make(void)
{
	UErrorCode err = U_ZERO_ERROR;

	(void)unorm2_getNFKCCasefoldInstance(&err);
	(void)unorm2_getNFCInstance(&err);
	if (U_FAILURE(err))
		return;
	for (uint32_t cp = 0; cp < CHAR_TABLE; cp++)
		fill_row(cp);
	table_ready = true;
}

const struct char_info *chars_table(void)
{
	(void)pthread_once(&table_once, table_make);
	return table_ready ? table : NULL;
}

enum char_class chars_class(uint32_t cp)
{
	if (cp < CHAR_TABLE)
		return (enum char_class)table[cp].class;
	/* Most Han and Hangul, without the properties. */
	if ((cp >= 0x4E00 && cp <= 0x9FFF) || (cp >= 0xAC00 && cp <= 0xD7A3))
		return CHAR_CJK;
	return class_of(cp);
}

struct text_char chars_at(const char *p, size_t n)
{
	struct text_char c;
	size_t len;

	c.cp = utf8_decode(p, n, &len);
	c.len = (uint32_t)len;
	/* utf8_decode says U+FFFD for an invalid byte; both separate. */
	c.class = chars_class(c.cp);
	return c;
}
