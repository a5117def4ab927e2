/*
 * engine/vector/segment.h: a segment file: vectors that never change.
 *
 *   vec-ID.seg    header, then sections, each at a multiple of 64 bytes with a checksum:
 *
 *     keys        of the rows, 8 bytes each. Flat: growing. With lists: the rows stand
 *                 list by list, in each in the order of keys
 *     sorted      with lists only: all keys, growing
 *     places      with lists only: their rows, 4 bytes each
 *     scales      of the rows (row.h)
 *     small       the rows of 8 bits a component: what a scan reads
 *     wide        the rows of 16 bits
 *     starts      with lists only: the first row of each list, and the end
 *     centres     with lists only: the lists' centres as small rows, and
 *     steps       their scales
 *
 * Rows are used where they are mapped, so files are of the machine's byte order; a file
 * of another order is foreign, and dropped. All sections are checked at opening, and that
 * no number in them leads out of the file.
 */
#ifndef RCPD_ENGINE_VECTOR_SEGMENT_H
#define RCPD_ENGINE_VECTOR_SEGMENT_H

#include <stdatomic.h>

#include "engine/vector/row.h"
#include "util/status.h"

#define VEC_MAGIC "RCPDVEC\n"
#define VEC_FORMAT 1U
#define VEC_ORDER UINT32_C(0x01020304) /* as this machine writes it */
#define VEC_HEADER_BYTES ((size_t)512)
#define VEC_PIECE ((size_t)65536) /* a section's checksum chains pieces of this size */
#define VEC_MAX_ROWS UINT32_C(0x7fffffff)
#define VEC_MAX_LISTS UINT32_C(65536)

enum vec_section {
	VEC_KEYS,
	VEC_SORTED,
	VEC_PLACES,
	VEC_SCALES,
	VEC_SMALL,
	VEC_WIDE,
	VEC_STARTS,
	VEC_CENTRES,
	VEC_STEPS,
	VEC_SECTIONS
};

/* Places of the fields in the header. */
enum {
	VEC_H_FORMAT = 8,     /* 4 bytes, after the magic */
	VEC_H_ORDER = 12,     /* 4 bytes */
	VEC_H_ROWS = 16,      /* 4 bytes */
	VEC_H_LISTS = 20,     /* 4 bytes; 0: flat */
	VEC_H_ID = 24,        /* 8 bytes, as in the file's name */
	VEC_H_SIZE = 32,      /* 8 bytes, of the file */
	VEC_H_DIMENSION = 40, /* 8 bytes */
	VEC_H_SECTIONS = 64,  /* offset, size, checksum of each section */
	VEC_H_SECTION_BYTES = 24,
	VEC_H_CHECKSUM = 504 /* 8 bytes, over what is before it */
};

struct vec_segment {
	_Atomic unsigned refs;
	uint64_t id, checksum;
	char *path;
	const unsigned char *map;
	size_t size, dimension;
	_Atomic bool doomed; /* the file goes with the last reference */
	uint32_t rows, lists;
	int64_t first_key, last_key;
	const int64_t *keys, *sorted; /* the same if flat */
	const uint32_t *places;       /* NULL if flat */
	const struct vec_scale *scales;
	const int8_t *small;
	const int16_t *wide;
	const uint32_t *starts;
	const int8_t *centres;
	const struct vec_scale *steps;
};

/* dir/vec-ID.seg; the caller's to free, NULL when out of memory. */
char *vec_segment_path(const char *dir, uint64_t id);
/* ST_NOT_FOUND, ST_CORRUPT, ST_FUTURE: nothing that can be used; ST_NOMEM, ST_IO. */
enum status vec_segment_open(const char *dir, uint64_t id, size_t dimension,
	struct vec_segment **ret, struct error *e);
struct vec_segment *vec_segment_ref(struct vec_segment *s);
void vec_segment_unref(struct vec_segment *s); /* NULL is fine */

/* The row of sorted key number i. */
static inline uint32_t vec_segment_place(const struct vec_segment *s, uint32_t i)
{
	return s->places ? s->places[i] : i;
}

#endif
