/*
 * bigrams.c: runs of Chinese, Japanese and Korean as overlapping pairs of
 * characters; a run of one character is that character. Han characters are parts
 * beside their pairs: a query of one character finds them, and they raise the
 * quality of longer ones (docs/QUALITY.md).
 *
 * A character is a base with the marks that follow it, so that voiced kana in two
 * code points and Hangul in jamo count as one.
 */
#include "text/private.h"
#include "util/utf8.h"

struct unit {
	uint32_t start, end;
	bool plain; /* a single code point that folds to itself */
	bool word;  /* Han: often a word by itself */
};

static bool folds_to_itself(uint32_t cp)
{
	return (cp >= 0x4E00 && cp <= 0x9FFF) || (cp >= 0x3041 && cp <= 0x3096) ||
		(cp >= 0x30A1 && cp <= 0x30FA) || cp == 0x30FC || (cp >= 0xAC00 && cp <= 0xD7A3);
}

static bool is_han(uint32_t cp)
{
	return cp == 0x3005 || cp == 0x3007 || (cp >= 0x3400 && cp <= 0x9FFF) ||
		(cp >= 0xF900 && cp <= 0xFAFF) || (cp >= 0x20000 && cp <= 0x3FFFF);
}

/* The unit at `at`; false if none of these scripts starts there. */
static bool next_unit(const struct text_analyzer *a, uint32_t at, struct unit *ret)
{
	struct text_char c;

	if (at >= a->len)
		return false;
	c = chars_at(a->text + at, a->len - at);
	if (c.class != CHAR_CJK && c.class != CHAR_JAMO)
		return false;
	*ret = (struct unit){ at, at + c.len, folds_to_itself(c.cp), is_han(c.cp) };
	while (ret->end < a->len) {
		c = chars_at(a->text + ret->end, a->len - ret->end);
		if (c.class != CHAR_EXTEND && c.class != CHAR_JAMO)
			break;
		ret->end += c.len;
		ret->plain = false;
	}
	return true;
}

static enum status emit_units(struct text_analyzer *a, const struct unit *first,
	const struct unit *last, unsigned flags)
{
	uint32_t len = last->end - first->start;
	struct fold cased, bare;

	if (first->plain && last->plain)
		return analyze_emit(a, a->text + first->start, len, flags, first->start, last->end);
	fold_case(a->text + first->start, len, false, &cased);
	fold_accents(cased.data, cased.len, &bare);
	if (bare.len == 0)
		return ST_OK;
	return analyze_emit(a, bare.data, bare.len, flags, first->start, last->end);
}

/* The single character beside its pairs. */
static enum status emit_part(struct text_analyzer *a, const struct unit *unit)
{
	return unit->word ? emit_units(a, unit, unit, TEXT_TERM_PART) : ST_OK;
}

enum status bigrams_emit(struct text_analyzer *a, uint32_t *at)
{
	struct unit last = { 0 }, unit;
	enum status st = ST_OK;
	size_t n = 0;

	while (st == ST_OK && next_unit(a, *at, &unit)) {
		if (n > 0) {
			st = emit_units(a, &last, &unit, 0);
			if (st == ST_OK)
				st = emit_part(a, &last);
			a->position++;
		}
		last = unit;
		*at = unit.end;
		n++;
	}
	if (st || n == 0)
		return st;
	if (n > 1) {
		a->position--; /* the last character stands where its pair does */
		st = emit_part(a, &last);
	} else {
		st = emit_units(a, &last, &last, 0);
	}
	a->position++;
	return st;
}
