/*
 * chunk_html.c: HTML by its tags: text between two block tags is a block, what stands
 * in h1 to h6 a heading, a table or pre is kept in one piece where it fits.
 *
 * Elements need not be closed and may overlap: nothing here waits for an end tag but
 * tables, and a table that turns out too long, or holds headings, is read once more
 * without being kept together.
 */
#include "text/chunk_private.h"

struct html {
	struct packer *p;
	struct html_lexer lx;
	bool open; /* a block */
	size_t start, end;
	unsigned missing; /* of the lexer at its start */
	unsigned heading; /* level of the heading being read, 0: none */
	bool pre;
	unsigned tables;        /* depth of the table being kept together */
	struct html_lexer back; /* behind that table's tag */
	size_t apart;           /* up to here tables are not kept together */
};

static enum status close_block(struct html *h)
{
	enum block_kind kind = h->pre || h->tables ? BLOCK_LINES : BLOCK_PROSE;
	unsigned level = h->heading;

	if (!h->open)
		return ST_OK;
	h->open = false;
	h->heading = 0;
	h->p->missing = h->missing;
	if (level)
		return pack_heading(h->p, h->start, h->end, level, h->start, h->end);
	return pack_block(h->p, h->start, h->end, kind);
}

/* Opens or extends the block by what is visible in a token of text. */
static void take_text(struct html *h, const struct html_token *t)
{
	struct cursor c;
	struct visible v;

	cursor_init(&c, h->p->text, t->start, t->end, false);
	c.html = true; /* for the references; its lexer has nothing to read */
	while (cursor_next(&c, &v)) {
		if (chunk_is_space(v.cp))
			continue;
		if (!h->open) {
			h->open = true;
			h->start = v.start;
			h->missing = h->lx.missing;
		}
		h->end = v.end;
	}
}

/* The table is read again, as rows. */
static void take_apart(struct html *h)
{
	h->open = false;
	h->apart = h->lx.at;
	h->lx = h->back;
	h->tables = 0;
}

static bool table_fits(const struct html *h)
{
	struct token_count count = { 0 };

	return !h->open ||
		tokens_add(&count, h->p->text.data + h->start, h->end - h->start, h->p->opt.target);
}

/* Inside a table that is kept together only its end matters. */
static enum status take_in_table(struct html *h, const struct html_token *t)
{
	enum status st = ST_OK;

	if (t->name >= NAME_H1 && t->name <= NAME_H6) {
		take_apart(h);
	} else if (t->name == NAME_TABLE && !t->closing) {
		h->tables++;
	} else if (t->name == NAME_TABLE && h->tables > 1) {
		h->tables--;
	} else if (t->name == NAME_TABLE) {
		if (!table_fits(h)) {
			take_apart(h);
			return ST_OK;
		}
		st = close_block(h);
		h->tables = 0;
	}
	return st;
}

static enum status take_block_tag(struct html *h, const struct html_token *t)
{
	enum status st;

	if (h->tables)
		return take_in_table(h, t);
	if (t->name == NAME_CELL || (t->name == NAME_BR && h->heading))
		return ST_OK;
	st = close_block(h);
	if (t->name >= NAME_H1 && t->name <= NAME_H6) {
		h->heading = t->closing ? 0 : 1 + (unsigned)(t->name - NAME_H1);
		h->pre = false;
	} else if (t->name == NAME_PRE) {
		h->pre = !t->closing;
	} else if (t->name == NAME_TABLE && !t->closing && t->start >= h->apart && !h->heading) {
		h->tables = 1;
		h->back = h->lx;
	}
	return st;
}

enum status chunk_html(struct packer *p)
{
	struct html h = { .p = p };
	struct html_token t;
	enum status st = ST_OK;

	html_lexer_init(&h.lx, p->text, 0);
	while (st == ST_OK) {
		if (!html_next(&h.lx, &t)) {
			if (!h.tables || table_fits(&h))
				break;
			take_apart(&h);
			continue;
		}
		if (t.kind == HTML_TEXT)
			take_text(&h, &t);
		else if (t.kind == HTML_BLOCK)
			st = take_block_tag(&h, &t);
	}
	return st ? st : close_block(&h);
}
