/*
 * format.c: the format of a text: by what it is said to be, by its name, by its looks.
 * Program text has no looks that prose could not have: it is taken by name only.
 */
#include "text/chunk.h"

#define LOOK_MAX 8192 /* bytes */

struct name {
	const char *name;
	enum text_format format;
};

static const struct name types[] = {
	{ "text/plain", TEXT_PLAIN },
	{ "text/markdown", TEXT_MARKDOWN },
	{ "text/x-markdown", TEXT_MARKDOWN },
	{ "text/html", TEXT_HTML },
	{ "application/xhtml+xml", TEXT_HTML },
	{ "text/javascript", TEXT_CODE },
	{ "application/javascript", TEXT_CODE },
	{ "application/x-sh", TEXT_CODE },
	{ "application/sql", TEXT_CODE },
	{ "application/json", TEXT_CODE },
	{ "application/xml", TEXT_CODE },
	{ "application/yaml", TEXT_CODE },
	{ "application/toml", TEXT_CODE },
	{ "text/xml", TEXT_CODE },
	{ "text/css", TEXT_CODE },
};

/* Extensions, between spaces. */
static const struct name extensions[] = {
	{ " txt text log rst adoc tex srt csv tsv ", TEXT_PLAIN },
	{ " md markdown mkd mdown mdx ", TEXT_MARKDOWN },
	{ " html htm xhtml ", TEXT_HTML },
	{ " c h cc cpp cxx hh hpp hxx cs java kt kts scala go rs py pyi rb pl pm php js mjs cjs "
	  "jsx ts tsx swift m mm lua r jl hs ml mli ex exs erl clj lisp el dart zig nim vue sql "
	  "sh bash zsh fish ps1 bat awk vim cmake mk gradle groovy proto css scss less asm s f90 "
	  "pas vb xml json jsonl yaml yml toml ini conf tf ",
		TEXT_CODE },
};

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c | 0x20) : c;
}

static bool begins(struct bytes b, const char *word)
{
	size_t n = strlen(word);

	if (b.len < n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (lower(b.data[i]) != word[i])
			return false;
	return true;
}

static bool by_type(struct bytes mime, enum text_format *ret)
{
	size_t n = 0;

	while (mime.len > 0 && (mime.data[0] == ' ' || mime.data[0] == '\t'))
		mime = (struct bytes){ mime.data + 1, mime.len - 1 };
	while (n < mime.len && mime.data[n] != ';' && mime.data[n] != ' ' && mime.data[n] != '\t')
		n++;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
		if (strlen(types[i].name) == n && begins(mime, types[i].name)) {
			*ret = types[i].format;
			return true;
		}
	if (!begins(mime, "text/x-"))
		return false;
	*ret = TEXT_CODE; /* text/x-python and its like */
	return true;
}

/* The extension of the last part of the path, in small letters between spaces. */
static size_t extension_of(struct bytes uri, char *buf, size_t size)
{
	size_t end = 0, dot = SIZE_MAX, slashes = 0;

	for (; end < uri.len && uri.data[end] != '?' && uri.data[end] != '#'; end++) {
		char c = uri.data[end];

		slashes = c == '/' ? slashes + 1 : slashes;
		if (c == '.')
			dot = end;
		else if (c == '/' || c == '\\')
			dot = SIZE_MAX;
	}
	/* "https://example.com" has a host, but no path. */
	if (dot == SIZE_MAX || end - dot < 2 || end - dot > size - 2 ||
		(slashes == 2 && memmem(uri.data, end, "://", 3)))
		return 0;
	buf[0] = ' ';
	for (size_t i = dot + 1; i < end; i++)
		buf[i - dot] = lower(uri.data[i]);
	buf[end - dot] = ' ';
	return end - dot + 1;
}

static bool by_extension(struct bytes uri, enum text_format *ret)
{
	char key[12];
	size_t n = extension_of(uri, key, sizeof(key));

	if (n == 0 || memchr(key + 1, ' ', n - 2))
		return false;
	for (size_t i = 0; i < sizeof(extensions) / sizeof(extensions[0]); i++) {
		const char *list = extensions[i].name;

		if (memmem(list, strlen(list), key, n)) {
			*ret = extensions[i].format;
			return true;
		}
	}
	return false;
}

/* A document type, or a tag that only HTML has at its start. */
static bool looks_like_html(struct bytes text)
{
	static const char *const starts[] = { "<!doctype html", "<html", "<head", "<body", "<div",
		"<p>", "<h1", "<h2", "<article", "<section", "<table", "<ul>" };
	size_t at = 0;

	if (begins(text, "\xEF\xBB\xBF"))
		at = 3;
	while (at < text.len) {
		struct bytes rest = { text.data + at, text.len - at };
		const char *end;

		if (rest.data[0] == ' ' || (rest.data[0] >= '\t' && rest.data[0] <= '\r')) {
			at++;
			continue;
		}
		for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++)
			if (begins(rest, starts[i]))
				return true;
		if (!begins(rest, "<!--") && !begins(rest, "<?xml"))
			return false;
		end = memchr(rest.data, '>', rest.len);
		if (!end)
			return false;
		at = (size_t)(end - text.data) + 1;
	}
	return false;
}

/* What a line tells of Markdown: 2 for what hardly means anything else. */
static unsigned signs_of(struct bytes line)
{
	size_t level = 0;
	const char *link;

	while (level < line.len && line.data[level] == '#')
		level++;
	if (level >= 1 && level <= 6 && level < line.len && line.data[level] == ' ')
		return 2;
	if (begins(line, "```") || begins(line, "|--") || begins(line, "| --") ||
		begins(line, "~~~"))
		return 2;
	link = memmem(line.data, line.len, "](", 2);
	if (link && memchr(link, ')', line.len - (size_t)(link - line.data)))
		return 2;
	if (begins(line, "- ") || begins(line, "* ") || begins(line, "> ") || begins(line, "===") ||
		memmem(line.data, line.len, "**", 2))
		return 1;
	return 0;
}

static bool looks_like_markdown(struct bytes text)
{
	unsigned signs = 0, lines = 0;

	for (size_t at = 0; at < text.len; lines++) {
		const char *eol = memchr(text.data + at, '\n', text.len - at);
		size_t end = eol ? (size_t)(eol - text.data) : text.len;

		signs += signs_of((struct bytes){ text.data + at, end - at });
		at = end + 1;
	}
	return signs >= 4 && signs * 20 >= lines;
}

enum text_format text_format_of(struct bytes mime, struct bytes uri, struct bytes text)
{
	enum text_format format;

	if (by_type(mime, &format) || by_extension(uri, &format))
		return format;
	if (text.len > LOOK_MAX)
		text.len = LOOK_MAX;
	if (looks_like_html(text))
		return TEXT_HTML;
	return looks_like_markdown(text) ? TEXT_MARKDOWN : TEXT_PLAIN;
}
