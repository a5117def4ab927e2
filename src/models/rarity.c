/*
 * rarity.c: document frequencies of a table's tokens, and their bytes, little endian:
 *
 *   8 bytes  "RCPDTDF" and a NUL
 *   u32 vocabulary, u32 texts, u32 df of each token
 *   32 bytes SHA-256 of all before
 */
#include "models/rarity.h"

#include <math.h>

#include "util/crypto.h"
#include "util/mem.h"
#include "util/utf8.h"

#define MAGIC "RCPDTDF"
#define HEADER 16
#define MAX_TEXT 32768 /* bytes of a text that count: what a reranker reads */

double rarity_idf(uint64_t texts, uint64_t df)
{
	double n = (double)(texts > df ? texts : df), d = (double)df;

	return log(1 + (n - d + 0.5) / (d + 0.5));
}

void rarity_release(struct rarity *r)
{
	mem_free(r->df);
	mem_free(r->seen);
	*r = (struct rarity){ .vocabulary = 0 };
}

static enum status make_room(struct rarity *r, const struct static_model *m, struct error *e)
{
	if (r->df)
		return ST_OK;
	r->vocabulary = static_model_vocabulary(m);
	r->df = mem_array(r->vocabulary, sizeof(*r->df));
	r->seen = mem_array(r->vocabulary, sizeof(*r->seen));
	if (r->df && r->seen)
		return ST_OK;
	rarity_release(r);
	return error_set(e, ST_NOMEM, "out of memory");
}

enum status rarity_count(struct rarity *r, const struct static_model *m, struct bytes text,
	struct error *e)
{
	struct arena arena;
	uint32_t *ids;
	size_t n;
	enum status st = make_room(r, m, e);

	if (st)
		return st;
	if (text.len > MAX_TEXT)
		text.len = utf8_floor(text.data, text.len, MAX_TEXT);
	arena_init(&arena, 0);
	st = tokenizer_encode(static_model_tokenizer(m), text, &arena, &ids, &n, e);
	if (!st)
		r->texts++;
	for (size_t i = 0; !st && i < n; i++) {
		if (ids[i] >= r->vocabulary || r->seen[ids[i]] == (uint32_t)r->texts)
			continue;
		r->seen[ids[i]] = (uint32_t)r->texts;
		r->df[ids[i]]++;
	}
	arena_release(&arena);
	return st;
}

static void put32(struct strbuf *sb, uint32_t v)
{
	unsigned char b[4] = { (unsigned char)v, (unsigned char)(v >> 8), (unsigned char)(v >> 16),
		(unsigned char)(v >> 24) };

	strbuf_add(sb, b, sizeof(b));
}

static uint32_t get32(const char *p)
{
	const unsigned char *b = (const unsigned char *)p;

	return b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

bool rarity_write(const struct rarity *r, struct strbuf *blob)
{
	unsigned char sum[CRYPTO_SHA256_LEN];
	size_t start = blob->len;

	strbuf_add(blob, MAGIC, sizeof(MAGIC));
	put32(blob, (uint32_t)r->vocabulary);
	put32(blob, (uint32_t)r->texts);
	for (size_t i = 0; i < r->vocabulary; i++)
		put32(blob, r->df[i]);
	if (!strbuf_ok(blob) || crypto_sha256(blob->data + start, blob->len - start, sum))
		return false;
	strbuf_add(blob, sum, sizeof(sum));
	return strbuf_ok(blob);
}

static enum status bad(struct error *e)
{
	return error_set(e, ST_INVALID, "the fit is damaged: its tokens");
}

enum status rarity_read(struct rarity *r, const struct static_model *m, struct bytes *blob,
	struct error *e)
{
	unsigned char sum[CRYPTO_SHA256_LEN];
	size_t vocabulary = static_model_vocabulary(m), size = HEADER + 4 * vocabulary;
	const char *p = blob->data;

	*r = (struct rarity){ .vocabulary = vocabulary };
	if (blob->len < size + sizeof(sum) || memcmp(p, MAGIC, sizeof(MAGIC)) != 0 ||
		get32(p + 8) != vocabulary)
		return bad(e);
	if (crypto_sha256(p, size, sum) || memcmp(sum, p + size, sizeof(sum)) != 0)
		return bad(e);
	r->texts = get32(p + 12);
	r->df = mem_array(vocabulary, sizeof(*r->df));
	if (!r->df)
		return error_set(e, ST_NOMEM, "out of memory");
	for (size_t i = 0; i < vocabulary; i++)
		r->df[i] = get32(p + HEADER + 4 * i);
	blob->data += size + sizeof(sum);
	blob->len -= size + sizeof(sum);
	return ST_OK;
}
