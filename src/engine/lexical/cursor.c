/* cursor.c: see cursor.h. Sizes and last ordinals are checked when a cursor opens, the
 * content of a block when it is decoded. */
#include "engine/lexical/cursor.h"

#define SHORT LEX_BLOCK /* lists below this are decoded at once */

struct lex_lengths lex_lengths_of(const struct lex_slice *s)
{
	const struct lex_segment *seg = s->part->seg;
	const struct lex_head_rows *rows;

	if (seg && seg->wide)
		return (struct lex_lengths){ .wide = seg->section[LEX_LENGTHS].p };
	if (seg)
		return (struct lex_lengths){ .narrow = seg->section[LEX_LENGTHS].p };
	rows = atomic_load_explicit(&s->part->head.rows, memory_order_acquire);
	return (struct lex_lengths){ .head = rows ? rows->lengths : NULL };
}

static uint16_t get16(const unsigned char *p)
{
	uint16_t v;

	memcpy(&v, p, sizeof(v));
	return le16toh(v);
}

void lex_lengths_get(const struct lex_lengths *l, const uint32_t *ords, uint32_t n, uint32_t *out)
{
	if (l->narrow) {
		for (uint32_t i = 0; i < n; i++)
			out[i] = get16(l->narrow + (size_t)ords[i] * 2);
	} else if (l->wide) {
		for (uint32_t i = 0; i < n; i++)
			out[i] = lex_get32(l->wide + (size_t)ords[i] * 4) & INT32_MAX;
	} else {
		for (uint32_t i = 0; i < n; i++)
			out[i] = l->head[ords[i]];
	}
}

size_t lex_cursor_blocks(const struct lex_slice *s, const struct lex_term_in *in)
{
	uint32_t n;

	if (s->part->seg)
		return in->postings.df / LEX_BLOCK + 1;
	n = in->list ? atomic_load_explicit(&in->list->count, memory_order_acquire) : 0;
	/* At worst five small blocks before those of 128. */
	return n / LEX_BLOCK + 6;
}

/* Fewer than 128 postings: decoded here, with their exact bound. */
static bool open_short(struct lex_cursor *c, const struct lex_model *m,
	const struct lex_lengths *lengths)
{
	uint32_t buf[LEX_BLOCK];
	float best = 0;

	c->count = c->layout.tail;
	if (!lex_short_decode(&c->layout, c->limit, c->ord_buf, c->tf_buf))
		return false;
	lex_lengths_get(lengths, c->ord_buf, c->count, buf);
	for (uint32_t i = 0; i < c->count; i++) {
		float s = lex_bound_pair(m, c->tf_buf[i], buf[i]);

		best = s > best ? s : best;
	}
	c->ords = c->ord_buf;
	c->tfs = c->tf_buf;
	c->loaded = 0;
	c->has_tfs = true;
	c->blocks = 1;
	c->lasts[0] = c->ord_buf[c->count - 1];
	c->bounds[0] = best * c->weight;
	c->ats[0].count = c->count;
	return true;
}

static bool open_long(struct lex_cursor *c, const struct lex_model *m)
{
	const struct lex_layout *l = &c->layout;
	const unsigned char *at = l->packed;

	for (uint32_t i = 0; i < l->blocks; i++) {
		uint32_t size = 0;

		c->ats[i].at.packed = at;
		c->ats[i].count = i < l->full ? LEX_BLOCK : l->tail;
		c->lasts[i] = lex_get32(l->lasts + (size_t)i * 4);
		c->bounds[i] =
			c->weight * lex_bound_score(m, l->bounds + (size_t)i * LEX_BOUND_BYTES);
		if (i < l->full && !lex_layout_block_size(l, i, &size))
			return false;
		if (size > (size_t)(l->end - at) || c->lasts[i] >= c->limit ||
			(i > 0 && c->lasts[i] <= c->lasts[i - 1]))
			return false;
		at += size;
	}
	c->blocks = l->blocks;
	return true;
}

static void open_head(struct lex_cursor *c, const struct lex_live_list *list,
	const struct lex_model *m, size_t room)
{
	uint32_t n = 0;

	for (const struct lex_live_block *b = list->first; b && n < room;
		b = atomic_load_explicit(&b->next, memory_order_acquire)) {
		uint32_t count = lex_live_block_count(list, b, c->limit);

		if (count == 0)
			break;
		c->ats[n].at.live = b;
		c->ats[n].count = count;
		c->lasts[n] = b->v[count - 1];
		/* May already count in postings that the view does not see: higher at most. */
		c->bounds[n++] = c->weight *
			lex_bound_pair(m, atomic_load_explicit(&b->max_tf, memory_order_relaxed),
				atomic_load_explicit(&b->min_length, memory_order_relaxed));
		if (count < b->cap)
			break;
	}
	c->blocks = n;
}

void lex_cursor_open(struct lex_cursor *c, const struct lex_slice *s, const struct lex_term_in *in,
	const struct lex_model *m, const struct lex_lengths *lengths)
{
	const struct lex_postings *p = &in->postings;
	bool good = true;

	c->limit = s->chunks;
	c->blocks = c->block = c->pos = c->count = 0;
	c->loaded = UINT32_MAX;
	c->has_tfs = false;
	c->head = !s->part->seg;
	if (in->list) {
		open_head(c, in->list, m, lex_cursor_blocks(s, in));
	} else if (p->df > 0) {
		good = lex_layout_make(p->data, p->size, p->df, &c->layout) &&
			(p->df < SHORT ? open_short(c, m, lengths) : open_long(c, m));
	}
	if (!good) {
		c->damaged = true;
		c->blocks = 0;
	}
}

/* Ordinals of a block into buf, or a pointer to them where they are. */
static const uint32_t *block_ords(const struct lex_cursor *c, uint32_t block, uint32_t *ord_buf,
	uint32_t *tf_buf)
{
	const struct lex_block_at *at = &c->ats[block];
	uint32_t before = block > 0 ? c->lasts[block - 1] : UINT32_MAX;

	if (c->head)
		return at->at.live->v;
	if (block < c->layout.full)
		return lex_block_ords(&c->layout, block, at->at.packed, before, ord_buf) ? ord_buf
											 : NULL;
	if (!lex_tail_decode(at->at.packed, c->layout.end, before, at->count, c->limit, ord_buf,
		    tf_buf) ||
		ord_buf[at->count - 1] != c->lasts[block])
		return NULL;
	return ord_buf;
}

static const uint32_t *block_tfs(const struct lex_cursor *c, uint32_t block, uint32_t *tf_buf)
{
	const struct lex_block_at *at = &c->ats[block];

	if (c->head)
		return at->at.live->v + at->at.live->cap;
	if (block < c->layout.full && !lex_block_tfs(&c->layout, block, at->at.packed, tf_buf))
		for (unsigned i = 0; i < LEX_BLOCK; i++)
			tf_buf[i] = 1; /* damaged: any will do, merging reports it */
	return tf_buf;                 /* a tail's came with the ordinals */
}

bool lex_cursor_load_slow(struct lex_cursor *c)
{
	c->pos = 0;
	c->has_tfs = false;
	c->count = c->ats[c->block].count;
	c->ords = block_ords(c, c->block, c->ord_buf, c->tf_buf);
	if (!c->ords) {
		c->damaged = true;
		c->block = c->blocks = 0;
		return false;
	}
	c->loaded = c->block;
	if (c->head || c->block >= c->layout.full) /* these come for nothing */
		lex_cursor_load_tfs_slow(c);
	return true;
}

void lex_cursor_load_tfs_slow(struct lex_cursor *c)
{
	c->tfs = block_tfs(c, c->loaded, c->tf_buf);
	c->has_tfs = true;
}

uint32_t lex_lower_bound(const uint32_t *ords, uint32_t from, uint32_t n, uint32_t ord)
{
	const uint32_t *base = ords + from;
	uint32_t len = n - from;

	if (len == 0)
		return n;
	while (len > 1) {
		uint32_t half = len / 2;

		base += base[half - 1] < ord ? half : 0; /* a conditional move */
		len -= half;
	}
	return (uint32_t)(base - ords) + (*base < ord);
}

uint32_t lex_cursor_probe(const struct lex_cursor *c, uint32_t ord, uint32_t *ord_buf,
	uint32_t *tf_buf)
{
	uint32_t block, pos, count;
	const uint32_t *ords, *tfs;

	if (c->blocks == 0 || c->lasts[c->blocks - 1] < ord)
		return 0;
	block = lex_lower_bound(c->lasts, 0, c->blocks, ord);
	count = c->ats[block].count;
	if (c->loaded == block) {
		ords = c->ords;
		tfs = c->has_tfs ? c->tfs : NULL;
	} else {
		ords = block_ords(c, block, ord_buf, tf_buf);
		tfs = NULL;
	}
	pos = ords ? lex_lower_bound(ords, 0, count, ord) : count;
	if (pos == count || ords[pos] != ord)
		return 0;
	return tfs ? tfs[pos] : block_tfs(c, block, tf_buf)[pos];
}
