/*
 * emoji.c: an emoji is a word. A sequence (joined by ZWJ, with a skin tone, two
 * letters of a flag, tags of a regional flag) is one term, and each emoji in it a
 * part, so that a plain thumb finds a coloured one. Variation selectors, which
 * choose between text and picture, are dropped.
 */
#include "text/private.h"
#include "util/utf8.h"

#define ZWJ 0x200D

static bool is_variation_selector(uint32_t cp)
{
	return cp == 0xFE0E || cp == 0xFE0F;
}

/* Two regional indicators, or a lone one. */
static enum status emit_flag(struct text_analyzer *a, uint32_t *at)
{
	uint32_t start = *at;
	struct fold term = { .len = 0 };

	for (unsigned i = 0; i < 2 && *at < a->len; i++) {
		struct text_char c = chars_at(a->text + *at, a->len - *at);

		if (c.class != CHAR_FLAG)
			break;
		fold_add(&term, a->text + *at, c.len);
		*at += c.len;
	}
	return analyze_emit(a, term.data, term.len, 0, start, *at);
}

/* Reads a sequence from `at`; *ret_pictures counts the emoji and modifiers in it.
 * Returns its end. */
static uint32_t read_sequence(const struct text_analyzer *a, uint32_t at, struct fold *term,
	unsigned *ret_pictures)
{
	bool joined = true;

	*ret_pictures = 0;
	while (at < a->len) {
		struct text_char c = chars_at(a->text + at, a->len - at);

		if (c.class != CHAR_EXTEND && !(joined && c.class == CHAR_EMOJI))
			break;
		joined = c.cp == ZWJ;
		if (!is_variation_selector(c.cp)) {
			fold_add(term, a->text + at, c.len);
			(*ret_pictures)++;
		}
		at += c.len;
	}
	return at;
}

static enum status emit_parts(struct text_analyzer *a, uint32_t at, uint32_t end)
{
	enum status st = ST_OK;

	while (st == ST_OK && at < end) {
		struct text_char c = chars_at(a->text + at, end - at);

		if (c.class == CHAR_EMOJI)
			st = analyze_emit(a, a->text + at, c.len, TEXT_TERM_PART, at, at + c.len);
		at += c.len;
	}
	return st;
}

enum status emoji_emit(struct text_analyzer *a, uint32_t *at)
{
	struct fold term = { .len = 0 };
	uint32_t start = *at;
	unsigned pictures;
	enum status st;

	if (chars_at(a->text + start, a->len - start).class == CHAR_FLAG) {
		st = emit_flag(a, at);
		a->position++;
		return st;
	}
	*at = read_sequence(a, start, &term, &pictures);
	while (term.len >= 3 && !term.cut && pictures > 1 &&
		memcmp(term.data + term.len - 3, "\xE2\x80\x8D", 3) == 0) {
		term.len = (uint16_t)(term.len - 3); /* a joiner that joins nothing */
		pictures--;
	}
	st = analyze_emit(a, term.data, term.len, 0, start, *at);
	if (st == ST_OK && pictures > 1)
		st = emit_parts(a, start, *at);
	a->position++;
	return st;
}
