/*
 * chunk_overlap.c: what a chunk repeats of the one before it: whole sentences or lines
 * if one begins near enough to the end, else whole words, else nothing.
 *
 * Cost: the chunk is read twice, of plain formats only its end.
 */
#include "text/chunk_private.h"

#define WINDOW_PER_TOKEN 16 /* bytes */

struct scan {
	struct cursor c;
	struct visible v;
	uint32_t before;   /* the visible character before */
	unsigned lines;    /* ends of lines since */
	bool space, ended; /* white space since; a sentence ended */
};

static bool ends_sentence(uint32_t cp)
{
	return cp == '.' || cp == '!' || cp == '?' || cp == 0x2026 || cp == 0x3002 ||
		cp == 0xFF01 || cp == 0xFF1F || cp == 0x964 || cp == 0x61F;
}

static bool closes(uint32_t cp)
{
	return cp == '"' || cp == '\'' || cp == ')' || cp == ']' || cp == 0x201D || cp == 0x2019 ||
		cp == 0xBB || cp == 0x300D || cp == 0x300F || cp == 0xFF09;
}

/* The next visible character that is no white space. */
static bool scan_next(struct scan *s)
{
	s->lines = 0;
	s->space = false;
	while (cursor_next(&s->c, &s->v)) {
		s->space |= s->v.after_block;
		s->lines += s->v.after_block ? 2 : 0;
		if (!chunk_is_space(s->v.cp))
			return true;
		s->space = true;
		s->lines += s->v.cp == '\n';
	}
	return false;
}

enum candidate { NO_WORD, WORD, SENTENCE };

/* What begins at the character. */
static enum candidate begins(const struct scan *s, enum text_format format)
{
	uint32_t cp = s->v.cp;

	if (!s->space) {
		if (!chunk_is_wide(cp))
			return NO_WORD;
		return s->ended ? SENTENCE : WORD;
	}
	if (s->ended || s->lines > 1)
		return SENTENCE;
	if (s->lines == 1 &&
		(format == TEXT_CODE || cp == '-' || cp == '*' || cp == '+' || cp == '|'))
		return SENTENCE;
	return WORD;
}

static void scan_seen(struct scan *s)
{
	if (ends_sentence(s->v.cp))
		s->ended = true;
	else if (!closes(s->v.cp))
		s->ended = false;
}

/* Where to look from: the last bytes, on a character, but no heading. */
static size_t window(const struct packer *p, const struct draft *d, size_t tokens)
{
	size_t at = d->body, bytes;

	if (p->format == TEXT_HTML || __builtin_mul_overflow(tokens, WINDOW_PER_TOKEN, &bytes) ||
		d->end - at <= bytes)
		return at;
	at = d->end - bytes;
	while (at > d->body && ((unsigned char)p->text.data[at] & 0xC0) == 0x80)
		at--;
	return at;
}

size_t overlap_start(const struct packer *p, const struct draft *d, size_t tokens,
	unsigned *ret_missing)
{
	struct token_count total = { 0 }, count = { 0 };
	struct scan s = { .ended = false };
	size_t from, at, word = d->end;

	if (d->body == SIZE_MAX || tokens < 2)
		return d->end;
	at = from = window(p, d, tokens);
	(void)tokens_add(&total, p->text.data + from, d->end - from, SIZE_MAX);
	cursor_init(&s.c, p->text, from, d->end, p->format == TEXT_HTML);
	s.c.lexer.missing = d->missing;
	for (; scan_next(&s); scan_seen(&s)) {
		enum candidate what = begins(&s, p->format);

		if (s.v.start == from && from == d->body && from > d->start)
			what = SENTENCE; /* the first below the heading */
		if (what == NO_WORD || s.v.start == d->start)
			continue;
		(void)tokens_add(&count, p->text.data + at, s.v.start - at, SIZE_MAX);
		at = s.v.start;
		/* A token more: its first character may cost more at a start. */
		if (total.units - count.units + TOKEN_UNIT > tokens * TOKEN_UNIT)
			continue;
		if (what == WORD && word < d->end)
			continue;
		word = at;
		*ret_missing = s.c.lexer.missing;
		if (what == SENTENCE)
			return at;
	}
	return word;
}
