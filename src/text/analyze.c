/*
 * analyze.c: the loop over a text, and the way that most words take.
 *
 * Words of ASCII and of two-byte letters between plain separators are folded in
 * place by a table, a byte at a time, and their terms come from the cache of
 * terms.c. Whatever is not as plain (dots, apostrophes, digits beside hyphens,
 * CamelCase, other scripts) goes the general way, which gives the same terms: the
 * fast one is there for speed alone and turns back whenever it is in doubt.
 */
#include <unicode/uchar.h>

#include "text/private.h"
#include "util/mem.h"

#define FAST_MAX 28 /* folded bytes of a word on the fast way */

enum status text_analyzer_new(struct text_analyzer **ret)
{
	struct text_analyzer *a;
	enum status st;

	if (!chars_table())
		return ST_UNAVAILABLE;
	a = mem_zero(sizeof(*a));
	if (!a)
		return ST_NOMEM;
	a->table = chars_table();
	st = terms_new(&a->terms);
	if (st) {
		text_analyzer_free(a);
		return st;
	}
	*ret = a;
	return ST_OK;
}

void text_analyzer_free(struct text_analyzer *a)
{
	if (!a)
		return;
	terms_free(a->terms);
	dictionary_free(a->dictionary);
	mem_free(a);
}

enum status analyze_emit(struct text_analyzer *a, const char *data, size_t len, unsigned flags,
	uint32_t start, uint32_t end)
{
	struct text_term term = { .data = data,
		.len = (uint16_t)len,
		.flags = (uint8_t)flags,
		.position = a->position,
		.byte_start = start,
		.byte_end = end };

	if (len == 0)
		return ST_OK;
	return a->emit(a->arg, &term) ? ST_CANCELLED : ST_OK;
}

enum status analyze_folded(struct text_analyzer *a, const struct fold *word, unsigned flags,
	uint32_t start, uint32_t end, bool *ret_made)
{
	struct term term;
	enum status st;

	if (ret_made)
		*ret_made = false;
	if (word->len == 0)
		return ST_OK;
	st = terms_get(a->terms, word->data, word->len, word->cut, a->lang, &term);
	if (st)
		return st;
	if (ret_made)
		*ret_made = term.len > 0;
	return analyze_emit(a, term.data, term.len, flags | term.flags, start, end);
}

enum status analyze_word(struct text_analyzer *a, uint32_t start, uint32_t end, unsigned flags,
	bool *ret_made)
{
	struct fold word;

	fold_case(a->text + start, end - start, a->lang == TEXT_LANG_TR, &word);
	return analyze_folded(a, &word, flags, start, end, ret_made);
}

/* What may follow a word on the fast way: ASCII that never joins. */
static bool is_plain_end(unsigned char c)
{
	switch (c) {
	case '.':
	case ',':
	case '\'':
	case '-':
	case '_':
	case ':':
	case '@':
	case '+':
	case '#':
		return false;
	default:
		return c < 0x80;
	}
}

/* A sign that joins only if a word goes on behind it: true if none does. */
static bool ends_before(const struct text_analyzer *a, uint32_t at, bool digits)
{
	uint32_t next = at + 1;
	unsigned char c;

	if (at >= a->len || is_plain_end((unsigned char)a->text[at]))
		return true;
	if (next >= a->len)
		return strchr("+#", a->text[at]) == NULL && (unsigned char)a->text[at] < 0x80;
	c = (unsigned char)a->text[next];
	switch (a->text[at]) {
	case '.':
	case '\'':
		return is_plain_end(c) && !a->table[c].case_len;
	case ',':
		return !digits || (is_plain_end(c) && !a->table[c].case_len);
	case '-':
		break;
	default:
		return false;
	}
	if (digits)
		return false;
	/* A hyphen between words without digits separates. */
	for (; next < a->len && (unsigned char)a->text[next] < 0x80; next++) {
		const struct char_info *row = &a->table[(unsigned char)a->text[next]];

		if (row->class == CHAR_DIGIT)
			return false;
		if (!row->case_len)
			return true;
	}
	return next >= a->len;
}

/* The plain word at *at, moving behind it; false if it is not a plain one. */
static bool read_plain(const struct text_analyzer *a, uint32_t *at, struct fold *word)
{
	const struct char_info *table = a->table;
	const unsigned char *p = (const unsigned char *)a->text;
	uint32_t i = *at;
	unsigned seen = 0, inner = 0;
	bool digits = false;

	word->len = 0;
	word->cut = false;
	while (i < a->len) {
		uint32_t cp = p[i], len = 1;
		const struct char_info *row;

		if (cp >= 0x80) {
			if (cp < 0xC2 || cp > 0xDF || a->len - i < 2 || (p[i + 1] & 0xC0) != 0x80)
				return false;
			cp = (cp & 0x1F) << 6 | (p[i + 1] & 0x3FU);
			len = 2;
		}
		row = &table[cp];
		if (!(row->flags & CHAR_SIMPLE)) {
			if (len == 2 && row->class != CHAR_OTHER)
				return false;
			break;
		}
		if (word->len + row->case_len > FAST_MAX)
			return false;
		for (unsigned k = 0; k < row->case_len; k++)
			word->data[word->len + k] = row->cased[k];
		word->len = (uint16_t)(word->len + row->case_len);
		inner |= i > *at ? row->flags : 0U;
		seen |= row->flags;
		digits |= row->class == CHAR_DIGIT;
		i += len;
	}
	if ((inner & CHAR_UPPER) && (seen & CHAR_LOWER))
		return false;
	if (a->lang == TEXT_LANG_TR && (seen & CHAR_UPPER))
		return false;
	if (i < a->len && p[i] < 0x80 && !ends_before(a, i, digits))
		return false;
	*at = i;
	return true;
}

/* The word at *at, of letters and digits, moving behind it. */
static enum status next_word(struct text_analyzer *a, uint32_t *at)
{
	uint32_t start = *at;
	struct cluster cluster;
	struct fold word;
	enum status st;

	if (read_plain(a, at, &word)) {
		st = analyze_folded(a, &word, 0, start, *at, NULL);
		a->position++;
		return st;
	}
	cluster_read(a->text, a->len, start, &cluster);
	*at = cluster.end;
	return compound_emit(a, &cluster);
}

/* Whatever stands at *at, moving behind it. */
static enum status next_terms(struct text_analyzer *a, uint32_t *at)
{
	struct text_char c = chars_at(a->text + *at, a->len - *at);
	uint32_t start = *at;
	enum status st;
	bool made;

	switch (c.class) {
	case CHAR_LETTER:
	case CHAR_DIGIT:
		return next_word(a, at);
	case CHAR_CJK:
	case CHAR_JAMO:
		return bigrams_emit(a, at);
	case CHAR_DICT:
		return dictionary_emit(a, at);
	case CHAR_EMOJI:
	case CHAR_FLAG:
		return emoji_emit(a, at);
	case CHAR_SYMBOL:
		*at += c.len;
		st = analyze_word(a, start, *at, 0, &made);
		a->position += made;
		return st;
	default:
		*at += c.len;
		return ST_OK;
	}
}

enum status text_analyze(struct text_analyzer *a, struct bytes text, enum text_lang lang,
	int (*emit)(void *arg, const struct text_term *term), void *arg)
{
	enum status st = ST_OK;
	uint32_t at = 0;

	if (text.len >= UINT32_MAX)
		return ST_TOO_LARGE;
	a->text = text.data;
	a->len = (uint32_t)text.len;
	a->lang = lang;
	a->position = 0;
	a->emit = emit;
	a->arg = arg;
	while (st == ST_OK && at < a->len) {
		unsigned char c = (unsigned char)text.data[at];

		if (c >= 0x80)
			st = next_terms(a, &at);
		else if (a->table[c].flags & CHAR_SIMPLE)
			st = next_word(a, &at);
		else
			at++;
	}
	return st;
}

const char *text_analyze_version(void)
{
	/* Our own number first: one more whenever terms change for any text. */
	return "2 icu" U_ICU_VERSION " unicode" U_UNICODE_VERSION;
}
