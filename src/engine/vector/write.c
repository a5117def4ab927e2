/*
 * write.c: writes rows of some parts, in a given order, into a new segment file. Section
 * after section, each with one pass over the rows; so it needs no memory of its own but
 * for a buffer. The rows were rounded when they came in and are copied as they are.
 */
#include "engine/vector/private.h"

#include <errno.h>
#include <unistd.h>

#include "engine/lexical/files.h"
#include "engine/lexical/pack.h"
#include "util/fault.h"
#include "util/mem.h"

struct writer {
	const struct vectors *vs;
	struct vec_part *const *parts;
	const struct vec_ref *refs;
	size_t n;
	const struct vec_lists *lists;
	const bool *stop;
	struct error *e;

	char *path, *tmp;
	int fd;
	uint64_t at; /* bytes written or in the buffer */
	uint64_t sum;
	size_t filled;
	unsigned char *buffer; /* VEC_PIECE */
	unsigned char header[VEC_HEADER_BYTES];
};

static enum status write_bytes(struct writer *w, const void *p, size_t n)
{
	if (fault_hit("vector.segment.write", NULL, NULL)) {
		errno = EIO;
		return lex_file_error(w->e, "write", w->tmp);
	}
	return lex_file_write(w->fd, w->tmp, p, n, w->e);
}

/* Ends a piece of a section. */
static enum status flush(struct writer *w)
{
	enum status st;

	if (w->filled == 0)
		return ST_OK;
	if (w->stop && __atomic_load_n(w->stop, __ATOMIC_RELAXED))
		return error_set(w->e, ST_CANCELLED, "stopped");
	w->sum = lex_checksum(w->buffer, w->filled, w->sum);
	st = write_bytes(w, w->buffer, w->filled);
	w->filled = 0;
	return st;
}

static enum status put(struct writer *w, const void *p, size_t n)
{
	const unsigned char *in = p;
	enum status st = ST_OK;

	w->at += n;
	while (!st && n > 0) {
		size_t room = VEC_PIECE - w->filled, m = n < room ? n : room;

		memcpy(w->buffer + w->filled, in, m);
		w->filled += m;
		in += m;
		n -= m;
		if (w->filled == VEC_PIECE)
			st = flush(w);
	}
	return st;
}

/* What a section holds of one row. */
static enum status put_row(struct writer *w, enum vec_section section, struct vec_ref ref)
{
	const struct vec_part *p = w->parts[ref.part];
	struct vec_run run = vec_part_run(p, ref.row, ref.row + 1);

	switch (section) {
	case VEC_KEYS:
		return put(w, run.keys, sizeof(*run.keys));
	case VEC_SCALES:
		return put(w, run.scales, sizeof(*run.scales));
	case VEC_SMALL:
		return put(w, run.small, vec_small_bytes(p->dimension));
	default:
		return put(w, run.wide, vec_wide_bytes(p->dimension));
	}
}

struct place {
	int64_t key;
	uint32_t row;
};

static int compare_places(const void *a, const void *b)
{
	const struct place *x = a, *y = b;

	return (x->key > y->key) - (x->key < y->key);
}

/* Keys in order, or their rows. */
static enum status put_places(struct writer *w, enum vec_section section)
{
	struct place *places = mem_array(w->n, sizeof(*places));
	enum status st = ST_OK;

	if (!places)
		return error_set(w->e, ST_NOMEM, "out of memory");
	for (size_t i = 0; i < w->n; i++) {
		struct vec_ref ref = w->refs[i];

		places[i].key = *vec_part_run(w->parts[ref.part], ref.row, ref.row + 1).keys;
		places[i].row = (uint32_t)i;
	}
	qsort(places, w->n, sizeof(*places), compare_places);
	for (size_t i = 0; !st && i < w->n; i++)
		st = section == VEC_SORTED ? put(w, &places[i].key, sizeof(places[i].key))
					   : put(w, &places[i].row, sizeof(places[i].row));
	mem_free(places);
	return st;
}

static enum status put_content(struct writer *w, enum vec_section section)
{
	const struct vec_lists *l = w->lists;
	enum status st = ST_OK;

	switch (section) {
	case VEC_SORTED:
	case VEC_PLACES:
		return l ? put_places(w, section) : ST_OK;
	case VEC_STARTS:
		return l ? put(w, l->starts, ((size_t)l->count + 1) * sizeof(*l->starts)) : ST_OK;
	case VEC_CENTRES:
		return l ? put(w, l->centres, l->count * vec_small_bytes(w->vs->dimension)) : ST_OK;
	case VEC_STEPS:
		return l ? put(w, l->steps, l->count * sizeof(*l->steps)) : ST_OK;
	default:
		for (size_t i = 0; !st && i < w->n; i++)
			st = put_row(w, section, w->refs[i]);
		return st;
	}
}

static enum status put_section(struct writer *w, enum vec_section section)
{
	static const unsigned char zeros[VEC_ALIGN];
	unsigned char *h = w->header + VEC_H_SECTIONS + (size_t)section * VEC_H_SECTION_BYTES;
	size_t pad = (size_t)(-w->at % VEC_ALIGN);
	uint64_t begin = w->at + pad;
	enum status st = pad > 0 ? write_bytes(w, zeros, pad) : ST_OK;

	w->at = begin;
	w->sum = section;
	if (!st)
		st = put_content(w, section);
	if (!st)
		st = flush(w);
	lex_put64(h, begin);
	lex_put64(h + 8, w->at - begin);
	lex_put64(h + 16, w->sum);
	return st;
}

static enum status put_header(struct writer *w, uint64_t id)
{
	unsigned char *h = w->header;
	uint32_t order = VEC_ORDER;

	memcpy(h, VEC_MAGIC, strlen(VEC_MAGIC)); /* NOLINT(bugprone-not-null-terminated-result) */
	memcpy(h + VEC_H_ORDER, &order, sizeof(order));
	lex_put32(h + VEC_H_FORMAT, VEC_FORMAT);
	lex_put32(h + VEC_H_ROWS, (uint32_t)w->n);
	lex_put32(h + VEC_H_LISTS, w->lists ? w->lists->count : 0);
	lex_put64(h + VEC_H_ID, id);
	lex_put64(h + VEC_H_SIZE, w->at);
	lex_put64(h + VEC_H_DIMENSION, w->vs->dimension);
	lex_put64(h + VEC_H_CHECKSUM, lex_checksum(h, VEC_H_CHECKSUM, VEC_FORMAT));
	if (lseek(w->fd, 0, SEEK_SET) != 0)
		return lex_file_error(w->e, "write", w->tmp);
	return write_bytes(w, h, VEC_HEADER_BYTES);
}

static enum status begin(struct writer *w, uint64_t id)
{
	struct strbuf tmp = STRBUF_INIT;

	w->path = vec_segment_path(w->vs->dir, id);
	if (w->path)
		strbuf_addf(&tmp, "%s.tmp", w->path);
	w->tmp = w->path && strbuf_ok(&tmp) ? strbuf_detach(&tmp, NULL) : NULL;
	strbuf_release(&tmp);
	w->buffer = mem_alloc(VEC_PIECE);
	if (!w->path || !w->tmp || !w->buffer)
		return error_set(w->e, ST_NOMEM, "out of memory");
	return lex_file_create(w->tmp, &w->fd, w->e);
}

static enum status write_all(struct writer *w, uint64_t id)
{
	enum status st = begin(w, id);

	if (!st)
		st = write_bytes(w, w->header, VEC_HEADER_BYTES); /* for its place */
	w->at = VEC_HEADER_BYTES;
	for (unsigned i = 0; !st && i < VEC_SECTIONS; i++)
		st = put_section(w, (enum vec_section)i);
	if (!st)
		st = put_header(w, id);
	if (!st && fault_hit("vector.segment.rename", NULL, NULL)) {
		errno = EIO;
		st = lex_file_error(w->e, "replace a file of", w->path);
	}
	if (!st)
		st = lex_file_publish(w->fd, w->tmp, w->path, w->vs->dir, w->e);
	if (w->fd >= 0)
		close(w->fd);
	if (st && w->fd >= 0)
		unlink(w->tmp);
	return st;
}

enum status vec_segment_write(struct vectors *vs, struct vec_part *const *parts,
	const struct vec_ref *refs, size_t n, const struct vec_lists *lists, const bool *stop,
	struct vec_segment **ret, struct error *e)
{
	struct writer w = { .vs = vs,
		.parts = parts,
		.refs = refs,
		.n = n,
		.lists = lists,
		.stop = stop,
		.e = e,
		.fd = -1 };
	uint64_t id = atomic_fetch_add(&vs->next_id, 1);
	enum status st;

	if (n > VEC_MAX_ROWS)
		return error_set(e, ST_TOO_LARGE, "too many vectors for one file");
	st = write_all(&w, id);
	if (!st)
		st = vec_segment_open(vs->dir, id, vs->dimension, ret, e);
	if (st && w.path)
		unlink(w.path);
	mem_free(w.path);
	mem_free(w.tmp);
	mem_free(w.buffer);
	return st;
}
