/* postings.c: posting lists to bytes and back. The format is drawn in postings.h. */
#include "engine/lexical/postings.h"

#define PATCH_ROOM 255 /* their size is a byte */

void lex_encoder_init(struct lex_encoder *en, const uint32_t *lengths, double average)
{
	memset(en, 0, sizeof(*en));
	en->lengths = lengths;
	en->average = average;
	en->before = UINT32_MAX;
	strbuf_init(&en->lasts);
	strbuf_init(&en->bounds);
	strbuf_init(&en->sizes);
	strbuf_init(&en->blocks);
	strbuf_init(&en->patches);
}

void lex_encoder_release(struct lex_encoder *en)
{
	strbuf_release(&en->lasts);
	strbuf_release(&en->bounds);
	strbuf_release(&en->sizes);
	strbuf_release(&en->blocks);
	strbuf_release(&en->patches);
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
	uint32_t gaps[LEX_BLOCK], all = 0, before = en->before;
	unsigned char bytes[2 * 32 * LEX_BLOCK / 8], sizes[LEX_SIZES_BYTES];
	unsigned width;

	put_summary(en);
	for (unsigned i = 0; i < LEX_BLOCK; i++) {
		gaps[i] = en->ords[i] - before - 1;
		all |= gaps[i];
		before = en->ords[i];
		en->tfs[i]--;
	}
	strbuf_reset(&en->patches);
	width = lex_patch_choose(en->tfs, PATCH_ROOM, &en->patches);
	sizes[0] = (unsigned char)lex_width(all);
	sizes[1] = (unsigned char)width;
	sizes[2] = (unsigned char)en->patches.len;
	lex_pack(gaps, sizes[0], bytes);
	lex_pack(en->tfs, width, bytes + lex_packed_size(sizes[0]));
	strbuf_add(&en->sizes, sizes, sizeof(sizes));
	strbuf_add(&en->blocks, bytes, lex_packed_size(sizes[0]) + lex_packed_size(width));
	strbuf_add(&en->blocks, en->patches.data, en->patches.len);
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
	uint32_t gaps[LEX_BLOCK], before = en->before;
	uint64_t bits = 0;
	unsigned k;

	for (uint32_t i = 0; i < en->used; i++) {
		gaps[i] = en->ords[i] - before - 1;
		before = en->ords[i];
	}
	k = lex_rice_choose(gaps, en->used);
	strbuf_addc(out, (char)k);
	for (uint32_t i = 0; i < en->used; i++) {
		lex_put_rice(out, &bits, k, gaps[i]);
		lex_put_rice(out, &bits, 0, en->tfs[i] - 1);
	}
}

static void put_single(const struct lex_encoder *en, struct strbuf *out)
{
	lex_put_varint(out, (uint64_t)en->ords[0] << 1 | (en->tfs[0] > 1));
	if (en->tfs[0] > 1)
		lex_put_varint(out, en->tfs[0] - 2);
}

static void reset(struct lex_encoder *en)
{
	strbuf_reset(&en->lasts);
	strbuf_reset(&en->bounds);
	strbuf_reset(&en->sizes);
	strbuf_reset(&en->patches);
	strbuf_reset(&en->blocks);
	en->df = en->used = 0;
	en->before = UINT32_MAX;
}

bool lex_encoder_finish(struct lex_encoder *en, struct strbuf *out, uint32_t *ret_df)
{
	uint32_t df = en->df;
	bool ok;

	if (df == 1) {
		put_single(en, out);
	} else if (df < LEX_BLOCK) {
		if (df > 0)
			put_tail(en, out);
	} else {
		if (en->used > 0)
			put_summary(en);
		strbuf_add(out, en->lasts.data, en->lasts.len);
		strbuf_add(out, en->bounds.data, en->bounds.len);
		strbuf_add(out, en->sizes.data, en->sizes.len);
		strbuf_add(out, en->blocks.data, en->blocks.len);
		if (en->used > 0)
			put_tail(en, out);
	}
	ok = strbuf_ok(out) && strbuf_ok(&en->lasts) && strbuf_ok(&en->bounds) &&
		strbuf_ok(&en->sizes) && strbuf_ok(&en->blocks) && strbuf_ok(&en->patches);
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
		if (size <
			(size_t)l.blocks * (4 + LEX_BOUND_BYTES) + (size_t)l.full * LEX_SIZES_BYTES)
			return false;
		l.lasts = data;
		l.bounds = data + (size_t)l.blocks * 4;
		l.sizes = l.bounds + (size_t)l.blocks * LEX_BOUND_BYTES;
		l.packed = l.sizes + (size_t)l.full * LEX_SIZES_BYTES;
	} else {
		l.blocks = 1;
	}
	*ret = l;
	return df > 0;
}

static const unsigned char *sizes_of(const struct lex_layout *l, uint32_t block)
{
	return l->sizes + (size_t)block * LEX_SIZES_BYTES;
}

bool lex_layout_block_size(const struct lex_layout *l, uint32_t block, uint32_t *ret)
{
	const unsigned char *s = sizes_of(l, block);

	if (s[0] > 32 || s[1] > LEX_TF_BITS)
		return false;
	*ret = (uint32_t)(lex_packed_size(s[0]) + lex_packed_size(s[1]) + s[2]);
	return true;
}

bool lex_block_ords(const struct lex_layout *l, uint32_t block, const unsigned char *at,
	uint32_t before, uint32_t ords[LEX_BLOCK])
{
	return lex_unpack_gaps(at, sizes_of(l, block)[0], before, ords) &&
		ords[LEX_BLOCK - 1] == lex_get32(l->lasts + (size_t)block * 4);
}

bool lex_block_tfs(const struct lex_layout *l, uint32_t block, const unsigned char *at,
	uint32_t tfs[LEX_BLOCK])
{
	const unsigned char *s = sizes_of(l, block), *packed = at + lex_packed_size(s[0]);
	const unsigned char *patches = packed + lex_packed_size(s[1]);

	lex_unpack(packed, s[1], tfs);
	if (s[2] > 0 && !lex_patch_apply(tfs, s[1], patches, patches + s[2]))
		return false;
	for (unsigned i = 0; i < LEX_BLOCK; i++)
		tfs[i] = (tfs[i] & (LEX_MAX_TF - 1)) + 1;
	return true;
}

bool lex_tail_decode(const unsigned char *p, const unsigned char *end, uint32_t before, uint32_t n,
	uint32_t limit, uint32_t *ords, uint32_t *tfs)
{
	uint64_t ord = before == UINT32_MAX ? 0 : (uint64_t)before + 1;
	struct lex_bits bits;
	unsigned k;

	if (p == end || *p > 31)
		return n == 0;
	k = *p++;
	bits = (struct lex_bits){ p, 0, (uint64_t)(end - p) * 8 };
	for (uint32_t i = 0; i < n; i++) {
		uint32_t gap, tf;

		if (!lex_get_rice(&bits, k, &gap) || !lex_get_rice(&bits, 0, &tf))
			return false;
		ord += gap;
		if (ord >= limit || tf >= LEX_MAX_TF)
			return false;
		ords[i] = (uint32_t)ord++;
		tfs[i] = tf + 1;
	}
	return true;
}

static bool decode_single(const unsigned char *p, const unsigned char *end, uint32_t limit,
	uint32_t *ords, uint32_t *tfs)
{
	uint64_t ord;
	uint32_t tf = 0;

	p = lex_get_varint64(p, end, &ord);
	if (p && (ord & 1)) {
		p = lex_get_varint(p, end, &tf);
		tf++;
	}
	if (!p || ord >> 1 >= limit || tf >= LEX_MAX_TF)
		return false;
	ords[0] = (uint32_t)(ord >> 1);
	tfs[0] = tf + 1;
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
	if (!lex_block_tfs(l, de->block, de->at, de->tfs))
		return false;
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
