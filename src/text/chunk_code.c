/*
 * chunk_code.c: program text by its shape alone, whatever the language, and plain text.
 *
 * A unit is what stands at the left edge behind an empty line, with what is indented
 * below it: a function, a class. One that is too long is cut at empty lines, then at
 * lines; its chunks name the line that defines what they stand in.
 */
#include "text/chunk_private.h"

#define TAB 8

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static size_t indent_of(struct bytes text, const struct line *l)
{
	size_t columns = 0;

	for (size_t i = l->start; i < l->first; i++)
		columns += text.data[i] == '\t' ? TAB - columns % TAB : 1;
	return columns;
}

/* Whether the line begins with one of the words, which stand between spaces. */
static bool begins_with(struct bytes text, const struct line *l, const char *words)
{
	const char *p = text.data + l->first;
	size_t n = 0, max = l->last - l->first;

	while (n < max && n < 16 && is_letter(p[n]))
		n++;
	for (const char *w = words; n > 0 && *w; w++) {
		size_t len = strcspn(w, " ");

		if (len == n && memcmp(w, p, n) == 0)
			return true;
		w += len;
		if (!*w)
			break;
	}
	return false;
}

static bool defines(struct bytes text, const struct line *l, size_t indent)
{
	char end = text.data[l->last - 1];

	if (!is_letter(text.data[l->first]) ||
		begins_with(text, l,
			"if else elif for foreach while do switch case default return try except "
			"catch finally with import from using package use include let var const "
			"goto break throw raise match when select unless begin end"))
		return false;
	if (indent == 0 || end == '{')
		return true;
	return begins_with(text, l,
		"def class fn func fun function struct enum union impl trait interface module "
		"namespace public private protected static async pub export override abstract");
}

/* Comments, braces and directives stand anywhere and say nothing. */
static bool says_nothing(struct bytes text, const struct line *l)
{
	return strchr("#/*{}()[]@;-", text.data[l->first]) && text.data[l->first] != '\0';
}

void enclosing_at(struct enclosing *e, struct packer *p, const struct line *l)
{
	size_t n = e->n, indent = indent_of(p->text, l);

	while (n > 0 && e->lines[n - 1].indent >= indent)
		n--;
	/* A brace that closes a definition belongs to it. */
	if (e->n > n && l->first < l->last && strchr("{})]", p->text.data[l->first]))
		n = n + 1;
	p->path.slots[0] = (struct path_slot){ 0 };
	if (n > 0)
		p->path.slots[0] = (struct path_slot){ .start = e->lines[n - 1].start,
			.end = e->lines[n - 1].end };
}

void enclosing_add(struct enclosing *e, struct packer *p, const struct line *l)
{
	size_t indent = indent_of(p->text, l);

	if (l->first == l->last || says_nothing(p->text, l))
		return;
	while (e->n > 0 && e->lines[e->n - 1].indent >= indent)
		e->n--;
	if (!defines(p->text, l, indent) || e->n == CODE_DEPTH)
		return;
	e->lines[e->n].indent = indent;
	e->lines[e->n].start = l->first;
	e->lines[e->n].end = l->last;
	e->n++;
}

/* Whether a line behind an empty one begins a unit. */
static bool begins_unit(struct bytes text, const struct line *l)
{
	char c = text.data[l->first];

	return l->first == l->start && c != '}' && c != ')' && c != ']';
}

static enum status end_block(struct packer *p, size_t *start, size_t end, enum block_kind kind)
{
	enum status st = ST_OK;

	p->path.slots[0] = (struct path_slot){ 0 };
	if (*start != SIZE_MAX)
		st = pack_block(p, *start, end, kind);
	*start = SIZE_MAX;
	return st;
}

enum status chunk_code(struct packer *p)
{
	size_t start = SIZE_MAX, end = 0;
	enum status st = ST_OK;
	bool blank = false;
	struct line l;

	for (size_t at = 0; st == ST_OK && line_read(p->text, at, p->text.len, &l); at = l.next) {
		if (l.first == l.last) {
			blank = true;
			continue;
		}
		if (blank && begins_unit(p->text, &l))
			st = end_block(p, &start, end, BLOCK_CODE);
		blank = false;
		if (start == SIZE_MAX)
			start = l.first;
		end = l.last;
	}
	return st ? st : end_block(p, &start, end, BLOCK_CODE);
}

enum status chunk_paragraphs(struct packer *p)
{
	size_t start = SIZE_MAX, end = 0;
	enum status st = ST_OK;
	struct line l;

	for (size_t at = 0; st == ST_OK && line_read(p->text, at, p->text.len, &l); at = l.next) {
		if (l.first == l.last) {
			st = end_block(p, &start, end, BLOCK_PROSE);
			continue;
		}
		if (start == SIZE_MAX)
			start = l.first;
		end = l.last;
	}
	return st ? st : end_block(p, &start, end, BLOCK_PROSE);
}
