/*
 * tokenizer_charsmap.c: the normaliser that a SentencePiece model carries ("Precompiled"):
 * a double array (Aoe 1989) of byte strings, whose values are places in a list of texts.
 * As the reference does it: a cluster of less than six bytes is replaced whole by what
 * its shortest start becomes, any other one character by character.
 */
#include "models/tokenizer_private.h"
#include "text/unicode.h"
#include "util/utf8.h"

static uint32_t offset_of(uint32_t unit)
{
	return (unit >> 10) << ((unit & (1u << 9)) >> 6);
}

/* The value of the shortest start of p[0..n) that the map has; false: none. A map that
 * leads out of its array has none either. */
static bool lookup(const struct charsmap *m, const char *p, size_t n, struct bytes *ret)
{
	uint32_t at = 0, unit;
	size_t start;

	if (m->n == 0)
		return false;
	at ^= offset_of(m->units[0]);
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)p[i];

		if (c == 0)
			return false;
		at ^= c;
		if (at >= m->n)
			return false;
		unit = m->units[at];
		if ((unit & (1u << 31 | 0xFF)) != c)
			return false;
		at ^= offset_of(unit);
		if (at >= m->n)
			return false;
		if (!(unit >> 8 & 1))
			continue;
		start = m->units[at] & 0x7FFFFFFF;
		if (start > m->texts.len)
			return false;
		*ret = (struct bytes){ m->texts.data + start, 0 };
		while (start + ret->len < m->texts.len && ret->data[ret->len])
			ret->len++;
		return utf8_valid(ret->data, ret->len);
	}
	return false;
}

/* Puts the new text for the old one; which of its characters count as additions is as
 * the reference has it. */
static void put(struct rewrite *r, const char *old, size_t old_len, struct bytes new)
{
	size_t olds = utf8_count(old, old_len), news = utf8_count(new.data, new.len), len, k = 0;

	for (size_t i = 0; i < new.len; i += len, k++) {
		int change = 0;

		if (news > olds && k >= olds)
			change = 1;
		else if (news < olds && k + 1 == news)
			change = -(int)(olds - news);
		(void)rewrite_emit(r, utf8_decode(new.data + i, new.len - i, &len), change);
	}
	/* Nothing new: the character before takes the old ones in, if there is one. */
	for (size_t i = 0; news == 0 && r->out->len && i < olds && r->at < r->in.len; i++) {
		(void)utf8_decode(r->in.data + r->at, r->in.len - r->at, &len);
		r->at += len;
	}
}

bool normal_charsmap(const struct charsmap *m, struct rewrite *r)
{
	size_t cluster, len;

	for (size_t i = 0; i < r->in.len; i += cluster) {
		const char *p = r->in.data + i;
		struct bytes new;

		cluster = unicode_grapheme(p, r->in.len - i);
		if (cluster < 6 && lookup(m, p, cluster, &new)) {
			put(r, p, cluster, new);
			continue;
		}
		for (size_t j = 0; j < cluster; j += len) {
			uint32_t cp = utf8_decode(p + j, cluster - j, &len);

			if (lookup(m, p + j, len, &new))
				put(r, p + j, len, new);
			else
				(void)rewrite_emit(r, cp, 0);
		}
		if (!strbuf_ok(r->out))
			return false;
	}
	return strbuf_ok(r->out);
}

enum status charsmap_read(struct bytes blob, struct charsmap *ret, struct error *e)
{
	uint32_t size = 0;

	/* Little-endian in the file, as on every machine that we run on. */
	if (blob.len >= 4)
		memcpy(&size, blob.data, 4);
	if (blob.len < 4 || size > blob.len - 4 || size < 4)
		return error_set(e, ST_INVALID, "precompiled_charsmap: the map is cut off");
	ret->n = size / 4;
	ret->units = (const uint32_t *)(const void *)(blob.data + 4);
	ret->texts = (struct bytes){ blob.data + 4 + ret->n * 4, blob.len - 4 - ret->n * 4 };
	if (!utf8_valid(ret->texts.data, ret->texts.len))
		return error_set(e, ST_INVALID, "precompiled_charsmap: its texts are no UTF-8");
	return ST_OK;
}
