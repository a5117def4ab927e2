/* segment.c: opening segment files; see segment.h for the format. */
#include "engine/vector/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/lexical/pack.h"
#include "util/mem.h"
#include "util/strbuf.h"

char *vec_segment_path(const char *dir, uint64_t id)
{
	struct strbuf sb = STRBUF_INIT;

	strbuf_addf(&sb, "%s/vec-%016llx.seg", dir, (unsigned long long)id);
	if (strbuf_ok(&sb))
		return strbuf_detach(&sb, NULL);
	strbuf_release(&sb);
	return NULL;
}

/* NULL: not within the file, or not of the size. */
static const void *section(const struct vec_segment *s, enum vec_section i, uint64_t size)
{
	const unsigned char *h = s->map + VEC_H_SECTIONS + (size_t)i * VEC_H_SECTION_BYTES;
	uint64_t at = lex_get64(h), n = lex_get64(h + 8);

	if (at % VEC_ALIGN || at < VEC_HEADER_BYTES || at > s->size || n > s->size - at ||
		n != size)
		return NULL;
	return s->map + at;
}

static bool read_lists(struct vec_segment *s)
{
	s->sorted = section(s, VEC_SORTED, (uint64_t)s->rows * sizeof(*s->sorted));
	s->places = section(s, VEC_PLACES, (uint64_t)s->rows * sizeof(*s->places));
	s->starts = section(s, VEC_STARTS, ((uint64_t)s->lists + 1) * sizeof(*s->starts));
	s->centres = section(s, VEC_CENTRES, (uint64_t)s->lists * vec_small_bytes(s->dimension));
	s->steps = section(s, VEC_STEPS, (uint64_t)s->lists * sizeof(*s->steps));
	return s->sorted && s->places && s->starts && s->centres && s->steps;
}

static bool read_header(struct vec_segment *s)
{
	const unsigned char *h = s->map;
	uint32_t order;

	memcpy(&order, h + VEC_H_ORDER, sizeof(order));
	s->checksum = lex_get64(h + VEC_H_CHECKSUM);
	s->rows = lex_get32(h + VEC_H_ROWS);
	s->lists = lex_get32(h + VEC_H_LISTS);
	if (lex_checksum(h, VEC_H_CHECKSUM, VEC_FORMAT) != s->checksum || order != VEC_ORDER ||
		lex_get64(h + VEC_H_SIZE) != s->size || lex_get64(h + VEC_H_ID) != s->id ||
		lex_get64(h + VEC_H_DIMENSION) != s->dimension || s->rows == 0 ||
		s->rows > VEC_MAX_ROWS || s->lists > VEC_MAX_LISTS)
		return false;
	s->keys = section(s, VEC_KEYS, (uint64_t)s->rows * sizeof(*s->keys));
	s->scales = section(s, VEC_SCALES, (uint64_t)s->rows * sizeof(*s->scales));
	s->small = section(s, VEC_SMALL, (uint64_t)s->rows * vec_small_bytes(s->dimension));
	s->wide = section(s, VEC_WIDE, (uint64_t)s->rows * vec_wide_bytes(s->dimension));
	s->sorted = s->keys;
	return s->keys && s->scales && s->small && s->wide && (s->lists == 0 || read_lists(s));
}

static bool check_sections(const struct vec_segment *s)
{
	for (size_t i = 0; i < VEC_SECTIONS; i++) {
		const unsigned char *h = s->map + VEC_H_SECTIONS + i * VEC_H_SECTION_BYTES;
		uint64_t at = lex_get64(h), left = lex_get64(h + 8), sum = i;

		if (at > s->size || left > s->size - at)
			return false;
		for (size_t n; left > 0; left -= n, at += n) {
			n = left < VEC_PIECE ? left : VEC_PIECE;
			sum = lex_checksum(s->map + at, n, sum);
		}
		if (sum != lex_get64(h + 16))
			return false;
	}
	return true;
}

/* Numbers that lead to rows stay within them, keys grow. */
static bool check_numbers(const struct vec_segment *s)
{
	for (uint32_t i = 1; i < s->rows; i++)
		if (s->sorted[i] <= s->sorted[i - 1])
			return false;
	if (s->lists == 0)
		return true;
	for (uint32_t i = 0; i < s->rows; i++)
		if (s->places[i] >= s->rows || s->keys[s->places[i]] != s->sorted[i])
			return false;
	for (uint32_t i = 0; i < s->lists; i++)
		if (s->starts[i] > s->starts[i + 1])
			return false;
	return s->starts[0] == 0 && s->starts[s->lists] == s->rows;
}

static enum status check(struct vec_segment *s, struct error *e)
{
	if (memcmp(s->map, VEC_MAGIC, 8) != 0)
		return error_set(e, ST_CORRUPT, "'%s' is not a vector file", s->path);
	if (lex_get32(s->map + VEC_H_FORMAT) > VEC_FORMAT)
		return error_set(e, ST_FUTURE, "'%s' was written by a newer version", s->path);
	if (!read_header(s) || !check_sections(s) || !check_numbers(s))
		return error_set(e, ST_CORRUPT, "vector file '%s' is damaged", s->path);
	s->first_key = s->sorted[0];
	s->last_key = s->sorted[s->rows - 1];
	return ST_OK;
}

static enum status map_file(struct vec_segment *s, struct error *e)
{
	int fd = open(s->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* a pipe would wait */
	struct stat sb;
	void *p = MAP_FAILED;
	enum status st = ST_OK;

	if (fd < 0)
		return error_set(e, errno == ENOENT ? ST_NOT_FOUND : ST_IO, "cannot open '%s'",
			s->path);
	if (fstat(fd, &sb) == 0 && S_ISREG(sb.st_mode) && sb.st_size >= (off_t)VEC_HEADER_BYTES)
		p = mmap(NULL, (size_t)sb.st_size, PROT_READ, MAP_SHARED, fd, 0);
	else
		st = error_set(e, ST_CORRUPT, "'%s' is not a vector file", s->path);
	if (!st && p == MAP_FAILED)
		st = error_set(e, ST_IO, "cannot map '%s'", s->path);
	if (!st) {
		s->map = p;
		s->size = (size_t)sb.st_size;
	}
	close(fd);
	return st;
}

enum status vec_segment_open(const char *dir, uint64_t id, size_t dimension,
	struct vec_segment **ret, struct error *e)
{
	struct vec_segment *s = mem_zero(sizeof(*s));
	enum status st = ST_NOMEM;

	if (s) {
		atomic_init(&s->refs, 1);
		s->id = id;
		s->dimension = dimension;
		s->path = vec_segment_path(dir, id);
	}
	if (!s || !s->path)
		error_set(e, ST_NOMEM, "out of memory");
	else
		st = map_file(s, e);
	if (!st)
		st = check(s, e);
	if (!st)
		*ret = s;
	else
		vec_segment_unref(s);
	return st;
}

struct vec_segment *vec_segment_ref(struct vec_segment *s)
{
	atomic_fetch_add_explicit(&s->refs, 1, memory_order_relaxed);
	return s;
}

void vec_segment_unref(struct vec_segment *s)
{
	if (!s || atomic_fetch_sub_explicit(&s->refs, 1, memory_order_acq_rel) > 1)
		return;
	if (s->map)
		munmap((void *)(uintptr_t)s->map, s->size);
	if (atomic_load(&s->doomed))
		unlink(s->path); /* if that fails, the next open does it */
	mem_free(s->path);
	mem_free(s);
}
