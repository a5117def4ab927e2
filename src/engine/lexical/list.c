/*
 * list.c: the file segments.list: which segments make up the index, which of their
 * chunks are dead, and up to which commit all of that is complete. Replaced as a
 * whole and atomically.
 *
 *   magic, format, number of segments, commit, next file id, identity      (header)
 *   for each segment: id, checksum, commit, dead chunks, dead length, terms of dead
 *     then varints: gaps of dead ordinals; gaps of term numbers and counts
 *   checksum of all before
 *
 * A segment's commit is that up to which it and the segments before it hold all adds.
 * Deletes are complete up to the list's commit. So if segment i is damaged, what is
 * before it is good up to the commit of segment i - 1: later adds come again by
 * replay, and deletes too many are none, as a key never comes back.
 */
#include "engine/lexical/private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "engine/lexical/files.h"
#include "util/fault.h"
#include "util/mem.h"

#define LIST_MAGIC "RCPDLST\n"
#define LIST_FORMAT 1U
#define HEADER 48
#define ENTRY 40
#define MAX_LIST (UINT64_C(1) << 32) /* bytes; a list this long is not ours */

static char *list_path(const char *dir, const char *suffix)
{
	struct strbuf sb = STRBUF_INIT;

	strbuf_addf(&sb, "%s/segments.list%s", dir, suffix);
	if (strbuf_ok(&sb))
		return strbuf_detach(&sb, NULL);
	strbuf_release(&sb);
	return NULL;
}

/* ---- writing ---- */

static void put32(struct strbuf *sb, uint32_t v)
{
	unsigned char b[4];

	lex_put32(b, v);
	strbuf_add(sb, b, sizeof(b));
}

static void put64(struct strbuf *sb, uint64_t v)
{
	unsigned char b[8];

	lex_put64(b, v);
	strbuf_add(sb, b, sizeof(b));
}

static void put_base(struct strbuf *sb, const struct lex_base *b)
{
	uint32_t before = UINT32_MAX;

	for (uint32_t ord = 0; ord < b->chunks; ord++) {
		if (lex_base_dead(b, ord)) {
			lex_put_varint(sb, ord - before - 1);
			before = ord;
		}
	}
	before = UINT32_MAX;
	for (uint32_t i = 0; i < b->terms; i++) {
		lex_put_varint(sb, b->ids[i] - before - 1);
		lex_put_varint(sb, b->counts[i]);
		before = b->ids[i];
	}
}

static void put_entry(struct strbuf *sb, const struct lex_entry *en)
{
	put64(sb, en->seg->id);
	put64(sb, en->seg->checksum);
	put64(sb, en->commit);
	put64(sb, en->base ? en->base->deleted_length : 0);
	put32(sb, en->base ? en->base->deleted : 0);
	put32(sb, en->base ? en->base->terms : 0);
	if (en->base)
		put_base(sb, en->base);
}

static enum status write_file(const struct lexical *lx, const struct strbuf *sb, struct error *e)
{
	char *path = list_path(lx->dir, ""), *tmp = list_path(lx->dir, ".tmp");
	enum status st;
	int fd = -1;

	st = path && tmp ? lex_file_create(tmp, &fd, e) : error_set(e, ST_NOMEM, "out of memory");
	if (!st && fault_hit("lexical.list.replace", NULL, NULL)) {
		errno = EIO;
		st = lex_file_error(e, "replace a file of", path);
	}
	if (!st)
		st = lex_file_write(fd, tmp, sb->data, sb->len, e);
	if (!st)
		st = lex_file_publish(fd, tmp, path, lx->dir, e);
	if (fd >= 0)
		close(fd);
	mem_free(path);
	mem_free(tmp);
	return st;
}

enum status lex_list_write(struct lexical *lx, const struct lex_entry *entries, size_t n,
	uint64_t commit, struct error *e)
{
	struct strbuf sb = STRBUF_INIT;
	enum status st;

	strbuf_add(&sb, LIST_MAGIC, 8);
	put32(&sb, LIST_FORMAT);
	put32(&sb, (uint32_t)n);
	put64(&sb, commit);
	put64(&sb, lx->next_id);
	put64(&sb, lx->identity);
	put64(&sb, 0); /* room for later */
	for (size_t i = 0; i < n; i++)
		put_entry(&sb, &entries[i]);
	if (strbuf_ok(&sb))
		put64(&sb, lex_checksum(sb.data, sb.len, LIST_FORMAT));
	st = strbuf_ok(&sb) ? write_file(lx, &sb, e) : error_set(e, ST_NOMEM, "out of memory");
	strbuf_release(&sb);
	if (!st) {
		lx->list_commit = commit;
		atomic_store(&lx->persisted, commit);
	}
	return st;
}

/* ---- reading ---- */

/* *ret stays empty if there is no such file or it is absurdly long. */
static enum status read_file(const char *path, struct strbuf *ret, struct error *e)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC); /* a pipe would wait */
	char buf[16384];
	ssize_t n = 1;

	if (fd < 0)
		return errno == ENOENT ? ST_OK : lex_file_error(e, "read", path);
	while (n > 0 && strbuf_ok(ret) && ret->len < MAX_LIST) {
		n = read(fd, buf, sizeof(buf));
		if (n > 0)
			strbuf_add(ret, buf, (size_t)n);
	}
	close(fd);
	return strbuf_ok(ret) ? ST_OK : error_set(e, ST_NOMEM, "out of memory");
}

static bool is_list(const struct lexical *lx, const struct strbuf *sb)
{
	const char *p = sb->data;

	return sb->len >= HEADER + 8 && memcmp(p, LIST_MAGIC, 8) == 0 &&
		lex_get32(p + 8) == LIST_FORMAT && lex_get64(p + 32) == lx->identity &&
		lex_checksum(p, sb->len - 8, LIST_FORMAT) == lex_get64(p + sb->len - 8);
}

static const unsigned char *get_dead(const unsigned char *p, const unsigned char *end,
	struct lex_base *b)
{
	uint64_t ord = 0;
	uint32_t gap;

	for (uint32_t i = 0; i < b->deleted; i++) {
		p = lex_get_varint(p, end, &gap);
		if (!p || (ord += gap) >= b->chunks)
			return NULL;
		b->dead[ord / 64] |= UINT64_C(1) << ord % 64;
		ord++;
	}
	return p;
}

static const unsigned char *get_terms(const unsigned char *p, const unsigned char *end,
	struct lex_base *b)
{
	uint64_t id = 0;
	uint32_t gap;

	for (uint32_t i = 0; i < b->terms; i++) {
		p = lex_get_varint(p, end, &gap);
		if (p)
			p = lex_get_varint(p, end, &b->counts[i]);
		if (!p || (id += gap) >= UINT32_MAX)
			return NULL;
		b->ids[i] = (uint32_t)id++;
	}
	return p;
}

/* *p moves behind the base. ST_CORRUPT for what cannot be. */
static enum status get_base(const unsigned char **p, const unsigned char *end, uint32_t chunks,
	uint32_t deleted, uint32_t terms, struct lex_base **ret)
{
	struct lex_base *b;

	if (deleted > chunks || deleted > (size_t)(end - *p) || terms > (size_t)(end - *p))
		return ST_CORRUPT;
	b = mem_zero(sizeof(*b));
	if (!b)
		return ST_NOMEM;
	b->chunks = chunks;
	b->deleted = deleted;
	b->terms = terms;
	b->dead = mem_array(((size_t)chunks + 63) / 64, sizeof(*b->dead));
	b->ids = mem_array(terms, sizeof(*b->ids));
	b->counts = mem_array(terms, sizeof(*b->counts));
	if (!b->dead || !b->ids || !b->counts) {
		lex_base_free(b);
		return ST_NOMEM;
	}
	*p = get_dead(*p, end, b);
	if (*p)
		*p = get_terms(*p, end, b);
	if (!*p) {
		lex_base_free(b);
		return ST_CORRUPT;
	}
	*ret = b;
	return ST_OK;
}

/* Appends a part of this segment and base. */
static enum status add_part(struct lexical *lx, struct lex_segment *seg, struct lex_base *base,
	uint64_t commit)
{
	int64_t before = lx->count ? lx->parts[lx->count - 1]->seg->last_key : INT64_MIN;
	struct lex_part *p;

	if (lx->count > 0 && seg->first_key <= before)
		return ST_CORRUPT;
	p = lex_make_room(lx) ? lex_part_new_segment(seg, base, commit) : NULL;
	if (!p)
		return ST_NOMEM;
	lx->parts[lx->count++] = p;
	return ST_OK;
}

static enum status get_entry(struct lexical *lx, const unsigned char **p, const unsigned char *end)
{
	const unsigned char *h = *p;
	struct lex_segment *seg = NULL;
	struct lex_base *base = NULL;
	enum status st;

	if (end - h < ENTRY)
		return ST_CORRUPT;
	st = lex_segment_open(lx->dir, lex_get64(h), &seg, NULL);
	if (!st && seg->checksum != lex_get64(h + 8))
		st = ST_CORRUPT;
	*p += ENTRY;
	if (!st && lex_get32(h + 32) > 0)
		st = get_base(p, end, seg->chunks, lex_get32(h + 32), lex_get32(h + 36), &base);
	if (!st && base)
		base->deleted_length = lex_get64(h + 24);
	if (!st && base && base->deleted_length > seg->total_length)
		st = ST_CORRUPT;
	if (!st)
		st = add_part(lx, seg, base, lex_get64(h + 16));
	if (st) {
		lex_segment_unref(seg);
		lex_base_free(base);
	}
	return st;
}

static enum status get_entries(struct lexical *lx, const struct strbuf *sb, struct error *e)
{
	const unsigned char *p = (const unsigned char *)sb->data;
	const unsigned char *end = p + sb->len - 8;
	uint32_t n = lex_get32(p + 12), i = 0;
	uint64_t commit = lex_get64(p + 16);
	enum status st = ST_OK;

	lx->next_id = lex_get64(p + 24);
	p += HEADER;
	while (!st && i < n) {
		st = get_entry(lx, &p, end);
		i += !st;
	}
	if (st == ST_NOMEM)
		return error_set(e, st, "out of memory");
	if (i == n)
		lx->list_commit = commit;
	else
		lx->list_commit = i > 0 ? lx->parts[i - 1]->commit : 0;
	return ST_OK;
}

enum status lex_list_read(struct lexical *lx, struct error *e)
{
	struct strbuf sb = STRBUF_INIT;
	char *path = list_path(lx->dir, "");
	enum status st = path ? read_file(path, &sb, e) : error_set(e, ST_NOMEM, "out of memory");

	lx->next_id = 1;
	lx->list_commit = 0;
	if (!st && is_list(lx, &sb))
		st = get_entries(lx, &sb, e);
	strbuf_release(&sb);
	mem_free(path);
	return st;
}

/* ---- what is left over ---- */

/* Ours by name: lex-ID.seg, and the temporary names, which have id 0: no file's. */
static bool is_ours(const char *name, uint64_t *ret_id)
{
	char *end;
	bool whole;

	*ret_id = 0;
	if (strcmp(name, "segments.list.tmp") == 0)
		return true;
	if (strncmp(name, "lex-", 4) != 0 || strspn(name + 4, "0123456789abcdef") != 16)
		return false;
	*ret_id = strtoull(name + 4, &end, 16);
	whole = strcmp(end, ".seg") == 0;
	if (!whole)
		*ret_id = 0;
	return whole || strcmp(end, ".seg.tmp") == 0;
}

static bool is_used(const struct lexical *lx, uint64_t id)
{
	for (size_t i = 0; i < lx->count; i++)
		if (lx->parts[i]->seg && lx->parts[i]->seg->id == id)
			return true;
	return false;
}

void lex_list_sweep(const struct lexical *lx)
{
	DIR *dir = opendir(lx->dir);
	struct dirent *d;
	uint64_t id;

	while (dir && (d = readdir(dir)))
		if (is_ours(d->d_name, &id) && !is_used(lx, id))
			unlinkat(dirfd(dir), d->d_name, 0);
	if (dir)
		closedir(dir);
}
