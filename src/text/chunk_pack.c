/*
 * chunk_pack.c: pieces to chunks, in one pass and without looking ahead.
 *
 *   ready: small sections that are whole ──┐
 *   cur: the section being read            ├─▶ chunks
 *
 * A section that ends small waits in ready for small neighbours; one that outgrows its
 * chunk sends ready away and goes on alone, its last chunk included.
 */
#include "text/chunk_private.h"
#include "util/mem.h"

/* Counts on from the draft; false if it would be too long. */
static bool counts_on(const struct packer *p, const struct draft *d, size_t start, size_t end,
	struct token_count *ret)
{
	size_t from = d->open ? d->end : start;

	*ret = d->open ? d->count : (struct token_count){ 0 };
	return tokens_add(ret, p->text.data + from, end - from, p->opt.target);
}

static enum status add_chunk(struct packer *p, struct draft *d)
{
	struct text_chunk *c;
	enum status st;

	if (p->n >= p->opt.max)
		return ST_TOO_LARGE;
	if (p->n == p->cap) {
		size_t cap = p->cap ? 2 * p->cap : 16, size;

		if (__builtin_mul_overflow(cap, sizeof(*c), &size))
			return ST_NOMEM;
		c = mem_resize(p->chunks, size);
		if (!c)
			return ST_NOMEM;
		p->chunks = c;
		p->cap = cap;
	}
	c = &p->chunks[p->n];
	c->start = d->start;
	c->end = d->end;
	st = context_make(p, &d->path, &c->context);
	p->n += st == ST_OK;
	d->open = false;
	return st;
}

static enum status flush(struct packer *p, struct draft *d)
{
	return d->open ? add_chunk(p, d) : ST_OK;
}

static void extend(struct packer *p, struct draft *d, size_t start, size_t end,
	const struct token_count *count)
{
	if (!d->open) {
		d->open = true;
		d->start = start;
		d->body = SIZE_MAX;
		d->missing = p->missing;
		d->path = p->path;
	}
	d->end = end;
	d->count = *count;
	if (!p->in_heading && d->body == SIZE_MAX)
		d->body = start;
	if (p->in_heading && d->body == SIZE_MAX)
		d->path = p->path; /* headings without text between them */
}

/* A draft that begins inside the one before, if anything can be repeated. */
static void overlap(struct packer *p, const struct draft *before, size_t start, size_t end)
{
	struct token_count count = { 0 };
	unsigned missing = 0;
	size_t from, left = p->opt.overlap;

	(void)tokens_add(&count, p->text.data + start, end - start, SIZE_MAX);
	if (tokens_of(&count) >= p->opt.target)
		return;
	if (left > p->opt.target - tokens_of(&count))
		left = p->opt.target - tokens_of(&count);
	from = overlap_start(p, before, left, &missing);
	if (from >= before->end)
		return;
	memset(&count, 0, sizeof(count));
	if (!tokens_add(&count, p->text.data + from, before->end - from, left))
		return;
	extend(p, &p->cur, from, before->end, &count);
	p->cur.missing = missing;
	if (!counts_on(p, &p->cur, start, end, &count))
		p->cur.open = false;
}

enum status pack_piece(struct packer *p, size_t start, size_t end, bool force, bool *ret_fits)
{
	struct token_count count;
	struct draft before;
	enum status st;

	*ret_fits = true;
	if (counts_on(p, &p->cur, start, end, &count)) {
		extend(p, &p->cur, start, end, &count);
		return ST_OK;
	}
	before = p->cur;
	p->cur.open = false;
	if (!counts_on(p, &p->cur, start, end, &count) && !force) {
		p->cur.open = before.open;
		*ret_fits = false;
		return ST_OK;
	}
	p->cur.open = before.open;
	st = flush(p, &p->ready);
	if (st == ST_OK)
		st = flush(p, &p->cur);
	if (st)
		return st;
	p->flushed = true;
	/* A function does not go on with the end of another. */
	if (before.open && !p->in_heading && (!p->whole || p->format != TEXT_CODE))
		overlap(p, &before, start, end);
	if (p->cur.open)
		(void)counts_on(p, &p->cur, start, end, &count);
	extend(p, &p->cur, start, end, &count);
	return ST_OK;
}

enum status pack_block(struct packer *p, size_t start, size_t end, enum block_kind kind)
{
	struct token_count count;
	bool fits = false;
	enum status st = ST_OK;
	/* Text fills up the chunk of its heading rather than leaving it alone. */
	bool heading_alone = kind == BLOCK_PROSE && p->cur.open && p->cur.body == SIZE_MAX &&
		!p->in_heading && !counts_on(p, &p->cur, start, end, &count);

	p->whole = true;
	if (!heading_alone)
		st = pack_piece(p, start, end, false, &fits);
	p->whole = false;
	if (st == ST_OK && !fits)
		st = split_block(p, start, end, kind);
	return st;
}

/* What two paths have in common from the outside in. */
static void path_cut(struct path *path, const struct path *other)
{
	unsigned i = 0;

	while (i < PATH_LEVELS && path->slots[i].start == other->slots[i].start &&
		path->slots[i].end == other->slots[i].end)
		i++;
	for (; i < PATH_LEVELS; i++)
		path->slots[i] = (struct path_slot){ 0 };
}

static enum status end_section(struct packer *p)
{
	struct token_count count;
	enum status st;
	bool small = !p->flushed && tokens_of(&p->cur.count) <= p->small;

	p->flushed = false;
	if (!p->cur.open)
		return ST_OK;
	if (small && p->ready.open && counts_on(p, &p->ready, p->cur.start, p->cur.end, &count)) {
		path_cut(&p->ready.path, &p->cur.path);
		p->ready.end = p->cur.end;
		p->ready.count = count;
		p->cur.open = false;
		return ST_OK;
	}
	st = flush(p, &p->ready);
	if (st == ST_OK && small) {
		p->ready = p->cur;
		p->cur.open = false;
	} else if (st == ST_OK) {
		st = flush(p, &p->cur);
	}
	return st;
}

enum status pack_heading(struct packer *p, size_t start, size_t end, unsigned level,
	size_t text_start, size_t text_end)
{
	enum status st = ST_OK;

	/* A heading right below a wider one belongs to the same section. */
	if (!p->cur.open || p->flushed || p->cur.body != SIZE_MAX || level <= p->level)
		st = end_section(p);
	if (st)
		return st;
	for (unsigned i = level - 1; i < PATH_LEVELS; i++)
		p->path.slots[i] = (struct path_slot){ 0 };
	p->path.slots[level - 1] =
		(struct path_slot){ .start = text_start, .end = text_end, .context = BYTES_NONE };
	p->level = level;
	p->in_heading = true;
	st = pack_block(p, start, end, BLOCK_PROSE);
	p->in_heading = false;
	return st;
}

enum status pack_finish(struct packer *p)
{
	enum status st = end_section(p);

	return st ? st : flush(p, &p->ready);
}
