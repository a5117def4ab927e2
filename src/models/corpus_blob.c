/*
 * corpus_blob.c: a fit as bytes, little endian:
 *
 *   8 bytes   "RCPDLSA" and a NUL
 *   16 bytes  CORPUS_REVISION, padded with NULs
 *   u32 dimensions, u32 buckets, u32 rank, u32 zero, u64 texts
 *   u16 idf of each bucket      (steps of 1 / CORPUS_IDF_UNIT)
 *   f32 scale of each bucket    0..1
 *   i8  projection, a row a bucket; value = scale times it
 *   32 bytes  SHA-256 of all before
 *
 * About 17 MB. The checksum finds damage; a hostile blob may have a right one, and does
 * no more harm than give bad vectors.
 */
#include "models/corpus_private.h"
#include "util/crypto.h"
#include "util/mem.h"

#define MAGIC "RCPDLSA"
#define MAGIC_SIZE 8
#define REVISION_SIZE 16
#define HEADER (MAGIC_SIZE + REVISION_SIZE + 4 * 4 + 8)
#define IDF_AT HEADER
#define SCALE_AT (IDF_AT + CORPUS_BUCKETS * 2)
#define PROJECTION_AT (SCALE_AT + CORPUS_BUCKETS * 4)
#define SUM_AT (PROJECTION_AT + CORPUS_BUCKETS * CORPUS_DIMENSION)
#define BLOB_SIZE (SUM_AT + CRYPTO_SHA256_LEN)

_Static_assert(sizeof(CORPUS_REVISION) <= REVISION_SIZE, "the revision has its field");

static void put(unsigned char *p, uint64_t v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		p[i] = (unsigned char)(v >> (8 * i));
}

static uint64_t get(const unsigned char *p, size_t n)
{
	uint64_t v = 0;

	for (size_t i = 0; i < n; i++)
		v |= (uint64_t)p[i] << (8 * i);
	return v;
}

static void put_header(unsigned char *p)
{
	memset(p, 0, HEADER);
	memcpy(p, MAGIC, sizeof(MAGIC));
	memcpy(p + MAGIC_SIZE, CORPUS_REVISION, sizeof(CORPUS_REVISION));
	p += MAGIC_SIZE + REVISION_SIZE;
	put(p, CORPUS_DIMENSION, 4);
	put(p + 4, CORPUS_BUCKETS, 4);
}

enum status corpus_blob_write(const struct corpus_fitted *f, struct strbuf *blob, struct error *e)
{
	unsigned char *p;

	if (!strbuf_grow(blob, BLOB_SIZE))
		return error_set(e, ST_NOMEM, "out of memory");
	p = mem_alloc(BLOB_SIZE);
	if (!p)
		return error_set(e, ST_NOMEM, "out of memory");
	put_header(p);
	put(p + MAGIC_SIZE + REVISION_SIZE + 8, f->rank, 4);
	put(p + MAGIC_SIZE + REVISION_SIZE + 16, f->texts, 8);
	for (size_t b = 0; b < CORPUS_BUCKETS; b++) {
		uint32_t bits;

		memcpy(&bits, &f->scale[b], sizeof(bits));
		put(p + IDF_AT + 2 * b, f->idf[b], 2);
		put(p + SCALE_AT + 4 * b, bits, 4);
	}
	memcpy(p + PROJECTION_AT, f->projection, sizeof(f->projection));
	if (crypto_sha256(p, SUM_AT, p + SUM_AT)) {
		mem_free(p);
		return error_set(e, ST_INTERNAL, "cannot make a checksum");
	}
	strbuf_add(blob, p, BLOB_SIZE);
	mem_free(p);
	return ST_OK;
}

static enum status check_frame(struct bytes blob, struct error *e)
{
	const unsigned char *p = (const unsigned char *)blob.data;
	unsigned char header[HEADER], sum[CRYPTO_SHA256_LEN];
	size_t fixed = MAGIC_SIZE + REVISION_SIZE + 8;

	put_header(header);
	if (blob.len < HEADER || memcmp(p, header, fixed) != 0)
		return error_set(e, ST_INVALID, "not a fit of " CORPUS_REVISION);
	if (blob.len != BLOB_SIZE)
		return error_set(e, ST_INVALID, "a fit of the wrong size");
	if (crypto_sha256(p, SUM_AT, sum) || memcmp(sum, p + SUM_AT, sizeof(sum)) != 0)
		return error_set(e, ST_INVALID, "a damaged fit");
	return ST_OK;
}

enum status corpus_blob_read(struct bytes blob, struct corpus_fitted *f, struct error *e)
{
	const unsigned char *p = (const unsigned char *)blob.data;
	enum status st = check_frame(blob, e);

	if (st)
		return st;
	f->rank = (uint32_t)get(p + MAGIC_SIZE + REVISION_SIZE + 8, 4);
	f->texts = get(p + MAGIC_SIZE + REVISION_SIZE + 16, 8);
	for (size_t b = 0; b < CORPUS_BUCKETS; b++) {
		uint32_t bits = (uint32_t)get(p + SCALE_AT + 4 * b, 4);

		f->idf[b] = (uint16_t)get(p + IDF_AT + 2 * b, 2);
		memcpy(&f->scale[b], &bits, sizeof(bits));
		if (!(f->scale[b] >= 0 && f->scale[b] <= 1))
			return error_set(e, ST_INVALID, "a fit with a value out of range");
	}
	memcpy(f->projection, p + PROJECTION_AT, sizeof(f->projection));
	return ST_OK;
}
