/*
 * test_format.c: which format a text is taken for, and what a person reads of HTML.
 */
#include "../unit.h"

#include "text/chunk.h"
#include "util/mem.h"
#include "util/utf8.h"

struct guess {
	const char *mime, *uri, *text;
	enum text_format format;
};

static const struct guess guesses[] = {
	{ NULL, NULL, NULL, TEXT_PLAIN },
	{ "", "", "", TEXT_PLAIN },
	/* The type wins. */
	{ "text/markdown; charset=utf-8", "a.html", "<html>", TEXT_MARKDOWN },
	{ " Text/HTML", "a.md", "# a", TEXT_HTML },
	{ "application/xhtml+xml", NULL, "", TEXT_HTML },
	{ "text/plain", "a.md", "<html>", TEXT_PLAIN },
	{ "text/x-python", NULL, "", TEXT_CODE },
	{ "application/json;x", NULL, "", TEXT_CODE },
	{ "text/htmlx", NULL, "", TEXT_PLAIN },
	{ "application/octet-stream", "x.c", "", TEXT_CODE },
	/* The address: its path, any case. */
	{ NULL, "https://example.com/Read.MD?x=a.html#b.c", "", TEXT_MARKDOWN },
	{ NULL, "https://example.com/a.b/index.HTM#top", "", TEXT_HTML },
	{ NULL, "file:///src/main.rs", "", TEXT_CODE },
	{ NULL, "main.py", "", TEXT_CODE },
	{ NULL, "notes.txt", "<html>", TEXT_PLAIN },
	{ NULL, "https://example.md", "", TEXT_PLAIN },
	{ NULL, "https://example.com/x.md/page", "", TEXT_PLAIN },
	{ NULL, "a.", "", TEXT_PLAIN },
	{ NULL, ".c", "", TEXT_CODE },
	{ NULL, "a.md html", "", TEXT_PLAIN },
	{ NULL, "a.averyverylongextension", "", TEXT_PLAIN },
	/* The looks. */
	{ NULL, "a", "\xEF\xBB\xBF \n<!-- x --><!DOCTYPE HTML>", TEXT_HTML },
	{ NULL, NULL, "<?xml version='1.0'?>\n<HTML>", TEXT_HTML },
	{ NULL, NULL, "<p>Hello", TEXT_HTML },
	{ NULL, NULL, "<!-- never closed", TEXT_PLAIN },
	{ NULL, NULL, "a < b and <html> is a tag", TEXT_PLAIN },
	{ NULL, NULL, "# Title\n\nText.\n\n## More\n", TEXT_MARKDOWN },
	{ NULL, NULL, "Some [link](a.md).\n\n```\nx\n```\n", TEXT_MARKDOWN },
	{ NULL, NULL, "- one\n- two\n- three\n\n**four**\n", TEXT_MARKDOWN },
	{ NULL, NULL, "# one sign is not enough\n", TEXT_PLAIN },
	{ NULL, NULL, "int main(void)\n{\n\treturn 0;\n}\n", TEXT_PLAIN },
};

static void test_format_of(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(guesses) / sizeof(guesses[0]); i++) {
		const struct guess *g = &guesses[i];
		enum text_format got =
			text_format_of(bytes_of(g->mime), bytes_of(g->uri), bytes_of(g->text));

		if (got != g->format)
			fail_msg("%zu: %d instead of %d", i, (int)got, (int)g->format);
	}
}

/* What is far behind does not matter, and costs nothing. */
static void test_long_text(void **state)
{
	struct strbuf sb = STRBUF_INIT;

	(void)state;
	for (unsigned i = 0; i < 1000; i++)
		strbuf_adds(&sb, "just some words\n");
	strbuf_adds(&sb, "# a\n# b\n# c\n");
	assert_int_equal(text_format_of(BYTES_NONE, BYTES_NONE, (struct bytes){ sb.data, sb.len }),
		TEXT_PLAIN);
	strbuf_release(&sb);
}

struct reading {
	const char *html, *plain;
};

static const struct reading readings[] = {
	{ "", "" },
	{ "plain", "plain" },
	/* Inline tags join, block tags separate. */
	{ "<p>Hel<b>lo</b> you</p><p>there<br>now</p>", "Hello you\nthere\nnow" },
	{ "<td>a<td>b", "a\nb" },
	{ "a</p> b", "a\n b" },
	{ "a <BLOCKQUOTE>b</figcaption>c", "a b\nc" },
	{ "a<bodyx>b", "ab" },
	/* What nobody sees. */
	{ "a<!-- b --->c<!---->d<!-->e<!doctype x>f<?php g ?>h", "acdefh" },
	{ "a<script>b</script >c<STYLE>d</sTyLe>e<script>f</scripty></script>g", "aceg" },
	{ "a<noscript>b</noscript>c<template>d</template>e", "ace" },
	{ "a<noscript>b", "a\nb" },
	{ "a<script>b", "a" },
	{ "a<!-- b", "a" },
	{ "a</script>b", "a\nb" },
	/* Attributes. */
	{ "<a title='x>y' href=\"p>q\">b</a>", "b" },
	{ "<p don't>b<i title=x\"y>c", "bc" },
	{ "<a title=\"x>b", "b" },
	/* Stray signs. */
	{ "a < b > c <3 <> </> </3", "a < b > c <3 <> </> </3" },
	{ "a <b c", "a <b c" },
	{ "<", "<" },
	{ "a<", "a<" },
	{ "</", "</" },
	/* References. */
	{ "&lt;b&gt; &amp;amp; &quot;&apos;&AMP;", "<b> &amp; \"'&" },
	{ "&eacute;&Eacute;&euro;&thetasym;&alpha;&zwnj;",
		"\xC3\xA9\xC3\x89\xE2\x82\xAC\xCF\x91\xCE\xB1\xE2\x80\x8C" },
	{ "&#65;&#x42;&#X43;&#128;&#150;", "ABC\xE2\x82\xAC\xE2\x80\x93" },
	{ "&#x1F600;", "\xF0\x9F\x98\x80" },
	{ "&#0;&#xD800;&#x110000;&#99999999999;&#;&#x;&#12",
		"&#0;&#xD800;&#x110000;&#99999999999;&#;&#x;&#12" },
	{ "&bogus; &amp &toolongname; &; & &a", "&bogus; &amp &toolongname; &; & &a" },
	{ "a&nbsp;b",
		"a\xC2\xA0"
		"b" },
};

static void test_plain_of_html(void **state)
{
	struct strbuf buf = STRBUF_INIT;

	(void)state;
	for (size_t i = 0; i < sizeof(readings) / sizeof(readings[0]); i++) {
		struct bytes got;

		assert_int_equal(text_plain(bytes_of(readings[i].html), TEXT_HTML, &buf, &got),
			ST_OK);
		if (!bytes_eq(got, bytes_of(readings[i].plain)))
			fail_msg("%s: '%.*s' instead of '%s'", readings[i].html, (int)got.len,
				got.data, readings[i].plain);
	}
	strbuf_release(&buf);
}

/* Other formats, and text without markup, are not copied. */
static void test_plain_is_the_text(void **state)
{
	struct bytes text = bytes_of("a <b> &amp;"), simple = bytes_of("simple"), got;
	struct strbuf buf = STRBUF_INIT;

	(void)state;
	for (int f = 0; f < 4; f++) {
		if (f == TEXT_HTML)
			continue;
		assert_int_equal(text_plain(text, (enum text_format)f, &buf, &got), ST_OK);
		assert_ptr_equal(got.data, text.data);
		assert_int_equal(got.len, text.len);
	}
	assert_int_equal(text_plain(simple, TEXT_HTML, &buf, &got), ST_OK);
	assert_ptr_equal(got.data, simple.data);
	assert_int_equal(text_plain(BYTES_NONE, TEXT_HTML, &buf, &got), ST_OK);
	assert_int_equal(got.len, 0);
	assert_null(buf.data);
	mem_fail_after(0);
	assert_int_equal(text_plain(text, TEXT_HTML, &buf, &got), ST_NOMEM);
	mem_fail_after(-1);
	strbuf_release(&buf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_format_of),
		cmocka_unit_test(test_long_text),
		cmocka_unit_test(test_plain_of_html),
		cmocka_unit_test(test_plain_is_the_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
