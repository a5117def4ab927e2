/*
 * chunk_split.c: a block longer than a chunk: into sentences, these into lines, words
 * and at last characters, only as far as needed.
 */
#include <unicode/uchar.h>

#include "text/chunk_private.h"

#define MARKS_MAX 4 /* that stay with their letter */

enum level { LEVEL_LINE, LEVEL_WORD, LEVEL_CHARACTER };

struct splitter {
	struct cursor c;
	enum level level;
	struct visible v; /* the next character */
	bool have;
};

static void splitter_init(struct splitter *s, const struct packer *p, size_t start, size_t end,
	enum level level)
{
	cursor_init(&s->c, p->text, start, end, p->format == TEXT_HTML);
	s->c.lexer.missing = p->missing;
	s->level = level;
	s->have = cursor_next(&s->c, &s->v);
}

static bool is_mark(uint32_t cp)
{
	return cp >= 0x300 && (cp == 0x200D || (U_GET_GC_MASK((UChar32)cp) & U_GC_M_MASK));
}

/* Whether a piece ends between two characters. */
static bool cuts(const struct splitter *s, uint32_t before, unsigned marks)
{
	const struct visible *v = &s->v;

	if (s->level == LEVEL_LINE)
		return v->after_block || before == '\n' || before == '\r';
	if (v->after_tag || chunk_is_space(v->cp))
		return true;
	if (s->level == LEVEL_WORD)
		return chunk_is_wide(v->cp) || (chunk_is_wide(before) && v->cp < 0x3000);
	return marks == MARKS_MAX || !is_mark(v->cp);
}

static bool next_piece(struct splitter *s, size_t *ret_start, size_t *ret_end)
{
	uint32_t before;
	unsigned marks = 0;

	while (s->have && chunk_is_space(s->v.cp))
		s->have = cursor_next(&s->c, &s->v);
	if (!s->have)
		return false;
	*ret_start = s->v.start;
	do {
		if (!chunk_is_space(s->v.cp))
			*ret_end = s->v.end;
		before = s->v.cp;
		s->have = cursor_next(&s->c, &s->v);
	} while (s->have && !cuts(s, before, marks++));
	return true;
}

/* The levels are three, so is the depth. NOLINTNEXTLINE(misc-no-recursion) */
static enum status split(struct packer *p, size_t start, size_t end, enum level level)
{
	struct splitter s;
	enum status st = ST_OK;
	bool fits;

	splitter_init(&s, p, start, end, level);
	while (st == ST_OK && next_piece(&s, &start, &end)) {
		st = pack_piece(p, start, end, level == LEVEL_CHARACTER, &fits);
		if (st == ST_OK && !fits)
			st = split(p, start, end, (enum level)(level + 1));
	}
	return st;
}

static enum status take_sentence(void *arg, size_t start, size_t end)
{
	struct packer *p = arg;
	bool fits;
	enum status st = pack_piece(p, start, end, false, &fits);

	return st || fits ? st : split(p, start, end, LEVEL_LINE);
}

static enum status split_prose(struct packer *p, size_t start, size_t end)
{
	enum status st = p->sentences ? ST_OK : sentences_new(false, &p->sentences);
	struct cursor c;

	if (st)
		return st;
	cursor_init(&c, p->text, start, end, p->format == TEXT_HTML);
	c.lexer.missing = p->missing;
	return sentences_each(p->sentences, &c, take_sentence, p);
}

/* Paragraphs of program text, each with the definition that it stands in. */
static enum status split_code(struct packer *p, size_t start, size_t end)
{
	struct enclosing around = { .n = 0 };
	struct line l, m;
	enum status st = ST_OK;

	for (size_t at = start; st == ST_OK && line_read(p->text, at, end, &l); at = l.next) {
		size_t last = l.last;
		bool fits;

		if (l.first == l.last)
			continue;
		for (m = l; m.first < m.last;) {
			last = m.last;
			l.next = m.next;
			if (!line_read(p->text, m.next, end, &m))
				break;
		}
		enclosing_at(&around, p, &l);
		st = pack_piece(p, l.first, last, false, &fits);
		for (at = l.start; st == ST_OK && at < last; at = m.next) {
			(void)line_read(p->text, at, end, &m);
			enclosing_at(&around, p, &m);
			if (!fits)
				st = split(p, m.first, m.last, LEVEL_LINE);
			enclosing_add(&around, p, &m);
		}
	}
	return st;
}

enum status split_block(struct packer *p, size_t start, size_t end, enum block_kind kind)
{
	switch (kind) {
	case BLOCK_PROSE:
		return split_prose(p, start, end);
	case BLOCK_CODE:
		return split_code(p, start, end);
	default:
		return split(p, start, end, LEVEL_LINE);
	}
}
