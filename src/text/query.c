/*
 * query.c: cuts a query into words.
 *
 * A word is a run of ASCII letters and digits and of the word characters beyond
 * ASCII (separators.c); all else only separates, so no character of the user's can
 * act as an operator further down. The index splits the documents at least as
 * finely, and a word that it splits again is looked up as a phrase. Case, accents
 * and endings are the index's affair.
 *
 * What a contraction leaves behind its apostrophe (the "s" of it's, the "ll" of
 * we'll) is a stop word there and nowhere else: "t cell" keeps its t.
 *
 * Cost: one pass over the text, and one arena copy for each term kept.
 */
#include "text/query.h"

#include <stdint.h>

#include "text/separators.h"
#include "text/stopwords.h"
#include "util/utf8.h"

#define LONGEST_TERM 1024 /* bytes; longer words are cut there, the index keeps them whole */
#define APOSTROPHE 0x27
#define RIGHT_QUOTE 0x2019 /* the typographic apostrophe */

struct scanner {
	struct bytes text;
	size_t at;
	bool contracted; /* an apostrophe joins the next word to the one before it */
};

static bool is_ascii_word(unsigned char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Decodes the character at s->at; true if it belongs to a word. */
static bool peek_char(const struct scanner *s, uint32_t *ret_cp, size_t *ret_len)
{
	unsigned char c = (unsigned char)s->text.data[s->at];

	if (c < 0x80) {
		*ret_cp = c;
		*ret_len = 1;
		return is_ascii_word(c);
	}
	*ret_cp = utf8_decode(s->text.data + s->at, s->text.len - s->at, ret_len);
	return !text_is_separator(*ret_cp);
}

/* Moves to the next word; false at the end. s->contracted is about that word. */
static bool next_word(struct scanner *s, struct bytes *ret)
{
	uint32_t cp, last = 0;
	size_t len, gap = 0, start = s->at;

	while (s->at < s->text.len && !peek_char(s, &cp, &len)) {
		s->at += len;
		last = cp;
		gap++;
	}
	if (s->at >= s->text.len)
		return false;
	s->contracted = start > 0 && gap == 1 && (last == APOSTROPHE || last == RIGHT_QUOTE);
	start = s->at;
	while (s->at < s->text.len && peek_char(s, &cp, &len))
		s->at += len;
	*ret = (struct bytes){ s->text.data + start, s->at - start };
	return true;
}

/* True for what English leaves behind an apostrophe. */
static bool is_contraction_tail(struct bytes word)
{
	static const char *const tails[] = { "d", "ll", "m", "re", "s", "t", "ve" };
	char folded[2] = { 0 };

	if (word.len > sizeof folded)
		return false;
	for (size_t i = 0; i < word.len; i++)
		folded[i] = (char)(word.data[i] | 0x20);
	for (size_t i = 0; i < sizeof tails / sizeof tails[0]; i++)
		if (bytes_eq((struct bytes){ folded, word.len }, bytes_of(tails[i])))
			return true;
	return false;
}

enum status text_query_parse(struct bytes text, struct arena *arena, struct text_query *ret)
{
	struct text_query q = { .terms = NULL };
	struct scanner s = { .text = text };
	struct bytes word;
	bool dropped = false;

	while (next_word(&s, &word)) {
		if (text_is_stopword(word) || (s.contracted && is_contraction_tail(word))) {
			dropped = true;
			continue;
		}
		if (q.n == TEXT_QUERY_MAX_TERMS) {
			q.truncated = true;
			break;
		}
		if (!q.terms) {
			q.terms = arena_array(arena, TEXT_QUERY_MAX_TERMS, sizeof q.terms[0]);
			if (!q.terms)
				return ST_NOMEM;
		}
		word.len = utf8_floor(word.data, word.len, LONGEST_TERM);
		if (arena_dup_bytes(arena, word, &q.terms[q.n]) < 0)
			return ST_NOMEM;
		q.n++;
	}
	q.only_stop_words = dropped && q.n == 0;
	*ret = q;
	return ST_OK;
}
