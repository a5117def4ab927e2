/*
 * chunk_lex.c: HTML as a sequence of text, tags and what nobody sees.
 *
 * It reads as browsers do where that matters: quotes hide a ">" in an attribute, an
 * unclosed comment, script or style runs to the end. But a tag that is never closed is
 * text, or a stray "<a" would swallow the rest.
 */
#include "text/chunk_private.h"

#define NAME_WIDTH 10

/* Names of elements that separate words, in order, filled up to NAME_WIDTH. */
static const char block_names[] =
	"address   article   aside     blockquotebody      br        button    "
	"caption   center    dd        details   dialog    dir       div       "
	"dl        dt        fieldset  figcaptionfigure    footer    form      "
	"frame     frameset  h1        h2        h3        h4        h5        "
	"h6        head      header    hgroup    hr        html      iframe    "
	"legend    li        link      main      menu      meta      nav       "
	"noscript  ol        optgroup  option    p         pre       script    "
	"search    section   select    style     summary   table     tbody     "
	"td        template  textarea  tfoot     th        thead     title     "
	"tr        ul        video     ";

enum missing {
	NO_GREATER = 1, /* no ">" from here on */
	NO_QUOTES = 2,  /* a quote was never closed: they hide nothing any more */
	NO_TEMPLATE = 4,
	NO_NOSCRIPT = 8,
};

void html_lexer_init(struct html_lexer *lx, struct bytes text, size_t at)
{
	lx->text = text;
	lx->at = at;
	lx->missing = 0;
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

static bool is_letter(char c)
{
	return lower(c) >= 'a' && lower(c) <= 'z';
}

/* Whether the "<" at `at` may begin markup. */
static bool begins_markup(const struct html_lexer *lx, size_t at)
{
	const char *p = lx->text.data + at;
	size_t n = lx->text.len - at;

	if (n > 3 && memcmp(p, "<!--", 4) == 0)
		return true;
	if (n < 2 || (lx->missing & NO_GREATER))
		return false;
	return is_letter(p[1]) || p[1] == '!' || p[1] == '?' ||
		(p[1] == '/' && n > 2 && is_letter(p[2]));
}

static size_t find(struct bytes text, size_t at, char c)
{
	const char *p = at < text.len ? memchr(text.data + at, c, text.len - at) : NULL;

	return p ? (size_t)(p - text.data) : SIZE_MAX;
}

/* The ">" of the tag, by attributes: a quote counts behind "=" only. */
static size_t find_end_quoted(struct html_lexer *lx, size_t at)
{
	char before = 0;

	for (; at < lx->text.len; at++) {
		char c = lx->text.data[at];

		if (c == '>')
			return at;
		if ((c == '"' || c == '\'') && before == '=') {
			at = find(lx->text, at + 1, c);
			if (at == SIZE_MAX)
				break;
		}
		if (c != ' ' && c != '\n' && c != '\t' && c != '\r')
			before = c;
	}
	lx->missing |= NO_QUOTES;
	return SIZE_MAX;
}

/* Behind the ">" of the tag; SIZE_MAX if there is none. */
static size_t find_end(struct html_lexer *lx, size_t at)
{
	size_t end = lx->missing & NO_QUOTES ? SIZE_MAX : find_end_quoted(lx, at);

	if (end == SIZE_MAX)
		end = find(lx->text, at, '>');
	if (end == SIZE_MAX)
		lx->missing |= NO_GREATER;
	return end == SIZE_MAX ? SIZE_MAX : end + 1;
}

/* The name at `at` in small letters, filled up with spaces; its length in bytes. */
static size_t read_name(const struct html_lexer *lx, size_t at, char name[NAME_WIDTH])
{
	size_t n = 0;

	memset(name, ' ', NAME_WIDTH);
	for (; at + n < lx->text.len && n < NAME_WIDTH; n++) {
		char c = lower(lx->text.data[at + n]);

		if (!is_letter(c) && (c < '0' || c > '9') && c != '-' && c != ':')
			break;
		name[n] = c;
	}
	return n;
}

static bool is_block_name(const char name[NAME_WIDTH])
{
	size_t low = 0, high = (sizeof(block_names) - 1) / NAME_WIDTH;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		int order = memcmp(name, block_names + mid * NAME_WIDTH, NAME_WIDTH);

		if (order == 0)
			return true;
		if (order < 0)
			high = mid;
		else
			low = mid + 1;
	}
	return false;
}

static bool name_is(const char name[NAME_WIDTH], const char *word)
{
	size_t n = strlen(word);

	return memcmp(name, word, n) == 0 && (n == NAME_WIDTH || name[n] == ' ');
}

static enum html_name name_of(const char name[NAME_WIDTH])
{
	if (name[0] == 'h' && name[1] >= '1' && name[1] <= '6' && name[2] == ' ')
		return (enum html_name)(NAME_H1 + (name[1] - '1'));
	if (name_is(name, "table"))
		return NAME_TABLE;
	if (name_is(name, "pre"))
		return NAME_PRE;
	if (name_is(name, "br"))
		return NAME_BR;
	return name_is(name, "td") || name_is(name, "th") ? NAME_CELL : NAME_OTHER;
}

/* The start of the end tag of `word` at or behind `at`. */
static size_t find_close(const struct html_lexer *lx, size_t at, const char *word)
{
	size_t n = strlen(word);

	while ((at = find(lx->text, at, '<')) != SIZE_MAX) {
		const char *p = lx->text.data + at;
		size_t i = 0;

		if (lx->text.len - at < n + 2)
			break;
		while (p[1] == '/' && i < n && lower(p[2 + i]) == word[i])
			i++;
		if (i == n && (lx->text.len - at == n + 2 || !is_letter(p[n + 2])))
			return at;
		at++;
	}
	return SIZE_MAX;
}

/* Elements whose content nobody sees: takes it with them. */
static void hide_content(struct html_lexer *lx, const char name[NAME_WIDTH], struct html_token *t)
{
	static const struct {
		const char *word;
		unsigned missing; /* 0: runs to the end if not closed */
	} hidden[] = { { "script", 0 }, { "style", 0 }, { "template", NO_TEMPLATE },
		{ "noscript", NO_NOSCRIPT } };

	for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++) {
		size_t close;

		if (!name_is(name, hidden[i].word))
			continue;
		close = lx->missing & hidden[i].missing ? SIZE_MAX
							: find_close(lx, t->end, hidden[i].word);
		if (close == SIZE_MAX && hidden[i].missing) {
			lx->missing |= hidden[i].missing;
			return;
		}
		t->kind = HTML_HIDDEN;
		t->end = close == SIZE_MAX ? SIZE_MAX : find_end(lx, close);
		if (t->end == SIZE_MAX)
			t->end = lx->text.len;
		return;
	}
}

/* "<!", "<?": to the next ">", a comment to its end. */
static bool read_declaration(struct html_lexer *lx, struct html_token *t)
{
	struct bytes text = lx->text;
	const char *p = text.data + t->start, *end;

	t->kind = HTML_HIDDEN;
	if (text.len - t->start > 3 && memcmp(p, "<!--", 4) == 0) {
		end = memmem(p + 2, text.len - t->start - 2, "-->", 3);
		t->end = end ? (size_t)(end - text.data) + 3 : text.len;
		return true;
	}
	t->end = find(text, t->start, '>');
	if (t->end == SIZE_MAX)
		lx->missing |= NO_GREATER;
	else
		t->end++;
	return t->end != SIZE_MAX;
}

/* False if it is text after all. */
static bool read_markup(struct html_lexer *lx, struct html_token *t)
{
	char name[NAME_WIDTH], next = lx->text.data[t->start + 1];
	size_t at;

	t->name = NAME_OTHER;
	t->closing = next == '/';
	if (next == '!' || next == '?')
		return read_declaration(lx, t);
	at = t->start + (t->closing ? 2 : 1);
	at += read_name(lx, at, name);
	t->end = find_end(lx, at);
	if (t->end == SIZE_MAX)
		return false;
	t->kind = is_block_name(name) ? HTML_BLOCK : HTML_INLINE;
	t->name = name_of(name);
	if (t->kind == HTML_BLOCK && !t->closing)
		hide_content(lx, name, t);
	return true;
}

bool html_next(struct html_lexer *lx, struct html_token *ret)
{
	size_t at = lx->at;

	if (at >= lx->text.len)
		return false;
	ret->start = at;
	if (lx->text.data[at] != '<' || !begins_markup(lx, at) || !read_markup(lx, ret)) {
		do
			at = find(lx->text, at + 1, '<');
		while (at != SIZE_MAX && !begins_markup(lx, at));
		*ret = (struct html_token){ .kind = HTML_TEXT,
			.start = ret->start,
			.end = at == SIZE_MAX ? lx->text.len : at };
	}
	lx->at = ret->end;
	return true;
}
