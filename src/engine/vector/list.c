/*
 * list.c: the file vectors.list: which segments make up the index, which of their rows
 * are dead, and up to which commit all of that is complete. Replaced as a whole and
 * atomically.
 *
 *   magic, format, number of segments, commit, next file id, identity, last key  (header)
 *   for each segment: id, checksum, commit, dead rows
 *     then varints: the gaps between dead rows
 *   checksum of all before
 *
 * A segment's commit is that up to which it and the segments before it hold all adds.
 * Deletes are complete up to the list's commit. So if segment i is damaged, what is before
 * it is good up to the commit of segment i - 1: later adds come again by replay, and
 * deletes too many are none, as a key never comes back.
 */
#include "engine/vector/private.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "engine/lexical/files.h"
#include "engine/lexical/pack.h"
#include "util/fault.h"
#include "util/mem.h"

#define LIST_MAGIC "RCPDVLS\n"
#define LIST_FORMAT 1U
#define HEADER 48
#define ENTRY 28
#define MAX_LIST (UINT64_C(1) << 32) /* bytes; a list this long is not ours */

static char *list_path(const char *dir, const char *suffix)
{
	struct strbuf sb = STRBUF_INIT;

	strbuf_addf(&sb, "%s/vectors.list%s", dir, suffix);
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

static void put_entry(struct strbuf *sb, const struct vec_part *p, uint64_t seen)
{
	uint32_t before = UINT32_MAX, dead = 0;
	bool any = p->gone || atomic_load_explicit(&p->marks, memory_order_acquire);

	for (uint32_t i = 0; any && i < p->count; i++)
		dead += vec_row_is_dead(p, i, seen);
	put64(sb, p->seg->id);
	put64(sb, p->seg->checksum);
	put64(sb, p->commit);
	put32(sb, dead);
	for (uint32_t i = 0; dead > 0 && i < p->count; i++) {
		if (vec_row_is_dead(p, i, seen)) {
			lex_put_varint(sb, i - before - 1);
			before = i;
		}
	}
}

static enum status write_file(const struct vectors *vs, const struct strbuf *sb, struct error *e)
{
	char *path = list_path(vs->dir, ""), *tmp = list_path(vs->dir, ".tmp");
	enum status st;
	int fd = -1;

	st = path && tmp ? lex_file_create(tmp, &fd, e) : error_set(e, ST_NOMEM, "out of memory");
	if (!st && fault_hit("vector.list.replace", NULL, NULL)) {
		errno = EIO;
		st = lex_file_error(e, "replace a file of", path);
	}
	if (!st)
		st = lex_file_write(fd, tmp, sb->data, sb->len, e);
	if (!st)
		st = lex_file_publish(fd, tmp, path, vs->dir, e);
	if (fd >= 0)
		close(fd);
	mem_free(path);
	mem_free(tmp);
	return st;
}

enum status vec_list_write(struct vectors *vs, struct vec_part *const *parts, size_t n,
	const struct vec_list *list, struct error *e)
{
	struct strbuf sb = STRBUF_INIT;
	uint32_t segments = 0;
	enum status st;

	for (size_t i = 0; i < n; i++)
		segments += parts[i]->seg != NULL;
	strbuf_add(&sb, LIST_MAGIC, 8);
	put32(&sb, LIST_FORMAT);
	put32(&sb, segments);
	put64(&sb, list->commit);
	put64(&sb, atomic_load(&vs->next_id));
	put64(&sb, vs->identity);
	put64(&sb, (uint64_t)list->key);
	for (size_t i = 0; i < n; i++)
		if (parts[i]->seg)
			put_entry(&sb, parts[i], list->seen);
	if (strbuf_ok(&sb))
		put64(&sb, lex_checksum(sb.data, sb.len, LIST_FORMAT));
	st = strbuf_ok(&sb) ? write_file(vs, &sb, e) : error_set(e, ST_NOMEM, "out of memory");
	strbuf_release(&sb);
	if (!st) {
		vs->list_commit = list->commit;
		vs->list_key = list->key;
		atomic_store(&vs->persisted, list->commit);
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

static bool is_list(const struct vectors *vs, const struct strbuf *sb)
{
	const char *p = sb->data;

	return sb->len >= HEADER + 8 && memcmp(p, LIST_MAGIC, 8) == 0 &&
		lex_get32(p + 8) == LIST_FORMAT && lex_get64(p + 32) == vs->identity &&
		lex_checksum(p, sb->len - 8, LIST_FORMAT) == lex_get64(p + sb->len - 8);
}

/* *at moves behind the gaps. ST_CORRUPT for what cannot be. */
static enum status get_dead(const unsigned char **at, const unsigned char *end, uint32_t dead,
	struct vec_part *p)
{
	uint64_t row = 0;
	uint32_t gap;

	if (dead > p->count || dead > (size_t)(end - *at))
		return ST_CORRUPT;
	p->gone = mem_array(((size_t)p->count + 63) / 64, sizeof(*p->gone));
	if (!p->gone)
		return ST_NOMEM;
	for (uint32_t i = 0; i < dead; i++) {
		*at = lex_get_varint(*at, end, &gap);
		if (!*at || (row += gap) >= p->count)
			return ST_CORRUPT;
		p->gone[row / 64] |= UINT64_C(1) << row % 64;
		row++;
	}
	p->gone_count = dead;
	return ST_OK;
}

/* Takes seg in any case. */
static enum status add_part(struct vectors *vs, struct vec_segment *seg, uint64_t commit,
	struct vec_part **ret)
{
	const struct vec_segment *last = vs->count ? vs->parts[vs->count - 1]->seg : NULL;

	*ret = NULL;
	if (last && seg->first_key <= last->last_key) {
		vec_segment_unref(seg);
		return ST_CORRUPT;
	}
	*ret = vec_make_room(vs) ? vec_part_new_segment(seg, commit, seg->last_key) : NULL;
	if (*ret)
		return ST_OK;
	vec_segment_unref(seg);
	return ST_NOMEM;
}

static enum status get_entry(struct vectors *vs, const unsigned char **at, const unsigned char *end)
{
	const unsigned char *h = *at;
	struct vec_segment *seg = NULL;
	struct vec_part *p = NULL;
	enum status st;

	if (end - h < ENTRY)
		return ST_CORRUPT;
	*at += ENTRY;
	st = vec_segment_open(vs->dir, lex_get64(h), vs->dimension, &seg, NULL);
	if (!st && seg->checksum != lex_get64(h + 8)) {
		vec_segment_unref(seg);
		st = ST_CORRUPT;
	}
	if (!st)
		st = add_part(vs, seg, lex_get64(h + 16), &p);
	if (!st && lex_get32(h + 24) > 0)
		st = get_dead(at, end, lex_get32(h + 24), p);
	if (st)
		vec_part_unref(p);
	else
		vs->parts[vs->count++] = p;
	return st;
}

static enum status get_entries(struct vectors *vs, const struct strbuf *sb, struct error *e)
{
	const unsigned char *p = (const unsigned char *)sb->data;
	const unsigned char *end = p + sb->len - 8;
	uint32_t n = lex_get32(p + 12), i = 0;
	uint64_t commit = lex_get64(p + 16);
	int64_t last_key = (int64_t)lex_get64(p + 40);
	enum status st = ST_OK;

	atomic_store(&vs->next_id, lex_get64(p + 24));
	p += HEADER;
	while (!st && i < n) {
		st = get_entry(vs, &p, end);
		i += !st;
	}
	if (st == ST_NOMEM)
		return error_set(e, st, "out of memory");
	if (i < n) {
		commit = i > 0 ? vs->parts[i - 1]->commit : 0;
		last_key = i > 0 ? vs->parts[i - 1]->seg->last_key : INT64_MIN;
	}
	vs->list_commit = commit;
	vs->list_key = last_key;
	return ST_OK;
}

enum status vec_list_read(struct vectors *vs, struct error *e)
{
	struct strbuf sb = STRBUF_INIT;
	char *path = list_path(vs->dir, "");
	enum status st = path ? read_file(path, &sb, e) : error_set(e, ST_NOMEM, "out of memory");

	atomic_store(&vs->next_id, 1);
	vs->list_commit = 0;
	vs->list_key = INT64_MIN;
	if (!st && is_list(vs, &sb))
		st = get_entries(vs, &sb, e);
	strbuf_release(&sb);
	mem_free(path);
	return st;
}

/* ---- what is left over ---- */

/* Ours by name: vec-ID.seg, and the temporary names, which have id 0: no file's. */
static bool is_ours(const char *name, uint64_t *ret_id)
{
	char *end;
	bool whole;

	*ret_id = 0;
	if (strcmp(name, "vectors.list.tmp") == 0)
		return true;
	if (strncmp(name, "vec-", 4) != 0 || strspn(name + 4, "0123456789abcdef") != 16)
		return false;
	*ret_id = strtoull(name + 4, &end, 16);
	whole = strcmp(end, ".seg") == 0;
	if (!whole)
		*ret_id = 0;
	return whole || strcmp(end, ".seg.tmp") == 0;
}

static bool is_used(const struct vectors *vs, uint64_t id)
{
	for (size_t i = 0; i < vs->count; i++)
		if (vs->parts[i]->seg && vs->parts[i]->seg->id == id)
			return true;
	return false;
}

void vec_list_sweep(const struct vectors *vs)
{
	DIR *dir = opendir(vs->dir);
	struct dirent *d;
	uint64_t id;

	while (dir && (d = readdir(dir)))
		if (is_ours(d->d_name, &id) && !is_used(vs, id))
			unlinkat(dirfd(dir), d->d_name, 0);
	if (dir)
		closedir(dir);
}
