/* terms_of.c: see terms_of.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "terms_of.h"
#include "util/utf8.h"

static struct text_analyzer *shared;

struct text_analyzer *analyzer_shared(void)
{
	if (!shared)
		assert_int_equal(text_analyzer_new(&shared), ST_OK);
	return shared;
}

void analyzer_done(void)
{
	text_analyzer_free(shared);
	shared = NULL;
}

struct line {
	struct strbuf *out;
	struct bytes text;
	bool first;
	uint32_t position, start;
};

static int add_term(void *arg, const struct text_term *t)
{
	struct line *line = arg;

	assert_true(t->len >= 1 && t->len <= TEXT_TERM_MAX);
	assert_true(utf8_valid(t->data, t->len));
	assert_true(t->byte_start < t->byte_end && t->byte_end <= line->text.len);
	assert_false(line->first && (t->flags & TEXT_TERM_PART));
	if (!line->first) {
		assert_true(t->position >= line->position);
		if (!(t->flags & TEXT_TERM_PART)) {
			assert_true(t->position > line->position);
			assert_true(t->byte_start >= line->start);
		} else {
			assert_int_equal(t->position, line->position);
		}
		strbuf_addc(line->out, t->position == line->position ? '/' : ' ');
	}
	line->first = false;
	line->position = t->position;
	line->start = t->byte_start;
	strbuf_add(line->out, t->data, t->len);
	if (t->flags & TEXT_TERM_INNER)
		strbuf_addc(line->out, '^');
	else if (t->flags & TEXT_TERM_PART)
		strbuf_addc(line->out, '~');
	if (t->flags & TEXT_TERM_STOP)
		strbuf_addc(line->out, '!');
	return 0;
}

enum status terms_line(struct text_analyzer *a, struct bytes text, enum text_lang lang,
	struct strbuf *ret)
{
	struct line line = { .out = ret, .text = text, .first = true };

	return text_analyze(a, text, lang, add_term, &line);
}

void expect_terms_of(struct bytes text, enum text_lang lang, const char *want)
{
	struct strbuf got = STRBUF_INIT;

	strbuf_adds(&got, "");
	assert_int_equal(terms_line(analyzer_shared(), text, lang, &got), ST_OK);
	assert_true(strbuf_ok(&got));
	assert_string_equal(got.data ? got.data : "", want);
	strbuf_release(&got);
}

void expect_terms(const char *text, enum text_lang lang, const char *want)
{
	expect_terms_of(bytes_of(text), lang, want);
}
