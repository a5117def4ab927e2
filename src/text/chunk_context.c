/*
 * chunk_context.c: the headings above a chunk as one line: "Guide > Install". A heading
 * is read once for all the chunks below it, and only as far as it will be shown.
 */
#include "text/chunk_private.h"
#include "util/utf8.h"

#define JOINT " > "
#define CODE_MAX 120
#define SCAN_MAX 4096 /* bytes of a heading that are looked at */

static size_t read_slot(const struct packer *p, const struct path_slot *slot, char *buf)
{
	size_t max = p->format == TEXT_CODE ? CODE_MAX : PATH_HEADING_MAX, n = 0;
	bool space = false;
	struct visible v;
	struct cursor c;

	cursor_init(&c, p->text, slot->start, slot->end, p->format == TEXT_HTML);
	while (c.at - slot->start < SCAN_MAX && cursor_next(&c, &v)) {
		char utf8[4];
		size_t len;

		space |= v.after_block;
		if (chunk_is_space(v.cp)) {
			space = true;
			continue;
		}
		len = utf8_encode(v.cp, utf8);
		if (n + len + (space && n > 0) > max)
			break;
		if (space && n > 0)
			buf[n++] = ' ';
		space = false;
		memcpy(buf + n, utf8, len);
		n += len;
	}
	return n;
}

static bool same(const struct path_slot *a, const struct path_slot *b)
{
	return a->start == b->start && a->end == b->end;
}

/* Reads the slot, or takes it from the chunk before. */
static enum status fill_slot(const struct packer *p, struct path *path, unsigned i)
{
	struct path_slot *slot = &path->slots[i];
	const struct path_slot *last = &p->last_path.slots[i];
	char buf[PATH_HEADING_MAX];

	if (slot->end == 0)
		return ST_OK;
	if (same(slot, last)) {
		slot->context = last->context;
		return ST_OK;
	}
	slot->context.len = read_slot(p, slot, buf);
	slot->context.data = arena_dup(p->arena, buf, slot->context.len);
	return slot->context.data ? ST_OK : ST_NOMEM;
}

static size_t join(const struct path *path, char *buf)
{
	size_t n = 0;

	for (unsigned i = 0; i < PATH_LEVELS; i++) {
		struct bytes b = path->slots[i].context;

		if (path->slots[i].end == 0 || b.len == 0)
			continue;
		if (n > 0) {
			memcpy(buf + n, JOINT, sizeof(JOINT) - 1);
			n += sizeof(JOINT) - 1;
		}
		memcpy(buf + n, b.data, b.len);
		n += b.len;
	}
	return n;
}

enum status context_make(struct packer *p, struct path *path, struct bytes *ret)
{
	char buf[PATH_LEVELS * (PATH_HEADING_MAX + sizeof(JOINT))];
	bool changed = false;
	enum status st = ST_OK;

	for (unsigned i = 0; st == ST_OK && i < PATH_LEVELS; i++) {
		changed |= !same(&path->slots[i], &p->last_path.slots[i]);
		st = fill_slot(p, path, i);
	}
	if (st)
		return st;
	if (changed) {
		struct bytes context = { buf, join(path, buf) };

		if (context.len == 0)
			context = BYTES_NONE;
		if (arena_dup_bytes(p->arena, context, &p->last_context))
			return ST_NOMEM;
		p->last_path = *path;
	}
	*ret = p->last_context;
	return ST_OK;
}
