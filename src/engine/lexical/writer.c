/*
 * writer.c: writing a segment file: a stream of sections through one buffer of
 * pieces, which also feeds the checksums, and the header last of all. What has to
 * wait for its section (groups, dictionary) waits in memory.
 */
#include "engine/lexical/writer.h"

#include <errno.h>
#include <unistd.h>

#include "engine/lexical/files.h"
#include "engine/lexical/header.h"
#include "util/fault.h"
#include "util/mem.h"

static enum status no_memory(struct error *e)
{
	return error_set(e, ST_NOMEM, "out of memory");
}

static enum status write_raw(struct lex_writer *w, const void *p, size_t n, struct error *e)
{
	if (fault_hit("lexical.segment.write", NULL, NULL)) {
		errno = EIO;
		return lex_file_error(e, "write", w->tmp);
	}
	return lex_file_write(w->fd, w->tmp, p, n, e);
}

enum status lex_writer_init(struct lex_writer *w, const char *dir, uint64_t id, uint32_t max_chunks,
	struct error *e)
{
	static const unsigned char nothing[LEX_HEADER_BYTES];
	struct strbuf tmp = STRBUF_INIT;
	enum status st;

	memset(w, 0, sizeof(*w));
	w->fd = -1;
	w->id = id;
	w->dir = dir;
	w->path = lex_segment_path(dir, id);
	if (w->path)
		strbuf_addf(&tmp, "%s.tmp", w->path);
	w->tmp = strbuf_ok(&tmp) ? strbuf_detach(&tmp, NULL) : NULL;
	strbuf_release(&tmp);
	w->lengths = mem_array(max_chunks, sizeof(*w->lengths));
	w->max_chunks = max_chunks;
	w->at = LEX_HEADER_BYTES;
	w->section_at = w->at;
	lex_encoder_init(&w->encoder, NULL, 1);
	if (!w->path || !w->tmp || !w->lengths)
		st = no_memory(e);
	else
		st = lex_file_create(w->tmp, &w->fd, e);
	if (!st)
		st = write_raw(w, nothing, sizeof(nothing), e);
	if (st)
		lex_writer_release(w);
	return st;
}

void lex_writer_release(struct lex_writer *w)
{
	if (w->fd >= 0) {
		close(w->fd);
		w->fd = -1;
		if (w->tmp)
			unlink(w->tmp);
	}
	mem_free(w->path);
	mem_free(w->tmp);
	mem_free(w->lengths);
	strbuf_release(&w->out);
	strbuf_release(&w->group_ids);
	strbuf_release(&w->groups);
	strbuf_release(&w->last_term);
	strbuf_release(&w->dictionary);
	strbuf_release(&w->prefixes);
	strbuf_release(&w->offsets);
	strbuf_release(&w->list);
	lex_encoder_release(&w->encoder);
	w->path = w->tmp = NULL;
	w->lengths = NULL;
}

/* Writes the whole pieces of what waits in the buffer; all of it when `last`. */
static enum status flush(struct lex_writer *w, bool last, struct error *e)
{
	size_t done = 0;
	enum status st = ST_OK;

	if (!strbuf_ok(&w->out))
		return no_memory(e);
	while (w->out.len - done >= LEX_PIECE || (last && w->out.len > done)) {
		size_t left = w->out.len - done, n = left < LEX_PIECE ? left : LEX_PIECE;

		w->section_hash = lex_checksum(w->out.data + done, n, w->section_hash);
		done += n;
	}
	if (done > 0)
		st = write_raw(w, w->out.data, done, e);
	if (done > 0 && done < w->out.len)
		memmove(w->out.data, w->out.data + done, w->out.len - done);
	w->out.len -= done;
	w->at += done;
	return st;
}

/* Ends the section being written and starts `next`, on a multiple of LEX_ALIGN. */
static enum status end_section(struct lex_writer *w, enum lex_section s, struct error *e)
{
	static const unsigned char nothing[LEX_ALIGN];
	enum status st = flush(w, true, e);
	size_t pad;

	if (st)
		return st;
	w->section[s].at = w->section_at;
	w->section[s].n = w->at - w->section_at;
	w->section[s].checksum = w->section_hash;
	pad = (LEX_ALIGN - w->at % LEX_ALIGN) % LEX_ALIGN;
	st = pad ? write_raw(w, nothing, pad, e) : ST_OK;
	w->at += pad;
	w->section_at = w->at;
	w->section_hash = (uint64_t)s + 1; /* sections are written in their order */
	return st;
}

static enum status put_section(struct lex_writer *w, enum lex_section s, const struct strbuf *sb,
	struct error *e)
{
	if (!strbuf_ok(sb))
		return no_memory(e);
	strbuf_add(&w->out, sb->data, sb->len);
	return end_section(w, s, e);
}

/* ---- chunks ---- */

struct widths {
	unsigned key, no, at, len, row;
};

static struct widths measure(const struct lex_writer *w)
{
	uint64_t key = 0, no = 0, at = 0, len = 0;
	struct widths wd;

	for (uint32_t i = 0; i < w->used; i++) {
		key |= (uint64_t)w->rows[i].key - (uint64_t)w->rows[0].key - i;
		no |= w->rows[i].no;
		at |= w->id_at[i];
		len |= w->rows[i].doc_id.len;
	}
	wd = (struct widths){ lex_width(key), lex_width(no), lex_width(at), lex_width(len), 0 };
	wd.row = wd.key + wd.no + wd.at + wd.len;
	return wd;
}

static void pack_rows(const struct lex_writer *w, struct widths wd, unsigned char *bits)
{
	for (uint32_t i = 0; i < w->used; i++) {
		const struct lex_row *r = &w->rows[i];
		uint64_t bit = (uint64_t)i * wd.row;

		lex_put_bits(bits, bit, wd.key, (uint64_t)r->key - (uint64_t)w->rows[0].key - i);
		lex_put_bits(bits, bit + wd.key, wd.no, r->no);
		lex_put_bits(bits, bit + wd.key + wd.no, wd.at, w->id_at[i]);
		lex_put_bits(bits, bit + wd.key + wd.no + wd.at, wd.len, r->doc_id.len);
	}
}

static enum status put_group(struct lex_writer *w, struct error *e)
{
	unsigned char bits[LEX_GROUP * (64 + 3 * 32) / 8] = { 0 }, head[LEX_GROUP_BYTES];
	struct widths wd = measure(w);

	lex_put64(head, (uint64_t)w->rows[0].key);
	lex_put64(head + 8, w->at + w->out.len - w->section_at);
	lex_put32(head + 16, (uint32_t)w->group_ids.len);
	head[20] = (unsigned char)wd.key;
	head[21] = (unsigned char)wd.no;
	head[22] = (unsigned char)wd.at;
	head[23] = (unsigned char)wd.len;
	pack_rows(w, wd, bits);
	strbuf_add(&w->groups, head, sizeof(head));
	strbuf_add(&w->out, bits, ((size_t)w->used * wd.row + 7) / 8);
	strbuf_add(&w->out, w->group_ids.data, w->group_ids.len);
	if (!strbuf_ok(&w->group_ids) || !strbuf_ok(&w->groups))
		return no_memory(e);
	w->used = 0;
	strbuf_reset(&w->group_ids);
	return flush(w, false, e);
}

/* Where the id is among the group's; the one before may be the same. */
static uint32_t place_id(struct lex_writer *w, struct bytes id)
{
	uint32_t before = w->used > 0 ? w->used - 1 : 0;

	if (w->used > 0 && w->rows[before].doc_id.len == id.len && w->group_ids.data &&
		id.len > 0 && memcmp(w->group_ids.data + w->id_at[before], id.data, id.len) == 0)
		return w->id_at[before];
	strbuf_add(&w->group_ids, id.data, id.len);
	return (uint32_t)(w->group_ids.len - id.len);
}

enum status lex_writer_chunk(struct lex_writer *w, const struct lex_row *row, uint32_t length,
	struct error *e)
{
	if (w->chunks == w->max_chunks || row->doc_id.len > UINT16_MAX ||
		(w->chunks > 0 && row->key <= w->last_key))
		return error_set(e, ST_INTERNAL, "a segment's chunks are out of order");
	if (w->chunks == 0)
		w->first_key = row->key;
	w->last_key = row->key;
	w->lengths[w->chunks++] = length;
	w->total_length += length;
	if (length > w->longest)
		w->longest = length;
	w->id_at[w->used] = place_id(w, row->doc_id);
	if (!strbuf_ok(&w->group_ids))
		return no_memory(e);
	w->rows[w->used++] = *row; /* only its length is used of the id */
	return w->used == LEX_GROUP ? put_group(w, e) : ST_OK;
}

static enum status put_lengths(struct lex_writer *w, struct error *e)
{
	bool wide = w->longest > UINT16_MAX;
	enum status st = ST_OK;

	for (uint32_t i = 0; !st && i < w->chunks; i++) {
		unsigned char b[4];

		lex_put32(b, w->lengths[i]);
		strbuf_add(&w->out, b, wide ? 4 : 2);
		if (i % 4096 == 0)
			st = flush(w, false, e);
	}
	return st ? st : end_section(w, LEX_LENGTHS, e);
}

/* ---- terms ---- */

enum status lex_writer_begin_terms(struct lex_writer *w, struct error *e)
{
	static const unsigned char slack[LEX_DOCS_SLACK];
	enum status st = w->used > 0 ? put_group(w, e) : ST_OK;

	if (st)
		return st;
	strbuf_add(&w->out, slack, sizeof(slack));
	st = end_section(w, LEX_DOCS, e);
	if (!st)
		st = put_lengths(w, e);
	w->encoder.lengths = w->lengths;
	w->encoder.average = w->chunks ? (double)w->total_length / w->chunks : 1;
	return st;
}

static size_t shared_bytes(struct bytes a, struct bytes b)
{
	size_t n = a.len < b.len ? a.len : b.len, i = 0;

	while (i < n && a.data[i] == b.data[i])
		i++;
	return i;
}

static void begin_block(struct lex_writer *w, struct bytes term)
{
	unsigned char number[8];

	lex_put64(number, lex_term_prefix(term));
	strbuf_add(&w->prefixes, number, sizeof(number));
	lex_put64(number, w->dictionary.len);
	strbuf_add(&w->offsets, number, sizeof(number));
	lex_put_varint(&w->dictionary, w->list_at);
	strbuf_reset(&w->last_term);
}

static void put_lengths_of(struct strbuf *out, size_t shared, size_t own)
{
	if (shared < 16 && own < 16) { /* own is never 0: terms differ and none is empty */
		strbuf_addc(out, (char)(shared << 4 | own));
		return;
	}
	strbuf_addc(out, 0);
	lex_put_varint(out, shared);
	lex_put_varint(out, own);
}

static void put_entry(struct lex_writer *w, struct bytes term, uint32_t df)
{
	struct bytes before = { w->last_term.data, w->last_term.len };
	size_t shared;

	if (w->terms % LEX_TERMS_BLOCK == 0) {
		begin_block(w, term);
		before = BYTES_NONE;
	}
	shared = shared_bytes(before, term);
	put_lengths_of(&w->dictionary, shared, term.len - shared);
	strbuf_add(&w->dictionary, term.data + shared, term.len - shared);
	lex_put_varint(&w->dictionary, df);
	strbuf_reset(&w->last_term);
	strbuf_add(&w->last_term, term.data, term.len);
	w->terms++;
}

enum status lex_writer_term(struct lex_writer *w, struct bytes term, struct error *e)
{
	uint32_t df;

	strbuf_reset(&w->list);
	if (!lex_encoder_finish(&w->encoder, &w->list, &df))
		return no_memory(e);
	if (df == 0)
		return ST_OK;
	put_entry(w, term, df);
	if (df == 1) {
		strbuf_add(&w->dictionary, w->list.data, w->list.len);
	} else {
		lex_put_varint(&w->dictionary, w->list.len);
		strbuf_add(&w->out, w->list.data, w->list.len);
		w->list_at += w->list.len;
	}
	if (!strbuf_ok(&w->dictionary) || !strbuf_ok(&w->last_term))
		return no_memory(e);
	return w->out.len >= 4 * LEX_PIECE ? flush(w, false, e) : ST_OK;
}

static void fill_header(const struct lex_writer *w, unsigned char h[LEX_HEADER_BYTES])
{
	memset(h, 0, LEX_HEADER_BYTES);
	memcpy(h, LEX_MAGIC, sizeof(LEX_MAGIC)); /* its NUL is written over next */
	lex_put32(h + LEX_H_FORMAT, LEX_FORMAT);
	lex_put32(h + LEX_H_WIDE, w->longest > UINT16_MAX);
	lex_put32(h + LEX_H_CHUNKS, w->chunks);
	lex_put32(h + LEX_H_TERMS, w->terms);
	lex_put64(h + LEX_H_ID, w->id);
	lex_put64(h + LEX_H_SIZE, w->at);
	lex_put64(h + LEX_H_LENGTH, w->total_length);
	lex_put64(h + LEX_H_FIRST, (uint64_t)w->first_key);
	lex_put64(h + LEX_H_LAST, (uint64_t)w->last_key);
	for (size_t i = 0; i < LEX_SECTIONS; i++) {
		unsigned char *s = h + LEX_H_SECTIONS + i * LEX_H_SECTION_BYTES;

		lex_put64(s, w->section[i].at);
		lex_put64(s + 8, w->section[i].n);
		lex_put64(s + 16, w->section[i].checksum);
	}
	lex_put64(h + LEX_H_CHECKSUM, lex_checksum(h, LEX_H_CHECKSUM, LEX_FORMAT));
}

static enum status put_header(struct lex_writer *w, struct error *e)
{
	unsigned char header[LEX_HEADER_BYTES];

	fill_header(w, header);
	if (lseek(w->fd, 0, SEEK_SET) != 0)
		return lex_file_error(e, "write", w->tmp);
	return write_raw(w, header, sizeof(header), e);
}

enum status lex_writer_finish(struct lex_writer *w, struct error *e)
{
	enum status st = end_section(w, LEX_POSTINGS, e);

	if (!st)
		st = put_section(w, LEX_TERMS, &w->dictionary, e);
	if (!st)
		st = put_section(w, LEX_PREFIXES, &w->prefixes, e);
	if (!st)
		st = put_section(w, LEX_OFFSETS, &w->offsets, e);
	if (!st)
		st = put_section(w, LEX_GROUPS, &w->groups, e);
	if (!st)
		st = put_header(w, e);
	if (!st && fault_hit("lexical.segment.rename", NULL, NULL)) {
		errno = EIO;
		st = lex_file_error(e, "replace a file of", w->path);
	}
	if (!st)
		st = lex_file_publish(w->fd, w->tmp, w->path, w->dir, e);
	if (!st) {
		close(w->fd); /* synced already */
		w->fd = -1;
	}
	return st;
}
