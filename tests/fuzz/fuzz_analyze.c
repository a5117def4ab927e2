/*
 * fuzz_analyze.c: any bytes as a text of any language. The first byte chooses the
 * language, the rest is the text. Terms must be valid UTF-8 within bounds, in order,
 * from within the text, and the same when the text is analysed once more; the number
 * of terms must stay in proportion to the text.
 * REQ: M11; cases RET-01 RET-07.
 */
#include <string.h>

#include "fuzz.h"
#include "text/analyze.h"
#include "util/utf8.h"

struct seen {
	size_t len, terms;
	uint32_t position;
	uint64_t sum;
};

static int take(void *arg, const struct text_term *t)
{
	struct seen *s = arg;

	FUZZ_CHECK(t->len > 0 && t->len <= TEXT_TERM_MAX && utf8_valid(t->data, t->len));
	FUZZ_CHECK(t->byte_start < t->byte_end && t->byte_end <= s->len);
	FUZZ_CHECK(t->position >= s->position && t->position <= s->len);
	FUZZ_CHECK(!(t->flags & TEXT_TERM_INNER) || t->flags & TEXT_TERM_PART);
	FUZZ_CHECK(s->terms > 0 || !(t->flags & TEXT_TERM_PART));
	for (size_t i = 0; i < t->len; i++)
		s->sum = s->sum * 31 + (unsigned char)t->data[i];
	s->sum = s->sum * 31 + t->byte_start + t->byte_end + t->flags;
	s->position = t->position;
	s->terms++;
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct text_analyzer *analyzer; /* kept: its cache must not show */
	struct seen first = { 0 }, second = { 0 };
	struct bytes text = { (const char *)data + 1, size - 1 };
	enum text_lang lang;

	if (size == 0)
		return 0;
	if (!analyzer)
		FUZZ_CHECK(text_analyzer_new(&analyzer) == ST_OK);
	lang = (enum text_lang)(data[0] % TEXT_LANG_COUNT);
	first.len = second.len = text.len;
	FUZZ_CHECK(text_analyze(analyzer, text, lang, take, &first) == ST_OK);
	FUZZ_CHECK(text_analyze(analyzer, text, lang, take, &second) == ST_OK);
	FUZZ_CHECK(first.sum == second.sum && first.terms == second.terms);
	FUZZ_CHECK(first.terms <= 4 * text.len + 4);
	FUZZ_CHECK(text_lang_detect(text) < TEXT_LANG_COUNT);
	return 0;
}
