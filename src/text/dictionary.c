/*
 * dictionary.c: words of Thai, Lao, Khmer and Burmese, which put no spaces between
 * them, by ICU's dictionaries.
 *
 * The dictionaries hold compounds, and a query may ask for a word inside one: the
 * pieces of two to four characters of each longer word are terms too, for documents
 * only (TEXT_TERM_INNER).
 *
 * A run is cut in windows, because a client may send megabytes without a space: the
 * last word of a window that does not end the run is looked at again in the next.
 */
#include <unicode/ubrk.h>
#include <unicode/uchar.h>
#include <unicode/utf16.h>

#include "text/private.h"
#include "util/mem.h"

#define WINDOW 1024      /* UTF-16 units */
#define INNER_WORD_MIN 4 /* characters of a word that others may be in */
#define INNER_WORD_MAX 32
#define INNER_MAX 4 /* longest piece */

struct dictionary {
	UBreakIterator *words;
	int32_t n;
	UChar units[WINDOW + 2];
	uint32_t offsets[WINDOW + 2]; /* of each unit's character in the text */
};

void dictionary_free(struct dictionary *d)
{
	if (!d)
		return;
	if (d->words)
		ubrk_close(d->words);
	mem_free(d);
}

static enum status from_icu(UErrorCode err)
{
	if (U_SUCCESS(err))
		return ST_OK;
	return err == U_MEMORY_ALLOCATION_ERROR ? ST_NOMEM : ST_INTERNAL;
}

static enum status dictionary_new(struct dictionary **ret)
{
	struct dictionary *d = mem_zero(sizeof(*d));
	UErrorCode err = U_ZERO_ERROR;

	if (!d)
		return ST_NOMEM;
	d->words = ubrk_open(UBRK_WORD, "", NULL, 0, &err);
	if (U_FAILURE(err)) {
		dictionary_free(d);
		return from_icu(err);
	}
	*ret = d;
	return ST_OK;
}

/* Fills the window from byte `at`; true if the run goes on behind it. */
static bool fill(struct text_analyzer *a, struct dictionary *d, uint32_t at)
{
	d->n = 0;
	while (at < a->len) {
		struct text_char c = chars_at(a->text + at, a->len - at);

		if (c.class != CHAR_DICT && c.class != CHAR_EXTEND)
			break;
		if (d->n >= WINDOW)
			return true;
		for (int32_t i = 0; i < U16_LENGTH(c.cp); i++)
			d->offsets[d->n + i] = at;
		U16_APPEND_UNSAFE(d->units, d->n, c.cp);
		at += c.len;
	}
	d->offsets[d->n] = at;
	return false;
}

/* Where the character after that at unit i starts: a base with its marks. */
static int32_t next_unit(const struct dictionary *d, int32_t i, int32_t end)
{
	UChar32 cp;

	U16_NEXT(d->units, i, end, cp);
	while (i < end) {
		int32_t after = i;

		U16_NEXT(d->units, after, end, cp);
		if (!(U_GET_GC_MASK(cp) & U_GC_M_MASK))
			break;
		i = after;
	}
	return i;
}

/* Pieces of a longer word: a shorter one may be in it. Queries drop them, so the
 * word itself decides where it is known. */
static enum status emit_inner(struct text_analyzer *a, int32_t from, int32_t to)
{
	const struct dictionary *d = a->dictionary;
	int32_t starts[INNER_WORD_MAX + 1];
	enum status st = ST_OK;
	int n = 0;

	for (int32_t i = from; i < to; i = next_unit(d, i, to)) {
		if (n == INNER_WORD_MAX)
			return ST_OK; /* no word is that long */
		starts[n++] = i;
	}
	starts[n] = to;
	if (n < INNER_WORD_MIN)
		return ST_OK;
	for (int i = 0; i < n; i++)
		for (int len = 2; st == ST_OK && len <= INNER_MAX && len < n && i + len <= n; len++)
			st = analyze_word(a, d->offsets[starts[i]], d->offsets[starts[i + len]],
				TEXT_TERM_PART | TEXT_TERM_INNER, NULL);
	return st;
}

/* The words of the window; *ret_at is where to go on. */
static enum status emit_window(struct text_analyzer *a, bool more, uint32_t *ret_at)
{
	struct dictionary *d = a->dictionary;
	UErrorCode err = U_ZERO_ERROR;
	int32_t from = 0, to;

	ubrk_setText(d->words, d->units, d->n, &err);
	if (U_FAILURE(err))
		return from_icu(err);
	while ((to = ubrk_next(d->words)) != UBRK_DONE) {
		enum status st;
		bool made;

		if (more && to == d->n && from > 0)
			break; /* may be cut */
		if (more && to == d->n)
			d->offsets[to] = d->offsets[to - 1]; /* one word of a window's length */
		st = analyze_word(a, d->offsets[from], d->offsets[to], 0, &made);
		if (st == ST_OK && made)
			st = emit_inner(a, from, to);
		if (st)
			return st;
		a->position += made;
		from = to;
	}
	*ret_at = d->offsets[from];
	return ST_OK;
}

enum status dictionary_emit(struct text_analyzer *a, uint32_t *at)
{
	enum status st = ST_OK;
	bool more = true;

	if (!a->dictionary)
		st = dictionary_new(&a->dictionary);
	while (st == ST_OK && more) {
		more = fill(a, a->dictionary, *at);
		st = emit_window(a, more, at);
	}
	return st;
}
