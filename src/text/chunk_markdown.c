/*
 * chunk_markdown.c: Markdown by lines: headings of both kinds, paragraphs, list items,
 * quotes, tables, fenced and indented code, front matter. As in CommonMark where that
 * changes what belongs together; what stands inside a paragraph is not looked at.
 */
#include "text/chunk_private.h"

#define SETEXT_MAX 1000 /* bytes: a longer paragraph is no heading */

enum md_kind { MD_NONE, MD_PARAGRAPH, MD_ITEM, MD_QUOTE, MD_TABLE, MD_CODE, MD_FENCE };

struct markdown {
	struct packer *p;
	enum md_kind kind; /* of the open block */
	size_t start, end, lines;
	bool in_list; /* what is indented goes with an item */
	char fence;
	size_t fence_len;
};

static enum status close_block(struct markdown *m)
{
	enum md_kind kind = m->kind;
	bool lines = kind == MD_TABLE || kind == MD_CODE || kind == MD_FENCE;

	m->kind = MD_NONE;
	if (kind == MD_NONE)
		return ST_OK;
	return pack_block(m->p, m->start, m->end, lines ? BLOCK_LINES : BLOCK_PROSE);
}

static enum status open_block(struct markdown *m, enum md_kind kind, const struct line *l)
{
	enum status st = close_block(m);

	m->kind = kind;
	m->start = l->first;
	m->end = l->last;
	m->lines = 1;
	return st;
}

static enum status add_line(struct markdown *m, const struct line *l)
{
	m->end = l->last;
	m->lines++;
	return ST_OK;
}

/* How often c stands at the start of the line. */
static size_t run_of(const char *p, size_t n, char c)
{
	size_t i = 0;

	while (i < n && p[i] == c)
		i++;
	return i;
}

static bool is_blank(char c)
{
	return c == ' ' || c == '\t';
}

/* A line of one sign with spaces between: *ret_n of them. */
static bool is_rule(const char *p, size_t n, bool spaces, size_t *ret_n)
{
	size_t count = 0;

	for (size_t i = 0; i < n; i++) {
		if (p[i] == p[0])
			count++;
		else if (!spaces || !is_blank(p[i]))
			return false;
	}
	*ret_n = count;
	return true;
}

static bool is_item(const char *p, size_t n)
{
	size_t i = 0;

	if (p[0] == '-' || p[0] == '*' || p[0] == '+')
		return n == 1 || is_blank(p[1]);
	while (i < n && i < 9 && p[i] >= '0' && p[i] <= '9')
		i++;
	if (i == 0 || i >= n || (p[i] != '.' && p[i] != ')'))
		return false;
	return i + 1 == n || is_blank(p[i + 1]);
}

static bool is_delimiter_row(const char *p, size_t n)
{
	bool bar = false, dash = false;

	for (size_t i = 0; i < n; i++) {
		if (p[i] == '|')
			bar = true;
		else if (p[i] == '-')
			dash = true;
		else if (p[i] != ':' && !is_blank(p[i]))
			return false;
	}
	return bar && dash;
}

/* "## Title ##" */
static enum status atx_heading(struct markdown *m, const struct line *l, size_t level)
{
	const char *data = m->p->text.data;
	size_t start = l->first + level, end = l->last, cut = end;
	enum status st = close_block(m);

	while (start < end && is_blank(data[start]))
		start++;
	while (cut > start && data[cut - 1] == '#')
		cut--;
	if (cut == start || is_blank(data[cut - 1]))
		end = cut;
	m->in_list = false;
	return st ? st : pack_heading(m->p, l->first, l->last, (unsigned)level, start, end);
}

/* The open paragraph with its underline. */
static enum status setext_heading(struct markdown *m, const struct line *l, unsigned level)
{
	m->kind = MD_NONE;
	m->in_list = false;
	return pack_heading(m->p, m->start, l->last, level, m->start, m->end);
}

static enum status in_fence(struct markdown *m, const struct line *l)
{
	const char *p = m->p->text.data + l->first;
	size_t n = l->last - l->first, run = run_of(p, n, m->fence);

	if (n == 0)
		return ST_OK;
	(void)add_line(m, l);
	return run >= m->fence_len && run == n ? close_block(m) : ST_OK;
}

static bool opens_fence(struct markdown *m, const char *p, size_t n)
{
	size_t run = run_of(p, n, p[0]);

	if ((p[0] != '`' && p[0] != '~') || run < 3)
		return false;
	if (p[0] == '`' && memchr(p + run, '`', n - run))
		return false;
	m->fence = p[0];
	m->fence_len = run;
	return true;
}

/* Lines that only go on with what is open, or begin a paragraph. */
static enum status plain_line(struct markdown *m, const struct line *l, const char *p, size_t n)
{
	if (m->kind == MD_TABLE && !memchr(p, '|', n))
		return open_block(m, MD_PARAGRAPH, l);
	if (m->kind == MD_PARAGRAPH && m->lines == 1 && is_delimiter_row(p, n))
		m->kind = MD_TABLE;
	if (m->kind != MD_NONE && m->kind != MD_CODE)
		return add_line(m, l);
	if (l->first == l->start)
		m->in_list = false;
	return open_block(m, MD_PARAGRAPH, l);
}

/* A line without indentation that matters. */
static enum status block_line(struct markdown *m, const struct line *l)
{
	const char *p = m->p->text.data + l->first;
	size_t n = l->last - l->first, level = run_of(p, n, '#'), count = 0;

	if (level >= 1 && level <= PATH_LEVELS && (level == n || is_blank(p[level])))
		return atx_heading(m, l, level);
	if (m->kind == MD_PARAGRAPH && (p[0] == '=' || p[0] == '-') &&
		m->end - m->start <= SETEXT_MAX && is_rule(p, n, false, &count))
		return setext_heading(m, l, p[0] == '=' ? 1 : 2);
	if (opens_fence(m, p, n))
		return open_block(m, MD_FENCE, l);
	if (strchr("-*_", p[0]) && p[0] && is_rule(p, n, true, &count) && count >= 3) {
		enum status st = open_block(m, MD_PARAGRAPH, l);

		return st ? st : close_block(m);
	}
	if (is_item(p, n)) {
		m->in_list = true;
		return open_block(m, MD_ITEM, l);
	}
	if (p[0] == '>')
		return m->kind == MD_QUOTE ? add_line(m, l) : open_block(m, MD_QUOTE, l);
	if (p[0] == '|')
		return m->kind == MD_TABLE ? add_line(m, l) : open_block(m, MD_TABLE, l);
	return plain_line(m, l, p, n);
}

static enum status take_line(struct markdown *m, const struct line *l)
{
	size_t columns = 0;

	if (m->kind == MD_FENCE)
		return in_fence(m, l);
	if (l->first == l->last)
		return close_block(m);
	for (size_t i = l->start; i < l->first && columns < 4; i++)
		columns += m->p->text.data[i] == '\t' ? 4 : 1;
	if (columns < 4 || m->in_list)
		return block_line(m, l);
	if (m->kind == MD_NONE)
		return open_block(m, MD_CODE, l);
	return add_line(m, l);
}

/* "---" in the first line and again later: what stands between describes the text. */
static enum status front_matter(struct markdown *m, size_t *ret_next)
{
	struct bytes text = m->p->text;
	struct line first, l;

	if (!line_read(text, 0, text.len, &first) || first.first != 0 || first.last != 3 ||
		memcmp(text.data, "---", 3) != 0)
		return ST_OK;
	for (size_t at = first.next; line_read(text, at, text.len, &l); at = l.next) {
		const char *p = text.data + l.start;

		if (l.last - l.start != 3 || (memcmp(p, "---", 3) != 0 && memcmp(p, "...", 3) != 0))
			continue;
		*ret_next = l.next;
		return pack_block(m->p, first.first, l.last, BLOCK_LINES);
	}
	return ST_OK;
}

enum status chunk_markdown(struct packer *p)
{
	struct markdown m = { .p = p };
	struct line l;
	size_t at = 0;
	enum status st = front_matter(&m, &at);

	for (; st == ST_OK && line_read(p->text, at, p->text.len, &l); at = l.next)
		st = take_line(&m, &l);
	return st ? st : close_block(&m);
}
