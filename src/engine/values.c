/*
 * values.c: a document's values as the bytes of one row. Kept as JSON had them, not in
 * their field's type, so that a declaration may change the type later:
 *
 *   field (2 bytes, little-endian) · kind and flags (1) · payload
 *   payload: 8 bytes for INT and REAL, 1 for BOOL, 4 of length and the bytes of a
 *   STRING, nothing for a string that was too long for filters
 */
#include "engine/private.h"

#include "util/mem.h"

#define KIND 0x0F
#define ELEMENT 0x10
#define TOO_LONG 0x20

void values_add(struct strbuf *out, size_t number, const struct engine_value *v)
{
	bool too_long = v->kind == ENGINE_V_STRING && v->s.len > ENGINE_MAX_KEYWORD;
	unsigned char head[3] = { (unsigned char)number, (unsigned char)(number >> 8),
		(unsigned char)v->kind };
	uint32_t len = (uint32_t)v->s.len;

	head[2] |= (unsigned char)((v->element ? ELEMENT : 0) | (too_long ? TOO_LONG : 0));
	strbuf_add(out, head, sizeof(head));
	if (too_long)
		return;
	switch (v->kind) {
	case ENGINE_V_STRING:
		strbuf_add(out, &len, sizeof(len));
		strbuf_add(out, v->s.data, v->s.len);
		break;
	case ENGINE_V_INT:
		strbuf_add(out, &v->i, sizeof(v->i));
		break;
	case ENGINE_V_REAL:
		strbuf_add(out, &v->r, sizeof(v->r));
		break;
	case ENGINE_V_BOOL:
		strbuf_addc(out, v->i != 0);
		break;
	}
}

static bool take(struct bytes *in, void *to, size_t n)
{
	if (in->len < n)
		return false;
	memcpy(to, in->data, n);
	in->data += n;
	in->len -= n;
	return true;
}

static bool take_string(struct bytes *in, struct bytes *ret)
{
	uint32_t len;

	if (!take(in, &len, sizeof(len)) || len > in->len)
		return false;
	*ret = (struct bytes){ in->data, len };
	in->data += len;
	in->len -= len;
	return true;
}

static bool take_payload(struct bytes *in, unsigned flags, struct engine_value *v)
{
	unsigned char bit;

	if (flags & TOO_LONG)
		return true;
	switch (v->kind) {
	case ENGINE_V_STRING:
		return take_string(in, &v->s);
	case ENGINE_V_INT:
		return take(in, &v->i, sizeof(v->i));
	case ENGINE_V_REAL:
		return take(in, &v->r, sizeof(v->r));
	case ENGINE_V_BOOL:
		if (!take(in, &bit, 1))
			return false;
		v->i = bit != 0;
		return true;
	}
	return false;
}

static bool make_room(struct values_list *list)
{
	size_t cap = list->cap ? list->cap * 2 : 64;
	struct filter_value *at;

	if (list->n < list->cap)
		return true;
	at = mem_resize(list->at, cap * sizeof(*at));
	if (!at)
		return false;
	list->at = at;
	list->cap = cap;
	return true;
}

enum status values_read(struct bytes data, struct values_list *ret, uint64_t *ret_lost,
	struct error *e)
{
	unsigned char head[3];

	ret->n = 0;
	while (data.len > 0) {
		struct filter_value v = { .field = 0 };

		if (!take(&data, head, sizeof(head)) || (head[2] & KIND) > ENGINE_V_BOOL)
			return error_set(e, ST_CORRUPT, "the values of a document are damaged");
		v.field = head[0] | (size_t)head[1] << 8;
		v.v.kind = (enum engine_kind)(head[2] & KIND);
		v.v.element = head[2] & ELEMENT;
		if (!take_payload(&data, head[2], &v.v))
			return error_set(e, ST_CORRUPT, "the values of a document are damaged");
		if (head[2] & TOO_LONG) {
			++*ret_lost;
			continue;
		}
		if (!make_room(ret))
			return engine_no_memory(e);
		ret->at[ret->n++] = v;
	}
	return ST_OK;
}
