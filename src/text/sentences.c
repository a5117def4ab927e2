/*
 * sentences.c: sentence ends by UAX #29, from ICU; by a plain rule if ICU has no data.
 *
 * A stretch may be megabytes, so it is read in windows: what is left of a window, its
 * last sentence, moves to the front and the next characters follow it.
 */
#include <unicode/ubrk.h>
#include <unicode/utf16.h>

#include "text/chunk_private.h"
#include "util/mem.h"

#define WINDOW 4096 /* UTF-16 units */

struct sentences {
	UBreakIterator *iterator; /* NULL: the plain rule */
	int32_t n;
	UChar units[WINDOW + 2];
	size_t starts[WINDOW + 2], ends[WINDOW + 2]; /* of each unit's character */
};

enum status sentences_new(bool plain, struct sentences **ret)
{
	struct sentences *s = mem_alloc(sizeof(*s));
	UErrorCode err = U_ZERO_ERROR;

	if (!s)
		return ST_NOMEM;
	s->iterator = plain ? NULL : ubrk_open(UBRK_SENTENCE, "", NULL, 0, &err);
	if (err == U_MEMORY_ALLOCATION_ERROR) {
		mem_free(s);
		return ST_NOMEM;
	}
	if (U_FAILURE(err))
		s->iterator = NULL;
	*ret = s;
	return ST_OK;
}

void sentences_free(struct sentences *s)
{
	if (!s)
		return;
	if (s->iterator)
		ubrk_close(s->iterator);
	mem_free(s);
}

static void put(struct sentences *s, uint32_t cp, size_t start, size_t end)
{
	int32_t before = s->n;

	U16_APPEND_UNSAFE(s->units, s->n, cp);
	for (int32_t i = before; i < s->n; i++) {
		s->starts[i] = start;
		s->ends[i] = end;
	}
}

/* Fills the window up; true if the text may go on behind it. */
static bool fill(struct sentences *s, struct cursor *c)
{
	struct visible v;

	while (s->n <= WINDOW - 3) {
		if (!cursor_next(c, &v))
			return false;
		if (v.after_block) /* a paragraph separator: nobody's character */
			put(s, 0x2029, v.start, v.start);
		/* Lines are broken anywhere: that ends no sentence. */
		put(s, chunk_is_space(v.cp) ? ' ' : v.cp, v.start, v.end);
	}
	return true;
}

static bool is_space(const struct sentences *s, int32_t i)
{
	return s->units[i] == ' ' || s->units[i] == 0x2029;
}

/* The plain rule: a full stop and a space. */
static int32_t next_plain(const struct sentences *s, int32_t from)
{
	for (int32_t i = from + 1; i < s->n; i++) {
		UChar before = s->units[i - 1];

		if (before == 0x2029 || before == 0x3002)
			return i;
		if (is_space(s, i) && (before == '.' || before == '!' || before == '?')) {
			while (i < s->n && is_space(s, i))
				i++;
			return i;
		}
	}
	return from < s->n ? s->n : -1;
}

static int32_t next_end(const struct sentences *s, int32_t from)
{
	return s->iterator ? ubrk_next(s->iterator) : next_plain(s, from);
}

static enum status emit(struct sentences *s, int32_t from, int32_t to,
	enum status (*take)(void *arg, size_t start, size_t end), void *arg)
{
	while (from < to && is_space(s, from))
		from++;
	while (to > from && is_space(s, to - 1))
		to--;
	return from < to ? take(arg, s->starts[from], s->ends[to - 1]) : ST_OK;
}

/* Where to cut a sentence as long as the window: behind its last space, if any. */
static int32_t cut_window(const struct sentences *s)
{
	for (int32_t i = s->n; i > s->n / 2; i--)
		if (is_space(s, i - 1))
			return i;
	return s->n;
}

static void keep_from(struct sentences *s, int32_t from)
{
	size_t left = (size_t)(s->n - from);

	memmove(s->units, s->units + from, left * sizeof(s->units[0]));
	memmove(s->starts, s->starts + from, left * sizeof(s->starts[0]));
	memmove(s->ends, s->ends + from, left * sizeof(s->ends[0]));
	s->n = (int32_t)left;
}

/* The sentences of the window but the last, which may go on, if there is more. */
static enum status emit_window(struct sentences *s, bool more,
	enum status (*take)(void *arg, size_t start, size_t end), void *arg)
{
	UErrorCode err = U_ZERO_ERROR;
	int32_t from = 0, to;
	enum status st = ST_OK;

	if (s->iterator)
		ubrk_setText(s->iterator, s->units, s->n, &err);
	if (U_FAILURE(err))
		return err == U_MEMORY_ALLOCATION_ERROR ? ST_NOMEM : ST_INTERNAL;
	while (st == ST_OK && (to = next_end(s, from)) > 0) {
		if (more && to >= s->n) {
			if (from > 0)
				break;
			to = cut_window(s);
		}
		st = emit(s, from, to, take, arg);
		from = to;
	}
	keep_from(s, from);
	return st;
}

enum status sentences_each(struct sentences *s, struct cursor *c,
	enum status (*take)(void *arg, size_t start, size_t end), void *arg)
{
	enum status st = ST_OK;
	bool more = true;

	s->n = 0;
	while (st == ST_OK && more) {
		more = fill(s, c);
		st = emit_window(s, more, take, arg);
	}
	return st;
}
