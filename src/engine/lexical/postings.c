/* postings.c: posting lists to bytes and back. The format is drawn in postings.h. */
#include "engine/lexical/postings.h"

void lex_encoder_init(struct lex_encoder *en, const uint32_t *lengths, double average)
{
	memset(en, 0, sizeof(*en));
	en->lengths = lengths;
	en->average = average;
	en->before = UINT32_MAX;
	strbuf_init(&en->lasts);
	strbuf_init(&en->bounds);
	strbuf_init(&en->widths);
	strbuf_init(&en->blocks);
}

void lex_encoder_release(struct lex_encoder *en)
{
	strbuf_release(&en->lasts);
	strbuf_release(&en->bounds);
	strbuf_release(&en->widths);
	strbuf_release(&en->blocks);
}

/* Last ordinal and bound of what is in the arrays. */
static void put_summary(struct lex_encoder *en)
{
	uint32_t lengths[LEX_BLOCK];
	unsigned char last[4], bound[LEX_BOUND_BYTES];

	for (uint32_t i = 0; i < en->used; i++)
		lengths[i] = en->lengths[en->ords[i]];
	lex_bound_make(en->tfs, lengths, en->used, en->average, bound);
	lex_put32(last, en->ords[en->used - 1]);
	strbuf_add(&en->lasts, last, sizeof(last));
	strbuf_add(&en->bounds, bound, sizeof(bound));
}

static void put_block(struct lex_encoder *en)
{
	uint32_t gaps[LEX_BLOCK], all_gaps = 0, all_tfs = 0, before = en->before;
	unsigned char bytes[2 * 32 * LEX_BLOCK / 8], widths[2];

	put_summary(en);
	for (unsigned i = 0; i < LEX_BLOCK; i++) {
		gaps[i] = en->ords[i] - before - 1;
		before = en->ords[i];
		all_gaps |= gaps[i];
		en->tfs[i]--;
		all_tfs |= en->tfs[i];
	}
	widths[0] = (unsigned char)lex_width(all_gaps);
	widths[1] = (unsigned char)lex_width(all_tfs);
	lex_pack(gaps, widths[0], bytes);
	lex_pack(en->tfs, widths[1], bytes + lex_packed_size(widths[0]));
	strbuf_add(&en->widths, widths, sizeof(widths));
	strbuf_add(&en->blocks, bytes, lex_packed_size(widths[0]) + lex_packed_size(widths[1]));
	en->before = before;
	en->used = 0;
}

void lex_encoder_add(struct lex_encoder *en, uint32_t ord, uint32_t tf)
{
	en->ords[en->used] = ord;
	en->tfs[en->used] = tf;
	en->df++;
	if (++en->used == LEX_BLOCK)
		put_block(en);
}

static void put_tail(struct lex_encoder *en, struct strbuf *out)
{
	uint32_t before = en->before;

	for (uint32_t i = 0; i < en->used; i++) {
		uint64_t gap = en->ords[i] - before - 1;

		lex_put_varint(out, gap << 1 | (en->tfs[i] > 1));
		if (en->tfs[i] > 1)
			lex_put_varint(out, en->tfs[i] - 2);
		before = en->ords[i];
	}
}

static void reset(struct lex_encoder *en)
{
	strbuf_reset(&en->lasts);
	strbuf_reset(&en->bounds);
	strbuf_reset(&en->widths);
	strbuf_reset(&en->blocks);
	en->df = en->used = 0;
	en->before = UINT32_MAX;
}

bool lex_encoder_finish(struct lex_encoder *en, struct strbuf *out, uint32_t *ret_df)
{
	uint32_t df = en->df;
	bool ok;

	if (df == 1) {
		lex_put_varint(out, en->ords[0]);
		lex_put_varint(out, en->tfs[0] - 1);
	} else if (df < LEX_BLOCK) {
		put_tail(en, out);
	} else {
		if (en->used > 0)
			put_summary(en);
		strbuf_add(out, en->lasts.data, en->lasts.len);
		strbuf_add(out, en->bounds.data, en->bounds.len);
		strbuf_add(out, en->widths.data, en->widths.len);
		strbuf_add(out, en->blocks.data, en->blocks.len);
		put_tail(en, out);
	}
	ok = strbuf_ok(out) && strbuf_ok(&en->lasts) && strbuf_ok(&en->bounds) &&
		strbuf_ok(&en->widths) && strbuf_ok(&en->blocks);
	reset(en);
	if (ok)
		*ret_df = df;
	return ok;
}

bool lex_layout_make(const unsigned char *data, size_t size, uint32_t df, struct lex_layout *ret)
{
	struct lex_layout l = { .tail = df, .packed = data, .end = data + size };

	if (df >= LEX_BLOCK) {
		l.full = df / LEX_BLOCK;
		l.tail = df % LEX_BLOCK;
		l.blocks = l.full + (l.tail > 0);
		if (size < (size_t)l.blocks * (4 + LEX_BOUND_BYTES) + (size_t)l.full * 2)
			return false;
		l.lasts = data;
		l.bounds = data + (size_t)l.blocks * 4;
		l.widths = l.bounds + (size_t)l.blocks * LEX_BOUND_BYTES;
		l.packed = l.widths + (size_t)l.full * 2;
	} else {
		l.blocks = 1;
	}
	*ret = l;
	return df > 0;
}

bool lex_layout_block_size(const struct lex_layout *l, uint32_t block, uint32_t *ret)
{
	const unsigned char *w = l->widths + (size_t)block * 2;

	if (w[0] > 32 || w[1] > LEX_TF_BITS)
		return false;
	*ret = (uint32_t)(lex_packed_size(w[0]) + lex_packed_size(w[1]));
	return true;
}

bool lex_block_ords(const struct lex_layout *l, uint32_t block, const unsigned char *at,
	uint32_t before, uint32_t ords[LEX_BLOCK])
{
	return lex_unpack_gaps(at, l->widths[(size_t)block * 2], before, ords) &&
		ords[LEX_BLOCK - 1] == lex_get32(l->lasts + (size_t)block * 4);
}

void lex_block_tfs(const struct lex_layout *l, uint32_t block, const unsigned char *at,
	uint32_t tfs[LEX_BLOCK])
{
	const unsigned char *w = l->widths + (size_t)block * 2;

	lex_unpack(at + lex_packed_size(w[0]), w[1], tfs);
	for (unsigned i = 0; i < LEX_BLOCK; i++)
		tfs[i]++;
}

bool lex_tail_decode(const unsigned char *p, const unsigned char *end, uint32_t before, uint32_t n,
	uint32_t limit, uint32_t *ords, uint32_t *tfs)
{
	uint64_t ord = before == UINT32_MAX ? 0 : (uint64_t)before + 1;

	for (uint32_t i = 0; i < n; i++) {
		uint64_t gap;
		uint32_t tf = 0;

		p = lex_get_varint64(p, end, &gap);
		if (p && (gap & 1)) {
			p = lex_get_varint(p, end, &tf);
			tf++;
		}
		if (!p || gap >> 1 >= limit || (ord += gap >> 1) >= limit || tf >= LEX_MAX_TF)
			return false;
		ords[i] = (uint32_t)ord++;
		tfs[i] = tf + 1;
	}
	return true;
}

static bool decode_single(const unsigned char *p, const unsigned char *end, uint32_t limit,
	uint32_t *ords, uint32_t *tfs)
{
	p = lex_get_varint(p, end, ords);
	if (p)
		p = lex_get_varint(p, end, tfs);
	if (!p || ords[0] >= limit || tfs[0] >= LEX_MAX_TF)
		return false;
	tfs[0]++;
	return true;
}

bool lex_short_decode(const struct lex_layout *l, uint32_t limit, uint32_t *ords, uint32_t *tfs)
{
	if (l->tail == 1)
		return decode_single(l->packed, l->end, limit, ords, tfs);
	return lex_tail_decode(l->packed, l->end, UINT32_MAX, l->tail, limit, ords, tfs);
}

bool lex_decoder_init(struct lex_decoder *de, const unsigned char *data, size_t size, uint32_t df,
	uint32_t limit)
{
	if (!lex_layout_make(data, size, df, &de->layout))
		return false;
	de->at = de->layout.packed;
	de->block = 0;
	de->before = UINT32_MAX;
	de->limit = limit;
	de->count = 0;
	return true;
}

static bool decode_next(struct lex_decoder *de)
{
	const struct lex_layout *l = &de->layout;
	uint32_t size;

	if (l->full == 0) {
		de->count = l->tail;
		return lex_short_decode(l, de->limit, de->ords, de->tfs);
	}
	if (de->block == l->full) {
		de->count = l->tail;
		return lex_tail_decode(de->at, l->end, de->before, l->tail, de->limit, de->ords,
			de->tfs);
	}
	if (!lex_layout_block_size(l, de->block, &size) || size > (size_t)(l->end - de->at) ||
		!lex_block_ords(l, de->block, de->at, de->before, de->ords))
		return false;
	lex_block_tfs(l, de->block, de->at, de->tfs);
	de->at += size;
	de->count = LEX_BLOCK;
	de->before = de->ords[LEX_BLOCK - 1];
	return de->before < de->limit;
}

bool lex_decoder_next(struct lex_decoder *de, bool *ret_damaged)
{
	if (de->block == de->layout.blocks)
		return false;
	if (!decode_next(de)) {
		*ret_damaged = true;
		return false;
	}
	de->block++;
	return true;
}
