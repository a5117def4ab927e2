/*
 * chunk_cursor.c: the characters of a stretch that a person sees, one by one, with
 * where they stand in the text. In HTML a character reference is one character, tags
 * and what they hide are left out.
 */
#include "text/chunk_private.h"
#include "util/utf8.h"

void cursor_init(struct cursor *c, struct bytes text, size_t start, size_t end, bool html)
{
	*c = (struct cursor){ .text = text,
		.end = end,
		.html = html,
		.at = start,
		.text_end = start };
	if (html)
		html_lexer_init(&c->lexer, (struct bytes){ text.data, end }, start);
	else
		c->text_end = end;
}

bool cursor_next(struct cursor *c, struct visible *ret)
{
	struct html_token t;
	size_t len = 0;

	ret->after_block = ret->after_tag = false;
	while (c->at >= c->text_end) {
		if (!c->html || !html_next(&c->lexer, &t))
			return false;
		c->at = t.kind == HTML_TEXT ? t.start : t.end;
		c->text_end = t.end;
		ret->after_tag |= t.kind != HTML_TEXT;
		ret->after_block |= t.kind == HTML_BLOCK;
	}
	if (c->html && c->text.data[c->at] == '&')
		len = html_entity(c->text.data + c->at, c->text_end - c->at, &ret->cp);
	if (len == 0)
		ret->cp = utf8_decode(c->text.data + c->at, c->text_end - c->at, &len);
	ret->start = c->at;
	c->at += len;
	ret->end = c->at;
	return true;
}

bool chunk_is_space(uint32_t cp)
{
	if (cp < 0x80)
		return cp == ' ' || (cp >= '\t' && cp <= '\r');
	return cp == 0x85 || cp == 0xA0 || cp == 0x1680 || (cp >= 0x2000 && cp <= 0x200A) ||
		cp == 0x2028 || cp == 0x2029 || cp == 0x202F || cp == 0x205F || cp == 0x3000;
}

bool chunk_is_wide(uint32_t cp)
{
	return (cp >= 0x3040 && cp <= 0x30FF) || (cp >= 0x3400 && cp <= 0x9FFF) ||
		(cp >= 0xF900 && cp <= 0xFAFF) || (cp >= 0x20000 && cp <= 0x3FFFF);
}

static size_t trim_start(struct bytes text, size_t at, size_t end)
{
	size_t len;

	while (at < end && chunk_is_space(utf8_decode(text.data + at, end - at, &len)))
		at += len;
	return at;
}

static size_t trim_end(struct bytes text, size_t at, size_t end)
{
	while (end > at) {
		size_t start = end - 1, len;

		while (start > at && ((unsigned char)text.data[start] & 0xC0) == 0x80)
			start--;
		if (!chunk_is_space(utf8_decode(text.data + start, end - start, &len)))
			break;
		end = start;
	}
	return end;
}

bool line_read(struct bytes text, size_t at, size_t end, struct line *ret)
{
	const char *eol;

	if (at >= end)
		return false;
	eol = memchr(text.data + at, '\n', end - at);
	ret->start = at;
	ret->end = eol ? (size_t)(eol - text.data) : end;
	ret->next = eol ? ret->end + 1 : end;
	ret->first = trim_start(text, at, ret->end);
	ret->last = trim_end(text, ret->first, ret->end);
	return true;
}
