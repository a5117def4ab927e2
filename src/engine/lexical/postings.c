/* postings.c: posting lists to bytes and back. The format is drawn in postings.h. */
#include "engine/lexical/postings.h"

#define PATCHED 0x80U
#define PATCH_ROOM 127 /* bytes of patches, of gaps and tfs each: both fit a byte */

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

/* Appends the values packed; their patches wait. Returns the width byte. */
static unsigned char put_values(struct lex_encoder *en, uint32_t *values)
{
	unsigned char bytes[32 * LEX_BLOCK / 8];
	size_t before = en->patches.len;
	unsigned width = lex_patch_choose(values, PATCH_ROOM, &en->patches);

	lex_pack(values, width, bytes);
	strbuf_add(&en->blocks, bytes, lex_packed_size(width));
	return (unsigned char)(width | (en->patches.len > before ? PATCHED : 0));
}

static void put_block(struct lex_encoder *en)
{
	uint32_t gaps[LEX_BLOCK], before = en->before;
	unsigned char sizes[LEX_SIZES_BYTES];

	put_summary(en);
	for (unsigned i = 0; i < LEX_BLOCK; i++) {
		gaps[i] = en->ords[i] - before - 1;
		before = en->ords[i];
		en->tfs[i]--;
	}
	strbuf_reset(&en->patches);
	sizes[0] = put_values(en, gaps);
	sizes[1] = put_values(en, en->tfs);
	sizes[2] = (unsigned char)en->patches.len;
	strbuf_add(&en->blocks, en->patches.data, en->patches.len);
	strbuf_add(&en->sizes, sizes, sizeof(sizes));
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
		if (size < (size_t)l.blocks * (4 + LEX_BOUND_BYTES) + (size_t)l.full * LEX_SIZES_BYTES)
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

/* What a block's three bytes say. */
struct sizes {
	unsigned gaps, tfs;           /* widths */
	bool gaps_patched, tfs_patched;
	unsigned patches;             /* bytes */
};

static struct sizes sizes_of(const struct lex_layout *l, uint32_t block)
{
	const unsigned char *s = l->sizes + (size_t)block * LEX_SIZES_BYTES;

	return (struct sizes){ s[0] & ~PATCHED, s[1] & ~PATCHED, s[0] & PATCHED, s[1] & PATCHED,
		s[2] };
}

bool lex_layout_block_size(const struct lex_layout *l, uint32_t block, uint32_t *ret)
{
	struct sizes s = sizes_of(l, block);

	if (s.gaps > 32 || s.tfs > LEX_TF_BITS)
		return false;
	*ret = (uint32_t)(lex_packed_size(s.gaps) + lex_packed_size(s.tfs) + s.patches);
	return true;
}

static const unsigned char *patches_at(const struct sizes *s, const unsigned char *at)
{
	return at + lex_packed_size(s->gaps) + lex_packed_size(s->tfs);
}

bool lex_block_ords(const struct lex_layout *l, uint32_t block, const unsigned char *at,
	uint32_t before, uint32_t ords[LEX_BLOCK])
{
	struct sizes s = sizes_of(l, block);
	const unsigned char *patches = patches_at(&s, at);
	bool good;

	if (s.gaps_patched) {
		lex_unpack(at, s.gaps, ords);
		good = lex_patch_apply(ords, s.gaps, patches, patches + s.patches) &&
			lex_sum_gaps(before, ords);
	} else {
		good = lex_unpack_gaps(at, s.gaps, before, ords);
	}
	return good && ords[LEX_BLOCK - 1] == lex_get32(l->lasts + (size_t)block * 4);
}

bool lex_block_tfs(const struct lex_layout *l, uint32_t block, const unsigned char *at,
	uint32_t tfs[LEX_BLOCK])
{
	struct sizes s = sizes_of(l, block);
	const unsigned char *p = patches_at(&s, at), *end = p + s.patches;
	uint32_t skipped[LEX_BLOCK];

	lex_unpack(at + lex_packed_size(s.gaps), s.tfs, tfs);
	if (s.tfs_patched) {
		if (s.gaps_patched)
			p = lex_patch_apply(skipped, 0, p, end);
		if (!p || !lex_patch_apply(tfs, s.tfs, p, end))
			return false;
		for (unsigned i = 0; i < LEX_BLOCK; i++)
			tfs[i] &= LEX_MAX_TF - 1;
	}
	for (unsigned i = 0; i < LEX_BLOCK; i++)
		tfs[i]++;
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
