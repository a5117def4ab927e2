/*
 * segment.c: opening segment files and reading their chunks. Fields are read by
 * their place in the header; see segment.h for the format and what is checked when.
 */
#include "engine/lexical/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/lexical/header.h"
#include "util/mem.h"

char *lex_segment_path(const char *dir, uint64_t id)
{
	struct strbuf sb = STRBUF_INIT;

	strbuf_addf(&sb, "%s/lex-%016llx.seg", dir, (unsigned long long)id);
	if (strbuf_ok(&sb))
		return strbuf_detach(&sb, NULL);
	strbuf_release(&sb);
	return NULL;
}

static uint32_t group_count(uint32_t chunks)
{
	return (chunks + LEX_GROUP - 1) / LEX_GROUP;
}

static uint32_t block_count(uint32_t terms)
{
	return terms / LEX_TERMS_BLOCK + (terms % LEX_TERMS_BLOCK > 0);
}

static bool read_section(struct lex_segment *s, enum lex_section i)
{
	const unsigned char *h = s->map + LEX_H_SECTIONS + (size_t)i * LEX_H_SECTION_BYTES;
	uint64_t at = lex_get64(h), n = lex_get64(h + 8);

	if (at % LEX_ALIGN || at < LEX_HEADER_BYTES || at > s->size || n > s->size - at)
		return false;
	s->section[i].p = s->map + at;
	s->section[i].n = n;
	return true;
}

static bool read_header(struct lex_segment *s)
{
	const unsigned char *h = s->map;

	s->checksum = lex_get64(h + LEX_H_CHECKSUM);
	s->chunks = lex_get32(h + LEX_H_CHUNKS);
	s->terms = lex_get32(h + LEX_H_TERMS);
	s->wide = lex_get32(h + LEX_H_WIDE) != 0;
	s->total_length = lex_get64(h + LEX_H_LENGTH);
	s->first_key = (int64_t)lex_get64(h + LEX_H_FIRST);
	s->last_key = (int64_t)lex_get64(h + LEX_H_LAST);
	if (lex_checksum(h, LEX_H_CHECKSUM, LEX_FORMAT) != s->checksum ||
		lex_get64(h + LEX_H_SIZE) != s->size || lex_get64(h + LEX_H_ID) != s->id ||
		s->chunks == 0 || s->chunks > LEX_MAX_CHUNKS || s->first_key > s->last_key)
		return false;
	for (unsigned i = 0; i < LEX_SECTIONS; i++)
		if (!read_section(s, i))
			return false;
	return s->section[LEX_GROUPS].n == (uint64_t)group_count(s->chunks) * LEX_GROUP_BYTES &&
		s->section[LEX_LENGTHS].n == (uint64_t)s->chunks * (s->wide ? 4 : 2) &&
		s->section[LEX_PREFIXES].n == (uint64_t)block_count(s->terms) * 8 &&
		s->section[LEX_OFFSETS].n == (uint64_t)block_count(s->terms) * 8 &&
		s->section[LEX_DOCS].n >= LEX_DOCS_SLACK;
}

static bool check_sections(const struct lex_segment *s)
{
	for (size_t i = 0; i < LEX_SECTIONS; i++) {
		const unsigned char *p = s->section[i].p;
		uint64_t h = i;

		for (size_t left = s->section[i].n, n; left > 0; left -= n, p += n) {
			n = left < LEX_PIECE ? left : LEX_PIECE;
			h = lex_checksum(p, n, h);
		}
		if (h != lex_get64(s->map + LEX_H_SECTIONS + i * LEX_H_SECTION_BYTES + 16))
			return false;
	}
	return true;
}

static enum status check(struct lex_segment *s, struct error *e)
{
	if (s->size < LEX_HEADER_BYTES || memcmp(s->map, LEX_MAGIC, 8) != 0)
		return error_set(e, ST_CORRUPT, "'%s' is not a segment file", s->path);
	if (lex_get32(s->map + LEX_H_FORMAT) > LEX_FORMAT)
		return error_set(e, ST_FUTURE, "'%s' was written by a newer version", s->path);
	if (!read_header(s) || !check_sections(s))
		return error_set(e, ST_CORRUPT, "segment file '%s' is damaged", s->path);
	return ST_OK;
}

static enum status map_file(struct lex_segment *s, struct error *e)
{
	int fd = open(s->path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* a pipe would wait */
	struct stat sb;
	void *p = MAP_FAILED;
	enum status st = ST_OK;

	if (fd < 0)
		return error_set(e, errno == ENOENT ? ST_NOT_FOUND : ST_IO, "cannot open '%s'",
			s->path);
	if (fstat(fd, &sb) == 0 && S_ISREG(sb.st_mode) && sb.st_size >= LEX_HEADER_BYTES)
		p = mmap(NULL, (size_t)sb.st_size, PROT_READ, MAP_SHARED, fd, 0);
	else
		st = error_set(e, ST_CORRUPT, "'%s' is not a segment file", s->path);
	if (!st && p == MAP_FAILED)
		st = error_set(e, ST_IO, "cannot map '%s'", s->path);
	if (!st) {
		s->map = p;
		s->size = (size_t)sb.st_size;
	}
	close(fd);
	return st;
}

enum status lex_segment_open(const char *dir, uint64_t id, struct lex_segment **ret,
	struct error *e)
{
	struct lex_segment *s = mem_zero(sizeof(*s));
	enum status st = ST_NOMEM;

	if (s) {
		atomic_init(&s->refs, 1);
		s->id = id;
		s->path = lex_segment_path(dir, id);
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
		lex_segment_unref(s);
	return st;
}

struct lex_segment *lex_segment_ref(struct lex_segment *s)
{
	atomic_fetch_add_explicit(&s->refs, 1, memory_order_relaxed);
	return s;
}

void lex_segment_unref(struct lex_segment *s)
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

uint32_t lex_segment_length(const struct lex_segment *s, uint32_t ord)
{
	const unsigned char *p = s->section[LEX_LENGTHS].p;

	return s->wide ? lex_get32(p + (size_t)ord * 4)
		       : (uint32_t)(p[(size_t)ord * 2] | p[(size_t)ord * 2 + 1] << 8);
}

/* A group's header and where its rows are. */
struct group {
	uint64_t key;
	unsigned key_width, no_width, at_width, len_width, row_width;
	const unsigned char *rows, *ids;
	uint32_t ids_size;
};

static const unsigned char *group_at(const struct lex_segment *s, uint32_t ord)
{
	return s->section[LEX_GROUPS].p + (size_t)(ord / LEX_GROUP) * LEX_GROUP_BYTES;
}

/* False for a group that does not fit its section. */
static bool read_group(const struct lex_segment *s, uint32_t ord, struct group *g)
{
	const unsigned char *h = group_at(s, ord);
	uint32_t first = ord / LEX_GROUP * LEX_GROUP;
	uint32_t n = s->chunks - first < LEX_GROUP ? s->chunks - first : LEX_GROUP;
	uint64_t at = lex_get64(h + 8), room = s->section[LEX_DOCS].n - LEX_DOCS_SLACK;
	uint64_t rows;

	g->key = lex_get64(h);
	g->ids_size = lex_get32(h + 16);
	g->key_width = h[20];
	g->no_width = h[21];
	g->at_width = h[22];
	g->len_width = h[23];
	if (g->key_width > 64 || g->no_width > 32 || g->at_width > 32 || g->len_width > 32)
		return false;
	g->row_width = g->key_width + g->no_width + g->at_width + g->len_width;
	rows = ((uint64_t)n * g->row_width + 7) / 8;
	if (at > room || rows > room - at || g->ids_size > room - at - rows)
		return false;
	g->rows = s->section[LEX_DOCS].p + at;
	g->ids = g->rows + rows;
	return true;
}

static int64_t row_key(const struct group *g, uint32_t place)
{
	uint64_t bit = (uint64_t)place * g->row_width;

	return (int64_t)(g->key + place + lex_get_bits(g->rows, bit, g->key_width));
}

int64_t lex_segment_key(const struct lex_segment *s, uint32_t ord)
{
	const unsigned char *h = group_at(s, ord);
	struct group g;

	if (h[20] == 0) /* no gaps: the usual case */
		return (int64_t)(lex_get64(h) + ord % LEX_GROUP);
	return read_group(s, ord, &g) ? row_key(&g, ord % LEX_GROUP) : INT64_MIN;
}

void lex_segment_row(const struct lex_segment *s, uint32_t ord, struct lex_row *ret)
{
	uint32_t place = ord % LEX_GROUP;
	struct group g;
	uint64_t bit, at, len;

	*ret = (struct lex_row){ INT64_MIN, { "", 0 }, 0 };
	if (!read_group(s, ord, &g))
		return;
	ret->key = row_key(&g, place);
	bit = (uint64_t)place * g.row_width + g.key_width;
	ret->no = (uint32_t)lex_get_bits(g.rows, bit, g.no_width);
	at = lex_get_bits(g.rows, bit + g.no_width, g.at_width);
	len = lex_get_bits(g.rows, bit + g.no_width + g.at_width, g.len_width);
	if (at <= g.ids_size && len <= g.ids_size - at)
		ret->doc_id = (struct bytes){ (const char *)g.ids + at, len };
}

/* Binary search over the groups' first keys, then over the rows of one. */
uint32_t lex_segment_seek(const struct lex_segment *s, int64_t key)
{
	uint32_t low = 0, high = group_count(s->chunks);

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if ((int64_t)lex_get64(
			    s->section[LEX_GROUPS].p + (size_t)middle * LEX_GROUP_BYTES) <= key)
			low = middle;
		else
			high = middle;
	}
	low *= LEX_GROUP;
	high = s->chunks - low < LEX_GROUP ? s->chunks : low + LEX_GROUP;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;

		if (lex_segment_key(s, middle) < key)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}
