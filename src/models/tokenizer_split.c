/*
 * tokenizer_split.c: pre-tokenisers. Each step cuts a piece and hands the parts on to the
 * next one at once; the last hands them to the model. Depth: the number of steps.
 */
#include "models/tokenizer_private.h"
#include "text/unicode.h"
#include "util/utf8.h"

static bool part(struct encoder *en, size_t step, const char *p, size_t start, size_t end,
	size_t first)
{
	if (start >= end)
		return true;
	return split_run(en, step + 1, p + start, end - start, first > start ? first - start : 0);
}

/* Words are what is between white space; of BERT, punctuation stands alone. */
static bool split_spaces(struct encoder *en, size_t step, const char *p, size_t n, size_t first)
{
	bool alone = en->t->split[step].kind == SPLIT_BERT;
	size_t start = 0, len;

	for (size_t i = 0; i < n; i += len) {
		unsigned char c = (unsigned char)p[i];
		uint32_t cp = c;
		bool punctuation;

		len = 1;
		/* The most frequent first. */
		if ((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))
			continue;
		if (c >= 0x80)
			cp = utf8_decode(p + i, n - i, &len);
		punctuation = alone && unicode_punctuation(cp);
		if (!punctuation && !unicode_space(cp))
			continue;
		if (!part(en, step, p, start, i, first) ||
			(punctuation && !part(en, step, p, i, i + len, first)))
			return false;
		start = i + len;
	}
	return part(en, step, p, start, n, first);
}

enum word_class { WORD_SPACE, WORD_WORD, WORD_OTHER };

static enum word_class word_class(uint32_t cp)
{
	if (unicode_space(cp))
		return WORD_SPACE;
	return unicode_word(cp) ? WORD_WORD : WORD_OTHER;
}

/* \w+|[^\w\s]+ */
static bool split_words(struct encoder *en, size_t step, const char *p, size_t n, size_t first)
{
	enum word_class before = WORD_SPACE;
	size_t start = 0, len;

	for (size_t i = 0; i < n; i += len) {
		enum word_class now = word_class(utf8_decode(p + i, n - i, &len));

		if (now == before)
			continue;
		if (before != WORD_SPACE && !part(en, step, p, start, i, first))
			return false;
		start = i;
		before = now;
	}
	return before == WORD_SPACE || part(en, step, p, start, n, first);
}

static bool split_punctuation(struct encoder *en, size_t step, const char *p, size_t n,
	size_t first)
{
	enum split_behavior how = en->t->split[step].behavior;
	bool before = false;
	size_t start = 0, len;

	for (size_t i = 0; i < n; i += len) {
		bool now = unicode_punctuation(utf8_decode(p + i, n - i, &len)), cut;

		switch (how) {
		case BEHAVIOR_PREVIOUS:
			cut = before;
			break;
		case BEHAVIOR_NEXT:
			cut = now;
			break;
		case BEHAVIOR_CONTIGUOUS:
			cut = now != before;
			break;
		default:
			cut = now || before;
		}
		if (cut) {
			if (!(before && how == BEHAVIOR_REMOVED) &&
				!part(en, step, p, start, i, first))
				return false;
			start = i;
		}
		before = now;
	}
	return (before && how == BEHAVIOR_REMOVED) || part(en, step, p, start, n, first);
}

/* Blanks to the sign for them, one in front, and a cut before each. */
static bool split_metaspace(struct encoder *en, size_t step, const char *p, size_t n, size_t first)
{
	const struct split_step *s = &en->t->split[step];
	struct strbuf *out = &en->level[step];
	struct bytes sign = s->replacement;
	size_t start = 0, out_first;
	bool starts = p[0] == ' ' || (n >= sign.len && memcmp(p, sign.data, sign.len) == 0);

	strbuf_reset(out);
	if (!starts && (s->prepend == PREPEND_ALWAYS || (s->prepend == PREPEND_FIRST && first)))
		strbuf_add(out, sign.data, sign.len);
	out_first = first ? out->len : 0;
	for (size_t i = 0; i < n; i++) {
		if (p[i] == ' ')
			strbuf_add(out, sign.data, sign.len);
		else
			strbuf_addc(out, p[i]);
		if (i < first)
			out_first = out->len;
	}
	if (!strbuf_ok(out))
		return false;
	for (size_t i = 1; s->split && i + sign.len <= out->len; i++)
		if (memcmp(out->data + i, sign.data, sign.len) == 0) {
			if (!part(en, step, out->data, start, i, out_first))
				return false;
			start = i;
		}
	return part(en, step, out->data, start, out->len, out_first);
}

bool split_run(struct encoder *en, size_t step, const char *p, size_t n, size_t first)
{
	if (step == en->t->split_n)
		return en->t->unigram ? unigram_encode(en, p, n) : wordpiece_encode(en, p, n);
	switch (en->t->split[step].kind) {
	case SPLIT_BERT:
	case SPLIT_SPACES:
		return split_spaces(en, step, p, n, first);
	case SPLIT_WORDS:
		return split_words(en, step, p, n, first);
	case SPLIT_PUNCTUATION:
		return split_punctuation(en, step, p, n, first);
	case SPLIT_METASPACE:
		return split_metaspace(en, step, p, n, first);
	}
	return true;
}
