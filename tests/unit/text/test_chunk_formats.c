/*
 * test_chunk_formats.c: where each format is cut and what its chunks are called: lists
 * of "context | text" with small targets. White space in them counts as in the text.
 */
#include "../unit.h"

#include "text/chunk_private.h"

#define SHOWN "\n~~\n" /* between two chunks */

/* The chunks as one string; arena memory. */
static const char *chunks_of(struct arena *a, const char *text, enum text_format format,
	size_t target, size_t overlap)
{
	struct text_chunk_options opt = { target, overlap, 1000 };
	struct strbuf sb = STRBUF_INIT;
	struct text_chunk *chunks;
	const char *all;
	size_t n;

	assert_int_equal(text_chunk(bytes_of(text), format, &opt, a, &chunks, &n), ST_OK);
	for (size_t i = 0; i < n; i++) {
		if (i > 0)
			strbuf_adds(&sb, SHOWN);
		strbuf_add(&sb, chunks[i].context.data, chunks[i].context.len);
		strbuf_adds(&sb, "|");
		strbuf_add(&sb, text + chunks[i].start, chunks[i].end - chunks[i].start);
	}
	all = arena_dup(a, sb.data, sb.len);
	strbuf_release(&sb);
	return all;
}

struct sample {
	enum text_format format;
	size_t target, overlap;
	const char *text, *chunks;
};

static void check(const struct sample *s, size_t n)
{
	size_t wrong = 0;

	for (size_t i = 0; i < n; i++) {
		const char *got;
		struct arena a;

		arena_init(&a, 0);
		got = chunks_of(&a, s[i].text, s[i].format, s[i].target, s[i].overlap);
		if (strcmp(got, s[i].chunks) != 0) {
			print_error("sample %zu:\n%s\ninstead of\n%s\n", i, got, s[i].chunks);
			wrong++;
		}
		arena_release(&a);
	}
	assert_int_equal(wrong, 0);
}

#define CHECK(samples) check(samples, sizeof(samples) / sizeof((samples)[0]))

#define EIGHT "one two three four five six seven eight"

static const struct sample plain[] = {
	/* One chunk covers all, white space too. */
	{ TEXT_PLAIN, 16, 0, "  a b \n\n c \n", "|  a b \n\n c \n" },
	{ TEXT_PLAIN, 20, 0, EIGHT "\n\n" EIGHT "\n \n" EIGHT,
		"|" EIGHT "\n\n" EIGHT SHOWN "|" EIGHT },
	/* Sentences, though a line ends in them. */
	{ TEXT_PLAIN, 16, 0,
		"First of the\nsentences is here. The second\nis longer than that one. A third one.",
		"|First of the\nsentences is here." SHOWN
		"|The second\nis longer than that one. A third one." },
	/* Lines where there are no sentences, words where there are no lines. */
	{ TEXT_PLAIN, 16, 0, EIGHT "\n" EIGHT "\n" EIGHT,
		"|" EIGHT SHOWN "|" EIGHT SHOWN "|" EIGHT },
	{ TEXT_PLAIN, 17, 0, EIGHT " " EIGHT " " EIGHT, "|" EIGHT " " EIGHT SHOWN "|" EIGHT },
	/* Whole sentences are repeated, of the same text only. */
	{ TEXT_PLAIN, 19, 6,
		"One two three. Four five six. Seven is here. Eight nine ten. Eleven twelve.",
		"|One two three. Four five six. Seven is here. Eight nine ten." SHOWN
		"|Eight nine ten. Eleven twelve." },
};

static void test_plain(void **state)
{
	(void)state;
	CHECK(plain);
}

static const struct sample markdown[] = {
	/* REQ: R12 the path; small neighbours in one chunk, with what they have in common. */
	{ TEXT_MARKDOWN, 24, 0,
		"# Top\n\n## A  b\n\nSmall.\n\n## C\n\nSmall.\n\n## D\n\n" EIGHT "\n" EIGHT
		"\n\n# Next #\n\nEnd.\n",
		"Top|# Top\n\n## A  b\n\nSmall.\n\n## C\n\nSmall." SHOWN "Top > D|## D\n\n" EIGHT
		"\n" EIGHT SHOWN "Next|# Next #\n\nEnd." },
	/* A section that is not small stays alone, though both would fit. */
	{ TEXT_MARKDOWN, 24, 0, "# A\n\nSmall.\n\n# B\n\n" EIGHT " nine ten\n\n# C\n\n" EIGHT,
		"A|# A\n\nSmall." SHOWN "B|# B\n\n" EIGHT " nine ten" SHOWN "C|# C\n\n" EIGHT },
	/* Headings with a line below; no headings. */
	{ TEXT_MARKDOWN, 16, 0,
		"Setext\n===\n\n" EIGHT "\n" EIGHT "\n\nTwo\nlines\n---\n#none\n\n" EIGHT " nine\n",
		"Setext|Setext\n===\n\n" EIGHT SHOWN "Setext|" EIGHT SHOWN
		"Setext > Two lines|Two\nlines\n---\n#none" SHOWN "Setext > Two lines|" EIGHT
		" nine" },
	/* Fences: what stands in them is no heading; a longer one ends no shorter one. */
	{ TEXT_MARKDOWN, 24, 0, EIGHT "\n" EIGHT "\n~~~~ sh\n~~~\n# no\n```\n\n- x\n~~~~\nafter\n",
		"|" EIGHT "\n" EIGHT SHOWN "|~~~~ sh\n~~~\n# no\n```\n\n- x\n~~~~\nafter" },
	/* A table in one piece, and by rows. */
	{ TEXT_MARKDOWN, 24, 0, EIGHT "\n\na | b\n--|--\n1 | 2\n3 | 4\n\n" EIGHT,
		"|" EIGHT SHOWN "|a | b\n--|--\n1 | 2\n3 | 4" SHOWN "|" EIGHT },
	{ TEXT_MARKDOWN, 16, 0,
		"| one two | three |\n|---|---|\n| four five | six |\n| seven |\n| eight |",
		"|| one two | three |\n|---|---|" SHOWN
		"|| four five | six |\n| seven |\n| eight |" },
	/* List items, quotes. */
	{ TEXT_MARKDOWN, 16, 0,
		"- one two three\n  four five\n- six seven eight nine\n1. ten eleven twelve\n",
		"|- one two three\n  four five\n- six seven eight nine" SHOWN
		"|1. ten eleven twelve" },
	{ TEXT_MARKDOWN, 17, 0, EIGHT "\n> one two three\n> four five six\n",
		"|" EIGHT SHOWN "|> one two three\n> four five six" },
	/* Front matter is no rule and no heading. */
	{ TEXT_MARKDOWN, 16, 0, "---\ntitle: x\n---\n# Head\n\n" EIGHT " nine ten",
		"|---\ntitle: x\n---" SHOWN "Head|# Head\n\n" EIGHT " nine ten" },
	/* Nothing is repeated across a heading. */
	{ TEXT_MARKDOWN, 21, 10,
		"# A\n\nOne two three. Four five six. Seven is here. Eight nine ten. "
		"Eleven twelve.\n\n# B\n\nOne two three four five six seven.",
		"A|# A\n\nOne two three. Four five six. Seven is here. Eight nine ten." SHOWN
		"A|Seven is here. Eight nine ten. Eleven twelve." SHOWN
		"B|# B\n\nOne two three four five six seven." },
};

static void test_markdown(void **state)
{
	(void)state;
	CHECK(markdown);
}

static const struct sample html[] = {
	{ TEXT_HTML, 32, 0,
		"<script>var a = 1;</script><h1>Top &amp;\n <em>more</em></h1><p>" EIGHT "<p>" EIGHT
		"<h2>Sub<h3>Deep</h3>text " EIGHT " " EIGHT,
		"Top & more|Top &amp;\n <em>more</em></h1><p>" EIGHT SHOWN "Top & more|" EIGHT SHOWN
		"Top & more > Sub > Deep|Sub<h3>Deep</h3>text " EIGHT " " EIGHT },
	/* What nobody sees is no chunk, nor cut into. */
	{ TEXT_HTML, 16, 0,
		"<!-- a comment of more than sixteen tokens, which nobody will ever see here -->"
		"<style>p { color: red; margin: 0 0 0 0 }</style>",
		"" },
	{ TEXT_HTML, 16, 0,
		"a <b title=\"x > y and so on and so on, more than would fit into one\">b</b> c",
		"|a" SHOWN "|b</b> c" },
	/* A table in one piece, else by rows; so is one that holds a heading. */
	{ TEXT_HTML, 40, 0,
		EIGHT "<p>" EIGHT "<p>" EIGHT "<table><tr><td>a<td>b<tr><td>c<td>d</table>" EIGHT,
		"|" EIGHT "<p>" EIGHT "<p>" EIGHT SHOWN "|a<td>b<tr><td>c<td>d</table>" EIGHT },
	{ TEXT_HTML, 16, 0,
		"<table><tr><td>one two three<td>four<tr><td>five six seven<td>eight</table>",
		"|one two three<td>four" SHOWN "|five six seven<td>eight" },
	{ TEXT_HTML, 16, 0, "<table><tr><td><h1>Head</h1>" EIGHT "<tr><td>" EIGHT,
		"Head|Head</h1>" EIGHT SHOWN "Head|" EIGHT },
	/* Lines of pre. */
	{ TEXT_HTML, 16, 0,
		"<pre>one. two\nthree four five six\nseven eight nine ten\neleven twelve</pre>",
		"|one. two\nthree four five six\nseven eight nine ten" SHOWN "|eleven twelve" },
	/* A stray sign hides nothing. */
	{ TEXT_HTML, 16, 0, "if a <b or c then " EIGHT " " EIGHT,
		"|if a <b or c then one two three four five six seven eight one" SHOWN
		"|two three four five six seven eight" },
};

static void test_html(void **state)
{
	(void)state;
	CHECK(html);
}

static const struct sample code[] = {
	{ TEXT_CODE, 19, 0, "int a(void)\n{\n\treturn 1;\n}\n\nint b(void)\n{\n\n\treturn 2;\n}\n",
		"|int a(void)\n{\n\treturn 1;\n}" SHOWN "|int b(void)\n{\n\n\treturn 2;\n}" },
	{ TEXT_CODE, 16, 0,
		"class A:\n    def f(self):\n        x = 1\n        y = 2\n\n"
		"        return x + y\n\n    def g(self):\n        pass\n\ny = 1\n",
		"|class A:\n    def f(self):\n        x = 1" SHOWN
		"def f(self):|y = 2\n\n        return x + y" SHOWN
		"class A:|def g(self):\n        pass\n\ny = 1" },
};

static void test_code(void **state)
{
	(void)state;
	CHECK(code);
}

/* A megabyte without a space. */
static void test_no_space(void **state)
{
	struct text_chunk_options opt = { 100, 10, SIZE_MAX };
	struct strbuf sb = STRBUF_INIT;
	struct text_chunk *chunks;
	struct arena a;
	size_t n;

	(void)state;
	while (sb.len < 1000000)
		strbuf_adds(&sb, "loremipsum");
	arena_init(&a, 0);
	assert_int_equal(text_chunk((struct bytes){ sb.data, sb.len }, TEXT_PLAIN, &opt, &a,
				 &chunks, &n),
		ST_OK);
	assert_true(n > 1000);
	assert_int_equal(chunks[n - 1].end, sb.len);
	for (size_t i = 1; i < n; i++)
		assert_int_equal(chunks[i].start, chunks[i - 1].end);
	arena_release(&a);
	strbuf_release(&sb);
}

struct ends {
	size_t n, at[16];
};

static enum status take(void *arg, size_t start, size_t end)
{
	struct ends *e = arg;

	assert_true(start < end && e->n < 16);
	e->at[e->n++] = end;
	return ST_OK;
}

/* With ICU's rules and without. */
static void test_sentences(void **state)
{
	static const char text[] = "One is here! Is two\nthere? Three. ";

	(void)state;
	for (int i = 0; i < 2; i++) {
		struct ends e = { .n = 0 };
		struct sentences *s;
		struct cursor c;

		assert_int_equal(sentences_new(i == 1, &s), ST_OK);
		cursor_init(&c, bytes_of(text), 0, strlen(text), false);
		assert_int_equal(sentences_each(s, &c, take, &e), ST_OK);
		assert_int_equal(e.n, 3);
		assert_int_equal(e.at[0], 12);
		assert_int_equal(e.at[1], 26);
		assert_int_equal(e.at[2], 33);
		sentences_free(s);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_plain),
		cmocka_unit_test(test_markdown),
		cmocka_unit_test(test_html),
		cmocka_unit_test(test_code),
		cmocka_unit_test(test_no_space),
		cmocka_unit_test(test_sentences),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
